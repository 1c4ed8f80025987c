// Messages that disappear at their time, also without the server.

import { expiryIn, messagesIn, withMessages } from "./blocks.js";

/** The same with those that have expired as deleted ones; the same object if there is none. */
export function expired(thread, now) {
    const due = messagesIn(thread.blocks.filter((block) => block.expiry <= now))
        .filter((one) => one.expiresAt && !one.deletedAt && Date.parse(one.expiresAt) <= now);
    if (due.length === 0) return thread;
    return { ...thread, blocks: withMessages(thread.blocks, due.map(disappeared), (_, one) => one) };
}

/** When the next of them expires, in milliseconds; undefined if none does. */
export function nextExpiry(thread) {
    const soonest = expiryIn(thread.blocks);
    return Number.isFinite(soonest) ? soonest : undefined;
}

export const hasExpired = (message, now) => Boolean(message.expiresAt) && Date.parse(message.expiresAt) <= now;

/** A message that has expired, as the deleted one that it is then. */
export const disappeared = (message) => ({ ...withoutContent(message), deletedAt: message.expiresAt });

/** What is left of a message that is gone: what its server copy has as well. */
export const withoutContent = ({ text: _, ranges: __, reactions: ___, voice: ____, editedAt: _____, ...rest }) => rest;

/** The choices of a conversation, in seconds; 0 is off. */
export const DISAPPEARING_CHOICES = [0, 3_600, 86_400, 604_800, 2_592_000, 7_776_000];
