// Creating DOM elements with function calls. Text is always text, never markup.

import { directional, shapes } from "./icons.js";

const SVG = "http://www.w3.org/2000/svg";
const properties = new Set(["value", "checked", "disabled", "hidden", "muted", "srcObject", "autoplay", "playsInline"]);

/** `h("button", {class: "primary", onclick: act}, icon("phone"), "Call")` */
export function h(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value === undefined || value === null || value === false) continue;
        if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
        else if (name === "data") Object.assign(node.dataset, value);
        else if (properties.has(name)) node[name] = value;
        else node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
    return node;
}

/** A line icon in the colour of the text around it. The text beside it carries the meaning. */
export function icon(name) {
    // Copying one is much faster than making it, of which there are hundreds in a page.
    if (!icons.has(name)) icons.set(name, makeIcon(name));
    return icons.get(name).cloneNode(true);
}

const icons = new Map();

function makeIcon(name) {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("class", directional.has(name) ? "icon directional" : "icon");
    svg.setAttribute("aria-hidden", "true");
    svg.setAttribute("focusable", "false");
    for (const shape of shapes[name]) {
        const path = document.createElementNS(SVG, "path");
        path.setAttribute("d", shape);
        svg.append(path);
    }
    return svg;
}

/** A button with an icon and a label; a `bare` button has the label for screen readers only. */
export function button({ name, label, bare = false, class: style = "", ...rest }, text = label) {
    return h("button", { type: "button", class: style, ...(bare && { "aria-label": label, title: label }), ...rest },
        name && icon(name), !bare && h("span", {}, text));
}

/** A labelled field. `hint` is read out with it, and so is the error that `showFieldError` puts there. */
export function field({ label, name, hint, type = "text", ...rest }) {
    const id = `field-${name}`;
    const input = h("input", { id, name, type, ...(hint && { "aria-describedby": `${id}-hint` }), ...rest });
    return h("div", { class: "field" }, h("label", { for: id }, label), input,
        hint && h("p", { id: `${id}-hint`, class: "hint" }, hint));
}

/** A switch that is a checkbox underneath. */
export function toggle({ id, label, hint, checked, onchange }) {
    const input = h("input", { type: "checkbox", role: "switch", id, checked, class: "switch",
        ...(hint && { "aria-describedby": `${id}-hint` }), onchange: () => onchange(input.checked, input) });
    return h("div", { class: "toggle" }, h("div", {}, h("label", { for: id }, label),
        hint && h("p", { id: `${id}-hint`, class: "hint" }, hint)), input);
}

/** What was said so long ago was read aloud, in milliseconds. */
const READ_ALOUD = 5_000;
/** Counts what clears the announcer: what was to be said before is not said any more. */
let silences = 0;

/** Says something to screen readers without showing it, after what they are told already. An empty text takes all of it back. */
export function announce(text) {
    if (text === "") {
        silences += 1;
        for (const region of document.querySelectorAll(".announcer")) region.replaceChildren();
        return;
    }
    // Nobody listens to a page that is hidden, and it has no frames.
    if (document.hidden) return;
    const [silence, asked] = [silences, performance.now()];
    const region = announcer();
    // A live region that is new is read from the next frame on.
    requestAnimationFrame((now) => {
        if (silence !== silences || now - asked > READ_ALOUD) return;
        for (const line of [...region.children]) if (now - line.dataset.at > READ_ALOUD) line.remove();
        region.append(h("p", { data: { at: String(now) } }, text));
    });
}

/** A live region. While a dialog is open, only what is inside of it is read aloud. */
export const liveRegion = () => h("div", { class: "announcer unseen", "aria-live": "polite", "aria-atomic": "false" });

function announcer() {
    const dialog = [...document.querySelectorAll("dialog:modal")].at(-1);
    if (!dialog) return document.getElementById("announcer");
    const known = dialog.querySelector(":scope > .announcer");
    if (!known) dialog.append(liveRegion());
    return known ?? dialog.lastElementChild;
}

/** Shows a short message for a while, with an action, `{label, run}`, for which there is more time. */
export function toast(text, { error = false, action } = {}) {
    const message = h("p", { class: error ? "toast error" : "toast" }, text, action && h("button", { type: "button", class: "toast-action",
        data: { action: "undo" }, onclick: () => { message.remove(); action.run(); } }, action.label));
    const toasts = document.getElementById("toasts");
    // A popover is in the top layer, above any open dialog.
    if (toasts.showPopover) {
        toasts.popover = "manual";
        if (toasts.matches(":popover-open")) toasts.hidePopover();
        toasts.showPopover();
    }
    toasts.append(message);
    // The dialog hides it from screen readers.
    if (document.querySelector("dialog:modal")) announce(text);
    setTimeout(() => message.remove(), Math.max(action ? 8_000 : 4_000, text.length * 90));
}

/** Runs `work` once while its button shows that it is busy; an error goes to `report`. */
export async function busy(control, work, report) {
    if (control.getAttribute("aria-busy") === "true") return;
    control.setAttribute("aria-busy", "true");
    try { await work(); } catch (error) { report(error); } finally { control.removeAttribute("aria-busy"); }
}
