// All calls that concern this tab: those that ring, those it is in, and their documents from the server.
//
// A ring comes from live state only, never from history, and every ring has a local deadline, so that it stops even
// when updates are lost. Documents arrive on the user's own stream and on the call's; the call's is the more precise
// one.

import { credentials } from "../connection/credentials.js";
import { endpoint } from "../connection/identity.js";
import { Problem, errorMessage } from "../connection/problems.js";
import { realtime } from "../connection/realtime.js";
import { request } from "../connection/requests.js";
import { firstName, sides } from "../language/format.js";
import { t } from "../language/texts.js";
import { Emitter } from "../state/emitter.js";
import { ActiveCall } from "./call.js";

const RING_GRACE = 1_500;

/** Who is shown as calling: the caller or, if an app's server rings the caller too, another participant. */
function callerOf(call) {
    const { mine, other } = sides(call, credentials.user.id);
    return call.participants.find((one) => one.user === call.caller && one !== mine) ?? other;
}

/** Events: `rings`, `calls`, `open`, `history`, `notice` (a message), `missed` ({call, caller}), `profile`. */
class Calls extends Emitter {
    /** Incoming calls that ring here: id -> {id, call, caller, kind, deadline}. */
    rings = new Map();
    /** Calls this tab is in, the current one first. */
    active = [];
    /** The documents of group calls in progress that this tab may join. */
    open = [];
    #documents = new Map();
    #pendingSignals = new Map();
    #handled = new Set();

    constructor() {
        super();
        realtime.isUrgent = () => this.active.some((call) => call.phase !== "ended");
        realtime.on("snapshot", ({ stream, data, isNewEpoch }) => this.#handleSnapshot(stream, data, isNewEpoch));
        realtime.on("change", ({ stream, type, data }) => this.#handleChange(stream, type, data));
        realtime.on("event", ({ stream, data }) => {
            const [kind, id, language] = stream.split(":");
            if (kind === "captions") this.active.find((one) => one.id === id)?.receiveCaption(data, language);
        });
    }

    get current() { return this.active[0]; }

    /** Whether this tab is in the call. */
    has(id) { return this.active.some((call) => call.id === id && call.phase !== "ended"); }

    /** Clears everything: somebody else may sign in. */
    reset() {
        for (const call of [...this.active]) call.hangUp();
        for (const ring of this.rings.values()) clearTimeout(ring.timer);
        this.rings.clear();
        this.active = [];
        this.#documents.clear();
        this.#pendingSignals.clear();
        this.#handled.clear();
        this.open = [];
        this.emit("rings");
        this.emit("calls");
        this.emit("open");
    }

    // User actions

    /** Calls these people, or the group that they are in; `other` says what to do with a call in progress: `hold` or `end`. */
    async start(users, kind, other, conversation) {
        const call = this.#add(new ActiveCall(users, kind, conversation));
        try {
            await call.start(other);
            this.#claim(call);
        } catch (error) {
            this.remove(call);
            call.fail(errorMessage(error));
            throw error;
        }
    }

    async accept(ring, options = {}) {
        const { video = false, other } = options;
        this.#stopRing(ring.id);
        if (other === "hold") for (const call of this.active) call.hold(true);
        try { await this.#enter(ring.call, { video, other, servers: ring.servers }); } catch (error) {
            // The caller hung up and called again just as the button was pressed: accepts the new call.
            const again = [...this.rings.values()].find((one) => one.caller.id === ring.caller.id);
            if (again && error.type === "call_ended") return this.accept(again, options);
            this.emit("notice", errorMessage(error));
        }
        return undefined;
    }

    /** Joins a group call in progress: one that was declined, missed or left, or is open on another device. */
    async join(document, { other } = {}) {
        this.#stopRing(document.id);
        if (other === "hold") for (const call of this.active) call.hold(true);
        await this.#enter(document, { video: document.kind === "video", other });
    }

    async #enter(document, { video, other, servers }) {
        const caller = callerOf(document);
        const call = this.#add(new ActiveCall([{ ...caller, id: caller.user }], document.kind));
        call.id = document.id;
        call.setPrefetchedServers(servers);
        const accepted = call.accept(document, { video, other });
        this.#claim(call);
        this.#updateOpenCalls();
        try { await accepted; } catch (error) {
            this.remove(call);
            call.fail(errorMessage(error));
            throw error;
        }
    }

    async decline(ring) {
        this.#stopRing(ring.id);
        try { await request("calls.decline", { call: ring.id }, { timeout: 60_000 }); } catch (error) {
            if (error instanceof Problem && error.type !== "call_ended") this.emit("notice", errorMessage(error));
        }
    }

    /** Puts the current call on hold and resumes the other one, both before the server has confirmed it. */
    swap(call) {
        if (!this.active.includes(call) || call.phase === "ended") return;
        for (const one of this.active) if (one !== call && !one.held) one.hold(true);
        this.active = [call, ...this.active.filter((one) => one !== call)];
        this.emit("calls");
        call.hold(false);
    }

    /** Takes a call off the screen. */
    remove(call) {
        this.active = this.active.filter((one) => one !== call);
        this.emit("calls");
        this.#updateOpenCalls();
    }

    // Updates from the server

    #handleSnapshot(stream, data, isNewEpoch) {
        const [kind, id] = stream.split(":");
        if (isNewEpoch && kind === "user") for (const known of [...this.#documents.keys()]) this.#forgetVersion(known);
        if (isNewEpoch && kind === "call") this.#forgetVersion(id);
        if (kind === "user") this.#handleUserSnapshot(data);
        if (kind === "call") this.#update(data.call);
        if (kind === "signals") this.#handleSignals(id, data.signals.map((entry) => entry.data), { snapshot: true });
    }

    #handleChange(stream, type, data) {
        const [kind, id] = stream.split(":");
        if (kind === "user" && type === "call") this.#update(data);
        if (kind === "user" && type === "profile") this.#setProfile(data);
        if (kind === "signals") this.#handleSignals(id, [data]);
        const known = this.#documents.get(id);
        if (kind === "call" && known && type === "call") this.#update({ ...data, participants: known.participants });
        // A response or the user's own stream may have brought a later version already.
        if (kind === "call" && known && type === "participant" && data.version >= known.version) {
            const { version, ...participant } = data;
            const others = known.participants.map((one) => one.user === data.user ? participant : one);
            const participants = others.includes(participant) ? others : [...others, participant];
            this.#update({ ...known, version, participants });
        }
    }

    /** All live calls. Those that are not among them have ended while this tab was offline. */
    #handleUserSnapshot({ me, calls }) {
        this.#setProfile(me);
        const live = new Set(calls.map((call) => call.id));
        for (const call of calls) this.#update(call);
        for (const id of [...this.rings.keys(), ...this.active.map((call) => call.id)]) {
            if (id && !live.has(id)) this.fetch(id);
        }
    }

