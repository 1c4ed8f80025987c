// The entries of the queue by conversation: the same arrays while they are the same, and the same object for the same message.

import { isMessage, isRevisable } from "../state/outbox-entries.js";

export class OutboxLists {
    #lists = new Map();
    #shown = new WeakMap();

    /** Those of `conversation` have changed, or all if it is undefined. */
    set(entries, conversation) {
        const ids = new Set(entries.map((one) => one.conversation));
        for (const id of [...this.#lists.keys()]) if (!ids.has(id)) this.#lists.delete(id);
        for (const id of conversation === undefined ? ids : [conversation]) {
            const all = entries.filter((one) => one.conversation === id);
            if (all.length > 0) this.#lists.set(id, { all, messages: all.filter(isMessage).map((one) => this.#message(one)) });
        }
    }

    all(conversation) { return this.#lists.get(conversation)?.all ?? none; }
    messages(conversation) { return this.#lists.get(conversation)?.messages ?? none; }

    /** What is shown of a message. */
    #message(entry) {
        if (!this.#shown.has(entry)) {
            const { clientID, params, blob, state, problem } = entry;
            this.#shown.set(entry, { clientID, ...params, ...(blob && { file: clientID }), state, problem, isRevisable: isRevisable(entry) });
        }
        return this.#shown.get(entry);
    }
}

const none = Object.freeze([]);
