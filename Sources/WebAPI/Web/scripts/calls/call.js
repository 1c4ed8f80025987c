// A call that this tab is in: the call's document, its connection, and the local media.
//
// The server owns the call's state; this follows its document. Only hanging up is shown before the server has confirmed
// it, since it cannot fail. The path of the media (media-path.js) follows from the document.

import { credentials } from "../connection/credentials.js";
import { randomID, endpoint } from "../connection/identity.js";
import { errorMessage } from "../connection/problems.js";
import { realtime } from "../connection/realtime.js";
import { request } from "../connection/requests.js";
import { departure, ending, namesOf, othersOf, sides } from "../language/format.js";
import { t } from "../language/texts.js";
import { Levels } from "../media/levels.js";
import { LocalMedia } from "../media/local-media.js";
import { MediaPath } from "../media/media-path.js";
import { MediaReport } from "../media/media-report.js";
import { Speakers } from "../media/speakers.js";
import { Statistics } from "../media/statistics.js";
import { Emitter } from "../state/emitter.js";
import { serverNow } from "../store/clock.js";
import { preferences } from "../store/preferences.js";

/** Seconds between two reports that the call is alive. */
const ALIVE_INTERVAL = 10;
/** After this many failures of the leg in a row a notice is shown. */
const FAILURES_BEFORE_NOTICE = 4;

/** Why a recording ended that nobody stopped. */
const recordingEnds = ["longest", "failed", "interrupted", "quota_exceeded"];

/** Events: `change`, `stats` once a second, `speaking`, `notice` with a message for the user, `ended`. */
export class ActiveCall extends Emitter {
    id;
    /** Whose call it is here; when it ends because somebody was signed out, nobody is signed in any more. */
    me = credentials.user.id;
    kind;
    document;
    /** `preparing`, `calling`, `ringing`, `connecting`, `active`, `ended`. */
    phase = "preparing";
    held = false;
    ending = "";
    media = new LocalMedia();
    statistics = new Statistics();
    levels;
    #callees;
    #conversation;
    #mediaPath;
    #servers;
    #speakers = new Speakers();
    #report = new MediaReport(this);
    #hasReportedConnected = false;
    #hasJoined = false;
    /** Of captions in another language; undefined if they are shown as they are spoken. */
    #captionStream;
    #isAccepting = false;
    #legFailures = 0;
    #packetsReceived = 0;
    #seconds = 0;
    #timer;
    #rejoining = false;
    #hungUp = false;
    #unsubscribe;

