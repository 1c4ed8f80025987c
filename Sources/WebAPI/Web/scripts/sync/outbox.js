// What the user has written and the server has not: sent whatever page is shown, and kept until it is.
//
// Everything is written to the disk before it is sent, and shown at once. Of the tabs of a browser one sends, in order for
// each lane. Whatever ends a tab in the meantime, the same request with the same client id is sent again: an entry leaves the
// disk when what its response says is there.

import { serverInfo } from "../connection/api.js";
import { credentials } from "../connection/credentials.js";
import { randomID } from "../connection/identity.js";
import { Problem, errorMessage } from "../connection/problems.js";
import { realtime } from "../connection/realtime.js";
import { t } from "../language/texts.js";
import { Emitter } from "../state/emitter.js";
import * as queue from "../state/outbox-entries.js";
import { channel } from "../store/channel.js";
import { Sender } from "../store/sending-lock.js";
import { storage } from "../store/storage.js";
import { OutboxLists } from "./outbox-lists.js";
import { execute } from "./outbox-requests.js";

/** In so many lanes at a time: the server answers at most 64 requests of a session at once. */
const MOST_SENDING = 8;
/** A disk that has not taken an entry for so long is held up, such as by a tab that the browser has frozen. */
const MAX_WRITE = 3_000;

/**
 * Events: `change` (a conversation's id, or undefined for all), `result` ({entry, result}: a request was executed, here or in
 * another tab), `refused` ({entry, text}: what was shown is not so).
 */
class Outbox extends Emitter {
    #entries = [];
    #lists = new OutboxLists();
    #sending = new Set();
    #paused = new Map();
    /** The client ids of what was removed here and may be on the disk still. */
    #gone = new Set();
    /** Those of what is written to the disk for the first time. */
    #unwritten = new Set();
    /** How often the disk is read at the moment. */
    #reading = 0;
    /** Those of what was written here and has not been sent by this tab. */
    #untried = new Set();
    #sender;
    #failures = 0;
    #timer;
    /** Somebody else may sign in: what was begun before is not theirs. */
    #turn = 0;

