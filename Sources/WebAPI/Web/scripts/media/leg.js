// One participant's connection with the media gateway: one RTCPeerConnection in which this side always offers.
//
// The offer has a section for the microphone, one for the camera in three sizes, one for a shared screen once there is
// one, and receive-only slots. The answer comes in the response to the same request, so offers never collide: an offer
// that is needed while another is being sent follows it. No candidates are exchanged: the gateway listens at the
// addresses in its answer.
//
// A leg that fails is replaced by a new one until the call is over. A new epoch of the gateway means that it was
// restarted and has lost its legs.

import { Emitter } from "../state/emitter.js";
import { SlotPreferences } from "./slot-preferences.js";
import { Slots } from "./slots.js";

/** A connection that is "disconnected" often recovers by itself; after this time it gets an ICE restart. */
const DISCONNECTED_TIMEOUT = 2_000;
/** An ICE restart that does not succeed within this time after its answer is followed by a new connection. */
const ICE_RESTART_TIMEOUT = 6_000;
/** The longest delay between two attempts, so that a restarted server is reached within a few seconds. */
const MAX_BACKOFF = 2_000;
/** Packets after which audio counts as received: a fifth of a second. */
const MIN_AUDIO_PACKETS = 10;

/** Reasons for the end of a leg that this side caused: they do not call for a new one. */
const localReasons = new Set(["left", "replaced", "closed"]);

/** A link of 300 kbit/s carries the lowest layer and two voices, with headroom for headers and retransmissions. */
const LOWEST_BITRATE = 100_000;

const layers = [
    { rid: "q", scaleResolutionDownBy: 4, maxBitrate: LOWEST_BITRATE },
    { rid: "h", scaleResolutionDownBy: 2, maxBitrate: 500_000 },
    { rid: "f", scaleResolutionDownBy: 1, maxBitrate: 1_700_000 },
];

/**
 * The layers by the camera's size, from a number of pixels on. For a small picture browsers send only the first layer,
 * which would be a quarter of its size.
 */
const sizes = [
    { pixels: 960 * 540, layers: layers.map(({ rid, ...rest }) => rest) },
    {
        pixels: 480 * 270,
        layers: [{ scaleResolutionDownBy: 2, maxBitrate: LOWEST_BITRATE }, { scaleResolutionDownBy: 1, maxBitrate: 800_000 }],
    },
    { pixels: 0, layers: [{ scaleResolutionDownBy: 1, maxBitrate: 300_000 }] },
];

