// What is written and not sent, by conversation: at once on this device, and after a pause on the server.

import { credentials } from "../connection/credentials.js";
import { realtime } from "../connection/realtime.js";
import { request } from "../connection/requests.js";
import * as state from "../state/draft-versions.js";
import { Emitter } from "../state/emitter.js";
import { channel } from "../store/channel.js";
import { storage } from "../store/storage.js";

const SAVE_DELAY = 3_000;

/** Event: `change` (a conversation's id). */
class Drafts extends Emitter {
    #known = new Map();
    #timers = new Map();

    constructor() {
        super();
        realtime.on("state", (now) => { if (now === "online") this.#saveAll(); });
        channel.on("draft", ({ user, conversation, draft }) => {
            // What is being typed here stays.
            if (user !== credentials.user?.id || this.#timers.has(conversation)) return;
            this.#known.set(conversation, draft);
            this.emit("change", conversation);
        });
    }

    /** Goes on with what was left, `[{conversation, draft}]`. */
    start(list) {
        this.#known = new Map(list.map(({ conversation, draft }) => [conversation, draft]));
        if (realtime.isOnline) this.#saveAll();
    }

    of(conversation) {
        if (!this.#known.has(conversation)) this.#known.set(conversation, state.emptyDraft());
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
        const user = credentials.user?.id;
        this.#known.set(conversation, state.saving(draft));
        const { text, replyTo, revision } = draft;
        try {
            const { membership } = await request("members.updateMe",
                { conversation, draft: { text, revision, ...(replyTo && { replyTo }) } });
            if (user !== credentials.user?.id) return;
            this.receive(conversation, membership.draft);
            this.#keep(conversation, this.of(conversation));
        } catch {
            // It is here, and goes with what is written next, or when the server can be reached again.
            if (user !== undefined && user === credentials.user?.id) this.#set(conversation, state.unsaved(this.of(conversation)));
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
    }

    #saveAll() { for (const [id, draft] of this.#known) if (!draft.isSaved) this.save(id); }

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
        this.#keep(conversation, draft);
        this.emit("change", conversation);
    }

    /** On disk, and for other tabs. */
    #keep(conversation, draft) {
        storage.queue.putDraft({ conversation, draft });
        channel.post("draft", { user: credentials.user?.id, conversation, draft });
    }
}

export const drafts = new Drafts();
