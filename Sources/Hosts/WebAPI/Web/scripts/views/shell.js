// The frame around the pages: navigation, the banner when the server is out of reach, and the page itself.

import { calls } from "../calls.js";
import { credentials } from "../credentials.js";
import { announce, button, h, icon } from "../dom.js";
import { realtime } from "../realtime.js";
import { voice } from "../voice.js";
import { namesOf, othersOf } from "../format.js";
import { avatar } from "./avatar.js";
import { diagnosticsPage } from "./diagnostics.js";
import { historyPage } from "./history.js";
import { joinCall, peoplePage } from "./people.js";
import { personPage } from "./person.js";
import { settingsPage } from "./settings.js";

const pages = {
    people: { label: "People", name: "people", make: peoplePage },
    history: { label: "History", name: "history", make: historyPage },
    diagnostics: { label: "Connection", name: "signal", make: diagnosticsPage },
    settings: { label: "Settings", name: "settings", make: settingsPage },
};

/** Pages that others lead to: each belongs to one in the navigation. */
const inner = { person: { under: "people", make: personPage } };

let stop = () => {};

export function showShell(root) {
    stop();
    const main = h("main", { id: "main", tabindex: "-1" });
    const links = Object.entries(pages).map(([key, { label, name }]) =>
        h("a", { href: `#/${key}`, class: "nav-link", data: { nav: key } }, icon(name), h("span", {}, label)));
    const me = h("a", { class: "me", href: "#/settings", "aria-label": "Your profile" });
    const open = h("div", { id: "open-calls", "aria-label": "Calls that go on without you", role: "region", hidden: true });
    const heard = h("div", { id: "new-voice", "aria-label": "New voice messages", role: "region", hidden: true });
    const banner = h("p", { id: "offline", class: "banner", role: "status", hidden: true });
    root.replaceChildren(h("div", { class: "shell" },
        h("header", { class: "bar" },
            h("a", { class: "home", href: "#/people", "aria-label": "Switchboard, home" },
                h("img", { src: "/favicon.svg", alt: "" }), h("span", {}, "Switchboard")),
            h("nav", { "aria-label": "Main" }, links), me),
        h("div", { class: "column" }, banner, open, heard, main)));

    let page;
    const show = () => {
        const [key, ...rest] = location.hash.slice(2).split("/");
        const chosen = pages[key] || inner[key] ? key : "people";
        const { make, under = chosen } = pages[chosen] ?? inner[chosen];
        page?.close?.();
        page = make(...rest);
        main.replaceChildren(page.node);
        main.dataset.page = chosen;
        for (const link of links) {
            if (link.dataset.nav === under) link.setAttribute("aria-current", "page");
            else link.removeAttribute("aria-current");
        }
        scrollTo(0, 0);
    };
    const navigate = () => {
        show();
        main.focus({ preventScroll: true });
    };
    const profile = () => {
        if (!credentials.user) return;
        me.replaceChildren(avatar(credentials.user, { size: "small" }), h("span", {}, credentials.user.displayName));
    };
    addEventListener("hashchange", navigate);
    const unhear = [calls.on("profile", profile), watchConnection(banner), watchOpenCalls(open), watchVoice(heard)];
    stop = () => {
        removeEventListener("hashchange", navigate);
        unhear.forEach((one) => one());
        page?.close?.();
        stop = () => {};
    };
    profile();
    show();
}

/** Leaves the pages: somebody signed out. */
export function closeShell() { stop(); }

/** Calls that one may join: each with who is in it. */
function watchOpenCalls(region) {
    const show = () => {
        region.hidden = calls.open.length === 0;
        region.replaceChildren(...calls.open.map((call) => {
            const me = credentials.user?.id;
            const there = othersOf(call, me).filter((one) => one.state === "joined");
            const isElsewhere = call.participants.some((one) => one.user === me && one.state === "joined");
            const who = there.length > 0 ? namesOf(there) : "Your other device";
            return h("div", { class: "open-call", data: { call: call.id } }, icon(call.kind === "video" ? "video" : "phone"),
                h("p", {}, h("b", {}, who), isElsewhere ? " and you on another device" : "",
                    there.length + Number(isElsewhere) === 1 ? " is in a call" : " are in a call"),
                button({ label: isElsewhere ? "Continue here" : "Join", class: "go pill", data: { action: "join" },
                    onclick: () => joinCall(call) }));
        }));
    };
    show();
    return calls.on("open", show);
}

/** Who has sent voice messages that nobody has looked at here. */
function watchVoice(region) {
    const show = () => {
        region.hidden = voice.unseen.size === 0;
        region.replaceChildren(...[...voice.unseen].map(([id, { name, count }]) =>
            h("div", { class: "open-call", data: { voiceFrom: id } }, icon("microphone"),
                h("p", {}, h("b", {}, name), count === 1 ? " sent you a voice message" : ` sent you ${count} voice messages`),
                button({ label: "Listen", class: "go pill", data: { action: "listen" },
                    onclick: () => { location.hash = `#/person/${id}`; } }))));
    };
    show();
    const unhear = [voice.on("unseen", show), voice.on("arrived", (name) => announce(`${name} sent you a voice message`))];
    return () => unhear.forEach((one) => one());
}

/** A moment without the socket is nothing to talk about; two seconds are. */
function watchConnection(banner) {
    let timer;
    const tell = () => {
        banner.textContent = navigator.onLine ? "Reconnecting to the server…"
            : "You’re offline. Calls in progress may go on; new ones have to wait.";
        banner.hidden = false;
    };
    const watch = (state) => {
        document.documentElement.dataset.realtime = state;
        if (state !== "online") {
            // Between tries the state changes, too: the two seconds count from the first loss.
            timer ??= setTimeout(tell, 2_000);
            return;
        }
        clearTimeout(timer);
        timer = undefined;
        banner.hidden = true;
    };
    watch(realtime.state);
    return realtime.on("state", watch);
}
