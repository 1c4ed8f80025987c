// A message that a search has found, with the words marked.

import { credentials } from "../../connection/credentials.js";
import { h } from "../../elements/dom.js";
import { visible } from "../../elements/message-text.js";
import { shortWhenText } from "../../language/format.js";
import { t } from "../../language/texts.js";
import { plainMatches, visibleParts } from "../../state/pieces.js";
import { excerpt } from "../../state/search-matches.js";
import { inbox } from "../../sync/inbox.js";
import { names } from "../../sync/known-names.js";
import { messageLink } from "../messages/message-link.js";
import { titleOf } from "./conversation-row.js";

/** A text with its matches marked; nothing is parsed. */
export const marked = (parts) => parts.map(({ text, isMatch }) => {
    const nodes = visibleParts(text).map((part) => part.code ? h("span", { class: "code-point" }, part.code) : part.text);
    return isMatch ? h("mark", {}, nodes) : nodes;
});

/** `people` are the authors by id, and `nameOf` has the names of those who are mentioned. It leads to the message; within one conversation (`isInThread`) it does not say which. `about` stands below it. */
export function foundMessage({ message, matches }, people, { isInThread = false, about, onclick, nameOf = nameIn(people) } = {}) {
    const row = !isInThread && inbox.row(message.conversation);
    const author = message.author === credentials.user.id ? t("common.you") : people[message.author]?.displayName ?? t("common.somebody");
    const where = row ? titleOf(row) : author;
    const text = message.text ?? message.voice?.transcript?.text ?? (message.voice ? t("found.voice") : "");
    const plain = plainMatches(text, message.text === undefined ? [] : message.ranges, matches ?? [], nameOf);
    const words = h("bdi", {}, marked(excerpt(plain.text, plain.matches)));
    return h("li", { class: "row", data: { found: "message", number: String(message.number) } },
        messageLink(message, { class: "who", onclick },
            h("span", { class: "name" },
                h("span", { class: "title-line" }, h("bdi", { class: "title" }, visible(where)), h("time", { class: "when", datetime: message.sentAt }, shortWhenText(message.sentAt))),
                h("span", { class: "state found" }, h("span", {},
                    where === author ? words : t.rich("search.line", { author: h("bdi", {}, visible(author)), text: words }))), about)));
}

/** Names as far as they are held. */
const nameIn = (people) => (user) => user === credentials.user.id ? credentials.user.displayName : people[user]?.displayName ?? names.of(user) ?? t("row.aMember");
