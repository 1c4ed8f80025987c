// The language that texts, numbers and dates are in now.

import { english } from "../../catalogues/en.js";

/** Languages that are written from right to left. */
const RIGHT_TO_LEFT = /^(?:ar|ckb|dv|fa|he|ks|ps|sd|ug|ur|yi)\b/;

const formats = new Map();
/** The formatter that was last asked for with an object of options: `{Format, tag, made}`. Most come from constants. */
let recent = new WeakMap();
let current = make("en", english);

/** `{tag, locale, direction, texts}`. `locale` is the language as the reader's region writes it. */
export const locale = () => current;

/** Texts are in this language from now on; `texts` is its catalogue. Those that are drawn already stay as they are. */
export function setLocale(tag, texts = english) {
    current = make(tag, texts);
    formats.clear();
    recent = new WeakMap();
}

/** A formatter of the language: `format(Intl.DateTimeFormat, { weekday: "long" })`. Making one takes longer than using it. */
export function format(Format, options, tag = current.locale) {
    const known = recent.get(options);
    if (known?.Format === Format && known.tag === tag) return known.made;
    const key = `${Format.name} ${tag} ${JSON.stringify(options)}`;
    if (!formats.has(key)) formats.set(key, new Format(tag, options));
    const made = formats.get(key);
    recent.set(options, { Format, tag, made });
    return made;
}

function make(tag, texts) {
    return { tag, texts, locale: withDigits(regional(tag)), direction: RIGHT_TO_LEFT.test(tag) ? "rtl" : "ltr" };
}

/** With the digits that clocks, counts and codes have anyway: a page does not mix two kinds of them. */
function withDigits(tag) {
    return new Intl.NumberFormat(tag).resolvedOptions().numberingSystem === "latn" ? tag : `${tag}-u-nu-latn`;
}

/** British English where the browser is: dates are written as there. Otherwise the language as it is. */
function regional(tag) {
    const own = new Intl.DateTimeFormat().resolvedOptions().locale;
    return new Intl.Locale(own).language === new Intl.Locale(tag).language ? own : tag;
}