    /** `people` are the others in the call, as `{id, displayName, photoURL}`; `conversation` is the group that is called. */
    constructor(people, kind, conversation) {
        super();
        this.#callees = people;
        this.#conversation = conversation;
        this.kind = kind;
        this.#mediaPath = new MediaPath(this, () => this.#iceServers());
        this.#mediaPath.on("state", (state) => this.#handleConnectionState(state));
        this.#mediaPath.on("tracks", () => this.#changed());
        this.#mediaPath.on("error", (error) => this.#handleLegError(error));
        this.media.on("tracks", () => this.#changed());
        const restart = () => this.#mediaPath.restart();
        addEventListener("online", restart);
        this.#unsubscribe = () => removeEventListener("online", restart);
        this.#timer = setInterval(() => this.#tick(), 1000);
    }

    // Placing and joining

    /** Places the call. Throws before it rings when there is no microphone or the server rejects it. */
    async start(other) {
        await this.media.openMicrophone();
        if (this.kind === "video") await this.#tryCamera();
        const whom = this.#conversation ? { conversation: this.#conversation } : { callees: this.#callees.map((user) => user.id) };
        const params = { clientID: randomID(), ...whom, kind: this.kind, ...(other && { other }) };
        if (this.isGroup) await this.#startGroup(params); else await this.#startPair(params);
        if (this.kind === "video" && !this.hasCamera) this.#reportMedia();
    }

    async #startPair(params) {
        const peer = this.#mediaPath.connectDirectly({ isCallee: false });
        const sdp = await peer.firstOffer(this.kind);
        if (this.#hungUp) return;
        const { call, joined } = await request("calls.create", { ...params, offer: { sdp } });
        this.id = call.id;
        if (this.#hungUp) return this.#sendHangUp(call);
        if (joined) peer.expectOffer(); else peer.firstOfferCommitted();
        this.update(call);
    }

    async #startGroup(params) {
        if (this.#hungUp) return;
        const { call } = await request("calls.create", { ...params, mode: "gateway" });
        this.id = call.id;
        if (this.#hungUp) return this.#sendHangUp(call);
        this.#listen();
        this.update(call);
    }

    /**
     * Accepts a ringing call, or joins one in progress. The microphone may be opened after the call was accepted: the
     * caller must not wait for it.
     */
    async accept(call, { video, other }) {
        this.id = call.id;
        this.phase = "connecting";
        this.document = call;
        this.#isAccepting = true;
        if (call.mode === "direct") this.#mediaPath.connectDirectly({ isCallee: true }).expectOffer();
        const opened = this.#openMedia(video);
        const params = { call: this.id, clientID: randomID(), media: { audio: true, video }, ...(other && { other }) };
        let accepted;
        try { accepted = await request("calls.accept", params, { isWanted: () => !this.#hungUp }); } catch (error) {
            if (this.#hungUp) return;
            throw error;
        }
        this.#isAccepting = false;
        // The server may have accepted it after the request to leave.
        if (this.#hungUp) return this.#sendHangUp(accepted.call);
        this.#listen();
        this.update(accepted.call);
        // The media announced on accepting may be missing: a blocked microphone, no camera.
        opened.then(() => { if (this.isMuted || this.hasCamera !== video) this.#reportMedia(); });
    }

    /** Resumes a call that this tab was in before it was reloaded. */
    resume(call) {
        const { mine } = sides(call, this.me);
        this.id = call.id;
        this.phase = "connecting";
        if (call.mode === "direct") {
            this.#rejoining = true;
            this.#mediaPath.connectDirectly({ isCallee: call.caller !== this.me });
        }
        this.media.mute(mine.media?.audio === false);
        this.#openMedia(mine.media?.video).then(() => this.#reportMedia());
        this.#listen();
        this.update(call);
    }

    #listen() {
        realtime.listen(`call:${this.id}`);
        realtime.listen(`signals:${this.id}:${endpoint.id}`);
    }

    // Updates from the server

    update(call) {
        // Responses and stream changes arrive in any order.
        if (this.phase === "ended" || call.version < this.document?.version) return;
        const before = this.document?.recording;
        const hadCaptions = Boolean(this.captions);
        this.document = call;
        const { mine, other } = sides(call, this.me);
        if (call.recording && call.recording.id !== before?.id) this.emit("notice", this.recorded);
        if (before && !call.recording && recordingEnds.includes(call.recordingEnded)) this.emit("notice", t(`recordingEnds.${call.recordingEnded}`));
        if (call.captions && !hadCaptions) this.emit("notice", this.captioned);
        if (call.status === "ended") return this.#finish(ending(call, this.me).text);
        const elsewhere = call.status === "active" && mine?.endpoint && mine.endpoint !== endpoint.id;
        if (elsewhere && !this.#isAccepting) return this.#finish(t("call.elsewhere"));
        this.#hasJoined ||= mine?.endpoint === endpoint.id;
        // In a call between two, the end of the call follows at once and has the reason.
        if (this.isGroup && this.#hasJoined && mine?.state !== "joined") return this.#finish(departure(mine));
        if (call.status === "active") this.#activate();
        else if (mine?.user === call.caller) {
            this.phase = othersOf(call, mine.user).some((one) => one.state === "ringing") ? "ringing" : "calling";
        }
        if (call.mode === "gateway" && this.#hasJoined) this.#mediaPath.connectToGateway(call);
        const held = mine?.media?.held ?? false;
        if (held !== this.held && !this.#report.isSending) this.#applyHold(held);
        this.#pause();
        this.#changed();
    }

    /** The next document replaces this one, whatever its version. */
    forgetVersion() { if (this.document) this.document = { ...this.document, version: 0 }; }

    /** The server does not know the call any more. */
    handleGone() { if (this.phase !== "ended") this.#finish(t("ending.ended")); }

    receive(signals, { snapshot = false } = {}) {
        if (snapshot && this.#rejoining) {
            this.#rejoining = false;
            const generation = Math.max(0, ...signals.map((signal) => signal.generation));
            this.#mediaPath.peer?.rejoin(generation, this.kind);
            return;
        }
        for (const signal of signals) {
            if (signal.kind === "slots") this.#mediaPath.leg?.updateSlots(signal.slots);
            else if (signal.kind === "renegotiate") this.#mediaPath.leg?.renegotiate();
            else if (signal.kind === "legEnded") { if (!snapshot) this.#mediaPath.leg?.handleEnd(signal.reason); }
            else this.#mediaPath.peer?.receive(signal);
        }
    }

    // Participants

    get isGroup() {
        if (!this.document) return this.#callees.length > 1 || Boolean(this.#conversation);
        return this.document.open || this.document.mode === "gateway" || this.document.participants.length > 2;
    }

    /** Everybody but the local user, from the document. */
    get others() {
        return this.document ? othersOf(this.document, this.me)
            : this.#callees.map((user) => ({ ...user, user: user.id, state: "invited" }));
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
    get received() { return this.#mediaPath.received; }

    /** Sets the preferred video quality: `qualityFor({user, source})` returns `off`, `low`, `medium` or `high`. */
    setPreferredQuality(qualityFor) { this.#mediaPath.setPreferredQuality(qualityFor); }

    // User actions

    get isMuted() { return this.media.isMuted; }
    get hasCamera() { return Boolean(this.media.camera); }
    get isSharing() { return Boolean(this.media.screen); }
    get connection() { return this.#mediaPath.state; }
    get mediaPath() { return this.#mediaPath.kind; }
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
        this.#reportMedia();
    }

    async setCamera(on) {
        if (on) await this.media.openCamera(); else this.media.closeCamera();
        this.#reportMedia();
    }

    async setSharing(on) {
        if (on) await this.media.openScreen(); else this.media.closeScreen();
        this.#reportMedia();
        this.media.screen?.addEventListener("ended", () => this.#reportMedia());
    }

    /** Hold: nothing is sent in either direction until the call is resumed. */
    async hold(held) {
        this.#applyHold(held);
        await this.#reportMedia();
    }

    /** Invites more people. This turns a call between two into a group call without a gap. */
    async invite(users) {
        const params = { call: this.id, clientID: randomID(), users: users.map((user) => user.id) };
        const { call } = await request("calls.invite", params);
        this.update(call);
    }

    /** Only the gateway can record and transcribe. */
    get usesGateway() { return this.document?.mode === "gateway"; }
    get isRecorded() { return Boolean(this.document?.recording); }

    /** Who is recording the call, as a sentence. */
    get recorded() {
        const by = this.document?.recording?.by;
        if (!by) return "";
        return by === this.me ? t("call.youRecord") : t("call.records", { name: this.nameOf(by) });
    }

    nameOf(user) { return this.people.find((one) => one.user === user)?.displayName ?? t("common.somebody"); }

    /** Who turned captions on and when, and why there are none at the moment; undefined while they are off. */
    get captions() { return this.document?.captions; }

    /** Who turned captions on, as a sentence. */
    get captioned() {
        const by = this.captions?.by;
        if (!by) return "";
        return by === this.me ? t("call.youCaption") : t("call.captionedBy", { name: this.nameOf(by) });
    }

    /** Everybody sees the captions, and anybody may turn them off. */
    async setCaptions(on) {
        const { call } = await request(on ? "calls.caption" : "calls.stopCaptions", { call: this.id });
        this.update(call);
    }

    /** Emits a caption of the call, or one in another language. */
    receiveCaption(caption, language) { this.emit(language ? "translatedCaption" : "caption", caption); }

    /** Listens to captions in this language; undefined: as they are spoken. */
    translateCaptions(language) {
        const stream = language && `captions:${this.id}:${language}`;
        if (this.#captionStream && this.#captionStream !== stream) realtime.unlisten(this.#captionStream);
        this.#captionStream = stream;
        if (stream) realtime.listen(stream);
    }

    /** Everybody sees that the call is recorded, and anybody may stop it. */
    async setRecording(on) {
        const { call } = await request(on ? "calls.record" : "calls.stopRecording", { call: this.id });
        this.update(call);
    }

    setRelayOnly(on) {
        preferences.set("relayOnly", on);
        this.#servers = undefined;
        if (on) this.#mediaPath.renew(); else this.#mediaPath.restart();
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
        const text = this.isGroup ? t("ending.left") : t("ending.ended");
        this.#finish(call?.status === "active" ? text : t("ending.cancelled"));
        if (call) this.#sendHangUp(call);
    }

    /** The call could not be placed or joined. */
    fail(text) { this.#finish(text); }

    // The connection

    /** Relay credentials last ten minutes: those fetched during the ring are used once, later ones are fetched anew. */
    async #iceServers() {
        const known = this.#servers;
        this.#servers = undefined;
        try {
            const { iceServers } = await (known ?? request("iceServers.get", { call: this.id }, { timeout: 5_000 }));
            return iceServers;
        } catch (error) {
            if (!this.isGroup) this.emit("notice", errorMessage(error));
            return [];
        }
    }

    setPrefetchedServers(servers) { this.#servers = servers; }

    /** The call becomes active when it was accepted and media flows, whichever comes last. */
    #activate() {
        if (this.phase === "active") return;
        this.phase = this.connection === "connected" ? "active" : "connecting";
        if (this.phase !== "active") return;
        if (!this.#hasReportedConnected) request("calls.connected", { call: this.id }).catch(() => {});
        this.#hasReportedConnected = true;
        this.#tick();
    }

    #handleConnectionState(state) {
        if (state === "connected") this.#legFailures = 0;
        if (state === "connected" && (this.document?.status === "active" || !this.isGroup)) this.#activate();
        this.#changed();
    }

    /** Transient errors are not shown: the status says that the call is reconnecting. */
    #handleLegError(error) {
        console.warn("leg:", error);
        this.#legFailures += 1;
        if (this.#legFailures === FAILURES_BEFORE_NOTICE) this.emit("notice", errorMessage(error));
    }

    async #tick() {
        const connection = this.#mediaPath.connection;
        if (this.phase !== "active" || !connection) return;
        const sample = await this.statistics.sample(connection);
        this.#packetsReceived += sample.packets;
        this.#seconds += 1;
        if (this.#seconds % ALIVE_INTERVAL === 0) {
            const isAlive = this.#packetsReceived > 0 && this.document.mode === "direct";
            if (isAlive) request("calls.alive", { call: this.id }, { timeout: 5_000 }).catch(() => {});
            this.#packetsReceived = 0;
        }
        this.emit("stats", sample);
    }

    // Media and hold

    async #openMedia(video) {
        try { await this.media.openMicrophone(); } catch (error) {
            this.emit("notice", `${errorMessage(error, "microphone")} ${this.isGroup ? t("call.othersCannotHear") : t("call.otherCannotHear")}`);
            this.media.mute(true);
        }
        if (video) await this.#tryCamera();
    }

    async #tryCamera() {
        try { await this.media.openCamera(); } catch (error) { this.emit("notice", errorMessage(error, "camera")); }
    }

    #applyHold(held) {
        this.held = held;
        this.#pause();
        this.#changed();
    }

    /** While either side holds, nothing is sent. */
    #pause() { this.#mediaPath.setSending(!this.held && !this.heldByOther); }

    #reportMedia() {
        this.#changed();
        return this.#report.send();
    }

    // Ending

    #sendHangUp(call) {
        const mine = call.caller === this.me;
        const isAlone = !othersOf(call, this.me).some((one) => one.state === "joined");
        const verb = mine && isAlone && call.status === "ringing" ? "cancel" : mine && !this.isGroup ? "end" : "leave";
        request(`calls.${verb}`, { call: call.id }, { timeout: 60_000 }).catch(() => {});
        // The call may continue without this tab, which may join it again.
        realtime.forget(`signals:${call.id}:${endpoint.id}`);
    }

    #finish(text) {
        if (this.phase === "ended") return;
        this.ending = text;
        this.phase = "ended";
        clearInterval(this.#timer);
        this.#unsubscribe();
        this.#mediaPath.close();
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
        this.levels = new Levels(() => this.received, () => ({ user: this.me, track: this.held ? undefined : this.media.voice }));
        this.levels.on("change", () => this.emit("speaking"));
    }
}
