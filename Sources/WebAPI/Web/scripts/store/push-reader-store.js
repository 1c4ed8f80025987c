// What the page tells the service worker of who reads here: see state/push-notices.js. It is erased when they sign out.

import { eraseDatabase, openDatabase } from "./database.js";

const NAME = "worker";
const STORES = { values: { keyPath: "name" } };
const KEY = "reader";

export const readReader = () => within(async (database) => (await database.read(["values"], ({ values }) => values.get(KEY)))?.reader ?? {});

export const writeReader = (reader) => within((database) => database.write(["values"], ({ values }) => { values.put({ name: KEY, reader }); }));

export const eraseReader = () => eraseDatabase(NAME, 1, STORES);

/** Opened for a moment only: whoever erases it need not wait. */
async function within(work) {
    const database = await openDatabase(NAME, 1, STORES);
    try { return await work(database); } finally { database.close(); }
}
