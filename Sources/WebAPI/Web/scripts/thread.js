// One conversation that is shown: what its streams say, what is done with its messages, and how far the user has read.

import { credentials } from "./credentials.js";
import { Emitter } from "./emitter.js";
import { inbox } from "./inbox.js";
import { t } from "./language/texts.js";
import { outbox } from "./outbox.js";
import { Problem } from "./problems.js";
import { realtime } from "./realtime.js";
import { request } from "./requests.js";
import { expired, nextExpiry } from "./state/disappearing.js";
import * as past from "./state/past.js";
import * as state from "./state/thread.js";
import { watch } from "./watches.js";
import { writers } from "./writers.js";

const PAGE = 50;
const TYPING_INTERVAL = 2_000;
const MARK_DELAY = 300;
/** The longest time that a timer takes. */
const LONGEST_WAIT = 2 ** 31 - 1;

/** Events: `change`, `writers`, `arrived` (a message of somebody else), `refused` (it may not be read). */
export class Thread extends Emitter {
    state = state.emptyThread();
    #requested = new Set();
    #sounds = new Map();
    #unsubscribe;
    #watches = [];
    #loading;
    #typingAt = -Infinity;
    #readUpTo = 0;
    #markTimer;
    #expiryTimer;
    #wasOnline = realtime.isOnline;

