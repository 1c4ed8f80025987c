// The ways that a call's media takes: straight to the other side, through the gateway, or from the one to the other.
//
// A call between two that becomes a group's moves without a gap. The leg is built beside the direct connection, which
// stays in use until the other side's voice comes out of the gateway; then only the leg is heard. The direct connection
// goes on sending for a while, since the other side may not be as far.

import { credentials } from "./credentials.js";
import { Emitter } from "./emitter.js";
import { Leg } from "./leg.js";
import { Peer } from "./peer.js";
import { preferences } from "./preferences.js";
import { request } from "./requests.js";
import { randomID } from "./identity.js";
import { slotsWanted } from "./slots.js";
import { sides } from "./format.js";

const LOOK = 100;
/** How long the direct connection outlives its use. */
const FAREWELL = 8_000;
/** After this what the gateway brings is all there is. */
const LIMIT = 30_000;

/** Refusals after which no leg will come: the call's document says the rest. */
const over = new Set(["call_ended", "answered_elsewhere", "not_found", "unauthenticated"]);

/** Events: `state`, `tracks`, `trouble` (an error of the leg). */
export class Ways extends Emitter {
    #call;
    #servers;
    #peer;
    #leg;
    #moving;
    #retiring;
    #enough = () => "high";

    /** `servers()` answers fresh ICE servers. */
    constructor(call, servers) {
        super();
        this.#call = call;
        this.#servers = servers;
    }

    get peer() { return this.#peer; }
    get leg() { return this.#leg; }
    /** The connection that counts. */
    get connection() { return (this.#leg ?? this.#peer)?.connection; }

    /** Where what is heard comes from: `direct` or `gateway`. */
    get name() { return this.#leg && !this.#moving ? "gateway" : "direct"; }

    get state() {
        if (this.#moving && this.#peer?.state === "connected") return "connected";
        return (this.#leg ?? this.#peer)?.state ?? "connecting";
    }

    /** What is received: `{user, source, kind, receiver, track}`. */
    get received() {
        if (!this.#leg) return this.#direct;
        if (!this.#moving) return this.#leg.received;
        const direct = this.#direct;
        const users = new Set(direct.map((one) => one.user));
        return [...direct, ...this.#leg.received.filter((one) => !users.has(one.user))];
    }

    // The two ways

    goDirect({ second }) {
        const call = this.#call;
        this.#peer = new Peer({
            send: (kind, generation, payload) =>
                request("calls.signals", { call: call.id, clientID: randomID(), kind, generation, payload }),
            servers: this.#servers,
            media: call.media,
            relayOnly: () => preferences.get("relayOnly"),
            second,
        });
        this.#follow(this.#peer);
        return this.#peer;
    }

    /** Joins the gateway, or follows what changed there. */
    goThroughGateway(document) {
        if (this.#leg) return this.#leg.follow(document.gatewayEpoch);
        const call = this.#call;
        this.#leg = new Leg({
            offer: (sdp, sources) =>
                request("calls.leg", { call: call.id, offer: { sdp }, sources }, { patience: 0 }),
            ask: (slots) => request("calls.slots", { call: call.id, slots }, { patience: 0 }),
            enough: (track) => this.#enough(track),
            servers: this.#servers,
            wanted: () => slotsWanted(call.document.participants, credentials.user.id),
            media: call.media,
            relayOnly: () => preferences.get("relayOnly"),
            epoch: document.gatewayEpoch,
            isOver: (error) => over.has(error.type),
        });
        this.#follow(this.#leg);
        this.#leg.on("trouble", (error) => this.emit("trouble", error));
        if (this.#peer) this.#move();
        return undefined;
    }

    #follow(way) {
        way.on("state", () => this.emit("state", this.state));
        way.on("tracks", () => this.emit("tracks"));
    }

    get #direct() {
        const { other } = this.#call.document ? sides(this.#call.document, credentials.user.id) : {};
        if (!other || !this.#peer) return [];
        return this.#peer.connection.getReceivers().filter(({ track }) => track).map((receiver) => ({
            user: this.#peerUser ?? other.user, kind: receiver.track.kind, receiver, track: receiver.track,
            source: receiver.track.kind === "audio" ? "microphone" : other.media?.screen ? "screen" : "camera",
        }));
    }

    // From the one to the other

    /** The user at the other end of the direct connection, once there are more than two. */
    get #peerUser() { return this.#moving?.user; }

    #move() {
        const { other } = sides(this.#call.document, credentials.user.id);
        if (this.#peer.state !== "connected" || !other) return this.#retire(0);
        this.#moving = { user: other.user, since: performance.now() };
        this.#moving.timer = setInterval(() => this.#look(), LOOK);
        return undefined;
    }

    async #look() {
        const { user, since } = this.#moving;
        const there = this.#call.document.participants.find((one) => one.user === user);
        const isSilent = there?.state !== "joined" || there.media?.audio === false || there.media?.held;
        const isUp = this.#leg.state === "connected";
        const isLate = performance.now() - since > LIMIT || this.#peer.state !== "connected" && isUp;
        const hears = isUp && (isSilent || await this.#leg.hears(user));
        if (!this.#moving || !(hears || isLate)) return;
        this.#retire(FAREWELL);
        this.emit("tracks");
        this.emit("state", this.state);
    }

    #retire(pause) {
        clearInterval(this.#moving?.timer);
        this.#moving = undefined;
        const peer = this.#peer;
        this.#peer = undefined;
        this.#retiring = { peer, timer: setTimeout(() => this.#dismiss(), pause) };
        peer.on("state", (state) => { if (state !== "connected") this.#dismiss(); });
    }

    #dismiss() {
        clearTimeout(this.#retiring?.timer);
        this.#retiring?.peer.close();
        this.#retiring = undefined;
    }

    // Both

    setSending(sending) {
        for (const way of [this.#peer, this.#retiring?.peer, this.#leg]) way?.setSending(sending);
    }

    /** How good a picture is enough of somebody's camera or screen, `enough({user, source})`, has changed. */
    see(enough) {
        this.#enough = enough;
        this.#leg?.look();
    }

    /** Looks for a new way through the network. */
    restart() { (this.#leg ?? this.#peer)?.restart(); }

    /** Goes on with a new connection. */
    renew() { (this.#leg ?? this.#peer)?.renew(); }

    close() {
        clearInterval(this.#moving?.timer);
        this.#moving = undefined;
        this.#dismiss();
        this.#peer?.close();
        this.#leg?.close();
    }
}
