// Entry point: restores the sign-in, and shows the pages with calls and rings above them.

import { exchange, serverInfo, signUp } from "./api.js";
import { calls } from "./calls.js";
import { credentials } from "./credentials.js";
import { drafts } from "./drafts.js";
import { h, toast } from "./dom.js";
import { markFeatures } from "./features.js";
import { friends } from "./friends.js";
import { endpoint } from "./identity.js";
import { inbox } from "./inbox.js";
import { language } from "./language/language.js";
import { t } from "./language/texts.js";
import { outbox } from "./outbox.js";
import { preferences } from "./preferences.js";
import { presence } from "./presence.js";
import { realtime } from "./realtime.js";
import { request } from "./requests.js";
import { updates } from "./updates.js";
import { resetWatches } from "./watches.js";
import { refreshCalls, showCalls } from "./views/stage.js";
import { isolationText } from "./views/connection.js";
import { showRings } from "./views/incoming.js";
import { startNotifier } from "./views/notifier.js";
import { closeShell, showShell } from "./views/shell.js";
import { showWelcome } from "./views/welcome.js";

const root = document.getElementById("app");
let stopNotifier = () => {};

/** For the console, and for tests: what the page holds, and any request. */
globalThis.switchboard = { calls, credentials, preferences, realtime, request, signUp };

async function begin() {
    credentials.load();
    await Promise.all([endpoint.claim(), language.start()]);
    nameSkipLink();
    language.on("change", redraw);
    showCalls(document.getElementById("stage"));
    showRings();
    calls.on("notice", (text) => {
        console.info("notice:", text);
        toast(text);
    });
    calls.on("ended", ({ id, ending }) => console.info("call", id, "ended here:", ending));
    realtime.on("hello", ({ server }) => updates.noteServer(server?.build));
    realtime.on("revoked", () => leave(t("main.signedOutDevice")));
    credentials.on("expiring", () => credentials.fresh(exchange, { force: true }).catch(() => {}));
    credentials.on("signedIn", (signedIn) => {
        if (signedIn) enter(); else leave(t("main.signedOut"));
    });
    if (credentials.isSignedIn) enter(); else await welcome();
    await updates.start();
}

/** The pages in another language. What is being written is kept as a draft. */
function redraw() {
    nameSkipLink();
    refreshCalls();
    if (credentials.isSignedIn) showShell(root); else welcome();
}

function nameSkipLink() { document.querySelector(".skip").textContent = t("page.skip"); }

function enter() {
    markFeatures();
    realtime.listen(`user:${credentials.user.id}`);
    inbox.start();
    realtime.start();
    stopNotifier();
    stopNotifier = startNotifier();
    showShell(root);
}

async function leave(text) {
    stopNotifier();
    stopNotifier = () => {};
    closeShell();
    calls.reset();
    inbox.reset();
    drafts.reset();
    outbox.reset();
    friends.reset();
    presence.reset();
    resetWatches();
    realtime.stop();
    if (credentials.isSignedIn) credentials.end();
    await endpoint.renew();
    location.hash = "";
    toast(text);
    await welcome();
}

async function welcome() {
    let info = { signUp: "open" };
    let notice;
    try { info = await serverInfo(); } catch { notice = isolationText(); }
    if (!credentials.isSignedIn) showWelcome(root, info, { notice });
}

begin().catch((error) => {
    console.error(error);
    root.replaceChildren(h("p", { class: "boot" }, t("main.couldNotStart")));
});
