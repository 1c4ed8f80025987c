// Searching for people and calling them.

import { calls } from "../calls.js";
import { button, h, icon, toast } from "../dom.js";
import { hasFeature } from "../features.js";
import { whenText } from "../format.js";
import { preferences } from "../preferences.js";
import { errorMessage } from "../problems.js";
import { realtime } from "../realtime.js";
import { recentPeople } from "../recent-people.js";
import { request } from "../requests.js";
import { avatar } from "./avatar.js";
import { showPerson } from "./person-card.js";
import { pickPeople } from "./picker.js";
import { callPeople, callPerson } from "./start-call.js";

const SEARCH_DELAY = 250;

export function peoplePage() {
    const list = h("ul", { class: "rows", id: "people" });
    const heading = h("h2", { class: "section-title" }, "Recent");
    const empty = h("div", { class: "empty", hidden: true });
    const search = h("input", { id: "search", type: "search", placeholder: "Name or e-mail address",
        autocomplete: "off", spellcheck: "false", "aria-controls": "people", enterkeyhint: "search" });
    const presence = new Presence();
    let timer;
    let turn = 0;

    const show = (users, title, nothing) => {
        heading.textContent = title;
        heading.hidden = users.length === 0;
        presence.watch(users.map((user) => user.id));
        list.replaceChildren(...users.map((user) => personRow(user, presence)));
        empty.hidden = users.length > 0;
        empty.replaceChildren(icon("people"), h("p", {}, nothing));
    };
    const refresh = async () => {
        const mine = ++turn;
        const text = search.value.trim();
        try {
            if (text.length >= 2) {
                const { users } = await request("users.search", { query: text });
                if (mine === turn) show(users, "Results", `Nobody found for “${text}”.`);
            } else {
                const users = await recentPeople();
                if (mine === turn) show(users, "Recent", hasFeature("userSearch") ? "Search for someone by name or e-mail address, and call them."
                    : "People you have talked to appear here.");
            }
        } catch (error) {
            if (mine === turn) toast(errorMessage(error), { error: true });
        }
    };
    search.addEventListener("input", () => {
        clearTimeout(timer);
        timer = setTimeout(refresh, SEARCH_DELAY);
    });
    const unsubscribe = calls.on("history", refresh);
    refresh();
    return {
        node: h("div", { class: "page" },
            h("div", { class: "page-head" }, h("h1", {}, "People"),
                button({ name: "addPerson", label: "Group call", class: "soft pill", data: { action: "group-call" }, onclick: groupCall })),
            h("form", { role: "search", class: "search", data: { feature: "userSearch" }, onsubmit: (event) => { event.preventDefault(); refresh(); } },
                h("label", { for: "search", class: "unseen" }, "Find a person"), icon("search"), search),
            notificationCard(), heading, list, empty),
        close() {
            clearTimeout(timer);
            turn += 1;
            unsubscribe();
            presence.close();
        },
    };
}

async function groupCall() {
    const chosen = await pickPeople({ title: "New group call", actions: [
        { value: "audio", label: "Call", name: "phone" }, { value: "video", label: "Video call", name: "video" },
    ] });
    if (chosen) await callPeople(chosen.people, chosen.value);
}

function personRow(user, presence) {
    return h("li", { class: "row", data: { user: user.id } },
        h("button", { type: "button", class: "who", data: { action: "person" }, onclick: () => showPerson(user) },
            avatar(user, { presence: presence.dot(user.id) }),
            h("span", { class: "name" }, user.displayName, presence.text(user.id))),
        button({ name: "phone", label: `Call ${user.displayName}`, bare: true, class: "round soft",
            data: { action: "call-audio" }, onclick: () => callPerson(user, "audio") }),
        button({ name: "video", label: `Video call with ${user.displayName}`, bare: true, class: "round soft",
            data: { action: "call-video" }, onclick: () => callPerson(user, "video") }));
}

/** Shows who of those on the page is online. */
class Presence {
    #users = new Set();
    #states = new Map();
    #unsubscribe = [
        realtime.on("snapshot", ({ stream, data }) => this.#update(stream, data)),
        realtime.on("event", ({ stream, data }) => this.#update(stream, data)),
    ];

    watch(users) {
        const watched = new Set(users);
        for (const user of this.#users) if (!watched.has(user)) realtime.unlisten(`presence:${user}`);
        for (const user of watched) if (!this.#users.has(user)) realtime.listen(`presence:${user}`);
        this.#users = watched;
    }

    dot(user) { return h("span", { class: "presence", data: { presence: user, online: String(this.#is(user)) } }); }

    text(user) {
        return h("span", { class: "state", data: { presenceText: user } }, presenceText(this.#states.get(user)));
    }

    close() {
        this.watch([]);
        this.#unsubscribe.forEach((one) => one());
    }

    #is(user) { return this.#states.get(user)?.online ?? false; }

    #update(stream, state) {
        const [kind, user] = stream.split(":");
        if (kind !== "presence") return;
        this.#states.set(user, state);
        for (const dot of document.querySelectorAll(`[data-presence="${user}"]`)) dot.dataset.online = String(state.online);
        for (const text of document.querySelectorAll(`[data-presence-text="${user}"]`)) {
            text.textContent = presenceText(state);
        }
    }
}

function presenceText(state) {
    if (state?.online) return "Online";
    return state?.lastSeenAt ? `Last seen ${whenText(state.lastSeenAt)}` : "";
}

/** Asks once for permission to show notifications while this page is hidden. */
function notificationCard() {
    const mayAsk = window.Notification?.permission === "default" && !preferences.get("noticeDismissed");
    if (!mayAsk) return undefined;
    const dismiss = () => {
        preferences.set("noticeDismissed", true);
        card.remove();
    };
    const card = h("div", { class: "notice-card" }, icon("bell"),
        h("p", {}, "Get notified about calls while this page is in the background."),
        button({ label: "Turn on", class: "small primary", onclick: () => Notification.requestPermission().then(dismiss) }),
        button({ label: "Not now", class: "small quiet", onclick: dismiss }));
    return card;
}
