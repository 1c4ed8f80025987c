// The socket to the server: hello, streams with their positions, requests, heartbeats, and coming back.
//
// A stream is an ordered log. The client keeps the position it has reached in each and names them all when it comes
// back, so nothing is missed and nothing is seen twice; what cannot be resumed arrives as a reset and a new snapshot.
// Losing the socket never ends a call: media flows on between the browsers while this finds its way back.

import { credentials } from "./credentials.js";
import { endpoint } from "./identity.js";
import { exchange } from "./api.js";
import { setServerTime, monotonicNow } from "./clock.js";
import { Emitter } from "./emitter.js";
import { Problem, network, timeout } from "./problems.js";

const SILENCE = 45_000;
const REQUEST_LIMIT = 8_000;
const LONGEST_PAUSE = 15_000;
const LONGEST_PAUSE_IN_CALL = 2_000;

/** Events: `state` (this), `snapshot` / `change` / `event` ({stream, …}), `revoked`, `replaced`. */
class Realtime extends Emitter {
    /** `idle`, `connecting`, `online` or `waiting` for the next try. */
    state = "idle";
    /** Whether somebody waits for the server to come back: a call is open. */
    isUrgent = () => false;
    #socket;
    #running = false;
    #pending = new Map();
    #nextID = 1;
    #attempts = 0;
    #retry;
    #heard = 0;
    #positions = new Map();
    #epochs = new Map();
    #wanted = new Set();

