// What of a thread is on this device: read when it opens, and written a moment after it has changed.
//
// Its streams go on from the position that was written with it, so that nothing of it is asked for again.

import { realtime } from "../connection/realtime.js";
import { messagesIn } from "../state/blocks.js";
import { changesOf, recordOf, rosterOf, storedFrom } from "../state/stored-thread.js";
import { emptyThread, newer } from "../state/thread-rows.js";
import { storage } from "../store/storage.js";

const SAVE_DELAY = 300;
const PAGE = 50;
/** So many writes may wait while messages leave the memory: each holds what it writes. */
const MOST_WAITING = 4;
/** So many closed threads are held in memory where there is no disk. */
const REMEMBERED = 10;
const remembered = new Map();

/** Somebody else may sign in. */
export const resetHeldThreads = () => remembered.clear();

export class HeldThread {
    #id;
    #current;
    #saved = emptyThread();
    /** What is on disk: the first number, and whether there are messages before it. */
    #first;
    #hasEarlier;
    /** From which number on the state is on disk, if not from its first: another tab, or the bound, has removed what is before. */
    #from;
    /** Nothing is known of what is on disk, or it is of no use. */
    #isNew = true;
    #position;
    #marks;
    #translated;
    /** Messages before those in memory that have changed and are not written yet, by number. */
    #older = new Map();
    #openedAt = Date.now();
    #timer;
    /** Writes that wait or run, and whether there is something to write when they are done. */
    #saving = 0;
    #isDue = false;

    /** `current` returns the state of the thread. */
    constructor(id, current) {
        this.#id = id;
        this.#current = current;
    }

    /** The thread as it was left, or undefined; then the streams are known where to go on. */
    async restore() {
        const found = remembered.get(this.#id) ?? await storage.cache.thread(this.#id);
        // Without a position of the marks nobody says which notes on messages have changed since.
        if (!found || !found.marks && found.thread.membership?.state === "member") return undefined;
        this.#isNew = !storage.cache.isOnDisk;
        this.#saved = found.thread;
        [this.#first, this.#hasEarlier] = [found.first, found.hasEarlier];
        [this.#position, this.#marks, this.#translated] = [found.position, found.marks, found.translated];
        return found.thread;
    }

    /** Where its streams go on: `{conversation, marks, translations}`, each `[epoch, sequence]` or undefined. */
    get positions() { return { conversation: this.#position, marks: this.#marks, translations: this.#translated }; }

    /** The first number that the server is asked for changes of. */
    firstOf(state) { return state.first === undefined ? undefined : Math.min(state.first, this.#first ?? state.first); }

    /** The messages before a number as a page, or undefined where they are not on disk. `until` is one that is to be in it. */
    async earlier(before, until = before) {
        const [first, hasEarlier] = [this.#first, this.#hasEarlier];
        if (first === undefined || first >= before || until < first) return undefined;
        const from = Math.max(first, Math.min(before, until) - PAGE);
        const older = new Map(this.#older);
        const page = await storage.cache.page(this.#id, from, before - 1);
        return page && { ...page, messages: page.messages.map((one) => newer(older.get(one.number), one)), hasEarlier: from > first || Boolean(hasEarlier) };
    }

    /** The number of the first message that was sent at a time or later, of those that are held. */
    async firstFrom(time) {
        const { hidden, blocks } = this.#current();
        const inMemory = messagesIn(blocks).find((one) => !hidden[one.number] && Date.parse(one.sentAt) >= time)?.number;
        const onDisk = await storage.cache.firstFrom(this.#id, time);
        return onDisk === undefined || inMemory < onDisk ? inMemory : onDisk;
    }

    /** A message was received that may be on disk and is not in the thread. */
    noteOlder(message) {
        const { number } = message;
        if (this.#first !== undefined && number >= this.#first) this.#older.set(number, newer(this.#older.get(number), message));
    }

    /** A snapshot: whatever is on disk is of no use. */
    noteSnapshot() {
        this.#isNew = true;
        this.#first = this.#from = undefined;
        this.#older.clear();
    }

    /** Older messages are not held in memory any more; on disk they stay. */
    noteBounded(thread) {
        // A disk that is slower than messages come would be waited for without end: it gets what is in memory later instead.
        if (this.#saving >= MOST_WAITING) {
            this.noteSnapshot();
            return this.noteChange();
        }
        this.save();
        if (!this.#isNew) this.#saved = thread;
    }

    noteChange() { this.#timer ??= setTimeout(() => this.#saveInTurn(), SAVE_DELAY); }

    /** What changes during a write is written after it, at once. */
    #saveInTurn() {
        this.#timer = undefined;
        if (this.#saving > 0) this.#isDue = true; else this.save();
    }

    async save() {
        this.#isDue = false;
        this.#saving += 1;
        try { await this.#write(); } finally {
            this.#saving -= 1;
            if (this.#saving === 0 && this.#isDue) this.noteChange();
        }
    }

    async #write() {
        clearTimeout(this.#timer);
        this.#timer = undefined;
        const [held, position] = [this.#current(), realtime.position(`conversation:${this.#id}`)];
        const state = storedFrom(held, this.#from);
        if (!state.isLoaded || !position || !storage.cache.isOnDisk) return;
        this.#position = [...position];
        this.#notePositions();
        const changes = changesOf(this.#saved, state, this.#isNew);
        // Those that were read meanwhile are among the changes; of an earlier range nothing else is.
        changes.messages.push(...[...this.#older.values()].filter((one) => !(one.number >= state.first)));
        const record = { ...recordOf(state), position: this.#position, marks: this.#marks, translated: this.#translated, openedAt: this.#openedAt };
        [this.#saved, this.#isNew] = [state, false];
        this.#older.clear();
        const known = this.#first;
        if (changes.isReplaced) this.#first = state.first;
        const written = await storage.cache.saveThread(this.#id, record, changes.hasRoster ? rosterOf(state) : undefined, changes, known);
        // A snapshot may have come meanwhile.
        if (written && !this.#isNew) {
            [this.#first, this.#hasEarlier] = [written.first, written.hasEarlier];
            if (written.first > state.first) this.#from = written.first;
        }
        if (!written) this.#isNew = true;
    }

    #notePositions() {
        this.#marks = realtime.position(`marks:${this.#id}`)?.slice() ?? this.#marks;
        this.#translated = realtime.position(`translations:${this.#id}`)?.slice() ?? this.#translated;
    }

    close() {
        this.save();
        const [thread, position] = [this.#current(), realtime.position(`conversation:${this.#id}`) ?? this.#position];
        remembered.delete(this.#id);
        if (storage.cache.isOnDisk || !thread.isLoaded || !position) return;
        this.#notePositions();
        remembered.set(this.#id, { thread, position: [...position], marks: this.#marks, translated: this.#translated });
        if (remembered.size > REMEMBERED) remembered.delete(remembered.keys().next().value);
    }

    /** It may not be read any more. */
    forget() {
        clearTimeout(this.#timer);
        this.#timer = undefined;
        remembered.delete(this.#id);
        this.noteSnapshot();
        this.#position = this.#marks = this.#translated = undefined;
        storage.cache.forget(this.#id);
    }
}
