// The user's friends, requests to become some, and whom they have blocked, from the user's own stream.

import { credentials } from "./credentials.js";
import { Emitter } from "./emitter.js";
import { realtime } from "./realtime.js";
import { request } from "./requests.js";
import { applyFriends, withFriend, withoutFriend } from "./state/friends.js";

/** Event: `change`. */
class Friends extends Emitter {
    /** By user. */
    state = {};
    blocked = new Set();

    constructor() {
        super();
        realtime.on("snapshot", ({ stream, data }) => {
            if (stream !== this.#stream) return;
            this.#set(applyFriends(this.state, data.friends ?? []));
            this.#readBlocks();
        });
        realtime.on("change", ({ stream, type, data }) => {
            if (stream !== this.#stream) return;
            if (type === "friend") this.#set(withFriend(this.state, data));
            if (type === "friend.removed") this.#set(withoutFriend(this.state, data.user));
            if (type === "block") this.#setBlocked(data.user, data.blocked);
        });
    }

    /** `friend`, `requested`, `received`, or undefined. */
    stateOf(user) { return this.state[user]?.state; }

    isBlocked(user) { return this.blocked.has(user); }

    async block(user) {
        await request("blocks.add", { user });
        this.#setBlocked(user, true);
    }

    async unblock(user) {
        await request("blocks.remove", { user });
        this.#setBlocked(user, false);
    }

    /** The result of a request about a friend. */
    apply(friend) { this.#set(withFriend(this.state, friend)); }

    remove(user) { this.#set(withoutFriend(this.state, user)); }

    /** Somebody else may sign in. */
    reset() {
        this.blocked = new Set();
        this.#set({});
    }

    get #stream() { return `user:${credentials.user?.id}`; }

    #readBlocks() {
        request("blocks.list").then(({ users }) => {
            this.blocked = new Set(users.map((one) => one.id));
            this.emit("change");
        }).catch(() => {});
    }

    #setBlocked(user, isBlocked) {
        if (this.blocked.has(user) === isBlocked) return;
        this.blocked = new Set(this.blocked);
        if (isBlocked) this.blocked.add(user); else this.blocked.delete(user);
        this.emit("change");
    }

    #set(state) {
        this.state = state;
        this.emit("change");
    }
}

export const friends = new Friends();
