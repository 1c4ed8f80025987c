// What stands in a translation as it does in the original: links, mentions and code, which engines do not touch, and emphasis.
//
// Nothing is a link that the author has not written: a translation cannot lead elsewhere.

const KEPT = new Set(["mention", "link", "code", "block"]);
// Letters beside which the server finds no marker: not those of scripts without spaces.
const UNSPACED = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Bopomofo}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
const HANGUL = "\\p{Script=Hangul}";
const EMPHASIS = { bold: /\*\*[^*]+\*\*/g, strike: /~~[^~]+~~/g,
    italic: new RegExp(`(?<![*\\w])\\*[^*\\n]+\\*(?![*\\w])|(?<!(?![${UNSPACED}])[\\p{L}\\p{N}_])_[^_\\n]+_(?!(?![${UNSPACED}${HANGUL}])[\\p{L}\\p{N}_])`, "gu") };

/** The ranges of a translated text, as the server finds those of a message: `original` is that message. */
export function translatedRanges(text, { text: source, ranges = [] }) {
    const same = ranges.filter((one) => KEPT.has(one.kind)).map((one) => ({ ...one, token: source.slice(one.start, one.start + one.length) }))
        // A longer one may have a shorter one in it.
        .filter((one) => one.token !== "").sort((one, other) => other.length - one.length || one.start - other.start);
    const found = [];
    for (const { token, ...range } of same) {
        const start = freeIndex(text, token, found);
        if (start >= 0) found.push({ ...range, start });
    }
    const emphasis = Object.entries(EMPHASIS).flatMap(([kind, pattern]) => emphasized(text, kind, pattern, ranges, found));
    return [...found, ...emphasis].sort((one, other) => one.start - other.start || other.length - one.length);
}

/** Where the token stands first that nothing found lies over; -1 if nowhere. */
function freeIndex(text, token, found) {
    let index = text.indexOf(token);
    while (index >= 0 && found.some((one) => index < one.start + one.length && one.start < index + token.length)) index = text.indexOf(token, index + 1);
    return index;
}

/** Emphasis is where its markers came back, all of them. */
function emphasized(text, kind, pattern, ranges, found) {
    const count = ranges.filter((one) => one.kind === kind).length;
    const all = count > 0 ? [...text.matchAll(pattern)].map(({ 0: { length }, index }) => ({ kind, start: index, length })) : [];
    const cuts = (one) => found.some((other) => [one.start, one.start + one.length - 1].some((at) => at >= other.start && at < other.start + other.length));
    return all.length === count && !all.some(cuts) ? all : [];
}
