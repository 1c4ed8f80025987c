// A message's text as pieces to show, from the ranges that the server found in it: nothing is parsed here.

import { SHOWN_EMOJI } from "./emoji-search.js";

// What ranges of emphasis and code begin and end with; \x60 is a backtick.
const MARKERS = {
    bold: [/^\*\*/, /\*\*$/],
    italic: [/^[*_]/, /[*_]$/],
    strike: [/^~~/, /~~$/],
    code: [/^\x60{1,2}/, /\x60{1,2}$/],
    block: [/^\x60{3,}(?:[^\n\x60]*\n)?/, /\n?\x60{3,}$/],
};

/** Where the markers of a range lie, `[start, end]` each: none if they are not there, or nothing is between them. */
function markersOf(text, { kind, start, length }) {
    const [first, last] = (MARKERS[kind] ?? []).map((pattern) => pattern.exec(text.slice(start, start + length))?.[0].length);
    if (!first || !last || first + last >= length) return [];
    return [[start, start + first], [start + length - last, start + length]];
}

/**
 * The pieces of a text in their order, without the markers of emphasis and code, `{start, text, kinds: [kind], user?}`; a
 * mention of everybody has no user. Ranges may lie in each other. One that does not lie in the text is left out.
 */
export function pieces(text, ranges = []) {
    const valid = ranges.filter(({ start, length }) => Number.isInteger(start) && Number.isInteger(length)
        && start >= 0 && length > 0 && start + length <= text.length);
    const markers = valid.flatMap((range) => markersOf(text, range));
    const hidden = new Set(markers.map(([from]) => from));
    const bounds = [...new Set([0, text.length, ...valid.flatMap(({ start, length }) => [start, start + length]), ...markers.flat()])];
    bounds.sort((one, other) => one - other);
    const found = [];
    for (let index = 0; index + 1 < bounds.length; index += 1) {
        const [start, end] = [bounds[index], bounds[index + 1]];
        if (hidden.has(start)) continue;
        const around = valid.filter((range) => range.start <= start && end <= range.start + range.length);
        const mention = around.find((range) => range.kind === "mention");
        // A mention is shown as a name: once, whatever lies in it.
        if (mention && mention.start !== start) continue;
        found.push({ start, text: text.slice(start, end), kinds: around.map((range) => range.kind),
            ...(mention?.user && { user: mention.user }) });
    }
    return found;
}

/**
 * A text with names for mentions and without markers, and the matches of a search where they are in it then, `{text,
 * matches: [{start, length}]}`.
 */
export function plainMatches(text, ranges, matches, nameOf) {
    const found = matches.map(() => undefined);
    let plain = "";
    for (const piece of pieces(text, ranges)) {
        const isMention = piece.kinds.includes("mention");
        const shown = isMention ? mentionText(piece, nameOf) : piece.text;
        matches.forEach(({ start, length }, index) => {
            const from = Math.max(0, start - piece.start);
            const until = Math.min(piece.text.length, start + length - piece.start);
            if (until <= from) return;
            const first = found[index]?.start ?? plain.length + (isMention ? 0 : from);
            found[index] = { start: first, length: plain.length + (isMention ? shown.length : until) - first };
        });
        plain += shown;
    }
    return { text: plain, matches: found.filter(Boolean) };
}

/** A text on one line, with names for mentions and codes for characters that cannot be seen. */
export function plainText(text, ranges, nameOf) {
    const line = pieces(text, ranges).map((piece) => piece.kinds.includes("mention") ? mentionText(piece, nameOf) : piece.text)
        .join("").replace(/\s+/g, " ").trim();
    return visibleParts(line).map((part) => part.code ?? part.text).join("");
}

export const mentionText = ({ user }, nameOf) => user ? `@${nameOf(user)}` : "@all";

/** The address of a link that may be followed: of the web only. */
export function linkAddress(text) {
    try {
        const { protocol, href } = new URL(text);
        return protocol === "http:" || protocol === "https:" ? href : undefined;
    } catch { return undefined; }
}

const FEW_EMOJI = new RegExp(`^(?:${SHOWN_EMOJI}\\s*){1,3}$`, "u");

/** Whether a text is nothing but one to three emoji, which are shown large. */
export const isFewEmoji = (text) => FEW_EMOJI.test(text.trim());

// Bidirectional controls, zero-width characters and other invisible ones. Joiners are also part of emoji and of words.
const INVISIBLE = /[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0]/gu;
const JOINERS = new Set(["\u200c", "\u200d"]);
const BEFORE_JOINER = /[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]/u;
const AFTER_JOINER = /[\p{L}\p{Extended_Pictographic}]/u;

/**
 * A text as parts, `{text}` or `{code: "U+202E"}`: characters that cannot be seen are shown by their codes, so that nobody
 * reads another text than the one that was sent.
 */
export function visibleParts(text) {
    const parts = [];
    let from = 0;
    for (const { 0: character, index } of text.matchAll(INVISIBLE)) {
        if (JOINERS.has(character) && joins(text, index)) continue;
        if (index > from) parts.push({ text: text.slice(from, index) });
        parts.push({ code: `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}` });
        from = index + 1;
    }
    if (from < text.length) parts.push({ text: text.slice(from) });
    return parts;
}

function joins(text, index) {
    const before = [...text.slice(Math.max(0, index - 2), index)].at(-1) ?? "";
    const [after = ""] = text.slice(index + 1, index + 3);
    return BEFORE_JOINER.test(before) && AFTER_JOINER.test(after);
}
