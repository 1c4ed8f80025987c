// Records a voice message on the server: a send-only connection to the media gateway. The audio is on the server
// already when it is finished, however bad the network has become.

import { request } from "../connection/requests.js";
import { t } from "../language/texts.js";
import { preferences } from "../store/preferences.js";

const CONNECT_TIMEOUT = 5_000;
/** A connection that is "disconnected" often recovers by itself within this time. */
const DISCONNECTED_TIMEOUT = 8_000;
const FINISH_TIMEOUT = 60_000;

export class LegRecorder {
    #track;
    #connection;
    #recording;
    #begin;
    #end;
    #timer;
    #isCancelled = false;

    static get isPossible() { return Boolean(globalThis.RTCPeerConnection); }

    constructor(track) { this.#track = track; }

    get elapsed() { return this.#begin === undefined ? 0 : (this.#end ?? performance.now()) - this.#begin; }
    get hasEnded() { return this.#end !== undefined; }

    async start() {
        try {
            await this.#connect();
        } catch (error) {
            this.cancel();
            throw error;
        }
        this.#begin = performance.now();
        this.#connection.onconnectionstatechange = () => this.#watch();
        this.#watch();
    }

    async finish() {
        clearTimeout(this.#timer);
        this.#end ??= performance.now();
        const { file } = await request("voice.finishRecording", { recording: this.#recording }, { timeout: FINISH_TIMEOUT });
        this.#connection.close();
        return { file: file.id, expiresAt: file.expiresAt };
    }

    cancel() {
        this.#isCancelled = true;
        clearTimeout(this.#timer);
        this.#connection?.close();
        // If the request does not arrive, the server discards the recording after a while.
        if (this.#recording) request("voice.discardRecording", { recording: this.#recording }).catch(() => {});
        this.#recording = undefined;
    }

    async #connect() {
        const iceServers = await servers();
        const iceTransportPolicy = preferences.get("relayOnly") ? "relay" : "all";
        const connection = new RTCPeerConnection({ iceServers, iceTransportPolicy, bundlePolicy: "max-bundle" });
        this.#connection = connection;
        connection.addTransceiver(this.#track, { direction: "sendonly" });
        await connection.setLocalDescription();
        const { recording, answer } = await request("voice.record",
            { offer: { sdp: connection.localDescription.sdp } }, { timeout: CONNECT_TIMEOUT });
        this.#recording = recording;
        if (this.#isCancelled) return this.cancel();
        await connection.setRemoteDescription({ type: "answer", sdp: answer.sdp });
        await connected(connection);
    }

    /** The audio up to a lost connection is on the server, and can be sent. */
    #watch() {
        clearTimeout(this.#timer);
        const { connectionState } = this.#connection;
        if (connectionState === "disconnected") this.#timer = setTimeout(() => this.#markEnded(), DISCONNECTED_TIMEOUT);
        if (connectionState === "failed" || connectionState === "closed") this.#markEnded();
    }

    #markEnded() {
        if (!this.#isCancelled) this.#end ??= performance.now();
    }
}

/** Works without any servers, unless the network needs a relay. */
async function servers() {
    try { return (await request("iceServers.get", { scope: "gateway" }, { timeout: 2_000 })).iceServers; } catch { return []; }
}

function connected(connection) {
    return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(t("voice.unreachable"))), CONNECT_TIMEOUT);
        const check = () => {
            if (connection.connectionState === "connected") resolve();
            else if (["failed", "closed"].includes(connection.connectionState)) reject(new Error(t("voice.unreachable")));
            else return;
            clearTimeout(timer);
        };
        connection.addEventListener("connectionstatechange", check);
        check();
    });
}
