// Plays a voice message. Only one plays at a time, and an expired URL is fetched again.

import { Emitter } from "../state/emitter.js";
import { serverNow } from "../store/clock.js";
import { preferences } from "../store/preferences.js";

/** How fast a voice message is played, one after the other. */
const SPEEDS = [1, 1.5, 2];

/** How fast all of them are: what is kept may be from another version. */
export const speed = () => SPEEDS.includes(preferences.get("voiceSpeed")) ? preferences.get("voiceSpeed") : 1;

/** The next speed, after the last the first. */
export const changeSpeed = () => preferences.set("voiceSpeed", SPEEDS[(SPEEDS.indexOf(speed()) + 1) % SPEEDS.length]);

let playing;

/** Events: `change` when it plays, pauses or seeks; `problem` with the error. */
export class Player extends Emitter {
    #milliseconds;
    #ask;
    #link;
    #audio;
    /** Where to start once the audio is loaded, in seconds. */
    #startPosition = 0;
    #frame;
    #unsubscribe = preferences.on("voiceSpeed", () => { if (this.#audio) this.#audio.playbackRate = speed(); });

    /** `ask` resolves to a link to the audio. */
    constructor(milliseconds, ask) {
        super();
        this.#milliseconds = milliseconds;
        this.#ask = ask;
    }

    get isPlaying() { return Boolean(this.#audio && !this.#audio.paused && !this.#audio.ended); }
    get duration() { return this.#milliseconds / 1000; }
    get position() {
        const position = this.#audio && this.#audio.readyState > 0 ? this.#audio.currentTime : this.#startPosition;
        return Math.min(position, this.duration);
    }

    async toggle() {
        if (this.isPlaying) {
            this.#audio.pause();
            return;
        }
        playing?.pause();
        playing = this;
        try {
            await this.#load();
            if (playing === this) await this.#audio.play();
        } catch (error) {
            // Another message started meanwhile.
            if (error.name !== "AbortError") this.emit("problem", error);
        }
    }

    pause() { this.#audio?.pause(); }

    seek(seconds) {
        const target = Math.min(Math.max(seconds, 0), this.duration);
        this.#startPosition = target;
        if (this.#audio?.readyState > 0) this.#audio.currentTime = target;
        this.emit("change");
    }

    close() {
        cancelAnimationFrame(this.#frame);
        this.#unsubscribe();
        if (playing === this) playing = undefined;
        this.#audio?.pause();
        this.#audio?.removeAttribute("src");
        this.#audio = undefined;
    }

    async #load() {
        const isValid = this.#link && Date.parse(this.#link.expiresAt) > serverNow() + 5_000;
        if (this.#audio && !this.#audio.error && isValid) return;
        if (!isValid) this.#link = await this.#ask();
        const position = this.position;
        this.#audio?.pause();
        const audio = new Audio(this.#link.url);
        this.#audio = audio;
        // Loading resets the other one.
        audio.defaultPlaybackRate = audio.playbackRate = speed();
        for (const event of ["play", "pause", "ended", "seeked"]) audio.addEventListener(event, () => this.#positionChanged());
        await new Promise((resolve, reject) => {
            audio.addEventListener("loadedmetadata", resolve, { once: true });
            audio.addEventListener("error", () => reject(audio.error), { once: true });
        }).catch(async (error) => {
            // The browser does not say why; asking for a link throws the server's reason.
            this.#link = undefined;
            await this.#ask();
            throw error;
        });
        if (position > 0 && position < this.duration) audio.currentTime = position;
    }

    #positionChanged() {
        cancelAnimationFrame(this.#frame);
        this.emit("change");
        if (this.isPlaying) this.#frame = requestAnimationFrame(() => this.#positionChanged());
    }
}
