// The names of people as far as this device knows them, for rows of the list, which name nobody but the other one of two.
//
// They come from conversations that were opened, here or before, from the list, and from friends.

import { Emitter } from "../state/emitter.js";
import { storage } from "../store/storage.js";
import { friends } from "./friends.js";
import { inbox } from "./inbox.js";

/** Event: `change`. */
class Names extends Emitter {
    #names = new Map();
    /** The people of a conversation that were noted last. */
    #noted;

    constructor() {
        super();
        inbox.on("change", () => this.#add(Object.values(inbox.state.rows).map((row) => row.person)));
        friends.on("change", () => this.#add(Object.values(friends.state).map((one) => one.user)));
    }

    /** Reads those that are on disk. */
    async start() {
        const names = this.#names;
        const found = await storage.cache.people();
        // Somebody else may have signed in meanwhile.
        if (names === this.#names) for (const people of found) this.note(people);
    }

    reset() {
        this.#names = new Map();
        this.#noted = undefined;
    }

    /** A name, or undefined. */
    of(user) { return this.#names.get(user); }

    /** People of a conversation, by id. */
    note(people) {
        if (people === this.#noted) return;
        this.#noted = people;
        this.#add(Object.values(people));
    }

    #add(people) {
        let isNew = false;
        for (const one of people) {
            if (!one?.displayName || this.#names.get(one.id) === one.displayName) continue;
            this.#names.set(one.id, one.displayName);
            isNew = true;
        }
        if (isNew) this.emit("change");
    }
}

export const names = new Names();
