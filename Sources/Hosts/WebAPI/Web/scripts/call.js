// A call that this tab is in: the call document, the connection, and what is sent, held together.
//
// The server owns the life of the call; this follows its document. Only hanging up is shown before the server has
// agreed, since there is nothing that could speak against it.

import { Emitter } from "./emitter.js";
import { serverNow } from "./clock.js";
import { credentials } from "./credentials.js";
import { randomID, endpoint } from "./identity.js";
import { LocalMedia } from "./media.js";
import { Peer } from "./peer.js";
import { preferences } from "./preferences.js";
import { inWords } from "./problems.js";
import { realtime } from "./realtime.js";
import { request } from "./requests.js";
import { Statistics } from "./statistics.js";
import { ending, sides } from "./words.js";

const ALIVE = 10;

/** Events: `change`, `stats` once a second, `notice` with words for the person, `ended`. */
export class ActiveCall extends Emitter {
    id;
    other;
    kind;
    document;
    /** `preparing`, `calling`, `ringing`, `connecting`, `active`, `ended`. */
    phase = "preparing";
    held = false;
    ending = "";
    media = new LocalMedia();
    statistics = new Statistics();
    remote = new MediaStream();
    #peer;
    #servers;
    #told = false;
    #heard = 0;
    #seconds = 0;
    #timer;
    #rejoining = false;
    #hungUp = false;
    #telling;
    #untold = false;
    #restartWhenOnline;

