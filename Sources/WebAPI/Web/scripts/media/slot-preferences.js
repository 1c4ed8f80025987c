// The qualities that a leg requests for its video slots, by the size in which they are shown.
//
// A higher quality is requested at once. A lower one is requested only after it has been sufficient for a while: the
// video should not be interrupted while a window is dragged, a tile is scrolled by or a page is left for a moment.
// The server keeps the requested qualities as long as the leg lives, so only changes are sent, one request at a time.

const ranks = ["off", "low", "medium", "high"];
/** How long a lower quality must have been preferred before it is requested, in milliseconds. */
const DOWNGRADE_DELAY = { off: 5_000, low: 1_000, medium: 1_000 };
/** Changes within this time are sent in one request. */
const BATCH_DELAY = 50;
/** Between a failed request and the next. */
const RETRY_DELAY = 2_000;

/** The preferred qualities of one leg's slots. */
export class SlotPreferences {
    /** By mid: the quality requested last, the one preferred now, and since when. */
    #slots = new Map();
    #send;
    #timer;
    #isSending = false;
    #closed = false;

    /** `send(slots)` posts qualities by mid, and returns `{slots}` with all that the server has. */
    constructor(send) { this.#send = send; }

    /** Updates the preferred quality of each of the slots, by mid. */
    update(preferred) {
        const now = performance.now();
        for (const [mid, quality] of Object.entries(preferred)) {
            const slot = this.#slots.get(mid) ?? { requested: "high", since: now };
            this.#slots.set(mid, slot.preferred === quality ? slot : { ...slot, preferred: quality, since: now });
        }
        this.#schedule();
    }

    close() {
        this.#closed = true;
        clearTimeout(this.#timer);
    }

    #schedule(minimum = BATCH_DELAY) {
        clearTimeout(this.#timer);
        if (this.#isSending || this.#closed) return;
        const delays = [...this.#slots.values()].filter((slot) => slot.requested !== slot.preferred).map(delay);
        if (delays.length > 0) this.#timer = setTimeout(() => this.#flush(), Math.max(minimum, Math.min(...delays)));
    }

    async #flush() {
        const due = [...this.#slots].filter(([, slot]) => slot.requested !== slot.preferred && delay(slot) <= 0);
        if (due.length === 0) return this.#schedule();
        const qualities = Object.fromEntries(due.map(([mid, slot]) => [mid, slot.preferred]));
        this.#isSending = true;
        let minimum;
        try {
            const { slots } = await this.#send(qualities);
            this.#setRequested(slots);
        } catch (error) {
            minimum = Math.max(error.retryAfter ?? 0, RETRY_DELAY);
            // A rejected request is not repeated: the leg has ended, and the next has preferences of its own.
            if (!error.isTransient) this.#setRequested(qualities);
        }
        this.#isSending = false;
        return this.#schedule(minimum);
    }

    #setRequested(qualities) {
        for (const [mid, quality] of Object.entries(qualities)) {
            const slot = this.#slots.get(mid);
            if (slot) this.#slots.set(mid, { ...slot, requested: quality });
        }
    }
}

/** How long until the preferred quality may be requested, in milliseconds. */
function delay({ requested, preferred, since }) {
    if (ranks.indexOf(preferred) > ranks.indexOf(requested)) return 0;
    return DOWNGRADE_DELAY[preferred] - (performance.now() - since);
}
