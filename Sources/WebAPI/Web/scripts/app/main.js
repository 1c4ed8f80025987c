// Entry point: restores the sign-in, and shows the pages with calls and rings above them.

import { calls } from "../calls/calls.js";
import { showRings } from "../calls/incoming.js";
import { refreshCalls, showCalls } from "../calls/stage.js";
import { emoji } from "../chat/writing/emoji.js";
import { exchange, serverInfo, signUp } from "../connection/api.js";
import { credentials } from "../connection/credentials.js";
import { markFeatures, server as serverFeatures } from "../connection/features.js";
import { endpoint } from "../connection/identity.js";
import { realtime } from "../connection/realtime.js";
import { request } from "../connection/requests.js";
import { updates } from "../connection/updates.js";
import { resetWatches } from "../connection/watches.js";
import { announce, h, toast } from "../elements/dom.js";
import { replaceAddress } from "../elements/history-entry.js";
import { language } from "../language/language.js";
import { t } from "../language/texts.js";
import { forgetReader, tellWorker, watchReader } from "../notifications/push-reader.js";
import { push } from "../notifications/push.js";
import { addressOfPath, callToAnswer, pageOf } from "../state/address.js";
import { clockOffset, restoreClock } from "../store/clock.js";
import { preferences } from "../store/preferences.js";
import { storage } from "../store/storage.js";
import { assistant } from "../sync/assistant.js";
import { drafts } from "../sync/drafts.js";
import { friends } from "../sync/friends.js";
import { inbox } from "../sync/inbox.js";
import { names } from "../sync/known-names.js";
import { isLocal, localDrafts } from "../sync/local-drafts.js";
import { outbox } from "../sync/outbox.js";
import { presence } from "../sync/presence.js";
import { resetHeldThreads } from "../sync/thread-cache.js";
import { startAppearance } from "./appearance.js";
import { isolationText } from "./banners.js";
import { startNotifier } from "./notifier.js";
import { answerCall, watchRingActions } from "./ring-actions.js";
import { closeShell, showShell } from "./shell.js";
import { showWelcome } from "./welcome-page.js";

const root = document.getElementById("app");
let stopNotifier = () => {};
/** The user whose pages are shown, `{id, isKept}`. */
let shown;
/** Whose page the address is, while their sign-in has expired. */
let leftBy;

/** For the console, and for tests: what the page holds, and any request. */
globalThis.switchboard = { calls, credentials, preferences, realtime, request, signUp };

async function begin() {
    const elsewhere = addressOfPath(location.pathname, location.hash);
    if (elsewhere) return location.replace(elsewhere);
    // A notification was clicked: what is behind the call is the first page.
    const answered = callToAnswer(location.hash);
    if (answered) replaceAddress("/");
    credentials.load();
    await Promise.all([endpoint.claim(), language.start()]);
    nameSkipLink();
    watchSkipLink();
    language.on("change", redraw);
    startAppearance();
    showCalls(document.getElementById("stage"));
    showRings();
    watchRingActions();
    watchReader();
    push.watch();
    calls.on("notice", (text) => {
        console.info("notice:", text);
        toast(text);
    });
    calls.on("ended", ({ id, ending }) => console.info("call", id, "ended here:", ending));
    realtime.on("hello", ({ server }) => {
        updates.noteServer(server?.build);
        // It could not be asked when the page opened.
        if (!serverFeatures.isKnown) markFeatures();
        storage.cache.saveValue("clock", clockOffset());
    });
    realtime.on("revoked", () => leave(t("main.signedOutDevice")));
    credentials.on("expiring", () => credentials.fresh(exchange, { force: true }).catch(() => {}));
    credentials.on("signedIn", (signedIn) => {
        // Another tab has signed somebody else in: nothing of this page is theirs.
        if (signedIn && shown) location.reload();
        else if (signedIn) {
            // That there is nothing at the address was said beside the form.
            if (!pageOf(location.hash)) replaceAddress("/");
            enter();
        }
        // This page may have ended it, and be leaving already.
        else if (shown) leave(t("main.signedOut"));
    });
    outbox.on("refused", ({ text }) => toast(t("connection.refused", { reason: text }), { error: true }));
    if (credentials.isSignedIn) await enter(); else await welcome();
    if (answered && credentials.isSignedIn) answerCall(answered);
    await updates.start();
}