    constructor(other, kind) {
        super();
        this.other = other;
        this.kind = kind;
        this.media.on("tracks", () => this.#changed());
        this.#restartWhenOnline = () => this.#peer?.restart();
        addEventListener("online", this.#restartWhenOnline);
    }

    // Three ways into a call

    /** Calls someone. Throws before it rings when there is no microphone or the server refuses. */
    async place(other) {
        await this.media.openMicrophone();
        if (this.kind === "video") await this.#tryCamera();
        this.#connect({ second: false });
        const sdp = await this.#peer.firstOffer(this.kind);
        if (this.#hungUp) return;
        const { call, joined } = await request("calls.create", {
            clientID: randomID(), callees: [this.other.id], kind: this.kind, offer: { sdp }, ...(other && { other }),
        });
        this.id = call.id;
        if (this.#hungUp) return this.#tellHangUp(call);
        if (joined) this.#peer.expectOffer(); else this.#peer.began();
        this.update(call);
        if (this.kind === "video" && !this.hasCamera) this.#tellMedia();
    }

    /** Answers a ringing call. The microphone may come later than the answer: it must not keep the caller waiting. */
    async accept(call, { video, other }) {
        this.id = call.id;
        this.phase = "connecting";
        this.document = call;
        this.#connect({ second: true });
        this.#peer.expectOffer();
        const opened = this.#openMedia(video);
        const params = { call: this.id, clientID: randomID(), media: { audio: true, video }, ...(other && { other }) };
        const answer = await request("calls.accept", params);
        realtime.listen(`signals:${this.id}:${endpoint.id}`);
        this.update(answer.call);
        // What was promised with the answer may not be there: a blocked microphone, no camera.
        opened.then(() => { if (this.isMuted || this.hasCamera !== video) this.#tellMedia(); });
    }

    /** Comes back into a call that this tab was in before it was reloaded. */
    resume(call) {
        const { mine } = sides(call, credentials.user.id);
        this.id = call.id;
        this.#rejoining = true;
        this.phase = "connecting";
        this.#connect({ second: call.caller !== credentials.user.id });
        this.media.mute(mine.media?.audio === false);
        this.#openMedia(mine.media?.video).then(() => this.#tellMedia());
        realtime.listen(`call:${this.id}`);
        realtime.listen(`signals:${this.id}:${endpoint.id}`);
        this.update(call);
    }

    // What the server says

    update(call) {
        if (this.phase === "ended") return;
        this.document = call;
        const { mine, other } = sides(call, credentials.user.id);
        if (other) this.other = { ...this.other, displayName: other.displayName, photoURL: other.photoURL };
        const elsewhere = call.status === "active" && mine?.endpoint && mine.endpoint !== endpoint.id;
        if (call.status === "ended") return this.#finish(ending(call, credentials.user.id).text);
        if (elsewhere || mine?.reason === "taken_over") return this.#finish("Continued on another device");
        if (call.status === "active" && this.phase !== "active") this.phase = "connecting";
        else if (call.status === "ringing" && mine?.user === call.caller) {
            this.phase = other?.state === "ringing" ? "ringing" : "calling";
        }
        const held = mine?.media?.held ?? false;
        if (held !== this.held && !this.#telling) this.#applyHold(held);
        this.#pause();
        this.#changed();
    }

    receive(signals, { snapshot = false } = {}) {
        if (snapshot && this.#rejoining) {
            this.#rejoining = false;
            const generation = Math.max(0, ...signals.map((signal) => signal.generation));
            this.#peer.rejoin(generation, this.kind);
            return;
        }
        for (const signal of signals) this.#peer?.receive(signal);
    }

    // What the person does

    get isMuted() { return this.media.isMuted; }
    get hasCamera() { return Boolean(this.media.camera); }
    get isSharing() { return Boolean(this.media.screen); }
    get connection() { return this.#peer?.state ?? "connecting"; }
    get otherMedia() { return this.document && sides(this.document, credentials.user.id).other?.media; }
    get heldByOther() { return this.otherMedia?.held ?? false; }
    get isPoor() {
        const { loss = 0, roundTrip = 0 } = this.statistics.latest ?? {};
        return loss > 0.08 || roundTrip > 600;
    }

    /** Milliseconds since it was answered. */
    get length() { return this.document?.answeredAt ? serverNow() - Date.parse(this.document.answeredAt) : 0; }

    mute(muted) {
        this.media.mute(muted);
        this.#tellMedia();
    }

    async setCamera(on) {
        if (on) await this.media.openCamera(); else this.media.closeCamera();
        this.#tellMedia();
    }

    async setSharing(on) {
        if (on) await this.media.openScreen(); else this.media.closeScreen();
        this.#tellMedia();
        const screen = this.media.screen;
        screen?.addEventListener("ended", () => this.#tellMedia());
    }

    /** Hold: nothing is sent either way until it is taken back. */
    async hold(held) {
        this.#applyHold(held);
        await this.#tellMedia();
    }

    setRelayOnly(on) {
        preferences.set("relayOnly", on);
        this.#servers = undefined;
        if (on) this.#peer?.renew(); else this.#peer?.restart();
    }

    async changeDevice(kind, id) {
        preferences.set(kind, id);
        if (kind === "microphone") await this.media.openMicrophone();
        if (kind === "camera" && this.media.camera) await this.media.openCamera();
        this.#changed();
    }

    hangUp() {
        if (this.phase === "ended") return;
        this.#hungUp = true;
        const call = this.document;
        this.#finish(call?.status === "active" ? "Call ended" : "Cancelled");
        if (call) this.#tellHangUp(call);
    }

    /** The call could not be begun. */
    fail(text) { this.#finish(text); }

    // The connection

    #connect({ second }) {
        this.#peer = new Peer({
            send: (kind, generation, payload) => this.#signal(kind, generation, payload),
            servers: () => this.#iceServers(),
            media: this.media,
            relayOnly: () => preferences.get("relayOnly"),
            second,
        });
        this.#peer.on("state", (state) => this.#follow(state));
        this.#peer.on("tracks", () => this.#gather());
        this.#timer = setInterval(() => this.#tick(), 1000);
    }

    #signal(kind, generation, payload) {
        return request("calls.signals", { call: this.id, clientID: randomID(), kind, generation, payload });
    }

    /** Relay credentials last ten minutes: what was fetched for a ring is used at once, later they are fetched anew. */
    async #iceServers() {
        const known = this.#servers;
        this.#servers = undefined;
        try {
            const { iceServers } = await (known ?? request("iceServers.get", { call: this.id }, { patience: 5_000 }));
            return iceServers;
        } catch (error) {
            this.emit("notice", inWords(error));
            return [];
        }
    }

    prefetchServers(answer) { this.#servers = answer; }

    #follow(state) {
        if (state === "connected") {
            this.phase = "active";
            if (!this.#told) request("calls.connected", { call: this.id }).catch(() => {});
            this.#told = true;
            this.#tick();
        }
        this.#changed();
    }

    #gather() {
        const tracks = this.#peer.receivedTracks;
        for (const track of this.remote.getTracks()) if (!tracks.includes(track)) this.remote.removeTrack(track);
        for (const track of tracks) if (!this.remote.getTracks().includes(track)) this.remote.addTrack(track);
        this.#changed();
    }

    async #tick() {
        if (this.phase !== "active" || !this.#peer) return;
        const sample = await this.statistics.sample(this.#peer.connection);
        this.#heard += sample.packets;
        this.#seconds += 1;
        if (this.#seconds % ALIVE === 0) {
            if (this.#heard > 0) request("calls.alive", { call: this.id }, { patience: 5_000 }).catch(() => {});
            this.#heard = 0;
        }
        this.emit("stats", sample);
    }

    // Media and hold

    async #openMedia(video) {
        try { await this.media.openMicrophone(); } catch (error) {
            this.emit("notice", `${inWords(error, "microphone")} The other person can’t hear you.`);
            this.media.mute(true);
        }
        if (video) await this.#tryCamera();
    }

    async #tryCamera() {
        try { await this.media.openCamera(); } catch (error) {
            this.emit("notice", inWords(error, "camera"));
        }
    }

    #applyHold(held) {
        this.held = held;
        this.#pause();
        this.#changed();
    }

    /** While either side holds, nothing is sent. */
    #pause() { this.#peer?.setSending(!this.held && !this.heldByOther); }

    /** Tells the server what is sent; what changes meanwhile is told afterwards, so that the last word stays. */
    #tellMedia() {
        this.#changed();
        this.#untold = true;
        this.#telling ??= this.#tell().finally(() => { this.#telling = undefined; });
        return this.#telling;
    }

    async #tell() {
        while (this.#untold && this.id && this.phase !== "ended") {
            this.#untold = false;
            const state = { audio: !this.isMuted, video: this.hasCamera, screen: this.isSharing, held: this.held };
            await request("calls.media", { call: this.id, ...state }, { patience: 60_000 }).catch(() => {});
        }
    }

    // The end

    #tellHangUp(call) {
        const mine = call.caller === credentials.user.id;
        const verb = call.status === "ringing" && mine ? "cancel" : mine ? "end" : "leave";
        request(`calls.${verb}`, { call: call.id }, { patience: 60_000 }).catch(() => {});
    }

    #finish(text) {
        if (this.phase === "ended") return;
        this.ending = text;
        this.phase = "ended";
        clearInterval(this.#timer);
        removeEventListener("online", this.#restartWhenOnline);
        this.#peer?.close();
        this.media.close();
        const quality = this.statistics.summary;
        if (quality) request("calls.quality", { call: this.id, ...quality }).catch(() => {});
        this.#changed();
        this.emit("ended");
    }

    #changed() { this.emit("change"); }
}
