// Emoji to choose: searching them by their names and keywords, which were used last, and the tones of skin.

import { codes } from "./emoji-codes.js";
import { folded } from "./mentions.js";

/** So many of those that were used last are kept. */
export const MOST_RECENT = 32;
/** Those of the standard, from light to dark: `tone` is the number of one, or 0 for none. */
const TONES = ["\u{1f3fb}", "\u{1f3fc}", "\u{1f3fd}", "\u{1f3fe}", "\u{1f3ff}"];
const [LIGHT] = TONES;
const STYLE = /\ufe0f/g;

/**
 * What can be chosen, from a file that `Scripts/emoji` has written: `{language, groups: [{id, items}], items}`. An item is
 * `{text, name, light?, beginnings, words, codes}`: the emoji, its name, the same with a light skin if it takes a tone, and by
 * what it is found, which is also what it is called in English.
 */
export function emojiOf({ language, groups }, english = { groups: {} }) {
    const also = new Map(Object.values(english.groups).flat().map(([text, name, keywords = ""]) => [text, { name, keywords }]));
    const names = new Map();
    for (const [code, text] of codes) names.set(text, [...names.get(text) ?? [], code]);
    const made = Object.entries(groups).map(([id, rows]) => ({ id, items: rows.map(([text, name, keywords = "", light]) => {
        const called = [{ name, keywords }, also.get(text)].filter(Boolean);
        return { text, name, light, beginnings: called.map((one) => wordsOf(one.name).join(" ")),
            words: called.flatMap((one) => wordsOf(`${one.name} ${one.keywords}`)), codes: names.get(text) ?? [] };
    }) }));
    return { language, groups: made, items: made.flatMap((one) => one.items) };
}

/**
 * Those that a query finds: first the one with that short name, or that is the query itself; then those whose name begins
 * with it, those where each word of it begins a word, and those that have them elsewhere. Of each in the order of the standard.
 */
export function foundEmoji({ items }, query) {
    const words = wordsOf(query);
    const code = codeOf(query);
    const itself = query.trim().replace(STYLE, "");
    if (words.length === 0 && itself === "") return [];
    const ranks = [[], [], [], []];
    for (const item of items) {
        const rank = isItself(item, itself) || item.codes.includes(code) ? 0 : rankOf(item, words, code);
        if (rank !== undefined) ranks[rank].push(item);
    }
    return ranks.flat();
}

function rankOf(item, words, code) {
    if (words.length === 0) return undefined;
    if (item.beginnings.some((one) => one.startsWith(words.join(" "))) || item.codes.some((one) => one.startsWith(code))) return 1;
    if (words.every((word) => item.words.some((one) => one.startsWith(word)))) return 2;
    return words.every((word) => item.words.some((one) => one.includes(word))) ? 3 : undefined;
}

const isItself = ({ text, light }, wanted) => text.replace(STYLE, "") === wanted
    || Boolean(light) && TONES.some((tone) => light.replaceAll(LIGHT, tone).replace(STYLE, "") === wanted);

/** The one that a whole name stands for, such as `smile`, `+1` or `red_heart`. */
export function emojiNamed({ items }, name) {
    const text = codes.get(name.toLowerCase());
    if (text) return items.find((one) => one.text === text);
    const wanted = wordsOf(name).join(" ");
    return items.find((one) => one.beginnings.includes(wanted));
}

/** An item in a tone. One that takes none is always the same. */
export const toned = ({ text, light }, tone) => light && tone > 0 ? light.replaceAll(LIGHT, TONES[tone - 1]) : text;

/** The items of emoji with tones, such as those that were used last. One that is newer than the file is its own name. */
export function itemsFor({ items }, texts) {
    const known = new Map(items.flatMap((one) => one.light
        ? [[one.text, one], ...TONES.map((_, index) => [toned(one, index + 1), one])] : [[one.text, one]]));
    return texts.map((text) => ({ ...known.get(text) ?? { name: text }, text, light: undefined }));
}

/** Those that were used last with another one, the latest first. */
export const withRecent = (recent, text) => [text, ...recent.filter((one) => one !== text)].slice(0, MOST_RECENT);

const wordsOf = (text) => folded(text).split(/[^\p{L}\p{M}\p{N}]+/u).filter(Boolean);

const codeOf = (text) => text.trim().toLowerCase().replace(/\s+/g, "_");

// A reaction is one emoji, which is all that the server looks at: fonts and pages may not know the newest.

const MOST_BYTES = 64;
const KEYCAP = "[#*0-9]\\ufe0f?\\u20e3";
const FLAG = "\\p{Regional_Indicator}{2}";
const TAGS = "(?:[\\u{e0020}-\\u{e007e}]+\\u{e007f})?";
const BASE = "(?![\\p{ASCII}\\p{Emoji_Modifier}\\p{Regional_Indicator}])\\p{Emoji}\\ufe0f?";
const ELEMENT = `(?:${BASE}(?<=\\p{Emoji_Modifier_Base}\\ufe0f?)\\p{Emoji_Modifier}|${BASE})${TAGS}`;
const ONE = new RegExp(`^(?:${KEYCAP}|${FLAG}|${ELEMENT}(?:\\u200d${ELEMENT})*)$`, "u");
const SHOWN = "(?=\\p{Emoji_Presentation}|\\p{Emoji}[\\ufe0f\\p{Emoji_Modifier}])";
/** The source of a pattern for what a text shows as an emoji, as the server finds it: ❤ alone, without U+FE0F, is text. */
export const SHOWN_EMOJI = `(?:${KEYCAP}|${FLAG}|${ELEMENT}(?:\\u200d${ELEMENT})+|${SHOWN}${ELEMENT})`;

/** Whether a message may be reacted to with the text. */
export const isOneEmoji = (text) => ONE.test(text) && new TextEncoder().encode(text).length <= MOST_BYTES;
