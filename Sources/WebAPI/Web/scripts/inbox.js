// Keeps the user's list of conversations up to date, from the stream `inbox:`.

import { credentials } from "./credentials.js";
import { drafts } from "./drafts.js";
import { Emitter } from "./emitter.js";
import { randomID } from "./identity.js";
import { realtime } from "./realtime.js";
import { request } from "./requests.js";
import { applyArchivePage, applyInboxPage, applyInboxRows, applyInboxSnapshot, emptyInbox, notedRead } from "./state/inbox.js";

const DELIVERY_DELAY = 400;

/** Event: `change`. */
class Inbox extends Emitter {
    state = emptyInbox();
    /** Whether the user is in the middle of a text in a conversation, by its id: set by the page that shows it. */
    isTyping = () => false;
    /** The last number of each conversation that the server was told is here. */
    #delivered = new Map();
    #deliveryTimer;

    constructor() {
        super();
        realtime.on("snapshot", ({ stream, data, isNewEpoch }) => {
            if (stream !== this.#stream) return;
            const hadArchive = this.state.archive;
            this.#receive(applyInboxSnapshot(this.state, data, { isNewEpoch }), data.conversations);
            // The stream was not resumed: what is archived may have changed too.
            if (hadArchive) request("inbox.list", { archived: true }).then((page) => this.#set(applyArchivePage(this.state, page))).catch(() => {});
        });
        realtime.on("rows", ({ stream, rows }) => { if (stream === this.#stream) this.#receive(applyInboxRows(this.state, rows), rows); });
    }

    start() { realtime.listen(this.#stream); }

    /** Clears everything: somebody else may sign in. */
    reset() {
        clearTimeout(this.#deliveryTimer);
        this.#delivered.clear();
        this.#set(emptyInbox());
    }

    async loadMore() {
        const cursor = this.state.nextCursor;
        const page = await request("inbox.list", { cursor });
        if (this.state.nextCursor === cursor) this.#set(applyInboxPage(this.state, page));
    }

    /** The next page of the archive, or its first. */
    async loadArchive() {
        const cursor = this.state.archive?.nextCursor;
        this.#set(applyArchivePage(this.state, await request("inbox.list", { archived: true, ...(cursor && { cursor }) })));
    }

    row(id) { return this.state.rows[id]; }

    /** What was on the screen, up to a number, before the server has counted. */
    noteRead(id, number) {
        const next = notedRead(this.state, id, number);
        if (next !== this.state) this.#set(next);
    }

    /** Changes how the user keeps a conversation. */
    async keep(conversation, change) { await request("members.updateMe", { conversation, ...change }); }

    get #stream() { return `inbox:${credentials.user?.id}`; }

    #receive(state, rows) {
        for (const { id, membership } of rows) if (membership?.draft) drafts.receive(id, membership.draft, { isTyping: this.isTyping(id) });
        this.#set(state);
        this.#deliveryTimer ??= setTimeout(() => this.#markDelivered(), DELIVERY_DELAY);
    }

    /** Tells those who wrote that it has arrived: once for all that comes within a moment. */
    #markDelivered() {
        this.#deliveryTimer = undefined;
        for (const { id, lastMessage, membership, unread } of Object.values(this.state.rows)) {
            const isNews = unread > 0 && membership?.state === "member" && lastMessage.number > (this.#delivered.get(id) ?? 0);
            if (!isNews) continue;
            this.#delivered.set(id, lastMessage.number);
            request("conversations.mark", { conversation: id, delivered: lastMessage.number }).catch(() => this.#delivered.delete(id));
        }
    }

    #set(state) {
        this.state = state;
        this.emit("change");
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
