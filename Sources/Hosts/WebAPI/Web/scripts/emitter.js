// The one way modules tell each other that something happened: named events with one value.

export class Emitter {
    #listeners = new Map();

    /** Calls `listener` for every `event` until the returned function is called. */
    on(event, listener) {
        const listeners = this.#listeners.get(event) ?? new Set();
        this.#listeners.set(event, listeners.add(listener));
        return () => listeners.delete(listener);
    }

    emit(event, value) {
        for (const listener of [...(this.#listeners.get(event) ?? [])]) {
            // One listener's mistake must not keep the others from hearing.
            try { listener(value); } catch (error) { console.error(error); }
        }
    }
}
