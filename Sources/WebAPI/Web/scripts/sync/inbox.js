// Keeps the user's list of conversations up to date, from the stream `inbox:`.

import { credentials } from "../connection/credentials.js";
import { randomID } from "../connection/identity.js";
import { realtime } from "../connection/realtime.js";
import { request } from "../connection/requests.js";
import { Emitter } from "../state/emitter.js";
import { applyArchivePage, applyInboxPage, applyInboxRows, applyInboxSnapshot, emptyInbox, notedRead } from "../state/inbox-rows.js";
import { inboxAt, steadySpan, withoutDisappeared } from "../state/inbox-times.js";
import { inboxWithPending } from "../state/pending.js";
import { rowWithResult } from "../state/results.js";
import { certainNow, clock, serverNow } from "../store/clock.js";
import { drafts } from "./drafts.js";
import { friends } from "./friends.js";
import { HeldInbox } from "./inbox-cache.js";
import { outbox } from "./outbox.js";

const DELIVERY_DELAY = 400;
/** What a timer can wait at most, in milliseconds. */
const MAX_WAIT = 2 ** 31 - 1;

/** Event: `change`. */
class Inbox extends Emitter {
    /** What the server has said. */
    #known = emptyInbox();
    /** The same with what waits in the queue, as it is for a while: `{known, entries, from, until, state}`. */
    #shown;
    /** The state at the last event. */
    #announced;
    #endTimer;
    #held = new HeldInbox(() => this.#known, () => this.#stream);
    /** Whether the user is in the middle of a text in a conversation, by its id: set by the page that shows it. */
    isTyping = () => false;
    /** The last number of each conversation that the server was told is here. */
    #delivered = new Map();
    #deliveryTimer;

