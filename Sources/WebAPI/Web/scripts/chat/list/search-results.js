// What a search finds: conversations by name, people, and messages with their words.

import { credentials } from "../../connection/credentials.js";
import { hasFeature } from "../../connection/features.js";
import { errorMessage } from "../../connection/problems.js";
import { realtime } from "../../connection/realtime.js";
import { request } from "../../connection/requests.js";
import { avatar } from "../../elements/avatar.js";
import { h } from "../../elements/dom.js";
import { redraw } from "../../elements/keyed.js";
import { pageLink } from "../../elements/page-link.js";
import { t } from "../../language/texts.js";
import { writeTo } from "../../people/new-chat.js";
import { archivedRows, listedRows } from "../../state/inbox-rows.js";
import { excerpt, nameMatches } from "../../state/search-matches.js";
import { inbox } from "../../sync/inbox.js";
import { searchHeld } from "../../sync/offline-search.js";
import { knownPeople } from "../../sync/recent-people.js";
import { avatarOf, titleOf } from "./conversation-row.js";
import { foundMessage, marked } from "./found-message.js";
import { meaningFilter } from "./meaning-filter.js";
import { messageFilters } from "./message-filters.js";

const DELAY = 250;
const LEAST = 2;

export function searchResults() {
    const filters = messageFilters(() => load(words), knownPeople);
    const list = h("div", { class: "results" });
    const meaning = meaningFilter(() => load(words));
    const node = h("div", { id: "search-results", class: "results", hidden: true }, meaning.node, filters.node, list);
    let words = "";
    const said = h("p", { class: "hint", role: "status" });
    let timer;
    let turn = 0;

    const section = (title, rows) => rows.length > 0 && [h("h2", { class: "section-title" }, title), h("ul", { class: "rows", "aria-label": title }, rows)];

    const chatRow = (row, query) => h("li", { class: "row", data: { found: "chat" } }, pageLink(`#/c/${row.id}`, { class: "who" }, avatarOf(row),
        h("span", { class: "name" }, h("bdi", {}, marked(excerpt(titleOf(row), nameMatches(titleOf(row), query)))))));

    const personRow = (user, query) => h("li", { class: "row", data: { found: "person", user: user.id } },
        h("button", { type: "button", class: "who", onclick: () => writeTo(user) }, avatar(user),
            h("span", { class: "name" }, h("bdi", {}, marked(excerpt(user.displayName, nameMatches(user.displayName, query)))))));

    const load = async (query) => {
        clearTimeout(timer);
        const mine = ++turn;
        const isWanted = () => mine === turn;
        // Filters are for messages alone.
        const isNarrowed = !filters.isEmpty;
        const found = { people: [], messages: [], authors: {}, error: undefined };
        const rows = isNarrowed ? [] : [...listedRows(inbox.state), ...archivedRows(inbox.state)].filter((row) => nameMatches(titleOf(row), query).length > 0);
        const show = (isComplete) => {
            const known = new Set(rows.map((row) => row.person?.id));
            const people = found.people.filter((user) => user.id !== credentials.user.id && !known.has(user.id));
            const parts = [section(t("chats.list"), rows.map((row) => chatRow(row, query))), section(t("people.title"), people.map((user) => personRow(user, query))),
                section(t(found.isHeld ? "search.held" : "feed.messages"), found.messages.map((one) => foundMessage(one, found.authors)))].filter(Boolean);
            const nothing = parts.length === 0 && (!isComplete ? t("search.searching") : found.error ? errorMessage(found.error) : t("search.nothing", { query }));
            said.textContent = [nothing, found.remark].filter(Boolean).join(" ");
            redraw(list, said, parts);
        };
        const isShort = query.length < LEAST;
        const isVague = isShort && !filters.areEnough;
        show(isVague);
        if (isVague && isNarrowed) said.textContent = t("only.needWords");
        if (isVague) return;
        const ask = async (work) => { try { await work(); } catch (error) { found.error = error; } };
        await Promise.all([
            hasFeature("userSearch") && !isNarrowed && realtime.isOnline && ask(async () => { found.people = (await request("users.search", { query }, { isWanted })).users; }),
            hasFeature("messageSearch") && ask(async () => {
                found.isHeld = !realtime.isOnline;
                const page = await (found.isHeld ? searchHeld(query, filters.params)
                    : request("messages.search", { ...(!isShort && { query, ...meaning.params }), ...filters.params }, { isWanted }));
                found.remark = isShort ? undefined : meaning.remark(page);
                [found.messages, found.authors] = [page.results, Object.fromEntries(page.people.map((one) => [one.id, one]))];
            }),
        ]);
        if (isWanted()) show(true);
    };

    return {
        node,
        search(query) {
            clearTimeout(timer);
            turn += 1;
            words = query;
            node.hidden = query === "";
            if (query === "") filters.reset();
            if (query !== "") timer = setTimeout(() => load(query), DELAY);
        },
        /** Opens the first that was found. */
        open() { list.querySelector("a, button")?.click(); },
        close() {
            meaning.close();
            clearTimeout(timer);
            turn += 1;
        },
    };
}
