// A row of the list of conversations.

import { credentials } from "../credentials.js";
import { drafts } from "../drafts.js";
import { button, h, icon } from "../dom.js";
import { recordText, shortWhenText, voiceText } from "../format.js";
import { outbox } from "../outbox.js";
import { presence } from "../presence.js";
import { isEmpty } from "../state/drafts.js";
import { hasExpired } from "../state/disappearing.js";
import { isMuted, unreadOf } from "../state/inbox.js";
import { decoded } from "../state/mentions.js";
import { noticeParts } from "../state/notices.js";
import { plainText } from "../state/pieces.js";
import { writersText } from "../state/writers.js";
import { writers } from "../writers.js";
import { avatar } from "./avatar.js";
import { invitation } from "./invitation.js";
import { nodesOf, visible } from "./message-text.js";

/** The name of a conversation in the list. */
export function titleOf({ conversation, person }) {
    if (conversation.kind === "self") return "Notes";
    if (person) return person.displayName || "Deleted account";
    return conversation.name ?? `Group of ${conversation.members}`;
}

export function avatarOf({ conversation, person }, dot) {
    return person ? avatar(person, { presence: dot })
        : h("span", { class: "avatar crowd", "aria-hidden": "true" }, icon(conversation.kind === "self" ? "notes" : "people"));
}

/** What a row shows beside what the stream says of it: it is drawn anew when one of these is another. */
export function rowParts(inbox, row, isCurrent) {
    const { unread, mentions, isMarked } = unreadOf(inbox, row);
    return [row, unread, mentions, isMarked, isCurrent, drafts.of(row.id), outbox.list(row.id), writers.of(row.id), isMuted(row.membership),
        row.person && presence.isOnline(row.person.id)];
}

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
                    dot && presence.isOnline(person.id) && h("span", { class: "unseen" }, ", online"),
                    lastMessage && h("time", { class: "when", datetime: lastMessage.sentAt }, shortWhenText(lastMessage.sentAt))),
                h("span", { class: "state" }, h("span", { class: "preview" }, preview(row)),
                    h("span", { class: "badges" },
                        isMuted(membership) && mark("muted", "Muted"), membership.pinned && mark("pin", "Pinned"),
                        mentions > 0 && h("span", { class: "count", "aria-label": `${mentions} mention you`, role: "img" }, "@"),
                        isUnread && h("span", { class: `count ${isMuted(membership) ? "silent" : ""}`, data: { count: "unread" }, role: "img",
                            "aria-label": unread > 0 ? `${unread} unread` : "Marked as unread" }, unread >= 999 ? "999+" : unread || "•"))))),
        button({ name: "more", label: `More for ${title}`, bare: true, class: "round quiet act", data: { action: "row-menu" }, onclick: () => menu(row) }),
        isInvited && invitation(row, title));
}

const mark = (name, label) => h("span", { class: "mini-icon", role: "img", "aria-label": label, title: label }, icon(name));

/** What is going on: a failure, who is typing, a draft, or the last message. */
function preview(row) {
    const { id, conversation, membership, lastMessage, person } = row;
    const me = credentials.user?.id;
    const nameOf = (user) => user === me ? credentials.user.displayName : user === person?.id ? person.displayName : "A member";
    if (outbox.hasFailed(id)) return h("span", { class: "failed" }, icon("alert"), "Not sent");
    const typing = writersText(writers.of(id), nameOf);
    if (typing && membership.state === "member") return h("span", { class: "typing" }, person ? typing.replace(/^.*? (is|are) /, "") : typing);
    if (membership.state === "left") return "You left.";
    const draft = drafts.of(id);
    if (!isEmpty(draft) && draft.text.trim() !== "") {
        return [h("span", { class: "draft" }, "Draft: "), h("bdi", {}, visible(plainText(decoded(draft.text, nameOf).text, [], nameOf)))];
    }
    if (!lastMessage) return membership.state === "invited" ? "You are invited." : "No messages yet";
    if (lastMessage.deletedAt || hasExpired(lastMessage, Date.now())) return "Message deleted";
    if (lastMessage.call) return recordText(lastMessage.call, me);
    if (lastMessage.notice) return nodesOf(noticeParts(lastMessage, me, (user) => user === person?.id ? person.displayName : "a member"));
    const own = lastMessage.author === me && conversation.kind !== "self" ? "You: " : "";
    if (lastMessage.voice) return `${own}${voiceText(lastMessage.voice)}`;
    return [own, h("bdi", {}, visible(plainText(lastMessage.text ?? "", lastMessage.ranges, nameOf)))];
}
