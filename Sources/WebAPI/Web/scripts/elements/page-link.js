// Links within the app.

import { h } from "./dom.js";

/**
 * A link to a page, which goes there again where one is already, such as to a message from which one has scrolled away. `leave()` is
 * called before it is followed: to close the dialog that it is in.
 */
export function pageLink(href, { leave = () => {}, onclick, ...attributes }, ...children) {
    return h("a", { href, ...attributes, onclick: (event) => {
        onclick?.(event);
        if (event.defaultPrevented) return;
        leave();
        // The browser would do nothing.
        if (location.hash !== href || event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        dispatchEvent(new HashChangeEvent("hashchange"));
    } }, ...children);
}
