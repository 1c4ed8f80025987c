// IndexedDB with promises: a batch of reads and writes is one transaction, which is done as a whole or not at all.

import { Emitter } from "../state/emitter.js";

/** A browser that does not respond in this time counts as one that has no database. */
const OPEN_TIMEOUT = 5_000;

/**
 * Opens a database; rejects where the browser has none or refuses it. `stores` are `{name: {keyPath, autoIncrement,
 * indexes: {name: keyPath}}}`: what is missing is added, and what is there stays.
 */
export function openDatabase(name, version, stores) {
    return new Promise((resolve, reject) => {
        const opening = indexedDB.open(name, version);
        const timer = setTimeout(() => reject(new DOMException("The database does not open.", "TimeoutError")), OPEN_TIMEOUT);
        opening.onupgradeneeded = () => addStores(opening, stores);
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => resolve(new Database(opening.result));
        opening.addEventListener("success", () => clearTimeout(timer));
        opening.addEventListener("error", () => clearTimeout(timer));
    });
}

/** Deletes a database. What is in it is gone at once; the empty rest waits until other tabs have closed it. */
export async function eraseDatabase(name, version, stores) {
    const database = await openDatabase(name, version, stores);
    await database.write(Object.keys(stores), (all) => { for (const store of Object.values(all)) store.clear(); });
    database.close();
    await new Promise((resolve, reject) => {
        const deletion = indexedDB.deleteDatabase(name);
        deletion.onsuccess = deletion.onblocked = resolve;
        deletion.onerror = () => reject(deletion.error);
    });
}

function addStores({ result: database, transaction }, stores) {
    for (const [name, { indexes = {}, ...options }] of Object.entries(stores)) {
        const store = database.objectStoreNames.contains(name) ? transaction.objectStore(name) : database.createObjectStore(name, options);
        for (const [index, keyPath] of Object.entries(indexes)) {
            if (!store.indexNames.contains(index)) store.createIndex(index, keyPath);
        }
    }
}

/** Event: `lost` (another tab or the browser deletes it; it is closed). */
export class Database extends Emitter {
    #connection;

    constructor(connection) {
        super();
        this.#connection = connection;
        // Nobody's deletion waits for this tab.
        connection.onversionchange = () => this.#lose();
        connection.onclose = () => this.#lose();
    }

    read(names, work) { return this.#run(names, "readonly", work); }

    /** Resolves when it is written; with `isStrict` when the disk has it. Begins before it returns. */
    write(names, work, { isStrict = false } = {}) {
        return this.#run(names, "readwrite", work, { durability: isStrict ? "strict" : "relaxed" });
    }

    close() { this.#connection.close(); }

    /** `work` gets the stores by name. It awaits nothing but them: a transaction ends when it has nothing to do. */
    async #run(names, mode, work, options) {
        const transaction = this.#connection.transaction(names, mode, options);
        const done = new Promise((resolve, reject) => {
            transaction.oncomplete = resolve;
            transaction.onabort = () => reject(transaction.error ?? new DOMException("The transaction was aborted.", "AbortError"));
        });
        // Awaited below, unless the work fails first.
        done.catch(() => {});
        let result;
        try {
            const made = work(Object.fromEntries(names.map((name) => [name, new Store(transaction.objectStore(name))])));
            if (!(made instanceof Promise)) transaction.commit?.();
            result = await made;
        } catch (error) {
            try { transaction.abort(); } catch { /* It has aborted by itself. */ }
            throw transaction.error ?? error;
        }
        await done;
        return result;
    }

    #lose() {
        this.#connection.close();
        this.emit("lost");
    }
}

/** An object store or an index within a transaction. */
class Store {
    #store;

    constructor(store) { this.#store = store; }

    index(name) { return new Store(this.#store.index(name)); }
    get(key) { return result(this.#store.get(key)); }
    /** Values, or those in a range of keys. */
    getAll(range, count) { return result(this.#store.getAll(range, count)); }
    getAllKeys(range) { return result(this.#store.getAllKeys(range)); }
    count(range) { return result(this.#store.count(range)); }
    put(value) { return result(this.#store.put(value)); }
    delete(key) { return result(this.#store.delete(key)); }
    clear() { return result(this.#store.clear()); }
}

/** Nobody may wait for it: then the transaction's own error counts. */
function result(request) {
    const promise = new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
    promise.catch(() => {});
    return promise;
}
