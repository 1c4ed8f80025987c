// All calls that concern this tab: those that ring, those it is in, and what the server says about them.
//
// A ring comes from live state only, never from history, and every ring has a local deadline: whatever is lost on the
// way, it stops. Documents arrive on the user's own stream and on the call's; the call's is the more precise one.

import { ActiveCall } from "./call.js";
import { credentials } from "./credentials.js";
import { Emitter } from "./emitter.js";
import { endpoint } from "./identity.js";
import { Problem, inWords } from "./problems.js";
import { realtime } from "./realtime.js";
import { request } from "./requests.js";
import { firstName, sides } from "./format.js";

const GRACE = 1_500;

/** Events: `rings`, `calls`, `open`, `history`, `notice` (words), `profile`. */
class Calls extends Emitter {
    /** Incoming calls that ring here: id -> {id, call, caller, kind, deadline}. */
    rings = new Map();
    /** Calls this tab is in, the one in front first. */
    active = [];
    /** Group calls that go on without this tab, which may join them: their documents. */
    open = [];
    #documents = new Map();
    #unclaimed = new Map();
    #settled = new Set();

    constructor() {
        super();
        realtime.isUrgent = () => this.active.some((call) => call.phase !== "ended");
        realtime.on("snapshot", ({ stream, data, anew }) => this.#snapshot(stream, data, anew));
        realtime.on("change", ({ stream, type, data }) => this.#change(stream, type, data));
        realtime.on("event", ({ stream, data }) => {
            const [kind, id] = stream.split(":");
            if (kind === "captions") this.active.find((one) => one.id === id)?.hear(data);
        });
    }

    get current() { return this.active[0]; }

    /** Forgets everything: somebody else may sign in. */
    reset() {
        for (const call of [...this.active]) call.hangUp();
        for (const ring of this.rings.values()) clearTimeout(ring.timer);
        this.rings.clear();
        this.active = [];
        this.#documents.clear();
        this.#unclaimed.clear();
        this.#settled.clear();
        this.open = [];
        this.emit("rings");
        this.emit("calls");
        this.emit("open");
    }

    // What the person does

    /** Calls these people; `other` says what becomes of a call that is open already: `hold` or `end`. */
    async place(users, kind, other) {
        const call = this.#add(new ActiveCall(users, kind));
        try {
            await call.place(other);
            this.#claim(call);
        } catch (error) {
            this.remove(call);
            call.fail(inWords(error));
            throw error;
        }
    }

    async accept(ring, options = {}) {
        const { video = false, other } = options;
        this.#stopRing(ring.id);
        if (other === "hold") for (const call of this.active) call.hold(true);
        try { await this.#enter(ring.call, { video, other, servers: ring.servers }); } catch (error) {
            // The same person hung up and called again just as the button was pressed: that call was meant.
            const again = [...this.rings.values()].find((one) => one.caller.id === ring.caller.id);
            if (again && error.type === "call_ended") return this.accept(again, options);
            this.emit("notice", inWords(error));
        }
        return undefined;
    }

    /** Joins a group call that goes on: one that was declined, missed or left, or is open on another device. */
    async join(document, { other } = {}) {
        this.#stopRing(document.id);
        if (other === "hold") for (const call of this.active) call.hold(true);
        await this.#enter(document, { video: document.kind === "video", other });
    }

    async #enter(document, { video, other, servers }) {
        const caller = document.participants.find((one) => one.user === document.caller);
        const call = this.#add(new ActiveCall([{ ...caller, id: caller.user }], document.kind));
        call.id = document.id;
        call.prefetchServers(servers);
        const accepted = call.accept(document, { video, other });
        this.#claim(call);
        this.#sort();
        try { await accepted; } catch (error) {
            this.remove(call);
            call.fail(inWords(error));
            throw error;
        }
    }

    async decline(ring) {
        this.#stopRing(ring.id);
        try { await request("calls.decline", { call: ring.id }, { patience: 60_000 }); } catch (error) {
            if (error instanceof Problem && error.type !== "call_ended") this.emit("notice", inWords(error));
        }
    }

    /** Puts the call in front on hold and takes the other one up. */
    async swap(call) {
        await Promise.all(this.active.filter((one) => one !== call && !one.held).map((one) => one.hold(true)));
        this.active = [call, ...this.active.filter((one) => one !== call)];
        this.emit("calls");
        await call.hold(false);
    }

    /** Takes a call off the screen. */
    remove(call) {
        this.active = this.active.filter((one) => one !== call);
        this.emit("calls");
        this.#sort();
    }

    // What the server says

    #snapshot(stream, data, anew) {
        const [kind, id] = stream.split(":");
        if (anew && kind === "user") for (const known of [...this.#documents.keys()]) this.#forgetVersion(known);
        if (anew && kind === "call") this.#forgetVersion(id);
        if (kind === "user") this.#everything(data);
        if (kind === "call") this.#learn(data.call);
        if (kind === "signals") this.#signals(id, data.signals.map((entry) => entry.data), { snapshot: true });
    }

    #change(stream, type, data) {
        const [kind, id] = stream.split(":");
        if (kind === "user" && type === "call") this.#learn(data);
        if (kind === "user" && type === "profile") this.#profile(data);
        if (kind === "signals") this.#signals(id, [data]);
        const known = this.#documents.get(id);
        if (kind === "call" && known && type === "call") this.#learn({ ...data, participants: known.participants });
        // An answer or the user's own stream may have told of a later version already.
        if (kind === "call" && known && type === "participant" && data.version >= known.version) {
            const { version, ...participant } = data;
            const others = known.participants.map((one) => one.user === data.user ? participant : one);
            const participants = others.includes(participant) ? others : [...others, participant];
            this.#learn({ ...known, version, participants });
        }
    }

    /** Everything live as of now. What is not in it any more has ended while this tab was away. */
    #everything({ me, calls }) {
        this.#profile(me);
        const live = new Set(calls.map((call) => call.id));
        for (const call of calls) this.#learn(call);
        for (const id of [...this.rings.keys(), ...this.active.map((call) => call.id)]) {
            if (id && !live.has(id)) this.#ask(id);
        }
    }

