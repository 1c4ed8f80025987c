// The list of conversations, and starting one.

import { credentials } from "../credentials.js";
import { button, h, icon, toast } from "../dom.js";
import { hasFeature } from "../features.js";
import { recordText, voiceText, whenText } from "../format.js";
import { inbox, startConversation } from "../inbox.js";
import { errorMessage } from "../problems.js";
import { request } from "../requests.js";
import { isMuted, listedRows } from "../state/inbox.js";
import { noticeParts } from "../state/notices.js";
import { plainText } from "../state/pieces.js";
import { avatar } from "./avatar.js";
import { askText } from "./dialogs.js";
import { nodesOf, visible } from "./message-text.js";
import { pickPeople } from "./picker.js";

export function inboxPage() {
    const list = h("ul", { class: "rows", id: "inbox", "aria-label": "Chats" });
    const empty = h("div", { class: "empty", hidden: true }, icon("chat"), h("p", {}, "No chats yet. Start one with somebody."));
    const more = button({ label: "Show earlier chats", class: "quiet wide", hidden: true,
        onclick: () => inbox.loadMore().catch(report) });
    const shown = new Map();
    const show = () => {
        const rows = listedRows(inbox.state);
        const kept = new Set(rows.map((row) => row.id));
        for (const id of shown.keys()) if (!kept.has(id)) shown.delete(id);
        for (const row of rows) {
            if (shown.get(row.id)?.row !== row) shown.set(row.id, { row, node: inboxRow(row) });
        }
        const focused = document.activeElement?.closest("#inbox [data-conversation]")?.dataset.conversation;
        list.replaceChildren(...rows.map((row) => shown.get(row.id).node));
        if (focused) list.querySelector(`[data-conversation="${focused}"] a, [data-conversation="${focused}"] button`)?.focus();
        empty.hidden = rows.length > 0 || !inbox.state.isLoaded;
        more.hidden = !inbox.state.nextCursor;
    };
    show();
    return {
        node: h("div", { class: "page" },
            h("div", { class: "page-head" }, h("h1", {}, "Chats"),
                button({ name: "addPerson", label: "New chat", class: "soft pill", data: { action: "new-chat" }, onclick: newChat })),
            list, empty, more),
        close: inbox.on("change", show),
    };
}

/** Opens the conversation with a person. */
export async function writeTo(user) {
    try { location.hash = `#/c/${await startConversation([user])}`; } catch (error) { report(error); }
}

async function newChat() {
    const chosen = await pickPeople({ title: "New chat", most: hasFeature("groups") ? undefined : 1, actions: [{ value: "start", label: "Start", name: "chat" }] });
    if (!chosen) return;
    if (chosen.people.length === 1) return writeTo(chosen.people[0]);
    const name = await askText({ title: "New group", label: "Name of the group", action: "Create", maxlength: 80,
        hint: "It can stay empty." });
    if (name === undefined) return;
    try { location.hash = `#/c/${await startConversation(chosen.people, name)}`; } catch (error) { report(error); }
}

function inboxRow(row) {
    const { id, conversation, membership, person, lastMessage, unread = 0, mentions = 0 } = row;
    const title = titleOf(row);
    const isInvited = membership.state === "invited";
    const isUnread = unread > 0 || membership.markedUnread;
    const muted = isMuted(membership);
    const who = h("a", { class: "who", href: `#/c/${id}` },
        person ? avatar(person) : h("span", { class: "avatar crowd", "aria-hidden": "true" }, icon(conversation.kind === "self" ? "check" : "people")),
        h("span", { class: "name" }, h("bdi", {}, visible(title)),
            h("span", { class: "state" }, h("span", { class: "preview" }, preview(row)))));
    return h("li", { class: `row chat-row ${isUnread ? "unread" : ""}`, data: { conversation: id, unread: String(unread), state: membership.state } },
        who,
        h("span", { class: "chat-marks" },
            lastMessage && h("time", { class: "when", datetime: lastMessage.sentAt }, whenText(lastMessage.sentAt)),
            h("span", { class: "badges" },
                membership.pinned && h("span", { class: "hint" }, "Pinned"),
                muted && h("span", { class: "hint" }, "Muted"),
                mentions > 0 && h("span", { class: "count", "aria-label": `${mentions} mention you` , role: "img" }, "@"),
                isUnread && h("span", { class: "count", data: { count: "unread" }, role: "img",
                    "aria-label": unread > 0 ? `${unread} unread` : "Marked as unread" }, unread >= 999 ? "999+" : unread || "•"))),
        isInvited && invitation(id, title));
}

/** Accepting and declining a request to write, or an invitation to a group. */
export function invitation(conversation, title) {
    const act = (name) => async () => {
        try { await request(name, { conversation }); } catch (error) { report(error); }
    };
    return h("span", { class: "pair" },
        button({ label: `Accept ${title}`, class: "small primary", data: { action: "accept" }, "aria-label": `Accept ${title}`, onclick: act("members.accept") }, "Accept"),
        button({ label: `Decline ${title}`, class: "small quiet", data: { action: "decline" }, "aria-label": `Decline ${title}`, onclick: act("members.decline") }, "Decline"));
}

/** The name of a conversation in the list. */
export function titleOf({ conversation, person }) {
    if (conversation.kind === "self") return "Notes";
    if (person) return person.displayName || "Deleted account";
    return conversation.name ?? `Group of ${conversation.members}`;
}

function preview({ conversation, membership, lastMessage, person }) {
    if (membership.state === "left") return "You left.";
    if (!lastMessage) return membership.state === "invited" ? "You are invited." : "No messages yet";
    if (lastMessage.deletedAt) return "Message deleted";
    if (lastMessage.call) return recordText(lastMessage.call, credentials.user?.id);
    if (lastMessage.notice) return nodesOf(noticeParts(lastMessage, credentials.user?.id, (user) => user === person?.id ? person.displayName : "a member"));
    const isOwn = lastMessage.author === credentials.user?.id;
    if (lastMessage.voice) return `${isOwn && conversation.kind !== "self" ? "You: " : ""}${voiceText(lastMessage.voice)}`;
    const nameOf = (user) => user === credentials.user?.id ? credentials.user.displayName
        : user === person?.id ? person.displayName : "member";
    const text = visible(plainText(lastMessage.text ?? "", lastMessage.ranges, nameOf));
    return [isOwn && conversation.kind !== "self" ? "You: " : "", h("bdi", {}, text)];
}

const report = (error) => toast(errorMessage(error), { error: true });
