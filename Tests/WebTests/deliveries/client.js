// A page of the client without views: its own modules, between which and the server stands what delivery.js does.

import { delivery, time } from "./delivery.js";
import { credentials } from "../../../Sources/WebAPI/Web/scripts/connection/credentials.js";
import { drafts } from "../../../Sources/WebAPI/Web/scripts/sync/drafts.js";
import { server } from "../../../Sources/WebAPI/Web/scripts/connection/features.js";
import { endpoint } from "../../../Sources/WebAPI/Web/scripts/connection/identity.js";
import { inbox } from "../../../Sources/WebAPI/Web/scripts/sync/inbox.js";
import { outbox } from "../../../Sources/WebAPI/Web/scripts/sync/outbox.js";
import { realtime } from "../../../Sources/WebAPI/Web/scripts/connection/realtime.js";
import { receiptOf } from "../../../Sources/WebAPI/Web/scripts/state/receipts.js";
import { archivedRows, listedRows, unreadConversations, unreadOf } from "../../../Sources/WebAPI/Web/scripts/state/inbox-rows.js";
import * as state from "../../../Sources/WebAPI/Web/scripts/state/thread-rows.js";
import { Cache } from "../../../Sources/WebAPI/Web/scripts/store/cache.js";
import { storage } from "../../../Sources/WebAPI/Web/scripts/store/storage.js";
import { Thread } from "../../../Sources/WebAPI/Web/scripts/sync/thread.js";

const KEY = "switchboard.credentials";
/** So few messages of a thread are read from the disk at first that others are there alone. */
const OPENED = 8;
/** So many messages are in the page, and so many are held. */
const IN_PAGE = 5;
const LIMITS = { most: 24, kept: 12 };
storage.cache = new Cache({ opened: OPENED });
storage.cache.on("failed", (error) => errors.push(`the cache: ${error}`));
const threads = new Map();
/** What a page would only have written to its console. */
const errors = [];
console.error = (error) => errors.push(String(error?.stack ?? error));
addEventListener("unhandledrejection", ({ reason }) => {
    if (reason?.name !== "Problem") errors.push(`not handled: ${reason?.stack ?? reason}`);
});

/** Of some requests it does not matter whether they succeed: the network may be cut. */
const attempt = (work) => { Promise.resolve(work).catch(() => {}); };

/** The number of a message that is `back` before the newest one of a conversation. */
const numberOf = (thread, back) => Math.max(1, state.newestNumber(thread.state) - back);
const messageOf = (thread, back) => state.messageOf(thread.state, numberOf(thread, back));

const actions = {
    send: (thread) => thread.send({ text: `from the page ${crypto.randomUUID().slice(0, 4)}` }),
    edit: (thread, message) => { if (message.author === thread.me && message.kind === "text" && !message.deletedAt) thread.edit(message, `${message.text}, edited`); },
    delete: (thread, message) => { if (message.author === thread.me && !message.deletedAt) thread.deleteForAll(message); },
    hide: (thread, message) => thread.deleteForMe(message),
    react: (thread, message) => thread.react(message, "👍", true),
    unreact: (thread, message) => thread.react(message, "👍", false),
    star: (thread, message) => thread.star(message, true),
    unstar: (thread, message) => thread.star(message, false),
    pin: (thread, message) => thread.pin(message.number, true),
    unpin: (thread, message) => thread.pin(message.number, false),
    mute: (thread) => inbox.keep(thread.id, { muted: { mentions: true } }),
    archive: (thread) => inbox.keep(thread.id, { archived: true }),
    restore: (thread) => inbox.keep(thread.id, { archived: false }),
};

