// The buttons that give a call more or less of the page, and its conversation beside it.

import { button, h } from "../elements/dom.js";
import { t } from "../language/texts.js";
import { inbox } from "../sync/inbox.js";
import { callLayout } from "./call-layout.js";
import { movable } from "./call-move.js";

/** For the screen of a call, `section`. `arrange(layout)` shows them for a layout. */
export function callFrame(call, section) {
    const make = (action, name, label, onclick) => button({ name, label, bare: true, class: "round glass", data: { action }, onclick });
    const chat = make("call-chat", "chat", t("call.chat"), () => callLayout.showChat(conversationOf(call)));
    const shrink = make("shrink-call", "shrink", t("call.shrink"), () => callLayout.shrink());
    const expand = make("expand-call", "expand", t("call.expand"), () => callLayout.expand());
    const move = make("move-call", "move", t("call.move"), () => {});
    const node = h("div", { class: "call-frame" }, move, chat, shrink, expand);
    const moves = movable(section, move, () => callLayout.value === "corner" && matchMedia("(min-width: 860px)").matches);
    // On a phone the whole bar leads back.
    section.addEventListener("click", ({ target }) => {
        if (callLayout.value === "corner" && !target.closest("button") && !matchMedia("(min-width: 860px)").matches) callLayout.expand();
    });
    return {
        node,
        arrange(layout) {
            section.dataset.layout = layout;
            expand.hidden = layout === "full";
            shrink.hidden = layout === "corner";
            move.hidden = layout !== "corner";
            if (layout !== "corner") moves.reset();
            this.show();
        },
        /** The conversation may become known later. */
        show() { chat.hidden = callLayout.value === "beside" || !conversationOf(call); },
        close: () => moves.close(),
    };
}

/** The id of the conversation that a call belongs to, if it is known. */
function conversationOf(call) {
    return call.document?.conversationID ?? (call.isGroup ? undefined
        : Object.values(inbox.state.rows).find((row) => row.person?.id === call.other?.user && !row.gone)?.id);
}
