// Who speaks: by the loudness that comes with the packets of each voice, and by one's own microphone.

import { Emitter } from "./emitter.js";

const PERIOD = 150;
/** Loudness from 0 to 1 above which somebody is heard to speak. A quiet room stays below. */
const LOUD = 0.02;
/** A mark stays through the pauses between words. */
const HOLD = 700;
/** A packet that is older than this says nothing about now. */
const FRESH = 500;

/** Events: `change` when somebody begins or ends to speak. */
export class Levels extends Emitter {
    #voices;
    #own;
    #heard = new Map();
    #speaking = new Set();
    #timer;

    /** `voices()` answers what is received of everybody, `own()` the track of one's own microphone and the user's id. */
    constructor(voices, own) {
        super();
        this.#voices = voices;
        this.#own = new Microphone(own);
        this.#timer = setInterval(() => this.#look(), PERIOD);
    }

    speaks(user) { return this.#speaking.has(user); }

    close() {
        clearInterval(this.#timer);
        this.#own.close();
    }

    #look() {
        const now = performance.now();
        for (const { user, kind, receiver } of this.#voices()) {
            if (kind === "audio" && loudnessOf(receiver) > LOUD) this.#heard.set(user, now);
        }
        const { user, loudness } = this.#own.look();
        if (loudness > LOUD) this.#heard.set(user, now);
        const speaking = new Set([...this.#heard].filter(([, at]) => now - at < HOLD).map(([one]) => one));
        const isSame = speaking.size === this.#speaking.size && [...speaking].every((one) => this.#speaking.has(one));
        this.#speaking = speaking;
        if (!isSame) this.emit("change");
    }
}

function loudnessOf(receiver) {
    const latest = receiver.getSynchronizationSources()[0];
    if (!latest || performance.timeOrigin + performance.now() - absolute(latest.timestamp) > FRESH) return 0;
    return latest.audioLevel ?? 0;
}

/** Browsers have counted these timestamps from 1970 and from the beginning of the page. */
const absolute = (timestamp) => timestamp > 1e12 ? timestamp : performance.timeOrigin + timestamp;

/** The loudness of one's own microphone. */
class Microphone {
    #of;
    #context;
    #track;
    #source;
    #analyser;
    #samples = new Float32Array(512);

    constructor(of) { this.#of = of; }

    look() {
        const { user, track } = this.#of();
        if (track !== this.#track) this.#attach(track);
        if (!this.#analyser || !this.#source) return { user, loudness: 0 };
        this.#analyser.getFloatTimeDomainData(this.#samples);
        const sum = this.#samples.reduce((total, one) => total + one * one, 0);
        return { user, loudness: Math.sqrt(sum / this.#samples.length) };
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
