// What the user has sent and the server has not stored yet, by conversation: it goes out whatever page is shown.

import { Emitter } from "./emitter.js";
import { randomID } from "./identity.js";
import { Problem, errorMessage } from "./problems.js";
import { realtime } from "./realtime.js";
import { request } from "./requests.js";
import * as outgoing from "./state/outgoing.js";

/** Events: `change` (a conversation's id), `stored` ({conversation, message}). */
class Outbox extends Emitter {
    #lists = new Map();
    #sending = new Set();

    constructor() {
        super();
        realtime.on("state", (now) => { if (now === "online") this.#retryAll(); });
    }

    list(conversation) { return this.#lists.get(conversation) ?? []; }

    hasFailed(conversation) { return this.list(conversation).some((one) => one.state === "failed"); }

    /** Sends a message, `{text, file, forward, replyTo, thread, draft}`, after those before it. Its client id is returned. */
    send(conversation, message) {
        const clientID = randomID();
        this.#set(conversation, outgoing.added(this.list(conversation), { clientID, ...message }));
        this.#sendNext(conversation);
        return clientID;
    }

    retry(conversation, clientID) {
        this.#set(conversation, outgoing.retried(this.list(conversation), clientID));
        this.#sendNext(conversation);
    }

    discard(conversation, clientID) { this.#set(conversation, outgoing.removed(this.list(conversation), clientID)); }

    /** Messages that came by the stream are stored. */
    noteStored(conversation, messages, me) {
        const list = this.list(conversation);
        const left = outgoing.unstored(list, messages, me);
        if (left !== list) this.#set(conversation, left);
    }

    /** Forgets what was not sent: somebody else may sign in. */
    reset() { this.#lists.clear(); }

    /** One at a time, so that they are stored in the order in which they were written. */
    async #sendNext(conversation) {
        const next = this.list(conversation).find((one) => one.state === "sending");
        if (this.#sending.has(conversation) || !next) return;
        this.#sending.add(conversation);
        const { clientID } = next;
        try {
            const { message } = await request("messages.send", { conversation, ...outgoing.sendBody(next) });
            if (message) this.emit("stored", { conversation, message });
            this.discard(conversation, clientID);
        } catch (error) {
            const isTransient = error instanceof Problem && error.isTransient;
            this.#set(conversation, outgoing.failed(this.list(conversation), clientID, errorMessage(error), isTransient));
        }
        this.#sending.delete(conversation);
        this.#sendNext(conversation);
    }

    #retryAll() {
        for (const [conversation, list] of this.#lists) {
            for (const one of list) if (one.isTransient) this.retry(conversation, one.clientID);
        }
    }

    #set(conversation, list) {
        if (list.length > 0) this.#lists.set(conversation, list); else this.#lists.delete(conversation);
        this.emit("change", conversation);
    }
}

export const outbox = new Outbox();
