// Links that lead to messages.

import { h } from "../../elements/dom.js";

const addressOf = ({ conversation, number }) => `#/c/${conversation}/${number}`;

/** `leave()` is called before it is followed: to close the dialog that it is in. */
export function messageLink(message, { leave = () => {}, ...attributes }, ...children) {
    const href = addressOf(message);
    return h("a", { href, ...attributes, onclick: (event) => {
        leave();
        // The address is the page's already: nothing would happen.
        if (location.hash !== href || event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        dispatchEvent(new HashChangeEvent("hashchange"));
    } }, ...children);
}
