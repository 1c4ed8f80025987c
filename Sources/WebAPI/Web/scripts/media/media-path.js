// The path of a call's media: directly to the other side, through the gateway, or moving from the former to the latter.
//
// A call between two that becomes a group call moves without a gap. The leg is set up beside the direct connection,
// which stays in use until the other side's audio arrives from the gateway; then only the leg is played. The direct
// connection keeps sending for a while, since the other side may not have moved yet.

import { randomID } from "../connection/identity.js";
import { request } from "../connection/requests.js";
import { sides } from "../language/format.js";
import { Emitter } from "../state/emitter.js";
import { preferences } from "../store/preferences.js";
import { Leg } from "./leg.js";
import { Peer } from "./peer.js";
import { slotCounts } from "./slots.js";

const POLL_INTERVAL = 100;
/** How long the direct connection is kept after the move. */
const LINGER_TIME = 8_000;
/** After this time only the gateway's media is used. */
const MOVE_TIMEOUT = 30_000;

/** Errors after which no further leg is attempted: the call's document says why. */
const fatalErrors = new Set(["call_ended", "answered_elsewhere", "not_found", "unauthenticated"]);

/** Events: `state`, `tracks`, `error` (an error of the leg). */
export class MediaPath extends Emitter {
    #call;
    #servers;
    #peer;
    #leg;
    #move;
    #retiring;
    #qualityFor = () => "high";

    /** `servers()` returns fresh ICE servers. */
    constructor(call, servers) {
        super();
        this.#call = call;
        this.#servers = servers;
    }

    get peer() { return this.#peer; }
    get leg() { return this.#leg; }
    /** The leg's connection, otherwise the direct one. */
    get connection() { return (this.#leg ?? this.#peer)?.connection; }

    /** Which path the received media takes: `direct` or `gateway`. */
    get kind() { return this.#leg && !this.#move ? "gateway" : "direct"; }

    get state() {
        if (this.#move && this.#peer?.state === "connected") return "connected";
        return (this.#leg ?? this.#peer)?.state ?? "connecting";
    }

    /** What is received: `{user, source, kind, receiver, track}`. */
    get received() {
        if (!this.#leg) return this.#direct;
        if (!this.#move) return this.#leg.received;
        const direct = this.#direct;
        const users = new Set(direct.map((one) => one.user));
        return [...direct, ...this.#leg.received.filter((one) => !users.has(one.user))];
    }

    // The two paths

    connectDirectly({ isCallee }) {
        const call = this.#call;
        this.#peer = new Peer({
            send: (kind, generation, payload) =>
                request("calls.signals", { call: call.id, clientID: randomID(), kind, generation, payload }),
            servers: this.#servers,
            media: call.media,
            relayOnly: () => preferences.get("relayOnly"),
            isCallee,
        });
        this.#forwardEvents(this.#peer);
        return this.#peer;
    }

    /** Connects to the gateway, or updates the leg after a change of the call. */
    connectToGateway(document) {
        if (this.#leg) return this.#leg.update(document.gatewayEpoch);
        const call = this.#call;
        this.#leg = new Leg({
            offer: (sdp, sources) =>
                request("calls.leg", { call: call.id, offer: { sdp }, sources }, { timeout: 0 }),
            request: (slots) => request("calls.slots", { call: call.id, slots }, { timeout: 0 }),
            qualityFor: (track) => this.#qualityFor(track),
            servers: this.#servers,
            slotCounts: () => slotCounts(call.document.participants, call.me),
            media: call.media,
            relayOnly: () => preferences.get("relayOnly"),
            epoch: document.gatewayEpoch,
            isFatal: (error) => fatalErrors.has(error.type),
        });
        this.#forwardEvents(this.#leg);
        this.#leg.on("error", (error) => this.emit("error", error));
        if (this.#peer) this.#startMove();
        return undefined;
    }

    #forwardEvents(source) {
        source.on("state", () => this.emit("state", this.state));
        source.on("tracks", () => this.emit("tracks"));
    }

    get #direct() {
        const { other } = this.#call.document ? sides(this.#call.document, this.#call.me) : {};
        if (!other || !this.#peer) return [];
        return this.#peer.connection.getReceivers().filter(({ track }) => track).map((receiver) => ({
            user: this.#peerUser ?? other.user, kind: receiver.track.kind, receiver, track: receiver.track,
            source: receiver.track.kind === "audio" ? "microphone" : other.media?.screen ? "screen" : "camera",
        }));
    }

    // Moving from the direct connection to the gateway

    /** The user at the other end of the direct connection, once there are more than two. */
    get #peerUser() { return this.#move?.user; }

    #startMove() {
        const { other } = sides(this.#call.document, this.#call.me);
        if (this.#peer.state !== "connected" || !other) return this.#retirePeer(0);
        this.#move = { user: other.user, since: performance.now() };
        this.#move.timer = setInterval(() => this.#checkMove(), POLL_INTERVAL);
        return undefined;
    }

    async #checkMove() {
        const { user, since } = this.#move;
        const participant = this.#call.document.participants.find((one) => one.user === user);
        const isSilent = participant?.state !== "joined" || participant.media?.audio === false || participant.media?.held;
        const isUp = this.#leg.state === "connected";
        const isLate = performance.now() - since > MOVE_TIMEOUT || this.#peer.state !== "connected" && isUp;
        const hasAudio = isUp && (isSilent || await this.#leg.receivesAudio(user));
        if (!this.#move || !(hasAudio || isLate)) return;
        this.#retirePeer(LINGER_TIME);
        this.emit("tracks");
        this.emit("state", this.state);
    }

    #retirePeer(delay) {
        clearInterval(this.#move?.timer);
        this.#move = undefined;
        const peer = this.#peer;
        this.#peer = undefined;
        this.#retiring = { peer, timer: setTimeout(() => this.#closeRetiredPeer(), delay) };
        peer.on("state", (state) => { if (state !== "connected") this.#closeRetiredPeer(); });
    }

    #closeRetiredPeer() {
        clearTimeout(this.#retiring?.timer);
        this.#retiring?.peer.close();
        this.#retiring = undefined;
    }

    // Both paths

    setSending(sending) {
        for (const one of [this.#peer, this.#retiring?.peer, this.#leg]) one?.setSending(sending);
    }

    /** Sets the preferred quality of everybody's camera and screen, `qualityFor({user, source})`. */
    setPreferredQuality(qualityFor) {
        this.#qualityFor = qualityFor;
        this.#leg?.updatePreferences();
    }

    /** Restarts ICE. */
    restart() { (this.#leg ?? this.#peer)?.restart(); }

    /** Replaces the connection by a new one. */
    renew() { (this.#leg ?? this.#peer)?.renew(); }

    close() {
        clearInterval(this.#move?.timer);
        this.#move = undefined;
        this.#closeRetiredPeer();
        this.#peer?.close();
        this.#leg?.close();
    }
}
