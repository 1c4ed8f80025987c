// Where a list of messages stands on the screen, whatever is added, grows and goes. The browser's own anchoring is off.
//
// Messages lie in their order, so that the one at an edge of the screen is found in a few steps: a look at each of them
// would take longer than drawing them.

export class Anchor {
    #scroller;
    #list;
    #kept;

    constructor(scroller, list) {
        this.#scroller = scroller;
        this.#list = list;
    }

    get top() { return this.#scroller.getBoundingClientRect().top; }

    /** The topmost message on the screen is the one that stays; of one that begins above it, its end: what comes to it is put there. */
    remember() {
        const { top, bottom } = this.#scroller.getBoundingClientRect();
        const node = this.#firstWith((box) => box.bottom > top + 1);
        const box = node?.getBoundingClientRect();
        const side = box?.top < top - 1 && box.bottom <= bottom ? "bottom" : "top";
        this.#kept = node && { id: node.id, side, offset: box[side] - top };
    }

    /** What was at the top of the screen goes back there. */
    restore() {
        const node = this.#kept && document.getElementById(this.#kept.id);
        if (!node || !this.#list.contains(node)) return;
        const moved = node.getBoundingClientRect()[this.#kept.side] - this.top - this.#kept.offset;
        if (Math.abs(moved) >= 1) this.#scroller.scrollTop += moved;
    }

    /** The number of the last stored message of which at least so many pixels are on the screen. */
    lastSeen(pixels) {
        const { bottom } = this.#scroller.getBoundingClientRect();
        let node = this.#firstWith((box) => box.top + Math.min(box.height, pixels) > bottom);
        node = node ? node.previousElementSibling : this.#list.lastElementChild;
        while (node && !node.dataset.number) node = node.previousElementSibling;
        return node ? Number(node.dataset.number) : undefined;
    }

    /** The first message whose box is such, if all after it are too. */
    #firstWith(isSuch) {
        const nodes = this.#list.children;
        let [low, high] = [0, nodes.length];
        while (low < high) {
            const middle = (low + high) >> 1;
            if (isSuch(nodes[middle].getBoundingClientRect())) high = middle; else low = middle + 1;
        }
        return nodes[low];
    }
}