    #profile(me) {
        credentials.setUser(me);
        this.emit("profile", me);
    }

    async #ask(id) {
        try { this.#learn((await request("calls.get", { call: id })).call); } catch (error) {
            if (error.type !== "not_found") return;
            this.#stopRing(id);
            this.active.find((one) => one.id === id)?.vanish();
        }
    }

    /** The log began anew: any state of the call is newer than the one that is known. */
    #forgetVersion(id) {
        this.#documents.delete(id);
        this.active.find((one) => one.id === id)?.forgetVersion();
    }

    #learn(call) {
        const known = this.#documents.get(call.id);
        if (known && (known.status === "ended" || call.version < known.version)) return;
        this.#documents.set(call.id, call);
        this.#ring(call);
        const active = this.active.find((one) => one.id === call.id && one.phase !== "ended");
        if (active) active.update(call); else this.#resume(call);
        if (call.status === "ended") this.#forget(call);
        this.#sort();
    }

    #forget(call) {
        realtime.forget(`call:${call.id}`);
        realtime.forget(`signals:${call.id}:${endpoint.id}`);
        this.#unclaimed.delete(call.id);
        this.emit("history");
    }

    /** Finds the calls that may be joined. Their streams are heard, to know when they end and who is in them. */
    #sort() {
        const before = this.open;
        const mine = new Set(this.active.filter((one) => one.phase !== "ended").map((one) => one.id));
        this.open = [...this.#documents.values()].filter((call) => call.status === "active" && call.mode === "gateway"
            && !mine.has(call.id) && !this.rings.has(call.id)
            && call.participants.some((one) => one.state === "joined" && one.endpoint !== endpoint.id));
        for (const call of this.open) realtime.listen(`call:${call.id}`);
        if (before.length > 0 || this.open.length > 0) this.emit("open");
    }

    /** This very tab was in that call before it was reloaded. */
    #resume(call) {
        const { mine, other } = sides(call, credentials.user.id);
        const isMine = call.status === "active" && mine?.state === "joined" && mine.endpoint === endpoint.id;
        if (!isMine || this.#settled.has(call.id) || !other || this.#isBusyStarting) return;
        const active = this.#add(new ActiveCall([{ ...other, id: other.user }], call.kind));
        this.#settled.add(call.id);
        active.resume(call);
    }

    get #isBusyStarting() { return this.active.some((call) => !call.id); }

    // Signals

    #signals(id, entries, options) {
        // What a later description made void has a number alone.
        const signals = entries.filter((entry) => !entry.superseded);
        const call = this.active.find((one) => one.id === id && one.phase !== "ended");
        if (call) call.receive(signals, options);
        else this.#unclaimed.set(id, [...(this.#unclaimed.get(id) ?? []), ...signals]);
    }

    /** The call has its id now: it gets what arrived for it before. */
    #claim(call) {
        this.#settled.add(call.id);
        const document = this.#documents.get(call.id);
        if (document) call.update(document);
        const signals = this.#unclaimed.get(call.id);
        this.#unclaimed.delete(call.id);
        if (signals) call.receive(signals);
    }

    #add(call) {
        call.on("notice", (text) => this.emit("notice", text));
        call.on("ended", () => {
            if (call.id) this.#settled.add(call.id);
            this.emit("ended", call);
            this.#sort();
        });
        this.active = [call, ...this.active.filter((other) => other.phase !== "ended")];
        this.emit("calls");
        return call;
    }

    // Rings

    #ring(call) {
        const { mine, other, outgoing } = sides(call, credentials.user.id);
        const waits = ["invited", "ringing"].includes(mine?.state) && call.status !== "ended";
        // Out of it, as the server says: if it rings again, somebody asked again.
        if (!waits && mine?.state !== "joined") this.#settled.delete(call.id);
        if (this.rings.has(call.id)) {
            if (waits) this.rings.get(call.id).call = call;
            else this.#stopRing(call.id, this.#why(call, mine));
        } else if (waits && !outgoing && !this.#settled.has(call.id)) {
            this.#startRing(call, other, mine);
        }
    }

    #startRing(call, other, mine) {
        const caller = call.participants.find((one) => one.user === call.caller) ?? other;
        const left = mine.remainingMs ?? 60_000;
        if (left <= 0) return;
        const ring = {
            id: call.id, call, kind: call.kind,
            caller: { id: caller.user, displayName: caller.displayName, photoURL: caller.photoURL },
            // Fetched while it rings, so that accepting does not have to wait for it.
            servers: request("iceServers.get", { call: call.id }),
            timer: setTimeout(() => this.#stopRing(call.id, `Missed call from ${caller.displayName}`), left + GRACE),
        };
        ring.servers.catch(() => {});
        this.rings.set(call.id, ring);
        this.#sort();
        this.emit("rings");
        request("calls.ringing", { call: call.id }).catch(() => {});
    }

    #stopRing(id, notice) {
        const ring = this.rings.get(id);
        if (!ring) return;
        clearTimeout(ring.timer);
        this.#settled.add(id);
        this.rings.delete(id);
        this.emit("rings");
        this.#sort();
        if (notice) this.emit("notice", notice);
    }

    #why(call, mine) {
        const name = call.participants.find((one) => one.user === call.caller)?.displayName;
        // Both called each other, and this call won: it goes on here.
        if (mine?.endpoint === endpoint.id) return undefined;
        if (mine?.reason === "answered_elsewhere" || mine?.state === "joined") return "Answered on another device";
        if (mine?.reason === "declined_elsewhere" || mine?.state === "declined") return "Declined on another device";
        if (call.endReason === "replaced") return `${firstName(name)} is calling again`;
        return `Missed call from ${name}`;
    }
}

export const calls = new Calls();
