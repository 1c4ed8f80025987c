// One message of a thread, and what can be done with it.

import { button, h, icon, toast } from "../dom.js";
import { recordText, voiceText, whenText } from "../format.js";
import { errorMessage } from "../problems.js";
import { noticeParts } from "../state/notices.js";
import { plainText } from "../state/pieces.js";
import { reactionsOf, readersOf, roleOf } from "../state/thread.js";
import { ask, open } from "./dialogs.js";
import { messageText, nodesOf, visible } from "./message-text.js";
import { voiceSound } from "./voice-message.js";

const EMOJI = ["👍", "❤️", "😂", "🎉", "😮", "😢"];
const QUOTE_LENGTH = 120;

/** One line between messages: what happened. Of a kind that this client does not know, nothing is shown. */
function noticeItem(thread, message) {
    const parts = noticeParts(message, thread.me, (user) => thread.nameOf(user));
    return h("li", { class: "notice", id: `message-${message.number}`, hidden: parts.length === 0,
        data: { number: String(message.number), notice: message.notice.kind } },
        h("p", { class: "hint" }, nodesOf(parts), " ", h("time", { datetime: message.sentAt }, whenText(message.sentAt))));
}

/** `actions` are `{reply(message), edit(message)}` of the thread's page. */
export function messageItem(thread, message, actions) {
    const { me } = thread;
    if (message.notice) return noticeItem(thread, message);
    const isOwn = message.author === me;
    const name = thread.nameOf(message.author);
    const canAct = !message.deletedAt && thread.state.membership?.state !== "left";
    const nameOf = (user) => thread.nameOf(user);
    const readers = isOwn ? readersOf(thread.state, message.number) : [];
    return h("li", { class: `message ${isOwn ? "own" : ""}`, id: `message-${message.number}`,
        data: { number: String(message.number), ...(message.deletedAt && { deleted: "" }) } },
        h("article", { "aria-label": `${isOwn ? "You" : name}, ${whenText(message.sentAt)}` },
            !isOwn && h("bdi", { class: "author" }, visible(name)),
            message.forwardedFrom && h("p", { class: "hint" }, "Forwarded"),
            message.replyTo && quote(thread, message.replyTo),
            message.deletedAt ? h("p", { class: "text hint" }, "Message deleted")
                : message.call ? h("p", { class: "text call-record", data: { call: message.call.id, state: message.call.state } },
                    icon(message.call.kind === "video" ? "video" : "phone"), recordText(message.call, me))
                : message.voice ? sound(thread, message)
                : h("div", { class: "text", dir: "auto" }, messageText(message, nameOf)),
            h("p", { class: "meta" }, h("time", { datetime: message.sentAt }, whenText(message.sentAt)),
                message.editedAt && !message.deletedAt && h("span", { class: "edited" }, "edited"),
                readers.length > 0 && h("span", { class: "seen", title: readers.map(nameOf).join(", ") }, "read")),
            reactions(thread, message, canAct)),
        button({ name: "more", label: isOwn ? "Actions for your message" : `Actions for the message of ${name}`, bare: true, class: "round quiet",
            data: { action: "message-menu" }, onclick: () => showMenu(thread, message, actions, canAct) }));
}

function sound(thread, message) {
    const made = thread.sound(message, () => voiceSound(thread, message));
    made.update(message, Boolean(thread.state.listened[message.number]));
    return made.node;
}

/** A message that is not stored yet. */
export function outgoingItem(thread, one) {
    const isFailed = one.state === "failed";
    return h("li", { class: "message own", data: { outgoing: one.state } },
        h("article", { "aria-label": isFailed ? "You, not sent" : "You, sending" },
            one.replyTo && quote(thread, one.replyTo),
            one.file ? h("p", { class: "text call-record" }, icon("microphone"), "Voice message") : h("div", { class: "text", dir: "auto" }, visible(one.text)),
            isFailed ? h("p", { class: "meta failed", role: "alert" }, icon("alert"), `Not sent. ${one.problem}`)
                : h("p", { class: "meta" }, "Sending…"),
            isFailed && h("div", { class: "pair" },
                button({ label: "Retry", class: "small soft", data: { action: "retry" }, onclick: () => thread.retry(one.clientID) }),
                button({ label: "Discard", class: "small quiet", data: { action: "discard" }, onclick: () => thread.discard(one.clientID) }))));
}

/** One line of the message that is answered. */
export function quote(thread, number) {
    const message = thread.state.hidden[number] ? undefined : thread.state.messages[number];
    const text = !message ? "Earlier message" : message.deletedAt ? "Message deleted" : message.call ? recordText(message.call, thread.me)
        : message.voice ? voiceText(message.voice)
        : plainText(message.text, message.ranges, (user) => thread.nameOf(user)).slice(0, QUOTE_LENGTH);
    return h("p", { class: "quote" }, message && h("bdi", { class: "author" }, visible(thread.nameOf(message.author))), h("bdi", {}, visible(text)));
}

function reactions(thread, message, canAct) {
    const all = reactionsOf(thread.state, message, thread.me);
    if (all.length === 0) return undefined;
    return h("div", { class: "reactions", role: "group", "aria-label": "Reactions" }, all.map(({ emoji, count, users, isOwn }) => {
        const names = users.map((user) => user === thread.me ? "you" : thread.nameOf(user)).join(", ");
        return h("button", { type: "button", class: "reaction", "aria-pressed": String(isOwn), disabled: !canAct, title: names,
            "aria-label": `${emoji} ${count}: ${names}`, data: { emoji },
            onclick: () => attempt(thread.react(message, emoji, !isOwn)) }, emoji, h("span", {}, String(count)));
    }));
}

function showMenu(thread, message, actions, canAct) {
    const isOwn = message.author === thread.me;
    const mayDelete = canAct && (isOwn || thread.state.conversation?.kind === "group" && ["owner", "admin"].includes(roleOf(thread.state, thread.me)));
    const item = (action, label, work, style = "quiet") => button({ label, class: `wide ${style}`, data: { action },
        onclick: () => { dialog.close(); work(); } });
    const own = new Map(reactionsOf(thread.state, message, thread.me).map((one) => [one.emoji, one.isOwn]));
    const dialog = open({ id: "message-menu", "aria-label": "Message" },
        canAct && h("div", { class: "emoji-row", role: "group", "aria-label": "React" }, EMOJI.map((emoji) =>
            h("button", { type: "button", class: "round", "aria-label": `React with ${emoji}`, "aria-pressed": String(own.get(emoji) ?? false), data: { react: emoji },
                onclick: () => { dialog.close(); attempt(thread.react(message, emoji, !own.get(emoji))); } }, emoji))),
        canAct && item("reply", "Reply", () => actions.reply(message)),
        canAct && isOwn && message.kind === "text" && item("edit", "Edit", () => actions.edit(message)),
        mayDelete && !message.call && item("delete-all", "Delete for everyone", () => remove(thread, message), "quiet danger-text"),
        item("delete-me", "Delete for me", () => attempt(thread.deleteForMe(message)), "quiet danger-text"),
        item("cancel", "Cancel", () => {}));
}

async function remove(thread, message) {
    const sure = await ask({ title: "Delete for everyone?", danger: true, text: "The text is gone for all of you.",
        choices: [{ value: "delete", label: "Delete" }] });
    if (sure) await attempt(thread.deleteForAll(message));
}

const attempt = (work) => work.catch((error) => toast(errorMessage(error), { error: true }));
