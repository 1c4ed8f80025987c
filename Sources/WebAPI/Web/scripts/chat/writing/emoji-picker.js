// Choosing an emoji: a field to search, and a grid of all of them by groups. On a phone it comes up from below; where there
// is room it opens beside what it was opened from.

import { open } from "../../elements/dialogs.js";
import { button, h } from "../../elements/dom.js";
import { t } from "../../language/texts.js";
import { foundEmoji, isOneEmoji, itemsFor } from "../../state/emoji-search.js";
import { EmojiGrid } from "./emoji-grid.js";
import { toneChoice } from "./emoji-tones.js";
import { emoji } from "./emoji.js";

/** In a window that is narrower or lower, a sheet from below has more room. */
const NARROW = 600;
const LOW = 480;
const GAP = 8;

/**
 * `anchor` is what it opens beside. `pick(text)` is called with what was chosen; with Shift it stays open for another one.
 */
export function openEmojiPicker({ anchor, pick }) {
    if (document.getElementById("emoji-picker")) return;
    const said = h("p", { class: "hint", role: "status" });
    const retry = button({ label: t("emoji.retry"), class: "soft", hidden: true, data: { action: "retry-emoji" }, onclick: () => load() });
    const input = h("input", { id: "emoji-search", type: "search", placeholder: t("emoji.search"), "aria-label": t("emoji.search"), autocomplete: "off", spellcheck: "false",
        enterkeyhint: "search", "aria-controls": "emoji-grid", oninput: () => show() });
    const take = (text, event) => {
        emoji.noteUse(text);
        if (!event?.shiftKey) dialog.close();
        pick(text);
    };
    const grid = new EmojiGrid({ take, leave: () => input.focus() });
    const tones = toneChoice(() => grid.setTone(emoji.tone));
    const dialog = open({ id: "emoji-picker", "aria-label": t("emoji.title"), class: "dialog emoji-picker" },
        h("div", { class: "emoji-head" }, input, tones.button,
            button({ name: "close", label: t("common.close"), bare: true, class: "round quiet", data: { action: "close" }, onclick: () => dialog.close() })),
        tones.row, said, retry, grid.node, grid.groups);

    /** What the field says: everything, or what it finds. One that nobody knows yet can be chosen too. */
    const show = () => {
        if (!emoji.all) return;
        const query = input.value.trim();
        const unknown = isOneEmoji(query) ? itemsFor(emoji.all, [query]) : [];
        const found = foundEmoji(emoji.all, query);
        const items = found.length > 0 ? found : unknown;
        if (query === "") grid.showAll(emoji.all, itemsFor(emoji.all, emoji.recent), emoji.tone);
        else grid.showFound(emoji.all, items, emoji.tone);
        said.textContent = query === "" ? "" : items.length > 0 ? t("emoji.found", { count: items.length }) : t("emoji.nothing", { query });
    };
    const load = async () => {
        retry.hidden = true;
        said.textContent = emoji.all ? "" : t("emoji.loading");
        try {
            await emoji.load();
            if (dialog.open) show();
        } catch (error) {
            console.info("without emoji:", error.message);
            said.textContent = t("emoji.cannotLoad");
            retry.hidden = false;
        }
    };
    input.addEventListener("keydown", (event) => {
        if (event.isComposing) return;
        if (event.key === "ArrowDown") grid.focus();
        else if (event.key === "Enter" && input.value.trim() !== "") grid.takeFirst(event);
        else return;
        event.preventDefault();
    });
    const arrange = () => putBeside(dialog, anchor);
    addEventListener("resize", arrange);
    dialog.addEventListener("close", () => {
        removeEventListener("resize", arrange);
        grid.close();
    });
    arrange();
    load();
    // Where a keyboard would come up over it, that is asked for by a touch.
    if (matchMedia("(pointer: coarse)").matches) dialog.focus(); else input.focus();
}

/** Above the anchor or below it, where there is more room; on a phone at the bottom, as the styles say. */
function putBeside(dialog, anchor) {
    const { style } = dialog;
    const isSheet = innerWidth < NARROW || innerHeight < LOW || !anchor?.isConnected;
    dialog.dataset.sheet = String(isSheet);
    for (const side of ["left", "top", "maxHeight"]) style[side] = "";
    if (isSheet) return;
    const { left, right, top, bottom } = anchor.getBoundingClientRect();
    const isAbove = top > innerHeight - bottom;
    const room = (isAbove ? top : innerHeight - bottom) - 2 * GAP;
    style.maxHeight = `${Math.max(room, innerHeight / 2)}px`;
    const { width, height } = dialog.getBoundingClientRect();
    // From where it begins, unless there is no room.
    const [begins, ends] = document.documentElement.dir === "rtl" ? [right - width, left] : [left, right - width];
    const fits = begins >= GAP && begins + width <= innerWidth - GAP;
    style.left = `${Math.min(Math.max(fits ? begins : ends, GAP), innerWidth - width - GAP)}px`;
    style.top = `${Math.min(Math.max(isAbove ? top - height - GAP : bottom + GAP, GAP), innerHeight - height - GAP)}px`;
}
