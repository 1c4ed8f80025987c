// What the user has changed and the server has not confirmed: shown at once, over what is held.
//
// Nothing of it is written into what is held. A change that is refused is only not shown any more.

import { withMessages } from "./blocks.js";
import { withoutContent } from "./disappearing.js";
import { withFriend, withoutFriend } from "./friend-lists.js";
import { isMessage } from "./outbox-entries.js";
import { cleared, messageOf, reactionsOf } from "./thread-rows.js";

const MENTION = /<@([0-9a-fA-F-]{36}|all)>/g;

/** The thread with the entries of its queue, oldest first. */
export function withPending(thread, entries, me) {
    return entries.reduce((next, entry) => entry.state === "failed" || !changes[entry.name] ? next
        : changes[entry.name](next, entry.params, entry, me), thread);
}

const changes = {
    "messages.edit": (thread, { number, text }, { createdAt }) => withChange(thread, number, (message) => ({ ...message, text,
        ranges: mentionRanges(text), editedAt: message.editedAt ?? new Date(createdAt).toISOString(), isPending: true })),
    "messages.setLanguage": (thread, { number, language }) => withChange(thread, number, (message) => ({ ...message,
        language: { code: language, confidence: "high" }, isPending: true })),
    "messages.delete": (thread, params, { createdAt }) => params.for === "me"
        ? { ...thread, hidden: { ...thread.hidden, [params.number]: true } }
        : withChange(thread, params.number, (message) => ({ ...withoutContent(message), deletedAt: new Date(createdAt).toISOString(), isPending: true })),
    "messages.react": (thread, { number, emoji }, _, me) => withReaction(thread, number, emoji, true, me),
    "messages.removeReaction": (thread, { number, emoji }, _, me) => withReaction(thread, number, emoji, false, me),
    "messages.star": (thread, { number }) => ({ ...thread, starred: { ...thread.starred, [number]: true } }),
    "messages.unstar": (thread, { number }) => ({ ...thread, starred: { ...thread.starred, [number]: false } }),
    "messages.pin": (thread, { number }) => withPins(thread, (pins) => pins.includes(number) ? pins : [number, ...pins]),
    "messages.unpin": (thread, { number }) => withPins(thread, (pins) => pins.filter((one) => one !== number)),
    "messages.listen": (thread, { number }) => ({ ...thread, listened: { ...thread.listened, [number]: true } }),
    "conversations.clear": (thread, { upTo }) => cleared(thread, [{ from: upTo }]),
    "conversations.delete": (thread, { upTo }) => cleared(thread, [{ from: upTo }]),
    // Nothing is hidden before the user has left: what they have written goes first, and the server may refuse it.
    "members.leave": (thread) => ({ ...thread, isLeaving: true }),
    "conversations.mark": (thread, { read = 0 }) => read <= thread.read ? thread : { ...thread, read },
};

function withChange(thread, number, change) {
    const message = messageOf(thread, number);
    if (!message || message.deletedAt) return thread;
    return { ...thread, blocks: withMessages(thread.blocks, [change(message)], (_, one) => one) };
}

function withReaction(thread, number, emoji, isOn, me) {
    const message = messageOf(thread, number);
    if (!message) return thread;
    const known = reactionsOf(thread, message, me).find((one) => one.emoji === emoji);
    if (isOn === Boolean(known?.isOwn)) return thread;
    const count = (known?.count ?? 0) + (isOn ? 1 : -1);
    const { [emoji]: _, ...others } = message.reactions ?? {};
    const users = (known?.users ?? []).filter((user) => user !== me);
    // A new one comes last, and one that is there stays where it is.
    const own = { count, users: isOn ? [...users, me] : users };
    const reactions = count === 0 ? others : known ? { ...message.reactions, [emoji]: own } : { ...others, [emoji]: own };
    const reacted = (thread.reacted[number] ?? []).filter((one) => one !== emoji);
    return { ...withChange(thread, number, (one) => ({ ...one, reactions })),
        reacted: { ...thread.reacted, [number]: isOn ? [...reacted, emoji] : reacted } };
}

function withPins(thread, change) {
    const { conversation } = thread;
    return conversation ? { ...thread, conversation: { ...conversation, pins: change(conversation.pins ?? []) } } : thread;
}

/** The server finds what is in a text: until then only names are shown as such. */
const mentionRanges = (text) => [...text.matchAll(MENTION)].map(({ 0: token, 1: user, index }) =>
    ({ kind: "mention", start: index, length: token.length, ...(user !== "all" && { user }) }));

/** A row whose messages up to a number are cleared. One that is deleted is off the list, unless there is something new in it. */
export function clearedRow(row, upTo, isDeleted) {
    if ((row.lastMessage?.number ?? 0) > upTo) return row;
    return { ...row, lastMessage: undefined, unread: 0, mentions: 0, ...(isDeleted && { gone: true }) };
}

/** The user's friends and whom they have blocked, `{state, blocked}`, with what waits. */
export function friendsWithPending(known, entries) {
    let { state, blocked } = known;
    for (const { name, params: { user }, person } of entries) {
        if (name === "friends.request" && person) state = withFriend(state, { user: person, state: state[user]?.state === "received" ? "friend" : "requested" });
        if (name === "friends.accept" && state[user]) state = withFriend(state, { ...state[user], state: "friend" });
        if (["friends.decline", "friends.remove", "blocks.add"].includes(name)) state = withoutFriend(state, user);
        if (name === "blocks.add") blocked = new Set([...blocked, user]);
        if (name === "blocks.remove") blocked = new Set([...blocked].filter((one) => one !== user));
    }
    return { state, blocked };
}

/** The list of conversations with how the user keeps them, and what they have read. */
export function inboxWithPending(inbox, entries) {
    let next = inbox;
    // What was written and is not sent has to be seen.
    const written = new Set(entries.filter(isMessage).map((one) => one.conversation));
    for (const { name, conversation, params, state } of entries) {
        const row = next.rows[conversation];
        if (state === "failed") continue;
        if (name === "members.updateMe" && row?.membership) {
            const membership = { ...row.membership, ...params };
            for (const field of ["muted", "receipts", "translation", "hints", "intelligence"]) if (membership[field] === null) delete membership[field];
            next = { ...next, rows: { ...next.rows, [conversation]: { ...row, membership } } };
        } else if (["conversations.clear", "conversations.delete"].includes(name) && row) {
            const changed = clearedRow(row, params.upTo, name === "conversations.delete" && !written.has(conversation));
            next = { ...next, rows: { ...next.rows, [conversation]: changed } };
        } else if (name === "conversations.mark" && (next.read[conversation] ?? 0) < params.read) {
            next = { ...next, read: { ...next.read, [conversation]: params.read } };
        }
    }
    return next;
}
