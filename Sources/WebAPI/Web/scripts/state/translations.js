// Translations of what others have written, into the language in which the user reads a conversation.
//
// A translation is `of` one version of a text, and is shown beside that one alone. It changes neither its message nor its
// version. Of two copies of one translation the higher `touched` counts.

import { messageIn } from "./blocks.js";

/**
 * `rows` are translations by the number of their message, all of them into `language`. `origin` is another object after each
 * snapshot: nothing that was held before it counts.
 */
export const noTranslations = Object.freeze({ language: undefined, origin: undefined, rows: Object.freeze({}) });

/** A snapshot replaces all that is held: what may not be shown any more is not in it. */
export function applyTranslationsSnapshot(thread, { language, translations }) {
    return applyTranslations({ ...thread, translations: { language, origin: {}, rows: {} } }, translations);
}

/** Rows of the stream, the response to a request, or what was on disk. Those into another language are not the reader's. */
export function applyTranslations(thread, list) {
    const { translations: known } = thread;
    const own = list.filter((one) => one.language === known.language && fits(one, messageIn(thread.blocks, one.number)));
    if (own.length === 0) return thread;
    const rows = { ...known.rows };
    for (const one of own) rows[one.number] = newerTranslation(rows[one.number], one);
    return { ...thread, translations: { ...known, rows } };
}

/** One that is not stored says why there is none now: it counts unless there is one. */
export function newerTranslation(known, one) {
    if (!known || one.of !== known.of) return known?.of > one.of ? known : one;
    const isAnswer = one.touched === 0 && known.status !== "done";
    return isAnswer || one.touched >= known.touched ? one : known;
}

/** The translation of a message's text as it is now; undefined if there is none. */
export function translationOf({ translations: { rows } }, message) {
    const found = rows[message.number];
    return found?.of === message.textVersion && !message.deletedAt ? found : undefined;
}

/** Whether it is of the message's text, or of one that is on its way. */
const fits = (one, message) => !message || !message.deletedAt && one.of >= message.textVersion;

/**
 * Without those of texts that are gone, edited or deleted, and of messages that are not held, but for what is newer than all
 * of them. The same object if there is none of these.
 */
export function heldTranslations(thread) {
    const { translations, blocks, last = 0 } = thread;
    const all = Object.values(translations.rows);
    const left = all.filter((one) => {
        const message = messageIn(blocks, one.number);
        return message ? fits(one, message) : one.number > last;
    });
    if (left.length === all.length) return thread;
    return { ...thread, translations: { ...translations, rows: Object.fromEntries(left.map((one) => [one.number, one])) } };
}

/** What has changed from one state to the next: `{put, gone, isReplaced}`. `isReplaced` says that there are no others than `put`. */
export function changedTranslations(before, after, isNew = false) {
    const [known, next] = [before, after].map((one) => heldTranslations(one).translations);
    const all = Object.values(next.rows);
    const isReplaced = isNew || known.origin !== next.origin || known.language !== next.language;
    return { isReplaced, put: isReplaced ? all : all.filter((one) => known.rows[one.number] !== one),
        gone: isReplaced ? [] : Object.values(known.rows).filter((one) => !next.rows[one.number]) };
}
