// What a search shows: the part of a text around its first match, with the matches in it.

import { hasExpired } from "./disappearing.js";
import { folded, foldedParts, mentionsUser } from "./mentions.js";

const BEFORE = 30;
const LENGTH = 160;

/** The parts of a text around its matches, `{text, isMatch}`; matches are in UTF-16 units, as the server says. */
export function excerpt(text, matches = []) {
    const valid = matches.filter(({ start, length }) => start >= 0 && length > 0 && start + length <= text.length)
        .sort((one, other) => one.start - other.start);
    const from = wordStart(text, Math.max(0, (valid[0]?.start ?? 0) - BEFORE));
    const until = Math.min(text.length, from + LENGTH);
    const parts = from > 0 ? [{ text: "…", isMatch: false }] : [];
    let at = from;
    for (const { start, length } of valid) {
        if (start < at || start + length > until) continue;
        if (start > at) parts.push({ text: text.slice(at, start), isMatch: false });
        parts.push({ text: text.slice(start, start + length), isMatch: true });
        at = start + length;
    }
    if (at < until) parts.push({ text: text.slice(at, until), isMatch: false });
    if (until < text.length) parts.push({ text: "…", isMatch: false });
    return parts;
}

/** Where the words of a query begin words of a name, `{start, length}`; empty unless all of them do. */
export function nameMatches(name, query) {
    const words = folded(query).split(/\s+/).filter(Boolean);
    if (words.length === 0) return [];
    const { text, rangeOf } = foldedParts(name);
    const starts = [...text.matchAll(/[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu)].map(({ index }) => index);
    const found = words.map((word) => {
        const start = starts.find((index) => text.startsWith(word, index));
        return start === undefined ? undefined : rangeOf(start, start + word.length);
    });
    return found.every(Boolean) ? found : [];
}

/** Scripts without spaces between words: there a word may begin anywhere. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/**
 * The messages that have all words of a query, each with `matches`; `own` is what the user has noted on them. `filters` are
 * those of the server's search, and `me` who is mentioned.
 */
export function messagesWith(messages, own, query, now, filters = {}) {
    const words = folded(query).split(/\s+/).filter(Boolean);
    const hidden = new Set(own.filter((one) => one.hidden).map((one) => one.number));
    const starred = new Set(own.filter((one) => one.starred).map((one) => one.number));
    const isNarrowed = ["kind", "link", "mentions", "starred", "author"].some((name) => filters[name]);
    if (words.length === 0 && !isNarrowed) return [];
    return messages.flatMap((message) => {
        if (!isIncluded(message, filters, starred)) return [];
        const text = message.text ?? message.voice?.transcript?.text ?? "";
        if (message.deletedAt || hidden.has(message.number) || hasExpired(message, now)) return [];
        const whole = folded(text);
        if (!words.every((word) => whole.includes(word))) return [];
        const matches = words.map((word) => wordMatch(text, word));
        return matches.every(Boolean) ? [{ message, matches }] : [];
    });
}

function isIncluded({ conversation, author, kind, ranges = [], number, sentAt }, filters, starred) {
    return (!filters.conversation || conversation === filters.conversation) && (!filters.kind || kind === filters.kind)
        && (!filters.link || ranges.some((one) => one.kind === "link")) && (!filters.mentions || mentionsUser({ ranges }, filters.me))
        && (!filters.starred || starred.has(number)) && (!filters.author || author === filters.author)
        && (!filters.from || Date.parse(sentAt) >= Date.parse(filters.from)) && (!filters.to || Date.parse(sentAt) < Date.parse(filters.to));
}

/**
 * The times of days such as `2026-01-31`, of which either may be empty: `from` the beginning of the first, in the time of the
 * user, and `to` the end of the last.
 */
export function timesOf(first, last) {
    const [from, to] = [midnight(first, 0), midnight(last, 1)];
    return { ...(from && { from }), ...(to && { to }) };
}

/** The time at which a day begins, so many days later. */
function midnight(day, later) {
    const [year, month, date] = day.split("-").map(Number);
    const time = new Date(year, month - 1, date + later);
    return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** The first word of a text that begins with a folded one. */
function wordMatch(text, word) {
    if (UNSPACED.test(word)) {
        const parts = foldedParts(text);
        const start = parts.text.indexOf(word);
        return start < 0 ? undefined : parts.rangeOf(start, start + word.length);
    }
    const found = [...text.matchAll(/[\p{L}\p{M}\p{N}]+/gu)].find(({ 0: one }) => folded(one).startsWith(word));
    return found && { start: found.index, length: found[0].length };
}

function wordStart(text, index) {
    if (index === 0) return 0;
    const space = text.indexOf(" ", index);
    return space === -1 || space > index + BEFORE ? index : space + 1;
}
