// Reading in an earlier range of a conversation than the newest one: where a search, a reply or a pin leads. When the two
// ranges meet they are one again.

import { between, countIn, outside } from "./blocks.js";
import { mentionsUser } from "./mentions.js";
import { heldMessages, shownNumbers, withCopies, withNotes } from "./thread-rows.js";

/** So many messages are held at most, in both ranges; where there are more, so many around what is in the page stay. */
const MOST = 2_000;
const KEPT = 1_000;

/** A page around a number becomes the range that is shown, unless it meets the newest one. */
export function applyAround(thread, page) {
    if (!page.range) return thread;
    const [first, last] = page.range;
    const held = withNotes(withCopies(leftPast(thread), page.messages), page);
    return met({ ...held, past: { first, last, hasEarlier: page.hasEarlier } }, page.hasLater);
}

/** The messages after the earlier range. A page that was asked for before the range changed is ignored. */
export function applyLater(thread, page, after) {
    if (thread.past?.last !== after) return thread;
    const held = withNotes(withCopies(thread, page.messages), page);
    return met({ ...held, past: { ...thread.past, last: page.range?.[1] ?? after } }, page.hasLater);
}

/** Without the earlier range: the newest messages are shown. */
export function leftPast(thread) {
    if (!thread.past) return thread;
    return { ...thread, blocks: between(thread.blocks, thread.first ?? Infinity), past: undefined };
}

/** Whether the number lies in the range that is shown. */
export function isShown(thread, number) {
    const { first, last } = thread.past ?? thread;
    return first !== undefined && number >= first && number <= last || shownNumbers(thread).includes(number);
}

/** How many messages of others are newer than the number, as far as is held. Notices do not count. */
export function newerThan(thread, number, me) {
    const from = Math.max(number + 1, thread.first ?? Infinity);
    return heldMessages({ blocks: between(thread.blocks, from) })
        .filter((one) => !thread.hidden[one.number] && one.author !== me && !one.notice && !one.deletedAt).length;
}

/** The first message of others after a number that mentions the user, as far as is held. */
export function mentionAfter(thread, number, me) {
    const from = Math.max(number + 1, thread.first ?? Infinity);
    return heldMessages({ blocks: between(thread.blocks, from) })
        .find((one) => !thread.hidden[one.number] && one.author !== me && !one.deletedAt && mentionsUser(one, me))?.number;
}

/**
 * Without what is far from the messages in the page, `{first, last}`, where too many are held: they are read again where
 * one goes there. Without `last` the page follows the newest ones. The newest stay in any case.
 */
export function bounded(thread, { first, last }, { most = MOST, kept = KEPT } = {}) {
    if (countIn(thread.blocks) <= most) return thread;
    const numbers = shownNumbers(thread);
    if (last === undefined && !thread.past) {
        const from = Math.min(numbers.at(-kept), first ?? Infinity);
        return { ...thread, blocks: between(thread.blocks, from), first: from, hasEarlier: true };
    }
    const middle = numbers.findIndex((number) => number >= first);
    const start = Math.max(0, middle - kept / 2);
    const end = Math.min(numbers.length, middle + kept / 2);
    const [lowest, highest] = [numbers[start], numbers[end - 1]];
    const range = thread.past ?? thread;
    const hasEarlier = range.hasEarlier || start > 0;
    const from = Math.max(thread.past ? thread.first : lowest, heldMessages(thread).at(-kept / 2).number);
    // The two meet: what is before them goes.
    if (highest >= from - 1 && !thread.past) return { ...thread, blocks: between(thread.blocks, lowest), first: lowest, hasEarlier };
    const past = { first: lowest, last: highest, hasEarlier };
    return { ...thread, blocks: outside(between(thread.blocks, lowest), highest, from), past, first: from, hasEarlier: true };
}

/** One range, where the earlier one reaches the newest. */
function met(thread, hasLater) {
    const { past, first, last } = thread;
    if (first !== undefined && hasLater && past.last < first - 1) return thread;
    const isEarlier = first === undefined || past.first < first;
    return { ...thread, past: undefined, first: Math.min(first ?? past.first, past.first), last: Math.max(last ?? 0, past.last),
        hasEarlier: isEarlier ? past.hasEarlier : thread.hasEarlier };
}
