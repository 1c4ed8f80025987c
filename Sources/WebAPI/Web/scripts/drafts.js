// What is written and not sent, by conversation: at once in this browser, and after a pause on the server.

import { credentials } from "./credentials.js";
import { Emitter } from "./emitter.js";
import { realtime } from "./realtime.js";
import { request } from "./requests.js";
import * as state from "./state/drafts.js";

const SAVE_DELAY = 3_000;
const PREFIX = "switchboard.draft.";

/** Event: `change` (a conversation's id). */
class Drafts extends Emitter {
    #known = new Map();
    #timers = new Map();

    constructor() {
        super();
        realtime.on("state", (now) => {
            if (now === "online") for (const [id, draft] of this.#known) if (!draft.isSaved) this.save(id);
        });
        // Another tab has written.
        addEventListener("storage", ({ key }) => {
            if (!key?.startsWith(PREFIX)) return;
            const id = key.slice(PREFIX.length);
            if (this.#timers.has(id)) return;
            this.#known.delete(id);
            this.emit("change", id);
        });
    }

    of(conversation) {
        if (!this.#known.has(conversation)) this.#known.set(conversation, read(conversation) ?? state.emptyDraft());
        return this.#known.get(conversation);
    }

    /** What stands in the field now: the text as it is sent, with ids for names. */
    write(conversation, text, replyTo) {
        const before = this.of(conversation);
        const draft = state.written(before, text, replyTo);
        if (draft === before) return;
        this.#set(conversation, draft);
        this.#saveLater(conversation);
    }

    /** Saves at once what was not yet, such as when the conversation is closed. */
    async save(conversation) {
        this.#forgetTimer(conversation);
        const draft = this.of(conversation);
        if (draft.isSaved) return;
        this.#set(conversation, state.saving(draft));
        const { text, replyTo, revision } = draft;
        try {
            const { membership } = await request("members.updateMe",
                { conversation, draft: { text, revision, ...(replyTo && { replyTo }) } });
            this.receive(conversation, membership.draft);
        } catch {
            // It is here, and goes with what is written next, or when the server can be reached again.
            if (credentials.isSignedIn) this.#set(conversation, state.unsaved(this.of(conversation)));
        }
    }

    /** What the list of conversations says of it. */
    receive(conversation, server, options) {
        const before = this.of(conversation);
        const draft = state.received(before, server, options);
        if (draft === before) return;
        this.#set(conversation, draft);
        if (!draft.isSaved) this.#saveLater(conversation);
    }

    /** It is sent now: the revision for the request. */
    takeForSending(conversation) {
        this.#forgetTimer(conversation);
        const draft = state.sent(this.of(conversation));
        this.#set(conversation, draft);
        return draft.revision;
    }

    /** Somebody else may sign in. */
    reset() {
        for (const id of this.#timers.keys()) this.#forgetTimer(id);
        this.#known.clear();
        for (const store of [localStorage, sessionStorage]) {
            for (const key of Object.keys(store)) if (key.startsWith(PREFIX)) store.removeItem(key);
        }
    }

    #saveLater(conversation) {
        clearTimeout(this.#timers.get(conversation));
        this.#timers.set(conversation, setTimeout(() => this.save(conversation), SAVE_DELAY));
    }

    #forgetTimer(conversation) {
        clearTimeout(this.#timers.get(conversation));
        this.#timers.delete(conversation);
    }

    #set(conversation, draft) {
        this.#known.set(conversation, draft);
        // A full store loses nothing that the page has.
        try { credentials.storage.setItem(PREFIX + conversation, JSON.stringify(draft)); } catch { /* It is saved on the server. */ }
        this.emit("change", conversation);
    }
}

function read(conversation) {
    try { return JSON.parse(credentials.storage.getItem(PREFIX + conversation)) ?? undefined; } catch { return undefined; }
}

export const drafts = new Drafts();
