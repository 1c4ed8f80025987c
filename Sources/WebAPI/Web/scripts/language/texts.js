// The texts of the catalogue. What it lacks in the chosen language is in English.
//
// An entry is a text, or texts by the plural category of `count`: `{ one: "{count} reply", other: "{count} replies" }`. A
// placeholder is a name in braces. The order of the parts is the translator's.

import { english } from "../../catalogues/en.js";
import { format, locale } from "./locale.js";

const PLACEHOLDER = /\{(\w+)\}/g;
// Strong characters of either direction, and what keeps a text that runs the other way from moving its surroundings.
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|[\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const LEFT_TO_RIGHT = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const [NUMBER, PLURAL, LIST] = [{}, {}, { type: "conjunction" }];
const [ISOLATE, END] = ["\u2068", "\u2069"];

/** The text of a key, such as `composer.placeholder`, with values for its placeholders. Numbers are written as the language does. */
export function t(key, values = {}) {
    return parts(key, values).map((part) => "text" in part ? part.text : isolated(shown(part.value))).join("");
}

/** The same as a list of texts and nodes, for values that are elements: children of `h()`. */
t.rich = (key, values) => parts(key, values).map((part) => "text" in part ? part.text
    : ["string", "number"].includes(typeof part.value) ? isolated(shown(part.value)) : part.value).flat(Infinity);

/** Whether there is a text of that key. */
export const hasText = (key) => entryOf(english, key) !== undefined;

/** Names or other parts as a list: `Ann, Ben and Cem`. */
export const listText = (items) => format(Intl.ListFormat, LIST, listLocale()).format(items);

/** The same with nodes among the items: a list of texts and nodes. */
export function listNodes(items) {
    const indexes = items.map((_, index) => String(index));
    return format(Intl.ListFormat, LIST, listLocale()).formatToParts(indexes)
        .flatMap(({ type, value }) => type === "element" ? items[Number(value)] : [value]);
}

/** The catalogue's English has no comma before the last of a list. */
const listLocale = () => locale().tag === "en" ? "en-GB" : locale().locale;

const shown = (value) => typeof value === "number" ? format(Intl.NumberFormat, NUMBER).format(value) : String(value);

/** A value that has letters of the other direction goes by itself. */
function isolated(text) {
    const runsOtherwise = (locale().direction === "rtl" ? LEFT_TO_RIGHT : RIGHT_TO_LEFT).test(text);
    return runsOtherwise ? ISOLATE + text + END : text;
}

/** `{text}` and `{value}` in their order. */
function parts(key, values) {
    const found = [];
    const pattern = patternOf(key, values);
    let from = 0;
    for (const { 0: { length }, 1: name, index } of pattern.matchAll(PLACEHOLDER)) {
        if (index > from) found.push({ text: pattern.slice(from, index) });
        // One without a value stays visible, for whoever reads the page.
        found.push(name in values ? { value: values[name] } : { text: `{${name}}` });
        from = index + length;
    }
    if (from < pattern.length) found.push({ text: pattern.slice(from) });
    return found;
}

function patternOf(key, { count }) {
    const { tag, texts } = locale();
    return form(entryOf(texts, key), tag, count) ?? form(entryOf(english, key), "en", count) ?? key;
}

function form(entry, tag, count) {
    if (entry === undefined || typeof entry === "string") return entry;
    return entry[format(Intl.PluralRules, PLURAL, tag).select(count)] ?? entry.other;
}

function entryOf(texts, key) {
    const [group, name] = key.split(".");
    return texts[group]?.[name];
}
