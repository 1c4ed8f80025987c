// Keeps the user's list of conversations up to date, from the stream `inbox:`.

import { credentials } from "./credentials.js";
import { Emitter } from "./emitter.js";
import { randomID } from "./identity.js";
import { realtime } from "./realtime.js";
import { request } from "./requests.js";
import { applyInboxPage, applyInboxRows, applyInboxSnapshot, emptyInbox } from "./state/inbox.js";

/** Event: `change`. */
class Inbox extends Emitter {
    state = emptyInbox();

    constructor() {
        super();
        realtime.on("snapshot", ({ stream, data, isNewEpoch }) => {
            if (stream === this.#stream) this.#set(applyInboxSnapshot(this.state, data, { isNewEpoch }));
        });
        realtime.on("rows", ({ stream, rows }) => { if (stream === this.#stream) this.#set(applyInboxRows(this.state, rows)); });
    }

    start() { realtime.listen(this.#stream); }

    /** Clears everything: somebody else may sign in. */
    reset() { this.#set(emptyInbox()); }

    async loadMore() {
        const cursor = this.state.nextCursor;
        const page = await request("inbox.list", { cursor });
        if (this.state.nextCursor === cursor) this.#set(applyInboxPage(this.state, page));
    }

    row(id) { return this.state.rows[id]; }

    get #stream() { return `inbox:${credentials.user?.id}`; }

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
