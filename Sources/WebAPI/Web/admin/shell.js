// The page of an operator who is signed in: the state of the server, the tabs, and the one that is open.

import { h, toast } from "../scripts/elements/dom.js";
import { get, session } from "./session.js";
import { tabs } from "./tabs.js";
import { poll } from "./widgets.js";

export function showShell(page) {
    const state = h("p", { class: "state" }, "Connecting…");
    const who = h("span", { class: "who" });
    const links = tabs.map(({ id, title }) => h("a", { href: `#/${id}` }, title));
    const main = h("main", { id: "main", tabindex: "-1" });
    page.replaceChildren(
        h("header", { class: "bar" },
            h("div", { class: "brand" }, h("strong", {}, "Switchboard"), state),
            h("div", { class: "account" }, who,
                h("button", { type: "button", class: "quiet small", onclick: () => session.signOut() }, "Sign out"))),
        h("nav", { class: "tabs", "aria-label": "Parts of the page" }, links),
        main);

    let close = () => {};
    function open(isFirst) {
        const [, id, detail] = location.hash.split("/");
        const tab = tabs.find((one) => one.id === id) ?? tabs[0];
        close();
        main.replaceChildren();
        for (const [index, link] of links.entries()) {
            if (tabs[index] === tab) link.setAttribute("aria-current", "page");
            else link.removeAttribute("aria-current");
        }
        links[tabs.indexOf(tab)].scrollIntoView({ block: "nearest", inline: "nearest" });
        document.title = `${tab.title} · Switchboard`;
        close = tab.open(main, detail && decodeURIComponent(detail)) ?? (() => {});
        // Reading goes on where the address has changed to.
        if (isFirst !== true) main.focus({ preventScroll: true });
    }

    const stop = poll(async (signal) => {
        try {
            show(state, await get("/admin/v1/server", signal));
        } catch (error) {
            if (!signal.aborted) show(state, null);
        }
    }, 5_000);
    get("/admin/v1/sessions/current").then(({ key }) => {
        who.textContent = key.name;
        who.title = `Key ${key.id}`;
    }, ({ message, status }) => { if (status !== 401) toast(message, { error: true }); });
    addEventListener("hashchange", open);
    open(true);
    return () => {
        removeEventListener("hashchange", open);
        stop();
        close();
    };
}

const obstacles = { starting: "starting", draining: "draining", storage_full: "the disk is full" };

function show(state, server) {
    const isGood = Boolean(server?.ready);
    const text = !server ? "The server does not respond"
        : `${server.version} · ${isGood ? "ready" : `not ready: ${obstacles[server.obstacle] ?? server.obstacle}`}`;
    if (state.textContent !== text) state.textContent = text;
    state.classList.toggle("good", isGood);
    state.classList.toggle("bad", !isGood);
}
