// A search over the messages that are on this device, for when the server cannot be asked.

import { credentials } from "../connection/credentials.js";
import { messagesWith } from "../state/search-matches.js";
import { serverNow } from "../store/clock.js";
import { storage } from "../store/storage.js";

const LIMIT = 50;

/**
 * `{results: [{message, matches}], people}`, the newest first, as the server says it. `filters` are the parameters of its
 * search: `conversation`, `author`, `from`, `to`, `kind`, `link`, `mentions`, `starred`.
 */
export async function searchHeld(query, filters = {}) {
    const results = [];
    const people = {};
    await storage.cache.visit((messages, own, known) => {
        results.push(...messagesWith(messages, own, query, serverNow(), { ...filters, me: credentials.user.id }));
        Object.assign(people, known);
    }, filters.conversation);
    results.sort((one, other) => one.message.sentAt < other.message.sentAt ? 1 : -1);
    return { results: results.slice(0, LIMIT), people: Object.values(people) };
}
