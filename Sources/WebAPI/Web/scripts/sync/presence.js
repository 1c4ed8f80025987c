// Who is online, of those whom somebody watches by `presence:`.

import { realtime } from "../connection/realtime.js";
import { Emitter } from "../state/emitter.js";

/** Event: `change` (a user's id). */
class Presence extends Emitter {
    #states = new Map();

    constructor() {
        super();
        const update = ({ stream, data }) => {
            const [kind, user] = stream.split(":");
            if (kind !== "presence") return;
            this.#states.set(user, data);
            this.emit("change", user);
        };
        realtime.on("snapshot", update);
        realtime.on("event", update);
    }

    of(user) { return this.#states.get(user); }

    isOnline(user) { return this.#states.get(user)?.online ?? false; }

    reset() { this.#states.clear(); }
}

export const presence = new Presence();
