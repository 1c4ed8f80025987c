// How much is seen of the tiles of a call: how large each is, and whether it is on the screen at all.

/** Heights in CSS pixels below which a tile needs no better picture. */
const SMALL = 200;
const MIDDLE = 400;

/** Calls `changed()` when something is seen otherwise than before. */
export class Sight {
    #seen = new Map();
    #sizes;
    #places;
    #changed;

    constructor(changed) {
        this.#changed = changed;
        this.#sizes = new ResizeObserver((entries) => this.#note(entries, (entry) => ({ height: entry.contentRect.height })));
        this.#places = new IntersectionObserver((entries) => this.#note(entries, (entry) => ({ isInView: entry.isIntersecting })));
        document.addEventListener("visibilitychange", changed);
    }

    watch(node) {
        this.#seen.set(node, {});
        this.#sizes.observe(node);
        this.#places.observe(node);
    }

    forget(node) {
        this.#seen.delete(node);
        this.#sizes.unobserve(node);
        this.#places.unobserve(node);
    }

    close() {
        this.#sizes.disconnect();
        this.#places.disconnect();
        document.removeEventListener("visibilitychange", this.#changed);
    }

    /** How good a picture is enough in a tile: `off`, `low`, `medium` or `high`. Of one that was not looked at yet the best is. */
    enough(node) {
        const { height = Infinity, isInView = true } = this.#seen.get(node) ?? {};
        if (document.visibilityState === "hidden" || !isInView) return "off";
        return height < SMALL ? "low" : height < MIDDLE ? "medium" : "high";
    }

    #note(entries, read) {
        for (const entry of entries) {
            const seen = this.#seen.get(entry.target);
            if (seen) Object.assign(seen, read(entry));
        }
        this.#changed();
    }
}