/** The pages in another language. What is being written is kept as a draft. */
function redraw() {
    nameSkipLink();
    refreshCalls();
    if (credentials.isSignedIn) showShell(root); else welcome();
}

function nameSkipLink() { document.querySelector(".skip").textContent = t("page.skip"); }

/** The address of the page is in the fragment, which this link would replace. */
function watchSkipLink() {
    document.querySelector(".skip").addEventListener("click", (event) => {
        event.preventDefault();
        document.getElementById("main")?.focus();
    });
}

async function enter() {
    const user = shown = { id: credentials.user.id, isKept: credentials.isKept };
    if (leftBy && leftBy !== user.id) location.hash = "";
    leftBy = undefined;
    markFeatures();
    const { keptUser } = credentials;
    const { entries, drafts: written } = await storage.open(user.id, user.isKept, keptUser ? [keptUser.id] : []);
    restoreClock(await storage.cache.value("clock"));
    emoji.start(await storage.cache.value("emoji"));
    if (shown !== user) return;
    drafts.start(written.filter((row) => !isLocal(row)));
    localDrafts.start(written.filter(isLocal));
    friends.start();
    realtime.listen(`user:${user.id}`);
    await inbox.start();
    names.start();
    if (shown !== user) return;
    tellWorker();
    outbox.start(entries);
    realtime.start();
    stopNotifier();
    stopNotifier = startNotifier();
    showShell(root);
}

async function leave(text) {
    stopNotifier();
    stopNotifier = () => {};
    const user = shown;
    shown = undefined;
    forgetEverything();
    if (credentials.isSignedIn) credentials.end();
    // Another tab may be signed in as the same user.
    const isOver = user?.isKept && credentials.keptUser?.id !== user.id;
    if (user) await storage.close(user.id, isOver);
    if (isOver) {
        push.forget();
        await forgetReader();
    }
    await endpoint.renew();
    // Who signs in again after a sign-in has expired comes back to where they were.
    leftBy = user && credentials.hasExpired(user.id) ? user.id : undefined;
    if (!leftBy) location.hash = "";
    toast(text);
    await welcome();
}

/** Of the user who has left, beginning with what is on the screen. What fails in one part keeps nothing in the others. */
function forgetEverything() {
    const closeDialogs = () => {
        for (const dialog of document.querySelectorAll("dialog.dialog[open]")) {
            dialog.close();
            dialog.remove();
        }
    };
    const clearMessages = () => {
        announce("");
        document.getElementById("toasts").replaceChildren();
    };
    const clearScreen = () => {
        clearMessages();
        root.replaceChildren(h("p", { class: "boot", role: "status" }, t("main.loading")));
    };
    const parts = [calls, assistant, inbox, drafts, localDrafts, emoji, outbox, friends, names, presence].map((one) => () => one.reset());
    // Calls that end say so: that is cleared too.
    for (const forget of [closeDialogs, closeShell, clearScreen, ...parts, resetWatches, resetHeldThreads, () => realtime.stop(), clearMessages]) {
        try { forget(); } catch (error) { console.error(error); }
    }
}

async function welcome() {
    let info = { signUp: "open" };
    let notice;
    try { info = await serverInfo(); } catch { notice = isolationText(); }
    if (!credentials.isSignedIn) showWelcome(root, info, { notice, isNowhere: !pageOf(location.hash) });
}

begin().catch((error) => {
    console.error(error);
    root.replaceChildren(h("p", { class: "boot" }, t("main.couldNotStart")));
});
