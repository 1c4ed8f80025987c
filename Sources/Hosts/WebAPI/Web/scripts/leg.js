// One participant's connection with the media gateway: one RTCPeerConnection in which this side always offers.
//
// The offer has a section for the microphone, one for the camera in three sizes, one for a shared screen once there is
// one, and slots that only receive. The answer comes with the same request, so offers never collide: whatever wants
// another one while an offer is on its way gets it afterwards. No candidates are exchanged: the gateway waits at the
// addresses in its answer.
//
// A leg that breaks is replaced by a new one, again and again until the call is over. What the gateway knew is worth
// nothing once it began anew, which its epoch tells.

import { Emitter } from "./emitter.js";
import { Slots } from "./slots.js";
import { Wishes } from "./slot-preferences.js";

/** A connection that is "disconnected" often comes back by itself; after this it looks for a new way. */
const PATIENCE = 2_000;
/** A new way that is not found within this is looked for with a new connection. */
const SEARCH = 6_000;
/** The longest pause between two tries. A server that comes back is met within a few seconds. */
const PAUSE = 2_000;
/** Packets of a voice that are waited for before it counts as heard: a fifth of a second. */
const ENOUGH = 10;

/** Ends of a leg that this side brought about, and that say nothing about the one after it. */
const ownDoing = new Set(["left", "replaced", "closed"]);

/** A link of 300 kb/s carries the lowest layer beside two voices and their headers, with room for what is sent again. */
const LOWEST = 100_000;

const layers = [
    { rid: "q", scaleResolutionDownBy: 4, maxBitrate: LOWEST },
    { rid: "h", scaleResolutionDownBy: 2, maxBitrate: 500_000 },
    { rid: "f", scaleResolutionDownBy: 1, maxBitrate: 1_700_000 },
];

/**
 * The layers of smaller cameras, from how many pixels on. Browsers send only the first of the layers where a picture is
 * small, which would be a quarter of it.
 */
const sizes = [
    { pixels: 960 * 540, layers: layers.map(({ rid, ...rest }) => rest) },
    {
        pixels: 480 * 270,
        layers: [{ scaleResolutionDownBy: 2, maxBitrate: LOWEST }, { scaleResolutionDownBy: 1, maxBitrate: 800_000 }],
    },
    { pixels: 0, layers: [{ scaleResolutionDownBy: 1, maxBitrate: 300_000 }] },
];

/** Has a camera's sender make the layers that suit its size. */
async function fit(sender) {
    const { width, height } = sender.track?.getSettings() ?? {};
    const parameters = sender.getParameters();
    if (!width || !height || parameters.encodings.length !== layers.length) return;
    const suitable = sizes.find(({ pixels }) => width * height >= pixels).layers;
    parameters.encodings.forEach((encoding, index) => {
        encoding.active = index < suitable.length;
        Object.assign(encoding, suitable[index] ?? {});
    });
    await sender.setParameters(parameters);
}

/** Events: `state` (connecting, connected, reconnecting), `tracks` when what is received changes, `trouble` (an error). */
export class Leg extends Emitter {
    connection;
    state = "connecting";
    slots = new Slots();
    epoch;
    #seen;
    #wishes;
    #options;
    #media;
    #senders = {};
    #sending = true;
    #closed = false;
    #offering;
    #wantsOffer = false;
    #wantsRestart = false;
    /** The slots as a change told them while an offer was on its way. */
    #late;
    #failures = 0;
    #timer;
    #patience;
    #unhear;

    /**
     * `offer(sdp, sources)` posts an offer and answers `{answer, epoch, slots}`; `ask(slots)` posts what is wanted in
     * slots; `enough({user, source})` says how good a picture of that is enough; `servers()` answers fresh ICE servers;
     * `wanted()` says how many slots there should be; `media` is what is sent; `relayOnly()` whether all goes through a
     * relay; `epoch` is the gateway's as the call says it; `isOver(error)` whether a refusal is the last word.
     */
    constructor({ media, epoch, ...options }) {
        super();
        this.#seen = epoch;
        this.#options = options;
        this.#media = media;
        this.#unhear = media.on("tracks", () => this.#attach());
        this.#build();
        this.#offer();
    }

    /** What is received: `{user, source, kind, receiver, track}`. */
    get received() { return this.slots.received(this.connection); }

