// What the response to a request says, before a frame of a stream does: in the thread and the row that are shown, and on disk.

import { messagesIn, noBlocks } from "./blocks.js";
import { isMessage } from "./outbox-entries.js";
import { clearedRow } from "./pending.js";
import { applyOwn, cleared, emptyThread, withConversation, withCopies, withMessage } from "./thread-rows.js";

export const isClearing = ({ name }) => name === "conversations.clear" || name === "conversations.delete";

/** A message that was stored, and that the user may see no more, is of version 0 and has no text: there is nothing to show. */
const isShown = (message) => message?.version > 0;

/** The thread with the result of an entry of the queue. */
export function withResult(thread, entry, { message, own, conversation, read } = {}) {
    let next = thread;
    if (isClearing(entry)) next = cleared(next, [{ from: entry.params.upTo }]);
    if (isShown(message)) next = withResponse(next, message);
    if (own) next = applyOwn(next, [own]);
    if (conversation) next = withConversation(next, conversation);
    return read > next.read ? { ...next, read } : next;
}

/**
 * A message that a response has. It may come before others that were sent before it: then it is held after the newest
 * range, which is without holes, and is no part of it.
 */
export function withResponse(thread, message) {
    const isNext = message.number <= (thread.last ?? 0) + 1;
    return isNext ? withMessage(thread, message) : withCopies(thread, [message]);
}

/** The row of the list with the result: how the user keeps the conversation, what they have read, and the last message. */
export function rowWithResult(row, entry, { message, membership, read } = {}) {
    const { name, params } = entry;
    if (isClearing(entry)) return clearedRow(row, params.upTo, name === "conversations.delete");
    let next = row;
    if (name === "members.updateMe" && membership) {
        const kept = { ...row.membership };
        for (const field of Object.keys(params)) kept[field] = membership[field];
        next = { ...next, membership: kept };
    }
    if (isShown(message) && isLast(row, message, entry)) next = { ...next, lastMessage: message };
    return row.membership?.read < read ? readRow(next, read) : next;
}

/** Whether a row has an older copy of the message, or of one before it. */
function isLast({ lastMessage: known, gone }, { number, version }, entry) {
    if (known?.number === number) return known.version < version;
    return isMessage(entry) && !gone && !(known?.number > number);
}

function readRow(row, read) {
    const { lastMessage, membership } = row;
    const isWhole = !(lastMessage?.number > read);
    return { ...row, membership: { ...membership, read, markedUnread: false }, ...(isWhole && { unread: 0, mentions: 0 }) };
}

/** What a result changes on disk: `{record, messages, own}`, the messages and notes that its record may have. */
export function storedResult(record, entry, result) {
    const thread = withResult({ ...emptyThread(), ...record, read: record.read ?? 0, blocks: noBlocks }, entry, result);
    const { conversation, first, last, hasEarlier, read } = thread;
    const isHeld = ({ number }) => first === undefined || number >= first;
    return { record: { ...record, conversation, first, last, hasEarlier, read }, messages: messagesIn(thread.blocks),
        own: [result?.own].filter((one) => one && isHeld(one)) };
}

/** Of two copies of what the user has noted on a message the newer one. Some of it is for ever. */
export const newerOwn = (known, one) => ({ starred: false, reacted: [], ...(known?.counter > one.counter ? known : one),
    hidden: Boolean(known?.hidden || one.hidden), listened: Boolean(known?.listened || one.listened) });
