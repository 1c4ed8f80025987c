// Translations of the messages of a thread: those that the stream has, and what is asked for.
//
// Who reads automatically has the newest messages translated by listening; of older ones this page asks for those that are
// looked at. Whoever asks for one is told why there is none.

import { credentials } from "../connection/credentials.js";
import { server } from "../connection/features.js";
import { realtime } from "../connection/realtime.js";
import { request } from "../connection/requests.js";
import { needsTranslation, offersTranslation, readerOf } from "../state/reading.js";
import { newestNumber } from "../state/thread-rows.js";
import { applyTranslations, applyTranslationsSnapshot, translationOf } from "../state/translations.js";
import { inbox } from "./inbox.js";

/** So many are asked for at once, and so many of the newest messages the server has translated by itself. */
const MOST = 50;
const DEMAND_DELAY = 200;
/** Reasons that the server gives for all messages of a request, instead of rows. */
const REASONS = new Set(["consent_required", "pair_not_supported"]);

export class ThreadTranslations {
    #id;
    #thread;
    #isListening = false;
    #isClosed = false;
    #unsubscribe;
    /** The text versions that were asked for, by number, by the user or, while they are on their way, at all. */
    #wanted = new Map();
    #asking = new Map();
    /** Those that this page has asked for by itself. */
    #demanded = new Map();
    #waiting = new Map();
    #timer;
    /** Those that the user does not want to see, by number. */
    #hidden = new Set();

    /** `thread` has `known()`, `set(next)`, `position()` where the stream goes on, `isMember()`, `followsHints()`, and `made(row)` for one that was asked for. */
    constructor(id, thread) {
        [this.#id, this.#thread] = [id, thread];
        this.#unsubscribe = [
            realtime.on("snapshot", ({ stream, data }) => { if (stream === this.#stream) thread.set(applyTranslationsSnapshot(thread.known(), data)); }),
            realtime.on("rows", ({ stream, rows }) => {
                if (stream === this.#stream) this.#receive(rows.map((one) => one.translation).filter(Boolean));
            }),
            realtime.on("state", (now) => { if (now === "online") this.#demanded.clear(); }),
            server.on("change", () => this.update()),
        ];
    }

    close() {
        this.#isClosed = true;
        this.#unsubscribe.forEach((one) => one());
        clearTimeout(this.#timer);
        this.#listen(false);
    }

    /** Listens while there is something to hear: explanations come with them. */
    update() {
        if (this.#isClosed) return;
        this.#listen(this.#thread.isMember() && (server.translates && this.reader.mode !== "off" || this.#thread.followsHints()));
    }

    get #stream() { return `translations:${this.#id}`; }

    #listen(isOn) {
        if (isOn === this.#isListening) return;
        this.#isListening = isOn;
        if (isOn) realtime.listen(this.#stream, this.#thread.position()); else realtime.unlisten(this.#stream);
    }

    /** The user as a reader of this conversation, `{me, mode, into, known}`. */
    get reader() {
        const { user } = credentials;
        return { me: user?.id, ...readerOf(user, inbox.row(this.#id)?.membership ?? this.#thread.known().membership) };
    }

    // What is shown

    /**
     * What stands under a message: `{status, isHidden, row}`, or undefined. `status` is that of the row, or `queued` while it
     * is asked for.
     */
    of(message) {
        const { reader } = this;
        if (reader.mode === "off" || message.author === reader.me) return undefined;
        const row = translationOf(this.#thread.known(), message);
        if (this.#has(this.#asking, message) && row?.status !== "done") return { status: "queued", isHidden: false };
        if (!row || row.status === "unavailable" && !this.#has(this.#wanted, message)) return undefined;
        return { status: row.status, row, isHidden: this.#hidden.has(message.number) };
    }

    /** What it is drawn from. */
    partsOf(message) {
        const shown = this.of(message);
        return [shown?.status, shown?.row, shown?.isHidden];
    }

    /** Whether the user may ask for one. */
    isOffered(message) {
        if (!server.translates || !this.#isListening || this.of(message)) return false;
        return offersTranslation(message, this.reader);
    }

    toggle({ number }) {
        if (!this.#hidden.delete(number)) this.#hidden.add(number);
        this.#thread.set(this.#thread.known());
    }

    // What is asked for

    /** The user asks for these. Rejects where none of them can be asked for. */
    async ask(messages) {
        for (const one of messages) {
            this.#wanted.set(one.number, one.textVersion);
            this.#hidden.delete(one.number);
        }
        for (let first = 0; first < messages.length; first += MOST) await this.#request(messages.slice(first, first + MOST), true);
    }

    /** These are looked at: those of them that the user reads in translation only are asked for, in that order. */
    demand(messages) {
        const { reader } = this;
        const { language } = this.#thread.known().translations;
        if (reader.mode !== "automatic" || !server.translates || !this.#isListening || !language || !realtime.isOnline) return;
        const newest = newestNumber(this.#thread.known()) - MOST;
        for (const one of messages) {
            // Those that are new, or say something else than before, the server has translated.
            if (one.number > newest || this.#has(this.#demanded, one) || translationOf(this.#thread.known(), one) || !needsTranslation(one, reader)) continue;
            this.#demanded.set(one.number, one.textVersion);
            this.#waiting.set(one.number, one);
        }
        if (this.#waiting.size > 0) this.#timer ??= setTimeout(() => this.#demandWaiting(), DEMAND_DELAY);
    }

    #demandWaiting() {
        this.#timer = undefined;
        const all = [...this.#waiting.values()];
        this.#waiting.clear();
        // Nobody has asked: nobody is told that it failed.
        for (let first = 0; first < all.length; first += MOST) this.#request(all.slice(first, first + MOST), false).catch(() => {});
    }

    #has(map, { number, textVersion }) { return map.get(number) === textVersion; }

    async #request(messages, isShown) {
        const { into } = this.reader;
        if (isShown) this.#setAsking(messages, true);
        try {
            const { translations } = await request("translations.request", { conversation: this.#id, numbers: messages.map((one) => one.number) });
            this.#receive(translations);
        } catch (error) {
            const reason = error.type;
            if (!REASONS.has(reason)) throw error;
            const { language = into } = this.#thread.known().translations;
            this.#receive(messages.map(({ number, textVersion }) => ({ number, of: textVersion, language, status: "unavailable", reason, touched: 0 })));
        } finally {
            if (isShown) this.#setAsking(messages, false);
        }
    }

    #receive(list) {
        this.#thread.set(applyTranslations(this.#thread.known(), list));
        for (const one of list) if (one.status !== "queued" && this.#wanted.get(one.number) === one.of) this.#thread.made(one);
    }

    #setAsking(messages, isOn) {
        for (const one of messages) if (isOn) this.#asking.set(one.number, one.textVersion); else this.#asking.delete(one.number);
        this.#thread.set(this.#thread.known());
    }
}
