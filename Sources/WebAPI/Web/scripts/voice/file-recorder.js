// Records the microphone with the browser's MediaRecorder: Opus in WebM or Ogg, whichever it supports.

const types = ["audio/webm;codecs=opus", "audio/ogg;codecs=opus"];
const BITRATE = 32_000;

export class FileRecorder {
    hasEnded = false;
    #track;
    #recorder;
    #chunks = [];
    #begin;
    #end;

    static get isPossible() { return Boolean(globalThis.MediaRecorder && types.some((type) => MediaRecorder.isTypeSupported(type))); }

    constructor(track) { this.#track = track; }

    get elapsed() { return this.#begin === undefined ? 0 : (this.#end ?? performance.now()) - this.#begin; }

    async start() {
        const mimeType = types.find((type) => MediaRecorder.isTypeSupported(type));
        this.#recorder = new MediaRecorder(new MediaStream([this.#track]), { mimeType, audioBitsPerSecond: BITRATE });
        this.#recorder.addEventListener("dataavailable", ({ data }) => this.#chunks.push(data));
        const started = new Promise((resolve) => this.#recorder.addEventListener("start", resolve, { once: true }));
        this.#recorder.start(1_000);
        await started;
        this.#begin = performance.now();
    }

    async finish() {
        await this.#stop();
        return { blob: new Blob(this.#chunks, { type: this.#recorder.mimeType }) };
    }

    cancel() {
        if (this.#recorder?.state === "recording") this.#recorder.stop();
    }

    async #stop() {
        this.#end ??= performance.now();
        if (this.#recorder.state === "inactive") return;
        const stopped = new Promise((resolve) => this.#recorder.addEventListener("stop", resolve, { once: true }));
        this.#recorder.stop();
        await stopped;
    }
}
