// One message of a thread.

import { calls } from "../../calls/calls.js";
import { attempt } from "../../elements/attempt.js";
import { avatar } from "../../elements/avatar.js";
import { button, h, icon } from "../../elements/dom.js";
import { messageText, nodesOf, visible } from "../../elements/message-text.js";
import { dayText, recordText, timeText, voiceText, whenText } from "../../language/format.js";
import { t } from "../../language/texts.js";
import { decoded } from "../../state/mentions.js";
import { isFewEmoji, plainText } from "../../state/pieces.js";
import { receiptOf } from "../../state/receipts.js";
import { messageOf, reactionsOf, stateOf } from "../../state/thread-rows.js";
import { friends } from "../../sync/friends.js";
import { voiceSound } from "../../voice/voice-message.js";
import { callRecord } from "../thread/call-record.js";
import { noticeParts } from "../thread/notices.js";
import { hintsOf } from "./message-hints.js";
import { translationOf } from "./message-translation.js";

const QUOTE_LENGTH = 120;
const receiptIcons = { sent: "check", delivered: "checks", read: "checks" };

/** What the item of a message shows beside it: it is drawn anew when one of these is another. */
export function partsOf(thread, item) {
    const { state, me } = thread;
    const { message, folded } = item;
    const { number, replyTo, thread: root } = message;
    const receipt = message.author === me && !message.notice ? receiptOf(state, number, me) : undefined;
    return [message, replyTo && quotedIn(state, replyTo), root && quotedIn(state, root), state.people, state.membership,
        state.listened[number], state.starred[number], state.conversation?.pins.includes(number), receipt?.state, receipt?.readers.join(),
        message.call?.state === "active" && calls.has(message.call.id), item.day, item.isUnread, item.isLong, item.isFirst, item.isLast, folded?.length, friends.blocked, stateOf(state, me), ...thread.translations.partsOf(message), ...thread.hints.partsOf(message)];
}

/**
 * `actions` are `{menu(message), react(message, anchor), show(number), goToDate(day), openThread(number), unfold(number), sumUp()}` of
 * the thread's page.
 */
export function messageItem(thread, item, actions) {
    const { message } = item;
    const { state, me } = thread;
    const isOwn = message.author === me;
    const isGroup = state.conversation?.kind === "group";
    const name = thread.nameOf(message.author);
    const style = ["message", isOwn && "own", item.isFirst && "first", item.isLast && "last", message.notice && "notice"].filter(Boolean).join(" ");
    return h("article", { class: style, id: `message-${message.number}`, tabindex: "-1", "aria-posinset": message.number,
        "aria-setsize": Math.max(state.conversation?.lastNumber ?? 0, state.last ?? 0, message.number),
        "aria-label": t("message.label", { name: isOwn ? t("common.you") : name, time: whenText(message.sentAt) }),
        data: { number: String(message.number), ...(message.deletedAt && { deleted: "" }), ...(message.notice && { notice: message.notice.kind }),
            ...(item.folded && { folded: String(item.folded.length) }) } },
        item.day && h("p", { class: "day" }, h("button", { type: "button", tabindex: "-1", title: t("goToDate.title"), "aria-label": t("goToDate.from", { day: dayText(item.day) }),
            data: { action: "go-to-date" }, onclick: () => actions.goToDate(item.day) }, h("time", { datetime: item.day }, dayText(item.day)))),
        item.isUnread && h("p", { class: "unread-from" }, h("span", {}, t("message.unread")),
            item.isLong && button({ name: "summary", label: t("summary.sumUp"), class: "small soft", data: { action: "sum-up" }, onclick: () => actions.sumUp() })),
        item.folded ? foldedLine(item.folded, actions) : message.notice ? noticeLine(thread, message)
            : messageLine(thread, item, actions, { isOwn, isGroup, name }));
}

