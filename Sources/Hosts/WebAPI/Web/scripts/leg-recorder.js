// A voice to the server while it is spoken: a connection with the media gateway that only sends. What was said is there
// already when it is to be sent, however bad the way to the server has become.

import { preferences } from "./preferences.js";
import { request } from "./requests.js";

/** A connection that is not there by then is not waited for. */
const PATIENCE = 5_000;
/** One that is "disconnected" often comes back by itself. */
const LOST = 8_000;
const SENDING = 60_000;

export class LegRecorder {
    #track;
    #connection;
    #recording;
    #begin;
    #end;
    #timer;
    #isOver = false;

    static get isPossible() { return Boolean(globalThis.RTCPeerConnection); }

    constructor(track) { this.#track = track; }

    get elapsed() { return this.#begin === undefined ? 0 : (this.#end ?? performance.now()) - this.#begin; }
    get hasEnded() { return this.#end !== undefined; }

    async start(to) {
        try {
            await this.#connect(to);
        } catch (error) {
            this.cancel();
            throw error;
        }
        this.#begin = performance.now();
        this.#connection.onconnectionstatechange = () => this.#watch();
        this.#watch();
    }

    async send() {
        clearTimeout(this.#timer);
        this.#end ??= performance.now();
        const { message } = await request("voice.sendRecording", { recording: this.#recording }, { patience: SENDING });
        this.#connection.close();
        return message;
    }

    cancel() {
        this.#isOver = true;
        clearTimeout(this.#timer);
        this.#connection?.close();
        // Where that does not arrive, the server throws it away after a while.
        if (this.#recording) request("voice.discardRecording", { recording: this.#recording }).catch(() => {});
        this.#recording = undefined;
    }

    async #connect(to) {
        const iceServers = await servers();
        const iceTransportPolicy = preferences.get("relayOnly") ? "relay" : "all";
        const connection = new RTCPeerConnection({ iceServers, iceTransportPolicy, bundlePolicy: "max-bundle" });
        this.#connection = connection;
        connection.addTransceiver(this.#track, { direction: "sendonly" });
        await connection.setLocalDescription();
        const { recording, answer } = await request("voice.record",
            { to, offer: { sdp: connection.localDescription.sdp } }, { patience: PATIENCE });
        this.#recording = recording;
        if (this.#isOver) return this.cancel();
        await connection.setRemoteDescription({ type: "answer", sdp: answer.sdp });
        await connected(connection);
    }

    /** What was said until the connection broke is there, and can be sent. */
    #watch() {
        clearTimeout(this.#timer);
        const { connectionState } = this.#connection;
        if (connectionState === "disconnected") this.#timer = setTimeout(() => this.#lose(), LOST);
        if (connectionState === "failed" || connectionState === "closed") this.#lose();
    }

    #lose() {
        if (!this.#isOver) this.#end ??= performance.now();
    }
}

/** Those of the relay are only needed where nothing else gets through. */
async function servers() {
    try { return (await request("iceServers.get", { scope: "gateway" }, { patience: 2_000 })).iceServers; } catch { return []; }
}

function connected(connection) {
    return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error("The gateway cannot be reached.")), PATIENCE);
        const look = () => {
            if (connection.connectionState === "connected") resolve();
            else if (["failed", "closed"].includes(connection.connectionState)) reject(new Error("The gateway cannot be reached."));
            else return;
            clearTimeout(timer);
        };
        connection.addEventListener("connectionstatechange", look);
        look();
    });
}
