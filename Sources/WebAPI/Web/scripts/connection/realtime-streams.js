// The streams that are subscribed to, how far each was received, and what their frames say.
//
// A stream is an ordered log. The client keeps the position it has reached in each and sends them all when it
// reconnects, so nothing is missed or delivered twice; a stream that cannot be resumed gets a reset and a new snapshot.
// Other streams are keyed state: the latest of each row, without a history. What is held of a conversation is a range of
// messages, which goes along with its position.

export class Streams {
    #emit;
    #listen;
    #positions = new Map();
    #epochs = new Map();
    #ranges = new Map();
    #subscriptions = new Set();
    /** Streams that were ended here: what is still on its way of them is not meant for who listens to them next. */
    #ended = new Set();

    /** `emit(event, data)` tells of a frame, and `listen(stream)` asks for what is missing of a stream. */
    constructor(emit, listen) {
        this.#emit = emit;
        this.#listen = listen;
    }

    get subscribed() { return this.#subscriptions; }

    has(stream) { return this.#subscriptions.has(stream); }

    /** `position` is where it goes on, if what came before is held. Returns whether the server has to be asked for it. */
    subscribe(stream, position) {
        const known = this.#subscriptions.has(stream);
        this.#subscriptions.add(stream);
        this.#ended.delete(stream);
        const isRestored = Boolean(position) && !this.#positions.has(stream);
        if (isRestored) {
            this.#positions.set(stream, [...position]);
            this.#epochs.set(stream, position[0]);
        }
        return !known && (isRestored || !this.#positions.has(stream));
    }

    position(stream) { return this.#positions.get(stream); }

    hold(stream, first, last) {
        if (first === undefined) this.#ranges.delete(stream); else this.#ranges.set(stream, [first, last]);
    }

    forget(stream) {
        this.#subscriptions.delete(stream);
        this.#positions.delete(stream);
        this.#epochs.delete(stream);
        this.#ranges.delete(stream);
    }

    /**
     * Forgets a stream and ignores what still comes of it; whoever listens to it next may still hold what came in this epoch.
     * Returns whether the server has to be told.
     */
    end(stream) {
        const known = this.#subscriptions.has(stream);
        const epoch = this.#epochs.get(stream);
        this.forget(stream);
        if (epoch !== undefined) this.#epochs.set(stream, epoch);
        this.#ended.add(stream);
        return known;
    }

    /** Nothing of another connection comes any more. */
    noteConnection() { this.#ended.clear(); }

    clear() {
        this.#positions.clear();
        this.#epochs.clear();
        this.#ranges.clear();
        this.#subscriptions.clear();
        this.#ended.clear();
    }

    clearPositions() { this.#positions.clear(); }

    /** Where all of them go on, by name. Presence is asked for anew. */
    resume() {
        return Object.fromEntries([...this.#positions.keys()].filter((stream) => !stream.startsWith("presence:"))
            .map((stream) => [stream, this.resumePosition(stream)]));
    }

    resumePosition(stream) {
        const position = this.#positions.get(stream);
        return position && [...position, ...(this.#ranges.get(stream) ?? [])];
    }

    handle({ stream, snapshot, epoch, seq, changes, rows, after, upTo, gap, event, reset }) {
        if (this.#ended.has(stream)) return;
        if (reset) {
            this.#positions.delete(stream);
            if (reset.reason === "access") this.forget(stream);
            this.#emit("reset", { stream, reason: reset.reason });
        } else if (rows) {
            this.#applyRows(stream, { rows, epoch, after, upTo, gap });
        } else if (snapshot) {
            // A server restored from a backup may have older data than this page: versions are valid within an epoch.
            const isNewEpoch = this.#epochs.has(stream) && this.#epochs.get(stream) !== epoch;
            if (epoch !== undefined) {
                this.#positions.set(stream, [epoch, seq]);
                this.#epochs.set(stream, epoch);
            }
            this.#emit("snapshot", { stream, data: snapshot, isNewEpoch });
        } else if (event) {
            this.#emit("event", { stream, data: event });
        } else {
            for (const change of changes ?? []) this.#applyChange(stream, change);
        }
    }

    /** Turns at-least-once into exactly-once: a change at or before the position was delivered already. */
    #applyChange(stream, { seq, type, data }) {
        const position = this.#positions.get(stream);
        if (position && seq <= position[1]) return;
        if (position) position[1] = seq;
        this.#emit("change", { stream, type, data, seq });
    }

    /** Rows may be applied twice and in any order. A frame that begins beyond the position is one after a lost one. */
    #applyRows(stream, { rows, epoch, after, upTo, gap }) {
        const position = this.#positions.get(stream);
        if (!position || position[0] !== epoch || !this.#subscriptions.has(stream)) return;
        if (after > position[1]) return this.#listen(stream);
        position[1] = Math.max(position[1], upTo);
        this.#emit("rows", { stream, rows, gap });
    }
}
