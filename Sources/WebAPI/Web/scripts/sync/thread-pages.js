// The messages of a thread that are read page by page: on this device where they are, else from the server.

import { realtime } from "../connection/realtime.js";
import { request } from "../connection/requests.js";
import * as past from "../state/earlier-range.js";
import * as state from "../state/thread-rows.js";

const PAGE = 50;
/** So far above the messages that are held others are read from this device. */
const FARTHEST = 2_000;

export class ThreadPages {
    #id;
    #held;
    #thread;
    /** Messages that are not held and have changed, by number, while pages are asked for that may be older. */
    #overtaking = new Map();
    #count = 0;
    #loading;

    /** `thread` has `known` and `shown`, which return the thread without and with what waits, and `set`. */
    constructor(id, held, thread) {
        [this.#id, this.#held, this.#thread] = [id, held, thread];
    }

    /** The messages before those that are shown. Whoever asks meanwhile waits for the same. */
    loadEarlier() {
        const shown = this.#thread.shown();
        const { first, hasEarlier } = shown.past ?? shown;
        if (first === undefined || !hasEarlier) return Promise.resolve();
        return this.#load(async () => {
            const page = !this.#thread.shown().past && await this.#heldPage(first) || await this.#page({ before: first });
            this.#thread.set(state.applyEarlier(this.#thread.known(), page, first));
        });
    }

    /** The messages after the earlier range that is shown. */
    loadLater() {
        const after = this.#thread.shown().past?.last;
        if (after === undefined) return Promise.resolve();
        return this.#load(async () => {
            const page = await this.#page({ after });
            this.#thread.set(past.applyLater(this.#thread.known(), page, after));
        });
    }

    /** Shows the range around a number. */
    async show(number) {
        if (past.isShown(this.#thread.shown(), number) || await this.#showHeld(number)) return;
        await this.#showAround(number);
    }

    /** Reads the earlier range that is shown once more. */
    async refresh() {
        const range = this.#thread.known().past;
        if (range) await this.#showAround(Math.floor((range.first + range.last) / 2));
    }

    /**
     * The number of the first message that was sent at a time or later; undefined if there is none. While the server cannot be
     * asked, of those that are on this device.
     */
    async firstFrom(date) {
        if (!realtime.isOnline) return this.#held.firstFrom(date.getTime());
        const { messages } = await request("messages.list", { conversation: this.#id, limit: 1, from: date.toISOString() });
        return messages[0]?.number;
    }

    replies(root, before) { return this.#page({ thread: root, ...(before && { before }) }); }

    /** Messages before those that are held: they may be on this device, or in a page that is on its way. */
    noteOlder(rows, first) {
        for (const { message } of rows) {
            if (!message || first === undefined || message.number >= first) continue;
            this.#held.noteOlder(message);
            if (this.#count > 0) this.#overtaking.set(message.number, state.newer(this.#overtaking.get(message.number), message));
        }
    }

    async #showAround(number) {
        const page = await this.#page({ around: number });
        this.#thread.set(past.applyAround(this.#thread.known(), page));
    }

    /** Reads what is between a number and the messages that are held, if that is on this device and not too far. */
    async #showHeld(number) {
        const { first } = this.#thread.known();
        const page = first - number < FARTHEST && await this.#heldPage(first, number);
        if (!page) return false;
        this.#thread.set(state.applyEarlier(past.leftPast(this.#thread.known()), page, first));
        return true;
    }

    #page(params) {
        return this.#overtaken(() => request("messages.list", { conversation: this.#id, limit: PAGE, ...params }));
    }

    #heldPage(before, until) { return this.#overtaken(() => this.#held.earlier(before, until)); }

    /** The page that `read` resolves to. A message of it may have changed since it was read: what has come before the page is in it. */
    async #overtaken(read) {
        this.#count += 1;
        try {
            const page = await read();
            return page && { ...page, messages: page.messages.map((one) => state.newer(this.#overtaking.get(one.number), one)) };
        } finally {
            this.#count -= 1;
            if (this.#count === 0) this.#overtaking.clear();
        }
    }

    async #load(work) {
        this.#loading ??= work().finally(() => { this.#loading = undefined; });
        return this.#loading;
    }
}
