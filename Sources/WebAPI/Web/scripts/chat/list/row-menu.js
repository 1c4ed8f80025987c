// What can be done with a conversation as a whole, from its row or its page.

import { server } from "../../connection/features.js";
import { attempt } from "../../elements/attempt.js";
import { ask, open } from "../../elements/dialogs.js";
import { button, h, toast } from "../../elements/dom.js";
import { visible } from "../../elements/message-text.js";
import { whenText } from "../../language/format.js";
import { t } from "../../language/texts.js";
import { isMuted, unreadOf } from "../../state/inbox-rows.js";
import { muteChoices } from "../../state/send-times.js";
import { serverNow } from "../../store/clock.js";
import { inbox } from "../../sync/inbox.js";
import { outbox } from "../../sync/outbox.js";
import { canSumUp, openSummary } from "../assistant/summary.js";
import { titleOf } from "./conversation-row.js";

/** The items of a menu, `{action, name, label, style?, run}`. */
export function rowActions(row) {
    const { id, membership, conversation } = row;
    const keep = (change) => attempt(inbox.keep(id, change));
    const isMember = membership.state === "member";
    const { unread, isMarked } = unreadOf(inbox.state, row);
    const muted = isMuted(membership);
    return [
        isMember && { action: "mute", name: muted ? "bell" : "muted", label: muted ? mutedText(membership) : t("rowMenu.mute"),
            run: () => muted ? keep({ muted: null }) : mute(row) },
        { action: "pin", name: "pin", label: membership.pinned ? t("menu.unpin") : t("menu.pin"), run: () => keep({ pinned: !membership.pinned }) },
        { action: "archive", name: "archive", label: membership.archived ? t("rowMenu.unarchive") : t("rowMenu.archive"), run: () => archive(row) },
        isMember && { action: "unread", name: "chat", label: unread > 0 || isMarked ? t("rowMenu.markRead") : t("rowMenu.markUnread"), run: () => toggleUnread(row) },
        { action: "clear", name: "trash", label: t("rowMenu.clear"), style: "quiet danger-text", run: () => clear(row) },
        { action: "delete", name: "trash", label: t("rowMenu.delete"), style: "quiet danger-text", run: () => remove(row) },
        conversation.kind === "group" && isMember && { action: "leave", name: "signOut", label: t("rowMenu.leave"), style: "quiet danger-text", run: () => leave(row) },
    ].filter(Boolean);
}

/** What machines can say of it: items as above. `show` are the scopes of a summary. */
export function machineActions(row, scopes) {
    const isMember = row.membership.state === "member";
    return [
        isMember && canSumUp() && { action: "summary", name: "summary", label: t("summary.title"), run: () => openSummary(row.id, scopes, titleOf(row)) },
        isMember && server.languageModel && { action: "ask-assistant", name: "assistant", label: t("assistant.askAbout"), run: () => { location.hash = `#/ask/${row.id}`; } },
    ].filter(Boolean);
}

/** What can be summed up of a row: what is unread, where something is, and the last messages. */
export function summaryScopes(row, unread = unreadOf(inbox.state, row).unread > 0 && { unread: true }) {
    return [unread && { name: "unread", params: unread }, { name: "newest", params: {} }].filter(Boolean);
}

export function showRowMenu(row) {
    const dialog = open({ id: "row-menu", "aria-labelledby": "row-menu-title", class: "dialog menu" },
        h("h2", { id: "row-menu-title" }, h("bdi", {}, visible(titleOf(row)))),
        h("div", { class: "items" }, [...machineActions(row, summaryScopes(row)), ...rowActions(row)].map(({ action, name, label, style = "quiet", run }) =>
            button({ name, label, class: `item ${style}`, data: { action }, onclick: () => { dialog.close(); run(); } }))),
        button({ label: t("common.cancel"), class: "wide soft", data: { action: "cancel" }, onclick: () => dialog.close() }));
}

/** What swiping a row does, towards the start and the end of a line: `{label, run}`. */
export function rowSwipes(row) {
    const [away, read] = ["archive", "unread"].map((name) => rowActions(row).find(({ action }) => action === name));
    return { start: away, end: read };
}

function mutedText({ muted }) { return muted.until ? t("rowMenu.unmuteFrom", { time: whenText(muted.until) }) : t("rowMenu.unmute"); }

async function mute(row) {
    const choices = muteChoices(new Date(serverNow()));
    const dialog = open({ id: "mute", "aria-labelledby": "mute-title", class: "dialog menu" }, h("h2", { id: "mute-title" }, t("rowMenu.mute")),
        h("p", { class: "hint" }, t("rowMenu.mentionsHint")),
        h("div", { class: "items" }, choices.map(({ name, until }) => button({ name: "muted", label: t(`mute.${name}`), class: "item quiet", data: { mute: name },
            onclick: () => {
                dialog.close();
                attempt(inbox.keep(row.id, { muted: { mentions: true, ...(until && { until: until.toISOString() }) } }));
            } }))),
        button({ label: t("common.cancel"), class: "wide soft", onclick: () => dialog.close() }));
}

async function archive(row) {
    const archived = !row.membership.archived;
    if (!await attempt(inbox.keep(row.id, { archived }))) return;
    toast(archived ? t("rowMenu.archived") : t("rowMenu.unarchived"), { action: { label: t("rowMenu.undo"), run: () => attempt(inbox.keep(row.id, { archived: !archived })) } });
}

async function toggleUnread(row) {
    const { unread, isMarked } = unreadOf(inbox.state, row);
    if (unread === 0 && !isMarked) return attempt(inbox.keep(row.id, { markedUnread: true }));
    if (unread > 0) inbox.markRead(row.id, row.lastMessage.number);
    if (isMarked) await attempt(inbox.keep(row.id, { markedUnread: false }));
}

async function clear(row) {
    const sure = await ask({ title: t("rowMenu.clearName", { name: titleOf(row) }), danger: true, text: t("rowMenu.clearConsequence"),
        choices: [{ value: "clear", label: t("rowMenu.clearNow") }] });
    if (sure) inbox.clear(row);
}

async function remove(row) {
    const sure = await ask({ title: t("rowMenu.deleteName", { name: titleOf(row) }), danger: true,
        text: t("rowMenu.deleteConsequence"),
        choices: [{ value: "delete", label: t("common.delete") }] });
    if (!sure) return;
    inbox.clear(row, { isDeleted: true });
    leavePage(row);
}

async function leave(row) {
    const sure = await ask({ title: t("rowMenu.leaveSure"), danger: true, text: t("rowMenu.leaveConsequence"),
        choices: [{ value: "leave", label: t("rowMenu.leave") }] });
    if (!sure) return;
    const clientID = outbox.change(row.id, "members.leave", {}, "leave");
    const stop = ["result", "refused"].map((event) => outbox.on(event, ({ entry, result }) => {
        if (entry.clientID !== clientID) return;
        stop.forEach((one) => one());
        if (result !== undefined) leavePage(row);
    }));
}

function leavePage({ id }) { if (location.hash.startsWith(`#/c/${id}`)) location.hash = "#/chats"; }
