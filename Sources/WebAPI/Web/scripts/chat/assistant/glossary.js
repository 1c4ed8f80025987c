// The glossary of a conversation: terms that are always translated in the same way. Its members see it, of a group the
// administrators change it, and of two people both.

import { credentials } from "../../connection/credentials.js";
import { errorMessage } from "../../connection/problems.js";
import { request } from "../../connection/requests.js";
import { attempt } from "../../elements/attempt.js";
import { ask, closeButton, open } from "../../elements/dialogs.js";
import { busy, button, field, h } from "../../elements/dom.js";
import { redraw } from "../../elements/keyed.js";
import { format, locale } from "../../language/locale.js";
import { languageName } from "../../language/names.js";
import { t } from "../../language/texts.js";
import { languageOptions } from "../../settings/language-list.js";
import { fieldOfTerm, hasTerm, MAX_TERM_LENGTH, MOST_TERMS, sortedTerms, withoutTerm, withTerm } from "../../state/glossary-terms.js";

/** Numbers in terms by their values. */
const ORDER = { numeric: true };

/** `mayChange()` is whether the user may change it now. */
export function showGlossary(thread, mayChange) {
    const conversation = thread.id;
    const content = h("div", { class: "glossary" });
    let terms;
    let failure;
    const dialog = open({ id: "glossary", "aria-labelledby": "glossary-title", class: "dialog picker" },
        h("h2", { id: "glossary-title" }, t("glossary.title")), h("p", { class: "hint" }, t("glossary.hint")), content, closeButton(() => dialog.close()));

    const load = async () => {
        try {
            ({ terms } = await request("glossary.get", { conversation }));
            failure = undefined;
        } catch (error) { failure = error; }
        draw();
    };
    /** Somebody else may have changed others meanwhile: these stay. */
    const save = async (change) => {
        const { terms: current } = await request("glossary.get", { conversation });
        ({ terms } = await request("glossary.set", { conversation, terms: change(current) }));
        draw();
    };
    const compare = (one, other) => format(Intl.Collator, ORDER).compare(one, other);
    const draw = () => {
        if (failure) {
            return redraw(content, h("p", { class: "form-error", role: "alert" }, errorMessage(failure)),
                button({ label: t("common.tryAgain"), class: "wide soft", data: { action: "try-again" }, onclick: load }));
        }
        if (!terms) return redraw(content, h("p", { class: "hint", role: "status" }, t("glossary.loading")));
        const isFull = terms.length >= MOST_TERMS;
        redraw(content,
            terms.length === 0 ? h("p", { class: "hint" }, t("glossary.empty"))
                : h("ul", { class: "rows flat", "aria-label": t("glossary.title") }, sortedTerms(terms, compare).map(row)),
            mayChange() ? [button({ name: "plus", label: t("glossary.add"), class: "item quiet", disabled: isFull, data: { action: "add-term" }, onclick: () => edit() }),
                isFull && h("p", { class: "hint" }, t("glossary.full", { most: MOST_TERMS }))]
                : h("p", { class: "hint" }, t("glossary.readOnly")));
    };
    const row = (term) => h("li", { class: "row", data: { term: term.source, language: term.language } },
        h("span", { class: "name" }, h("bdi", {}, term.source), h("span", { class: "state" },
            t.rich("glossary.into", { language: languageName(term.language), target: h("bdi", { class: "term-target", lang: term.language }, term.target) }))),
        mayChange() && [
            button({ name: "edit", label: t("glossary.change", { term: term.source }), bare: true, class: "round quiet", data: { action: "change-term" }, onclick: () => edit(term) }),
            button({ name: "trash", label: t("glossary.remove", { term: term.source }), bare: true, class: "round quiet danger-text", data: { action: "remove-term" }, onclick: () => remove(term) })]);
    const remove = async (term) => {
        const isSure = await ask({ title: t("glossary.removeTitle", { term: term.source }), text: t("glossary.removeConsequence"), danger: true,
            choices: [{ value: true, label: t("common.remove") }] });
        if (isSure) await attempt(save((current) => withoutTerm(current, term)));
    };
    const edit = (changed) => editTerm(changed, likelyLanguages(thread, terms), terms, (term) => save((current) => withTerm(current, term, changed)));
    const unsubscribe = thread.on("change", () => { if (terms) draw(); });
    dialog.addEventListener("close", unsubscribe);
    draw();
    load();
}

/** Those that others' terms are in, and those that the user knows. */
const likelyLanguages = (thread, terms) => [...new Set([...terms.map((one) => one.language), ...credentials.user?.languages ?? []])];

/** Asks for a term, a new one or in the place of `changed`, until it can be saved. */
function editTerm(changed, likely, terms, save) {
    const word = (name, more) => field({ label: t(`termFields.${name}`), name, value: changed?.[name] ?? "", maxlength: MAX_TERM_LENGTH, autocomplete: "off", autocapitalize: "off",
        spellcheck: "false", required: true, ...more });
    const languages = h("select", { id: "field-language", name: "language", lang: locale().tag, required: true, "aria-describedby": "term-error" },
        h("option", { value: "" }, t("glossary.noLanguage")), languageOptions(likely, changed?.language));
    const error = h("p", { id: "term-error", class: "form-error", role: "alert", hidden: true });
    const submit = h("button", { type: "submit", class: "primary", data: { choice: "save" } }, t("common.save"));
    const fail = (name, text) => {
        for (const one of form.querySelectorAll("[aria-invalid]")) one.removeAttribute("aria-invalid");
        error.textContent = text;
        error.hidden = false;
        const input = name && form.elements[name];
        input?.setAttribute("aria-invalid", "true");
        input?.focus();
    };
    const form = h("form", { class: "ask-form", novalidate: true, onsubmit: (event) => {
        event.preventDefault();
        const term = Object.fromEntries(["source", "target", "language"].map((name) => [name, form.elements[name].value.trim()]));
        const missing = ["source", "target", "language"].find((name) => term[name] === "");
        if (missing) return fail(missing, missing === "language" ? t("glossary.noLanguage") : t("glossary.invalid", { most: MAX_TERM_LENGTH }));
        if (hasTerm(terms, term, changed)) return fail("source", t("glossary.twice"));
        return busy(submit, async () => {
            await save(term);
            dialog.close();
        }, (problem) => {
            const name = fieldOfTerm(problem.field);
            fail(name, name && name !== "language" ? t("glossary.invalid", { most: MAX_TERM_LENGTH }) : errorMessage(problem));
        });
    } }, word("source", { hint: t("glossary.sourceHint") }), word("target"),
    h("div", { class: "field" }, h("label", { for: "field-language" }, t("languages.into")), languages), error,
    h("div", { class: "choices" }, submit, button({ label: t("common.cancel"), class: "quiet", onclick: () => dialog.close() })));
    const dialog = open({ id: "term", "aria-labelledby": "term-title" }, h("h2", { id: "term-title" }, changed ? t("glossary.changeTitle") : t("glossary.newTitle")), form);
}
