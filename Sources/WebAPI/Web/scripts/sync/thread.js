// One conversation that is shown: what its streams say, what is done with its messages, and how far the user has read.

import { credentials } from "../connection/credentials.js";
import { Problem } from "../connection/problems.js";
import { realtime } from "../connection/realtime.js";
import { request } from "../connection/requests.js";
import { watch } from "../connection/watches.js";
import { t } from "../language/texts.js";
import { expired, nextExpiry } from "../state/disappearing.js";
import * as past from "../state/earlier-range.js";
import { withPending } from "../state/pending.js";
import { isClearing, withResult } from "../state/results.js";
import * as state from "../state/thread-rows.js";
import { heldTranslations } from "../state/translations.js";
import { certainNow, clock, serverNow } from "../store/clock.js";
import { inbox } from "./inbox.js";
import { names } from "./known-names.js";
import { outbox } from "./outbox.js";
import { HeldThread } from "./thread-cache.js";
import { ThreadHints } from "./thread-hints.js";
import { ThreadPages } from "./thread-pages.js";
import { ThreadTranslations } from "./thread-translations.js";
import { ThreadWrites } from "./thread-writes.js";
import { writers } from "./writers.js";

const MARK_DELAY = 300;
/** The longest time that a timer takes. */
const MAX_WAIT = 2 ** 31 - 1;

/**
 * Events: `change`, `writers`, `arrived` (a message of somebody else), `refused` (it may not be listened to), `returned` (it
 * may again), `translated` (a translation that the user has asked for, or why there is none), `explained` (likewise).
 */
