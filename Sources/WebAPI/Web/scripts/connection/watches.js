// Streams that several views listen to at the same time: the server is asked once, until the last has left.

import { realtime } from "./realtime.js";

const counts = new Map();

/** Listens to a stream until the returned function is called. */
export function watch(stream) {
    counts.set(stream, (counts.get(stream) ?? 0) + 1);
    realtime.listen(stream);
    let isOver = false;
    return () => {
        if (isOver) return;
        isOver = true;
        const count = (counts.get(stream) ?? 1) - 1;
        if (count > 0) return counts.set(stream, count);
        counts.delete(stream);
        realtime.unlisten(stream);
    };
}

/** Somebody else may sign in. */
export const resetWatches = () => counts.clear();

/** Watches some streams of one kind, which change: `update(ids)` begins and ends what has to. */
export class WatchSet {
    #kind;
    #watches = new Map();

    constructor(kind) { this.#kind = kind; }

    update(ids) {
        const wanted = new Set(ids);
        for (const [id, stop] of this.#watches) {
            if (wanted.has(id)) continue;
            stop();
            this.#watches.delete(id);
        }
        for (const id of wanted) if (!this.#watches.has(id)) this.#watches.set(id, watch(`${this.#kind}:${id}`));
    }

    close() { this.update([]); }
}
