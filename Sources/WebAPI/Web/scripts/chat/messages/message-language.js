// In which language a message of the user's own is: the server has found it out, and its author knows better.

import { credentials } from "../../connection/credentials.js";
import { closeButton, open } from "../../elements/dialogs.js";
import { button, h } from "../../elements/dom.js";
import { format, locale } from "../../language/locale.js";
import { t } from "../../language/texts.js";
import { foundLanguages, languageChoices } from "../../state/language-choices.js";

const nameOf = (code) => format(Intl.DisplayNames, { type: "language" }).of(code);
const englishOf = (code) => format(Intl.DisplayNames, { type: "language" }, "en").of(code);

/** What the server says of it, `Language: Spanish (not sure)`. */
export function languageText({ language }) {
    if (!language) return t("messageLanguage.unknown");
    const values = { language: nameOf(language.code) };
    return language.confidence === "low" ? t("messageLanguage.guess", values) : t("messageLanguage.of", values);
}

/** Asks for another one. */
export function chooseLanguage(thread, message) {
    const current = message.language?.code;
    const choices = languageChoices([...current ? [current] : [], ...credentials.user?.languages ?? [], locale().tag], nameOf, englishOf,
        (one, other) => format(Intl.Collator, {}).compare(one, other));
    let found = choices;
    const choose = (code) => {
        dialog.close();
        if (code !== current || message.language.confidence === "low") thread.setLanguage(message, code);
    };
    const list = h("div", { class: "items", id: "language-list", role: "group", "aria-label": t("messageLanguage.title") });
    const said = h("p", { class: "hint", role: "status" });
    const search = h("input", { id: "language-search", type: "search", placeholder: t("messageLanguage.search"), autocomplete: "off", spellcheck: "false",
        enterkeyhint: "done", "aria-label": t("messageLanguage.search"), "aria-controls": "language-list", oninput: () => show() });
    const show = () => {
        found = foundLanguages(choices, search.value);
        said.textContent = found.length > 0 ? "" : t("messageLanguage.nothing", { query: search.value });
        list.replaceChildren(...found.map(({ code, name }) => button({ label: name, class: "item quiet", data: { language: code },
            ...(code === current && { name: "check", "aria-current": "true" }), onclick: () => choose(code) })));
    };
    search.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || event.isComposing || search.value.trim() === "" || found.length === 0) return;
        event.preventDefault();
        choose(found[0].code);
    });
    const dialog = open({ id: "message-language", "aria-labelledby": "message-language-title", class: "dialog picker" },
        h("h2", { id: "message-language-title" }, t("messageLanguage.title")), h("p", { class: "hint" }, t("messageLanguage.hint")),
        h("div", { class: "search" }, search), said, list, closeButton(() => dialog.close()));
    show();
}
