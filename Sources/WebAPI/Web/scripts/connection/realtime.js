// The WebSocket to the server: hello, streams, requests, heartbeats, and reconnecting.
//
// Losing the socket never ends a call: media flows on between the browsers while this reconnects.

import { Emitter } from "../state/emitter.js";
import { setServerTime, monotonicNow } from "../store/clock.js";
import { exchange } from "./api.js";
import { credentials } from "./credentials.js";
import { endpoint } from "./identity.js";
import { Problem, networkProblem, timeoutProblem } from "./problems.js";
import { Streams } from "./realtime-streams.js";

/** How this page names itself to the server, which shows it with the sign-in; the version is the server's own. */
const CLIENT = { name: "Switchboard-Web", version: "0.1.0" };
const IDLE_TIMEOUT = 45_000;
const REQUEST_TIMEOUT = 8_000;
/** After which a stream is listened to again that the server could not read now. */
const LISTEN_PAUSE = 2_000;
const MAX_BACKOFF = 15_000;
const MAX_BACKOFF_IN_CALL = 2_000;

/**
 * Events: `state` (this), `hello` (its result), `listened` (everything of a stream is here, {stream}), `snapshot` / `change` /
 * `rows` / `event` / `reset` ({stream, …}), `refused` (a stream that may not be listened to), `revoked`, `replaced`.
 */
class Realtime extends Emitter {
    /** `idle`, `connecting`, `online` or `waiting` before the next attempt. */
    state = "idle";
    /** Whether to reconnect faster: a call is open. */
    isUrgent = () => false;
    #socket;
    #running = false;
    #pending = new Map();
    #nextID = 1;
    #attempts = 0;
    #reconnectTimer;
    #lastReceived = 0;
    #streams = new Streams((event, data) => this.emit(event, data), (stream) => this.#listen(stream));

