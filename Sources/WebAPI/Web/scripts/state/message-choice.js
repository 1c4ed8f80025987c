// The messages of a thread that the user has chosen, to do something with all of them.
//
// A message stays chosen while it is what it was then: one that is deleted, hidden, expired, cleared or edited leaves, and so
// does one that is not held any more, since nobody says what becomes of it.

import { messageOf, roleOf, shownMessages, stateOf } from "./thread-rows.js";

/** So many at most: each is forwarded by a request of its own, and the server takes 600 at once. */
export const MOST = 100;

/** `texts` are by number, in the order of choosing, and `last` is the number from which a range goes. */
export const emptySelection = Object.freeze({ texts: new Map(), last: undefined });

export const isSelectable = (message) => Boolean(message) && !message.deletedAt && !message.notice;

export const isSelected = (selection, number) => selection.texts.has(number);

export const countSelected = (selection) => selection.texts.size;

/** With the message, or without it if it was chosen. The same selection if no more fit. */
export function toggled(selection, message) {
    const { number, text } = message;
    const texts = new Map(selection.texts);
    if (!texts.delete(number)) {
        if (texts.size >= MOST) return selection;
        texts.set(number, text);
    }
    return { texts, last: number };
}

/** With all that is shown from the last one on up to a number, as many as fit, the nearest to the last one first. */
export function extended(selection, thread, number) {
    const from = selection.last ?? number;
    const [low, high] = [Math.min(from, number), Math.max(from, number)];
    const between = shownMessages(thread).filter((one) => one.number >= low && one.number <= high && isSelectable(one));
    const texts = new Map(selection.texts);
    for (const one of number < from ? between.reverse() : between) {
        if (texts.size >= MOST) break;
        if (!texts.has(one.number)) texts.set(one.number, one.text);
    }
    return texts.size === selection.texts.size ? selection : { texts, last: number };
}

/** Without those that are not what they were; the same selection if none has left. */
export function kept(selection, thread) {
    const left = [...selection.texts].filter(([number, text]) => !isSame(thread, number, text));
    if (left.length === 0) return selection;
    const texts = new Map(selection.texts);
    for (const [number] of left) texts.delete(number);
    return { ...selection, texts };
}

function isSame(thread, number, text) {
    const message = messageOf(thread, number);
    return isSelectable(message) && !thread.hidden[number] && message.text === text;
}

/** The chosen messages in the order of the conversation. */
export const selectedMessages = (selection, thread) => [...kept(selection, thread).texts.keys()]
    .sort((one, other) => one - other).map((number) => messageOf(thread, number));

/** What can be done with all of these: `{copy, forward, star, unstar, delete, deleteForAll}`. */
export function actionsFor(messages, thread, me) {
    const any = messages.length > 0;
    const areStarred = any && messages.every((one) => thread.starred[one.number]);
    return { copy: any, forward: any && messages.every(isForwardable), star: any && !areStarred, unstar: areStarred, delete: any,
        deleteForAll: any && messages.every((one) => mayDeleteForAll(thread, one, me)) };
}

/** The server forwards texts. */
export const isForwardable = (message) => message.kind === "text" && !message.deletedAt;

/** One's own, and as who runs a group everything but records of calls. */
export function mayDeleteForAll(thread, message, me) {
    return stateOf(thread, me) === "member" && !message.deletedAt && !message.call
        && (message.author === me || thread.conversation?.kind === "group" && ["owner", "admin"].includes(roleOf(thread, me)));
}
