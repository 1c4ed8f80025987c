// Searching one conversation: words and filters, the newest first, or meanings, the best first, and going to what was found.

import { errorMessage } from "../../connection/problems.js";
import { realtime } from "../../connection/realtime.js";
import { request } from "../../connection/requests.js";
import { closeButton, open } from "../../elements/dialogs.js";
import { button, h } from "../../elements/dom.js";
import { redraw } from "../../elements/keyed.js";
import { t } from "../../language/texts.js";
import { searchHeld } from "../../sync/offline-search.js";
import { foundMessage } from "../list/found-message.js";
import { meaningFilter } from "../list/meaning-filter.js";
import { messageFilters } from "../list/message-filters.js";

const DELAY = 250;
const LEAST = 2;

/** `show(number)` goes to a message. */
export function openThreadSearch(thread, show) {
    if (document.getElementById("thread-search")) return;
    const list = h("ul", { class: "rows flat", "aria-label": t("feed.messages") });
    const said = h("p", { class: "hint", role: "status" });
    const more = button({ label: t("threadSearch.more"), class: "quiet wide", hidden: true, data: { action: "more-found" }, onclick: () => load(cursor) });
    const input = h("input", { id: "thread-search-words", type: "search", placeholder: t("threadSearch.words"), "aria-label": t("threadSearch.words"), autocomplete: "off",
        spellcheck: "false", enterkeyhint: "search", oninput: () => later() });
    const filters = messageFilters(() => load(), async () => Object.values(thread.state.people));
    const meaning = meaningFilter(() => load());
    const form = h("form", { role: "search", class: "search", onsubmit: (event) => {
        event.preventDefault();
        list.querySelector("a")?.click();
    } }, input);
    const dialog = open({ id: "thread-search", "aria-labelledby": "thread-search-title", class: "dialog picker" },
        h("h2", { id: "thread-search-title" }, t("threadSearch.title")), form, meaning.node, filters.node, h("div", { class: "results found-list" }, said, list, more),
        closeButton(() => dialog.close()));
    let timer;
    let turn = 0;
    let cursor;
    let found = [];
    let authors = {};

    const later = () => {
        clearTimeout(timer);
        turn += 1;
        timer = setTimeout(() => load(), DELAY);
    };
    /** With a cursor the page after what is shown. */
    const load = async (after) => {
        clearTimeout(timer);
        const mine = ++turn;
        const query = input.value.trim();
        const isEmpty = !filters.areEnough && query.length < LEAST;
        const hint = filters.isEmpty ? "" : t("only.needWords");
        if (!after) said.textContent = isEmpty ? hint : t("search.searching");
        let page = { results: [], people: [] };
        try { if (!isEmpty) page = await ask(query, after, () => mine === turn); } catch (error) {
            if (mine === turn) said.textContent = errorMessage(error);
            return;
        }
        if (mine !== turn || !dialog.open) return;
        const before = after && !page.isWhole ? found : [];
        found = [...before, ...page.results];
        cursor = page.nextCursor;
        more.hidden = !cursor;
        authors = { ...authors, ...Object.fromEntries(page.people.map((one) => [one.id, one])) };
        const nothing = found.length > 0 ? undefined : query === "" ? t("threadSearch.none") : t("search.nothing", { query });
        said.textContent = isEmpty ? hint : [nothing, query.length >= LEAST && meaning.remark(page)].filter(Boolean).join(" ");
        redraw(list, found.map((one) => foundMessage(one, authors, { isInThread: true, nameOf: (user) => thread.nameOf(user), onclick: (event) => {
            event.preventDefault();
            dialog.close();
            show(one.message.number);
        } })));
        // The button may be gone: the first of what is new is gone on with.
        if (after) list.children[before.length]?.querySelector("a").focus();
    };
    /** What is held on this device is one page, which `isWhole`. */
    const ask = async (query, after, isWanted) => {
        const params = { ...(query.length >= LEAST && { query, ...meaning.params }), ...filters.params };
        return realtime.isOnline ? request("messages.search", { conversation: thread.id, ...params, ...(after && { cursor: after }) }, { isWanted })
            : { ...await searchHeld(query, { ...filters.params, conversation: thread.id }), isWhole: true };
    };
    dialog.addEventListener("close", () => {
        clearTimeout(timer);
        turn += 1;
        meaning.close();
    });
    input.focus();
}
