// The service worker of a folder of plain modules, which has no builds: whoever has one of ours from a binary, whose worker
// is made of worker/main.js, gets rid of it with this one.

const PREFIX = "build ";

addEventListener("install", (event) => { event.waitUntil(skipWaiting()); });
addEventListener("activate", (event) => { event.waitUntil(leave()); });

/** Removes this worker and what earlier ones kept, and tells the pages that were loaded by them. */
async function leave() {
    for (const name of await caches.keys()) if (name.startsWith(PREFIX)) await caches.delete(name);
    await registration.unregister();
    const windows = await clients.matchAll({ type: "window", includeUncontrolled: true });
    for (const one of windows) if (new URL(one.url).pathname === "/") one.postMessage({ build: undefined });
}
