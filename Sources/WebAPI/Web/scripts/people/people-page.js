// Searching for people and calling them.

import { calls } from "../calls/calls.js";
import { pickPeople } from "../calls/people-picker.js";
import { callPeople } from "../calls/start-call.js";
import { hasFeature } from "../connection/features.js";
import { errorMessage } from "../connection/problems.js";
import { request } from "../connection/requests.js";
import { button, h, icon, toast } from "../elements/dom.js";
import { redraw } from "../elements/keyed.js";
import { nothingHere } from "../elements/nothing-page.js";
import { t } from "../language/texts.js";
import { friends } from "../sync/friends.js";
import { recentPeople } from "../sync/recent-people.js";
import { contactLink } from "./contact-link.js";
import { friendsSections } from "./friend-sections.js";
import { notificationHint } from "./permission-request.js";
import { showPerson } from "./person-card.js";
import { PeoplePresence, personRow } from "./person-row.js";

const SEARCH_DELAY = 250;

/** `id` is that of the person whose card is shown. */
export function peoplePage(_, id) {
    const list = h("ul", { class: "rows", id: "people" });
    const heading = h("h2", { class: "section-title" }, t("people.recent"));
    const empty = h("div", { class: "empty", hidden: true });
    const search = h("input", { id: "search", type: "search", placeholder: t("people.search"),
        autocomplete: "off", spellcheck: "false", "aria-controls": "people", enterkeyhint: "search" });
    const watched = new PeoplePresence();
    const friendsPart = friendsSections(watched);
    const hint = notificationHint();
    let timer;
    let turn = 0;
    let shown = [];

    const watch = () => watched.watch([...shown, ...friendsPart.users()]);
    const show = (users, title, nothing) => {
        heading.textContent = title;
        heading.hidden = users.length === 0;
        shown = users.map((user) => user.id);
        watch();
        redraw(list, users.map((user) => personRow(user, watched)));
        empty.hidden = users.length > 0;
        empty.dataset.kind = title === t("people.results") ? "nobody" : "hint";
        empty.replaceChildren(icon("people"), h("p", {}, nothing));
    };
    const refresh = async () => {
        const mine = ++turn;
        const text = search.value.trim();
        try {
            if (text.length >= 2) {
                const { users } = await request("users.search", { query: text }, { isWanted: () => mine === turn });
                if (mine === turn) show(users, t("people.results"), t("people.nobody", { query: text }));
            } else {
                const users = await recentPeople();
                if (mine === turn) show(users, t("people.recent"), hasFeature("userSearch") ? t("people.findHint")
                    : t("people.hintWithoutSearch"));
            }
        } catch (error) {
            if (mine === turn) toast(errorMessage(error), { error: true });
        }
    };
    search.addEventListener("input", () => {
        clearTimeout(timer);
        timer = setTimeout(refresh, SEARCH_DELAY);
    });
    const unsubscribe = [calls.on("history", refresh), friends.on("change", () => { friendsPart.draw(); watch(); })];
    refresh();
    const page = {
        opened() { if (id) showCard(id, page.node); },
        node: h("div", { class: "page" },
            h("div", { class: "page-head" }, h("h1", {}, t("people.title")),
                button({ name: "addPerson", label: t("people.groupCall"), class: "soft pill", data: { action: "group-call" }, onclick: groupCall })),
            h("form", { role: "search", class: "search", data: { feature: "userSearch" }, onsubmit: (event) => { event.preventDefault(); refresh(); } },
                h("label", { for: "search", class: "unseen" }, t("people.find")), icon("search"), search),
            hint.node, friendsPart.requests, heading, list, empty, friendsPart.node, contactLink()),
        close() {
            clearTimeout(timer);
            turn += 1;
            unsubscribe.forEach((one) => one());
            watched.close();
            hint.close();
        },
    };
    return page;
}

/** Somebody whom one may not see is nobody. */
async function showCard(id, node) {
    try {
        const user = await request("users.get", { user: id });
        if (node.isConnected) showPerson(user);
    } catch (error) {
        if (error.status === 404) node.replaceChildren(nothingHere("h1"));
        else toast(errorMessage(error), { error: true });
    }
}

async function groupCall() {
    const chosen = await pickPeople({ title: t("people.newGroupCall"), actions: [
        { value: "audio", label: t("common.call"), name: "phone" }, { value: "video", label: t("common.videoCall"), name: "video" },
    ] });
    if (chosen) await callPeople(chosen.people, chosen.value);
}
