// The frame around the pages: navigation, the banner when the server cannot be reached, and the page itself.

import { calls } from "../calls/calls.js";
import { historyPage } from "../calls/history-page.js";
import { joinCall } from "../calls/start-call.js";
import { assistantPage } from "../chat/assistant/assistant-page.js";
import { chatsPage } from "../chat/list/chats-page.js";
import { starredPage } from "../chat/list/starred-page.js";
import { openSwitcher } from "../chat/list/switcher.js";
import { credentials } from "../connection/credentials.js";
import { server } from "../connection/features.js";
import { realtime } from "../connection/realtime.js";
import { diagnosticsPage } from "../diagnostics/diagnostics-page.js";
import { avatar } from "../elements/avatar.js";
import { button, h, icon } from "../elements/dom.js";
import { redraw } from "../elements/keyed.js";
import { nothingPage } from "../elements/nothing-page.js";
import { namesOf, othersOf } from "../language/format.js";
import { t } from "../language/texts.js";
import { linkPage } from "../people/link-page.js";
import { peoplePage } from "../people/people-page.js";
import { settingsPage } from "../settings/settings-page.js";
import { openShortcuts } from "../settings/shortcuts.js";
import { pageOf } from "../state/address.js";
import { unreadConversations } from "../state/inbox-rows.js";
import { inbox } from "../sync/inbox.js";
import { watchConnection, watchStorage, watchUpdates } from "./banners.js";

const pages = {
    people: { name: "people", make: peoplePage },
    chats: { name: "chat", make: chatsPage },
    assistant: { name: "assistant", make: assistantPage },
    history: { name: "history", make: historyPage },
    diagnostics: { name: "signal", make: diagnosticsPage },
    settings: { name: "settings", make: settingsPage },
};

/** Pages without a navigation entry of their own: most belong under one. */
const inner = { ask: { under: "assistant", make: assistantPage }, c: { under: "chats", make: chatsPage }, archive: { under: "chats", make: chatsPage }, l: { under: "people", make: linkPage },
    starred: { under: "chats", make: starredPage }, nothing: { make: nothingPage } };

/** Pages with the list of chats, which is scrolled with the page where there is no room beside it. */
const LISTS = ["chats", "archive"];

let stop = () => {};

export function showShell(root) {
    stop();
    const main = h("main", { id: "main", tabindex: "-1" });
    const links = Object.entries(pages).map(([key, { name }]) =>
        h("a", { href: `#/${key}`, class: "nav-link", data: { nav: key } }, icon(name), h("span", {}, t(`pages.${key}`))));
    const me = h("a", { class: "me", href: "#/settings", "aria-label": t("shell.profile") });
    const open = h("div", { id: "open-calls", "aria-label": t("shell.callsToJoin"), role: "region", hidden: true });
    const banner = h("p", { id: "offline", class: "banner", role: "status", hidden: true });
    const update = h("p", { id: "update", class: "banner", role: "status", hidden: true });
    const storage = h("p", { id: "storage", class: "banner", role: "status", hidden: true });
    const column = h("div", { class: "column" }, banner, storage, update, open, main);
    const shell = h("div", { class: "shell" },
        h("header", { class: "bar" },
            h("a", { class: "home", href: "#/people", "aria-label": t("shell.home") },
                h("img", { src: "/favicon.svg", alt: "" }), h("span", {}, "Switchboard")),
            h("nav", { "aria-label": t("shell.main") }, links), me), column);
    root.replaceChildren(shell);

    let page;
    let made;
    let shown;
    /** How far the lists were scrolled when one went on from them. */
    const scrolled = new Map();
    const show = () => {
        if (LISTS.includes(shown)) scrolled.set(shown, scrollY);
        const { key, rest } = pageOf(location.hash) ?? { key: "nothing", rest: [] };
        const { make, under = key } = pages[key] ?? inner[key];
        // Said of each for its styles: with `:has()`, all of the page would be styled anew with each message that comes or goes.
        for (const node of [shell, column, main]) node.dataset.page = key;
        if (page?.navigate && made === make) page.navigate(key, ...rest);
        else {
            page?.close?.();
            page = make(key, ...rest) ?? nothingPage();
            made = make;
            main.replaceChildren(page.node);
            column.classList.toggle("with-chats", page.node.matches(".chats"));
        }
        for (const link of links) {
            if (link.dataset.nav === under) link.setAttribute("aria-current", "page");
            else link.removeAttribute("aria-current");
        }
        shown = key;
        scrollTo(0, LISTS.includes(key) ? scrolled.get(key) ?? 0 : 0);
    };
    const navigate = () => {
        for (const dialog of document.querySelectorAll("dialog.dialog[open]")) dialog.close();
        show();
        main.focus({ preventScroll: true });
        page.opened?.();
    };
    const profile = () => {
        if (!credentials.user) return;
        me.replaceChildren(avatar(credentials.user, { size: "small" }), h("span", {}, credentials.user.displayName));
    };
    const onkeydown = (event) => {
        if (document.querySelector("dialog[open]") || event.altKey) return;
        const isCommand = event.ctrlKey || event.metaKey;
        const isWriting = event.target.closest?.("input:not([type=checkbox]), select, textarea");
        const act = isCommand && !event.shiftKey && event.key.toLowerCase() === "k" ? openSwitcher
            : !isCommand && event.key === "?" && !isWriting ? openShortcuts : undefined;
        if (!act) return;
        event.preventDefault();
        act();
    };
    addEventListener("hashchange", navigate);
    addEventListener("keydown", onkeydown);
    const unsubscribe = [calls.on("profile", profile), watchConnection(banner), watchStorage(storage), watchUpdates(update),
        watchOpenCalls(open), watchAssistant(links.find((link) => link.dataset.nav === "assistant")), watchUnread(links.find((link) => link.dataset.nav === "chats"))];
    stop = () => {
        removeEventListener("hashchange", navigate);
        removeEventListener("keydown", onkeydown);
        document.title = "Switchboard";
        markIcon(0);
        unsubscribe.forEach((one) => one());
        page?.close?.();
        stop = () => {};
    };
    profile();
    show();
    page.opened?.();
}