const client = {
    /** Does what `app/main.js` does for who is signed in. */
    async start({ user, token, isKept }) {
        sessionStorage.clear();
        const store = isKept ? localStorage : sessionStorage;
        store.setItem(KEY, JSON.stringify({ user: { id: user }, accessToken: token, expiresAt: Date.now() + 86_400_000 }));
        credentials.load();
        sessionStorage.removeItem(KEY);
        await endpoint.claim();
        const { entries, drafts: written } = await storage.open(user, isKept, [user]);
        drafts.start(written);
        server.note({ translates: true });
        realtime.listen(`user:${user}`);
        await inbox.start();
        outbox.start(entries);
        realtime.start();
    },

    open({ conversation }) { if (!threads.has(conversation)) threads.set(conversation, new Thread(conversation)); },

    async close({ conversation }) {
        threads.get(conversation)?.close();
        threads.delete(conversation);
        await storage.cache.settled;
    },

    earlier({ conversation }) { attempt(threads.get(conversation)?.loadEarlier()); },
    later({ conversation }) { attempt(threads.get(conversation)?.loadLater()); },
    more() { if (inbox.state.nextCursor) attempt(inbox.loadMore()); },

    /** As a view does it, which follows the newest messages near the end. */
    bound({ conversation, back }) {
        const thread = threads.get(conversation);
        const numbers = thread ? state.shownNumbers(thread.state) : [];
        const index = Math.max(0, numbers.length - 1 - back);
        const last = index + IN_PAGE < numbers.length ? numbers[index + IN_PAGE - 1] : undefined;
        if (numbers.length >= LIMITS.kept) thread.bound({ first: numbers[index], last }, LIMITS);
    },

    newest({ conversation }) { threads.get(conversation)?.showNewest(); },
    archived() { attempt(inbox.loadArchive()); },

    show({ conversation, back }) {
        const thread = threads.get(conversation);
        if (thread) attempt(thread.show(numberOf(thread, back)));
    },

    read({ conversation, back }) {
        const thread = threads.get(conversation);
        if (thread?.state.isLoaded) thread.markRead(numberOf(thread, back));
    },

    /** Reads to the end. Returns the last number that may be seen, of what the user is a member of. */
    readAll({ conversation }) {
        const thread = threads.get(conversation);
        if (!thread?.state.isLoaded || state.stateOf(thread.state, thread.me) !== "member") return 0;
        thread.showNewest();
        thread.markRead(state.newestNumber(thread.state));
        return state.shownNumbers(thread.state).at(-1) ?? 0;
    },

    act({ conversation, action, back }) {
        const thread = threads.get(conversation);
        const message = thread && messageOf(thread, back);
        if (message) actions[action](thread, message);
    },

    hold() { if (!delivery.isCut) delivery.isHeld = true; },
    release: ({ order }) => delivery.release(order),
    repeat: ({ back }) => delivery.repeat(back),
    repeatAll: () => delivery.repeatAll(),
    cut() { delivery.cut(); },
    lose({ stream }) { delivery.lose(stream); },

    connect() {
        if (!delivery.isCut) return;
        delivery.isCut = false;
        realtime.reconnect();
    },

    async pass({ milliseconds }) {
        await time.advance(milliseconds);
        await storage.cache.settled;
    },

    answered: () => delivery.answered(),
    has: (what) => delivery.has(what),

    // What is shown

    /** What is to be done before anything is compared. */
    waiting: () => [...outbox.all.filter((entry) => entry.state !== "failed").map((entry) => `${entry.name} is ${entry.state}`),
        ...realtime.isOnline ? [] : [`the connection is ${realtime.state}`], ...inbox.state.isLoaded ? [] : ["the list is not loaded"],
        // A stream that was reset keeps what it had until its snapshot comes.
        ...[`inbox:${credentials.user.id}`, ...[...threads.values()].filter((thread) => state.stateOf(thread.state, thread.me) === "member").map((one) => `conversation:${one.id}`)]
            .filter((stream) => !realtime.position(stream)).map((stream) => `${stream} has no position`)],

    /** Who has left a conversation does not learn what comes later, and reads it again. */
    async renew() {
        const left = [...threads].filter(([, thread]) => thread.state.isLoaded && state.stateOf(thread.state, thread.me) !== "member");
        for (const [conversation] of left) {
            await client.close({ conversation });
            client.open({ conversation });
        }
    },

    /** Loads everything that there is. */
    async loadAll() {
        do await inbox.loadArchive(); while (inbox.state.archive.nextCursor);
        while (inbox.state.nextCursor) await inbox.loadMore();
        for (const thread of threads.values()) {
            thread.showNewest();
            while (thread.state.hasEarlier && thread.state.first !== undefined) await thread.loadEarlier();
        }
    },

    /** The list, and the threads that are open, as views read them. */
    shown() {
        return { errors: [...errors], inbox: shownInbox(), threads: Object.fromEntries([...threads].map(([id, thread]) => [id, shownThread(thread)])) };
    },
};

function shownInbox() {
    const all = inbox.state;
    const row = (one) => ({ ...one, ...unreadOf(all, one) });
    return { hasArchive: Boolean(all.archive), hasMore: Boolean(all.nextCursor), unread: unreadConversations(all), rows: listedRows(all).map(row), archived: archivedRows(all).map(row) };
}

function shownThread(thread) {
    const { me, state: all } = thread;
    const { first, past, hidden, members, conversation, read, scheduled } = all;
    const isMember = state.stateOf(all, me) === "member";
    // Readers are in the order in which they were heard of.
    const receipt = (number) => { const found = receiptOf(all, number, me); return { ...found, readers: found.readers.sort() }; };
    // When one that is gone was to go is no matter: on the disk it is not kept.
    const shownOf = ({ expiresAt, ...one }) => one.deletedAt ? one : { ...one, expiresAt };
    const message = (one) => ({ ...shownOf(one), author: [one.author, thread.nameOf(one.author)], reactions: state.reactionsOf(all, one, me), isStarred: Boolean(all.starred[one.number]),
        ...(isMember && one.author === me && !one.notice && { receipt: receipt(one.number) }) });
    const held = state.heldMessages(all).filter(({ number }) => !hidden[number] && (number >= first || past && number >= past.first && number <= past.last));
    // A message alone moves no document: views take the higher of this number and that of the newest message.
    const { lastNumber: _, lastSentAt: __, ...document } = conversation ?? {};
    return { first, past: past && [past.first, past.last], hasEarlier: all.hasEarlier, isLoaded: all.isLoaded, conversation: document, read,
        ...(isMember && { members: Object.values(members).sort((one, other) => one.user < other.user ? 1 : -1), scheduled: scheduled ?? null }),
        state: state.stateOf(all, me), role: state.roleOf(all, me), messages: held.map(message) };
}

globalThis.client = client;
