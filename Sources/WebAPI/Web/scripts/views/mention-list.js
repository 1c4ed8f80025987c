// Completing an @ with the members of a conversation, while the focus stays in the field.

import { h } from "../dom.js";
import { t } from "../language/texts.js";
import { matchingPeople, mentionAt, withMention } from "../state/mentions.js";
import { avatar } from "./avatar.js";
import { visible } from "./message-text.js";

const SHOWN = 6;

/** `people()` are those who can be mentioned, and `insert({text, caret, mention})` puts in who was chosen. */
export function mentionList(field, { people, insert }) {
    // There may be another field with a list of its own.
    const id = `${field.id}-mentions`;
    const node = h("ul", { id, class: "mention-list", role: "listbox", "aria-label": t("members.list"), hidden: true });
    let shown = [];
    let chosen = 0;
    let begun;

    const close = () => {
        node.hidden = true;
        begun = undefined;
        for (const name of ["aria-activedescendant", "aria-controls"]) field.removeAttribute(name);
    };
    const draw = () => {
        node.replaceChildren(...shown.map((person, index) => h("li", { id: `${id}-${index}`, role: "option", class: "option", "aria-selected": String(index === chosen),
            data: { user: person.id }, onpointerdown: (event) => { event.preventDefault(); take(index); } },
        avatar(person, { size: "small" }), h("bdi", {}, visible(person.displayName)))));
        field.setAttribute("aria-controls", id);
        field.setAttribute("aria-activedescendant", `${id}-${chosen}`);
        node.children[chosen]?.scrollIntoView({ block: "nearest" });
    };
    const take = (index) => {
        const result = withMention(field.value, begun, shown[index]);
        close();
        insert(result);
    };
    return {
        node,
        close,
        /** The text or the caret has changed. */
        update() {
            begun = field.selectionStart === field.selectionEnd ? mentionAt(field.value, field.selectionStart) : undefined;
            shown = begun ? matchingPeople(people(), begun.query).slice(0, SHOWN) : [];
            if (shown.length === 0) return close();
            chosen = 0;
            node.hidden = false;
            draw();
        },
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
