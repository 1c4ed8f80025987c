// Reading in an earlier range of a conversation than the newest one: where a search, a reply or a pin leads. When the two
// ranges meet they are one again.

import { applyOwn, shownMessages, withCopies } from "./thread.js";

/** A page around a number becomes the range that is shown, unless it meets the newest one. */
export function applyAround(thread, page) {
    if (!page.range) return thread;
    const [first, last] = page.range;
    const held = applyOwn(withCopies(leftPast(thread), page.messages), page.own ?? []);
    return met({ ...held, past: { first, last, hasEarlier: page.hasEarlier } }, page.hasLater);
}

/** The messages after the earlier range. A page that was asked for before the range changed is ignored. */
export function applyLater(thread, page, after) {
    if (thread.past?.last !== after) return thread;
    const held = applyOwn(withCopies(thread, page.messages), page.own ?? []);
    return met({ ...held, past: { ...thread.past, last: page.range?.[1] ?? after } }, page.hasLater);
}

/** Without the earlier range: the newest messages are shown. */
export function leftPast(thread) {
    if (!thread.past) return thread;
    const messages = Object.fromEntries(Object.entries(thread.messages).filter(([number]) => Number(number) >= thread.first));
    return { ...thread, messages, past: undefined };
}

/** Whether the number lies in the range that is shown. */
export function isShown(thread, number) {
    const { first, last } = thread.past ?? thread;
    return first !== undefined && number >= first && number <= last;
}

/** How many messages of others are newer than the number, as far as is held. Notices do not count. */
export function newerThan(thread, number, me) {
    return shownMessages({ ...thread, past: undefined })
        .filter((one) => one.number > number && one.author !== me && !one.notice && !one.deletedAt).length;
}

/** One range, where the earlier one reaches the newest. */
function met(thread, hasLater) {
    const { past, first, last } = thread;
    if (first !== undefined && hasLater && past.last < first - 1) return thread;
    const isEarlier = first === undefined || past.first < first;
    return { ...thread, past: undefined, first: Math.min(first ?? past.first, past.first), last: Math.max(last ?? 0, past.last),
        hasEarlier: isEarlier ? past.hasEarlier : thread.hasEarlier };
}
