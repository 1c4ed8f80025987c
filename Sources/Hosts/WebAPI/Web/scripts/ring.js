// Making itself heard: the ring, the caller's ringback, the flashing title and the notification.

import { preferences } from "./preferences.js";

let context;

// Browsers let a page sound only after the person has touched it.
for (const gesture of ["pointerdown", "keydown"]) {
    addEventListener(gesture, () => {
        context ??= window.AudioContext ? new AudioContext() : undefined;
        if (context?.state === "suspended") context.resume().catch(() => {});
    }, { capture: true });
}

/** A tune: notes as [frequency in Hz, start, length in seconds], repeated every `period` milliseconds. */
const tunes = {
    ring: { notes: [[659, 0, 0.35], [784, 0.22, 0.35], [988, 0.44, 0.7]], period: 2_600, volume: 0.22 },
    ringback: { notes: [[440, 0, 1.1], [480, 0, 1.1]], period: 4_000, volume: 0.05 },
    waiting: { notes: [[784, 0, 0.18], [784, 0.3, 0.18]], period: 4_000, volume: 0.1 },
};

class Player {
    #playing;
    #timer;
    #release = () => {};

    /** Plays a tune until another is asked for, or none. One tab of a browser rings, not all of them. */
    play(name) {
        const wanted = preferences.get("sound") ? name : undefined;
        if (this.#playing === wanted) return;
        this.stop();
        this.#playing = wanted;
        if (!wanted) return;
        if (wanted !== "ring" || !navigator.locks) return this.#round(tunes[wanted]);
        navigator.locks.request("switchboard.ring", { ifAvailable: true }, (lock) => {
            if (!lock || this.#playing !== wanted) return undefined;
            this.#round(tunes[wanted]);
            return new Promise((release) => { this.#release = release; });
        });
    }

    stop() {
        clearTimeout(this.#timer);
        this.#playing = undefined;
        this.#release();
    }

    #round(tune) {
        if (context?.state === "running") for (const note of tune.notes) sound(note, tune.volume);
        this.#timer = setTimeout(() => this.#round(tune), tune.period);
    }
}

function sound([frequency, start, length], volume) {
    const [oscillator, gain] = [context.createOscillator(), context.createGain()];
    const begin = context.currentTime + start;
    oscillator.frequency.value = frequency;
    gain.gain.setValueAtTime(0, begin);
    gain.gain.linearRampToValueAtTime(volume, begin + 0.03);
    gain.gain.exponentialRampToValueAtTime(0.0001, begin + length);
    oscillator.connect(gain).connect(context.destination);
    oscillator.start(begin);
    oscillator.stop(begin + length);
}

export const player = new Player();

const title = document.title;
let flashing;
let notification;

/** Flashes the title, and tells through the system when this page is not in sight. */
export function callAttention(text) {
    dismissAttention();
    let on = true;
    document.title = text;
    flashing = setInterval(() => {
        on = !on;
        document.title = on ? text : title;
    }, 1_000);
    if (document.hidden && window.Notification?.permission === "granted") {
        try {
            notification = new Notification(text, { tag: "switchboard.ring", requireInteraction: true });
            notification.onclick = () => { window.focus(); notification?.close(); };
        } catch { /* Some phones allow notifications from service workers only. */ }
    }
}

export function dismissAttention() {
    clearInterval(flashing);
    document.title = title;
    notification?.close();
    notification = undefined;
}
