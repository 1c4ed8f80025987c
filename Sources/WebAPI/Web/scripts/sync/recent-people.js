// The people whom the user knows: who called them last or was called by them, whom they chat with, and their friends.

import { credentials } from "../connection/credentials.js";
import { request } from "../connection/requests.js";
import { othersOf } from "../language/format.js";
import { friendsIn } from "../state/friend-lists.js";
import { listedRows } from "../state/inbox-rows.js";
import { friends } from "./friends.js";
import { inbox } from "./inbox.js";

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

/** Whom the user may want to choose: those they chat with, friends, and those of the last calls, each once. */
export async function knownPeople() {
    const people = new Map();
    const add = (one) => { if (!one.deleted && !people.has(one.id)) people.set(one.id, one); };
    listedRows(inbox.state).filter((row) => row.person && row.membership?.state === "member").forEach((row) => add(row.person));
    friendsIn(friends.state, "friend").forEach((one) => add(one.user));
    // Without a server they are those that are on this device.
    (await recentPeople().catch(() => [])).forEach(add);
    return [...people.values()].filter((one) => !friends.isBlocked(one.id)).slice(0, 50);
}
