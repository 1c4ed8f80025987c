// What is asked about a message: who has read it, who reacted, and its former texts.

import { report } from "../../elements/attempt.js";
import { avatar } from "../../elements/avatar.js";
import { closeButton, open } from "../../elements/dialogs.js";
import { h } from "../../elements/dom.js";
import { messageText, visible } from "../../elements/message-text.js";
import { whenText } from "../../language/format.js";
import { t } from "../../language/texts.js";

/** Opens a dialog whose content is asked for. `fill(result, nameOf)` are its nodes. */
async function showAsked({ id, title, thread, message, what, fill }) {
    let result;
    try { result = await thread.ask(what, message); } catch (error) { return report(error); }
    const people = { ...thread.state.people, ...Object.fromEntries((result.people ?? []).map((one) => [one.id, one])) };
    const personOf = (user) => people[user] ?? { id: user, displayName: t("common.somebody") };
    const dialog = open({ id, "aria-labelledby": `${id}-title`, class: "dialog picker" }, h("h2", { id: `${id}-title` }, title),
        fill(result, personOf), closeButton(() => dialog.close()));
}

const personRow = (person, note, mark) => h("li", { class: "row", data: { user: person.id } }, avatar(person, { size: "small" }),
    h("span", { class: "name" }, h("bdi", {}, visible(person.displayName)), h("span", { class: "state" }, note)), mark);

/** Who has read a message of the user's own and when, and whom it has reached. */
export function showInfo(thread, message) {
    return showAsked({ id: "message-info", title: t("info.readBy"), thread, message, what: "receipts", fill: ({ receipts }, personOf) => {
        const read = receipts.filter((one) => one.read);
        const received = receipts.filter((one) => !one.read && one.deliveredAt);
        const known = new Set([...read, ...received].map((one) => one.user));
        const others = Object.values(thread.state.members).filter((one) => one.user !== thread.me && one.state === "member" && !known.has(one.user));
        const list = (heading, rows) => rows.length > 0 && [h("h3", { class: "section-title" }, heading), h("ul", { class: "rows flat" }, rows)];
        return [
            list(t("receipts.read"), read.map((one) => personRow(personOf(one.user), one.readAt ? whenText(one.readAt) : ""))),
            list(t("receipts.delivered"), received.map((one) => personRow(personOf(one.user), whenText(one.deliveredAt)))),
            list(t("info.notYet"), others.map((one) => personRow(personOf(one.user), ""))),
        ];
    } });
}

export function showReactions(thread, message) {
    return showAsked({ id: "message-reactions", title: t("message.reactions"), thread, message, what: "reactions", fill: ({ reactions }, personOf) =>
        h("ul", { class: "rows flat" }, reactions.map(({ emoji, user, at }) =>
            personRow(user === thread.me ? { ...personOf(user), displayName: t("common.you") } : personOf(user), whenText(at), h("span", { class: "big-emoji" }, emoji)))) });
}

export function showHistory(thread, message) {
    return showAsked({ id: "message-history", title: t("info.formerTexts"), thread, message, what: "edits", fill: ({ edits }, personOf) =>
        h("ol", { class: "history" }, edits.map((edit) => h("li", {},
            h("p", { class: "hint" }, whenText(edit.writtenAt)),
            h("div", { class: "text", dir: "auto" }, messageText(edit, (user) => personOf(user).displayName))))) });
}