    constructor(id) {
        super();
        this.id = id;
        this.#unsubscribe = [
            realtime.on("snapshot", (frame) => this.#receiveSnapshot(frame)),
            realtime.on("rows", (frame) => this.#receiveRows(frame)),
            realtime.on("reset", ({ stream, reason }) => {
                if (stream === this.#stream && reason === "access") this.#read();
            }),
            realtime.on("refused", ({ stream, error }) => { if (stream === this.#stream) this.#read(error); }),
            realtime.on("state", (now) => this.#handleConnection(now)),
            outbox.on("change", (conversation) => { if (conversation === id) this.emit("change"); }),
            outbox.on("stored", ({ conversation, message }) => { if (conversation === id) this.#merge({ message }); }),
            inbox.on("change", () => this.#handleRow()),
            writers.on("change", (conversation) => { if (conversation === id) this.emit("writers"); }),
        ];
        this.listen();
    }

    get me() { return credentials.user.id; }

    /** The last number that was on the screen here, or was read elsewhere. */
    get seen() { return Math.max(this.state.read, this.#readUpTo); }

    get outgoing() { return outbox.list(this.id); }
    get writers() { return writers.of(this.id); }

    listen() { realtime.listen(this.#stream); }

    /** Whoever is only asked to join may not listen to these yet. */
    #listenAsMember() {
        if (this.#watches.length > 0 || state.stateOf(this.state, this.me) !== "member") return;
        realtime.listen(`marks:${this.id}`);
        this.#watches.push(watch(`typing:${this.id}`));
    }

    close() {
        this.#unsubscribe.forEach((one) => one());
        this.#watches.forEach((one) => one());
        clearTimeout(this.#expiryTimer);
        for (const sound of this.#sounds.values()) sound.close();
        this.#mark();
        for (const kind of ["conversation", "marks"]) realtime.unlisten(`${kind}:${this.id}`);
    }

    nameOf(user) { return this.state.people[user]?.displayName ?? t("common.somebody"); }

    // Reading

    /** The messages before those that are shown. Whoever asks meanwhile waits for the same. */
    loadEarlier() {
        const { first, hasEarlier } = this.state.past ?? this.state;
        if (first === undefined || !hasEarlier) return Promise.resolve();
        return this.#load(async () => {
            const page = await this.#page({ before: first });
            this.#set(state.applyEarlier(this.state, page, first));
        });
    }

    /** The messages after the earlier range that is shown. */
    loadLater() {
        const after = this.state.past?.last;
        if (after === undefined) return Promise.resolve();
        return this.#load(async () => this.#set(past.applyLater(this.state, await this.#page({ after }), after)));
    }

    /** Shows the range around a number. Resolves to whether there is a message with it that may be seen. */
    async show(number) {
        if (!past.isShown(this.state, number)) {
            const page = await this.#page({ around: number });
            this.#set(past.applyAround(this.state, page));
        }
        return Boolean(state.messageOf(this.state, number)) && !this.state.hidden[number];
    }

    showNewest() { this.#set(past.leftPast(this.state)); }

    /** Forgets what is far from the messages in the page, `{first, last}`, where too many are held. */
    bound(window) {
        const next = past.bounded(this.state, window);
        if (next !== this.state) this.#set(next);
    }

    /** One message, perhaps of a range that is not held: for a pin or a quote. */
    async find(number) {
        return state.messageOf(this.state, number) ?? (await request("messages.get", { conversation: this.id, number })).message;
    }

    replies(root, before) { return this.#page({ thread: root, ...(before && { before }) }); }

    #page(params) { return request("messages.list", { conversation: this.id, limit: PAGE, ...params }); }

    async #load(work) {
        this.#loading ??= work().finally(() => { this.#loading = undefined; });
        return this.#loading;
    }

    // Writing

    /** Sends a message, `{text, file, replyTo, thread, draft}`. */
    send(message) {
        this.#typingAt = -Infinity;
        return outbox.send(this.id, message);
    }

    retry(clientID) { outbox.retry(this.id, clientID); }
    discard(clientID) { outbox.discard(this.id, clientID); }

    async schedule(message, sendAt, clientID) {
        return request("messages.send", { conversation: this.id, clientID, ...message, sendAt: sendAt.toISOString() });
    }

    async edit(message, text) {
        this.#merge(await request("messages.edit", { ...this.#name(message), text, textVersion: message.textVersion }));
    }

    async deleteForAll(message) { this.#merge(await request("messages.delete", { ...this.#name(message), for: "all" })); }

    async deleteForMe(message) { this.#note(await request("messages.delete", { ...this.#name(message), for: "me" })); }

    async react(message, emoji, isOn) {
        this.#merge(await request(isOn ? "messages.react" : "messages.removeReaction", { ...this.#name(message), emoji }));
    }

    async star(message, isOn) { this.#note(await request(isOn ? "messages.star" : "messages.unstar", this.#name(message))); }

    async pin(number, isOn) { this.apply(await request(isOn ? "messages.pin" : "messages.unpin", this.#name({ number }))); }

    /** Asks about a message: `edits`, `reactions` or `receipts`. */
    ask(what, message) { return request(`messages.${what}`, this.#name(message)); }

    async audioLink(message) { return (await this.ask("audio", message)).audio; }

    /** The message changes when the transcript is there. */
    async transcribe(message) { await this.ask("transcribe", message); }

    /** Only the user's own devices learn of it. */
    noteListened(message) { this.ask("listen", message).then((result) => this.#note(result)).catch(() => {}); }

    /** A request about the conversation, whose result may have a newer copy of it. */
    async change(name, params = {}) {
        const result = await request(name, { conversation: this.id, ...params });
        this.apply(result);
        return result;
    }

    /** The sound of a voice message, which goes on playing when the message is drawn anew. */
    sound(message, make) {
        const known = this.#sounds.get(message.number);
        if (known?.file === message.voice.file) return known;
        known?.close();
        const made = make();
        this.#sounds.set(message.number, made);
        return made;
    }

    /** Tells the others that the user writes or records, or has stopped. */
    noteTyping(isWriting, what = "typing") {
        const now = performance.now();
        if (isWriting ? now - this.#typingAt < TYPING_INTERVAL : this.#typingAt === -Infinity) return;
        this.#typingAt = isWriting ? now : -Infinity;
        request("typing.note", { conversation: this.id, state: isWriting ? what : "stopped" }, { timeout: 0 }).catch(() => {});
    }

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
        if (read <= this.state.read) return;
        this.state = { ...this.state, read };
        request("conversations.mark", { conversation: this.id, read }).catch(() => {});
    }

    // Frames

    get #stream() { return `conversation:${this.id}`; }

    #receiveSnapshot({ stream, data, isNewEpoch }) {
        if (stream === this.#stream) this.#set(state.applySnapshot(this.state, data, { isNewEpoch }));
        if (stream !== `marks:${this.id}`) return;
        const rows = [...data.marks.map((marks) => ({ marks })), { scheduled: data.scheduled }];
        this.#set(state.applyMarks(this.state, rows, this.me));
    }

    #receiveRows({ stream, rows, gap }) {
        if (stream === `marks:${this.id}`) this.#set(state.applyMarks(this.state, rows, this.me));
        if (stream !== this.#stream) return;
        const newest = state.newestNumber(this.state);
        this.#set(state.applyRows(this.state, rows, gap));
        for (const { message } of rows) {
            if (!message || message.number <= newest || message.author === this.me) continue;
            writers.note(this.id, { user: message.author, state: "stopped" });
            this.emit("arrived", message);
        }
    }

    /** The row of the list has the latest copy of the membership. */
    #handleRow() {
        const spans = inbox.row(this.id)?.membership?.spans;
        const next = spans?.length > 0 ? state.cleared(this.state, spans) : this.state;
        if (next !== this.state) this.#set(next);
    }

    /** An earlier range is not resumed with the stream: it is read again. */
    #handleConnection(now) {
        if (now !== "online") return;
        const { past: range } = this.state;
        if (this.#wasOnline && range) {
            const middle = Math.floor((range.first + range.last) / 2);
            this.#page({ around: middle }).then((page) => this.#set(past.applyAround(this.state, page))).catch(() => {});
        }
        this.#wasOnline = true;
    }

    /** Who may not listen may have been a member: they still read what they could see then. */
    async #read(error) {
        try {
            const conversation = this.id;
            const [found, page] = [await request("conversations.get", { conversation }), await request("messages.list", { conversation })];
            this.#set(state.applySnapshot(this.state, { ...found, ...page, members: [] }));
        } catch { /* The reason to be refused says more. */ }
        this.emit("refused", error instanceof Problem ? error : undefined);
    }

    // State

    /** The result of a request: a newer copy of the conversation. */
    apply({ conversation }) { if (conversation) this.#set(state.withConversation(this.state, conversation)); }

    #merge({ message }) { if (message) this.#set(state.withMessage(this.state, message)); }

    #note({ own }) { this.#set(state.applyOwn(this.state, [own])); }

    #set(next) {
        this.state = expired(next, Date.now());
        realtime.hold(this.#stream, next.first, next.last);
        if (this.outgoing.length > 0) outbox.noteStored(this.id, state.heldMessages(next), this.me);
        this.#listenAsMember();
        this.#findPeople();
        this.#waitForExpiry();
        this.emit("change");
    }

    #waitForExpiry() {
        clearTimeout(this.#expiryTimer);
        const next = nextExpiry(this.state);
        if (next === undefined) return;
        this.#expiryTimer = setTimeout(() => this.#set(this.state), Math.min(Math.max(next - Date.now(), 0) + 20, LONGEST_WAIT));
    }

    /** Profiles come with members; authors who have left are asked for, once. */
    #findPeople() {
        for (const user of state.unknownPeople(this.state)) {
            if (this.#requested.has(user)) continue;
            this.#requested.add(user);
            request("users.get", { user }).then((person) => this.#set(state.withPeople(this.state, [person]))).catch(() => {});
        }
    }

    #name(message) { return { conversation: this.id, number: message.number }; }
}
