// Which users' databases stay on this device. That of who is signed in here does; signing out erases it. When a sign-in
// has expired it waits for the same user for 30 days, and nobody else is shown it: its name has the user's id.

import { CACHE_PREFIX, CACHE_SCHEMA, CACHE_STORES } from "./cache-schema.js";
import { eraseDatabase } from "./database.js";
import { QUEUE_STORES, QUEUE_VERSION } from "./outbox-store.js";

const KEY = "switchboard.expired";
const KEPT = 30 * 86_400_000;
const QUEUE_PREFIX = "queue.";

export const queueName = (user) => `${QUEUE_PREFIX}${user}`;
export const cacheName = (user) => `${CACHE_PREFIX}${CACHE_SCHEMA}.${user}`;

/** The sign-in of a user has expired: what they have written waits for them. */
export const noteExpiry = (user) => save({ ...read(), [user]: Date.now() });

export function forgetExpiry(user) {
    const { [user]: known, ...others } = read();
    if (known !== undefined) save(others);
}

export const hasExpired = (user) => user in read();

/** Erases what was kept for a user. */
export async function eraseUser(user) {
    forgetExpiry(user);
    await Promise.allSettled([eraseDatabase(queueName(user), QUEUE_VERSION, QUEUE_STORES), eraseDatabase(cacheName(user), 1, CACHE_STORES)]);
}

/** Erases what nobody waits for: of users who are not signed in, after 30 days if theirs has expired, and caches of another schema. */
export async function eraseLeftovers(users) {
    const list = await globalThis.indexedDB?.databases?.() ?? [];
    for (const { name } of list) {
        const [kind, ...rest] = name.split(".");
        const owner = rest.at(-1);
        const isKept = users.includes(owner) || Math.abs(Date.now() - (read()[owner] ?? -Infinity)) < KEPT;
        if (kind === "queue" && !isKept) await eraseDatabase(name, QUEUE_VERSION, QUEUE_STORES).catch(() => {});
        if (kind === "cache" && (!isKept || name !== cacheName(owner))) indexedDB.deleteDatabase(name);
    }
}

function read() {
    try { return JSON.parse(localStorage.getItem(KEY)) ?? {}; } catch { return {}; }
}

function save(values) {
    if (Object.keys(values).length === 0) localStorage.removeItem(KEY); else localStorage.setItem(KEY, JSON.stringify(values));
}
