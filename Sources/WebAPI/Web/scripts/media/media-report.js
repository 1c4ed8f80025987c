// Reports to the server what this side sends: muted or not, camera, screen, hold.

import { request } from "../connection/requests.js";

export class MediaReport {
    #call;
    #isDirty = false;
    #sending;

    constructor(call) { this.#call = call; }

    /** Whether the latest state is still being sent. */
    get isSending() { return Boolean(this.#sending); }

    /** Changes during a request are sent after it, so that the server ends up with the latest state. */
    send() {
        this.#isDirty = true;
        this.#sending ??= this.#run().finally(() => { this.#sending = undefined; });
        return this.#sending;
    }

    async #run() {
        const call = this.#call;
        while (this.#isDirty && call.id && call.phase !== "ended") {
            this.#isDirty = false;
            const state = { audio: !call.isMuted, video: call.hasCamera, screen: call.isSharing, held: call.held };
            await request("calls.media", { call: call.id, ...state }, { timeout: 60_000 }).catch(() => {});
        }
    }
}