    constructor() {
        super();
        credentials.on("token", (token) => { if (this.isOnline) this.#sendRequest({ token }).catch(() => {}); });
        // After a change of network the old socket is dead long before either side notices.
        addEventListener("online", () => this.reconnect());
        document.addEventListener("visibilitychange", () => {
            if (!document.hidden && this.state === "waiting") this.reconnect();
        });
        // A page in the back/forward cache must not count as online: it could not ring.
        addEventListener("pagehide", () => this.#disconnect(1000));
        addEventListener("pageshow", ({ persisted }) => { if (persisted) this.reconnect(); });
        setInterval(() => this.#checkIdle(), 5_000);
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
        clearTimeout(this.#reconnectTimer);
        this.#disconnect(1000);
        this.#streams.clear();
        this.#setState("idle");
    }

    /** Reconnects now rather than after the backoff. */
    reconnect() {
        if (!this.#running) return;
        this.#disconnect(1000);
        this.#attempts = 0;
        this.#connect();
    }

    /**
     * Subscribes to a stream, across reconnects. Does nothing for a stream that is subscribed already. `position` is where it
     * goes on, `[epoch, sequence]`, if what came before is held.
     */
    listen(stream, position) {
        if (this.#streams.subscribe(stream, position) && this.isOnline) this.#listen(stream);
    }

    /** What was received of a stream, `[epoch, sequence]`, or undefined. */
    position(stream) { return this.#streams.position(stream); }

    unlisten(stream) {
        const known = this.#streams.end(stream);
        if (this.isOnline && known) this.#sendRequest({ unlisten: { stream } }).catch(() => {});
    }

    /** Forgets a stream that the server has ended by itself, such as that of an ended call. */
    forget(stream) { this.#streams.forget(stream); }

    /** The numbers of the messages that are held of a stream, which are resumed with its position. */
    hold(stream, first, last) { this.#streams.hold(stream, first, last); }

    request(name, params) { return this.#sendRequest({ request: name, params }); }

    // Connecting

    async #connect() {
        clearTimeout(this.#reconnectTimer);
        this.#setState("connecting");
        let token;
        try {
            token = await credentials.fresh(exchange);
        } catch (error) {
            return error.status === 401 ? undefined : this.#scheduleReconnect();
        }
        if (!this.#running || this.#socket) return;
        this.#streams.noteConnection();
        const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/v1/realtime`);
        this.#socket = socket;
        this.#lastReceived = monotonicNow();
        socket.onopen = () => this.#hello(socket, token);
        socket.onmessage = ({ data }) => { if (socket === this.#socket) this.#receive(data); };
        socket.onclose = ({ code }) => { if (socket === this.#socket) this.#handleClose(code); };
    }

    async #hello(socket, token) {
        try {
            const hello = { token, endpoint: endpoint.id, secret: endpoint.secret, resume: this.#streams.resume(), client: CLIENT };
            const result = await this.#sendRequest({ hello });
            if (socket !== this.#socket) return;
            setServerTime(result.serverTime);
            this.emit("hello", result);
            this.#attempts = 0;
            this.#setState("online");
            const resumed = result.resumed ?? {};
            for (const stream of this.#streams.subscribed) if (!resumed[stream]) this.#listen(stream);
            this.#noteResumed(Object.keys(resumed), token);
        } catch (error) {
            if (socket !== this.#socket) return;
            if (error.type === "forbidden") await endpoint.renew();
            this.#handleClose(error.type === "unauthenticated" ? 4001 : 1006);
        }
    }

    /** What was missed of resumed streams follows the hello's result: it is there when the next request has one. */
    async #noteResumed(streams, token) {
        if (streams.length === 0) return;
        try { await this.#sendRequest({ token }); } catch { return; }
        for (const stream of streams) this.emit("listened", { stream });
    }

    #listen(stream) {
        const after = this.#streams.resumePosition(stream);
        const socket = this.#socket;
        this.#sendRequest({ listen: { stream, ...(after && { after }) } }).then(() => this.emit("listened", { stream })).catch((error) => {
            if (!(error instanceof Problem)) return;
            if (["rate_limited", "unavailable"].includes(error.type)) {
                // A new connection listens by itself.
                setTimeout(() => {
                    if (this.isOnline && socket === this.#socket && this.#streams.has(stream)) this.#listen(stream);
                }, error.retryAfter ?? LISTEN_PAUSE);
                return;
            }
            if (!["not_found", "forbidden"].includes(error.type)) return;
            this.forget(stream);
            this.emit("refused", { stream, error });
        });
    }

    // Frames

    #receive(text) {
        this.#lastReceived = monotonicNow();
        const frame = JSON.parse(text);
        if (frame.stream) this.#streams.handle(frame);
        else if (frame.heartbeat) this.#respondToHeartbeat(frame.heartbeat);
        else if (frame.bye) this.#handleClose(frame.bye.code, frame.bye.retryAfter);
        else if (frame.id !== undefined) this.#handleResult(frame);
    }

    #respondToHeartbeat({ serverTime }) {
        if (serverTime) setServerTime(serverTime);
        this.#send({ heartbeat: {} });
    }

    #handleResult({ id, result, error }) {
        const pending = this.#pending.get(id);
        if (!pending) return;
        this.#pending.delete(id);
        clearTimeout(pending.timer);
        if (error) pending.reject(new Problem(error));
        else pending.resolve(result);
    }

    #sendRequest(message) {
        if (this.#socket?.readyState !== WebSocket.OPEN) return Promise.reject(networkProblem());
        const id = this.#nextID++;
        return new Promise((resolve, reject) => {
            const timer = setTimeout(() => {
                this.#pending.delete(id);
                reject(timeoutProblem());
            }, REQUEST_TIMEOUT);
            this.#pending.set(id, { resolve, reject, timer });
            this.#send({ id, ...message });
        });
    }

    #send(frame) { this.#socket?.send(JSON.stringify(frame)); }

    // Disconnecting and reconnecting

    /** Close codes: 4003 another tab has this endpoint, 4004 signed out elsewhere, 4001 the token is invalid. */
    async #handleClose(code, retryAfter) {
        if (!this.#socket) return;
        this.#disconnect(1000);
        if (code === 4004) {
            this.stop();
            return this.emit("revoked");
        }
        if (code === 4003) {
            await endpoint.renew();
            this.#streams.clearPositions();
            this.emit("replaced");
        }
        if (code === 4001) {
            try { await credentials.fresh(exchange, { force: true }); } catch { /* the next attempt fails with the reason */ }
        }
        if (this.#running && credentials.isSignedIn) this.#scheduleReconnect(retryAfter);
    }

    /** Exponential backoff with jitter, so that not everyone reconnects to a restarted server at once. */
    #scheduleReconnect(minimum = 0) {
        const maximum = this.isUrgent() ? MAX_BACKOFF_IN_CALL : MAX_BACKOFF;
        const backoff = Math.min(400 * 2 ** this.#attempts, maximum) * (0.5 + 0.5 * Math.random());
        this.#attempts += 1;
        this.#setState("waiting");
        this.#reconnectTimer = setTimeout(() => this.#connect(), Math.max(backoff, minimum));
    }

    #disconnect(code) {
        const socket = this.#socket;
        this.#socket = undefined;
        socket?.close(code);
        for (const { reject, timer } of this.#pending.values()) {
            clearTimeout(timer);
            reject(networkProblem());
        }
        this.#pending.clear();
    }

    #checkIdle() {
        if (this.#socket && monotonicNow() - this.#lastReceived > IDLE_TIMEOUT) this.reconnect();
    }

    #setState(state) {
        if (this.state === state) return;
        this.state = state;
        this.emit("state", state);
    }
}

export const realtime = new Realtime();
