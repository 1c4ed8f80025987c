// Detects who is speaking, from the audio levels of received packets and from the local microphone.

import { Emitter } from "../state/emitter.js";

const PERIOD = 150;
/** The audio level, 0 to 1, above which somebody is speaking. A quiet room stays below. */
const SPEECH_LEVEL = 0.02;
/** How long somebody counts as speaking after the last loud packet, to bridge the pauses between words. */
const HOLD_TIME = 700;
/** Levels of older packets are ignored. */
const MAX_AGE = 500;

/** Events: `change` when somebody starts or stops speaking. */
export class Levels extends Emitter {
    #received;
    #microphone;
    #lastLoudAt = new Map();
    #speaking = new Set();
    #timer;

    /** `received()` returns the tracks that are received, `own()` the local microphone's track and the user's id. */
    constructor(received, own) {
        super();
        this.#received = received;
        this.#microphone = new Microphone(own);
        this.#timer = setInterval(() => this.#update(), PERIOD);
    }

    isSpeaking(user) { return this.#speaking.has(user); }

    close() {
        clearInterval(this.#timer);
        this.#microphone.close();
    }

    #update() {
        const now = performance.now();
        for (const { user, kind, receiver } of this.#received()) {
            if (kind === "audio" && levelOf(receiver) > SPEECH_LEVEL) this.#lastLoudAt.set(user, now);
        }
        const { user, level } = this.#microphone.measure();
        if (level > SPEECH_LEVEL) this.#lastLoudAt.set(user, now);
        const speaking = new Set([...this.#lastLoudAt].filter(([, at]) => now - at < HOLD_TIME).map(([one]) => one));
        const isSame = speaking.size === this.#speaking.size && [...speaking].every((one) => this.#speaking.has(one));
        this.#speaking = speaking;
        if (!isSame) this.emit("change");
    }
}

function levelOf(receiver) {
    const latest = receiver.getSynchronizationSources()[0];
    if (!latest || performance.timeOrigin + performance.now() - absolute(latest.timestamp) > MAX_AGE) return 0;
    return latest.audioLevel ?? 0;
}

/** Browsers count these timestamps from 1970 or from the start of the page. */
const absolute = (timestamp) => timestamp > 1e12 ? timestamp : performance.timeOrigin + timestamp;

/** The audio level of the local microphone. */
class Microphone {
    #of;
    #context;
    #track;
    #source;
    #analyser;
    #samples = new Float32Array(512);

    constructor(of) { this.#of = of; }

    measure() {
        const { user, track } = this.#of();
        if (track !== this.#track) this.#attach(track);
        if (!this.#analyser || !this.#source) return { user, level: 0 };
        this.#analyser.getFloatTimeDomainData(this.#samples);
        const sum = this.#samples.reduce((total, one) => total + one * one, 0);
        return { user, level: Math.sqrt(sum / this.#samples.length) };
    }

    close() { this.#context?.close().catch(() => {}); }

    #attach(track) {
        this.#source?.disconnect();
        this.#source = undefined;
        this.#track = track;
        if (!track || !window.AudioContext) return;
        this.#context ??= new AudioContext();
        this.#context.resume().catch(() => {});
        this.#analyser ??= new AnalyserNode(this.#context, { fftSize: 512 });
        this.#source = this.#context.createMediaStreamSource(new MediaStream([track]));
        this.#source.connect(this.#analyser);
    }
}
