// A message that a search has found, with the words marked.

import { credentials } from "../credentials.js";
import { h } from "../dom.js";
import { shortWhenText } from "../format.js";
import { inbox } from "../inbox.js";
import { t } from "../language/texts.js";
import { excerpt } from "../state/found.js";
import { visibleParts } from "../state/pieces.js";
import { titleOf } from "./conversation-row.js";
import { visible } from "./message-text.js";

/** A text with its matches marked; nothing is parsed. */
export const marked = (parts) => parts.map(({ text, isMatch }) => {
    const nodes = visibleParts(text).map((part) => part.code ? h("span", { class: "code-point" }, part.code) : part.text);
    return isMatch ? h("mark", {}, nodes) : nodes;
});

/** `people` are the authors by id. It leads to the message; within one conversation (`isInThread`) it does not say which. */
export function foundMessage({ message, matches }, people, { isInThread = false, onclick } = {}) {
    const row = !isInThread && inbox.row(message.conversation);
    const author = message.author === credentials.user.id ? t("common.you") : people[message.author]?.displayName ?? t("common.somebody");
    const where = row ? titleOf(row) : author;
    const text = message.text ?? message.voice?.transcript?.text ?? (message.voice ? t("found.voice") : "");
    const words = h("bdi", {}, marked(excerpt(text, matches)));
    return h("li", { class: "row", data: { found: "message", number: String(message.number) } },
        h("a", { class: "who", href: `#/c/${message.conversation}/${message.number}`, onclick },
            h("span", { class: "name" },
                h("span", { class: "title-line" }, h("bdi", { class: "title" }, visible(where)), h("time", { class: "when", datetime: message.sentAt }, shortWhenText(message.sentAt))),
                h("span", { class: "state found" }, h("span", {},
                    where === author ? words : t.rich("search.line", { author: h("bdi", {}, visible(author)), text: words }))))));
}
