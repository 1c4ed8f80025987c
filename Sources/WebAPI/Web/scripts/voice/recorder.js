// Records a voice message: streamed to the server where that is possible, otherwise into a file that is uploaded.

import { realtime } from "../connection/realtime.js";
import { LocalMedia } from "../media/local-media.js";
import { FileRecorder } from "./file-recorder.js";
import { LegRecorder } from "./leg-recorder.js";
import { voiceLimits } from "./voice-files.js";

export class Recorder {
    #media = new LocalMedia();
    #recorder;
    #isCancelled = false;

    static get isPossible() { return FileRecorder.isPossible || LegRecorder.isPossible; }

    /** Milliseconds recorded so far. */
    get elapsed() { return this.#recorder?.elapsed ?? 0; }
    /** Recording has stopped by itself; the audio so far can be sent. */
    get hasEnded() { return this.#recorder?.hasEnded ?? false; }

    async start() {
        try {
            const { recording } = await voiceLimits();
            await this.#media.openMicrophone();
            // Cancelled while the browser asked.
            if (!this.#media.audio) return;
            if (!(recording && realtime.isOnline && LegRecorder.isPossible && await this.#try(LegRecorder))) await this.#begin(FileRecorder);
        } catch (error) {
            this.#media.close();
            throw error;
        }
    }

    /** Stops recording. Resolves to what can be sent: `{file}`, its id, or a `{blob}` that is not on the server. May be retried. */
    async finish() {
        try { return await this.#recorder.finish(); } finally { this.#media.close(); }
    }

    cancel() {
        this.#isCancelled = true;
        this.#recorder?.cancel();
        this.#media.close();
    }

    /** Whether recording has started. Throws an error that would occur with every recorder. */
    async #try(RecorderType) {
        try {
            await this.#begin(RecorderType);
            return true;
        } catch (error) {
            if (error.type === "not_found" || !FileRecorder.isPossible) throw error;
            this.#recorder = undefined;
            return this.#isCancelled;
        }
    }

    async #begin(RecorderType) {
        this.#recorder = new RecorderType(this.#media.audio);
        await this.#recorder.start();
    }
}
