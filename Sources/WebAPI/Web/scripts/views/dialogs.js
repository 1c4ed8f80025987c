// Modal dialogs.

import { button, field, h } from "../dom.js";
import { t } from "../language/texts.js";

/** Opens a modal dialog; the browser traps the focus and restores it. */
export function open(attributes, ...children) {
    const dialog = h("dialog", { class: "dialog", ...attributes }, children);
    dialog.addEventListener("close", () => dialog.remove());
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    document.body.append(dialog);
    dialog.showModal();
    return dialog;
}

/** Asks for a choice; resolves to undefined when the dialog is dismissed. */
export function ask({ title, text, choices, danger = false }) {
    return new Promise((resolve) => {
        const dialog = open({ "aria-labelledby": "ask-title", id: "ask" },
            h("h2", { id: "ask-title" }, title), text && h("p", {}, text),
            h("div", { class: "choices" },
                choices.map(({ value, label }) => button({ label, class: danger ? "danger" : "primary",
                    data: { choice: value }, onclick: () => { resolve(value); dialog.close(); } })),
                button({ label: t("common.cancel"), class: "quiet", onclick: () => dialog.close() })));
        dialog.addEventListener("close", () => resolve(undefined));
    });
}

/** Asks for a text, which may be empty; resolves to undefined when the dialog is dismissed. */
export function askText({ title, label, action, value = "", hint, maxlength }) {
    return new Promise((resolve) => {
        const answer = (event) => {
            event.preventDefault();
            resolve(form.elements.answer.value.trim());
            dialog.close();
        };
        const form = h("form", { class: "ask-form", onsubmit: answer },
            field({ label, name: "answer", hint, value, maxlength, autocomplete: "off" }),
            h("div", { class: "choices" }, h("button", { type: "submit", class: "primary", data: { choice: "save" } }, action),
                button({ label: t("common.cancel"), class: "quiet", onclick: () => dialog.close() })));
        const dialog = open({ "aria-labelledby": "ask-title", id: "ask" }, h("h2", { id: "ask-title" }, title), form);
        dialog.addEventListener("close", () => resolve(undefined));
    });
}
