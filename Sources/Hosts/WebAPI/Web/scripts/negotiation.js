// Offers and answers between two sides, with the server as the referee.
//
// Either side may offer at any time. The server commits offers one after another: an offer names the generation it
// builds on, and one that comes second is refused with the winner. Whoever lost rolls back, answers the winner and
// offers again, so neither side has to be the polite one. Steps run one at a time, which keeps a remote offer from
// arriving in the middle of making an own one.
//
// A page that was reloaded comes back with a new RTCPeerConnection in the same call. Its offer has another session id
// in the `o=` line, and the old connection cannot continue: this side builds a new one to answer with. An answer from
// another connection than the one that was offered to means that both renewed at once, and this side offers once more.

import { OutgoingCandidates, IncomingCandidates } from "./candidates.js";
import { endpoint } from "./identity.js";

/** The server holds an unanswered offer for 10 s. */
const VOID = 11_000;
const RETRY = 5_000;

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
    #first;
    #wantsOffer = false;
    #wantsRestart = false;
    #void;

    /**
     * `host` owns the connection: `connection`, `rebuild({withPlaces})`, `configure()` (fresh ICE servers), `attach()` (what is
     * sent), `isWell()`, `changed()` (what is received) and `send(kind, generation, payload)`.
     */
    constructor(host) { this.#host = host; }

    get isStarted() { return this.#started; }
    get #connection() { return this.#host.connection; }

    /** Follows a new connection. */
    watch(connection) {
        this.#outgoing?.close();
        this.#incoming = new IncomingCandidates();
        this.#outgoing = new OutgoingCandidates((generation, payload) =>
            this.#host.send("candidates", generation, payload));
        connection.onicecandidate = ({ candidate }) => this.#outgoing.add(candidate);
        connection.onnegotiationneeded = () => { if (this.#started && connection.remoteDescription) this.offer(); };
    }

    /** The first offer, which travels with the new call. Nothing is gathered before `began`. */
    async firstOffer() {
        this.#first = await this.#connection.createOffer();
        return this.#first.sdp;
    }

    /** The call exists, and the first offer was committed as generation 1. */
    began() {
        return this.step(async () => {
            await this.#host.configure();
            await this.#connection.setLocalDescription(this.#first);
            this.generation = 1;
            this.#started = true;
            this.#outgoing.open(1);
        });
    }

    /** Waits for the other side's offer. An own first offer that lost against it is forgotten. */
    expectOffer() {
        this.step(async () => {
            if (this.#first) await this.#host.rebuild();
            this.#started = true;
            await this.#host.configure();
        });
    }

    /** Offers on top of what was negotiated before this page was reloaded. */
    rejoin(generation) {
        this.generation = Math.max(this.generation, generation);
        this.#started = true;
        this.restart();
    }

    /** Goes on with a new connection, which the other side will answer with a new one of its own. */
    renew() {
        this.step(async () => {
            await this.#host.rebuild({ withPlaces: true });
            this.restart();
        });
    }

    /** Takes an offer, an answer or candidates from the other side. */
    receive(signal) {
        return this.step(async () => {
            if (signal.kind === "offer") await this.#answer(signal);
            else if (signal.kind === "answer") await this.#accept(signal);
            else await this.#incoming.add(this.#connection, this.#reached, signal);
        });
    }

    /** Makes a new offer as soon as the connection is stable. */
    offer() {
        this.#wantsOffer = true;
        return this.step(() => this.#makeOffer());
    }

    /** The next offer looks for a new way, with fresh credentials for the relay. */
    restart() {
        this.#wantsRestart = true;
        return this.offer();
    }

    close() {
        this.#closed = true;
        clearTimeout(this.#void);
        this.#outgoing.close();
    }

    step(work) {
        this.#steps = this.#steps.then(async () => { if (!this.#closed) await work(); })
            .catch((error) => { if (!this.#closed) console.warn("negotiation:", error); });
        return this.#steps;
    }

    // One step at a time

    get #reached() { return this.#connection.remoteDescription ? this.generation : 0; }

    async #makeOffer() {
        if (!this.#wantsOffer || !this.#started || this.#connection.signalingState !== "stable") return;
        this.#wantsOffer = false;
        if (this.#wantsRestart) {
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
            this.#wantsRestart = false;
            this.#void = setTimeout(() => this.#expire(generation), VOID);
        } catch (error) {
            await this.#lost(error);
        }
    }

    /** The own offer was not committed: back to before it, and on with the winner if there is one. */
    async #lost(error) {
        await this.#rollBack();
        this.#outgoing.open(this.generation);
        if (error.winner?.from.endpoint === endpoint.id) {
            // An offer that this tab made before it was reloaded.
            this.generation = error.winner.generation;
            this.offer();
        } else if (error.winner) {
            await this.#answer(error.winner);
            this.offer();
        } else if (error.isPassing) {
            setTimeout(() => this.offer(), RETRY);
        }
    }

    async #answer({ generation, payload }) {
        if (generation <= this.generation) return;
        clearTimeout(this.#void);
        await this.#rollBack();
        await this.#meet(originOf(payload.sdp));
        const connection = this.#connection;
        const before = credentialsOf(connection.remoteDescription?.sdp);
        await connection.setRemoteDescription({ type: "offer", sdp: payload.sdp });
        if (before && before !== credentialsOf(payload.sdp)) this.#outgoing.restart();
        this.generation = generation;
        this.#outgoing.hold();
        for (const transceiver of connection.getTransceivers()) {
            if (transceiver.direction !== "stopped") transceiver.direction = "sendrecv";
        }
        await this.#host.attach();
        await connection.setLocalDescription();
        // Not waited for: the answer and the candidates travel in order, and the next step needs neither.
        this.#host.send("answer", generation, { sdp: connection.localDescription.sdp }).catch(() => {});
        this.#outgoing.open(generation);
        await this.#settle(generation);
    }

    async #accept({ generation, payload }) {
        if (generation !== this.generation || this.#connection.signalingState !== "have-local-offer") return;
        clearTimeout(this.#void);
        const origin = originOf(payload.sdp);
        if (this.#connection.remoteDescription && this.#origin !== origin) return void this.renew();
        await this.#connection.setRemoteDescription({ type: "answer", sdp: payload.sdp });
        this.#origin = origin;
        await this.#host.attach();
        await this.#settle(generation);
    }

    async #settle(generation) {
        await this.#incoming.release(this.#connection, generation);
        this.#host.changed();
        if (this.#wantsOffer) this.offer();
    }

    /** An offer from another RTCPeerConnection than before needs another one here, too. */
    async #meet(origin) {
        const isNew = this.#origin && this.#origin !== origin;
        this.#origin = origin;
        if (!isNew) return;
        await this.#host.rebuild();
        await this.#host.configure();
    }

    async #rollBack() {
        if (this.#connection.signalingState === "have-local-offer") {
            await this.#connection.setLocalDescription({ type: "rollback" });
        }
    }

    /** Nobody answered in time, so the offer is void and a new one is made. */
    #expire(generation) {
        this.step(async () => {
            if (this.generation !== generation || this.#connection.signalingState !== "have-local-offer") return;
            await this.#rollBack();
            if (!this.#connection.remoteDescription || !this.#host.isWell()) this.#wantsRestart = true;
            this.offer();
        });
    }
}

const credentialsOf = (sdp) => /^a=ice-ufrag:(\S+)/m.exec(sdp ?? "")?.[1];
const originOf = (sdp) => /^o=\S+ (\S+)/m.exec(sdp)?.[1];
