// What is written and not sent yet, on disk: the entries of the queue in their order, and drafts.
//
// This database is never replaced by another version of it: stores and indexes may be added, entries keep their shape.
// Versions before local drafts take these for drafts of conversations that they do not know.
// Where there is no database everything goes on in memory, until the page closes.

import { Emitter } from "../state/emitter.js";
import { openDatabase } from "./database.js";

export const QUEUE_VERSION = 1;
export const QUEUE_STORES = {
    entries: { keyPath: "order", autoIncrement: true },
    drafts: { keyPath: "conversation" },
};

/** Events: `failed` (it goes on in memory, with the error), `full` (the disk is: there may be room after it). */
export class QueueStore extends Emitter {
    #database;
    #order = 0;
    /** What is written next: `{entry, replaced, resolve}`. */
    #adding = [];
    /** Drafts that are written next, by their keys, and the write that is under way. */
    #drafts = new Map();
    #savingDrafts;

    /** `name` is undefined where nothing may be kept. Resolves to `{entries, drafts}`. */
    async open(name) {
        this.close();
        if (name === undefined) return { entries: [], drafts: [] };
        try {
            const database = await openDatabase(name, QUEUE_VERSION, QUEUE_STORES);
            this.#database = database;
            database.on("lost", () => { if (this.#database === database) this.#fail(new DOMException("It was deleted.", "InvalidStateError")); });
            return await this.load();
        } catch (error) {
            this.#fail(error);
            return { entries: [], drafts: [] };
        }
    }

    get isOnDisk() { return this.#database !== undefined; }

    /** What was to be written is. */
    close() {
        this.flushDrafts();
        this.#database?.close();
        this.#database = undefined;
    }

    async load() {
        if (!this.#database) return undefined;
        const found = await this.#database.read(["entries", "drafts"],
            async ({ entries, drafts }) => ({ entries: await entries.getAll(), drafts: await drafts.getAll() }));
        this.#order = Math.max(this.#order, ...found.entries.map((one) => one.order));
        return found;
    }

    /**
     * Adds an entry after all others, in place of those with the given orders. Resolves to its own order. What is added at the
     * same instant, such as ten messages that are forwarded, is one write: all of it is there after a reload, or nothing.
     */
    add(entry, replaced = []) {
        return new Promise((resolve) => {
            this.#adding.push({ entry, replaced, resolve });
            if (this.#adding.length === 1) queueMicrotask(() => this.#addAll(this.#adding.splice(0)));
        });
    }

    async #addAll(added) {
        let orders = [];
        await this.#write(["entries"], async ({ entries }) => {
            orders = [];
            for (const { entry, replaced } of added) {
                for (const one of replaced) entries.delete(one);
                orders.push(await entries.put(entry));
            }
        }, { isStrict: true });
        for (const [index, { resolve }] of added.entries()) {
            // Orders of memory are above those that were on disk.
            this.#order = orders[index] ?? this.#order + 1;
            resolve(this.#order);
        }
    }

    /** Changes an entry, if nobody has removed it. */
    async update(order, values) {
        await this.#write(["entries"], async ({ entries }) => {
            const known = await entries.get(order);
            if (known) await entries.put({ ...known, ...values });
        }, { isStrict: true });
    }

    /**
     * Changes an entry by what it is on disk, where another tab may have changed or removed it: `change(entry)` returns the
     * values. Resolves to the entry, or undefined if it was removed.
     */
    async change(entry, change) {
        let result = { ...entry, ...change(entry) };
        await this.#write(["entries"], async ({ entries }) => {
            const known = await entries.get(entry.order);
            result = known && { ...known, ...change(known) };
            if (known) await entries.put(result);
        }, { isStrict: true });
        return result;
    }

    async remove(order) { await this.#write(["entries"], ({ entries }) => { entries.delete(order); }); }

    /**
     * Writes a draft: a conversation's, or another one by a key of its own, which has `what` it is of, and is over without a
     * `value`. Of what is written of one while the disk is busy the last is kept.
     */
    putDraft(draft) {
        this.#drafts.set(draft.conversation, draft);
        this.#savingDrafts ??= this.#saveDrafts();
        return this.#savingDrafts;
    }

    async #saveDrafts() {
        try {
            while (this.#drafts.size > 0) await this.flushDrafts();
        } finally { this.#savingDrafts = undefined; }
    }

    /** Begins to write them before it returns: the page may be closed. */
    flushDrafts() {
        const changed = [...this.#drafts.values()];
        this.#drafts.clear();
        return changed.length === 0 ? Promise.resolve() : this.#write(["drafts"], ({ drafts }) => {
            for (const one of changed) if (one.what && !one.value) drafts.delete(one.conversation); else drafts.put(one);
        }, { isStrict: true });
    }

    /** Once more after the disk was full; what cannot be written is in memory. */
    async #write(names, work, options) {
        for (const isLast of [false, true]) {
            if (!this.#database) return;
            try {
                await this.#database.write(names, work, options);
                return;
            } catch (error) {
                if (isLast || error.name !== "QuotaExceededError") return this.#fail(error);
                try { await this.makeRoom(); } catch (full) { console.info("no room is made:", full?.message); }
            }
        }
    }

    /** Set by who can give some room on the disk. */
    makeRoom = async () => {};

    #fail(error) {
        this.#drafts.clear();
        this.close();
        this.emit("failed", error);
    }
}
