// What is written and stays on this device until it is sent: replies in a thread, edits, a voice message that was recorded and
// not sent, and a message whose request to be sent later may have arrived. Drafts of conversations are in drafts.js.

import { credentials } from "../connection/credentials.js";
import { randomID } from "../connection/identity.js";
import { emptyDraft } from "../state/draft-versions.js";
import { Emitter } from "../state/emitter.js";
import { channel } from "../store/channel.js";
import { storage } from "../store/storage.js";
import { outbox } from "./outbox.js";

/** What nobody has come back to for so long is given up, in milliseconds. */
const LIFETIME = 90 * 86_400_000;

/** What each of them is of, within a conversation. */
export const replyIn = (root) => `thread ${root}`;
export const editOf = ({ number, clientID }) => `edit ${number ?? clientID}`;
/** One of many, in a chat that was left again and again. */
export const recording = () => `voice ${randomID()}`;
export const SCHEDULED = "scheduled";

/** What clients from before take for a draft of a conversation. */
const NO_DRAFT = emptyDraft();

/**
 * Events: `offered` (a conversation's id): there is one that the composer goes on with, unless it has something else; `ended`
 * (`{conversation, what}`): one is over, here or in another tab.
 */
class LocalDrafts extends Emitter {
    /** `{conversation, of, what, value, at}` by their keys, of which the store has `conversation`. */
    #rows = new Map();

    constructor() {
        super();
        channel.on("localDraft", ({ user, row }) => {
            if (user !== credentials.user?.id) return;
            this.#set(row);
            if (row.value?.isRefused) this.emit("offered", row.of);
        });
        // What was refused is written on where it was written.
        outbox.on("refused", ({ entry: { conversation, name, params } }) => {
            if (name !== "messages.edit" || this.of(conversation, editOf(params))) return;
            this.offer(conversation, editOf(params), { number: params.number, text: params.text, isOpen: true, isRefused: true });
        });
    }

    /** Goes on with what was left. */
    start(rows) {
        this.#rows = new Map(rows.map((row) => [row.conversation, row]));
        for (const { of, what, at } of rows) if (Date.now() - at > LIFETIME) this.end(of, what);
    }

    /** What is kept, or undefined. */
    of(conversation, what) { return this.#rows.get(keyOf(conversation, what))?.value; }

    /**
     * The edit that was not ended, and written in last, in the thread of `root` or in none: `{number, clientID, textVersion, text}`,
     * or undefined. With `isRefused` only those that the server has refused.
     */
    openEdit(conversation, { root, isRefused = false } = {}) {
        return this.#of(conversation).filter(({ value }) => value.isOpen && value.root === root && (!isRefused || value.isRefused))
            .sort((one, other) => other.at - one.at)[0]?.value;
    }

    /** What was recorded and not sent, the first one first: `{what, file, blob, elapsed, expiresAt}`. */
    recordings(conversation) {
        return this.#of(conversation).filter(({ what }) => what.startsWith("voice ")).sort((one, other) => one.at - other.at)
            .map(({ what, value }) => ({ what, ...value }));
    }

    /** Whether something is kept that somebody has written or recorded. */
    get isEmpty() { return [...this.#rows.values()].every(({ what }) => what === SCHEDULED); }

    write(conversation, what, value) {
        this.#keep({ conversation: keyOf(conversation, what), of: conversation, what, value, at: Date.now(), draft: NO_DRAFT });
    }

    /** Keeps what a composer that is open may go on with. */
    offer(conversation, what, value) {
        this.write(conversation, what, value);
        this.emit("offered", conversation);
    }

    /** It is sent, or nobody wants it any more. */
    end(conversation, what) {
        const key = keyOf(conversation, what);
        if (this.#rows.has(key)) this.#keep({ conversation: key, of: conversation, what });
    }

    /** Somebody else may sign in. */
    reset() { this.#rows.clear(); }

    #keep(row) {
        this.#set(row);
        storage.queue.putDraft(row);
        channel.post("localDraft", { user: credentials.user?.id, row });
    }

    #of(conversation) { return [...this.#rows.values()].filter((row) => row.of === conversation); }

    #set(row) {
        if (row.value) this.#rows.set(row.conversation, row);
        else if (this.#rows.delete(row.conversation)) this.emit("ended", { conversation: row.of, what: row.what });
    }
}

const keyOf = (conversation, what) => `${conversation} ${what}`;

export const isLocal = (row) => row.what !== undefined;

export const localDrafts = new LocalDrafts();
