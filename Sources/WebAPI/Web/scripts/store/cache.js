// What the server has said, on disk: the list of conversations and the threads that were opened, to be shown at once.
//
// Every tab writes what it receives, and rows only over lower versions. Losing all of it costs nothing but reading it
// again, so an error ends the cache and nothing else.

import { disappeared, hasExpired, withoutContent } from "../state/disappearing.js";
import { Emitter } from "../state/emitter.js";
import { isClearing, newerOwn, rowWithResult, storedResult } from "../state/results.js";
import { meeting, shrinking, threadOf } from "../state/stored-thread.js";
import { newer } from "../state/thread-rows.js";
import { newerTranslation } from "../state/translations.js";
import { CACHE_STORES } from "./cache-schema.js";
import { openDatabase } from "./database.js";

const BOUND = 100_000;
const LEAST_BOUND = 1_000;
/** How many messages a conversation keeps that was unopened for longest. */
const KEPT = 50;
/** How many messages of a thread are read at first. */
const OPENED = 200;
/** A disk that has not responded for so long is held up: what was to be read of it is read from the server. */
const MAX_READ = 5_000;
/** How many writes may pass until messages are counted. */
const COUNT_INTERVAL = 200;

/** What has rows by the numbers of messages, and loses them with these. */
const NUMBERED = ["messages", "own", "translations"];

const messagesOf = (id, first = -Infinity, last = Infinity) => IDBKeyRange.bound([id, first], [id, last]);

/** Events: `failed` (it goes on without, with the error). */
export class Cache extends Emitter {
    #database;
    #mostMessages;
    #bound;
    #opened;
    #writes = 0;
    /** Writes are done one after the other. */
    #last = Promise.resolve();

    /** At most `bound` messages are held, and `opened` of a thread are read at first. */
    constructor({ bound = BOUND, opened = OPENED } = {}) {
        super();
        this.#opened = opened;
        this.#mostMessages = this.#bound = bound;
    }

