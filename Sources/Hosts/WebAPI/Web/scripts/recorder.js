// A voice message from the microphone: said to the server while it is spoken, where that is possible, else into a file
// that is uploaded.

import { FileRecorder } from "./file-recorder.js";
import { LegRecorder } from "./leg-recorder.js";
import { LocalMedia } from "./media.js";
import { voice } from "./voice.js";

export class Recorder {
    #media = new LocalMedia();
    #user;
    #way;
    #isOver = false;

    static get isPossible() { return FileRecorder.isPossible || LegRecorder.isPossible; }

    /** For whom it is. */
    constructor(user) { this.#user = user; }

    /** Milliseconds so far. */
    get elapsed() { return this.#way?.elapsed ?? 0; }
    /** Nothing more comes of it, and what there is can be sent. */
    get hasEnded() { return this.#way?.hasEnded ?? false; }

    async start() {
        try {
            const { recording } = await voice.limits();
            await this.#media.openMicrophone();
            // Cancelled while the browser asked.
            if (!this.#media.audio) return;
            if (!(recording && LegRecorder.isPossible && await this.#try(LegRecorder))) await this.#begin(FileRecorder);
        } catch (error) {
            this.#media.close();
            throw error;
        }
    }

    /** Ends it and answers the message. May be tried again. */
    async send() {
        try { return await this.#way.send(this.#user); } finally { this.#media.close(); }
    }

    cancel() {
        this.#isOver = true;
        this.#way?.cancel();
        this.#media.close();
    }

    /** Whether it has begun. A refusal that concerns every way is thrown. */
    async #try(Way) {
        try {
            await this.#begin(Way);
            return true;
        } catch (error) {
            if (error.type === "not_found" || !FileRecorder.isPossible) throw error;
            this.#way = undefined;
            return this.#isOver;
        }
    }

    async #begin(Way) {
        this.#way = new Way(this.#media.audio);
        await this.#way.start(this.#user);
    }
}
