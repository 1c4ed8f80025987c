// Audio output: an audio element for every received track, independent of what is shown.
//
// The elements belong to the call and not to its screen, so that audio plays without a gap while the screen or the
// connection changes.

import { preferences } from "../store/preferences.js";

export class Speakers {
    /** Track -> element. */
    #elements = new Map();
    #muted = false;
    #resume = () => this.#play();

    /** Plays exactly these tracks. */
    play(tracks) {
        for (const [track, element] of this.#elements) if (!tracks.includes(track)) this.#drop(track, element);
        for (const track of tracks) if (!this.#elements.has(track)) this.#add(track);
    }

    set muted(muted) {
        this.#muted = muted;
        for (const element of this.#elements.values()) element.muted = muted;
    }

    /** Plays on the chosen device. */
    choose() {
        const id = preferences.get("speaker");
        for (const element of this.#elements.values()) {
            if (element.setSinkId && id !== (element.sinkId ?? "")) element.setSinkId(id).catch(() => {});
        }
    }

    close() {
        this.play([]);
        this.#forgetGesture();
    }

    #add(track) {
        const element = new Audio();
        element.autoplay = true;
        element.muted = this.#muted;
        element.srcObject = new MediaStream([track]);
        this.#elements.set(track, element);
        this.choose();
        this.#play();
    }

    #drop(track, element) {
        element.pause();
        element.srcObject = null;
        this.#elements.delete(track);
    }

    /** A reloaded page may not play audio before a user gesture. */
    async #play() {
        this.#forgetGesture();
        const plays = [...this.#elements.values()].filter((element) => element.paused).map((element) => element.play());
        const isBlocked = (await Promise.allSettled(plays)).some(({ reason }) => reason?.name === "NotAllowedError");
        if (isBlocked) for (const gesture of ["pointerdown", "keydown"]) addEventListener(gesture, this.#resume);
    }

    #forgetGesture() {
        for (const gesture of ["pointerdown", "keydown"]) removeEventListener(gesture, this.#resume);
    }
}
