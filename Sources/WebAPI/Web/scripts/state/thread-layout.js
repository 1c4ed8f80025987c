// How messages lie in a thread: days, who goes on writing, where the user stopped reading, and what stays folded.

const GROUP_MILLISECONDS = 5 * 60_000;

/**
 * The items of a thread in their order, `{message, day?, isUnread, isFirst, isLast, folded?}`: `day` is the time of the
 * first message of a day, `isUnread` marks the first that is unread and not of blocked people, and `isFirst` and `isLast` bound
 * what one author wrote within some minutes. Messages of blocked people that follow each other are one item with `folded`,
 * their list.
 *
 * `before` and `after` are the messages beside them, if there are any: they have no items, and what stands at the ends does not
 * change when they get theirs.
 *
 * @param {{me: string, unreadAfter?: number, blocked?: Set<string>, opened?: Set<number>}} options `unreadAfter` is the last
 *   number that was read, if what is unread is marked, and `opened` the first numbers of folded items that were opened.
 */
export function layout(messages, { me, unreadAfter, blocked = new Set(), opened = new Set(), before: first, after }) {
    const items = [];
    let isMarked = unreadAfter === undefined;
    let before = first;
    let beforeAt = first && new Date(first.sentAt);
    let isOpen = false;
    for (const message of after ? [...messages, after] : messages) {
        const at = new Date(message.sentAt);
        const isBlocked = blocked.has(message.author) && !message.notice && !message.deletedAt;
        isOpen = isBlocked && (isOpen || opened.has(message.number));
        const day = before && isSameDay(beforeAt, at) ? undefined : message.sentAt;
        const isUnread = !isMarked && message.number > unreadAfter && message.author !== me && !message.notice && !isBlocked;
        if (isUnread) isMarked = true;
        const last = items.at(-1);
        const isBroken = day !== undefined || isUnread;
        if (isBlocked && !isOpen && last?.folded && !isBroken) last.folded.push(message);
        else {
            const isFolded = isBlocked && !isOpen;
            const isFirst = isBroken || isFolded || Boolean(last?.folded) || !continues(before, message, at - beforeAt);
            if (!isFirst && last) last.isLast = false;
            items.push({ message, day, isUnread, isFirst, isLast: true, ...(isFolded && { folded: [message] }) });
        }
        [before, beforeAt] = [message, at];
    }
    if (after && items.at(-1).message === after) items.pop();
    else if (after) items.at(-1).folded.pop();
    return items;
}

/** Whether two of a kind stand together: the same author, within minutes, and neither a notice nor a call. */
function continues(before, message, milliseconds) {
    return before.author === message.author && !before.notice && !message.notice && !before.call && !message.call
        && milliseconds < GROUP_MILLISECONDS;
}

function isSameDay(one, other) {
    return one.getDate() === other.getDate() && one.getMonth() === other.getMonth() && one.getFullYear() === other.getFullYear();
}
