// The list of conversations: what the stream `inbox:` says of each row, the latest copy of it, and their order.
//
// A state is never changed: every function returns the next one.

/** @typedef {{rows: Object<string, object>, nextCursor?: string, isLoaded: boolean}} Inbox */

export const emptyInbox = () => ({ rows: {}, isLoaded: false });

/** A snapshot replaces what was there; a page that is newer than it may have come first, but not of another epoch. */
export function applyInboxSnapshot(inbox, { conversations, nextCursor }, { isNewEpoch = false } = {}) {
    const known = isNewEpoch ? {} : inbox.rows;
    const rows = Object.fromEntries(conversations.map((row) => [row.id, newer(known[row.id], row)]));
    return { rows, nextCursor, isLoaded: true };
}

export function applyInboxRows(inbox, rows) {
    const next = { ...inbox.rows };
    for (const row of rows) next[row.id] = newer(next[row.id], row);
    return { ...inbox, rows: next };
}

/** A page of older rows, of `inbox.list`. */
export function applyInboxPage(inbox, { conversations, nextCursor }) {
    return { ...applyInboxRows(inbox, conversations), nextCursor };
}

/** The rows that are shown: the pinned ones first, then the most recently active, then by id. */
export function listedRows(inbox) {
    const rows = Object.values(inbox.rows).filter((row) => !row.gone && !row.membership?.archived);
    return rows.sort((one, other) => Number(isPinned(other)) - Number(isPinned(one))
        || (other.activity ?? 0) - (one.activity ?? 0) || (one.id < other.id ? 1 : -1));
}

/** How many of the rows that are held have something unread. Muted ones count when they mention the user. */
export function unreadConversations(inbox, now = Date.now()) {
    return listedRows(inbox).filter((row) => isMuted(row.membership, now)
        ? row.mentions > 0 && row.membership.muted.mentions : row.unread > 0 || row.membership?.markedUnread).length;
}

export function isMuted(membership, now = Date.now()) {
    const muted = membership?.muted;
    return muted !== undefined && (muted.until === undefined || Date.parse(muted.until) > now);
}

const isPinned = (row) => Boolean(row.membership?.pinned);
const newer = (known, row) => known && known.counter > row.counter ? known : row;