    /** `name` is undefined where nothing may be kept. */
    async open(name) {
        this.close();
        if (name === undefined) return;
        try {
            const database = await openDatabase(name, 1, CACHE_STORES);
            this.#database = database;
            database.on("lost", () => { if (this.#database === database) this.#fail(new DOMException("It was deleted.", "InvalidStateError")); });
        } catch (error) { this.#fail(error); }
    }

    close() {
        this.#database?.close();
        this.#database = undefined;
        this.#bound = this.#mostMessages;
    }

    get isOnDisk() { return this.#database !== undefined; }

    /** When everything is written that was to be. */
    get settled() { return this.#last; }

    // The list of conversations

    /** `{rows, inbox: {position, …}}`, or undefined. */
    inbox() {
        return this.#read(["rows", "values"], async ({ rows, values }) => {
            const known = await values.get("inbox");
            return known && { rows: await rows.getAll(), inbox: known };
        });
    }

    /** Writes rows, and `inbox` with their position; `isReplaced` says that there are no others. */
    saveInbox(rows, inbox, isReplaced) {
        return this.#write(["rows", "values"], async ({ rows: store, values }) => {
            const known = await values.get("inbox");
            const isOther = known && known.position[0] !== inbox.position[0];
            if (isReplaced || isOther) store.clear();
            const isBehind = known && !isOther && known.position[1] > inbox.position[1];
            for (const row of rows) {
                const stored = isReplaced || isOther ? undefined : await store.get(row.id);
                if (!stored || stored.counter <= row.counter) store.put(row);
            }
            if (!isBehind) values.put({ name: "inbox", ...inbox });
        });
    }

    // Threads

    /** `{thread, first, hasEarlier, position, marks, translated}` of a conversation, or undefined; `first` is what is on disk. */
    thread(id) {
        return this.#read(["conversations", "rosters", ...NUMBERED], async (stores) => {
            const [record, roster] = [await stores.conversations.get(id), await stores.rosters.get(id)];
            if (!record || !roster) return undefined;
            const from = Math.max(record.first ?? 0, (record.last ?? 0) - this.#opened + 1);
            const rows = await rowsOf(stores, id, from, Infinity);
            const thread = threadOf(record, roster, rows, record.first === undefined ? undefined : from);
            const { first, hasEarlier, position, marks, translated } = record;
            return { thread, first, hasEarlier, position, marks, translated };
        });
    }

    /** The messages from one number to another as a page, or undefined. */
    page(id, first, last) {
        return this.#read(NUMBERED, async (stores) => ({ ...await rowsOf(stores, id, first, last), range: [first, last] }));
    }

    /** The number of the first message of a conversation that was sent at a time or later; undefined if none is held. */
    firstFrom(id, time) {
        return this.#read(["conversations", "messages"], async ({ conversations, messages }) => {
            const { first, last } = await conversations.get(id) ?? {};
            if (first === undefined) return undefined;
            const at = async (number) => (await messages.getAll(messagesOf(id, number), 1))[0];
            let [low, high] = [first, last + 1];
            // The order of the numbers is that of the times.
            while (low < high) {
                const middle = Math.floor((low + high) / 2);
                const message = await at(middle);
                if (message && Date.parse(message.sentAt) < time) low = message.number + 1; else high = middle;
            }
            const found = await at(low);
            // After the range there are messages of responses alone.
            return found && Date.parse(found.sentAt) >= time ? found.number : undefined;
        });
    }

    /**
     * Writes what has changed of a thread: see changesOf. `known` is the first number that was on disk. Resolves to the record
     * that is there now, or undefined.
     */
    saveThread(id, record, roster, { messages, own, translations, isReplaced }, known) {
        return this.#write(["conversations", "rosters", ...NUMBERED], async (stores) => {
            const stored = await stores.conversations.get(id);
            const { isOther, empty, record: next } = meeting(stored, record, { isReplaced, known });
            if (isOther) return undefined;
            if (empty) for (const name of NUMBERED) stores[name].delete(messagesOf(id));
            // What is newer than all that is there needs no look: while many come, that would take longer than they do. After the
            // range there is only what responses had.
            const last = empty ? -Infinity : stored?.last ?? -Infinity;
            const after = empty ? [] : await stores.messages.getAllKeys(messagesOf(id, last + 1));
            const numbers = new Set(after.map(([, number]) => number));
            const isThere = ({ number }) => !empty && (number <= last || numbers.has(number));
            const olders = await Promise.all(messages.map((one) => isThere(one) ? stores.messages.get([id, one.number]) : undefined));
            for (const [index, message] of messages.entries()) {
                const older = olders[index];
                if (!older || older.version <= message.version) stores.messages.put({ ...message, conversation: id });
            }
            for (const one of own) stores.own.put({ ...one, conversation: id });
            // Those of a tab that is ahead stay, whatever this one has begun anew.
            if (translations) await saveTranslations(stores.translations, id, { ...translations, isReplaced: translations.isReplaced && Boolean(next) });
            await removeOutdated(stores.translations, id, messages);
            if (next) stores.conversations.put({ ...next, id });
            if (next && roster) stores.rosters.put({ ...roster, id });
            return next ?? stored;
        });
    }

    /**
     * Writes what the result of an entry of the queue has changed, whether its conversation is open or not: see results.js. The
     * disk has it when it resolves: the entry leaves the queue then.
     */
    saveResult(entry, result) {
        const id = entry.conversation;
        return this.#write(["rows", "conversations", ...NUMBERED], async (stores) => {
            const [row, record] = [await stores.rows.get(id), await stores.conversations.get(id)];
            if (row) stores.rows.put(rowWithResult(row, entry, result));
            if (!record) return;
            const next = storedResult(record, entry, result);
            stores.conversations.put(next.record);
            if (isClearing(entry)) for (const name of NUMBERED) stores[name].delete(messagesOf(id, -Infinity, entry.params.upTo));
            for (const one of next.messages) stores.messages.put({ ...newer(await stores.messages.get([id, one.number]), one), conversation: id });
            for (const one of next.own) stores.own.put({ ...newerOwn(await stores.own.get([id, one.number]), one), conversation: id });
            await removeOutdated(stores.translations, id, next.messages);
        }, { isStrict: true });
    }

    forget(id) {
        return this.#write(["conversations", "rosters", ...NUMBERED], (stores) => {
            for (const name of NUMBERED) stores[name].delete(messagesOf(id));
            for (const name of ["conversations", "rosters"]) stores[name].delete(id);
        });
    }

    /** The people of conversations that are held, by id, for each of so many conversations. */
    async people(most = 200) { return (await this.#read(["rosters"], ({ rosters }) => rosters.getAll(undefined, most)) ?? []).map((one) => one.people ?? {}); }

    /** Calls `visit(messages, own, people)` for all conversations that are held, one after the other, or for one alone. */
    async visit(visit, conversation) {
        const ids = conversation ? [conversation] : await this.#read(["conversations"], ({ conversations }) => conversations.getAllKeys()) ?? [];
        for (const id of ids) {
            const found = await this.#read([...NUMBERED, "rosters"],
                async (stores) => ({ ...await rowsOf(stores, id, -Infinity, Infinity), roster: await stores.rosters.get(id) }));
            if (found) visit(found.messages, found.own, found.roster?.people ?? {});
        }
    }

    /** Removes what has expired by a time, in milliseconds: it may not be seen on the disk either. */
    removeExpired(now) {
        return this.#write(["messages", "translations", "rows"], async ({ messages, translations, rows }) => {
            const due = await messages.index("expiresAt").getAll(IDBKeyRange.upperBound(new Date(now).toISOString()));
            for (const { expiresAt, ...one } of due) {
                messages.put({ ...withoutContent(one), deletedAt: one.deletedAt ?? expiresAt });
                translations.delete([one.conversation, one.number]);
            }
            for (const row of await rows.getAll()) {
                const { lastMessage } = row;
                if (lastMessage && !lastMessage.deletedAt && hasExpired(lastMessage, now)) rows.put({ ...row, lastMessage: disappeared(lastMessage) });
            }
        });
    }

    /** One value that is kept by its name. */
    async value(name) { return (await this.#read(["values"], ({ values }) => values.get(name)))?.value; }
    saveValue(name, value) { return this.#write(["values"], ({ values }) => { values.put({ name, value }); }); }

    // Bounds

    /** Gives up half of what is held: another database, or the browser, has no room. */
    async makeRoom() {
        this.#bound /= 2;
        if (this.#bound < LEAST_BOUND) return this.#fail(new DOMException("The disk is full.", "QuotaExceededError"));
        await this.#shrink();
    }

    async #shrink() {
        if (!this.#database) return;
        await this.#database.write(["conversations", ...NUMBERED], async ({ conversations, ...numbered }) => {
            for (const { id, first } of shrinking(await conversations.getAll(), this.#bound, KEPT)) {
                for (const name of NUMBERED) numbered[name].delete(messagesOf(id, -Infinity, first - 1));
                conversations.put({ ...await conversations.get(id), first, hasEarlier: true });
            }
        });
    }

    // Reading and writing

    #read(names, work) {
        const late = new Promise((resolve) => { setTimeout(resolve, MAX_READ); });
        return Promise.race([this.#readWritten(names, work), late]);
    }

    async #readWritten(names, work) {
        await this.#last;
        if (!this.#database) return undefined;
        try { return await this.#database.read(names, work); } catch (error) {
            this.#fail(error);
            return undefined;
        }
    }

    #write(names, work, options) {
        const written = this.#last.then(() => this.#try(names, work, options));
        this.#last = written;
        return written;
    }

    async #try(names, work, options) {
        while (this.#database) {
            try {
                const result = await this.#database.write(names, work, options);
                this.#writes += 1;
                if (this.#writes % COUNT_INTERVAL === 1) await this.#shrink();
                return result;
            } catch (error) {
                if (error.name !== "QuotaExceededError") return this.#fail(error);
                try { await this.makeRoom(); } catch (other) { return this.#fail(other); }
            }
        }
        return undefined;
    }

    #fail(error) {
        if (this.#database) this.close();
        this.emit("failed", error);
    }
}

async function rowsOf(stores, id, first, last) {
    const range = messagesOf(id, first, last);
    const [messages, own, translations] = await Promise.all(NUMBERED.map((name) => stores[name].getAll(range)));
    return { messages, own, translations };
}

async function saveTranslations(store, id, { isReplaced, put, gone }) {
    if (isReplaced) store.delete(messagesOf(id));
    for (const one of put) {
        const known = isReplaced ? undefined : await store.get([id, one.number]);
        if (known?.language !== one.language || newerTranslation(known, one) === one) store.put({ ...one, conversation: id });
    }
    for (const one of gone) if ((await store.get([id, one.number]))?.of <= one.of) store.delete([id, one.number]);
}

/** Those of texts that have changed or are gone, also where they are on disk alone. */
async function removeOutdated(store, id, messages) {
    for (const { number, textVersion, deletedAt } of messages.filter((one) => one.deletedAt || one.editedAt)) {
        const known = await store.get([id, number]);
        if (known && (deletedAt || known.of < textVersion)) store.delete([id, number]);
    }
}
