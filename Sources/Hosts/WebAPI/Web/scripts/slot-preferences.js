// What a leg asks for in its slots for pictures: as good ones as what is seen of them needs.
//
// A better picture is asked for at once. A lesser one will do only once it has been enough for a while: a window that is
// being dragged, a tile that is scrolled by and a page that is left for a moment are not worth a picture that breaks off.
// The server keeps what was asked for as long as the leg lives, so only changes are sent, one request at a time.

const ranks = ["off", "low", "medium", "high"];
/** For how long it must have been enough, in milliseconds. */
const PATIENCE = { off: 5_000, low: 1_000, medium: 1_000 };
/** What changes together is asked for together. */
const GATHER = 50;
/** Between a request that failed and the next. */
const PAUSE = 2_000;

/** The wishes of one leg. */
export class Wishes {
    /** By mid: what was asked for last, what is enough now, and since when. */
    #slots = new Map();
    #send;
    #timer;
    #isAsking = false;
    #closed = false;

    /** `send(slots)` posts qualities by mid, and answers `{slots}` with all that the server has. */
    constructor(send) { this.#send = send; }

    /** Takes what is enough now in each of the slots, by mid. */
    take(enough) {
        const now = performance.now();
        for (const [mid, quality] of Object.entries(enough)) {
            const slot = this.#slots.get(mid) ?? { asked: "high", since: now };
            this.#slots.set(mid, slot.enough === quality ? slot : { ...slot, enough: quality, since: now });
        }
        this.#plan();
    }

    close() {
        this.#closed = true;
        clearTimeout(this.#timer);
    }

    #plan(pause = GATHER) {
        clearTimeout(this.#timer);
        if (this.#isAsking || this.#closed) return;
        const waits = [...this.#slots.values()].filter((slot) => slot.asked !== slot.enough).map(wait);
        if (waits.length > 0) this.#timer = setTimeout(() => this.#ask(), Math.max(pause, Math.min(...waits)));
    }

    async #ask() {
        const due = [...this.#slots].filter(([, slot]) => slot.asked !== slot.enough && wait(slot) <= 0);
        if (due.length === 0) return this.#plan();
        const wishes = Object.fromEntries(due.map(([mid, slot]) => [mid, slot.enough]));
        this.#isAsking = true;
        let pause;
        try {
            const { slots } = await this.#send(wishes);
            this.#note(slots);
        } catch (error) {
            pause = Math.max(error.retryAfter ?? 0, PAUSE);
            // What the server will not have is not asked for again: the leg has gone, and the next has wishes of its own.
            if (!error.isPassing) this.#note(wishes);
        }
        this.#isAsking = false;
        return this.#plan(pause);
    }

    #note(asked) {
        for (const [mid, quality] of Object.entries(asked)) {
            const slot = this.#slots.get(mid);
            if (slot) this.#slots.set(mid, { ...slot, asked: quality });
        }
    }
}

/** How long until what is enough may be asked for, in milliseconds. */
function wait({ asked, enough, since }) {
    if (ranks.indexOf(enough) > ranks.indexOf(asked)) return 0;
    return PATIENCE[enough] - (performance.now() - since);
}
