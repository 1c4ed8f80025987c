// What a search for messages is narrowed to: those with a link, voice messages, mentions of the user, starred ones.

import { h } from "../dom.js";
import { t } from "../language/texts.js";

/** Filters by name, with the parameters of the search. */
const FILTERS = { link: { link: true }, voice: { kind: "voice" }, mentions: { mentions: true }, starred: { starred: true } };

/** `onchange` is called when one was pressed. */
export function messageFilters(onchange) {
    const chosen = new Set();
    const press = (name) => {
        if (!chosen.delete(name)) chosen.add(name);
        draw();
        onchange();
    };
    const buttons = Object.keys(FILTERS).map((name) => h("button", { type: "button", class: "filter", data: { only: name }, onclick: () => press(name) }, t(`only.${name}`)));
    const draw = () => { for (const one of buttons) one.setAttribute("aria-pressed", String(chosen.has(one.dataset.only))); };
    draw();
    return {
        node: h("div", { class: "filters narrowed", role: "group", "aria-label": t("only.which") }, buttons),
        /** The parameters of those that are chosen. */
        get params() { return Object.assign({}, ...[...chosen].map((name) => FILTERS[name])); },
        get isEmpty() { return chosen.size === 0; },
        reset() {
            chosen.clear();
            draw();
        },
    };
}
