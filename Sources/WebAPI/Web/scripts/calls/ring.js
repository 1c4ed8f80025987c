// Ringing: the ringtone, the caller's ringback tone, the flashing title and the notification.

import { notifications } from "../notifications/notifications.js";
import { ringTagOf } from "../state/news.js";
import { preferences } from "../store/preferences.js";

let context;

// Browsers let a page play audio only after a user gesture.
for (const gesture of ["pointerdown", "keydown"]) {
    addEventListener(gesture, () => {
        context ??= window.AudioContext ? new AudioContext() : undefined;
        if (context?.state === "suspended") context.resume().catch(() => {});
    }, { capture: true });
}

/** Tones: notes as [frequency in Hz, start, length in seconds], repeated every `period` milliseconds. */
const tones = {
    ring: { notes: [[659, 0, 0.35], [784, 0.22, 0.35], [988, 0.44, 0.7]], period: 2_600, volume: 0.22 },
    ringback: { notes: [[440, 0, 1.1], [480, 0, 1.1]], period: 4_000, volume: 0.05 },
    waiting: { notes: [[784, 0, 0.18], [784, 0.3, 0.18]], period: 4_000, volume: 0.1 },
};

class Player {
    #playing;
    #timer;
    #release = () => {};

    /** Plays a tone until another one, or none, is requested. Of several tabs only one plays the ringtone. */
    play(name) {
        const requested = preferences.get("sound") ? name : undefined;
        if (this.#playing === requested) return;
        this.stop();
        this.#playing = requested;
        if (!requested) return;
        if (requested !== "ring" || !navigator.locks) return this.#repeat(tones[requested]);
        navigator.locks.request("switchboard.ring", { ifAvailable: true }, (lock) => {
            if (!lock || this.#playing !== requested) return undefined;
            this.#repeat(tones[requested]);
            return new Promise((release) => { this.#release = release; });
        });
    }

    stop() {
        clearTimeout(this.#timer);
        this.#playing = undefined;
        this.#release();
    }

    #repeat(tone) {
        if (context?.state === "running") for (const note of tone.notes) playNote(note, tone.volume);
        this.#timer = setTimeout(() => this.#repeat(tone), tone.period);
    }
}

function playNote([frequency, start, length], volume) {
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
let tag;

/** Flashes the title, and shows a system notification unless a tab is seen. `id` is the call's. */
export function showAttention(text, id) {
    dismissAttention();
    let on = true;
    document.title = text;
    flashing = setInterval(() => {
        on = !on;
        document.title = on ? text : title;
    }, 1_000);
    tag = ringTagOf(id);
    notifications.show({ tag, title: text, page: "", requireInteraction: true });
}

export function dismissAttention() {
    clearInterval(flashing);
    document.title = title;
    if (tag) notifications.withdraw({ tag });
    tag = undefined;
}