    #setProfile(me) {
        credentials.setUser(me);
        this.emit("profile", me);
    }

    /** Asks the server for a call, which may ring here. */
    async fetch(id) {
        try { this.#update((await request("calls.get", { call: id })).call); } catch (error) {
            if (error.type !== "not_found") return;
            this.#stopRing(id);
            this.active.find((one) => one.id === id)?.handleGone();
        }
    }

    /** The server's log has a new epoch: any document of the call replaces the known one. */
    #forgetVersion(id) {
        this.#documents.delete(id);
        this.active.find((one) => one.id === id)?.forgetVersion();
    }

    #update(call) {
        const known = this.#documents.get(call.id);
        if (known && (known.status === "ended" || call.version < known.version)) return;
        this.#documents.set(call.id, call);
        this.#updateRing(call);
        const active = this.active.find((one) => one.id === call.id && one.phase !== "ended");
        if (active) active.update(call); else this.#resume(call);
        if (call.status === "ended") this.#forget(call);
        this.#updateOpenCalls();
    }

    #forget(call) {
        realtime.forget(`call:${call.id}`);
        realtime.forget(`signals:${call.id}:${endpoint.id}`);
        this.#pendingSignals.delete(call.id);
        this.emit("history");
    }

    /** Finds the calls that may be joined, and subscribes to their streams to keep them up to date. */
    #updateOpenCalls() {
        const before = this.open;
        const mine = new Set(this.active.filter((one) => one.phase !== "ended").map((one) => one.id));
        this.open = [...this.#documents.values()].filter((call) => call.status === "active" && call.mode === "gateway"
            && !mine.has(call.id) && !this.rings.has(call.id)
            && call.participants.some((one) => one.state === "joined" && one.endpoint !== endpoint.id));
        for (const call of this.open) realtime.listen(`call:${call.id}`);
        if (before.length > 0 || this.open.length > 0) this.emit("open");
    }

    /** Resumes a call that this tab was in before it was reloaded. */
    #resume(call) {
        const { mine, other } = sides(call, credentials.user.id);
        const isMine = call.status === "active" && mine?.state === "joined" && mine.endpoint === endpoint.id;
        if (!isMine || this.#handled.has(call.id) || !other || this.#isStartingCall) return;
        const active = this.#add(new ActiveCall([{ ...other, id: other.user }], call.kind));
        this.#handled.add(call.id);
        active.resume(call);
    }

    get #isStartingCall() { return this.active.some((call) => !call.id); }

    // Signals

    #handleSignals(id, entries, options) {
        // A superseded signal has a sequence number only.
        const signals = entries.filter((entry) => !entry.superseded);
        const call = this.active.find((one) => one.id === id && one.phase !== "ended");
        if (call) call.receive(signals, options);
        else this.#pendingSignals.set(id, [...(this.#pendingSignals.get(id) ?? []), ...signals]);
    }

    /** The call has its id now: delivers the updates that arrived before. */
    #claim(call) {
        this.#handled.add(call.id);
        const document = this.#documents.get(call.id);
        if (document) call.update(document);
        const signals = this.#pendingSignals.get(call.id);
        this.#pendingSignals.delete(call.id);
        if (signals) call.receive(signals);
    }

    #add(call) {
        call.on("notice", (text) => this.emit("notice", text));
        call.on("ended", () => {
            if (call.id) this.#handled.add(call.id);
            this.emit("ended", call);
            this.#updateOpenCalls();
        });
        this.active = [call, ...this.active.filter((other) => other.phase !== "ended")];
        this.emit("calls");
        return call;
    }

    // Rings

    #updateRing(call) {
        const { mine } = sides(call, credentials.user.id);
        const isRinging = ["invited", "ringing"].includes(mine?.state) && call.status !== "ended";
        // The server says that this user is out of the call: if it rings again, it is a new invitation.
        if (!isRinging && mine?.state !== "joined") this.#handled.delete(call.id);
        if (this.rings.has(call.id)) {
            if (isRinging) this.rings.get(call.id).call = call;
            else this.#stopRing(call.id, ...this.#stopReason(call, mine));
        } else if (isRinging && !this.#handled.has(call.id)) {
            this.#startRing(call, mine);
        }
    }

    #startRing(call, mine) {
        const caller = callerOf(call);
        const left = mine.remainingMs ?? 60_000;
        if (left <= 0) return;
        const ring = {
            id: call.id, call, kind: call.kind,
            caller: { id: caller.user, displayName: caller.displayName, photoURL: caller.photoURL },
            // Fetched while it rings, so that accepting need not wait for it.
            servers: request("iceServers.get", { call: call.id }),
            timer: setTimeout(() => this.#stopRing(call.id, t("ring.missed", { name: caller.displayName }), { isMissed: true }), left + RING_GRACE),
        };
        ring.servers.catch(() => {});
        this.rings.set(call.id, ring);
        this.#updateOpenCalls();
        this.emit("rings");
        request("calls.ringing", { call: call.id }).catch(() => {});
    }

    #stopRing(id, notice, { isMissed = false } = {}) {
        const ring = this.rings.get(id);
        if (!ring) return;
        clearTimeout(ring.timer);
        this.#handled.add(id);
        this.rings.delete(id);
        this.emit("rings");
        this.#updateOpenCalls();
        if (notice) this.emit("notice", notice);
        if (isMissed) this.emit("missed", ring);
    }

    /** The words for it, and `{isMissed}`. */
    #stopReason(call, mine) {
        const name = callerOf(call)?.displayName;
        // Both called each other, and this call won: it continues here.
        if (mine?.endpoint === endpoint.id) return [];
        if (mine?.reason === "answered_elsewhere" || mine?.state === "joined") return [t("ring.answeredElsewhere")];
        if (mine?.reason === "declined_elsewhere" || mine?.state === "declined") return [t("ring.declinedElsewhere")];
        if (call.endReason === "replaced") return [t("ring.again", { name: firstName(name) })];
        return [t("ring.missed", { name }), { isMissed: true }];
    }
}

export const calls = new Calls();
