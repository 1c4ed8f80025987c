// What of the list of conversations is on this device: shown at once, and written a moment after it has changed.

import { realtime } from "../connection/realtime.js";
import { storage } from "../store/storage.js";

const SAVE_DELAY = 300;

export class HeldInbox {
    #current;
    #stream;
    #rows = {};
    /** What is on disk is of no use. */
    #isNew = true;
    #timer;

    /** `current` returns the state of the inbox, and `stream` the name of its stream. */
    constructor(current, stream) {
        this.#current = current;
        this.#stream = stream;
    }

    /** `{rows, nextCursor, archive, position}` as it was left, or undefined. */
    async restore() {
        const found = await storage.cache.inbox();
        if (!found) return undefined;
        const { position, nextCursor, archive } = found.inbox;
        this.#rows = Object.fromEntries(found.rows.map((row) => [row.id, row]));
        this.#isNew = false;
        return { rows: this.#rows, position, nextCursor, archive };
    }

    /** A snapshot of another epoch, or of an inbox whose position was too old. */
    noteSnapshot() { this.#isNew = true; }

    noteChange() { this.#timer ??= setTimeout(() => this.save(), SAVE_DELAY); }

    save() {
        clearTimeout(this.#timer);
        this.#timer = undefined;
        const [state, position] = [this.#current(), realtime.position(this.#stream())];
        if (!state.isLoaded || !position || !storage.cache.isOnDisk) return;
        const rows = Object.values(state.rows).filter((row) => this.#isNew || this.#rows[row.id] !== row);
        storage.cache.saveInbox(rows, { position: [...position], nextCursor: state.nextCursor, archive: state.archive }, this.#isNew);
        [this.#rows, this.#isNew] = [state.rows, false];
    }

    reset() {
        clearTimeout(this.#timer);
        this.#timer = undefined;
        [this.#rows, this.#isNew] = [{}, true];
    }
}
