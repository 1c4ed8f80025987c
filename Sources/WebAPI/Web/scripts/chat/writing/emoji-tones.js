// Choosing the tone of skins, which is kept on this device.

import { h } from "../../elements/dom.js";
import { t } from "../../language/texts.js";
import { toned } from "../../state/emoji-search.js";
import { emoji } from "./emoji.js";

const HAND = { text: "✋", light: "✋🏻" };
const TONES = [0, 1, 2, 3, 4, 5];

/** `{button, row}`: the button shows the tone, and opens the row of all of them. `change()` is called when it is another one. */
export function toneChoice(change) {
    const row = h("div", { class: "emoji-tones", role: "group", "aria-label": t("emoji.tone"), hidden: true });
    const current = h("span", { "aria-hidden": "true" });
    const opener = h("button", { type: "button", class: "round quiet tone", "aria-label": t("emoji.tone"), title: t("emoji.tone"), "aria-expanded": "false",
        data: { action: "tones" }, onclick: () => toggle() }, current);
    const draw = () => {
        current.textContent = toned(HAND, emoji.tone);
        row.replaceChildren(...TONES.map((tone) => h("button", { type: "button", class: "round", "aria-label": t(`skinTones.tone${tone}`), title: t(`skinTones.tone${tone}`),
            "aria-pressed": String(tone === emoji.tone), data: { tone: String(tone) }, onclick: () => choose(tone) }, toned(HAND, tone))));
    };
    const toggle = () => {
        row.hidden = !row.hidden;
        opener.setAttribute("aria-expanded", String(!row.hidden));
        if (!row.hidden) row.querySelector("[aria-pressed=true]").focus();
    };
    const choose = (tone) => {
        emoji.setTone(tone);
        toggle();
        draw();
        opener.focus();
        change();
    };
    draw();
    return { button: opener, row };
}