    constructor() {
        super();
        realtime.on("snapshot", ({ stream, data, isNewEpoch }) => {
            if (stream !== this.#stream) return;
            const hadArchive = this.#known.archive;
            this.#held.noteSnapshot();
            if (isNewEpoch) this.#delivered.clear();
            this.#receive(applyInboxSnapshot(this.#known, data, { isNewEpoch }), data.conversations);
            // The stream was not resumed: what is archived may have changed too.
            if (hadArchive) request("inbox.list", { archived: true }).then((page) => this.#set(applyArchivePage(this.#known, page))).catch(() => {});
        });
        realtime.on("rows", ({ stream, rows }) => { if (stream === this.#stream) this.#receive(applyInboxRows(this.#known, rows), rows); });
        outbox.on("change", () => { if (outbox.all !== this.#shown?.entries) this.#emitChange(); });
        outbox.on("result", ({ entry, result }) => this.#applyResult(entry, result));
        clock.on("set", () => this.#noteTime());
        // The timer of a device that slept is late.
        document.addEventListener("visibilitychange", () => { if (!document.hidden) this.#noteTime(); });
    }

    get state() { return this.#current.state; }

    get #current() {
        const [entries, now, shown] = [outbox.all, serverNow(), this.#shown];
        if (shown?.known !== this.#known || shown.entries !== entries || now < shown.from || now >= shown.until) {
            const all = inboxWithPending(this.#known, entries);
            this.#shown = { known: this.#known, entries, ...steadySpan(all, now), state: inboxAt(all, now, this.#reader) };
        }
        return this.#shown;
    }

    get #reader() { return { me: credentials.user?.id, blocked: friends.blocked }; }

    /** Shows what is on this device, and listens from there. */
    async start() {
        const held = await this.#held.restore();
        if (held) this.#set({ ...emptyInbox(), isLoaded: true, rows: held.rows, nextCursor: held.nextCursor, ...(held.archive && { archive: held.archive }) });
        realtime.listen(this.#stream, held?.position);
    }

    /** Clears everything: somebody else may sign in. */
    reset() {
        clearTimeout(this.#deliveryTimer);
        this.#deliveryTimer = undefined;
        this.#delivered.clear();
        this.#held.reset();
        this.#set(emptyInbox());
    }

    async loadMore() {
        const cursor = this.#known.nextCursor;
        const page = await request("inbox.list", { cursor });
        if (this.#known.nextCursor === cursor) this.#set(applyInboxPage(this.#known, page));
    }

    /** The next page of the archive, or its first. */
    async loadArchive() {
        const cursor = this.#known.archive?.nextCursor;
        const page = await request("inbox.list", { archived: true, ...(cursor && { cursor }) });
        this.#set(applyArchivePage(this.#known, page));
    }

    row(id) { return this.state.rows[id]; }

    /** What was on the screen, up to a number, before the server has counted. */
    noteRead(id, number) {
        const next = notedRead(this.#known, id, number);
        if (next !== this.#known) this.#set(next);
    }

    /** Changes how the user keeps a conversation. */
    keep(conversation, change) { outbox.change(conversation, "members.updateMe", change, `keep ${Object.keys(change).sort().join()}`); }

    /** Removes for the user what they have seen of a conversation, and takes it off the list if it `isDeleted`. */
    clear({ id, lastMessage }, { isDeleted = false } = {}) {
        const upTo = lastMessage?.number ?? 0;
        if (isDeleted) outbox.change(id, "conversations.delete", { upTo, for: "me" }, "delete");
        else outbox.change(id, "conversations.clear", { upTo }, "clear");
    }

    /** Everything up to a number was read, without having been on the screen. */
    markRead(conversation, number) {
        this.noteRead(conversation, number);
        outbox.change(conversation, "conversations.mark", { read: number }, "mark");
    }

    get #stream() { return `inbox:${credentials.user?.id}`; }

    #receive(state, rows) {
        for (const { id, membership } of rows) if (membership?.draft) drafts.receive(id, membership.draft, { isTyping: this.isTyping(id) });
        this.#set(state);
        this.#deliveryTimer ??= setTimeout(() => this.#markDelivered(), DELIVERY_DELAY);
    }

    /** What a response says of a conversation, before its row comes. */
    #applyResult(entry, result) {
        const { conversation } = entry;
        const row = this.#known.rows[conversation];
        const next = row && rowWithResult(row, entry, result ?? undefined);
        if (next !== row) this.#set({ ...this.#known, rows: { ...this.#known.rows, [conversation]: next } });
    }

    /** Tells those who wrote that it has arrived: once for all that comes within a moment. */
    #markDelivered() {
        this.#deliveryTimer = undefined;
        for (const { id, lastMessage, membership, unread } of Object.values(this.#known.rows)) {
            // What blocked people write in groups is not counted, and has arrived all the same: they are not to tell.
            const isNews = unread > 0 || lastMessage && !lastMessage.notice && friends.isBlocked(lastMessage.author);
            if (!isNews || membership?.state !== "member" || lastMessage.number <= (this.#delivered.get(id) ?? 0)) continue;
            this.#delivered.set(id, lastMessage.number);
            request("conversations.mark", { conversation: id, delivered: lastMessage.number }).catch(() => this.#delivered.delete(id));
        }
    }

    #set(state) {
        this.#known = withoutDisappeared(state, certainNow(), this.#reader);
        this.#held.noteChange();
        this.#emitChange();
    }

    #emitChange() {
        this.#waitForEnd();
        this.#announced = this.state;
        this.emit("change");
    }

    /** Waits for the next end of a mute or of a last message. */
    #waitForEnd() {
        clearTimeout(this.#endTimer);
        const { until } = this.#current;
        if (until === Infinity) return;
        this.#endTimer = setTimeout(() => this.#noteTime(), Math.min(Math.max(until - serverNow(), 0) + 20, MAX_WAIT));
    }

    /** Something may have ended, or a clock that was wrong may have hidden what has not. */
    #noteTime() {
        if (withoutDisappeared(this.#known, certainNow(), this.#reader) !== this.#known) this.#set(this.#known);
        else if (this.state !== this.#announced) this.#emitChange();
        else this.#waitForEnd();
    }
}

export const inbox = new Inbox();

/** Starts a conversation: the one of two people, or a new group. Resolves to its id. */
export async function startConversation(people, name) {
    const kind = people.length === 1 ? "direct" : "group";
    const { conversation } = await request("conversations.create", { clientID: randomID(), kind,
        members: people.map((one) => one.id), ...(name && { name }) });
    return conversation.id;
}

/** The conversation of the user with themselves. Resolves to its id. */
export async function openNotes() {
    return (await request("conversations.create", { clientID: randomID(), kind: "self" })).conversation.id;
}
