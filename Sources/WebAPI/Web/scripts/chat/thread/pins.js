// The bar of pinned messages under the head of a thread: it shows one, and each press leads to it and shows the next.

import { attempt } from "../../elements/attempt.js";
import { closeButton, open } from "../../elements/dialogs.js";
import { button, h, icon } from "../../elements/dom.js";
import { redraw } from "../../elements/keyed.js";
import { visible } from "../../elements/message-text.js";
import { t } from "../../language/texts.js";
import { messageOf, stateOf } from "../../state/thread-rows.js";
import { lineOf } from "../messages/message.js";

export function pinsBar(thread, show) {
    const label = h("span", { class: "pin-text" });
    const count = h("span", { class: "hint" });
    const go = h("button", { type: "button", class: "pin-go", data: { action: "show-pin" }, onclick: () => press() }, icon("pin"), label, count);
    const all = button({ name: "more", label: t("pins.all"), bare: true, class: "round quiet", data: { action: "pins" }, onclick: () => showPins(thread, show) });
    const node = h("div", { class: "pins", hidden: true, role: "group", "aria-label": t("pins.title") }, go, all);
    /** Messages that the thread does not hold, by number. */
    const found = new Map();
    let index = 0;
    let shownKey;

    const press = () => {
        const { pins } = thread.state.conversation;
        show(pins[index % pins.length]);
        index += 1;
        draw();
    };
    const draw = () => {
        const pins = thread.state.conversation?.pins ?? [];
        if (node.hidden !== (pins.length === 0)) node.hidden = pins.length === 0;
        if (pins.length === 0) return;
        const number = pins[index % pins.length];
        const message = messageOf(thread.state, number) ?? found.get(number);
        if (!message && !found.has(number)) {
            found.set(number, undefined);
            thread.find(number).then((one) => { found.set(number, one); draw(); }).catch(() => {});
        }
        const key = [message?.version, number, pins.length, thread.state.people].join();
        if (shownKey === key) return;
        shownKey = key;
        label.replaceChildren(h("bdi", {}, message ? lineOf(thread, message) : t("pins.pinned")));
        count.textContent = pins.length > 1 ? t("pins.position", { number: index % pins.length + 1, count: pins.length }) : "";
    };
    return { node, draw };
}

/** The list of pinned messages: going to one, and taking its pin away. */
function showPins(thread, show) {
    const mayUnpin = stateOf(thread.state, thread.me) === "member";
    const list = h("ul", { class: "rows flat", "aria-label": t("pins.title") });
    const dialog = open({ id: "pins", "aria-labelledby": "pins-title", class: "dialog picker" },
        h("h2", { id: "pins-title" }, t("pins.title")), list, closeButton(() => dialog.close()));
    const row = (number) => {
        const text = h("span", { class: "name" }, t("common.message"));
        thread.find(number).then((message) => text.replaceChildren(
            h("span", { class: "state" }, h("bdi", {}, visible(thread.nameOf(message.author)))), h("bdi", {}, lineOf(thread, message)))).catch(() => {});
        return h("li", { class: "row", data: { pinned: String(number) } },
            h("button", { type: "button", class: "who", onclick: () => { dialog.close(); show(number); } }, text),
            mayUnpin && button({ name: "close", label: t("menu.unpin"), bare: true, class: "round quiet", data: { action: "unpin" }, onclick: async () => {
                await attempt(thread.pin(number, false));
                if (thread.state.conversation.pins.length === 0) dialog.close();
                draw();
            } }));
    };
    const draw = () => redraw(list, thread.state.conversation.pins.map(row));
    draw();
}
