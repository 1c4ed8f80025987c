// Completing what is begun at the caret of a field, such as a name after an @, while the focus stays in the field.

import { h } from "./dom.js";

const SHOWN = 6;

/**
 * `sources` say what can be completed, `{label, begin, find, row, complete, whole?}`: `begin(text, caret, isComposing)` is what
 * is begun, if it is of theirs; `find(begun, again)` are the items for it, and calls `again` when there may be others;
 * `row(item)` are the nodes of one, and `complete(text, begun, item)` is what `insert` is called with. `whole(text, caret, again)`
 * is the same for what needs no choice, and asked when a colon was typed.
 */
export function completionList(field, { sources, insert }) {
    // There may be another field with a list of its own.
    const id = `${field.id}-completions`;
    const node = h("ul", { id, class: "completions", role: "listbox", hidden: true });
    let source;
    let begun;
    let shown = [];
    let chosen = 0;

    const close = () => {
        node.hidden = true;
        begun = undefined;
        for (const name of ["aria-activedescendant", "aria-controls"]) field.removeAttribute(name);
    };
    const draw = () => {
        node.setAttribute("aria-label", source.label);
        node.replaceChildren(...shown.map((item, index) => h("li", { id: `${id}-${index}`, role: "option", class: "option", "aria-selected": String(index === chosen),
            onpointerdown: (event) => { event.preventDefault(); take(index); } }, source.row(item))));
        field.setAttribute("aria-controls", id);
        field.setAttribute("aria-activedescendant", `${id}-${chosen}`);
        node.children[chosen]?.scrollIntoView({ block: "nearest" });
    };
    const take = (index) => {
        const result = source.complete(field.value, begun, shown[index]);
        close();
        insert(result);
    };
    /** The text or the caret has changed, by what was typed last. */
    const update = ({ data, isComposing = false } = {}) => {
        const { value: text, selectionStart: caret, selectionEnd } = field;
        const again = () => { if (document.activeElement === field) update({ data, isComposing }); };
        const whole = data === ":" && !isComposing && sources.map((one) => one.whole?.(text, caret, again)).find(Boolean);
        if (whole) {
            close();
            return insert(whole);
        }
        const found = caret === selectionEnd ? sources.map((one) => [one, one.begin(text, caret, isComposing)]).find(([, what]) => what) : undefined;
        shown = found ? found[0].find(found[1], again).slice(0, SHOWN) : [];
        if (shown.length === 0) return close();
        [source, begun] = found;
        chosen = 0;
        node.hidden = false;
        draw();
    };
    return {
        node,
        close,
        update,
        /** Whether the list has used the key. */
        handleKey(event) {
            if (node.hidden) return false;
            const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
            if (step) {
                chosen = (chosen + step + shown.length) % shown.length;
                draw();
            } else if (event.key === "Enter" || event.key === "Tab") take(chosen);
            else if (event.key === "Escape") close();
            else return false;
            event.preventDefault();
            event.stopPropagation();
            return true;
        },
    };
}
