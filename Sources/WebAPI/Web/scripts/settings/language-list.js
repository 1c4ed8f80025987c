// The languages that somebody knows, in their order: they are taken out, and others are put in, by name.

import { button, h } from "../elements/dom.js";
import { redraw } from "../elements/keyed.js";
import { format, locale } from "../language/locale.js";
import { languageName } from "../language/names.js";
import { t } from "../language/texts.js";
import { languageChoices } from "../state/language-choices.js";

/** So many the server takes. */
const MOST = 16;

/** The options of a choice of a language, `likely` ones first. Their names are in the language of the page. */
export function languageOptions(likely, chosen) {
    return languageChoices(likely, languageName, (code) => languageName(code, "en"), (one, other) => format(Intl.Collator, {}).compare(one, other))
        .map(({ code, name }) => h("option", { value: code, selected: code === chosen }, name));
}

/** `{node, value}`; `change(languages)` is called with another list, and resolves to whether it may be so. */
export function languageList({ id, label, hint, languages, change = async () => true }) {
    let value = [...languages];
    const chips = h("ul", { class: "chips language-chips", "aria-labelledby": `${id}-label` });
    const add = h("select", { id, "aria-describedby": hint && `${id}-hint`, lang: locale().tag, onchange: () => set([...value, add.value]) });
    const set = async (next) => {
        const before = value;
        value = next;
        draw();
        if (!await change(next) && value === next) {
            value = before;
            draw();
        }
    };
    const draw = () => {
        redraw(chips, value.map((code) => h("li", { data: { language: code } }, button({ name: "close", label: languageName(code), class: "chip",
            "aria-label": t("picker.removeName", { name: languageName(code) }), onclick: () => set(value.filter((one) => one !== code)) }))));
        chips.hidden = value.length === 0;
        add.replaceChildren(h("option", { value: "" }, t("languages.add")), ...languageOptions([], "").filter((one) => !value.includes(one.value)));
        add.value = "";
        add.disabled = value.length >= MOST;
    };
    draw();
    return { get value() { return value; }, node: h("div", { class: "field languages" }, h("label", { for: id, id: `${id}-label` }, label), chips, add,
        hint && h("p", { id: `${id}-hint`, class: "hint" }, hint)) };
}
