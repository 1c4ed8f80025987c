// What time alone changes in the list of conversations: mutes end, and last messages disappear.

import { disappeared, hasExpired } from "./disappearing.js";
import { isWorthy, mentions } from "./news.js";

const nobody = new Set();

/**
 * The list as it is at a time, in milliseconds: a mute that has ended is none, and last messages that have disappeared are
 * deleted ones. What is the same is the same object.
 */
export const inboxAt = (inbox, now, reader) => withRows(withoutDisappeared(inbox, now, reader), (row) => hasMuteEnded(row, now) ? unmuted(row) : row);

/** The same with the last messages alone, whose content is removed; `me` reads it, and has `blocked` others. */
export const withoutDisappeared = (inbox, now, { me, blocked = nobody }) => withRows(inbox, (row) => {
    const { lastMessage } = row;
    return !lastMessage || lastMessage.deletedAt || !hasExpired(lastMessage, now) ? row
        : { ...row, ...unreadWithout(row, { me, blocked }), lastMessage: disappeared(lastMessage) };
});

/** Between which times `inboxAt` is what it is at `now`: `{from, until}`, the second excluded. Both may be infinite. */
export function steadySpan(inbox, now) {
    let [from, until] = [-Infinity, Infinity];
    for (const row of Object.values(inbox.rows)) {
        for (const time of endsOf(row)) {
            if (time <= now) from = Math.max(from, time);
            else if (time > now) until = Math.min(until, time);
        }
    }
    return { from, until };
}

/** The counts of what is unread without the last message, if that is among them: what has disappeared is not counted. */
function unreadWithout({ conversation, membership, lastMessage, unread, mentions: mentioned }, { me, blocked }) {
    // What blocked people write is not counted in groups.
    const isCounted = unread > 0 && lastMessage.number > (membership?.read ?? 0)
        && isWorthy(lastMessage, { me, blocked: conversation?.kind === "group" ? blocked : nobody });
    return isCounted ? { unread: unread - 1, mentions: mentioned > 0 && mentions(lastMessage, me) ? mentioned - 1 : mentioned } : {};
}

const endsOf = ({ membership, lastMessage }) => [membership?.muted?.until, lastMessage?.deletedAt ? undefined : lastMessage?.expiresAt]
    .filter(Boolean).map((time) => Date.parse(time));

const hasMuteEnded = ({ membership }, now) => membership?.muted?.until !== undefined && !(Date.parse(membership.muted.until) > now);

function unmuted(row) {
    const { muted: _, ...membership } = row.membership;
    return { ...row, membership };
}

function withRows(inbox, change) {
    const changed = Object.values(inbox.rows).map((row) => [row, change(row)]).filter(([row, next]) => next !== row);
    if (changed.length === 0) return inbox;
    return { ...inbox, rows: { ...inbox.rows, ...Object.fromEntries(changed.map(([, next]) => [next.id, next])) } };
}
