// Modal dialogs.
//
// An entry of the browser's history stands for those that are open, so that Back closes the one on top, and only then leaves
// the page. It stays when they are closed in another way, for the next one, and Back skips it: going back by itself would
// undo where one has gone meanwhile.

import { t } from "../language/texts.js";
import { button, field, h, liveRegion } from "./dom.js";
import { addEntry, leftEntry } from "./history-entry.js";

/** The address of the page under the dialogs. */
let hash = location.hash;
let isSkipping = false;

const openDialogs = () => [...document.querySelectorAll("dialog.dialog[open]")];

addEventListener("popstate", ({ state }) => {
    const dialogs = openDialogs();
    const isOwnStep = isSkipping;
    isSkipping = false;
    if (isOwnStep && !state?.dialog) return;
    if (state?.dialog ? dialogs.length > 0 : location.hash !== hash) return;
    // It stands for nothing, or has just been left and stood for nothing.
    if (dialogs.length === 0 && (state?.dialog || leftEntry()?.dialog)) skip();
    dialogs.at(-1)?.close();
    if (dialogs.length > 1) enter();
});

/** Goes one further back, once the browser has come to this entry: until then it ignores a page that goes elsewhere. */
function skip() {
    isSkipping = true;
    setTimeout(() => history.back());
}

function enter() {
    hash = location.hash;
    if (!history.state?.dialog) addEntry({ dialog: true });
}

/** Opens a modal dialog; the browser traps the focus and restores it. */
export function open(attributes, ...children) {
    const dialog = h("dialog", { class: "dialog", ...attributes }, children, liveRegion());
    dialog.addEventListener("close", () => dialog.remove());
    closeBeside(dialog);
    document.body.append(dialog);
    dialog.showModal();
    enter();
    return dialog;
}

/**
 * A press beside it closes it, unless something was written in a form of it. One on its own edge does not, nor one that began
 * inside, such as a selection that is dragged out of it.
 */
function closeBeside(dialog) {
    let isWritten = false;
    let isBeside = false;
    const lies = ({ target, clientX, clientY }) => {
        const { left, right, top, bottom } = dialog.getBoundingClientRect();
        return target === dialog && (clientX < left || clientX > right || clientY < top || clientY > bottom);
    };
    dialog.addEventListener("input", ({ target }) => { isWritten ||= target.closest("form.ask-form") !== null; });
    dialog.addEventListener("pointerdown", (event) => { isBeside = lies(event); });
    dialog.addEventListener("click", (event) => { if (isBeside && lies(event) && !isWritten) dialog.close(); });
}

/** The button at the end of a dialog that asks for nothing. */
export const closeButton = (close) => button({ label: t("common.close"), class: "wide soft", data: { action: "close" }, onclick: () => close() });

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