export class Thread extends ThreadWrites {
    /** Who reads it; when it is closed because somebody was signed out, nobody is signed in any more. */
    me = credentials.user.id;
    /** What the server has said. */
    #known = state.emptyThread();
    /** The same with what waits in the queue: `{known, entries, state}`. */
    #shown;
    #held = new HeldThread(this.id, () => this.#known);
    #isClosed = false;
    #hasFollowed = false;
    #pages = new ThreadPages(this.id, this.#held, { known: () => this.#known, shown: () => this.state, set: (next) => this.#set(next) });
    /** What its messages mean: likewise. */
    hints = new ThreadHints(this.id, { known: () => this.#known, set: (next) => this.#set(next), made: (row) => this.emit("explained", row) });
    /** Its translations: what is shown of them, and how to ask for more. */
    translations = new ThreadTranslations(this.id, { known: () => this.#known, set: (next) => this.#set(next),
        position: () => this.#held.positions.translations, isMember: () => this.#watches.length > 0, followsHints: () => this.hints.isFollowed,
        made: (row) => this.emit("translated", row) });
    #requested = new Set();
    #unsubscribe;
    #watches = [];
    /** Since it may not be listened to: `{error, isRead}`, whether the server has said what may be read. */
    #refusal;
    #readUpTo = 0;
    #markTimer;
    #expiryTimer;
    #wasOnline = realtime.isOnline;

    constructor(id) {
        super(id);
        this.#unsubscribe = [
            realtime.on("snapshot", (frame) => this.#receiveSnapshot(frame)),
            realtime.on("rows", (frame) => this.#receiveRows(frame)),
            realtime.on("reset", ({ stream, reason }) => {
                if (stream === this.#stream && reason === "access") this.#read();
                if (stream === `marks:${id}` && reason !== "access") this.#readOwn();
            }),
            realtime.on("refused", ({ stream, error }) => { if (stream === this.#stream) this.#read(error); }),
            realtime.on("listened", ({ stream }) => { if (stream === this.#stream) this.#noteFollowed(); }),
            realtime.on("state", (now) => this.#handleConnection(now)),
            clock.on("set", () => this.#set(this.#known)),
            outbox.on("change", (conversation = id) => { if (conversation === id) this.emit("change"); }),
            outbox.on("result", ({ entry, result }) => { if (entry.conversation === id) this.#applyResult(entry, result ?? undefined); }),
            inbox.on("change", () => this.#handleRow()),
            writers.on("change", (conversation) => { if (conversation === id) this.emit("writers"); }),
        ];
        document.addEventListener("visibilitychange", this.#handleVisibility);
        this.#open();
    }

    /** A device that slept wakes timers late. */
    #handleVisibility = () => { if (!document.hidden) this.#set(this.#known); };

    get state() {
        const entries = outbox.entries(this.id);
        if (this.#shown?.known !== this.#known || this.#shown.entries !== entries) {
            this.#shown = { known: this.#known, entries, state: withPending(expired(this.#known, serverNow()), entries, this.me) };
        }
        return this.#shown.state;
    }

    /** Whether it has what came while it was closed, as far as the server can be reached. */
    get isCurrent() { return this.#hasFollowed || realtime.state === "waiting"; }

    /** The last number that was on the screen here, or was read elsewhere. */
    get seen() { return Math.max(this.state.read, this.#readUpTo); }

    get writers() { return writers.of(this.id); }

    /** Shows what is on this device, and listens from there. */
    async #open() {
        const held = await this.#held.restore();
        if (this.#isClosed) return;
        if (held) this.#set(held);
        // It may have been cleared since.
        this.#handleRow();
        this.#listen();
    }

    /** Notes that are made between the two snapshots come with the second, or as rows after the first. */
    #listen() {
        if (inbox.row(this.id)?.membership?.state === "member") this.#listenToMarks();
        realtime.listen(this.#stream, this.#held.positions.conversation);
    }

    /** Whoever is only asked to join may not listen to these yet. */
    #listenAsMember() { if (state.stateOf(this.state, this.me) === "member") this.#listenToMarks(); }

    #listenToMarks() {
        if (this.#watches.length > 0 || this.#refusal) return;
        realtime.listen(`marks:${this.id}`, this.#held.positions.marks);
        this.#watches.push(watch(`typing:${this.id}`));
    }

    close() {
        this.#isClosed = true;
        this.#unsubscribe.forEach((one) => one());
        document.removeEventListener("visibilitychange", this.#handleVisibility);
        this.#watches.forEach((one) => one());
        clearTimeout(this.#expiryTimer);
        this.closeSounds();
        this.#mark();
        this.#held.close();
        this.translations.close();
        this.hints.close();
        for (const kind of ["conversation", "marks"]) realtime.unlisten(`${kind}:${this.id}`);
    }

    nameOf(user) { return this.state.people[user]?.displayName ?? t("common.somebody"); }

    // Reading

    /** The messages before those that are shown. Whoever asks meanwhile waits for the same. */
    loadEarlier() { return this.#pages.loadEarlier(); }

    /** The messages after the earlier range that is shown. */
    loadLater() { return this.#pages.loadLater(); }

    /** Shows the range around a number. Resolves to whether there is a message with it that may be seen. */
    async show(number) {
        await this.#pages.show(number);
        return Boolean(state.messageOf(this.state, number)) && !this.state.hidden[number];
    }

    showNewest() { this.#set(past.leftPast(this.#known)); }

    /** Forgets what is far from the messages in the page, `{first, last}`, where too many are held: more than `limits` has. */
    bound(window, limits) {
        const bounded = past.bounded(this.#known, window, limits);
        if (bounded === this.#known) return;
        const next = state.heldNotes(heldTranslations(bounded));
        this.#held.noteBounded(next);
        this.#set(next);
    }

    /** One message, perhaps of a range that is not held: for a pin or a quote. */
    async find(number) {
        return state.messageOf(this.state, number) ?? (await request("messages.get", { conversation: this.id, number })).message;
    }

    firstFrom(date) { return this.#pages.firstFrom(date); }

    replies(root, before) { return this.#pages.replies(root, before); }

    // What is read

    /** What is on the screen, up to a number: noted once for all that comes within a moment. */
    markRead(number) {
        if (state.stateOf(this.state, this.me) !== "member" || number <= this.seen) return;
        this.#readUpTo = number;
        inbox.noteRead(this.id, number);
        this.#markTimer ??= setTimeout(() => this.#mark(), MARK_DELAY);
    }

    #mark() {
        if (this.#markTimer === undefined) return;
        clearTimeout(this.#markTimer);
        this.#markTimer = undefined;
        const read = this.#readUpTo;
        if (read > this.state.read) this.queueRead(read);
    }

    // Frames

    get #stream() { return `conversation:${this.id}`; }

    #receiveSnapshot({ stream, data, isNewEpoch }) {
        // A restored server may let it be read again. Its row does not say so where that is archived.
        if (stream === `inbox:${this.me}` && isNewEpoch && this.#refusal) this.#read(this.#refusal.error);
        if (stream === this.#stream) {
            this.#hasFollowed = true;
            this.#held.noteSnapshot();
            // A restored server has lost messages: their numbers are those of others that nobody has read yet.
            if (isNewEpoch) this.#readUpTo = 0;
            const [epoch] = realtime.position(stream) ?? [];
            const keepsTranslations = realtime.position(`translations:${this.id}`)?.[0] === epoch;
            this.#set(state.applySnapshot(this.#known, data, { isNewEpoch, keepsTranslations }));
        }
        if (stream === `marks:${this.id}`) this.#set(state.applyMarksSnapshot(this.#known, data, this.me));
    }

    #receiveRows({ stream, rows, gap }) {
        if (stream === `marks:${this.id}`) this.#set(state.applyMarks(this.#known, rows, this.me));
        if (stream !== this.#stream) return;
        const newest = state.newestNumber(this.#known);
        if (gap) this.#held.noteSnapshot();
        const next = state.applyRows(this.#known, rows, gap);
        this.#pages.noteOlder(rows, next.first);
        this.#set(next);
        // What came while it was closed is no news.
        for (const { message } of this.#hasFollowed ? rows : []) {
            if (!message || message.number <= newest || message.author === this.me) continue;
            writers.note(this.id, { user: message.author, state: "stopped" });
            this.emit("arrived", message);
        }
    }

    #noteFollowed() {
        if (this.#hasFollowed) return;
        this.#hasFollowed = true;
        this.emit("change");
    }

    /** The row of the list has the latest copy of the membership. */
    #handleRow() {
        const { spans, state: own } = inbox.row(this.id)?.membership ?? {};
        this.translations.update();
        // They were added again, or an invitation was accepted here or elsewhere.
        if (this.#refusal && own === "member") this.#listenAgain();
        const next = spans?.length > 0 ? state.cleared(this.#known, spans) : this.#known;
        if (next === this.#known) return;
        this.#held.noteSnapshot();
        this.#set(next);
    }

    /** An earlier range is not resumed with the stream: it is read again. */
    #handleConnection(now) {
        // The server has said what time it is.
        this.#set(this.#known);
        if (now !== "online") return;
        if (this.#refusal && !this.#refusal.isRead) this.#read(this.#refusal.error);
        if (this.#wasOnline) this.#pages.refresh().catch(() => {});
        this.#wasOnline = true;
        this.#findPeople();
    }

    /** Who may not listen may have been a member: they still read what they could see then. */
    async #read(error) {
        this.#hasFollowed = true;
        this.#watches.splice(0).forEach((one) => one());
        this.translations.update();
        realtime.unlisten(`marks:${this.id}`);
        const refusal = this.#refusal = { error, isRead: false };
        const conversation = this.id;
        let found;
        try {
            const [about, page] = [await request("conversations.get", { conversation }), await request("messages.list", { conversation })];
            found = { ...about, ...page };
        } catch (problem) {
            // It is read with the next connection.
            if (problem.isTransient) return;
        }
        if (refusal !== this.#refusal || this.#isClosed) return;
        refusal.isRead = true;
        this.#held.forget();
        if (found?.membership.state === "member") return this.#listenAgain();
        this.#set(found ? state.applySnapshot(this.#known, { ...found, members: [] }) : state.emptyThread());
        this.emit("refused", error instanceof Problem ? error : undefined);
    }

    /** Which notes on messages have changed cannot be told any more: they come with the messages. */
    #readOwn() {
        this.#set(state.withoutOwn(this.#known));
        realtime.unlisten(this.#stream);
        realtime.listen(this.#stream);
    }

    #listenAgain() {
        this.#refusal = undefined;
        this.#listen();
        this.emit("returned");
    }

    // State

    /** The result of a request: a newer copy of the conversation. */
    apply({ conversation }) { if (conversation) this.#set(state.withConversation(this.#known, conversation)); }

    /** The result of an entry of the queue. */
    #applyResult(entry, result) {
        const next = withResult(this.#known, entry, result);
        if (next === this.#known) return;
        if (isClearing(entry)) this.#held.noteSnapshot();
        this.#set(next);
    }

    #set(next) {
        // What comes late is neither shown nor written.
        if (this.#isClosed) return;
        this.#known = expired(next, certainNow());
        this.#shown = undefined;
        names.note(next.people);
        realtime.hold(this.#stream, this.#held.firstOf(this.#known), this.#known.last);
        if (this.outgoing.length > 0) outbox.noteStored(this.id, state.heldMessages(this.#known), this.me);
        this.#held.noteChange();
        this.#listenAsMember();
        this.translations.update();
        this.#findPeople();
        this.#waitForExpiry();
        this.emit("change");
    }

    #waitForExpiry() {
        clearTimeout(this.#expiryTimer);
        const next = nextExpiry(this.state);
        if (next === undefined) return;
        this.#expiryTimer = setTimeout(() => this.#set(this.#known), Math.min(Math.max(next - serverNow(), 0) + 20, MAX_WAIT));
    }

    /** Profiles come with members; authors who have left are asked for, once, or again if the server could not be reached. */
    #findPeople() {
        for (const user of realtime.isOnline ? state.unknownPeople(this.#known) : []) {
            if (this.#requested.has(user)) continue;
            this.#requested.add(user);
            request("users.get", { user }).then((person) => this.#set(state.withPeople(this.#known, [person])),
                (error) => { if (error.isTransient) this.#requested.delete(user); });
        }
    }
}
