// What is heard: an audio element for every track, which outlives whatever is shown.
//
// The elements belong to the call and not to its screen, so that a voice goes on without a gap while the screen changes,
// or the connection that brings it.

import { preferences } from "./preferences.js";

export class Speakers {
    /** Track -> element. */
    #elements = new Map();
    #muted = false;
    #resume = () => this.#play();

    /** Plays these tracks and no others. */
    play(tracks) {
        for (const [track, element] of this.#elements) if (!tracks.includes(track)) this.#drop(track, element);
        for (const track of tracks) if (!this.#elements.has(track)) this.#add(track);
    }

    set muted(muted) {
        this.#muted = muted;
        for (const element of this.#elements.values()) element.muted = muted;
    }

    /** Plays on the device that was chosen. */
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

    /** A page that came back by itself may not sound before somebody touches it. */
    async #play() {
        this.#forgetGesture();
        const plays = [...this.#elements.values()].filter((element) => element.paused).map((element) => element.play());
        const refused = (await Promise.allSettled(plays)).some(({ reason }) => reason?.name === "NotAllowedError");
        if (refused) for (const gesture of ["pointerdown", "keydown"]) addEventListener(gesture, this.#resume);
    }

    #forgetGesture() {
        for (const gesture of ["pointerdown", "keydown"]) removeEventListener(gesture, this.#resume);
    }
}
