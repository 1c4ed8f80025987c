// What can be done with a message.

import { server } from "../../connection/features.js";
import { attempt } from "../../elements/attempt.js";
import { ask, open } from "../../elements/dialogs.js";
import { button, h, icon, toast } from "../../elements/dom.js";
import { t } from "../../language/texts.js";
import { reportUser } from "../../people/report-user.js";
import { decoded } from "../../state/mentions.js";
import { isForwardable, isSelectable, mayDeleteForAll } from "../../state/message-choice.js";
import { wordsOf } from "../../state/reading.js";
import { messageOf, reactionsOf, stateOf } from "../../state/thread-rows.js";
import { outbox } from "../../sync/outbox.js";
import { pickConversations } from "../list/conversation-picker.js";
import { openEmojiPicker } from "../writing/emoji-picker.js";
import { explain } from "./message-hints.js";
import { showHistory, showInfo, showReactions } from "./message-info.js";
import { chooseLanguage, languageText } from "./message-language.js";
import { translate } from "./message-translation.js";

const EMOJI = ["👍", "❤️", "😂", "🎉", "😮", "😢"];

/** `actions` are `{reply(message), edit(message), select(message), openThread(number)}` of the thread's page. */
export function showMenu(thread, message, actions) {
    const { state, me } = thread;
    const isMember = stateOf(state, me) === "member";
    const isOwn = message.author === me;
    const isText = message.kind === "text";
    const isThere = !message.deletedAt;
    const isPinned = Boolean(state.conversation?.pins.includes(message.number));
    const isStarred = Boolean(state.starred[message.number]);
    const { kind } = state.conversation ?? {};
    const item = (action, name, label, work, style = "quiet") => button({ name, label, class: `item ${style}`, data: { action },
        onclick: () => { dialog.close(); work(); } });
    const dialog = open({ id: "message-menu", "aria-label": t("common.message"), class: "dialog menu" },
        isMember && isThere && reactionRow(thread, message, () => dialog.close()),
        h("div", { class: "items" },
            isMember && isThere && item("reply", "reply", t("menu.reply"), () => actions.reply(message)),
            isMember && isThere && kind === "group" && item("thread", "thread", t("menu.replyInThread"), () => actions.openThread(message.thread ?? message.number)),
            isMember && isThere && isOwn && isText && item("edit", "edit", t("menu.edit"), () => actions.edit(message)),
            thread.translations.isOffered(message) && item("translate", "globe", t("menu.translate"), () => translate(thread, [message])),
            thread.hints.isOffered(message) && item("explain", "info", t("menu.explain"), () => explain(thread, message)),
            isMember && !isOwn && actions.suggest && server.suggestsReplies && wordsOf(message) && item("suggest-replies", "chat", t("menu.suggestReplies"), () => actions.suggest(message)),
            isForwardable(message) && item("forward", "forward", t("menu.forward"), () => forward(thread, message)),
            isThere && message.text && item("copy", "copy", t("common.copy"), () => copy(thread, message)),
            item("copy-link", "link", t("menu.copyLink"), () => copyText(`${location.origin}/#/c/${thread.id}/${message.number}`)),
            isMember && isThere && item("pin", "pin", isPinned ? t("menu.unpin") : t("menu.pin"), () => attempt(thread.pin(message.number, !isPinned))),
            isThere && item("star", "star", isStarred ? t("menu.removeStar") : t("menu.star"), () => attempt(thread.star(message, !isStarred))),
            isSelectable(message) && item("select", "check", t("menu.select"), () => actions.select(message)),
            isThere && message.editedAt && item("history", "history", t("info.formerTexts"), () => showHistory(thread, message)),
            isThere && Object.keys(message.reactions ?? {}).length > 0 && item("reactions", "smile", t("menu.whoReacted"), () => showReactions(thread, message)),
            isMember && isOwn && isThere && kind !== "self" && item("info", "info", t("info.readBy"), () => showInfo(thread, message)),
            isMember && isOwn && wordsOf(message) && item("language", "globe", languageText(message), () => chooseLanguage(thread, message)),
            !isOwn && isThere && item("report", "alert", t("common.report"), () => reportUser({ id: message.author, displayName: thread.nameOf(message.author) },
                { conversation: thread.id, number: message.number })),
            mayDeleteForAll(state, message, me) && item("delete-all", "trash", t("menu.deleteForAll"), () => remove(thread, message), "quiet danger-text"),
            item("delete-me", "trash", t("menu.deleteForMe"), () => attempt(thread.deleteForMe(message)), "quiet danger-text")),
        button({ label: t("common.cancel"), class: "wide soft", data: { action: "cancel" }, onclick: () => dialog.close() }));
}

/** The reactions that are usual, and the way to all others. */
function reactionRow(thread, message, close) {
    const own = new Map(reactionsOf(thread.state, message, thread.me).map((one) => [one.emoji, one.isOwn]));
    const react = (emoji) => {
        close();
        attempt(thread.react(message, emoji, !own.get(emoji)));
    };
    return h("div", { class: "emoji-row", role: "group", "aria-label": t("menu.react") }, EMOJI.map((emoji) =>
        h("button", { type: "button", class: "round", "aria-label": t("menu.reactWith", { emoji }), "aria-pressed": String(own.get(emoji) ?? false),
            data: { react: emoji }, onclick: () => react(emoji) }, emoji)),
    h("button", { type: "button", class: "round quiet", "aria-label": t("menu.anotherEmoji"), title: t("menu.anotherEmoji"), data: { action: "other-emoji" },
        onclick: () => {
            close();
            pickReaction(thread, message);
        } }, icon("smile")));
}

/** Reacts with any emoji, or takes the reaction back. */
export function pickReaction(thread, message, anchor = document.querySelector(`#message-${message.number} .bubble`)) {
    openEmojiPicker({ anchor, pick: (text) => {
        const known = reactionsOf(thread.state, messageOf(thread.state, message.number) ?? message, thread.me).find((one) => one.emoji === text);
        attempt(thread.react(message, text, !known?.isOwn));
    } });
}

async function remove(thread, message) {
    const sure = await ask({ title: t("menu.deleteForAllSure"), danger: true, text: t("menu.deleteForAllConsequence"),
        choices: [{ value: "delete", label: t("common.delete") }] });
    if (sure) await attempt(thread.deleteForAll(message));
}

const copy = (thread, message) => copyText(decoded(message.text, (user) => thread.nameOf(user)).text);

async function copyText(text) {
    try {
        await navigator.clipboard.writeText(text);
        toast(t("common.copied"));
    } catch { toast(t("menu.cannotCopy"), { error: true }); }
}

async function forward(thread, message) {
    const chosen = await pickConversations({ title: t("menu.forwardTo"), action: t("menu.forward") });
    if (!chosen) return;
    for (const id of chosen) outbox.send(id, { forward: { conversation: thread.id, number: message.number } });
    toast(t("menu.forwarded", { count: chosen.length }));
}
