// What is worth a notification: messages of others that have come since, calls that were missed, and requests of friends.

import { isMuted, unreadOf } from "./inbox-rows.js";

/** What is known of the inbox, to tell later what is new: the highest activity, and of each row its newest message. */
export function knownInbox(inbox, me) {
    const rows = Object.values(inbox.rows).filter((row) => row.lastMessage);
    return { top: Math.max(...rows.map((row) => row.activity ?? 0)), rows: Object.fromEntries(rows.map((row) => [row.id, knownRow(inbox, row, me)])) };
}

/**
 * What is new in a row, `{after, upTo}`: its messages after one number up to another; undefined if nothing is. Who has
 * read on another device has no news, and neither has a muted conversation, unless it mentions the user and may then. A
 * row that was not known is new if it is above all that were: others are pages of older rows. Rows are those of `inboxAt`.
 */
export function newsOf(known, inbox, row, { me, blocked = new Set() }) {
    const { lastMessage: message, membership } = row;
    const before = known.rows[row.id];
    const isListed = message && !row.gone && ["member", "invited"].includes(membership?.state) && (before || (row.activity ?? 0) > known.top);
    const { unread, mentions } = isListed ? unreadOf(inbox, row) : {};
    if (!isListed || !(unread > 0) || !isWorthy(message, { me, blocked })) return undefined;
    const after = before?.number ?? message.number - 1;
    const isNew = message.number > after || message.call && before?.missed !== message.call.id;
    if (!isNew || isMuted(membership) && !(membership.muted.mentions && mentions > 0)) return undefined;
    return { after: Math.min(after, message.number - 1), upTo: message.number };
}

/**
 * What was told of and is not any more: `read` has by conversation the last number, of those that were read since, and
 * `deleted` the tags of messages. Without `known`, of all rows that are read.
 */
export function settled(known, inbox) {
    const [read, deleted] = [{}, []];
    for (const row of Object.values(inbox.rows)) {
        const { lastMessage: message } = row;
        const before = known?.rows[row.id];
        if (!message || known && !before) continue;
        if (unreadOf(inbox, row).unread === 0 && before?.unread !== 0) read[row.id] = message.number;
        if (message.deletedAt && before?.number === message.number && !before.isDeleted) deleted.push(tagOf(row.id, message));
    }
    return { read, deleted };
}

/** Of the messages that are news those that are shown. In a muted conversation they mention the user. */
export function shownNews(messages, row, { me, blocked = new Set() }) {
    const isQuiet = isMuted(row.membership);
    return messages.filter((one) => isWorthy(one, { me, blocked }) && (!isQuiet || mentions(one, me)));
}

/** What identifies the notification of a message: a call has one, whatever tells of it. */
export const tagOf = (conversation, message) => message.call ? callTagOf(message.call.id) : `message-${conversation}-${message.number}`;

/** That of a missed call, and that of one that rings. */
export const callTagOf = (call) => `call-${call}`;
export const ringTagOf = (call) => `ring-${call}`;

const knownRow = (inbox, row, me) => ({ number: row.lastMessage.number, unread: unreadOf(inbox, row).unread, isDeleted: Boolean(row.lastMessage.deletedAt),
    missed: isMissed(row.lastMessage, me) ? row.lastMessage.call.id : undefined });

/** Whether a message is one that others have written, or a call that was missed. Of those there are notifications and counts. */
export function isWorthy(message, { me, blocked }) {
    if (message.author === me || message.deletedAt || message.notice || blocked.has(message.author)) return false;
    return !message.call || isMissed(message, me);
}

const isMissed = ({ call }, me) => call?.state === "ended"
    && ["missed", "busy"].includes(call.participants.find((one) => one.user === me)?.state);

/** Whether a message mentions somebody, or everybody. */
export const mentions = (message, me) => (message.ranges ?? []).some(({ kind, user }) => kind === "mention" && (user === undefined || user === me));
