// What a search finds: conversations by name, people, and messages with their words.

import { credentials } from "../credentials.js";
import { h } from "../dom.js";
import { hasFeature } from "../features.js";
import { shortWhenText } from "../format.js";
import { searchHeld } from "../held-search.js";
import { inbox } from "../inbox.js";
import { t } from "../language/texts.js";
import { errorMessage } from "../problems.js";
import { realtime } from "../realtime.js";
import { request } from "../requests.js";
import { excerpt, nameMatches } from "../state/found.js";
import { archivedRows, listedRows } from "../state/inbox.js";
import { visibleParts } from "../state/pieces.js";
import { avatar } from "./avatar.js";
import { avatarOf, titleOf } from "./conversation-row.js";
import { redraw } from "./keyed.js";
import { visible } from "./message-text.js";
import { writeTo } from "./new-chat.js";

const DELAY = 250;
const LEAST = 2;

/** A text with its matches marked; nothing is parsed. */
const marked = (parts) => parts.map(({ text, isMatch }) => {
    const nodes = visibleParts(text).map((part) => part.code ? h("span", { class: "code-point" }, part.code) : part.text);
    return isMatch ? h("mark", {}, nodes) : nodes;
});

export function searchResults() {
    const node = h("div", { id: "search-results", class: "results", hidden: true });
    const said = h("p", { class: "hint", role: "status" });
    let timer;
    let turn = 0;

    const section = (title, rows) => rows.length > 0 && [h("h2", { class: "section-title" }, title), h("ul", { class: "rows", "aria-label": title }, rows)];

    const chatRow = (row, query) => h("li", { class: "row", data: { found: "chat" } }, h("a", { class: "who", href: `#/c/${row.id}` }, avatarOf(row),
        h("span", { class: "name" }, h("bdi", {}, marked(excerpt(titleOf(row), nameMatches(titleOf(row), query)))))));

    const personRow = (user, query) => h("li", { class: "row", data: { found: "person", user: user.id } },
        h("button", { type: "button", class: "who", onclick: () => writeTo(user) }, avatar(user),
            h("span", { class: "name" }, h("bdi", {}, marked(excerpt(user.displayName, nameMatches(user.displayName, query)))))));

    const messageRow = ({ message, matches }, people) => {
        const row = inbox.row(message.conversation);
        const author = message.author === credentials.user.id ? t("common.you") : people[message.author]?.displayName ?? t("common.somebody");
        const where = row ? titleOf(row) : author;
        const text = message.text ?? message.voice?.transcript?.text ?? "";
        return h("li", { class: "row", data: { found: "message", number: String(message.number) } },
            h("a", { class: "who", href: `#/c/${message.conversation}/${message.number}` },
                h("span", { class: "name" },
                    h("span", { class: "title-line" }, h("bdi", { class: "title" }, visible(where)), h("time", { class: "when", datetime: message.sentAt }, shortWhenText(message.sentAt))),
                    h("span", { class: "state found" }, h("span", {},
                        where === author ? h("bdi", {}, marked(excerpt(text, matches)))
                            : t.rich("search.line", { author: h("bdi", {}, visible(author)), text: h("bdi", {}, marked(excerpt(text, matches))) }))))));
    };

    const load = async (query) => {
        const mine = ++turn;
        const found = { people: [], messages: [], authors: {}, error: undefined };
        const rows = [...listedRows(inbox.state), ...archivedRows(inbox.state)].filter((row) => nameMatches(titleOf(row), query).length > 0);
        const show = (isComplete) => {
            const known = new Set(rows.map((row) => row.person?.id));
            const people = found.people.filter((user) => user.id !== credentials.user.id && !known.has(user.id));
            const parts = [section(t("chats.list"), rows.map((row) => chatRow(row, query))), section(t("people.title"), people.map((user) => personRow(user, query))),
                section(t(found.isHeld ? "search.held" : "feed.messages"), found.messages.map((one) => messageRow(one, found.authors)))].filter(Boolean);
            said.textContent = parts.length > 0 ? "" : !isComplete ? t("search.searching") : found.error ? errorMessage(found.error) : t("search.nothing", { query });
            redraw(node, said, parts);
        };
        show(query.length < LEAST);
        if (query.length < LEAST) return;
        const ask = async (work) => { try { await work(); } catch (error) { found.error = error; } };
        await Promise.all([
            hasFeature("userSearch") && realtime.isOnline && ask(async () => { found.people = (await request("users.search", { query })).users; }),
            hasFeature("messageSearch") && ask(async () => {
                found.isHeld = !realtime.isOnline;
                const { results, people } = await (found.isHeld ? searchHeld(query) : request("messages.search", { query }));
                [found.messages, found.authors] = [results, Object.fromEntries(people.map((one) => [one.id, one]))];
            }),
        ]);
        if (mine === turn) show(true);
    };

    return {
        node,
        search(query) {
            clearTimeout(timer);
            turn += 1;
            node.hidden = query === "";
            if (query !== "") timer = setTimeout(() => load(query), DELAY);
        },
        /** Opens the first that was found. */
        open() { node.querySelector("a, button")?.click(); },
        close() {
            clearTimeout(timer);
            turn += 1;
        },
    };
}
