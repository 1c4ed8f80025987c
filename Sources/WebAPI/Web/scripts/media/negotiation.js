// Offers and answers between two sides; the server resolves glare.
//
// Either side may offer at any time. The server commits offers one after another: an offer names the generation it
// builds on, and of two the second is rejected with the winner. The loser rolls back, answers the winner and
// offers again, so neither side has to be the polite one. Steps run one at a time, so that a remote offer is never
// handled while a local one is being made.
//
// A page that was reloaded returns with a new RTCPeerConnection in the same call. Its offer has another session id
// in the `o=` line, and the old connection cannot continue: this side creates a new one to answer with. An answer from
// another connection than before means that both were replaced at once, and this side offers once more.

import { endpoint } from "../connection/identity.js";
import { OutgoingCandidates, IncomingCandidates } from "./candidates.js";

/** The server keeps an unanswered offer for 10 s. */
const OFFER_TIMEOUT = 11_000;
const RETRY_DELAY = 5_000;

export class Negotiation {
    /** The newest offer that the server committed, from either side. */
    generation = 0;
    #host;
    #started = false;
    #closed = false;
    #steps = Promise.resolve();
    #outgoing;
    #incoming;
    #origin;
    #firstOffer;
    #needsOffer = false;
    #needsRestart = false;
    #offerTimer;

