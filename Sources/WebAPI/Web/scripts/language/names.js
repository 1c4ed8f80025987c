// The names of languages, in the language of the page.

import { format, locale } from "./locale.js";

/** Such as `Russian` for `ru`; what is no tag is its own name. */
export function languageName(code, tag = locale().locale) {
    try { return format(Intl.DisplayNames, { type: "language" }, tag).of(code); } catch { return code; }
}
