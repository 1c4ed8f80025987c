// Who is typing or recording, by conversation, of those that somebody watches by `typing:`.

import { realtime } from "../connection/realtime.js";
import { Emitter } from "../state/emitter.js";
import { applyTyping, currentWriters, nextStop } from "../state/typing.js";

/** The same object each time: rows are drawn anew when theirs is another. */
const nobody = Object.freeze({});

/** Event: `change` (a conversation's id). */
class Writers extends Emitter {
    #conversations = new Map();
    #timers = new Map();

    constructor() {
        super();
        realtime.on("event", ({ stream, data }) => {
            const [kind, id] = stream.split(":");
            if (kind === "typing") this.note(id, data);
        });
    }

    of(conversation) { return this.#conversations.get(conversation) ?? nobody; }

    /** `{user, state}`: what somebody does now. Who has sent a message has stopped. */
    note(conversation, event) {
        const now = performance.now();
        const before = this.of(conversation);
        const writers = currentWriters(applyTyping(before, event, now), now);
        if (Object.keys(writers).length === 0) this.#conversations.delete(conversation); else this.#conversations.set(conversation, writers);
        clearTimeout(this.#timers.get(conversation));
        const stop = nextStop(writers);
        if (stop !== undefined) this.#timers.set(conversation, setTimeout(() => this.note(conversation, { state: "stopped" }), stop - now + 1));
        if (Object.keys(before).length > 0 || stop !== undefined) this.emit("change", conversation);
    }
}

export const writers = new Writers();
