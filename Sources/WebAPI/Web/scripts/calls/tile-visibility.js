// The visibility of a call's tiles: how large each is, and whether it is in the viewport at all.

/** Heights in CSS pixels below which a low or medium quality is sufficient. */
const LOW_HEIGHT = 200;
const MEDIUM_HEIGHT = 400;

/** Calls `changed()` when a tile's size or visibility changes. */
export class TileVisibility {
    #tiles = new Map();
    #resizeObserver;
    #intersectionObserver;
    #changed;

    constructor(changed) {
        this.#changed = changed;
        this.#resizeObserver = new ResizeObserver((entries) =>
            this.#update(entries, (entry) => ({ height: entry.contentRect.height })));
        this.#intersectionObserver = new IntersectionObserver((entries) =>
            this.#update(entries, (entry) => ({ isInView: entry.isIntersecting })));
        document.addEventListener("visibilitychange", changed);
    }

    observe(node) {
        this.#tiles.set(node, {});
        this.#resizeObserver.observe(node);
        this.#intersectionObserver.observe(node);
    }

    unobserve(node) {
        this.#tiles.delete(node);
        this.#resizeObserver.unobserve(node);
        this.#intersectionObserver.unobserve(node);
    }

    close() {
        this.#resizeObserver.disconnect();
        this.#intersectionObserver.disconnect();
        document.removeEventListener("visibilitychange", this.#changed);
    }

    /** The sufficient quality for a tile: `off`, `low`, `medium` or `high`; `high` until it was measured. */
    preferredQuality(node) {
        const { height = Infinity, isInView = true } = this.#tiles.get(node) ?? {};
        if (document.visibilityState === "hidden" || !isInView) return "off";
        return height < LOW_HEIGHT ? "low" : height < MEDIUM_HEIGHT ? "medium" : "high";
    }

    #update(entries, read) {
        for (const entry of entries) {
            const tile = this.#tiles.get(entry.target);
            if (tile) Object.assign(tile, read(entry));
        }
        this.#changed();
    }
}
