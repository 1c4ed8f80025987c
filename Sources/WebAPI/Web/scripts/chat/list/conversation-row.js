// A row of the list of conversations.

import { calls } from "../../calls/calls.js";
import { joinLive } from "../../calls/start-call.js";
import { credentials } from "../../connection/credentials.js";
import { avatar } from "../../elements/avatar.js";
import { button, h, icon } from "../../elements/dom.js";
import { nodesOf, visible } from "../../elements/message-text.js";
import { recordText, shortWhenText, voiceText } from "../../language/format.js";
import { t } from "../../language/texts.js";
import { isEmpty } from "../../state/draft-versions.js";
import { isMuted, unreadOf } from "../../state/inbox-rows.js";
import { decoded } from "../../state/mentions.js";
import { plainText } from "../../state/pieces.js";
import { drafts } from "../../sync/drafts.js";
import { names } from "../../sync/known-names.js";
import { outbox } from "../../sync/outbox.js";
import { presence } from "../../sync/presence.js";
import { writers } from "../../sync/writers.js";
import { invitation } from "../thread/invitation.js";
import { noticeParts, writersText } from "../thread/notices.js";

/** The name of a conversation in the list. */
export function titleOf({ conversation, person }) {
    if (conversation.kind === "self") return t("row.notes");
    if (person) return person.displayName || t("common.deletedAccount");
    return conversation.name ?? t("row.groupOf", { count: conversation.members });
}

export function avatarOf({ conversation, person }, dot) {
    return person ? avatar(person, { presence: dot })
        : h("span", { class: "avatar crowd", "aria-hidden": "true" }, icon(conversation.kind === "self" ? "notes" : "people"));
}

/** What a row shows: it is drawn anew when one of these is another. The row itself is, when its mute or its last message has ended. */
export function rowParts(inbox, row, isCurrent) {
    const { unread, mentions, isMarked } = unreadOf(inbox, row);
    return [row, unread, mentions, isMarked, isCurrent, drafts.of(row.id), outbox.list(row.id), writers.of(row.id),
        row.person && presence.isOnline(row.person.id), joinable(row),
        namesIn(row)];
}

/** Those that the preview of a group may show. */
const namesIn = ({ id, person, lastMessage }) => person ? "" : [lastMessage?.author, ...lastMessage?.notice?.users ?? [],
    ...(lastMessage?.ranges ?? []).map((one) => one.user), ...Object.keys(writers.of(id))].map((user) => user && names.of(user)).join();

/** `menu(row)` opens what can be done with the conversation. */
export function conversationRow(inbox, row, { isCurrent, menu }) {
    const { id, conversation, membership, person, lastMessage } = row;
    const { unread, mentions, isMarked } = unreadOf(inbox, row);
    const title = titleOf(row);
    const isInvited = membership.state === "invited";
    const isUnread = unread > 0 || isMarked;
    const dot = person && !person.deleted ? h("span", { class: "presence", data: { online: String(presence.isOnline(person.id)) } }) : undefined;
    return h("li", { class: `row chat-row ${isUnread ? "unread" : ""}`, id: `row-${id}`, data: { conversation: id, unread: String(unread), state: membership.state, kind: conversation.kind } },
        h("a", { class: "who", href: `#/c/${id}`, ...(isCurrent && { "aria-current": "true" }) },
            avatarOf(row, dot),
            h("span", { class: "name" },
                h("span", { class: "title-line" }, h("bdi", { class: "title" }, visible(title)),
                    dot && presence.isOnline(person.id) && h("span", { class: "unseen" }, t("row.online")),
                    lastMessage && h("time", { class: "when", datetime: lastMessage.sentAt }, shortWhenText(lastMessage.sentAt))),
                h("span", { class: "state" }, h("span", { class: "preview" }, preview(row)),
                    h("span", { class: "badges" },
                        isMuted(membership) && mark("muted", t("row.muted")), membership.pinned && mark("pin", t("message.pinned")),
                        mentions > 0 && h("span", { class: "count", "aria-label": t("row.mentions", { count: mentions }), role: "img" }, "@"),
                        isUnread && h("span", { class: `count ${isMuted(membership) ? "silent" : ""}`, data: { count: "unread" }, role: "img",
                            "aria-label": unread > 0 ? t("row.unread", { count: unread }) : t("row.markedUnread") }, unread >= 999 ? "999+" : unread || "•"))))),
        button({ name: "more", label: t("row.more", { name: title }), bare: true, class: "round quiet act", data: { action: "row-menu" }, onclick: () => menu(row) }),
        joinable(row) && h("div", { class: "row-call" }, h("span", { class: "hint" }, icon("phone"), t("row.callOn")),
            button({ label: t("shell.join"), class: "small go", data: { action: "join-call" }, onclick: () => joinLive(conversation.liveCall.id) })),
        isInvited && invitation(row, title));
}

/** Whether there is a call that members may join, and this page is not in it. */
function joinable({ conversation, membership }) {
    const { liveCall, kind } = conversation;
    return Boolean(liveCall) && kind === "group" && membership.state === "member" && !calls.has(liveCall.id);
}

const mark = (name, label) => h("span", { class: "mini-icon", role: "img", "aria-label": label, title: label }, icon(name));

/** What is going on: a failure, who is typing, a draft, or the last message. */
function preview(row) {
    const { id, conversation, membership, lastMessage, person } = row;
    const me = credentials.user?.id;
    const nameOf = (user) => user === me ? credentials.user.displayName : user === person?.id ? person.displayName : names.of(user) ?? t("row.aMember");
    if (outbox.hasFailed(id)) return h("span", { class: "failed" }, icon("alert"), t("row.notSent"));
    const typing = writersText(writers.of(id), nameOf, { isDirect: Boolean(person) });
    if (typing && membership.state === "member") return h("span", { class: "typing" }, typing);
    if (membership.state === "left") return t("row.formerMember");
    const draft = drafts.of(id);
    if (!isEmpty(draft) && draft.text.trim() !== "") {
        return t.rich("row.draft", { text: h("bdi", { class: "draft-text" }, visible(plainText(decoded(draft.text, nameOf).text, [], nameOf))) })
            .map((part) => part instanceof Node ? part : h("span", { class: "draft" }, part));
    }
    if (!lastMessage) return membership.state === "invited" ? t("row.youAreInvited") : t("row.noMessages");
    if (lastMessage.deletedAt) return t("message.deleted");
    if (lastMessage.call) return recordText(lastMessage.call, me);
    if (lastMessage.notice) return nodesOf(noticeParts(lastMessage, me, (user) => user === lastMessage.author ? nameOf(user) : names.of(user) ?? t("row.someMember")));
    const text = lastMessage.voice ? voiceText(lastMessage.voice) : h("bdi", {}, visible(plainText(lastMessage.text ?? "", lastMessage.ranges, nameOf)));
    return lastMessage.author === me && conversation.kind !== "self" ? t.rich("row.own", { text }) : text;
}
