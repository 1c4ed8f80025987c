// A filter of a search over messages: those that mean what was written are found too, in any language.

import { server } from "../../connection/features.js";
import { realtime } from "../../connection/realtime.js";
import { h } from "../../elements/dom.js";
import { t } from "../../language/texts.js";

/** It is there where the server finds by meaning. `onchange` is called when it was pressed. */
export function meaningFilter(onchange) {
    let isPressed = false;
    const button = h("button", { type: "button", class: "filter", data: { action: "by-meaning" }, onclick: () => {
        isPressed = !isPressed;
        draw();
        onchange();
    } }, t("search.byMeaning"));
    const node = h("div", { class: "filters" }, button);
    const isOn = () => isPressed && server.findsMeaning;
    const draw = () => {
        node.hidden = !server.findsMeaning;
        button.setAttribute("aria-pressed", String(isPressed));
    };
    draw();
    return {
        node,
        /** The parameters of a search for words. */
        get params() { return isOn() ? { mode: "both" } : {}; },
        /** What is to be said of a page that was found; undefined if nothing is. The words alone are compared without the server, too. */
        remark({ withoutMeaning }) { return isOn() && (withoutMeaning !== undefined || !realtime.isOnline) ? t("search.wordsAlone") : undefined; },
        close: server.on("change", draw),
    };
}