/** Configures a camera's sender with the layers that suit its size. */
async function fitLayers(sender) {
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

/** Events: `state` (connecting, connected, reconnecting), `tracks` when what is received changes, `error`. */
export class Leg extends Emitter {
    connection;
    state = "connecting";
    slots = new Slots();
    epoch;
    #latestEpoch;
    #preferences;
    #options;
    #media;
    #senders = {};
    #sending = true;
    #closed = false;
    #offering;
    #needsOffer = false;
    #needsRestart = false;
    /** Whether the offer being sent restarts ICE. */
    #isRestarting = false;
    /** The slots of a change that arrived during an offer. */
    #pendingSlots;
    #failures = 0;
    #timer;
    #iceTimer;
    #unsubscribe;

    /**
     * `offer(sdp, sources)` posts an offer and returns `{answer, epoch, slots}`; `request(slots)` posts the qualities
     * of slots; `qualityFor({user, source})` returns the preferred quality of a track; `servers()` returns fresh ICE
     * servers; `slotCounts()` returns how many slots there should be; `media` is what is sent; `relayOnly()` says
     * whether only relay candidates are used; `epoch` is the gateway's in the call's document; `isFatal(error)` says
     * whether not to retry.
     */
    constructor({ media, epoch, ...options }) {
        super();
        this.#latestEpoch = epoch;
        this.#options = options;
        this.#media = media;
        this.#unsubscribe = media.on("tracks", () => this.#attach());
        this.#build();
        this.#offer();
    }

    /** What is received: `{user, source, kind, receiver, track}`. */
    get received() { return this.slots.received(this.connection); }

    /** Updates the slots from the server's list. */
    updateSlots(slots) {
        if (this.#offering) this.#pendingSlots = slots;
        // Before the first answer the list may be of a leg that this one replaces.
        if (this.epoch === undefined) return;
        this.slots.update(slots);
        this.updatePreferences();
        this.emit("tracks");
    }

    /** The preferred qualities have changed. */
    updatePreferences() {
        // Before the first answer the server has no leg to set them for.
        if (this.epoch === undefined) return;
        this.#preferences.update(this.slots.preferredQualities(this.#options.qualityFor));
    }

    /** The call changed: there may be more participants than slots now, or another gateway. */
    update(epoch) {
        const hasChanged = epoch !== this.#latestEpoch;
        this.#latestEpoch = epoch;
        if (hasChanged && this.epoch !== undefined && epoch !== this.epoch) this.renew();
        else if (this.#addMissingSlots()) this.#offer();
    }

    /** The gateway ended this leg. */
    handleEnd(reason) {
        if (this.#closed || this.#offering || localReasons.has(reason)) return;
        this.#renewLater();
    }

    /** Somebody cannot decode what is sent: the answer to a new offer has the codecs that everybody supports. */
    renegotiate() {
        if (this.epoch !== undefined) this.#offer();
    }

    /** Restarts ICE on the same connection. */
    restart() {
        this.#needsRestart = true;
        this.#offer();
    }

    /** Replaces the connection by a new one. */
    renew() {
        if (this.#closed) return;
        clearTimeout(this.#timer);
        clearTimeout(this.#iceTimer);
        this.connection.close();
        this.#build();
        this.#setState(this.state === "connecting" ? "connecting" : "reconnecting");
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
        this.#unsubscribe();
        clearTimeout(this.#timer);
        clearTimeout(this.#iceTimer);
        this.#preferences.close();
        this.connection.close();
    }

    /** Whether that user's audio has begun to arrive. */
    async receivesAudio(user) {
        const audio = this.received.find((one) => one.user === user && one.kind === "audio");
        if (!audio) return false;
        const reports = [...(await audio.receiver.getStats()).values()];
        return reports.some((one) => one.type === "inbound-rtp" && one.packetsReceived >= MIN_AUDIO_PACKETS);
    }

    // The connection and its sections

    get #configuration() {
        return { bundlePolicy: "max-bundle", iceTransportPolicy: this.#options.relayOnly() ? "relay" : "all" };
    }

    #build() {
        const connection = new RTCPeerConnection(this.#configuration);
        this.connection = connection;
        this.slots = new Slots();
        this.#preferences?.close();
        this.#preferences = new SlotPreferences(this.#options.request);
        this.epoch = undefined;
        this.#offering = undefined;
        this.#needsRestart = this.#isRestarting = false;
        this.#senders = {
            microphone: connection.addTransceiver("audio", { direction: "sendonly" }),
            camera: connection.addTransceiver("video", { direction: "sendonly", sendEncodings: layers.map((one) => ({ ...one })) }),
        };
        connection.onconnectionstatechange = () => this.#watch(connection);
        connection.oniceconnectionstatechange = () => this.#watch(connection);
        this.#addMissingSlots();
        this.#attach();
    }

    /** Adds slots where there are too few; returns whether there were. */
    #addMissingSlots() {
        const counts = this.#options.slotCounts();
        const mine = new Set(Object.values(this.#senders));
        const slots = this.connection.getTransceivers().filter((one) => !mine.has(one));
        let hasAdded = false;
        for (const kind of ["audio", "video"]) {
            const count = slots.filter((one) => one.receiver.track.kind === kind).length;
            for (let missing = counts[kind] - count; missing > 0; missing -= 1) {
                this.connection.addTransceiver(kind, { direction: "recvonly" });
                hasAdded = true;
            }
        }
        return hasAdded;
    }

    /** Sets the tracks of the senders. Without a track nothing at all is sent. */
    #attach() {
        if (this.#closed || this.connection.signalingState === "closed") return;
        const { voice, camera, screen } = this.#media;
        const setTrack = (sender, track) => {
            const now = this.#sending ? track ?? null : null;
            if (sender.track === now) return;
            sender.replaceTrack(now).then(() => sender === this.#senders.camera.sender && fitLayers(sender)).catch(() => {});
        };
        setTrack(this.#senders.microphone.sender, voice);
        setTrack(this.#senders.camera.sender, camera);
        this.#attachScreen(screen, setTrack);
    }

    /** A screen has a section of its own, which is inactive while nothing is shared. */
    #attachScreen(screen, setTrack) {
        let transceiver = this.#senders.screen;
        const direction = screen ? "sendonly" : "inactive";
        if (!transceiver && !screen) return;
        if (!transceiver) {
            transceiver = this.connection.addTransceiver("video", { direction, sendEncodings: [{ maxBitrate: 2_500_000 }] });
            this.#senders.screen = transceiver;
            this.#offer();
        } else if (transceiver.direction !== direction) {
            transceiver.direction = direction;
            this.#offer();
        }
        setTrack(transceiver.sender, screen);
    }

    get #sources() {
        const entries = Object.entries(this.#senders).filter(([, transceiver]) => transceiver.mid !== null);
        return Object.fromEntries(entries.map(([source, transceiver]) => [transceiver.mid, source]));
    }

    // Offers, one at a time

    #offer() {
        this.#needsOffer = true;
        if (this.#offering || this.#closed) return;
        const connection = this.connection;
        const work = this.#negotiate(connection);
        this.#offering = work;
        work.catch((error) => this.#handleError(connection, error)).finally(() => {
            if (this.#offering === work) this.#offering = undefined;
            if (this.#needsOffer && connection === this.connection && this.#canOffer) this.#offer();
        });
    }

    /** Whether the connection can make another offer; without its first answer it is replaced instead. */
    get #canOffer() { return this.connection.signalingState === "stable" && this.epoch !== undefined; }

    async #negotiate(connection) {
        // Changes made in the same tick become part of the same offer.
        await undefined;
        const isStale = () => this.#closed || connection !== this.connection;
        if (this.epoch === undefined || this.#needsRestart) {
            const iceServers = await this.#options.servers();
            if (isStale()) return;
            connection.setConfiguration({ ...this.#configuration, iceServers });
            if (this.#needsRestart) connection.restartIce();
        }
        this.#isRestarting = this.#needsRestart;
        this.#needsOffer = this.#needsRestart = false;
        await connection.setLocalDescription();
        if (isStale()) return;
        this.#pendingSlots = undefined;
        const { answer, epoch, slots } = await this.#options.offer(connection.localDescription.sdp, this.#sources);
        if (isStale()) return;
        if (this.epoch !== undefined && this.epoch !== epoch) return void this.renew();
        await connection.setRemoteDescription({ type: "answer", sdp: answer.sdp });
        if (isStale()) return;
        if (this.#isRestarting) this.#expectConnection();
        this.epoch = epoch;
        this.slots.update(slots);
        // A change that arrived meanwhile is newer, or is followed by one that is.
        if (this.#pendingSlots) this.slots.update(this.#pendingSlots);
        this.updatePreferences();
        this.emit("tracks");
    }

    #handleError(connection, error) {
        if (this.#closed || connection !== this.connection || this.#options.isFatal(error)) return;
        this.emit("error", error);
        if (this.#isTransient(error)) this.#offerLater(connection, error.retryAfter); else this.#renewLater(error.retryAfter);
    }

    /**
     * The leg itself works, or may once ICE is restarted; only the request failed. A change of network often breaks the
     * socket under the very request that is to follow it.
     */
    #isTransient(error) {
        const mayWork = this.state === "connected" || this.#isRestarting || this.#needsRestart;
        return error.isTransient && this.epoch !== undefined && mayWork;
    }

    async #offerLater(connection, minimum = 0) {
        this.#needsRestart ||= this.#isRestarting;
        // What is needed is in the offer of the timer.
        this.#needsOffer = false;
        if (this.#needsRestart) this.#failures += 1;
        const delay = this.#needsRestart ? this.#backoff : MAX_BACKOFF;
        if (connection.signalingState === "have-local-offer") await connection.setLocalDescription({ type: "rollback" });
        if (this.#closed || connection !== this.connection) return;
        this.#timer = setTimeout(() => this.#offer(), Math.max(delay, minimum));
    }

    /** Replaces the leg: the first time at once, then with exponential backoff. */
    #renewLater(minimum = 0) {
        if (this.#closed) return;
        clearTimeout(this.#timer);
        clearTimeout(this.#iceTimer);
        this.#setState(this.state === "connecting" ? "connecting" : "reconnecting");
        const delay = Math.max(this.#backoff, minimum);
        this.#failures += 1;
        this.#timer = setTimeout(() => this.renew(), delay);
    }

    /** None before the first failure, then exponential. */
    get #backoff() {
        if (this.#failures === 0) return 0;
        return Math.min(150 * 2 ** this.#failures, MAX_BACKOFF) * (0.6 + 0.4 * Math.random());
    }

    // Connection state

    #watch(connection) {
        if (connection !== this.connection || this.#closed) return;
        const ice = connection.iceConnectionState;
        const { connectionState } = connection;
        if (connectionState === "connected" && (ice === "connected" || ice === "completed")) {
            clearTimeout(this.#iceTimer);
            this.#failures = 0;
            this.#setState("connected");
        } else if (connectionState === "failed" || connectionState === "closed" || ice === "failed") {
            this.#renewLater();
        } else if (ice === "disconnected") {
            this.#setState("reconnecting");
            clearTimeout(this.#iceTimer);
            this.#iceTimer = setTimeout(() => this.restart(), DISCONNECTED_TIMEOUT);
        }
    }

    /** The answer to an ICE restart has come: what was not connected before it should be soon. */
    #expectConnection() {
        this.#isRestarting = false;
        if (this.state === "connected") {
            this.#failures = 0;
            return;
        }
        clearTimeout(this.#iceTimer);
        this.#iceTimer = setTimeout(() => this.#renewLater(), ICE_RESTART_TIMEOUT);
    }

    #setState(state) {
        if (this.state === state) return;
        this.state = state;
        this.emit("state", state);
    }
}
