// The help for the keyboard: what each key does, opened by a question mark.

import { closeButton, open } from "../elements/dialogs.js";
import { h } from "../elements/dom.js";
import { t } from "../language/texts.js";

/** Keys by where they work: their names, and the key of what they do in the catalogue. */
const groups = () => [
    ["everywhere", [[t("keys.switcher"), "switcher"], ["?", "help"], [t("keys.escape"), "close"]]],
    ["list", [["↑ ↓", "rows"], [t("keys.ends"), "rowEnds"], [t("keys.menu"), "rowMenu"]]],
    ["thread", [[t("keys.find"), "find"], ["↑ ↓", "messages"], [t("keys.ends"), "ends"], [t("keys.enter"), "menu"], ["R", "reply"], ["E", "edit"], ["T", "translate"], ["X", "explain"], [t("keys.space"), "choose"]]],
    ["writing", [[t("keys.enter"), "send"], [t("keys.newLine"), "newLine"], ["↑", "up"], ["@", "mention"], [":", "emoji"], [t("keys.escape"), "stop"]]],
    ["call", [["M", "mute"], ["V", "camera"], ["H", "hold"], ["C", "captions"], ["D", "details"], [t("keys.enter"), "accept"],
        [t("keys.escape"), "decline"]]],
];

export const shortcutList = () => h("div", { class: "shortcuts" }, groups().map(([group, keys]) => [
    h("h3", {}, t(`shortcutGroups.${group}`)),
    h("dl", { class: "keys" }, keys.map(([key, name]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, t(`shortcuts.${name}`))))),
]));

export function openShortcuts() {
    const dialog = open({ id: "shortcuts", "aria-labelledby": "shortcuts-title" },
        h("h2", { id: "shortcuts-title" }, t("shortcuts.title")), shortcutList(),
        closeButton(() => dialog.close()));
}
