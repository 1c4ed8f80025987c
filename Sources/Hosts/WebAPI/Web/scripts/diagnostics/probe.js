// Trying one STUN or TURN server from this browser, by itself.
//
// A connection that knows only this server gathers candidates. For a relay, a second one does the same, and the two
// talk through it: what they measure went from here to the relay and back, twice.

import { exchangePings } from "./pings.js";

/** Who has not answered by then will not carry a call either. */
const GATHERING_LIMIT = 8_000;
const CONNECTING_LIMIT = 6_000;
/** After the candidate that was looked for, others of further networks may come. */
const GRACE = 300;

/**
 * Answers `{outcome, candidates, errors, first, gathering, pings}`. The outcome is `works`, `refused` (there are
 * errors), `silent`, `unconnected` (allocated, but nothing comes through), `quiet` (STUN without a candidate and without
 * an error), or `unusable` (this browser does not know such servers).
 */
export async function probe(server, signal) {
    const peers = [];
    const open = () => {
        const peer = new ProbingPeer(server);
        peers.push(peer);
        return peer;
    };
    try {
        return server.kind === "stun" ? await lookOutside(open()) : await relay(open(), open(), signal);
    } catch (error) {
        signal.throwIfAborted();
        return { outcome: "unusable", candidates: [], errors: [{ code: 0, text: error.message }] };
    } finally {
        peers.forEach((peer) => peer.connection.close());
    }
}

/** STUN: how this browser is seen from outside. */
async function lookOutside(peer) {
    peer.connection.createDataChannel("probe");
    await peer.gather("srflx");
    const found = peer.candidates.some(({ type }) => type === "srflx");
    const outcome = found ? "works" : peer.errors.length > 0 ? "refused" : peer.isComplete ? "quiet" : "silent";
    return { ...peer.findings, outcome };
}

async function relay(here, there, signal) {
    const channel = here.connection.createDataChannel("pings", { ordered: false, maxRetransmits: 0 });
    there.connection.ondatachannel = ({ channel: other }) => { other.onmessage = ({ data }) => other.send(data); };
    const connected = connect(here, there);
    await Promise.all([here.gather("relay"), connected.then(() => there.gather("relay"))]);
    const errors = [...here.errors, ...there.errors];
    const findings = { ...here.findings, errors };
    // A browser takes a relay for each network that it has, and eight are all that a test is given.
    if (here.relayCount > 1 && errors.some(({ code }) => code === 486)) return { ...findings, outcome: "works" };
    if (!here.hasRelay || !there.hasRelay) return { ...findings, outcome: errors.length > 0 ? "refused" : "silent" };
    signal.throwIfAborted();
    if (!await opened(channel)) return { ...findings, outcome: "unconnected" };
    const pings = await exchangePings(channel, signal);
    return { ...findings, pings, outcome: pings.received > 0 ? "works" : "unconnected" };
}

/** Makes the two find each other. Candidates that come before the descriptions wait for them. */
async function connect(here, there) {
    let begin;
    const described = new Promise((resolve) => { begin = resolve; });
    here.hand = (candidate) => described.then(() => there.connection.addIceCandidate(candidate)).catch(() => {});
    there.hand = (candidate) => described.then(() => here.connection.addIceCandidate(candidate)).catch(() => {});
    await here.describe();
    await there.connection.setRemoteDescription(here.connection.localDescription);
    await there.describe();
    await here.connection.setRemoteDescription(there.connection.localDescription);
    begin();
}

function opened(channel) {
    return within(CONNECTING_LIMIT, new Promise((resolve) => {
        channel.addEventListener("open", () => resolve(true));
        if (channel.readyState === "open") resolve(true);
    }));
}

/** The promise's value, or nothing when it takes too long. */
function within(limit, promise) {
    return Promise.race([promise, new Promise((resolve) => setTimeout(resolve, limit))]);
}

/** A connection with one server to ask, and what came of it. */
class ProbingPeer {
    candidates = [];
    errors = [];
    /** Called with each candidate. */
    hand = () => {};
    #described;
    #began;
    #first;
    #ended;

    constructor({ url, kind, username, credential }) {
        this.connection = new RTCPeerConnection({
            iceServers: [{ urls: [url], ...(username && { username, credential }) }],
            iceTransportPolicy: kind === "stun" ? "all" : "relay",
        });
        this.connection.addEventListener("icecandidate", ({ candidate }) => {
            if (candidate?.candidate) this.#take(candidate);
        });
        this.connection.addEventListener("icecandidateerror", ({ errorCode, errorText }) => {
            this.errors.push({ code: errorCode, text: errorText ?? "" });
        });
    }

    get isComplete() { return this.connection.iceGatheringState === "complete"; }
    get relayCount() { return this.candidates.filter(({ type }) => type === "relay").length; }
    get hasRelay() { return this.relayCount > 0; }

    get findings() {
        const since = (moment) => moment === undefined ? undefined : moment - this.#began;
        return { candidates: this.candidates, errors: this.errors, first: since(this.#first), gathering: since(this.#ended) };
    }

    /** Sets the local description, which starts the gathering. */
    describe() {
        this.#began ??= performance.now();
        this.#described ??= this.connection.setLocalDescription();
        return this.#described;
    }

    /** Gathers until a candidate of that type came and a moment went by, until there are no more, or until the limit. */
    async gather(type) {
        const found = new Promise((resolve) => {
            this.connection.addEventListener("icecandidate", ({ candidate }) => {
                if (candidate?.type === type) setTimeout(resolve, GRACE);
            });
            if (this.candidates.some((one) => one.type === type)) setTimeout(resolve, GRACE);
        });
        const complete = new Promise((resolve) => {
            const look = () => { if (this.isComplete) resolve(); };
            this.connection.addEventListener("icegatheringstatechange", () => {
                if (this.isComplete) this.#ended = performance.now();
                look();
            });
            look();
        });
        await this.describe();
        await within(GATHERING_LIMIT, Promise.race([found, complete]));
        await this.#completeFromStatistics();
    }

    /** By which protocol a relay is reached, some browsers tell only in their statistics. */
    async #completeFromStatistics() {
        const reports = [...(await this.connection.getStats()).values()];
        const relay = reports.find(({ type, candidateType }) => type === "local-candidate" && candidateType === "relay");
        for (const candidate of this.candidates) {
            if (candidate.type === "relay") candidate.relayProtocol ||= (relay?.relayProtocol ?? "").toUpperCase();
        }
    }

    #take(candidate) {
        this.#first ??= performance.now();
        this.candidates.push(inShort(candidate));
        this.hand(candidate);
    }
}

/** Addresses stay out of it: the report is made to be sent around. */
function inShort({ type, protocol, address, relayProtocol }) {
    const family = !address || address.endsWith(".local") ? "hidden address" : address.includes(":") ? "IPv6" : "IPv4";
    return { type, protocol: (protocol ?? "").toUpperCase(), family, relayProtocol: (relayProtocol ?? "").toUpperCase() };
}