/** Closes the pages after signing out. */
export function closeShell() { stop(); }

/** The calls that the user may join, with who is in them. */
function watchOpenCalls(region) {
    const show = () => {
        region.hidden = calls.open.length === 0;
        redraw(region, calls.open.map((call) => {
            const me = credentials.user?.id;
            const there = othersOf(call, me).filter((one) => one.state === "joined");
            const isElsewhere = call.participants.some((one) => one.user === me && one.state === "joined");
            const who = there.length > 0 ? namesOf(there) : t("shell.otherDevice");
            return h("div", { class: "open-call", data: { call: call.id } }, icon(call.kind === "video" ? "video" : "phone"),
                h("p", {}, t.rich(isElsewhere ? "openCall.withYou" : "openCall.others", { count: there.length, names: h("b", {}, who) })),
                button({ label: isElsewhere ? t("shell.continueHere") : t("shell.join"), class: "go pill", data: { action: "join" },
                    onclick: () => joinCall(call) }));
        }));
    };
    show();
    return calls.on("open", show);
}

/** There is an assistant where there is a language model. */
function watchAssistant(link) {
    const show = () => {
        link.hidden = !server.languageModel;
        link.parentElement.dataset.full = String(!link.hidden);
    };
    show();
    return server.on("change", show);
}

/** How many conversations have something unread, beside the link, in the title, which waits for no frame, and on the icon. */
function watchUnread(link) {
    const count = h("span", { class: "count", hidden: true, data: { count: "chats" } });
    link.append(count);
    let shown;
    const show = () => {
        const unread = unreadConversations(inbox.state);
        const title = unread === 0 ? "Switchboard" : `(${unread}) Switchboard`;
        if (document.title !== title) document.title = title;
        // Each message that comes changes the list, and the number seldom.
        if (unread === shown) return;
        shown = unread;
        markIcon(unread);
        count.hidden = unread === 0;
        count.replaceChildren(String(unread), " ", h("span", { class: "unseen" }, t("shell.unread")));
    };
    show();
    return inbox.on("change", show);
}

/** The icon of the page has a dot while something is unread, and that of an installed app the number. */
function markIcon(unread) {
    const link = document.querySelector("link[rel=icon]");
    const address = unread > 0 ? "/icons/unread.svg" : "/favicon.svg";
    if (link.getAttribute("href") !== address) link.setAttribute("href", address);
    navigator.setAppBadge?.(unread).catch(() => {});
}