    constructor() {
        super();
        credentials.on("token", (token) => { if (this.isOnline) this.#ask({ token }).catch(() => {}); });
        // A new network makes the old socket worthless long before either side notices.
        addEventListener("online", () => this.reconnect());
        document.addEventListener("visibilitychange", () => {
            if (!document.hidden && this.state === "waiting") this.reconnect();
        });
        // A page that is kept for the back button is not there: nobody would hear it ring.
        addEventListener("pagehide", () => this.#drop(1000));
        addEventListener("pageshow", ({ persisted }) => { if (persisted) this.reconnect(); });
        setInterval(() => this.#watch(), 5_000);
    }

    get isOnline() { return this.state === "online"; }

    start() {
        if (this.#running) return;
        this.#running = true;
        this.#attempts = 0;
        this.#connect();
    }

    stop() {
        this.#running = false;
        clearTimeout(this.#retry);
        this.#drop(1000);
        this.#positions.clear();
        this.#epochs.clear();
        this.#wanted.clear();
        this.#become("idle");
    }

    /** Tries again now rather than after the pause. */
    reconnect() {
        if (!this.#running) return;
        this.#drop(1000);
        this.#attempts = 0;
        this.#connect();
    }

    /** Hears a stream from now on, across reconnects. A stream that is heard already is left as it is. */
    listen(stream) {
        const known = this.#wanted.has(stream);
        this.#wanted.add(stream);
        if (this.isOnline && !known && !this.#positions.has(stream)) this.#listen(stream);
    }

    unlisten(stream) {
        const known = this.#wanted.has(stream);
        this.forget(stream);
        if (this.isOnline && known) this.#ask({ unlisten: { stream } }).catch(() => {});
    }

    /** Drops a stream that the server has let go of by itself: those of a call that has ended. */
    forget(stream) {
        this.#wanted.delete(stream);
        this.#positions.delete(stream);
        this.#epochs.delete(stream);
    }

    request(name, params) { return this.#ask({ request: name, params }); }

    // Connecting

    async #connect() {
        clearTimeout(this.#retry);
        this.#become("connecting");
        let token;
        try {
            token = await credentials.fresh(exchange);
        } catch (error) {
            return error.status === 401 ? undefined : this.#later();
        }
        if (!this.#running || this.#socket) return;
        const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/v1/realtime`);
        this.#socket = socket;
        this.#heard = monotonicNow();
        socket.onopen = () => this.#hello(socket, token);
        socket.onmessage = ({ data }) => { if (socket === this.#socket) this.#receive(data); };
        socket.onclose = ({ code }) => { if (socket === this.#socket) this.#closed(code); };
    }

    async #hello(socket, token) {
        const resume = Object.fromEntries([...this.#positions].filter(([stream]) => !stream.startsWith("presence:")));
        try {
            const result = await this.#ask({ hello: { token, endpoint: endpoint.id, secret: endpoint.secret, resume } });
            if (socket !== this.#socket) return;
            setServerTime(result.serverTime);
            this.#attempts = 0;
            this.#become("online");
            const heard = result.resumed ?? {};
            for (const stream of this.#wanted) if (!heard[stream]) this.#listen(stream);
        } catch (error) {
            if (socket !== this.#socket) return;
            if (error.type === "forbidden") await endpoint.renew();
            this.#closed(error.type === "unauthenticated" ? 4001 : 1006);
        }
    }

    #listen(stream) {
        this.#ask({ listen: { stream } }).catch((error) => {
            if (error instanceof Problem && ["not_found", "forbidden"].includes(error.type)) this.forget(stream);
        });
    }

    // Frames

    #receive(text) {
        this.#heard = monotonicNow();
        const frame = JSON.parse(text);
        if (frame.stream) this.#follow(frame);
        else if (frame.heartbeat) this.#answerHeartbeat(frame.heartbeat);
        else if (frame.bye) this.#closed(frame.bye.code, frame.bye.retryAfter);
        else if (frame.id !== undefined) this.#settle(frame);
    }

    #follow({ stream, snapshot, epoch, seq, changes, event, reset }) {
        if (reset) {
            this.#positions.delete(stream);
            if (reset.reason === "access") this.forget(stream);
        } else if (snapshot) {
            // What the server was restored from may be older than what this page knows: versions hold within an epoch.
            const anew = this.#epochs.has(stream) && this.#epochs.get(stream) !== epoch;
            if (epoch !== undefined) {
                this.#positions.set(stream, [epoch, seq]);
                this.#epochs.set(stream, epoch);
            }
            this.emit("snapshot", { stream, data: snapshot, anew });
        } else if (event) {
            this.emit("event", { stream, data: event });
        } else {
            for (const change of changes ?? []) this.#take(stream, change);
        }
    }

    /** At least once becomes exactly once: what is not ahead of the position has been seen. */
    #take(stream, { seq, type, data }) {
        const position = this.#positions.get(stream);
        if (position && seq <= position[1]) return;
        if (position) position[1] = seq;
        this.emit("change", { stream, type, data, seq });
    }

    #answerHeartbeat({ serverTime }) {
        if (serverTime) setServerTime(serverTime);
        this.#send({ heartbeat: {} });
    }

    #settle({ id, result, error }) {
        const waiting = this.#pending.get(id);
        if (!waiting) return;
        this.#pending.delete(id);
        clearTimeout(waiting.timer);
        if (error) waiting.reject(new Problem(error));
        else waiting.resolve(result);
    }

    #ask(message) {
        if (this.#socket?.readyState !== WebSocket.OPEN) return Promise.reject(network());
        const id = this.#nextID++;
        return new Promise((resolve, reject) => {
            const timer = setTimeout(() => {
                this.#pending.delete(id);
                reject(timeout());
            }, REQUEST_LIMIT);
            this.#pending.set(id, { resolve, reject, timer });
            this.#send({ id, ...message });
        });
    }

    #send(frame) { this.#socket?.send(JSON.stringify(frame)); }

    // Losing it and coming back

    /** What each bye means: 4003 another tab has this endpoint, 4004 signed out elsewhere, 4001 the token is no good. */
    async #closed(code, retryAfter) {
        if (!this.#socket) return;
        this.#drop(1000);
        if (code === 4004) {
            this.stop();
            return this.emit("revoked");
        }
        if (code === 4003) {
            await endpoint.renew();
            this.#positions.clear();
            this.emit("replaced");
        }
        if (code === 4001) {
            try { await credentials.fresh(exchange, { force: true }); } catch { /* the next try tells */ }
        }
        if (this.#running && credentials.isSignedIn) this.#later(retryAfter);
    }

    /** The pause doubles up to its limit, with jitter, so that a restarted server is not met by everyone at once. */
    #later(least = 0) {
        const longest = this.isUrgent() ? LONGEST_PAUSE_IN_CALL : LONGEST_PAUSE;
        const pause = Math.min(400 * 2 ** this.#attempts, longest) * (0.5 + 0.5 * Math.random());
        this.#attempts += 1;
        this.#become("waiting");
        this.#retry = setTimeout(() => this.#connect(), Math.max(pause, least));
    }

    #drop(code) {
        const socket = this.#socket;
        this.#socket = undefined;
        socket?.close(code);
        for (const { reject, timer } of this.#pending.values()) {
            clearTimeout(timer);
            reject(network());
        }
        this.#pending.clear();
    }

    #watch() {
        if (this.#socket && monotonicNow() - this.#heard > SILENCE) this.reconnect();
    }

    #become(state) {
        if (this.state === state) return;
        this.state = state;
        this.emit("state", state);
    }
}

export const realtime = new Realtime();