    /** The server says what the slots show now. */
    take(slots) {
        if (this.#offering) this.#late = slots;
        // Before the first answer it may speak of a leg that this one replaces.
        if (this.epoch === undefined) return;
        this.slots.take(slots);
        this.look();
        this.emit("tracks");
    }

    /** What is seen of the pictures has changed. */
    look() {
        // Without an answer there is nobody to ask yet.
        if (this.epoch !== undefined) this.#wishes.take(this.slots.enough(this.#options.enough));
    }

    /** The call changed: there may be more participants than slots now, or another gateway. */
    follow(epoch) {
        const isNews = epoch !== this.#seen;
        this.#seen = epoch;
        if (isNews && this.epoch !== undefined && epoch !== this.epoch) this.renew();
        else if (this.#grow()) this.#offer();
    }

    /** The gateway gave this leg up. */
    ended(reason) {
        if (this.#closed || this.#offering || ownDoing.has(reason)) return;
        this.#again();
    }

    /** Somebody cannot play what is sent: the answer to another offer says what everybody can. */
    renegotiate() {
        if (this.epoch !== undefined) this.#offer();
    }

    /** Looks for a new way between here and the gateway, with the connection that there is. */
    restart() {
        this.#wantsRestart = true;
        this.#offer();
    }

    /** Goes on with a new connection. */
    renew() {
        if (this.#closed) return;
        clearTimeout(this.#timer);
        clearTimeout(this.#patience);
        this.connection.close();
        this.#build();
        this.#become(this.state === "connecting" ? "connecting" : "reconnecting");
        this.emit("tracks");
        this.#offer();
    }

    /** Stops or starts sending without a new offer: hold. */
    setSending(sending) {
        if (this.#sending === sending) return;
        this.#sending = sending;
        this.#attach();
    }

    close() {
        this.#closed = true;
        this.#unhear();
        clearTimeout(this.#timer);
        clearTimeout(this.#patience);
        this.#wishes.close();
        this.connection.close();
    }

    /** Whether that user's voice has begun to arrive. */
    async hears(user) {
        const voice = this.received.find((one) => one.user === user && one.kind === "audio");
        if (!voice) return false;
        const reports = [...(await voice.receiver.getStats()).values()];
        return reports.some((one) => one.type === "inbound-rtp" && one.packetsReceived >= ENOUGH);
    }

    // The connection and its sections

    get #configuration() {
        return { bundlePolicy: "max-bundle", iceTransportPolicy: this.#options.relayOnly() ? "relay" : "all" };
    }

    #build() {
        const connection = new RTCPeerConnection(this.#configuration);
        this.connection = connection;
        this.slots = new Slots();
        this.#wishes?.close();
        this.#wishes = new Wishes(this.#options.ask);
        this.epoch = undefined;
        this.#offering = undefined;
        this.#wantsRestart = false;
        this.#senders = {
            microphone: connection.addTransceiver("audio", { direction: "sendonly" }),
            camera: connection.addTransceiver("video", { direction: "sendonly", sendEncodings: layers.map((one) => ({ ...one })) }),
        };
        connection.onconnectionstatechange = () => this.#watch(connection);
        connection.oniceconnectionstatechange = () => this.#watch(connection);
        this.#grow();
        this.#attach();
    }

    /** Makes more slots where there are too few. */
    #grow() {
        const wanted = this.#options.wanted();
        const mine = new Set(Object.values(this.#senders));
        const slots = this.connection.getTransceivers().filter((one) => !mine.has(one));
        let grew = false;
        for (const kind of ["audio", "video"]) {
            const count = slots.filter((one) => one.receiver.track.kind === kind).length;
            for (let missing = wanted[kind] - count; missing > 0; missing -= 1) {
                this.connection.addTransceiver(kind, { direction: "recvonly" });
                grew = true;
            }
        }
        return grew;
    }

    /** Puts what is sent on the senders. Without a track nothing at all is sent. */
    #attach() {
        if (this.#closed || this.connection.signalingState === "closed") return;
        const { voice, camera, screen } = this.#media;
        const put = (sender, track) => {
            const now = this.#sending ? track ?? null : null;
            if (sender.track === now) return;
            sender.replaceTrack(now).then(() => sender === this.#senders.camera.sender && fit(sender)).catch(() => {});
        };
        put(this.#senders.microphone.sender, voice);
        put(this.#senders.camera.sender, camera);
        this.#attachScreen(screen, put);
    }

    /** A screen has a section of its own, which sleeps while nothing is shared. */
    #attachScreen(screen, put) {
        let place = this.#senders.screen;
        const direction = screen ? "sendonly" : "inactive";
        if (!place && !screen) return;
        if (!place) {
            place = this.connection.addTransceiver("video", { direction, sendEncodings: [{ maxBitrate: 2_500_000 }] });
            this.#senders.screen = place;
            this.#offer();
        } else if (place.direction !== direction) {
            place.direction = direction;
            this.#offer();
        }
        put(place.sender, screen);
    }

    get #sources() {
        const entries = Object.entries(this.#senders).filter(([, place]) => place.mid !== null);
        return Object.fromEntries(entries.map(([source, place]) => [place.mid, source]));
    }

    // Offers, one at a time

    #offer() {
        this.#wantsOffer = true;
        if (this.#offering || this.#closed) return;
        const connection = this.connection;
        const work = this.#negotiate(connection);
        this.#offering = work;
        work.catch((error) => this.#refused(connection, error)).finally(() => {
            if (this.#offering === work) this.#offering = undefined;
            if (this.#wantsOffer && connection === this.connection && this.#isWhole) this.#offer();
        });
    }

    /** Whether a next offer may build on what there is; a leg without its first answer is made anew instead. */
    get #isWhole() { return this.connection.signalingState === "stable" && this.epoch !== undefined; }

    async #negotiate(connection) {
        // What else is begun in this very moment becomes part of the same offer.
        await undefined;
        const isStale = () => this.#closed || connection !== this.connection;
        if (this.epoch === undefined || this.#wantsRestart) {
            const iceServers = await this.#options.servers();
            if (isStale()) return;
            connection.setConfiguration({ ...this.#configuration, iceServers });
            if (this.#wantsRestart) connection.restartIce();
        }
        this.#wantsOffer = this.#wantsRestart = false;
        await connection.setLocalDescription();
        if (isStale()) return;
        this.#late = undefined;
        const { answer, epoch, slots } = await this.#options.offer(connection.localDescription.sdp, this.#sources);
        if (isStale()) return;
        if (this.epoch !== undefined && this.epoch !== epoch) return void this.renew();
        await connection.setRemoteDescription({ type: "answer", sdp: answer.sdp });
        if (isStale()) return;
        this.epoch = epoch;
        this.slots.take(slots);
        // A change that came meanwhile is newer, or followed by one that is.
        if (this.#late) this.slots.take(this.#late);
        this.look();
        this.emit("tracks");
    }

    #refused(connection, error) {
        if (this.#closed || connection !== this.connection || this.#options.isOver(error)) return;
        this.emit("trouble", error);
        if (this.#isPassing(error)) this.#offerLater(connection); else this.#again(error.retryAfter);
    }

    /** The leg itself is well; only the way to the server was not. */
    #isPassing(error) { return error.isPassing && this.epoch !== undefined && this.state === "connected"; }

    async #offerLater(connection) {
        if (connection.signalingState === "have-local-offer") await connection.setLocalDescription({ type: "rollback" });
        this.#timer = setTimeout(() => this.#offer(), PAUSE);
    }

    /** Another leg after a pause, which doubles up to two seconds: first at once. */
    #again(least = 0) {
        if (this.#closed) return;
        clearTimeout(this.#timer);
        clearTimeout(this.#patience);
        this.#become(this.state === "connecting" ? "connecting" : "reconnecting");
        const pause = this.#failures === 0 ? 0 : Math.min(150 * 2 ** this.#failures, PAUSE) * (0.6 + 0.4 * Math.random());
        this.#failures += 1;
        this.#timer = setTimeout(() => this.renew(), Math.max(pause, least));
    }

    // How it goes

    #watch(connection) {
        if (connection !== this.connection || this.#closed) return;
        const ice = connection.iceConnectionState;
        const { connectionState } = connection;
        if (connectionState === "connected" && (ice === "connected" || ice === "completed")) {
            clearTimeout(this.#patience);
            this.#failures = 0;
            this.#become("connected");
        } else if (connectionState === "failed" || connectionState === "closed" || ice === "failed") {
            this.#again();
        } else if (ice === "disconnected") {
            this.#become("reconnecting");
            clearTimeout(this.#patience);
            this.#patience = setTimeout(() => this.#search(), PATIENCE);
        }
    }

    #search() {
        this.restart();
        this.#patience = setTimeout(() => this.#again(), SEARCH);
    }

    #become(state) {
        if (this.state === state) return;
        this.state = state;
        this.emit("state", state);
    }
}
