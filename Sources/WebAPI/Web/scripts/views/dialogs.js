// Modal dialogs.

import { button, h } from "../dom.js";

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
                button({ label: "Cancel", class: "quiet", onclick: () => dialog.close() })));
        dialog.addEventListener("close", () => resolve(undefined));
    });
}
