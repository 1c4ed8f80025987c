// What is kept on this device for the user who is signed in: the queue and the cache.

import { Emitter } from "../state/emitter.js";
import { Cache } from "./cache.js";
import { certainNow } from "./clock.js";
import { cacheName, eraseLeftovers, eraseUser, forgetExpiry, hasExpired, queueName } from "./kept-databases.js";
import { QueueStore } from "./outbox-store.js";

const EXPIRY_INTERVAL = 60_000;

/** Event: `failed` (this device keeps nothing from now on: once). */
class Storage extends Emitter {
    queue = new QueueStore();
    cache = new Cache();
    hasFailed = false;
    #isOpen = false;

    constructor() {
        super();
        setInterval(() => { if (this.#isOpen) this.cache.removeExpired(certainNow()); }, EXPIRY_INTERVAL);
        for (const one of [this.queue, this.cache]) one.on("failed", (error) => this.#noteFailure(error));
        this.queue.makeRoom = () => this.cache.makeRoom();
        addEventListener("pagehide", () => this.queue.flushDrafts());
    }

    /**
     * Opens what is kept for a user, unless nothing is to be. `others` are the users who are signed in elsewhere in this
     * browser. Resolves to `{entries, drafts}`.
     */
    async open(user, isKept, others) {
        this.#isOpen = true;
        this.hasFailed = false;
        if (isKept) forgetExpiry(user);
        eraseLeftovers([user, ...others]).catch(() => {});
        const [found] = await Promise.all([this.queue.open(isKept ? queueName(user) : undefined),
            this.cache.open(isKept ? cacheName(user) : undefined)]);
        return found;
    }

    /** Closes everything; what is on disk stays if the sign-in has expired, and is erased otherwise. */
    async close(user, isKept) {
        this.#isOpen = false;
        await this.cache.settled;
        this.queue.close();
        this.cache.close();
        if (isKept && !hasExpired(user)) await eraseUser(user).catch(() => {});
    }

    #noteFailure(error) {
        console.warn("this device keeps nothing:", error?.name, error?.message);
        if (!this.#isOpen || this.hasFailed) return;
        this.hasFailed = true;
        this.emit("failed");
    }
}

export const storage = new Storage();