/** One line between messages: what happened. Of a kind that this client does not know, nothing is shown. */
function noticeLine(thread, message) {
    const parts = noticeParts(message, thread.me, (user) => thread.nameOf(user));
    return h("p", { class: "hint notice-line", hidden: parts.length === 0 }, nodesOf(parts), " ",
        h("time", { datetime: message.sentAt }, timeText(message.sentAt)));
}

function foldedLine(messages, { unfold }) {
    const count = messages.length;
    return h("p", { class: "folded" }, button({ label: t("message.folded", { count }),
        class: "quiet small", data: { action: "unfold" }, onclick: () => unfold(messages[0].number) }));
}

function messageLine(thread, { message, isFirst, isLast }, actions, { isOwn, isGroup, name }) {
    const canReact = !message.deletedAt && stateOf(thread.state, thread.me) === "member";
    return h("div", { class: "message-line" },
        isGroup && !isOwn && h("span", { class: "message-face" }, isLast && avatar(thread.state.people[message.author] ?? { id: message.author, displayName: name }, { size: "small" })),
        h("div", { class: "bubble" },
            isGroup && !isOwn && isFirst && h("bdi", { class: "author" }, visible(name)),
            message.forwardedFrom && h("p", { class: "hint forwarded" }, icon("forward"), t("message.forwarded")),
            message.thread && !message.replyTo && h("p", { class: "hint" }, t("message.inThread")),
            (message.replyTo ?? message.thread) && quoteButton(thread, message, actions),
            content(thread, message),
            translationOf(thread, message),
            hintsOf(thread, message),
            meta(thread, message, isOwn),
            reactions(thread, message, canReact && actions),
            message.replies > 0 && button({ name: "thread", label: t("message.replies", { count: message.replies }), class: "small link reply-count",
                data: { action: "open-thread" }, onclick: () => actions.openThread(message.number) })),
        button({ name: "more", label: isOwn ? t("message.ownActions") : t("message.actions", { name }), bare: true, class: "round quiet act", tabindex: "-1",
            data: { action: "message-menu" }, onclick: () => actions.menu(message) }));
}

/** What it says. */
export function content(thread, message) {
    if (message.deletedAt) return h("p", { class: "text hint" }, t("message.deleted"));
    if (message.call) return callRecord(thread, message.call);
    if (message.voice) {
        const made = thread.sound(message, () => voiceSound(thread, message));
        made.update(message, Boolean(thread.state.listened[message.number]));
        return made.node;
    }
    const { code, confidence } = message.language ?? {};
    return h("div", { class: isFewEmoji(message.text ?? "") ? "text few-emoji" : "text", dir: "auto", lang: confidence === "low" ? undefined : code }, messageText(message, (user) => thread.nameOf(user)));
}

function meta(thread, message, isOwn) {
    const { state, me } = thread;
    const receipt = isOwn && !message.deletedAt && state.conversation?.kind !== "self" ? receiptOf(state, message.number, me) : undefined;
    const word = receipt && t(`receipts.${receipt.state}`);
    const isGroup = state.conversation?.kind === "group";
    return h("p", { class: "meta" },
        state.conversation?.pins.includes(message.number) && h("span", { class: "mini-icon", role: "img", "aria-label": t("message.pinned") }, icon("pin")),
        state.starred[message.number] && h("span", { class: "mini-icon starred", role: "img", "aria-label": t("message.starred") }, icon("star")),
        message.expiresAt && !message.deletedAt && h("span", { class: "mini-icon", role: "img", "aria-label": t("message.disappears") }, icon("timer")),
        message.editedAt && !message.deletedAt && h("span", { class: "edited" }, t("message.edited")),
        message.isPending && h("span", { class: "mini-icon", role: "img", "aria-label": t("message.waits") }, icon("clock")),
        h("time", { datetime: message.sentAt }, timeText(message.sentAt)),
        receipt && h("span", { class: "receipt", role: "img", data: { receipt: receipt.state },
            "aria-label": isGroup && receipt.state !== "read" && receipt.readers.length > 0
                ? t("message.readBy", { state: word, names: receipt.readers.map((user) => thread.nameOf(user)).join(", ") }) : word },
        icon(receiptIcons[receipt.state])));
}

