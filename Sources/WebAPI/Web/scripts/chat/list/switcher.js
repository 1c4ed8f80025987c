// Going to a conversation by its name: Ctrl and K.

import { open } from "../../elements/dialogs.js";
import { h } from "../../elements/dom.js";
import { visible } from "../../elements/message-text.js";
import { t } from "../../language/texts.js";
import { matchingRows } from "./conversation-picker.js";
import { avatarOf, titleOf } from "./conversation-row.js";

const SHOWN = 8;

export function openSwitcher() {
    if (document.getElementById("switcher")) return;
    const list = h("ul", { id: "switcher-list", class: "rows flat", role: "listbox", "aria-label": t("chats.list") });
    const said = h("p", { class: "hint", role: "status" });
    const input = h("input", { id: "switcher-input", type: "text", role: "combobox", placeholder: t("switcher.title"), "aria-label": t("switcher.title"), autocomplete: "off",
        spellcheck: "false", "aria-controls": "switcher-list", "aria-expanded": "true", "aria-autocomplete": "list", oninput: () => show() });
    let rows = [];
    let chosen = 0;
    const go = (index) => {
        const row = rows[index];
        if (!row) return;
        dialog.close();
        location.hash = `#/c/${row.id}`;
    };
    const draw = () => {
        list.replaceChildren(...rows.map((row, index) => h("li", { id: `switch-${index}`, class: "row option", role: "option", "aria-selected": String(index === chosen),
            data: { conversation: row.id }, onclick: () => go(index) }, avatarOf(row), h("span", { class: "name" }, h("bdi", {}, visible(titleOf(row)))))));
        input.setAttribute("aria-activedescendant", rows.length > 0 ? `switch-${chosen}` : "");
        list.children[chosen]?.scrollIntoView({ block: "nearest" });
        said.textContent = rows.length > 0 ? "" : t("picker.noChat");
    };
    const show = () => {
        rows = matchingRows(input.value).slice(0, SHOWN);
        chosen = 0;
        draw();
    };
    input.addEventListener("keydown", (event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (step && rows.length > 0) {
            chosen = (chosen + step + rows.length) % rows.length;
            draw();
        } else if (event.key === "Enter" && !event.isComposing) go(chosen);
        else return;
        event.preventDefault();
    });
    const dialog = open({ id: "switcher", "aria-label": t("switcher.title"), class: "dialog picker switcher" }, input, said, list);
    show();
    input.focus();
}
