// A voice from the microphone into a file, with the browser's own recorder: Opus in WebM or Ogg, whichever it writes.

import { LocalMedia } from "./media.js";

const types = ["audio/webm;codecs=opus", "audio/ogg;codecs=opus"];
const BITRATE = 32_000;

export class Recorder {
    #media = new LocalMedia();
    #recorder;
    #parts = [];
    #begin;

    static get isPossible() { return Boolean(globalThis.MediaRecorder && types.some((type) => MediaRecorder.isTypeSupported(type))); }

    /** Milliseconds so far. */
    get elapsed() { return this.#begin === undefined ? 0 : performance.now() - this.#begin; }

    async start() {
        try {
            await this.#media.openMicrophone();
        } catch (error) {
            this.#media.close();
            throw error;
        }
        // Cancelled while the browser asked.
        if (!this.#media.audio) return;
        const mimeType = types.find((type) => MediaRecorder.isTypeSupported(type));
        this.#recorder = new MediaRecorder(new MediaStream([this.#media.audio]), { mimeType, audioBitsPerSecond: BITRATE });
        this.#recorder.addEventListener("dataavailable", ({ data }) => this.#parts.push(data));
        const started = new Promise((resolve) => this.#recorder.addEventListener("start", resolve, { once: true }));
        this.#recorder.start(1_000);
        await started;
        this.#begin = performance.now();
    }

    /** Ends the recording, and answers what was recorded. */
    async stop() {
        const recorder = this.#recorder;
        if (recorder.state !== "inactive") {
            const stopped = new Promise((resolve) => recorder.addEventListener("stop", resolve, { once: true }));
            recorder.stop();
            await stopped;
        }
        this.#media.close();
        return new Blob(this.#parts, { type: recorder.mimeType });
    }

    cancel() {
        if (this.#recorder?.state === "recording") this.#recorder.stop();
        this.#media.close();
    }
}
