// Explanations of the messages of a thread: those that the stream has, and what is asked for.

import { credentials } from "../connection/credentials.js";
import { server } from "../connection/features.js";
import { realtime } from "../connection/realtime.js";
import { request } from "../connection/requests.js";
import { applyHints, applyHintsSnapshot, hintModeOf, hintsOf } from "../state/hints.js";
import { wordsOf } from "../state/reading.js";
import { inbox } from "./inbox.js";

export class ThreadHints {
    #id;
    #thread;
    #unsubscribe;
    /** The text versions that the user has asked for, by number, and those on their way. */
    #wanted = new Map();
    #asking = new Set();
    /** Those that are shown in full, by number. */
    #opened = new Set();

    /** `thread` has `known()`, `set(next)` and `made(row)` for one that was asked for. */
    constructor(id, thread) {
        [this.#id, this.#thread] = [id, thread];
        const stream = `translations:${id}`;
        this.#unsubscribe = [
            realtime.on("snapshot", (frame) => { if (frame.stream === stream) thread.set(applyHintsSnapshot(thread.known(), frame.data)); }),
            realtime.on("rows", (frame) => {
                if (frame.stream === stream) this.#receive(frame.rows.map((one) => one.hints).filter(Boolean));
            }),
        ];
    }

    close() { this.#unsubscribe.forEach((one) => one()); }

    get mode() { return hintModeOf(credentials.user, inbox.row(this.#id)?.membership ?? this.#thread.known().membership); }

    /** Whether something may come by itself: what lexicons know is in the response. */
    get isFollowed() { return this.mode === "automatic" || this.mode === "onRequest" && Boolean(server.languageModel); }

    /** What stands under a message: `{row, isAsked, isOpen, isAsking}`, or undefined. */
    of(message) {
        const isAsked = this.#wanted.get(message.number) === message.textVersion;
        const isAsking = this.#asking.has(message.number);
        if (!isAsked && (this.mode !== "automatic" || message.author === credentials.user?.id)) return undefined;
        const row = hintsOf(this.#thread.known(), message);
        if (!isAsked && !(row?.items.length > 0) || !row && !isAsking) return undefined;
        return { row, isAsked, isAsking, isOpen: this.#opened.has(message.number) };
    }

    /** What it is drawn from. */
    partsOf(message) {
        const shown = this.of(message);
        return [shown?.row, shown?.isAsked, shown?.isAsking, shown?.isOpen];
    }

    /** Whether the user may ask what a message means. */
    isOffered(message) {
        return this.mode !== "off" && !this.of(message) && !message.isPending && /\p{L}/u.test(wordsOf(message) ?? "");
    }

    toggle({ number }) {
        if (!this.#opened.delete(number)) this.#opened.add(number);
        this.#thread.set(this.#thread.known());
    }

    /** The user asks what a message means. */
    async ask({ number, textVersion }) {
        this.#wanted.set(number, textVersion);
        this.#opened.add(number);
        this.#setAsking(number, true);
        try {
            const { hints } = await request("hints.request", { conversation: this.#id, number });
            this.#receive([hints]);
        } catch (error) {
            if (!hintsOf(this.#thread.known(), { number, textVersion })) this.#wanted.delete(number);
            throw error;
        } finally {
            this.#setAsking(number, false);
        }
    }

    #receive(list) {
        if (list.length === 0) return;
        this.#thread.set(applyHints(this.#thread.known(), list));
        for (const one of list) if (one.status !== "queued" && this.#wanted.get(one.number) === one.of) this.#thread.made(one);
    }

    #setAsking(number, isOn) {
        if (isOn) this.#asking.add(number); else this.#asking.delete(number);
        this.#thread.set(this.#thread.known());
    }
}
