// What a push of the server becomes on the screen. The service worker shows it, and a test needs none.

import { callTagOf, ringTagOf, tagOf } from "./news.js";

/** The title where there is no better one: browsers demand a notification for every push. */
const PRODUCT = "Switchboard";
/** In milliseconds, on and off: as phones ring. */
const RING_PATTERN = [600, 300, 600, 1_200, 600, 300, 600];

/** The document of a push. What is none is an empty one. */
export function parsedPush(text) {
    try {
        const value = JSON.parse(text);
        return value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
    } catch { return {}; }
}

/**
 * What the page has told the worker of who reads here, which has no catalogue and no tokens.
 *
 * @typedef {{user?: string, texts?: {accept: string, decline: string, message: string, other: string}, hidesText?: boolean,
 *     lang?: string, dir?: string, clockOffset?: number}} Reader
 */

/**
 * The notification of a push: `{title, page, options, closes, badge}`. A tab that shows `page` shows what it tells of; the
 * empty one stands for any, and without one no tab does. `closes` is the tag of one that it ends.
 *
 * @param {object} push
 * @param {Reader} reader
 */
export function noticeOf(push, reader, { now, mostActions = 0 }) {
    const { lang, dir = "auto", texts = {} } = reader;
    const common = { lang, dir, icon: "/icons/192.png" };
    // Of what is for another account only that there is something.
    if (push.user !== undefined && push.user !== reader.user) {
        return { title: PRODUCT, options: { ...common, body: texts.other ?? "", tag: `other-${push.user}`, silent: push.kind === "ringEnded", data: { address: "" } } };
    }
    const { page, closes, ...options } = kindOf(push)(push, { reader, now, mostActions });
    const icon = String(push.photo ?? "").startsWith("/v1/photos/") ? push.photo : common.icon;
    return { title: textOf(push.title) || PRODUCT, page, closes, badge: Number.isInteger(push.badge) ? push.badge : undefined,
        options: { ...common, icon, body: textOf(push.body), ...options } };
}

const kinds = {
    message: ({ conversation, number }, { reader: { hidesText, texts } }) => ({ tag: tagOf(conversation, { number }), page: `#/c/${conversation}`,
        ...(hidesText && { body: texts?.message ?? "" }), data: { address: `#/c/${conversation}/${number}`, conversation, number } }),
    ring: ({ call, expiresAt }, { reader, now, mostActions }) => {
        const about = { tag: ringTagOf(call), page: "", data: { address: "", call } };
        // It came too late: nobody is to run for it.
        if (expiresAt <= now) return { ...about, silent: true };
        return { ...about, data: { ...about.data, expiresAt }, requireInteraction: true, renotify: true, vibrate: RING_PATTERN, actions: actionsOf(reader.texts).slice(0, mostActions) };
    },
    ringEnded: ({ call }) => ({ tag: ringTagOf(call), page: "", silent: true, data: { address: "#/history" } }),
    missedCall: ({ call }) => ({ tag: callTagOf(call), page: "", closes: ringTagOf(call), data: { address: "#/history" } }),
};

const kindOf = ({ kind }) => Object.hasOwn(kinds, kind) ? kinds[kind] : plain;

const plain = ({ kind }) => ({ ...(kind === "test" && { tag: "test" }), data: { address: "" } });

/** In a language that nobody here reads they would be worse than none. */
const actionsOf = (texts) => texts?.accept && texts.decline
    ? [{ action: "answer", title: texts.accept }, { action: "decline", title: texts.decline }] : [];

const textOf = (value) => typeof value === "string" ? value : "";
