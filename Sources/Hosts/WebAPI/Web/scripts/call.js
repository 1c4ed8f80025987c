// A call that this tab is in: the call document, the connection, and what is sent, held together.
//
// The server owns the life of the call; this follows its document. Only hanging up is shown before the server has
// agreed, since there is nothing that could speak against it. Which way media takes (ways.js) follows from the document.

import { Emitter } from "./emitter.js";
import { serverNow } from "./clock.js";
import { credentials } from "./credentials.js";
import { randomID, endpoint } from "./identity.js";
import { Levels } from "./levels.js";
import { LocalMedia } from "./media.js";
import { MediaReport } from "./media-report.js";
import { preferences } from "./preferences.js";
import { inWords } from "./problems.js";
import { realtime } from "./realtime.js";
import { request } from "./requests.js";
import { Speakers } from "./speakers.js";
import { Statistics } from "./statistics.js";
import { departure, ending, namesOf, othersOf, sides } from "./format.js";
import { Ways } from "./media-path.js";

const ALIVE = 10;
/** A leg that fails this often in a row is spoken of. */
const TROUBLE = 4;

/** Why a recording ended that nobody ended. */
const recordingEnds = {
    longest: "The recording has ended: it is as long as it may be",
    failed: "The recording has ended: it could not go on",
    interrupted: "The recording has ended: the server was stopped",
    quota_exceeded: "The recording has ended: whoever began it has no room left here",
};

/** Events: `change`, `stats` once a second, `speaking`, `notice` with words for the person, `ended`. */
export class ActiveCall extends Emitter {
    id;
    kind;
    document;
    /** `preparing`, `calling`, `ringing`, `connecting`, `active`, `ended`. */
    phase = "preparing";
    held = false;
    ending = "";
    media = new LocalMedia();
    statistics = new Statistics();
    levels;
    #asked;
    #ways;
    #servers;
    #speakers = new Speakers();
    #report = new MediaReport(this);
    #told = false;
    #isIn = false;
    #entering = false;
    #troubles = 0;
    #heard = 0;
    #seconds = 0;
    #timer;
    #rejoining = false;
    #hungUp = false;
    #unhear;

