// The list of conversations: what the stream `inbox:` says of each row, the latest copy of it, and their order.
//
// A state is never changed: every function returns the next one.

/**
 * `read` has, by conversation, the last number that was on this screen: what the server has not been told yet is not shown
 * as unread.
 *
 * @typedef {{rows: Object<string, object>, nextCursor?: string, isLoaded: boolean, read: Object<string, number>,
 *     archive?: {nextCursor?: string}}} Inbox
 */

export const emptyInbox = () => ({ rows: {}, isLoaded: false, read: {} });

/**
 * A snapshot replaces what was there; a page that is newer than it may have come first, but not of another epoch. It has no
 * archived rows: those that are held stay.
 */
export function applyInboxSnapshot(inbox, { conversations, nextCursor }, { isNewEpoch = false } = {}) {
    const known = isNewEpoch ? {} : inbox.rows;
    const archived = inbox.archive ? Object.values(known).filter((row) => row.membership?.archived) : [];
    const rows = Object.fromEntries([...archived, ...conversations].map((row) => [row.id, newer(known[row.id], row)]));
    return { rows, nextCursor, isLoaded: true, read: isNewEpoch ? {} : inbox.read ?? {},
        ...(inbox.archive && !isNewEpoch && { archive: inbox.archive }) };
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

/** A page of the archive, which is a list of its own. */
export function applyArchivePage(inbox, { conversations, nextCursor }) {
    return { ...applyInboxRows(inbox, conversations), archive: { nextCursor } };
}

/** What was on the screen, up to a number. */
export function notedRead(inbox, id, number) {
    return (inbox.read[id] ?? 0) >= number ? inbox : { ...inbox, read: { ...inbox.read, [id]: number } };
}

/** The rows that are shown: the pinned ones first, then the most recently active, then by id. */
export const listedRows = (inbox) => ordered(inbox, isListed);

export const archivedRows = (inbox) => ordered(inbox, (row) => !row.gone && Boolean(row.membership?.archived));

/** What is unread in a row: `{unread, mentions, isMarked}`. */
export function unreadOf(inbox, row) {
    const isRead = row.lastMessage && (inbox.read?.[row.id] ?? 0) >= row.lastMessage.number;
    return { unread: isRead ? 0 : row.unread ?? 0, mentions: isRead ? 0 : row.mentions ?? 0,
        isMarked: Boolean(row.membership?.markedUnread) };
}

export const isUnread = (inbox, row) => {
    const { unread, isMarked } = unreadOf(inbox, row);
    return unread > 0 || isMarked;
};

/** Which of the rows a filter leaves: `all`, `unread` or `groups`. `kept` is one that stays while it is open. */
export function filteredRows(inbox, rows, filter, kept) {
    if (filter === "unread") return rows.filter((row) => row.id === kept || isUnread(inbox, row) || row.membership?.state === "invited");
    return filter === "groups" ? rows.filter((row) => row.conversation.kind === "group") : rows;
}

/** How many of the rows that are held have something unread. Muted ones count when they mention the user. */
export function unreadConversations(inbox) {
    return Object.values(inbox.rows).filter((row) => isListed(row) && (isMuted(row.membership)
        ? unreadOf(inbox, row).mentions > 0 && row.membership.muted.mentions : isUnread(inbox, row))).length;
}

/** Whether a conversation is muted, by its row of `inboxAt`: there mutes that have ended are removed. */
export const isMuted = (membership) => Boolean(membership?.muted);

function ordered(inbox, isIncluded) {
    return Object.values(inbox.rows).filter(isIncluded)
        .sort((one, other) => Number(isPinned(other)) - Number(isPinned(one))
            || (other.activity ?? 0) - (one.activity ?? 0) || (one.id < other.id ? 1 : -1));
}

const isListed = (row) => !row.gone && !row.membership?.archived;
const isPinned = (row) => Boolean(row.membership?.pinned);
const newer = (known, row) => known && known.counter > row.counter ? known : row;
