// Tells the server what this side sends: muted or not, camera, screen, hold.

import { request } from "./requests.js";

export class MediaReport {
    #call;
    #untold = false;
    #telling;

    constructor(call) { this.#call = call; }

    /** Whether the server has yet to hear the latest. */
    get isTelling() { return Boolean(this.#telling); }

    /** What changes while it is told is told afterwards, so that the last word stays. */
    tell() {
        this.#untold = true;
        this.#telling ??= this.#run().finally(() => { this.#telling = undefined; });
        return this.#telling;
    }

    async #run() {
        const call = this.#call;
        while (this.#untold && call.id && call.phase !== "ended") {
            this.#untold = false;
            const state = { audio: !call.isMuted, video: call.hasCamera, screen: call.isSharing, held: call.held };
            await request("calls.media", { call: call.id, ...state }, { patience: 60_000 }).catch(() => {});
        }
    }
}
