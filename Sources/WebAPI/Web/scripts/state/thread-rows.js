// What is held of one conversation: its document, members and people, and ranges of its messages without holes.
//
// Of two copies the one with the higher version is kept, wherever it came from. A state is never changed: every function
// returns the next one.

import { between, messageIn, messagesIn, noBlocks, peopleIn, withMessages } from "./blocks.js";
import { noHints } from "./hints.js";
import { applyTranslations, noTranslations } from "./translations.js";

/**
 * `first` and `last` are the numbers that `blocks` speak for, up to the newest; absent while there are none. Messages after them
 * were in responses, and others may be missing before them: see results.js. `past` is
 * an earlier range of them, `{first, last, hasEarlier}`, while the user reads there: see past.js. `hidden` are the numbers
 * that the user has deleted for themselves, `reacted` the emoji of their reactions by number, `starred` and `listened` what
 * they have noted, `counters` how new that is, `read` the last that they have read, `delivered` and `shown` by user what others let be seen as received
 * and read, `scheduled` how many messages wait for their time, and `translations` those into the user's language: see
 * translations.js.
 */
export const emptyThread = () => ({ isLoaded: false, members: {}, people: {}, blocks: noBlocks, hidden: {}, reacted: {},
    starred: {}, listened: {}, counters: {}, read: 0, delivered: {}, shown: {}, hasEarlier: false, translations: noTranslations, hints: noHints });

/**
 * A snapshot replaces the messages: between those that were held and the newest ones there may be a hole. `keepsTranslations`
 * says that those that are held are of the new epoch too.
 */
export function applySnapshot(thread, snapshot, { isNewEpoch = false, keepsTranslations = false } = {}) {
    const { delivered, shown, scheduled, translations, hints } = thread;
    // Those come with a snapshot of their own, before or after this one.
    const known = isNewEpoch ? { ...emptyThread(), delivered, shown, scheduled, ...(keepsTranslations && { translations, hints }) } : thread;
    const [first, last] = snapshot.range ?? [];
    const blocks = withMessages(noBlocks, snapshot.messages.map((one) => newer(messageOf(known, one.number), one)), newer);
    const members = Object.fromEntries(snapshot.members.map((one) => [one.user, newer(known.members[one.user], one)]));
    const next = { ...known, isLoaded: true, conversation: newer(known.conversation, snapshot.conversation),
        membership: snapshot.membership, members, moreMembers: Boolean(snapshot.moreMembers), blocks, first, last, past: undefined,
        hasEarlier: snapshot.hasEarlier, read: Math.max(known.read, snapshot.membership.read) };
    return applyOwn(withPeople(next, snapshot.people), snapshot.own ?? []);
}

/** Rows of a frame. `gap` are newer numbers that it leaves out: only those after them are held then, whatever else it has. */
export function applyRows(thread, rows, gap) {
    let next = gap ? { ...within(thread, gap[1] + 1), hasEarlier: true } : thread;
    for (const { conversation, member, person, message } of rows) {
        if (person) next = withPeople(next, [person]);
        if (conversation) next = withConversation(next, conversation);
        if (member) next = { ...next, members: { ...next.members, [member.user]: newer(next.members[member.user], member) } };
        if (message && !(message.number <= gap?.[1])) next = withMessage(next, message);
    }
    return next;
}

export const withConversation = (thread, conversation) =>
    ({ ...thread, conversation: newer(thread.conversation, conversation) });

/** The messages before those that are shown. One that was asked for before the range changed is ignored. */
export function applyEarlier(thread, page, before) {
    const { past } = thread;
    if ((past ?? thread).first !== before) return thread;
    const range = { first: page.range?.[0] ?? before, hasEarlier: page.hasEarlier };
    const held = withCopies(thread, page.messages);
    return withNotes({ ...held, ...(past ? { past: { ...past, ...range } } : range) }, page);
}

/** One message: the result of a request, or a row. One outside of what is held is left for its page. */
export function withMessage(thread, message) {
    const { number } = message;
    if (thread.past && number <= thread.past.last) return number < thread.past.first ? thread : withCopies(thread, [message]);
    if (thread.first !== undefined && number < thread.first) return thread;
    return { ...withCopies(thread, [message]), first: thread.first ?? number, last: Math.max(thread.last ?? number, number) };
}

/** The same with these messages, whatever the ranges are. */
export function withCopies(thread, list) {
    return { ...thread, blocks: withMessages(thread.blocks, list, newer) };
}

/** With what stands beside the messages of a page: the user's notes, and translations where it was on disk. */
export const withNotes = (thread, { own = [], translations = [] }) => applyTranslations(applyOwn(thread, own), translations);

/** What the user has noted on messages: of two copies the newer one. Deleting for oneself is for ever. */
export function applyOwn(thread, rows) {
    if (rows.length === 0) return thread;
    const [reacted, starred, listened, counters] = [{ ...thread.reacted }, { ...thread.starred }, { ...thread.listened }, { ...thread.counters }];
    let { hidden } = thread;
    for (const one of rows) {
        if (one.hidden && !hidden[one.number]) hidden = { ...hidden, [one.number]: true };
        if (one.listened) listened[one.number] = true;
        if (counters[one.number] > one.counter) continue;
        counters[one.number] = one.counter;
        reacted[one.number] = one.reacted;
        starred[one.number] = one.starred;
    }
    return { ...thread, hidden, reacted, starred, listened, counters };
}

/** Without them, but for what is for ever: pages have those of their messages. */
export const withoutOwn = (thread) => ({ ...thread, reacted: {}, starred: {}, listened: {}, counters: {} });

