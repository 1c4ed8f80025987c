// Explanations of what others have written: idioms, references, slang and forms of address.
//
// They are `of` one version of a text, and are shown beside that one alone. Of two copies the higher `touched` counts.

import { messageIn } from "./blocks.js";

/** So many are held: what is explained of older messages is asked for again. */
const MOST = 200;

/** `rows` are those of messages by number. */
export const noHints = Object.freeze({ rows: Object.freeze({}) });

/** When somebody wants messages explained: `automatic`, `onRequest` or `off`. */
export const hintModeOf = (me, membership) => membership?.hints ?? me?.hints ?? "onRequest";

/** A snapshot replaces all that is held: what may not be shown any more is not in it. */
export const applyHintsSnapshot = (thread, { hints = [] }) => applyHints({ ...thread, hints: noHints }, hints);

/** Rows of the stream, or the response to a request. */
export function applyHints(thread, list) {
    const own = list.filter((one) => fits(one, messageIn(thread.blocks, one.number)));
    if (own.length === 0) return thread;
    const rows = { ...thread.hints.rows };
    for (const one of own) rows[one.number] = newer(rows[one.number], one);
    const numbers = Object.keys(rows).map(Number).sort((one, other) => one - other);
    for (const number of numbers.slice(0, Math.max(0, numbers.length - MOST))) delete rows[number];
    return { ...thread, hints: { rows } };
}

/** One that is not stored says what there is now: it counts unless a model has said more. */
function newer(known, one) {
    if (!known || one.of !== known.of) return known?.of > one.of ? known : one;
    if (one.touched === 0) return known.kind === "model" && one.kind !== "model" && one.reason !== "consent_required" ? known : one;
    return one.touched >= known.touched ? one : known;
}

/** Those of a message's text as it is now; undefined if there are none. */
export function hintsOf({ hints: { rows } }, message) {
    const found = rows[message.number];
    return found?.of === message.textVersion && !message.deletedAt ? found : undefined;
}

/** Whether they are of the message's text, or of one that is on its way. */
const fits = (one, message) => !message || !message.deletedAt && one.of >= message.textVersion;

/** What a hint is about: its words in the text. */
export const quotedIn = (text, { start, length }) => text.slice(start, start + length);
