// The names of languages and of engines, in the language of the page.

import { format, locale } from "./locale.js";
import { t } from "./texts.js";

/** How engines write their names that name themselves in small letters. */
const ENGINES = { apertium: "Apertium", libretranslate: "LibreTranslate" };

/** Such as `Russian` for `ru`; what is no tag is its own name. */
export function languageName(code, tag = locale().locale) {
    try { return format(Intl.DisplayNames, { type: "language" }, tag).of(code); } catch { return code; }
}

/** A program of the operator's has no name of its own. */
export const engineName = (name) => name === "webhook" ? t("languages.operatorsService") : ENGINES[name] ?? name;

/** From which language, by what: `Translated from Russian · Apertium`. */
export function originText({ language }, { engine, kind }) {
    const values = { engine: engineName(engine), ...(language && { language: languageName(language.code) }) };
    if (kind === "rules") return language ? t("translation.byRulesFrom", values) : t("translation.byRules", values);
    return language ? t("translation.byModelFrom", values) : t("translation.byModel", values);
}
