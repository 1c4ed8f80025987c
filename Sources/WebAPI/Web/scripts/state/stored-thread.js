// What of a thread is written to the disk, and how it meets what another tab has written there.
//
// A record speaks for the messages from `first` to `last` at a position, `[epoch, sequence]`. Messages in it are read
// without asking the server, so a record is never wider than what its tab has followed from then on.

import { between, messagesIn, noBlocks, withMessages } from "./blocks.js";
import { noHints } from "./hints.js";
import { emptyThread } from "./thread-rows.js";
import { changedTranslations, noTranslations } from "./translations.js";

/** The messages up to the newest, and after it those of responses: an earlier range is read again when it is seen. */
const newestRange = ({ blocks, first }) => messagesIn(between(blocks, first ?? 0));

/**
 * What has changed from one state to the next: `{messages, own, translations, isReplaced, hasRoster}`. `isReplaced` says that `messages` are
 * all there are: some are gone, or with `isNew` nothing is known of what is on disk.
 */
export function changesOf(before, after, isNew = false) {
    const messages = newestRange(after);
    const known = new Map(newestRange(before).map((one) => [one.number, one]));
    const numbers = new Set(messages.map((one) => one.number));
    const isReplaced = isNew || before.first !== undefined && (after.first === undefined || after.first > before.first
        || [...known.keys()].some((number) => !numbers.has(number)));
    const noted = new Set(["hidden", "starred", "listened", "reacted", "counters"].flatMap((field) => before[field] === after[field] && !isReplaced ? []
        : Object.keys(after[field]).filter((number) => isReplaced || before[field][number] !== after[field][number])).map(Number));
    return {
        isReplaced,
        hasRoster: isReplaced || before.members !== after.members || before.people !== after.people,
        messages: isReplaced ? messages : messages.filter((one) => known.get(one.number) !== one),
        own: [...noted].map((number) => ownOf(after, number)),
        translations: changedTranslations(before, after, isReplaced),
    };
}

/** The thread as far as it is on disk: from a number on, if that is beyond its first. */
export function storedFrom(thread, from) {
    if (from === undefined || thread.first === undefined || thread.first >= from) return thread;
    return { ...thread, blocks: between(thread.blocks, from), first: from, hasEarlier: true };
}

const ownOf = ({ hidden, starred, listened, reacted, counters }, number) => ({ number, hidden: Boolean(hidden[number]),
    starred: Boolean(starred[number]), listened: Boolean(listened[number]), reacted: reacted[number] ?? [], counter: counters[number] ?? 0 });

/** The record of a thread, and that of its people. */
export const recordOf = ({ translations, ...thread }) => ({ ...restored(thread), language: translations.language });
const restored = ({ conversation, membership, moreMembers, first, last, hasEarlier, read, delivered, shown, scheduled, hints = noHints }) =>
    ({ conversation, membership, moreMembers, first, last, hasEarlier, read, delivered, shown, scheduled, hints });
export const rosterOf = ({ members, people }) => ({ members, people });

/** The thread of a record with some of its newest messages, from the number `first` on, and what stands beside them. */
export function threadOf(record, roster, { messages, own, translations = [] }, first) {
    const { hidden, starred, listened, reacted, counters } = emptyThread();
    for (const one of own) {
        if (one.hidden) hidden[one.number] = true;
        if (one.listened) listened[one.number] = true;
        starred[one.number] = one.starred;
        reacted[one.number] = one.reacted;
        counters[one.number] = one.counter;
    }
    return { ...emptyThread(), isLoaded: true, ...restored(record), ...rosterOf(roster), hidden, starred, listened, reacted, counters,
        blocks: withMessages(noBlocks, messages, (_, one) => one), first, translations: { ...noTranslations, language: record.language,
            rows: Object.fromEntries(translations.filter((one) => one.language === record.language).map((one) => [one.number, one])) },
        hasEarlier: Boolean(record.hasEarlier) || first > record.first };
}

/**
 * How a record is written where another one may be: `{empty, record}`. `empty` says that what was there is of no use, and
 * without a `record` another tab is ahead, whose record stays; with `isOther` nothing is written. Both know of every change between their positions, so
 * that ranges which meet are one. `isReplaced` says that all messages of it are written, and `known` is the first number
 * that was on disk: above that, somebody has made room.
 */
export function meeting(stored, own, { isReplaced, known }) {
    if (!stored) return isReplaced ? { empty: true, record: own } : { empty: false };
    const [epoch, sequence] = stored.position;
    // Versions of two epochs do not compare: what begins another one is a snapshot.
    if (epoch !== own.position[0]) return isReplaced ? { empty: true, record: own } : { isOther: true };
    if (sequence > own.position[1]) return { empty: false };
    if (isReplaced) return { empty: true, record: own };
    const isWider = stored.first < own.first || stored.first > known;
    return { empty: false, record: isWider ? { ...own, first: stored.first, hasEarlier: stored.hasEarlier } : own };
}

/** Which conversations lose all but their newest messages so that at most `bound` are left: those unopened for longest first. */
export function shrinking(conversations, bound, kept) {
    const size = ({ first, last }) => first === undefined ? 0 : last - first + 1;
    let total = conversations.reduce((sum, one) => sum + size(one), 0);
    const result = [];
    for (const one of [...conversations].sort((first, second) => first.openedAt - second.openedAt)) {
        if (total <= bound) break;
        if (size(one) <= kept) continue;
        total -= size(one) - kept;
        result.push({ id: one.id, first: one.last - kept + 1 });
    }
    return result;
}
