// What is written and not sent yet, on disk: the entries of the queue in their order, and drafts.
//
// This database is never replaced by another version of it: stores and indexes may be added, entries keep their shape.
// Where there is no database everything goes on in memory, until the page closes.

import { openDatabase } from "./database.js";
import { Emitter } from "../emitter.js";

export const QUEUE_VERSION = 1;
export const QUEUE_STORES = {
    entries: { keyPath: "order", autoIncrement: true },
    drafts: { keyPath: "conversation" },
};

/** Events: `failed` (it goes on in memory, with the error), `full` (the disk is: there may be room after it). */
export class QueueStore extends Emitter {
    #database;
    #order = 0;

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

    close() {
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

    /** Adds an entry after all others, in place of those with the given orders. Resolves to its own order. */
    async add(entry, replaced = []) {
        let order;
        await this.#write(["entries"], async ({ entries }) => {
            for (const one of replaced) entries.delete(one);
            order = await entries.put(entry);
        }, { isStrict: true });
        // Orders of memory are above those that were on disk.
        this.#order = order ?? this.#order + 1;
        return this.#order;
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

    async putDraft(draft) { await this.#write(["drafts"], ({ drafts }) => { drafts.put(draft); }); }

    /** Once more after the disk was full; what cannot be written is in memory. */
    async #write(names, work, options) {
        for (const isLast of [false, true]) {
            if (!this.#database) return;
            try {
                await this.#database.write(names, work, options);
                return;
            } catch (error) {
                if (isLast || error.name !== "QuotaExceededError") return this.#fail(error);
                await this.makeRoom();
            }
        }
    }

    /** Set by who can give some room on the disk. */
    makeRoom = async () => {};

    #fail(error) {
        this.close();
        this.emit("failed", error);
    }
}
