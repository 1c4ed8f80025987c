// Settings of this browser rather than of the account.

import { Emitter } from "../state/emitter.js";
import { channel } from "./channel.js";

const KEY = "switchboard.preferences";
const defaults = {
    relayOnly: false, saveData: false, sound: true, microphone: "", camera: "", speaker: "", noticeDismissed: false, language: "",
    notifications: true, notificationText: true, push: true,
    /** Empty as the browser says: `light` or `dark`, `small`, `large` or `larger`, `reduced` or `full`. */
    theme: "", textSize: "", motion: "", enterSends: true,
    /** How fast voice messages are played. */
    voiceSpeed: 1,
};

class Preferences extends Emitter {
    #values = { ...defaults, ...read() };

    constructor() {
        super();
        channel.on("preference", ({ name, value }) => this.#note(name, value));
    }

    get(name) { return this.#values[name]; }

    set(name, value) {
        if (this.#values[name] === value) return;
        this.#values[name] = value;
        localStorage.setItem(KEY, JSON.stringify(this.#values));
        channel.post("preference", { name, value });
        this.emit(name, value);
    }

    /** Another tab has changed it. */
    #note(name, value) {
        this.#values[name] = value;
        this.emit(name, value);
    }
}

function read() {
    try { return JSON.parse(localStorage.getItem(KEY)) ?? {}; } catch { return {}; }
}

export const preferences = new Preferences();
