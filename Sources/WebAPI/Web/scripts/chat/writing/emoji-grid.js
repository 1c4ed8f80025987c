// The grid of emoji: groups under headings, of which only those near the screen are in the page. One emoji can be reached by
// Tab, and the arrow keys lead from there to the others.

import { h } from "../../elements/dom.js";
import { t } from "../../language/texts.js";
import { toned } from "../../state/emoji-search.js";

/** How far from the screen a group is put into the page, in pixels. */
const NEAR = "400px";
const HEADING = 32;

/** `take(text, event)` is called for an emoji that is chosen, and `leave()` where the keyboard leads out above. */
export class EmojiGrid {
    node = h("div", { id: "emoji-grid", class: "emoji-grid" });
    /** Buttons that lead to the groups. */
    groups = h("div", { class: "emoji-groups", role: "group", "aria-label": t("emoji.groups") });
    #take;
    #leave;
    /** `{node, rows, items, cells?}`: what a section shows, once it is in the page. */
    #sections = [];
    #tone = 0;
    #columns = 1;
    /** The cell that Tab leads to. */
    #current;
    #near = new IntersectionObserver((entries) => this.#fillShown(entries), { root: this.node, rootMargin: NEAR });
    #resized = new ResizeObserver(() => this.#arrange());

    constructor({ take, leave }) {
        [this.#take, this.#leave] = [take, leave];
        this.node.addEventListener("click", (event) => this.#handleClick(event));
        this.node.addEventListener("keydown", (event) => this.#handleKey(event));
        this.node.addEventListener("focusin", ({ target }) => { if (target.matches(".emoji")) this.#setCurrent(target); });
        this.#resized.observe(this.node);
    }

    close() {
        this.#near.disconnect();
        this.#resized.disconnect();
    }

    /** Shows all of them, with those that were used last before the others. */
    showAll({ language, groups }, recent, tone) {
        const all = [{ id: "recent", items: recent }, ...groups].filter(({ items }) => items.length > 0);
        this.#show(language, all, tone);
        this.groups.hidden = false;
        this.groups.replaceChildren(...all.map(({ id, items }) => h("button", { type: "button", class: "round quiet", "aria-label": t(`emojiGroups.${id}`),
            title: t(`emojiGroups.${id}`), data: { group: id }, onclick: () => this.#showGroup(id) }, items[0].text)));
    }

    showFound({ language }, items, tone) {
        this.#show(language, items.length > 0 ? [{ id: "found", items }] : [], tone);
        this.groups.hidden = true;
    }

    setTone(tone) {
        this.#tone = tone;
        for (const { items, cells = [] } of this.#sections) cells.forEach((cell, index) => { cell.textContent = toned(items[index], tone); });
    }

    /** Moves the focus to the first one, or to where it was. */
    focus() { (this.#current?.isConnected ? this.#current : this.#cellsOf(0)[0])?.focus(); }

    takeFirst(event) {
        const [first] = this.#sections;
        if (first) this.#take(toned(first.items[0], this.#tone), event);
    }

    #show(language, groups, tone) {
        this.#tone = tone;
        this.#near.disconnect();
        this.#columns = this.#fitting;
        this.#current = undefined;
        this.#sections = groups.map(({ id, items }) => {
            const rows = h("div", { class: "emoji-rows", role: "grid", "aria-labelledby": `emoji-${id}`, lang: language });
            return { items, rows, node: h("section", { data: { group: id } }, h("h2", { id: `emoji-${id}`, class: id === "found" ? "unseen" : "" }, t(`emojiGroups.${id}`)), rows) };
        });
        this.#sections.forEach((one) => this.#reserve(one));
        this.node.style.setProperty("--columns", this.#columns);
        this.node.replaceChildren(...this.#sections.map((one) => one.node));
        this.node.scrollTop = 0;
        this.#cellsOf(0);
        for (const { node } of this.#sections) this.#near.observe(node);
    }

    #showGroup(id) {
        const index = this.#sections.findIndex(({ node }) => node.dataset.group === id);
        const [cell] = this.#cellsOf(index);
        this.#sections[index].node.scrollIntoView({ block: "start" });
        this.#setCurrent(cell);
    }

    // Cells

    #fillShown(entries) {
        for (const { isIntersecting, target } of entries) if (isIntersecting) this.#cellsOf(this.#sections.findIndex(({ node }) => node === target));
    }

    /** The cells of a section, which are made when they are asked for first. */
    #cellsOf(index) {
        const section = this.#sections[index];
        if (!section) return [];
        if (!section.cells) {
            section.cells = section.items.map((item) => h("div", { class: "emoji", role: "gridcell", tabindex: "-1", "aria-label": item.name, title: item.name },
                toned(item, this.#tone)));
            this.#layRows(section);
            if (!this.#current) this.#setCurrent(section.cells[0]);
        }
        return section.cells;
    }

    #layRows({ rows, cells }) {
        const lines = [];
        for (let start = 0; start < cells.length; start += this.#columns) {
            lines.push(h("div", { class: "emoji-line", role: "row" }, cells.slice(start, start + this.#columns)));
        }
        rows.replaceChildren(...lines);
    }

    /** A section that is not in the page takes as much room as if it were. */
    #reserve({ node, items }) {
        const height = HEADING + Math.ceil(items.length / this.#columns) * this.#size;
        node.style.containIntrinsicBlockSize = `auto ${height}px`;
        node.style.minBlockSize = `${height}px`;
    }

    get #size() { return Number.parseFloat(getComputedStyle(this.node).getPropertyValue("--emoji-size")) || 44; }

    get #fitting() { return Math.max(1, Math.floor(this.node.clientWidth / this.#size)); }

    #arrange() {
        const columns = this.#fitting;
        if (columns === this.#columns || this.node.clientWidth === 0) return;
        this.#columns = columns;
        this.node.style.setProperty("--columns", columns);
        const focused = this.node.contains(document.activeElement) ? document.activeElement : undefined;
        for (const section of this.#sections) {
            this.#reserve(section);
            if (section.cells) this.#layRows(section);
        }
        focused?.focus({ preventScroll: true });
    }

    #setCurrent(cell) {
        if (this.#current) this.#current.tabIndex = -1;
        this.#current = cell;
        if (cell) cell.tabIndex = 0;
    }

    // What the user does

    #handleClick(event) {
        const cell = event.target.closest(".emoji");
        if (cell) this.#take(cell.textContent, event);
    }

    #handleKey(event) {
        const { key, target } = event;
        if (!target.matches(".emoji") || event.altKey) return;
        const isCommand = event.ctrlKey || event.metaKey;
        const section = this.#sections.findIndex(({ cells }) => cells?.includes(target));
        const index = this.#sections[section].cells.indexOf(target);
        const column = index % this.#columns;
        const forward = document.documentElement.dir === "rtl" ? "ArrowLeft" : "ArrowRight";
        const steps = {
            ArrowLeft: () => this.#focusAt(section, index + (forward === "ArrowLeft" ? 1 : -1)), ArrowRight: () => this.#focusAt(section, index + (forward === "ArrowRight" ? 1 : -1)),
            ArrowDown: () => this.#focusBelow(section, index, column), ArrowUp: () => this.#focusAbove(section, index, column),
            Home: () => isCommand ? this.#focusAt(0, 0) : this.#focusAt(section, index - column),
            End: () => isCommand ? this.#focusAt(this.#sections.length - 1, Infinity)
                : this.#focusAt(section, Math.min(index - column + this.#columns, this.#sections[section].cells.length) - 1),
            PageUp: () => this.#focusAt(index === 0 ? section - 1 : section, 0), PageDown: () => this.#focusAt(section + 1, 0),
        };
        if (key in steps) steps[key]();
        else if (key === "Enter" || key === " ") this.#take(target.textContent, event);
        // Letters go on with the search.
        else if (key.length === 1 && !isCommand) return this.#leave();
        else return;
        event.preventDefault();
    }

    /** The cell with an index, which may lie in the section before or after. */
    #focusAt(section, index) {
        const count = this.#sections[section]?.items.length;
        if (count === undefined) return;
        if (index < 0) return this.#focusAt(section - 1, Infinity);
        if (index >= count && index !== Infinity) return this.#focusAt(section + 1, 0);
        const cell = this.#cellsOf(section)[Math.min(index, count - 1)];
        cell.focus({ preventScroll: true });
        cell.scrollIntoView({ block: "nearest" });
    }

    #focusBelow(section, index, column) {
        const last = this.#sections[section].items.length - 1;
        const isLastRow = Math.floor(index / this.#columns) === Math.floor(last / this.#columns);
        if (!isLastRow) return this.#focusAt(section, Math.min(index + this.#columns, last));
        const count = this.#sections[section + 1]?.items.length;
        if (count !== undefined) this.#focusAt(section + 1, Math.min(column, count - 1));
    }

    #focusAbove(section, index, column) {
        if (index >= this.#columns) return this.#focusAt(section, index - this.#columns);
        if (section === 0) return this.#leave();
        const last = this.#sections[section - 1].items.length - 1;
        this.#focusAt(section - 1, Math.min(last - last % this.#columns + column, last));
    }
}
