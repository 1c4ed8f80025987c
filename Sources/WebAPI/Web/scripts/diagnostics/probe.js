// Tests a single STUN or TURN server from this browser.
//
// A connection with only this server gathers candidates. For a relay, a second one does the same, and the two connect
// through it: a measured round trip goes from here to the relay and back, twice.

import { exchangePings } from "./pings.js";

/** A server that is slower than this is useless for calls. */
const GATHERING_TIMEOUT = 8_000;
const CONNECTING_TIMEOUT = 6_000;
/** After the first matching candidate, others from further networks may follow within this time. */
const EXTRA_GATHERING = 300;

/**
 * Returns `{outcome, candidates, errors, first, gathering, pings}`. The outcome is `works`, `refused` (there are
 * errors), `silent`, `unconnected` (allocated, but nothing gets through), `quiet` (STUN without a candidate and without
 * an error), or `unusable` (this browser does not support such servers).
 */
export async function probe(server, signal) {
    const peers = [];
    const open = () => {
        const peer = new ProbingPeer(server);
        peers.push(peer);
        return peer;
    };
    try {
        return server.kind === "stun" ? await testSTUN(open()) : await testRelay(open(), open(), signal);
    } catch (error) {
        signal.throwIfAborted();
        return { outcome: "unusable", candidates: [], errors: [{ code: 0, text: error.message }] };
    } finally {
        peers.forEach((peer) => peer.connection.close());
    }
}

/** STUN: this browser's server-reflexive address. */
async function testSTUN(peer) {
    peer.connection.createDataChannel("probe");
    await peer.gather("srflx");
    const found = peer.candidates.some(({ type }) => type === "srflx");
    const outcome = found ? "works" : peer.errors.length > 0 ? "refused" : peer.isComplete ? "quiet" : "silent";
    return { ...peer.findings, outcome };
}

async function testRelay(here, there, signal) {
    const channel = here.connection.createDataChannel("pings", { ordered: false, maxRetransmits: 0 });
    there.connection.ondatachannel = ({ channel: other }) => { other.onmessage = ({ data }) => other.send(data); };
    const connected = connect(here, there);
    await Promise.all([here.gather("relay"), connected.then(() => there.gather("relay"))]);
    const errors = [...here.errors, ...there.errors];
    const findings = { ...here.findings, errors };
    // A browser makes an allocation on each of its networks, and a test may make eight.
    if (here.relayCount > 1 && errors.some(({ code }) => code === 486)) return { ...findings, outcome: "works" };
    if (!here.hasRelay || !there.hasRelay) return { ...findings, outcome: errors.length > 0 ? "refused" : "silent" };
    signal.throwIfAborted();
    if (!await opened(channel)) return { ...findings, outcome: "unconnected" };
    const pings = await exchangePings(channel, signal);
    return { ...findings, pings, outcome: pings.received > 0 ? "works" : "unconnected" };
}

/** Connects the two. Candidates that arrive before the descriptions wait for them. */
async function connect(here, there) {
    let begin;
    const described = new Promise((resolve) => { begin = resolve; });
    here.onCandidate = (candidate) => described.then(() => there.connection.addIceCandidate(candidate)).catch(() => {});
    there.onCandidate = (candidate) => described.then(() => here.connection.addIceCandidate(candidate)).catch(() => {});
    await here.describe();
    await there.connection.setRemoteDescription(here.connection.localDescription);
    await there.describe();
    await here.connection.setRemoteDescription(there.connection.localDescription);
    begin();
}

function opened(channel) {
    return within(CONNECTING_TIMEOUT, new Promise((resolve) => {
        channel.addEventListener("open", () => resolve(true));
        if (channel.readyState === "open") resolve(true);
    }));
}

/** The promise's value, or undefined after a timeout. */
function within(timeout, promise) {
    return Promise.race([promise, new Promise((resolve) => setTimeout(resolve, timeout))]);
}

/** A connection with one ICE server, and its candidates and errors. */
class ProbingPeer {
    candidates = [];
    errors = [];
    /** Called with each candidate. */
    onCandidate = () => {};
    #described;
    #startedAt;
    #firstAt;
    #endedAt;

    constructor({ url, kind, username, credential }) {
        this.connection = new RTCPeerConnection({
            iceServers: [{ urls: [url], ...(username && { username, credential }) }],
            iceTransportPolicy: kind === "stun" ? "all" : "relay",
        });
        this.connection.addEventListener("icecandidate", ({ candidate }) => {
            if (candidate?.candidate) this.#addCandidate(candidate);
        });
        this.connection.addEventListener("icecandidateerror", ({ errorCode, errorText }) => {
            this.errors.push({ code: errorCode, text: errorText ?? "" });
        });
    }

    get isComplete() { return this.connection.iceGatheringState === "complete"; }
    get relayCount() { return this.candidates.filter(({ type }) => type === "relay").length; }
    get hasRelay() { return this.relayCount > 0; }

    get findings() {
        const since = (moment) => moment === undefined ? undefined : moment - this.#startedAt;
        return { candidates: this.candidates, errors: this.errors, first: since(this.#firstAt), gathering: since(this.#endedAt) };
    }

    /** Sets the local description, which starts the gathering. */
    describe() {
        this.#startedAt ??= performance.now();
        this.#described ??= this.connection.setLocalDescription();
        return this.#described;
    }

    /** Gathers until shortly after a candidate of that type, until there are no more, or until the timeout. */
    async gather(type) {
        const found = new Promise((resolve) => {
            this.connection.addEventListener("icecandidate", ({ candidate }) => {
                if (candidate?.type === type) setTimeout(resolve, EXTRA_GATHERING);
            });
            if (this.candidates.some((one) => one.type === type)) setTimeout(resolve, EXTRA_GATHERING);
        });
        const complete = new Promise((resolve) => {
            const check = () => { if (this.isComplete) resolve(); };
            this.connection.addEventListener("icegatheringstatechange", () => {
                if (this.isComplete) this.#endedAt = performance.now();
                check();
            });
            check();
        });
        await this.describe();
        await within(GATHERING_TIMEOUT, Promise.race([found, complete]));
        await this.#completeFromStatistics();
    }

    /** Some browsers report the relay protocol only in their statistics. */
    async #completeFromStatistics() {
        const reports = [...(await this.connection.getStats()).values()];
        const relay = reports.find(({ type, candidateType }) => type === "local-candidate" && candidateType === "relay");
        for (const candidate of this.candidates) {
            if (candidate.type === "relay") candidate.relayProtocol ||= (relay?.relayProtocol ?? "").toUpperCase();
        }
    }

    #addCandidate(candidate) {
        this.#firstAt ??= performance.now();
        this.candidates.push(candidateSummary(candidate));
        this.onCandidate(candidate);
    }
}

/** Without addresses: the report may be passed on. */
function candidateSummary({ type, protocol, address, relayProtocol }) {
    const family = !address || address.endsWith(".local") ? "hidden" : address.includes(":") ? "IPv6" : "IPv4";
    return { type, protocol: (protocol ?? "").toUpperCase(), family, relayProtocol: (relayProtocol ?? "").toUpperCase() };
}
