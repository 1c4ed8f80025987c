// Pages of the client without views, each in a frame with modules of its own, and a server that may hold back what its
// streams say. A page can end at once, and be opened again from what is on disk.

const ME = "me";
const CONVERSATION = "v";
const [EPOCH, SEQUENCE] = ["e", 20];
const LONGEST = 10_000;

const message = (number, more) => ({ conversation: CONVERSATION, number, version: 10 + number, textVersion: 10 + number, author: ME, kind: "text",
    text: `text ${number}`, ranges: [], reactions: {}, sentAt: `2026-01-01T00:00:0${number}Z`, clientID: `c${number}`, ...more });
const membership = { role: "member", state: "member", joinedAt: "2026-01-01T00:00:00Z", version: 1, spans: [{ from: 0 }], read: 1, pinned: false,
    archived: false, markedUnread: false };
const people = [{ id: ME, displayName: "Me" }, { id: "you", displayName: "You" }];
const conversation = { id: CONVERSATION, kind: "group", name: "Group", members: 2, pins: [], version: 1 };
const messages = [message(1), message(2), message(3, { author: "you" })];

const snapshots = {
    inbox: { conversations: [{ id: CONVERSATION, conversation, membership, lastMessage: messages[2], unread: 1, mentions: 0, counter: 1, activity: 1 }] },
    conversation: { conversation, membership, members: [], people, messages, range: [1, 3], hasEarlier: false, own: [] },
    marks: { marks: [], scheduled: 0 },
};

async function until(isSo, what) {
    for (const end = performance.now() + LONGEST; !await isSo();) {
        if (performance.now() > end) throw new Error(`Timed out: ${what}.`);
        await new Promise((resolve) => setTimeout(resolve, 5));
    }
}

/** A server with `results`, functions of a request's parameters by its name; without one it does not respond. */
export class HeldServer {
    isOnline = true;
    /** What it was asked for, the hellos of connections among it. */
    requests = [];
    #results;
    #socket;

    constructor(results = {}) { this.#results = results; }

    /** The connection breaks, and there is no other. */
    cut() {
        this.isOnline = false;
        this.#socket?.onclose({ code: 1006 });
        this.#socket = undefined;
    }

    /** A frame of rows of the conversation. */
    tell(rows, upTo) { this.#send({ stream: `conversation:${CONVERSATION}`, epoch: EPOCH, after: SEQUENCE, upTo, rows }); }

    install(page) {
        const server = this;
        page.fetch = () => Promise.reject(new TypeError("There is no server."));
        page.WebSocket = class {
            static OPEN = 1;
            readyState = 1;

            constructor() { queueMicrotask(() => { if (server.isOnline) server.#accept(this); else this.onclose({ code: 1006 }); }); }

            send(text) { server.#receive(this, JSON.parse(text)); }
            close() { this.readyState = 3; }
        };
    }

    #accept(socket) {
        this.#socket = socket;
        socket.onopen();
    }

    #receive(socket, { id, hello, listen, request, params }) {
        if (id === undefined || socket !== this.#socket) return;
        this.requests.push({ hello, request, params });
        const [kind] = listen?.stream.split(":") ?? [];
        if (snapshots[kind] && !listen.after) this.#send({ stream: listen.stream, epoch: EPOCH, seq: SEQUENCE, snapshot: snapshots[kind] });
        if (request && !this.#results[request]) return;
        this.#send({ id, result: hello ? { serverTime: new Date().toISOString(), resumed: hello.resume } : this.#results[request]?.(params) ?? {} });
    }

    #send(frame) { queueMicrotask(() => this.#socket?.onmessage({ data: JSON.stringify(frame) })); }
}

/** Opens a page of the server, signed in. */
export async function openPage(server) {
    localStorage.setItem("switchboard.credentials", JSON.stringify({ user: people[0], accessToken: "a", expiresAt: Date.now() + 86_400_000 }));
    sessionStorage.clear();
    const frame = document.createElement("iframe");
    frame.src = "/empty";
    const loaded = new Promise((resolve) => { frame.onload = resolve; });
    document.body.append(frame);
    await loaded;
    server.install(frame.contentWindow);
    const load = frame.contentWindow.Function("name", "return import(`/scripts/${name}`)");
    const [{ credentials }, { drafts }, { endpoint }, { inbox }, { outbox }, { realtime }, { storage }, { Thread }, shown] = await Promise.all(
        ["connection/credentials", "sync/drafts", "connection/identity", "sync/inbox", "sync/outbox", "connection/realtime", "store/storage", "sync/thread", "state/thread-rows"].map((name) => load(`${name}.js`)));
    credentials.load();
    await endpoint.claim();
    const { entries, drafts: written } = await storage.open(ME, true, [ME]);
    drafts.start(written);
    await inbox.start();
    outbox.start(entries);
    realtime.start();
    return {
        drafts, inbox, outbox, realtime, storage,

        /** Opens the conversation. Resolves to its thread when it is loaded. */
        async open() {
            const thread = new Thread(CONVERSATION);
            await until(() => thread.state.isLoaded, "the thread");
            return thread;
        },

        /** When the conversation and the list are on disk. */
        async saved() { await until(async () => (await storage.cache.thread(CONVERSATION))?.marks && await storage.cache.inbox(), "saving"); },

        /** When nothing waits any more, on disk either. */
        async sent() { await until(async () => outbox.all.length === 0 && (await storage.queue.load()).entries.length === 0, "sending"); },

        /** What the thread and the list show. */
        shown({ state }) {
            const row = inbox.row(CONVERSATION);
            return { texts: shown.shownMessages(state).map((one) => one.deletedAt ? "deleted" : one.text), state, row, range: [state.first, state.last] };
        },

        /** The page is gone at once, as when its process ends. */
        end() { frame.remove(); },
    };
}

/** What a page without a server shows after another one has ended, where `write(page)` was acknowledged, and nothing more was said. */
export async function shownAfter(write, results, isOpen) {
    const server = new HeldServer(results);
    const page = await openPage(server);
    const thread = await page.open();
    await page.saved();
    if (!isOpen) thread.close();
    await write(page, server);
    await page.sent();
    server.cut();
    page.end();
    return shownOffline();
}

export async function shownOffline() {
    const server = new HeldServer();
    server.cut();
    const page = await openPage(server);
    const thread = await page.open();
    const found = { ...page.shown(thread), draft: page.drafts.of(CONVERSATION).text };
    thread.close();
    page.end();
    return found;
}

export { CONVERSATION, message, messages, until };
