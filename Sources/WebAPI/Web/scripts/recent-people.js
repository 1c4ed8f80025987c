// The people whom the user called last, or was called by.

import { credentials } from "./credentials.js";
import { othersOf } from "./format.js";
import { request } from "./requests.js";

/** The people of the last calls, each once. */
export async function recentPeople() {
    const { calls: list } = await request("calls.list", { limit: 50 });
    const people = new Map();
    for (const call of list) {
        for (const other of othersOf(call, credentials.user.id)) {
            if (!other.deleted && !people.has(other.user)) people.set(other.user,
                { id: other.user, displayName: other.displayName, photoURL: other.photoURL });
        }
    }
    return [...people.values()].slice(0, 20);
}
