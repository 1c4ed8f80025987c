// One conversation that is shown: what its streams say, what is sent, and how far the user has read.

import { credentials } from "./credentials.js";
import { Emitter } from "./emitter.js";
import { randomID } from "./identity.js";
import { Problem, errorMessage } from "./problems.js";
import { realtime } from "./realtime.js";
import { request } from "./requests.js";
import * as outgoing from "./state/outgoing.js";
import * as state from "./state/thread.js";
import { applyTyping, currentWriters, nextStop } from "./state/writers.js";

const PAGE = 50;
const TYPING_INTERVAL = 2_000;
const MARK_DELAY = 300;

/** Messages that were not sent when their conversation was closed, by its id. */
const unsent = new Map();

/** Forgets what was not sent: somebody else may sign in. */
export function resetThreads() { unsent.clear(); }

/** Events: `change`, `writers`, `arrived` (a message of somebody else), `refused` (it may not be read). */
export class Thread extends Emitter {
    state = state.emptyThread();
    writers = {};
    outgoing;
    #requested = new Set();
    #sounds = new Map();
    #unsubscribe;
    #isSending = false;
    #typingAt = -Infinity;
    #typingTimer;
    #markTimer;

    constructor(id) {
        super();
        this.id = id;
        this.outgoing = unsent.get(id) ?? [];
        this.#unsubscribe = [
            realtime.on("snapshot", (frame) => this.#receiveSnapshot(frame)),
            realtime.on("rows", (frame) => this.#receiveRows(frame)),
            realtime.on("event", ({ stream, data }) => { if (stream === `typing:${id}`) this.#receiveTyping(data); }),
            realtime.on("reset", ({ stream, reason }) => {
                if (stream === this.#stream && reason === "access") this.#read();
            }),
            realtime.on("refused", ({ stream, error }) => { if (stream === this.#stream) this.#read(error); }),
            realtime.on("state", (now) => { if (now === "online") this.#retryAll(); }),
        ];
        this.listen();
        this.#sendNext();
    }

    get me() { return credentials.user.id; }

    listen() { realtime.listen(this.#stream); }

    /** Whoever is only asked to join may not listen to these yet. */
    #listenAsMember() {
        if (state.stateOf(this.state, this.me) !== "member") return;
        realtime.listen(`marks:${this.id}`);
        realtime.listen(`typing:${this.id}`);
    }

    close() {
        this.#unsubscribe.forEach((one) => one());
        clearTimeout(this.#typingTimer);
        for (const sound of this.#sounds.values()) sound.close();
        this.#mark();
        for (const kind of ["conversation", "marks", "typing"]) realtime.unlisten(`${kind}:${this.id}`);
        if (this.outgoing.length > 0) unsent.set(this.id, this.outgoing); else unsent.delete(this.id);
    }

    nameOf(user) { return this.state.people[user]?.displayName ?? "Somebody"; }

    async loadEarlier() {
        const before = this.state.first;
        if (before === undefined || !this.state.hasEarlier) return;
        const page = await request("messages.list", { conversation: this.id, before, limit: PAGE });
        this.#set(state.applyEarlier(this.state, page, before));
    }

    // Writing

    send(text, replyTo) {
        this.#typingAt = -Infinity;
        this.#setOutgoing(outgoing.added(this.outgoing, { clientID: randomID(), text, replyTo }));
        this.#sendNext();
    }

    /** Sends what was recorded or uploaded. */
    sendVoice(file, replyTo) {
        this.#setOutgoing(outgoing.added(this.outgoing, { clientID: randomID(), file: file.id, replyTo }));
        this.#sendNext();
    }

    retry(clientID) {
        this.#setOutgoing(outgoing.retried(this.outgoing, clientID));
        this.#sendNext();
    }

    discard(clientID) { this.#setOutgoing(outgoing.removed(this.outgoing, clientID)); }

    async edit(message, text) {
        this.#merge(await request("messages.edit", { ...this.#name(message), text, textVersion: message.textVersion }));
    }

    async deleteForAll(message) { this.#merge(await request("messages.delete", { ...this.#name(message), for: "all" })); }

    async deleteForMe(message) {
        const { own } = await request("messages.delete", { ...this.#name(message), for: "me" });
        this.#set(state.applyOwn(this.state, [own]));
    }

    async react(message, emoji, isOn) {
        this.#merge(await request(isOn ? "messages.react" : "messages.removeReaction", { ...this.#name(message), emoji }));
    }

    async audioLink(message) { return (await request("messages.audio", this.#name(message))).audio; }

    /** The message changes when the transcript is there. */
    async transcribe(message) { await request("messages.transcribe", this.#name(message)); }

    /** Only the user's own devices learn of it. */
    noteListened(message) {
        request("messages.listen", this.#name(message)).then(({ own }) => this.#set(state.applyOwn(this.state, [own]))).catch(() => {});
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

    /** Everything that is held is on the screen: notes it once for all that comes within a moment. */
    markRead() {
        if (this.#hasUnread) this.#markTimer ??= setTimeout(() => this.#mark(), MARK_DELAY);
    }

    #mark() {
        if (this.#markTimer === undefined) return;
        clearTimeout(this.#markTimer);
        this.#markTimer = undefined;
        if (!this.#hasUnread) return;
        const read = state.newestNumber(this.state);
        this.state = { ...this.state, read };
        // What is read next is noted with it.
        request("conversations.mark", { conversation: this.id, read }).catch(() => {});
    }

    get #hasUnread() {
        return state.stateOf(this.state, this.me) === "member" && state.newestNumber(this.state) > this.state.read;
    }

    // Frames

    get #stream() { return `conversation:${this.id}`; }

    #receiveSnapshot({ stream, data, isNewEpoch }) {
        if (stream === this.#stream) this.#set(state.applySnapshot(this.state, data, { isNewEpoch }));
        if (stream === `marks:${this.id}`) this.#set(state.applyMarks(this.state, data.marks.map((marks) => ({ marks })), this.me));
    }

    #receiveRows({ stream, rows, gap }) {
        if (stream === `marks:${this.id}`) this.#set(state.applyMarks(this.state, rows, this.me));
        if (stream !== this.#stream) return;
        const newest = state.newestNumber(this.state);
        this.#set(state.applyRows(this.state, rows, gap));
        for (const { message } of rows) {
            if (!message || message.number <= newest || message.author === this.me) continue;
            this.#receiveTyping({ user: message.author, state: "stopped" });
            this.emit("arrived", message);
        }
    }

    #receiveTyping(event) {
        const now = performance.now();
        this.writers = currentWriters(applyTyping(this.writers, event, now), now);
        clearTimeout(this.#typingTimer);
        const stop = nextStop(this.writers);
        if (stop !== undefined) this.#typingTimer = setTimeout(() => this.#receiveTyping({ state: "stopped" }), stop - now + 1);
        this.emit("writers");
    }

    /** Who may not listen may have been a member: they still read what they could see then. */
    async #read(error) {
        try {
            const conversation = this.id;
            const [found, page] = [await request("conversations.get", { conversation }), await request("messages.list", { conversation })];
            this.#set(state.applySnapshot(this.state, { ...found, ...page, members: [] }));
        } catch { /* The reason to be refused says more. */ }
        this.emit("refused", error);
    }

    // State

    #merge({ message }) { if (message) this.#set(state.withMessage(this.state, message)); }

    #set(next) {
        this.state = next;
        realtime.hold(this.#stream, next.first, next.last);
        this.outgoing = outgoing.unstored(this.outgoing, Object.values(next.messages), this.me);
        this.#listenAsMember();
        this.#findPeople();
        this.emit("change");
    }

    #setOutgoing(list) {
        this.outgoing = list;
        this.emit("change");
    }

    /** Profiles come with members; authors who have left are asked for, once. */
    #findPeople() {
        for (const user of state.unknownPeople(this.state)) {
            if (this.#requested.has(user)) continue;
            this.#requested.add(user);
            request("users.get", { user }).then((person) => this.#set(state.withPeople(this.state, [person]))).catch(() => {});
        }
    }

    /** One at a time, so that they are stored in the order in which they were written. */
    async #sendNext() {
        const next = this.outgoing.find((one) => one.state === "sending");
        if (this.#isSending || !next) return;
        this.#isSending = true;
        const readUpTo = this.#markTimer === undefined ? undefined : state.newestNumber(this.state);
        try {
            this.#merge(await request("messages.send", { conversation: this.id, clientID: next.clientID,
                ...(next.file ? { kind: "voice", file: next.file } : { text: next.text }),
                ...(next.replyTo && { replyTo: next.replyTo }), ...(readUpTo && { readUpTo }) }));
            this.#setOutgoing(outgoing.removed(this.outgoing, next.clientID));
        } catch (error) {
            const isTransient = error instanceof Problem && error.isTransient;
            this.#setOutgoing(outgoing.failed(this.outgoing, next.clientID, errorMessage(error), isTransient));
        }
        this.#isSending = false;
        this.#sendNext();
    }

    #retryAll() {
        for (const one of this.outgoing) if (one.isTransient) this.retry(one.clientID);
    }

    #name(message) { return { conversation: this.id, number: message.number }; }
}
