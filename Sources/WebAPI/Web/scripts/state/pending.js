// What the user has changed and the server has not confirmed: shown at once, over what is held.
//
// Nothing of it is written into what is held. A change that is refused is only not shown any more.

import { withMessages } from "./blocks.js";
import { withoutContent } from "./disappearing.js";
import { messageOf, reactionsOf } from "./thread.js";

const MENTION = /<@([0-9a-fA-F-]{36}|all)>/g;

/** The thread with the entries of its queue, oldest first. */
export function withPending(thread, entries, me) {
    return entries.reduce((next, entry) => entry.state === "failed" || !changes[entry.name] ? next
        : changes[entry.name](next, entry.params, entry, me), thread);
}

const changes = {
    "messages.edit": (thread, { number, text }, { createdAt }) => withChange(thread, number, (message) => ({ ...message, text,
        ranges: mentionRanges(text), editedAt: message.editedAt ?? new Date(createdAt).toISOString(), isPending: true })),
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

/** The list of conversations with how the user keeps them, and what they have read. */
export function inboxWithPending(inbox, entries) {
    let next = inbox;
    for (const { name, conversation, params, state } of entries) {
        const row = next.rows[conversation];
        if (state === "failed") continue;
        if (name === "members.updateMe" && row?.membership) {
            const membership = { ...row.membership, ...params };
            for (const field of ["muted", "receipts"]) if (membership[field] === null) delete membership[field];
            next = { ...next, rows: { ...next.rows, [conversation]: { ...row, membership } } };
        } else if (name === "conversations.mark" && (next.read[conversation] ?? 0) < params.read) {
            next = { ...next, read: { ...next.read, [conversation]: params.read } };
        }
    }
    return next;
}
