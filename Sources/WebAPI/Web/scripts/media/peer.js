// One side of a direct connection: the RTCPeerConnection, what it sends and receives, and ICE restarts when it fails.
// Offers and answers are in negotiation.js.

import { Emitter } from "../state/emitter.js";
import { Negotiation } from "./negotiation.js";

/** A connection that is "disconnected" often recovers by itself; after this time it gets an ICE restart. */
const DISCONNECTED_TIMEOUT = 2_000;
const RESTART_INTERVAL = 5_000;
/** A connection that finds no candidates never fails; after this time without one it gets an ICE restart, too. */
const CONNECT_TIMEOUT = 15_000;

/** Events: `state` (connecting, connected, reconnecting), `tracks` when what is received changes. */
export class Peer extends Emitter {
    connection;
    state = "connecting";
    #options;
    #media;
    #negotiation;
    #sending = true;
    #closed = false;
    #restartTimer;
    #connectTimer;
    #unsubscribe;

    /**
     * `send(kind, generation, payload)` posts a signal; `servers()` returns fresh ICE servers; `media` is what is
     * sent; `relayOnly()` says whether addresses are hidden from the other side; `isCallee` delays ICE restarts, so
     * that both sides do not restart at once.
     */
    constructor({ send, servers, media, relayOnly, isCallee = false }) {
        super();
        this.#options = { servers, relayOnly, isCallee };
        this.#media = media;
        const peer = this;
        this.#negotiation = new Negotiation({
            send,
            get connection() { return peer.connection; },
            rebuild: (options) => this.#rebuild(options),
            configure: () => this.#configure(),
            attach: () => this.#attach(),
            isConnected: () => this.state === "connected",
            tracksChanged: () => this.emit("tracks"),
            settled: () => this.#expectConnection(),
        });
        this.#build();
        this.#unsubscribe = media.on("tracks", () => this.#attach());
    }

    /** The caller's first offer, to be sent with the call itself. */
    async firstOffer(kind) {
        await this.#addTransceivers(kind);
        return this.#negotiation.firstOffer();
    }

    firstOfferCommitted() { return this.#negotiation.firstOfferCommitted(); }
    expectOffer() { this.#negotiation.expectOffer(); }
    receive(signal) { return this.#negotiation.receive(signal); }

    async rejoin(generation, kind) {
        await this.#addTransceivers(this.#media.video ? "video" : kind);
        this.#negotiation.rejoin(generation);
    }

    /** Restarts ICE. */
    restart() {
        if (!this.#closed && this.#negotiation.isStarted && this.connection.remoteDescription) this.#negotiation.restart();
    }

    /**
     * Replaces the connection by a new one. An ICE restart would keep the old path as long as it works, even if its
     * addresses should be hidden.
     */
    renew() {
        if (this.#negotiation.isStarted) this.#negotiation.renew();
    }

    /** Stops or starts sending without a new offer: hold. */
    async setSending(sending) {
        this.#sending = sending;
        await this.#attach();
    }

    get receivedTracks() {
        return this.connection.getReceivers().map((receiver) => receiver.track).filter(Boolean);
    }

    close() {
        this.#closed = true;
        this.#unsubscribe();
        clearTimeout(this.#restartTimer);
        clearTimeout(this.#connectTimer);
        this.#negotiation.close();
        this.connection.close();
    }

    // The connection

    get #configuration() {
        return { bundlePolicy: "max-bundle", iceTransportPolicy: this.#options.relayOnly() ? "relay" : "all" };
    }

    async #rebuild({ withTransceivers = false } = {}) {
        const hadVideo = this.connection.getTransceivers().some(({ receiver }) => receiver.track.kind === "video");
        clearTimeout(this.#restartTimer);
        this.connection.close();
        this.#build();
        if (withTransceivers) await this.#addTransceivers(hadVideo || this.#media.video ? "video" : "audio");
    }

    #build() {
        const connection = new RTCPeerConnection(this.#configuration);
        this.connection = connection;
        this.#negotiation.watch(connection);
        connection.onconnectionstatechange = () => this.#watch(connection);
        connection.oniceconnectionstatechange = () => this.#watch(connection);
        connection.ontrack = () => this.emit("tracks");
    }

    async #configure() {
        const iceServers = await this.#options.servers();
        if (!this.#closed) this.connection.setConfiguration({ ...this.#configuration, iceServers });
    }

    async #addTransceivers(kind) {
        this.connection.addTransceiver("audio", { direction: "sendrecv" });
        if (kind === "video") this.connection.addTransceiver("video", { direction: "sendrecv" });
        await this.#attach();
    }

    /** Sets the tracks of the senders. Video without a transceiver adds one, which needs a new offer. */
    async #attach() {
        const tracks = { audio: this.#media.audio, video: this.#media.video };
        for (const kind of ["audio", "video"]) {
            if (this.#closed || this.connection.signalingState === "closed") return;
            const track = this.#sending ? tracks[kind] ?? null : null;
            const transceiver = this.connection.getTransceivers().find((one) =>
                one.receiver.track.kind === kind && one.direction !== "stopped");
            if (transceiver) await transceiver.sender.replaceTrack(track).catch(() => {});
            // `addTrack`, not `addTransceiver`: when both sides add video at once, the browser pairs the two.
            else if (track && this.#negotiation.isStarted && this.connection.remoteDescription) this.connection.addTrack(track);
        }
    }

    // Connection state

    #watch(connection) {
        if (connection !== this.connection || this.#closed) return;
        const ice = connection.iceConnectionState;
        clearTimeout(this.#restartTimer);
        if (connection.connectionState === "connected" && (ice === "connected" || ice === "completed")) {
            this.#setState("connected");
        } else if (ice === "disconnected" || ice === "failed" || connection.connectionState === "failed") {
            this.#setState("reconnecting");
            const delay = ice === "disconnected" ? DISCONNECTED_TIMEOUT : 0;
            this.#restartTimer = setTimeout(() => this.#restartUntilConnected(), delay + (this.#options.isCallee ? 1_000 : 0));
        }
    }

    /** Restarts ICE until the connection is back; the call's lease on the server bounds that. */
    #restartUntilConnected() {
        if (this.#closed || this.state === "connected") return;
        this.restart();
        this.#restartTimer = setTimeout(() => this.#restartUntilConnected(), RESTART_INTERVAL);
    }

    #expectConnection() {
        if (this.state !== "connecting" || this.#closed) return;
        this.#connectTimer ??= setTimeout(() => {
            this.#connectTimer = undefined;
            // The answer to that begins the time anew.
            if (this.state === "connecting") this.restart();
        }, CONNECT_TIMEOUT + (this.#options.isCallee ? 1_000 : 0));
    }

    #setState(state) {
        if (this.state === state) return;
        this.state = state;
        this.emit("state", state);
    }
}
