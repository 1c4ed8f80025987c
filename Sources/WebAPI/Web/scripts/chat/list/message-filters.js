// Filters of a search over messages: those with a link, voice messages, mentions of the user, starred ones; by whom, and when.

import { credentials } from "../../connection/credentials.js";
import { h } from "../../elements/dom.js";
import { t } from "../../language/texts.js";
import { timesOf } from "../../state/search-matches.js";

/** Filters by name, with the parameters of the search. */
const FILTERS = { link: { link: true }, voice: { kind: "voice" }, mentions: { mentions: true }, starred: { starred: true } };
let count = 0;

/** `onchange` is called when one was changed. `authors` resolves to the people who can be chosen beside the user, `{id, displayName}`. */
export function messageFilters(onchange, authors) {
    const id = `filters-${++count}`;
    const chosen = new Set();
    const press = (name) => {
        if (!chosen.delete(name)) chosen.add(name);
        change();
    };
    const change = () => {
        draw();
        onchange();
    };
    const buttons = Object.keys(FILTERS).map((name) => h("button", { type: "button", class: "filter", data: { only: name }, onclick: () => press(name) }, t(`only.${name}`)));
    const author = h("select", { id: `${id}-author`, data: { only: "author" }, onchange: () => change() });
    const [from, to] = ["from", "to"].map((name) => h("input", { type: "date", id: `${id}-${name}`, data: { only: name }, onchange: () => change() }));
    const line = (control, text) => h("div", { class: "field" }, h("label", { for: control.id }, text), control);
    const more = h("div", { class: "more-filters", id, hidden: true }, line(author, t("only.author")), line(from, t("only.from")), line(to, t("only.to")));
    const toggle = h("button", { type: "button", class: "filter", "aria-expanded": "false", "aria-controls": id, data: { action: "more-filters" }, onclick: () => {
        more.hidden = !more.hidden;
        toggle.setAttribute("aria-expanded", String(!more.hidden));
        if (!more.hidden) fill();
    } }, t("only.more"));
    let isFilled = false;
    const fill = async () => {
        if (isFilled) return;
        isFilled = true;
        const people = await authors().catch(() => []);
        const me = credentials.user.id;
        const others = people.filter((one) => one.id !== me).sort((one, other) => one.displayName.localeCompare(other.displayName));
        author.append(...others.map((one) => h("option", { value: one.id }, one.displayName || t("common.deletedAccount"))));
    };
    const draw = () => {
        for (const one of buttons) one.setAttribute("aria-pressed", String(chosen.has(one.dataset.only)));
        toggle.dataset.on = String(Boolean(author.value || from.value || to.value));
        [from.max, to.min] = [to.value, from.value];
    };
    author.append(h("option", { value: "" }, t("only.anybody")), h("option", { value: credentials.user.id }, t("common.you")));
    draw();
    return {
        node: h("div", { class: "filters narrowed", role: "group", "aria-label": t("only.which") }, buttons, toggle, more),
        /** The parameters of those that are chosen. */
        get params() {
            return Object.assign({}, ...[...chosen].map((name) => FILTERS[name]), author.value && { author: author.value }, timesOf(from.value, to.value));
        },
        get isEmpty() { return chosen.size === 0 && toggle.dataset.on !== "true"; },
        /** Whether they say what is searched for without any words. Days alone do not. */
        get areEnough() { return chosen.size > 0 || author.value !== ""; },
        reset() {
            chosen.clear();
            author.value = from.value = to.value = "";
            draw();
        },
    };
}
