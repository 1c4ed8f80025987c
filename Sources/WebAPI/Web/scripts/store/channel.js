// What the tabs of one browser tell each other: at once, and only while they are open.

import { Emitter } from "../state/emitter.js";

const NAME = "switchboard";

/** Events: what other tabs have posted, by its kind, with its data. */
class Channel extends Emitter {
    #channel = globalThis.BroadcastChannel ? new BroadcastChannel(NAME) : undefined;

    constructor() {
        super();
        this.#channel?.addEventListener("message", ({ data }) => this.emit(data.kind, data.data));
    }

    post(kind, data) { this.#channel?.postMessage({ kind, data }); }
}

export const channel = new Channel();