/** One line of the message that is answered, which leads there. */
function quoteButton(thread, message, { show, openThread }) {
    const number = message.replyTo ?? message.thread;
    return h("button", { type: "button", class: "quote", data: { action: "show-quoted" },
        onclick: () => message.replyTo ? show(number) : openThread(number) }, quoteParts(thread, number));
}

/** What a quote shows: nothing of a message that is hidden or not held. */
const quotedIn = (state, number) => state.hidden[number] ? undefined : messageOf(state, number);

export const quote = (thread, number) => h("p", { class: "quote" }, quoteParts(thread, number));

function quoteParts(thread, number) {
    const message = quotedIn(thread.state, number);
    return [message && h("bdi", { class: "author" }, visible(thread.nameOf(message.author))),
        h("bdi", { class: "quoted" }, message ? lineOf(thread, message) : t("message.earlier"))];
}

/** A message in one line. */
export function lineOf(thread, message) {
    if (message.deletedAt) return t("message.deleted");
    if (message.call) return recordText(message.call, thread.me);
    if (message.voice) return voiceText(message.voice);
    return plainText(message.text ?? "", message.ranges, (user) => thread.nameOf(user)).slice(0, QUOTE_LENGTH);
}

/** `actions` are those of the page, where the user may react. */
function reactions(thread, message, actions) {
    const all = reactionsOf(thread.state, message, thread.me);
    if (all.length === 0) return undefined;
    return h("div", { class: "reactions", role: "group", "aria-label": t("message.reactions") }, all.map(({ emoji, count, users, isOwn }) => {
        const names = users.map((user) => user === thread.me ? t("message.you") : thread.nameOf(user)).join(", ");
        return h("button", { type: "button", class: "reaction", "aria-pressed": String(isOwn), disabled: !actions, title: names,
            "aria-label": t("message.reaction", { emoji, count, names }), data: { emoji },
            onclick: () => attempt(thread.react(message, emoji, !isOwn)) }, emoji, h("span", {}, String(count)));
    }), actions && h("button", { type: "button", class: "reaction other", "aria-label": t("menu.react"), title: t("menu.react"), data: { action: "react-other" },
        onclick: ({ currentTarget }) => actions.react(message, currentTarget) }, icon("smile")));
}

/** A message that is not stored yet. */
export function outgoingItem(thread, one, actions) {
    const isFailed = one.state === "failed";
    return h("article", { class: "message own first last", id: `outgoing-${one.clientID}`, tabindex: "-1", "aria-label": isFailed ? t("message.notSentLabel") : t("message.sendingLabel"),
        data: { outgoing: one.state } },
        h("div", { class: "message-line" }, h("div", { class: "bubble" },
            one.replyTo && quote(thread, one.replyTo),
            one.file ? h("p", { class: "text call-record" }, icon("microphone"), t("message.voice"))
                : one.forward ? h("p", { class: "text call-record" }, icon("forward"), t("message.forwardedMessage"))
                    : h("div", { class: "text", dir: "auto" }, visible(decoded(one.text, (user) => thread.nameOf(user)).text)),
            isFailed ? h("p", { class: "meta failed", role: "alert" }, icon("alert"), t("message.notSent", { reason: one.problem }))
                : h("p", { class: "meta" }, h("span", { class: "mini-icon", role: "img", "aria-label": t("message.sending") }, icon("clock"))),
            isFailed && h("div", { class: "pair" },
                button({ label: t("message.retry"), class: "small soft", data: { action: "retry" }, onclick: () => thread.retry(one.clientID) }),
                button({ label: t("message.discard"), class: "small quiet", data: { action: "discard" }, onclick: () => thread.discard(one.clientID) }))),
            button({ name: "more", label: t("message.ownActions"), bare: true, class: "round quiet act", tabindex: "-1",
                data: { action: "message-menu" }, onclick: () => actions.outgoingMenu(one) })));
}
