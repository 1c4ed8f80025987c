// Two sides of a direct call with real connections, and a server in between that commits their offers.
//
// The server follows the rules of Sources/Domain/Calls/Signals/Negotiation.swift: an offer that does not build on the
// latest generation, or that meets an unanswered one of the other side, is rejected with that one.

import { Emitter } from "/scripts/state/emitter.js";
import { Peer } from "/scripts/media/peer.js";
import { Problem } from "/scripts/connection/problems.js";

class Media extends Emitter {
    audio;
    video;
}

export class TwoSides {
    generation = 0;
    /** The committed offers as `[side, generation]`. */
    offers = [];
    /** The rejected offers as `[side, the generation it builds on]`. */
    rejections = [];
    peers = {};
    media = { a: new Media(), b: new Media() };
    /** While it is set, offers, answers and candidates to the sides are kept in it. */
    held;
    /** Called with each signal to a side; one for which it returns false is lost. */
    filter = () => true;
    #offer;

    constructor() {
        for (const name of ["a", "b"]) this.open(name);
    }

    /** A new page of that side. */
    open(name) {
        this.peers[name]?.close();
        this.peers[name] = new Peer({
            send: async (kind, generation, payload) => this.#handle(name, kind, generation, payload),
            servers: async () => [],
            media: this.media[name],
            relayOnly: () => false,
            isCallee: name === "b",
        });
    }

    /** A calls, and B accepts. */
    async connect(kind = "audio") {
        const { a, b } = this.peers;
        b.expectOffer();
        const sdp = await a.firstOffer(kind);
        this.#commit("a", { sdp });
        await a.firstOfferCommitted();
        await this.until("both to be stable", () => this.isStable);
    }

    /** Delivers what was held. */
    release() {
        const held = this.held;
        this.held = undefined;
        for (const [name, signal] of held) this.peers[name].receive(signal);
    }

    get isStable() {
        const isAnswered = this.#offer?.isAnswered ?? false;
        return isAnswered && Object.values(this.peers).every(({ connection }) =>
            connection.signalingState === "stable" && connection.remoteDescription);
    }

    /** Whether the two have negotiated with each other: the credentials that each has for the other are the other's. */
    get doesMatch() {
        const credentials = (description) => /^a=ice-ufrag:(\S+)/m.exec(description?.sdp ?? "")?.[1];
        const { a: { connection: a }, b: { connection: b } } = this.peers;
        return credentials(a.localDescription) === credentials(b.remoteDescription)
            && credentials(b.localDescription) === credentials(a.remoteDescription);
    }

    async until(what, condition, limit = 8_000) {
        const end = performance.now() + limit;
        while (!condition()) {
            if (performance.now() > end) {
                throw new Error(`waited for ${what}: ${JSON.stringify([this.offers, this.rejections])}`);
            }
            await new Promise((resolve) => setTimeout(resolve, 10));
        }
    }

    close() { for (const peer of Object.values(this.peers)) peer.close(); }

    #handle(name, kind, generation, payload) {
        if (kind === "offer") return this.#handleOffer(name, generation, payload);
        if (generation < this.generation) return { status: "ignored" };
        if (kind === "answer") {
            if (this.#offer.isAnswered) return { status: "ignored" };
            this.#offer.isAnswered = true;
        }
        this.#deliver(name, { kind, generation, payload });
        return { status: "delivered" };
    }

    #handleOffer(name, base, payload) {
        const current = this.#offer;
        if (current && (base !== this.generation || (!current.isAnswered && current.from.endpoint !== name))) {
            this.rejections.push([name, base]);
            const { from, generation } = current;
            const winner = { kind: "offer", from, generation, payload: current.payload };
            throw new Problem({ type: "conflict", status: 409, winner });
        }
        this.#commit(name, payload);
        return { generation: this.generation };
    }

    #commit(name, payload) {
        this.generation += 1;
        this.offers.push([name, this.generation]);
        this.#offer = { from: { endpoint: name }, generation: this.generation, payload, isAnswered: false };
        this.#deliver(name, { kind: "offer", generation: this.generation, payload });
    }

    #deliver(from, signal) {
        const to = from === "a" ? "b" : "a";
        if (!this.filter(to, signal)) return;
        if (this.held) this.held.push([to, signal]); else this.peers[to].receive(signal);
    }
}
