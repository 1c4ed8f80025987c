// How modules notify each other: named events with one value.

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
            // An error in one listener must not keep the others from being called.
            try { listener(value); } catch (error) { console.error(error); }
        }
    }
}
