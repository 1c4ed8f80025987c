// One side of a direct connection: the RTCPeerConnection, what it sends and receives, and finding a new way when the
// old one breaks. How offers and answers are made is negotiation.js.

import { Emitter } from "./emitter.js";
import { Negotiation } from "./negotiation.js";

/** A connection that is "disconnected" often comes back by itself; after this it gets an ICE restart. */
const PATIENCE = 2_000;
const RETRY = 5_000;

/** Events: `state` (connecting, connected, reconnecting), `tracks` when what is received changes. */
export class Peer extends Emitter {
    connection;
    state = "connecting";
    #options;
    #media;
    #negotiation;
    #sending = true;
    #closed = false;
    #patience;
    #unhear;

    /**
     * `send(kind, generation, payload)` posts a signal; `servers()` answers fresh ICE servers; `media` is what is
     * sent; `relayOnly()` says whether addresses are to be kept from the other side; `second` lets the other side
     * try an ICE restart first, so that both do not restart at once.
     */
    constructor({ send, servers, media, relayOnly, second = false }) {
        super();
        this.#options = { servers, relayOnly, second };
        this.#media = media;
        const peer = this;
        this.#negotiation = new Negotiation({
            send,
            get connection() { return peer.connection; },
            rebuild: (options) => this.#rebuild(options),
            configure: () => this.#configure(),
            attach: () => this.#attach(),
            isWell: () => this.state === "connected",
            changed: () => this.emit("tracks"),
        });
        this.#build();
        this.#unhear = media.on("tracks", () => this.#attach());
    }

    /** The caller's first offer, to be sent with the call itself. */
    async firstOffer(kind) {
        await this.#makePlaces(kind);
        return this.#negotiation.firstOffer();
    }

    began() { return this.#negotiation.began(); }
    expectOffer() { this.#negotiation.expectOffer(); }
    receive(signal) { return this.#negotiation.receive(signal); }

    async rejoin(generation, kind) {
        await this.#makePlaces(this.#media.video ? "video" : kind);
        this.#negotiation.rejoin(generation);
    }

    /** Looks for a new way between the two. */
    restart() {
        if (!this.#closed && this.#negotiation.isStarted && this.connection.remoteDescription) this.#negotiation.restart();
    }

    /**
     * Goes on with a new connection. An ICE restart would keep the old way for as long as it works, however the
     * addresses on it are to be hidden.
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
        this.#unhear();
        clearTimeout(this.#patience);
        this.#negotiation.close();
        this.connection.close();
    }

    // The connection

    get #configuration() {
        return { bundlePolicy: "max-bundle", iceTransportPolicy: this.#options.relayOnly() ? "relay" : "all" };
    }

    async #rebuild({ withPlaces = false } = {}) {
        const hadVideo = this.connection.getTransceivers().some(({ receiver }) => receiver.track.kind === "video");
        clearTimeout(this.#patience);
        this.connection.close();
        this.#build();
        if (withPlaces) await this.#makePlaces(hadVideo || this.#media.video ? "video" : "audio");
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

    async #makePlaces(kind) {
        this.connection.addTransceiver("audio", { direction: "sendrecv" });
        if (kind === "video") this.connection.addTransceiver("video", { direction: "sendrecv" });
        await this.#attach();
    }

    /** Puts what is sent on the senders. A picture without a place for it asks for a new offer by itself. */
    async #attach() {
        const tracks = { audio: this.#media.audio, video: this.#media.video };
        for (const kind of ["audio", "video"]) {
            if (this.#closed || this.connection.signalingState === "closed") return;
            const track = this.#sending ? tracks[kind] ?? null : null;
            const place = this.connection.getTransceivers().find((transceiver) =>
                transceiver.receiver.track.kind === kind && transceiver.direction !== "stopped");
            if (place) await place.sender.replaceTrack(track).catch(() => {});
            // `addTrack`, not `addTransceiver`: when both sides add a picture at once, the browser joins the two.
            else if (track && this.#negotiation.isStarted && this.connection.remoteDescription) this.connection.addTrack(track);
        }
    }

    // How it goes

    #watch(connection) {
        if (connection !== this.connection || this.#closed) return;
        const ice = connection.iceConnectionState;
        clearTimeout(this.#patience);
        if (connection.connectionState === "connected" && (ice === "connected" || ice === "completed")) {
            this.#become("connected");
        } else if (ice === "disconnected" || ice === "failed" || connection.connectionState === "failed") {
            this.#become("reconnecting");
            const pause = ice === "disconnected" ? PATIENCE : 0;
            this.#patience = setTimeout(() => this.#persist(), pause + (this.#options.second ? 1_000 : 0));
        }
    }

    /** Restarts until the two have found each other again; the call's lease on the server bounds it. */
    #persist() {
        if (this.#closed || this.state === "connected") return;
        this.restart();
        this.#patience = setTimeout(() => this.#persist(), RETRY);
    }

    #become(state) {
        if (this.state === state) return;
        this.state = state;
        this.emit("state", state);
    }
}
