// The local media: a microphone, a camera and a shared screen.
//
// Nothing here knows about the connection: senders subscribe to `tracks`.

import { t } from "../language/texts.js";
import { Emitter } from "../state/emitter.js";
import { preferences } from "../store/preferences.js";

const audioConstraints = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };
const videoConstraints = { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30 } };
const smallVideoConstraints = { width: { ideal: 320 }, height: { ideal: 240 }, frameRate: { ideal: 15, max: 15 } };

/** Events: `tracks` when a track was added, replaced or removed. */
export class LocalMedia extends Emitter {
    audio;
    camera;
    screen;
    #muted = false;
    #closed = false;
    /** How often each was opened or closed: what was opened before that is not wanted any more. */
    #turns = { audio: 0, camera: 0, screen: 0 };

    /** The video that is sent: the shared screen, otherwise the camera. */
    get video() { return this.screen ?? this.camera; }
    get isMuted() { return this.#muted; }
    /** The microphone, unless it is muted. */
    get voice() { return this.#muted ? undefined : this.audio; }

    async openMicrophone() {
        await this.#open("audio", { audio: { ...audioConstraints, ...chosen("microphone") } });
        if (this.audio) this.audio.enabled = !this.#muted;
    }

    async openCamera() {
        const size = preferences.get("saveData") ? smallVideoConstraints : videoConstraints;
        await this.#open("camera", { video: { ...size, ...chosen("camera") } });
    }

    closeCamera() { this.#closeTrack("camera"); }

    async openScreen() {
        const isWanted = this.#begin("screen");
        const stream = await navigator.mediaDevices.getDisplayMedia({ video: { frameRate: { ideal: 15 } } });
        const [track] = stream.getVideoTracks();
        if (!isWanted()) return track.stop();
        track.contentHint = "detail";
        // The browser's own "stop sharing" bar ends the track.
        track.addEventListener("ended", () => { if (this.screen === track) this.closeScreen(); });
        this.#setTrack("screen", track);
    }

    closeScreen() { this.#closeTrack("screen"); }

    mute(muted) {
        this.#muted = muted;
        if (this.audio) this.audio.enabled = !muted;
        this.emit("tracks");
    }

    close() {
        this.#closed = true;
        for (const name of ["audio", "camera", "screen"]) this.#closeTrack(name);
    }

    async #open(name, constraints) {
        if (!navigator.mediaDevices) throw new DOMException("No media devices", "NotFoundError");
        const isWanted = this.#begin(name);
        const stream = await navigator.mediaDevices.getUserMedia(constraints);
        const [track] = stream.getTracks();
        if (!isWanted()) return track.stop();
        this.#setTrack(name, track);
    }

    /** Returns whether the track that is opened now is still wanted: the user may take a while to allow or choose it. */
    #begin(name) {
        const turn = this.#turns[name] += 1;
        return () => !this.#closed && turn === this.#turns[name];
    }

    #setTrack(name, track) {
        this[name]?.stop();
        this[name] = track;
        this.emit("tracks");
    }

    #closeTrack(name) {
        this.#turns[name] += 1;
        if (!this[name]) return;
        this[name].stop();
        this[name] = undefined;
        this.emit("tracks");
    }
}

function chosen(kind) {
    const id = preferences.get(kind);
    return id ? { deviceId: { ideal: id } } : {};
}

/** The devices to choose from: `{microphone, camera, speaker}`, each a list of `{id, name}`. */
export async function listDevices() {
    const devices = await navigator.mediaDevices?.enumerateDevices() ?? [];
    const of = (kind, what) => devices.filter((device) => device.kind === kind && device.deviceId)
        .map((device, index) => ({ id: device.deviceId, name: device.label || t(`unnamed.${what}`, { number: index + 1 }) }));
    return {
        microphone: of("audioinput", "microphone"),
        camera: of("videoinput", "camera"),
        speaker: of("audiooutput", "speaker"),
    };
}