    /**
     * `host` owns the connection: `connection`, `rebuild({withTransceivers})`, `configure()` (fresh ICE servers),
     * `attach()` (the tracks sent), `isConnected()`, `tracksChanged()`, `settled()` (an offer was answered) and
     * `send(kind, generation, payload)`.
     */
    constructor(host) { this.#host = host; }

    get isStarted() { return this.#started; }
    get #connection() { return this.#host.connection; }

    /** Attaches to a new connection. */
    watch(connection) {
        this.#outgoing?.close();
        this.#incoming = new IncomingCandidates();
        this.#outgoing = new OutgoingCandidates((generation, payload) =>
            this.#host.send("candidates", generation, payload));
        connection.onicecandidate = ({ candidate }) => this.#outgoing.add(candidate);
        connection.onnegotiationneeded = () => { if (this.#started && connection.remoteDescription) this.offer(); };
    }

    /** The first offer, which is sent with the new call. Nothing is gathered before `firstOfferCommitted`. */
    async firstOffer() {
        this.#firstOffer = await this.#connection.createOffer();
        return this.#firstOffer.sdp;
    }

    /** The call exists, and the first offer was committed as generation 1. */
    firstOfferCommitted() {
        return this.step(async () => {
            await this.#host.configure();
            await this.#connection.setLocalDescription(this.#firstOffer);
            this.generation = 1;
            this.#started = true;
            this.#outgoing.open(1);
        });
    }

    /** Waits for the other side's offer. A local first offer that lost against it is dropped. */
    expectOffer() {
        this.step(async () => {
            if (this.#firstOffer) await this.#host.rebuild();
            this.#started = true;
            await this.#host.configure();
        });
    }

    /** Makes an offer after the generation that was negotiated before this page was reloaded. */
    rejoin(generation) {
        this.generation = Math.max(this.generation, generation);
        this.#started = true;
        this.restart();
    }

    /** Replaces the connection by a new one, which the other side will answer with a new one of its own. */
    renew() {
        this.step(async () => {
            await this.#host.rebuild({ withTransceivers: true });
            this.restart();
        });
    }

    /** Handles an offer, an answer or candidates from the other side. */
    receive(signal) {
        return this.step(async () => {
            if (signal.kind === "offer") await this.#answer(signal);
            else if (signal.kind === "answer") await this.#accept(signal);
            else await this.#incoming.add(this.#connection, this.#remoteGeneration, signal);
        });
    }

    /** Makes a new offer as soon as the connection is stable. */
    offer() {
        this.#needsOffer = true;
        return this.step(() => this.#makeOffer());
    }

    /** The next offer restarts ICE, with fresh credentials for the relay. */
    restart() {
        this.#needsRestart = true;
        return this.offer();
    }

    close() {
        this.#closed = true;
        clearTimeout(this.#offerTimer);
        this.#outgoing.close();
    }

    step(work) {
        this.#steps = this.#steps.then(async () => { if (!this.#closed) await work(); })
            .catch((error) => { if (!this.#closed) console.warn("negotiation:", error); });
        return this.#steps;
    }

    // One step at a time

    get #remoteGeneration() { return this.#connection.remoteDescription ? this.generation : 0; }

    async #makeOffer() {
        if (!this.#needsOffer || !this.#started || this.#connection.signalingState !== "stable") return;
        this.#needsOffer = false;
        if (this.#needsRestart) {
            await this.#host.configure();
            this.#outgoing.restart();
            this.#connection.restartIce();
        }
        this.#outgoing.hold();
        await this.#connection.setLocalDescription();
        try {
            const { sdp } = this.#connection.localDescription;
            const { generation } = await this.#host.send("offer", this.generation, { sdp });
            this.generation = Math.max(this.generation, generation);
            this.#outgoing.open(generation);
            this.#needsRestart = false;
            this.#offerTimer = setTimeout(() => this.#expire(generation), OFFER_TIMEOUT);
        } catch (error) {
            await this.#handleRejection(error);
        }
    }

    /** The local offer was not committed: rolls back, and answers the winner if there is one. */
    async #handleRejection({ winner, isTransient }) {
        // An offer that this tab made before it was reloaded is nobody's to answer.
        const isOwn = Boolean(winner) && winner.from.endpoint === endpoint.id;
        await this.#rollBack({ isToAnswer: Boolean(winner) && !isOwn });
        this.#outgoing.open(this.generation);
        if (isOwn) {
            this.generation = winner.generation;
            this.offer();
        } else if (winner) {
            // What the local offer was to restart, the winner's has.
            if (await this.#answer(winner)) this.#needsRestart = false;
            this.offer();
        } else if (isTransient) {
            setTimeout(() => this.offer(), RETRY_DELAY);
        }
    }

    /** Resolves to whether the offer began ICE anew. */
    async #answer({ generation, payload }) {
        if (generation <= this.generation) return false;
        clearTimeout(this.#offerTimer);
        await this.#rollBack({ isToAnswer: true });
        await this.#matchOrigin(originOf(payload.sdp));
        const connection = this.#connection;
        const before = credentialsOf(connection.remoteDescription?.sdp);
        await connection.setRemoteDescription({ type: "offer", sdp: payload.sdp });
        const isRestart = before !== credentialsOf(payload.sdp);
        if (before && isRestart) this.#outgoing.restart();
        this.generation = generation;
        this.#outgoing.hold();
        for (const transceiver of connection.getTransceivers()) {
            if (transceiver.direction !== "stopped") transceiver.direction = "sendrecv";
        }
        await this.#host.attach();
        await connection.setLocalDescription();
        // Not awaited: the answer and the candidates are sent in order, and the next step needs neither.
        this.#host.send("answer", generation, { sdp: connection.localDescription.sdp }).catch(() => {});
        this.#outgoing.open(generation);
        await this.#settle(generation);
        return isRestart;
    }

    async #accept({ generation, payload }) {
        if (generation !== this.generation || this.#connection.signalingState !== "have-local-offer") return;
        clearTimeout(this.#offerTimer);
        const origin = originOf(payload.sdp);
        if (this.#connection.remoteDescription && this.#origin !== origin) return void this.renew();
        await this.#connection.setRemoteDescription({ type: "answer", sdp: payload.sdp });
        this.#origin = origin;
        await this.#host.attach();
        await this.#settle(generation);
    }

    async #settle(generation) {
        await this.#incoming.release(this.#connection, generation);
        this.#host.tracksChanged();
        this.#host.settled();
        if (this.#needsOffer) this.offer();
    }

    /** An offer from another RTCPeerConnection than before needs a new one here, too. */
    async #matchOrigin(origin) {
        const isNew = this.#origin && this.#origin !== origin;
        this.#origin = origin;
        if (!isNew) return;
        await this.#host.rebuild();
        await this.#host.configure();
    }

    /**
     * A connection whose first offer this is gets replaced: after a rollback in the middle of gathering, Chromium may gather
     * nothing any more, and then neither connects nor fails.
     */
    async #rollBack({ isToAnswer = false } = {}) {
        if (this.#connection.signalingState !== "have-local-offer") return;
        if (this.#connection.remoteDescription) return void await this.#connection.setLocalDescription({ type: "rollback" });
        await this.#host.rebuild({ withTransceivers: !isToAnswer });
        await this.#host.configure();
    }

    /** The offer was not answered in time: it has expired, and a new one is made. */
    #expire(generation) {
        this.step(async () => {
            if (this.generation !== generation || this.#connection.signalingState !== "have-local-offer") return;
            await this.#rollBack();
            if (!this.#connection.remoteDescription || !this.#host.isConnected()) this.#needsRestart = true;
            this.offer();
        });
    }
}

const credentialsOf = (sdp) => /^a=ice-ufrag:(\S+)/m.exec(sdp ?? "")?.[1];
const originOf = (sdp) => /^o=\S+ (\S+)/m.exec(sdp)?.[1];
