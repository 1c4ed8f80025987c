// What stands between a page and its server: timers that a test moves, and a network that it may hold, permute, double and
// cut. It is loaded before the modules of the client.

const native = { WebSocket: globalThis.WebSocket, fetch: globalThis.fetch.bind(globalThis), setTimeout: globalThis.setTimeout.bind(globalThis), now: performance.now.bind(performance), date: Date.now };
/** A page of messages is small, so that few messages are many pages. The server may always send fewer. */
const PAGE = 6;
const TIMEOUT = 2_000;
/** What is added to the index of a frame that comes twice, and of one that is lost. */
const TWICE = 4;
const NEVER = 8;
/** Requests whose results the stream waits for, or that wait for the stream. */
const IN_ORDER = new Set(["hello", "listen", "unlisten", "token"]);

/** Lets promises run. */
export function settle() {
    const { port1, port2 } = new MessageChannel();
    return new Promise((resolve) => {
        port1.onmessage = () => { port1.close(); resolve(); };
        port2.postMessage(undefined);
    });
}

/** Timers run when `advance` moves the time, and only then. */
class Time {
    #timers = new Map();
    #last = 0;
    #advanced = 0;

    constructor() {
        performance.now = () => native.now() + this.#advanced;
        Date.now = () => native.date() + this.#advanced;
        const clear = (id) => { this.#timers.delete(id); };
        Object.assign(globalThis, { setTimeout: (callback, delay) => this.#add(callback, delay), clearTimeout: clear,
            setInterval: (callback, delay) => this.#add(callback, delay, delay), clearInterval: clear });
    }

    async advance(milliseconds) {
        this.#advanced += milliseconds;
        const now = performance.now();
        await settle();
        for (;;) {
            const [next] = [...this.#timers].filter(([, { at }]) => at <= now).sort(([, one], [, other]) => one.at - other.at);
            if (!next) return;
            const [id, timer] = next;
            if (timer.period === undefined) this.#timers.delete(id); else timer.at = now + timer.period;
            timer.callback();
            await settle();
        }
    }

    #add(callback, delay = 0, period) {
        this.#timers.set(this.#last += 1, { callback, at: performance.now() + Math.max(0, delay), period });
        return this.#last;
    }
}

/** The sockets of the page. */
class Delivery {
    isHeld = false;
    isCut = false;
    #socket;
    /** What has arrived and was not delivered, `{text, stream, isFixed}`. */
    #held = [];
    /** Frames of rows that were delivered since the snapshot of their stream, by stream. */
    #delivered = new Map();
    /** What has arrived of each stream: the highest position, and of the list the last messages. */
    #positions = new Map();
    #numbers = new Map();
    /** Streams that the server is asked to resume from a position that it cannot know. */
    #lost = new Set();

    constructor() {
        const delivery = this;
        globalThis.WebSocket = class extends DeliveredSocket { constructor(url) { super(url, delivery); } };
        globalThis.fetch = (...values) => this.isCut ? Promise.reject(new TypeError("The network is cut.")) : native.fetch(...values);
    }

    begin(socket) {
        this.#socket = socket;
        this.#held = [];
        this.#delivered.clear();
        this.#positions.clear();
    }

    cut() {
        this.isCut = true;
        this.isHeld = false;
        this.#socket?.fail();
        this.begin(undefined);
    }

    /** The server, or the way to it, is gone: what has not been delivered never comes. */
    lost(socket) { if (socket === this.#socket) this.begin(undefined); }

    /** The server cannot resume these streams, by their kind, when it is asked the next time. */
    lose(kind) { this.#lost.add(kind); }

    sent(frame) {
        const positions = frame.hello?.resume ?? (frame.listen?.after && { [frame.listen.stream]: frame.listen.after }) ?? {};
        for (const [stream, position] of Object.entries(positions)) {
            if (this.#lost.delete(stream.split(":")[0])) position[0] = crypto.randomUUID();
        }
        if (frame.request === "messages.list") frame.params.limit = PAGE;
        return frame;
    }

    received(socket, frame, name) {
        const { stream } = frame;
        if (socket !== this.#socket) return;
        const isFixed = stream ? !frame.rows : frame.id === undefined || IN_ORDER.has(name);
        if (stream) this.#note(frame);
        if (this.isHeld && (stream || !isFixed)) this.#held.push({ frame, stream, isFixed });
        else this.#deliver({ frame, stream, isFixed });
    }

    /**
     * Delivers what is held. A number of `order` says which one is next, by its index among those that may be: what is fixed does
     * not come before or after others of its stream. From TWICE on, which is added to it, a frame of rows comes a second time
     * after the one that follows; from NEVER on it is lost, if another one of its stream comes after: that one tells of it.
     */
    async release(order) {
        this.isHeld = false;
        const left = this.#held;
        this.#held = [];
        for (let step = 0; left.length > 0; step += 1) {
            const free = left.filter((one, index) => left.slice(0, index)
                .every((before) => before.stream === undefined || before.stream !== one.stream || !before.isFixed && !one.isFixed));
            const number = order[step] ?? 0;
            const chosen = free[number % TWICE % free.length];
            const isRows = chosen.stream && !chosen.isFixed;
            left.splice(left.indexOf(chosen), 1);
            if (number >= NEVER && isRows && left.some((one) => one.stream === chosen.stream && one.frame.after >= chosen.frame.upTo)) continue;
            this.#deliver(chosen);
            if (number >= TWICE && number < NEVER && isRows) left.splice(1, 0, chosen);
            await settle();
        }
    }

    /** Delivers a frame of rows again that was delivered, counted from the latest. */
    async repeat(back) {
        const all = [...this.#delivered.values()].flat();
        if (all.length > 0 && !this.isHeld) this.#deliver(all.at(-1 - back % all.length));
        await settle();
    }

    /** Delivers all of them again, the latest first. */
    async repeatAll() {
        if (this.isHeld) return;
        for (const item of [...this.#delivered.values()].flat().reverse()) this.#deliver(item);
        await settle();
    }

    /** When the server has responded to everything, delivered or not. */
    async answered() {
        const end = native.now() + TIMEOUT;
        while (native.now() < end && this.#socket?.isWaiting) await new Promise((resolve) => native.setTimeout(resolve, 1));
    }

    /** Whether this has arrived, as far as the page is listening: a position of a stream, and the number of a message in the list. */
    has({ conversation, version, number }) {
        const seen = this.#positions.get(`conversation:${conversation}`);
        const isListed = ![...this.#positions.keys()].some((one) => one.startsWith("inbox:"));
        return this.#socket === undefined || (seen === undefined || seen >= (version ?? 0)) && (isListed || (this.#numbers.get(conversation) ?? Infinity) >= (number ?? 0));
    }

    #note({ stream, seq, upTo, rows, reset, snapshot }) {
        if (reset) this.#positions.delete(stream);
        else this.#positions.set(stream, Math.max(this.#positions.get(stream) ?? 0, seq ?? 0, upTo ?? 0));
        if (!stream.startsWith("inbox:")) return;
        for (const { id, lastMessage } of rows ?? snapshot?.conversations ?? []) this.#numbers.set(id, lastMessage?.number ?? Infinity);
    }

    #deliver(item) {
        const { frame, stream, isFixed } = item;
        if (stream && isFixed) this.#delivered.delete(stream);
        if (stream && !isFixed) this.#delivered.set(stream, [...(this.#delivered.get(stream) ?? []).filter((one) => one !== item), item]);
        this.#socket.onmessage({ data: JSON.stringify(frame) });
    }
}

class DeliveredSocket {
    static OPEN = 1;
    #socket;
    #names = new Map();

    constructor(url, delivery) {
        this.delivery = delivery;
        if (delivery.isCut) {
            queueMicrotask(() => this.onclose({ code: 1006 }));
            return;
        }
        // The frame itself has no host.
        this.#socket = new native.WebSocket(new URL(new URL(url.replace("///", "//any/")).pathname, parent.location.href).href.replace("http", "ws"));
        delivery.begin(this);
        this.#socket.onopen = () => this.onopen();
        this.#socket.onmessage = ({ data }) => {
            const frame = JSON.parse(data);
            const name = this.#names.get(frame.id);
            this.#names.delete(frame.id);
            delivery.received(this, frame, name);
        };
        this.#socket.onclose = ({ code }) => {
            this.#names.clear();
            delivery.lost(this);
            this.onclose({ code });
        };
    }

    get isWaiting() { return this.#names.size > 0 || this.readyState === 0; }
    get readyState() { return this.#socket?.readyState ?? 3; }

    send(text) {
        const frame = JSON.parse(text);
        if (frame.id !== undefined) this.#names.set(frame.id, frame.request ?? Object.keys(frame).find((key) => key !== "id"));
        this.#socket.send(JSON.stringify(this.delivery.sent(frame)));
    }

    close(code) { this.#socket?.close(code); }

    /** It breaks off. */
    fail() {
        this.#socket.onclose = this.#socket.onmessage = undefined;
        this.#socket.close();
        this.onclose({ code: 1006 });
    }
}

export const time = new Time();
export const delivery = new Delivery();