/** The last message that somebody has let others see as read. */
const shownUpTo = (shown) => shown?.at(-1)?.[1] ?? 0;

/** The snapshot of the stream `marks:`. It has all that the user may see of others: nothing once they let nobody see theirs. */
export function applyMarksSnapshot(thread, { marks, scheduled }, me) {
    const known = { ...thread, delivered: {}, shown: {} };
    return applyMarks(known, [...marks.map((one) => ({ marks: one })), { scheduled }], me);
}

const without = (users, user) => Object.fromEntries(Object.entries(users).filter(([id]) => id !== user));

/** Rows of the stream `marks:`: of marks the higher numbers count; of whom there are none, the user sees none any more. */
export function applyMarks(thread, rows, me) {
    let next = thread;
    for (const { marks, own, scheduled } of rows) {
        if (own) next = applyOwn(next, [own]);
        if (scheduled) next = { ...next, scheduled };
        if (marks?.user === me) next = { ...next, read: Math.max(next.read, marks.read ?? 0) };
        else if (marks && !marks.delivered && marks.shown?.length === 0)
            next = { ...next, shown: without(next.shown, marks.user), delivered: without(next.delivered, marks.user) };
        else if (marks) {
            const known = next.shown[marks.user] ?? [];
            next = { ...next, shown: { ...next.shown, [marks.user]: shownUpTo(known) > shownUpTo(marks.shown) ? known : marks.shown ?? [] },
                delivered: { ...next.delivered, [marks.user]: Math.max(next.delivered[marks.user] ?? 0, marks.delivered ?? 0) } };
        }
    }
    return next;
}

export const withPeople = (thread, people) =>
    ({ ...thread, people: { ...thread.people, ...Object.fromEntries(people.map((one) => [one.id, one])) } });

/** The message with a number, if it is held. */
export const messageOf = (thread, number) => messageIn(thread.blocks, number);

/** All messages that are held, in their order. */
export const heldMessages = (thread) => messagesIn(thread.blocks);

/** What is shown of a state, which is asked for several times while it is drawn. */
const known = new WeakMap();

function shown(thread) {
    if (!known.has(thread)) {
        // Those that a response has are after the newest range.
        const { first = 0, last } = thread.past ?? { first: thread.first };
        const messages = messagesIn(between(thread.blocks, first, last)).filter(({ number }) => !thread.hidden[number]);
        known.set(thread, { messages, numbers: messages.map((one) => one.number) });
    }
    return known.get(thread);
}

/** The messages that are shown, in their order: the earlier range while there is one, else those up to the newest. */
export const shownMessages = (thread) => shown(thread).messages;

/** Their numbers. */
export const shownNumbers = (thread) => shown(thread).numbers;

/** The emoji of a message with whether the user is among those who reacted, in the order of the message. */
export function reactionsOf(thread, message, me) {
    return Object.entries(message.reactions ?? {}).map(([emoji, { count, users }]) => ({ emoji, count, users,
        isOwn: users.includes(me) || count > users.length && Boolean(thread.reacted[message.number]?.includes(emoji)) }));
}

/** The newest message that the user can have read. */
export const newestNumber = (thread) => thread.last ?? 0;

/** The user's own state: `member`, `invited` or `left`. A row of the member is newer than the snapshot's membership. */
export function stateOf(thread, me) { return (thread.members[me] ?? thread.membership)?.state; }

export const roleOf = (thread, me) => (thread.members[me] ?? thread.membership)?.role;

/** Everybody else who is in it, or is asked to be. */
export const othersIn = (thread, me) => Object.values(thread.members)
    .filter((one) => one.user !== me && one.state !== "left")
    .map((one) => thread.people[one.user] ?? { id: one.user, displayName: "" });

/** Authors and mentioned people whose profiles are not held. */
export function unknownPeople(thread) {
    return [...new Set(peopleIn(thread.blocks))].filter((id) => !thread.people[id]);
}

/** The newest message of the user whose text can be changed. */
export function lastEditable(thread, me) {
    return shownMessages(thread).findLast((one) => one.author === me && one.kind === "text" && !one.deletedAt);
}

/** Without what the user has cleared, here or on another device: `spans` are those of their membership. */
export function cleared(thread, spans) {
    const from = Math.min(...spans.map((one) => one.from));
    if (!Number.isFinite(from)) return thread;
    const next = withoutPins(thread, from);
    const first = next.first ?? next.blocks[0]?.messages[0].number;
    if (first === undefined || Math.min(first, next.past?.first ?? Infinity) > from) return next;
    return { ...within(next, from + 1), hasEarlier: false };
}

/** Without the pins of messages up to a number: the document does not change for who does not see them any more. */
function withoutPins(thread, number) {
    const { pins } = thread.conversation ?? {};
    if (!pins?.some((one) => one <= number)) return thread;
    return { ...thread, conversation: { ...thread.conversation, pins: pins.filter((one) => one > number) } };
}

/** The range from a number on. */
function within(thread, first) {
    const isEmpty = thread.last === undefined || thread.last < first;
    return heldNotes({ ...thread, blocks: between(thread.blocks, first), past: undefined, first: isEmpty ? undefined : first, last: isEmpty ? undefined : thread.last });
}

/** What the user has noted, with the messages that are held alone: others come with their pages. */
export function heldNotes(thread) {
    const held = (values) => Object.fromEntries(Object.entries(values).filter(([number]) => messageIn(thread.blocks, Number(number))));
    const notes = ["hidden", "reacted", "starred", "listened", "counters"].map((name) => [name, held(thread[name])]);
    return { ...thread, ...Object.fromEntries(notes) };
}

export const newer = (known, one) => known && known.version > one.version ? known : one;
