// The user's friends, requests to become some, and whom they have blocked, from the user's own stream, and until it has
// come as they were on this device. What the user does waits in the queue, and is shown at once.

import { credentials } from "../connection/credentials.js";
import { realtime } from "../connection/realtime.js";
import { request } from "../connection/requests.js";
import { Emitter } from "../state/emitter.js";
import { applyFriends, withFriend, withoutFriend } from "../state/friend-lists.js";
import { friendsWithPending } from "../state/pending.js";
import { storage } from "../store/storage.js";
import { outbox } from "./outbox.js";

const SAVE_DELAY = 300;
const nobody = () => ({ state: {}, blocked: new Set() });

/** Event: `change`. */
class Friends extends Emitter {
    /** What the server has said: `{state, blocked}`. */
    #known = nobody();
    /** The same with what waits in the queue: `{known, entries, all}`. */
    #shown;
    /** Whether the server has said who they are. */
    #isLoaded = false;
    #timer;

    constructor() {
        super();
        realtime.on("snapshot", ({ stream, data }) => {
            if (stream !== this.#stream) return;
            this.#isLoaded = true;
            this.#set({ state: applyFriends(this.#known.state, data.friends ?? []) });
            this.#readBlocks();
        });
        realtime.on("change", ({ stream, type, data }) => {
            if (stream !== this.#stream) return;
            if (type === "friend") this.#set({ state: withFriend(this.#known.state, data) });
            if (type === "friend.removed") this.#set({ state: withoutFriend(this.#known.state, data.user) });
            if (type === "block") this.#setBlocked(data.user, data.blocked);
        });
        outbox.on("change", () => { if (outbox.entries() !== this.#shown?.entries) this.emit("change"); });
        outbox.on("result", ({ entry, result }) => this.#applyResult(entry, result));
    }

    /** Shows those that are on this device. */
    async start() {
        const before = this.#known;
        const kept = await storage.cache.value("friends");
        if (!kept || this.#isLoaded || this.#known !== before) return;
        this.#known = { state: kept.state, blocked: new Set(kept.blocked) };
        this.emit("change");
    }

    /** By user. */
    get state() { return this.#all.state; }
    get blocked() { return this.#all.blocked; }

    /** `friend`, `requested`, `received`, or undefined. */
    stateOf(user) { return this.state[user]?.state; }

    isBlocked(user) { return this.blocked.has(user); }

    block(user) { outbox.change(undefined, "blocks.add", { user }, `block ${user}`); }
    unblock(user) { outbox.change(undefined, "blocks.remove", { user }, `block ${user}`); }

    /** Asks somebody, `{id, displayName}`, to become a friend. */
    ask(person, note) { outbox.change(undefined, "friends.request", { user: person.id, ...(note && { note }) }, undefined, person); }
    accept(user) { outbox.change(undefined, "friends.accept", { user }); }
    decline(user) { outbox.change(undefined, "friends.decline", { user }); }
    /** Ends a friendship, or takes one's own request back. */
    remove(user) { outbox.change(undefined, "friends.remove", { user }); }

    /** Somebody else may sign in. */
    reset() {
        clearTimeout(this.#timer);
        this.#timer = undefined;
        this.#isLoaded = false;
        this.#known = nobody();
        this.emit("change");
    }

    get #all() {
        const entries = outbox.entries();
        if (this.#shown?.known !== this.#known || this.#shown.entries !== entries) {
            this.#shown = { known: this.#known, entries, all: friendsWithPending(this.#known, entries) };
        }
        return this.#shown.all;
    }

    /** Before the stream says so. */
    #applyResult({ name, params }, result) {
        if (result?.friend) this.#set({ state: withFriend(this.#known.state, result.friend) });
        if (name === "friends.decline" || name === "friends.remove") this.#set({ state: withoutFriend(this.#known.state, params.user) });
        if (name === "blocks.add" || name === "blocks.remove") this.#setBlocked(params.user, name === "blocks.add");
    }

    get #stream() { return `user:${credentials.user?.id}`; }

    #readBlocks() {
        request("blocks.list").then(({ users }) => this.#set({ blocked: new Set(users.map((one) => one.id)) })).catch(() => {});
    }

    #setBlocked(user, isBlocked) {
        if (this.#known.blocked.has(user) === isBlocked) return;
        const blocked = new Set(this.#known.blocked);
        if (isBlocked) blocked.add(user); else blocked.delete(user);
        this.#set({ blocked });
    }

    #set(values) {
        this.#known = { ...this.#known, ...values };
        this.#timer ??= setTimeout(() => this.#save(), SAVE_DELAY);
        this.emit("change");
    }

    #save() {
        this.#timer = undefined;
        const { state, blocked } = this.#known;
        if (this.#isLoaded) storage.cache.saveValue("friends", { state, blocked: [...blocked] });
    }
}

export const friends = new Friends();