    constructor() {
        super();
        realtime.on("state", (now) => { if (now === "online") this.#resume(); });
        document.addEventListener("visibilitychange", () => { if (!document.hidden) this.#resume(); });
        channel.on("queue", (user) => { if (user === credentials.user?.id) this.#reload(); });
        channel.on("result", ({ user, entry, result }) => { if (user === credentials.user?.id) this.#finish(entry, result, false); });
    }

    /** Goes on with what was left. */
    start(entries) {
        this.#sender = new Sender(`switchboard.queue.${credentials.user.id}`, () => this.#claim(false));
        this.#set(queue.restored(entries));
        this.#resume();
    }

    /** Forgets what was not sent: somebody else may sign in. */
    reset() {
        this.#turn += 1;
        clearTimeout(this.#timer);
        this.#sender?.release();
        this.#paused.clear();
        this.#sending.clear();
        this.#gone.clear();
        this.#unwritten.clear();
        this.#untried.clear();
        this.#set([]);
    }

    /** All entries of a conversation, in their order: the same array while they are the same. */
    entries(conversation) { return this.#lists.all(conversation); }
    get all() { return this.#entries; }
    get waiting() { return queue.countWaiting(this.#entries); }
    /** How many messages the server does not have, as far as is known, with those that it has refused. */
    get unsentMessages() { return this.#entries.filter(queue.isMessage).length; }

    /** The messages of a conversation that are not stored. */
    list(conversation) { return this.#lists.messages(conversation); }

    hasFailed(conversation) { return this.list(conversation).some((one) => one.state === "failed"); }

    /** Sends a message, `{text, file, blob, forward, replyTo, thread, draft}`, after what was written before it. Its client id is returned. */
    send(conversation, { blob, ...message }) {
        const clientID = randomID();
        // Online it is sent at once: the store learns that by the same write.
        this.#add({ clientID, conversation, name: queue.MESSAGE, params: message, ...(blob && { blob }), ...(realtime.isOnline && { wasSent: true }) });
        return clientID;
    }

    /**
     * Gives a message that waits or has failed another text, in its place. Resolves to whether that was possible: the server
     * cannot have had the first one.
     */
    async revise(clientID, text) {
        const entry = this.#entries.find((one) => one.clientID === clientID);
        if (!entry || !queue.isRevisable(entry)) return false;
        const turn = this.#turn;
        const revised = (one) => queue.isRevisable(one) ? queue.revised(one, text, Date.now()) : {};
        this.#update(clientID, revised(entry), false);
        const kept = await storage.queue.change(entry, revised);
        if (turn !== this.#turn) return false;
        channel.post("queue", credentials.user.id);
        if (kept?.params.text !== text) {
            // Another tab has begun to send it, or removed it.
            if (kept) this.#update(clientID, kept, false); else this.#set(queue.removed(this.#entries, clientID), entry.conversation);
            return false;
        }
        this.#claim(true);
        return true;
    }

    /**
     * A change of something in a conversation, or about a person. Of those with the same key that wait the last is sent. Its
     * client id is returned.
     */
    change(conversation, name, params, key, person) {
        const clientID = randomID();
        this.#add({ clientID, conversation, name, params, key, ...(person && { person }) });
        return clientID;
    }

    retry(conversation, clientID) {
        this.#update(clientID, { state: "waiting", problem: undefined, createdAt: Date.now() });
        this.#claim(true);
    }

    discard(conversation, clientID) { this.#remove(clientID); }

    /** Messages that came by the stream are stored. */
    noteStored(conversation, messages, me) {
        const left = queue.unstored(this.#entries, conversation, messages, me);
        if (left === this.#entries) return;
        for (const one of this.#entries) {
            if (left.includes(one)) continue;
            const message = messages.find(({ author, clientID }) => author === me && clientID === one.clientID);
            this.#erase(one, { result: { message } });
        }
        this.#set(left, conversation);
    }

    // The list

    async #add(values) {
        const turn = this.#turn;
        const { entries, entry, replaced } = queue.added(this.#entries, { ...values, createdAt: Date.now() });
        this.#set(entries, entry.conversation);
        this.#untried.add(entry.clientID);
        this.#unwritten.add(entry.clientID);
        const timer = setTimeout(() => this.#sendUnwritten(entry, turn), MAX_WRITE);
        const order = await storage.queue.add(entry, replaced.flatMap((one) => one.order ?? []));
        clearTimeout(timer);
        if (turn !== this.#turn) return;
        this.#unwritten.delete(entry.clientID);
        // Another one may have taken its turn meanwhile.
        if (!this.#entries.some((one) => one.clientID === entry.clientID)) return this.#erase({ ...entry, order });
        this.#update(entry.clientID, { order }, false);
        channel.post("queue", credentials.user.id);
        this.#claim(true);
    }

    /** It is sent from memory; what is written of it later is removed then. */
    #sendUnwritten({ clientID }, turn) {
        if (turn !== this.#turn) return;
        this.#update(clientID, { isOverdue: true }, false);
        this.#claim(true);
    }

    /** Changes an entry here, and where it is kept if it is to be the same after a reload and in other tabs. */
    async #update(clientID, values, isKept = true) {
        const entry = this.#entries.find((one) => one.clientID === clientID);
        if (!entry) return;
        this.#set(queue.changed(this.#entries, clientID, values), entry.conversation);
        if (!isKept || entry.order === undefined) return;
        await storage.queue.update(entry.order, values);
        channel.post("queue", credentials.user?.id);
    }

    #remove(clientID, response) {
        const entry = this.#entries.find((one) => one.clientID === clientID);
        if (!entry) return;
        this.#erase(entry, response);
        this.#set(queue.removed(this.#entries, clientID), entry.conversation);
    }

    /** With a `response`, `{result}`, what it says is written first: the connection may break before a stream says so. */
    async #erase(entry, response) {
        const turn = this.#turn;
        this.#gone.add(entry.clientID);
        this.#untried.delete(entry.clientID);
        if (response && entry.conversation) await storage.cache.saveResult(entry, response.result ?? undefined);
        if (entry.order === undefined || turn !== this.#turn) return;
        await storage.queue.remove(entry.order);
        if (turn !== this.#turn) return;
        // What is read at the moment may have it.
        if (this.#reading === 0) this.#gone.delete(entry.clientID);
        channel.post("queue", credentials.user?.id);
    }

    /** Another tab has changed it. */
    async #reload() {
        const turn = this.#turn;
        const gone = [...this.#gone];
        this.#reading += 1;
        const found = await storage.queue.load();
        this.#reading -= 1;
        if (!found || turn !== this.#turn) return;
        this.#set(queue.reloaded(this.#entries, found.entries.filter((one) => !this.#gone.has(one.clientID))));
        const there = new Set(found.entries.map((one) => one.clientID));
        for (const id of gone) if (!there.has(id) && !this.#unwritten.has(id)) this.#gone.delete(id);
    }

    #set(entries, conversation) {
        this.#entries = entries;
        this.#lists.set(entries, conversation);
        this.emit("change", conversation);
    }

    // Sending

    /** What waits is sent now, by this tab if somebody looks at it, or no other one does. */
    #resume() {
        this.#failures = 0;
        this.#paused.clear();
        if (this.#entries.length > 0) this.#claim(!document.hidden);
    }

    async #claim(steal) {
        clearTimeout(this.#timer);
        const turn = this.#turn;
        if (!credentials.isSignedIn || !await this.#sender?.claim({ steal }) || turn !== this.#turn) return;
        for (const lane of queue.waitingLanes(this.#entries)) {
            if (this.#sending.size < MOST_SENDING) this.#sendAll(lane);
        }
    }

    /** One at a time, so that they are executed in the order in which they were written. */
    async #sendAll(lane) {
        if (this.#sending.has(lane)) return;
        this.#sending.add(lane);
        const turn = this.#turn;
        let isDone = false;
        for (let entry = this.#next(lane); entry; entry = this.#next(lane)) {
            const goesOn = await this.#sendOne(entry, turn);
            if (turn !== this.#turn) return;
            // Another tab sends from now on.
            isDone = goesOn && await this.#sender.claim({ steal: false });
            if (turn !== this.#turn) return;
            if (!isDone) break;
        }
        this.#sending.delete(lane);
        if (isDone && queue.waitingLanes(this.#entries).length >= MOST_SENDING) this.#claim(false);
    }

    #next(lane) {
        const entry = queue.nextOf(this.#entries, lane);
        return !queue.isSendable(entry) || (this.#paused.get(lane) ?? 0) > performance.now() ? undefined : entry;
    }

    /** Resolves to whether the next one may follow. */
    async #sendOne(next, turn) {
        let entry = next;
        if (queue.isTooOld(entry, Date.now())) return this.#refuse(entry, t("connection.tooOld"));
        const isFirst = !entry.wasSent || this.#untried.has(entry.clientID);
        try {
            entry = await this.#begin(entry);
            if (turn !== this.#turn) return false;
            // It was removed meanwhile.
            if (!entry) return true;
            const result = await execute(entry, this.#failures);
            if (turn !== this.#turn) return false;
            this.#failures = 0;
            this.#finish(entry, result);
            channel.post("result", { user: credentials.user.id, entry: { ...entry, blob: undefined }, result });
            return true;
        } catch (error) {
            if (turn !== this.#turn) return false;
            return this.#handleError(entry, error, isFirst);
        }
    }

    /** Notes that the server may have it from now on, where that decides something. Resolves to it as it is now, or undefined. */
    async #begin({ clientID, wasSent }) {
        const find = () => this.#entries.find((one) => one.clientID === clientID);
        // A request that fails may have arrived. This one may arrive: what waits can be changed while there is no server.
        if (!wasSent && !realtime.isOnline && queue.isMessage(find())) await serverInfo();
        const entry = find();
        if (!entry) return undefined;
        this.#update(clientID, { state: "sending" }, false);
        this.#untried.delete(clientID);
        if (wasSent || !queue.isChangeable(entry) || entry.order === undefined) return entry;
        const kept = await storage.queue.change(entry, () => ({ wasSent: true }));
        if (kept) this.#update(clientID, { params: kept.params, wasSent: true }, false);
        else this.#set(queue.removed(this.#entries, clientID), entry.conversation);
        return kept && { ...entry, params: kept.params, wasSent: true };
    }

    #finish(entry, result, isOwn = true) {
        this.#set(queue.rebased(this.#entries, entry, result), entry.conversation);
        // What is confirmed is there before what was shown for it is gone.
        this.emit("result", { entry, result });
        if (isOwn) return this.#remove(entry.clientID, { result });
        // It is on disk until the other tab has written what the response says.
        this.#gone.add(entry.clientID);
        this.#set(queue.removed(this.#entries, entry.clientID), entry.conversation);
    }

    #handleError(entry, error, isFirst) {
        const outcome = error instanceof Problem ? queue.afterError(error) : "refuse";
        // What the server has refused at once it does not have.
        if (outcome === "refuse") return this.#refuse(entry, errorMessage(error), isFirst && { wasSent: false });
        this.#update(entry.clientID, { state: "waiting" }, false);
        if (outcome === "stop") return false;
        const pause = Math.max(error.retryAfter ?? 0, queue.pauseAfter(this.#failures));
        if (outcome === "pause") {
            this.#paused.set(queue.laneOf(entry), performance.now() + pause);
            setTimeout(() => this.#claim(false), pause + 1);
            return false;
        }
        this.#failures += 1;
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#claim(false), pause);
        return false;
    }

    /** A message stays, with why; of anything else only that is said. */
    #refuse(entry, text, more) {
        if (queue.isMessage(entry)) this.#update(entry.clientID, { state: "failed", problem: text, ...more });
        else {
            this.#remove(entry.clientID);
            if (!queue.isMark(entry)) this.emit("refused", { entry, text });
        }
        return true;
    }
}

export const outbox = new Outbox();