    /** `people` are those whom it is with, as `{id, displayName, photoURL}`. */
    constructor(people, kind) {
        super();
        this.#asked = people;
        this.kind = kind;
        this.#ways = new Ways(this, () => this.#iceServers());
        this.#ways.on("state", (state) => this.#follow(state));
        this.#ways.on("tracks", () => this.#changed());
        this.#ways.on("trouble", (error) => this.#trouble(error));
        this.media.on("tracks", () => this.#changed());
        const restart = () => this.#ways.restart();
        addEventListener("online", restart);
        this.#unhear = () => removeEventListener("online", restart);
        this.#timer = setInterval(() => this.#tick(), 1000);
    }

    // Ways into a call

    /** Calls somebody. Throws before it rings when there is no microphone or the server refuses. */
    async place(other) {
        await this.media.openMicrophone();
        if (this.kind === "video") await this.#tryCamera();
        const params = { clientID: randomID(), callees: this.#asked.map((user) => user.id), kind: this.kind, ...(other && { other }) };
        if (this.isGroup) await this.#placeGroup(params); else await this.#placePair(params);
        if (this.kind === "video" && !this.hasCamera) this.#tellMedia();
    }

    async #placePair(params) {
        const peer = this.#ways.goDirect({ second: false });
        const sdp = await peer.firstOffer(this.kind);
        if (this.#hungUp) return;
        const { call, joined } = await request("calls.create", { ...params, offer: { sdp } });
        this.id = call.id;
        if (this.#hungUp) return this.#tellHangUp(call);
        if (joined) peer.expectOffer(); else peer.began();
        this.update(call);
    }

    async #placeGroup(params) {
        if (this.#hungUp) return;
        const { call } = await request("calls.create", { ...params, mode: "gateway" });
        this.id = call.id;
        if (this.#hungUp) return this.#tellHangUp(call);
        this.#listen();
        this.update(call);
    }

    /**
     * Answers a ringing call, or joins one that goes on. The microphone may come later than the answer: it must not keep
     * the caller waiting.
     */
    async accept(call, { video, other }) {
        this.id = call.id;
        this.phase = "connecting";
        this.document = call;
        this.#entering = true;
        if (call.mode === "direct") this.#ways.goDirect({ second: true }).expectOffer();
        const opened = this.#openMedia(video);
        const params = { call: this.id, clientID: randomID(), media: { audio: true, video }, ...(other && { other }) };
        const answer = await request("calls.accept", params);
        this.#entering = false;
        this.#listen();
        this.update(answer.call);
        // What was promised with the answer may not be there: a blocked microphone, no camera.
        opened.then(() => { if (this.isMuted || this.hasCamera !== video) this.#tellMedia(); });
    }

    /** Comes back into a call that this tab was in before it was reloaded. */
    resume(call) {
        const { mine } = sides(call, credentials.user.id);
        this.id = call.id;
        this.phase = "connecting";
        if (call.mode === "direct") {
            this.#rejoining = true;
            this.#ways.goDirect({ second: call.caller !== credentials.user.id });
        }
        this.media.mute(mine.media?.audio === false);
        this.#openMedia(mine.media?.video).then(() => this.#tellMedia());
        this.#listen();
        this.update(call);
    }

    #listen() {
        realtime.listen(`call:${this.id}`);
        realtime.listen(`signals:${this.id}:${endpoint.id}`);
    }

    // What the server says

    update(call) {
        // Answers to requests and what streams tell come in any order.
        if (this.phase === "ended" || call.version < this.document?.version) return;
        const before = this.document?.recording;
        const hadCaptions = Boolean(this.captions);
        this.document = call;
        const { mine, other } = sides(call, credentials.user.id);
        if (call.recording && call.recording.id !== before?.id) this.emit("notice", this.recorded);
        if (before && !call.recording && call.recordingEnded) this.emit("notice", recordingEnds[call.recordingEnded]);
        if (call.captions && !hadCaptions) this.emit("notice", this.captioned);
        if (call.status === "ended") return this.#finish(ending(call, credentials.user.id).text);
        const elsewhere = call.status === "active" && mine?.endpoint && mine.endpoint !== endpoint.id;
        if (elsewhere && !this.#entering) return this.#finish("Continued on another device");
        this.#isIn ||= mine?.endpoint === endpoint.id;
        // Between two this is the end of the call, which comes right after and says more.
        if (this.isGroup && this.#isIn && mine?.state !== "joined") return this.#finish(departure(mine));
        if (call.status === "active") this.#arrive();
        else if (mine?.user === call.caller) {
            this.phase = othersOf(call, mine.user).some((one) => one.state === "ringing") ? "ringing" : "calling";
        }
        if (call.mode === "gateway" && this.#isIn) this.#ways.goThroughGateway(call);
        const held = mine?.media?.held ?? false;
        if (held !== this.held && !this.#report.isTelling) this.#applyHold(held);
        this.#pause();
        this.#changed();
    }

    /** What comes next holds, whatever its version. */
    forgetVersion() { if (this.document) this.document = { ...this.document, version: 0 }; }

    /** The server knows nothing of it any more. */
    vanish() { if (this.phase !== "ended") this.#finish("Call ended"); }

    receive(signals, { snapshot = false } = {}) {
        if (snapshot && this.#rejoining) {
            this.#rejoining = false;
            const generation = Math.max(0, ...signals.map((signal) => signal.generation));
            this.#ways.peer?.rejoin(generation, this.kind);
            return;
        }
        for (const signal of signals) {
            if (signal.kind === "slots") this.#ways.leg?.take(signal.slots);
            else if (signal.kind === "renegotiate") this.#ways.leg?.renegotiate();
            else if (signal.kind === "legEnded") { if (!snapshot) this.#ways.leg?.ended(signal.reason); }
            else this.#ways.peer?.receive(signal);
        }
    }

    // Who is in it

    get isGroup() {
        if (!this.document) return this.#asked.length > 1;
        return this.document.mode === "gateway" || this.document.participants.length > 2;
    }

    /** Everybody but oneself, as the document has them. */
    get others() {
        return this.document ? othersOf(this.document, credentials.user.id)
            : this.#asked.map((user) => ({ ...user, user: user.id, state: "invited" }));
    }

    /** Everybody. */
    get people() { return this.document?.participants ?? this.others; }

    /** The other person of a call between two. */
    get other() {
        const { user, displayName, photoURL } = this.others[0] ?? {};
        return { id: user, displayName, photoURL };
    }

    get title() { return namesOf(this.others); }

    /** What is received: `{user, source, kind, receiver, track}`. */
    get received() { return this.#ways.received; }

    /** The page says how good a picture is enough: `enough({user, source})` answers `off`, `low`, `medium` or `high`. */
    see(enough) { this.#ways.see(enough); }

    // What the person does

    get isMuted() { return this.media.isMuted; }
    get hasCamera() { return Boolean(this.media.camera); }
    get isSharing() { return Boolean(this.media.screen); }
    get connection() { return this.#ways.state; }
    get way() { return this.#ways.name; }
    get otherMedia() { return this.isGroup ? undefined : this.others[0]?.media; }
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
        this.media.screen?.addEventListener("ended", () => this.#tellMedia());
    }

    /** Hold: nothing is sent either way until it is taken back. */
    async hold(held) {
        this.#applyHold(held);
        await this.#tellMedia();
    }

    /** Rings more people. A call between two becomes a group's by it, and goes on meanwhile. */
    async invite(users) {
        const params = { call: this.id, clientID: randomID(), users: users.map((user) => user.id) };
        const { call } = await request("calls.invite", params);
        this.update(call);
    }

    /** Only the gateway hears what is said. */
    get isHeard() { return this.document?.mode === "gateway"; }
    get isRecorded() { return Boolean(this.document?.recording); }

    /** In words, who has what is said recorded. */
    get recorded() {
        const by = this.document?.recording?.by;
        if (!by) return "";
        return by === credentials.user.id ? "You are recording this call" : `${this.nameOf(by)} is recording this call`;
    }

    nameOf(user) { return this.people.find((one) => one.user === user)?.displayName ?? "Somebody"; }

    /** Who wanted captions and when, and why there are none at the moment; undefined where nobody wants them. */
    get captions() { return this.document?.captions; }

    /** In words, who has what is said written down. */
    get captioned() {
        const by = this.captions?.by;
        if (!by) return "";
        return by === credentials.user.id ? "You turned captions on" : `${this.nameOf(by)} turned captions on`;
    }

    /** Everybody is shown them, and anybody may turn them off. */
    async setCaptions(on) {
        const { call } = await request(on ? "calls.caption" : "calls.stopCaptions", { call: this.id });
        this.update(call);
    }

    /** Something was understood. */
    hear(caption) { this.emit("caption", caption); }

    /** Everybody is shown it, and anybody may end it. */
    async setRecording(on) {
        const { call } = await request(on ? "calls.record" : "calls.stopRecording", { call: this.id });
        this.update(call);
    }

    setRelayOnly(on) {
        preferences.set("relayOnly", on);
        this.#servers = undefined;
        if (on) this.#ways.renew(); else this.#ways.restart();
    }

    async changeDevice(kind, id) {
        preferences.set(kind, id);
        if (kind === "microphone") await this.media.openMicrophone();
        if (kind === "camera" && this.media.camera) await this.media.openCamera();
        if (kind === "speaker") this.#speakers.choose();
        this.#changed();
    }

    hangUp() {
        if (this.phase === "ended") return;
        this.#hungUp = true;
        const call = this.document;
        const words = this.isGroup ? "You left the call" : "Call ended";
        this.#finish(call?.status === "active" ? words : "Cancelled");
        if (call) this.#tellHangUp(call);
    }

    /** The call could not be begun. */
    fail(text) { this.#finish(text); }

    // The connection

    /** Relay credentials last ten minutes: what was fetched for a ring is used at once, later they are fetched anew. */
    async #iceServers() {
        const known = this.#servers;
        this.#servers = undefined;
        try {
            const { iceServers } = await (known ?? request("iceServers.get", { call: this.id }, { patience: 5_000 }));
            return iceServers;
        } catch (error) {
            if (!this.isGroup) this.emit("notice", inWords(error));
            return [];
        }
    }

    prefetchServers(answer) { this.#servers = answer; }

    /** Media may flow before somebody has answered; then the call begins with the answer. */
    #arrive() {
        if (this.phase === "active") return;
        this.phase = this.connection === "connected" ? "active" : "connecting";
        if (this.phase !== "active") return;
        if (!this.#told) request("calls.connected", { call: this.id }).catch(() => {});
        this.#told = true;
        this.#tick();
    }

    #follow(state) {
        if (state === "connected") this.#troubles = 0;
        if (state === "connected" && (this.document?.status === "active" || !this.isGroup)) this.#arrive();
        this.#changed();
    }

    /** What passes by itself is not spoken of: the status says that it looks for a way. */
    #trouble(error) {
        console.warn("leg:", error);
        this.#troubles += 1;
        if (this.#troubles === TROUBLE) this.emit("notice", inWords(error));
    }

    async #tick() {
        const connection = this.#ways.connection;
        if (this.phase !== "active" || !connection) return;
        const sample = await this.statistics.sample(connection);
        this.#heard += sample.packets;
        this.#seconds += 1;
        if (this.#seconds % ALIVE === 0) {
            const isNews = this.#heard > 0 && this.document.mode === "direct";
            if (isNews) request("calls.alive", { call: this.id }, { patience: 5_000 }).catch(() => {});
            this.#heard = 0;
        }
        this.emit("stats", sample);
    }

    // Media and hold

    async #openMedia(video) {
        try { await this.media.openMicrophone(); } catch (error) {
            this.emit("notice", `${inWords(error, "microphone")} ${this.isGroup ? "The others" : "The other person"} can’t hear you.`);
            this.media.mute(true);
        }
        if (video) await this.#tryCamera();
    }

    async #tryCamera() {
        try { await this.media.openCamera(); } catch (error) { this.emit("notice", inWords(error, "camera")); }
    }

    #applyHold(held) {
        this.held = held;
        this.#pause();
        this.#changed();
    }

    /** While either side holds, nothing is sent. */
    #pause() { this.#ways.setSending(!this.held && !this.heldByOther); }

    #tellMedia() {
        this.#changed();
        return this.#report.tell();
    }

    // The end

    #tellHangUp(call) {
        const mine = call.caller === credentials.user.id;
        const isAlone = !othersOf(call, credentials.user.id).some((one) => one.state === "joined");
        const verb = mine && isAlone && call.status === "ringing" ? "cancel" : mine && !this.isGroup ? "end" : "leave";
        request(`calls.${verb}`, { call: call.id }, { patience: 60_000 }).catch(() => {});
        // The call may go on without this tab, which may join it again.
        realtime.forget(`signals:${call.id}:${endpoint.id}`);
    }

    #finish(text) {
        if (this.phase === "ended") return;
        this.ending = text;
        this.phase = "ended";
        clearInterval(this.#timer);
        this.#unhear();
        this.#ways.close();
        this.#speakers.close();
        this.levels?.close();
        this.media.close();
        const quality = this.statistics.summary;
        if (quality) request("calls.quality", { call: this.id, ...quality }).catch(() => {});
        this.#changed();
        this.emit("ended");
    }

    #changed() {
        if (this.phase !== "ended") {
            this.#speakers.muted = this.held || this.heldByOther;
            this.#speakers.play(this.received.filter((one) => one.kind === "audio").map((one) => one.track));
            if (this.isGroup && !this.levels) this.#watchLevels();
        }
        this.emit("change");
    }

    #watchLevels() {
        this.levels = new Levels(() => this.received, () => ({ user: credentials.user.id, track: this.held ? undefined : this.media.voice }));
        this.levels.on("change", () => this.emit("speaking"));
    }
}
