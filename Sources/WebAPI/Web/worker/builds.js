// The build of the web client that the worker keeps, so that the page opens at once, and without a network too.
//
// Everything that a page loads is in two files beside it, in the catalogue of its language, which it loads as it starts,
// and in the emoji, which it loads when one is to be chosen. So a new build replaces the old one as soon as it is
// complete: pages that are open go on with what they have, and are told.
//
// `Scripts/web` sets BUILD, the name of the build, FILES, the paths of what the page loads, CATALOGUES and EMOJI. A folder
// of plain modules has no builds: its worker.js removes this one.

import { pages } from "./pages.js";

const build = typeof BUILD === "undefined" ? undefined : BUILD;
const files = typeof FILES === "undefined" ? [] : FILES;
/** The paths of catalogues and emoji, a language each: kept once they were loaded. */
const later = [...Object.values(typeof CATALOGUES === "undefined" ? {} : CATALOGUES), ...Object.values(typeof EMOJI === "undefined" ? {} : EMOJI)];
const PREFIX = "build ";

export async function install() {
    const cache = await caches.open(PREFIX + build);
    await cache.addAll([...files, ...await keptLater()]);
    const page = await fetch("/", { cache: "no-cache" });
    // The server may have got another build since it sent this script: then that one's worker is installed next.
    if (!page.ok || !(await page.clone().text()).includes(`content="${build}"`)) {
        await caches.delete(PREFIX + build);
        throw new Error("the server has another build");
    }
    await cache.put("/", page);
    await skipWaiting();
}

/** The catalogues and emoji of this build in the languages that an earlier one has kept. */
async function keptLater() {
    const names = (await caches.keys()).filter((name) => name.startsWith(PREFIX));
    const requests = (await Promise.all(names.map(async (name) => (await caches.open(name)).keys()))).flat();
    const kept = new Set(requests.map(({ url }) => unhashed(new URL(url).pathname)));
    return later.filter((path) => kept.has(unhashed(path)));
}

const unhashed = (path) => path.replace(/-[0-9a-f]{12}(?=\.json$)/, "");

export async function activate() {
    for (const name of await caches.keys()) {
        if (name.startsWith(PREFIX) && name !== PREFIX + build) await caches.delete(name);
    }
    // The pages that were loaded without a worker are also told.
    for (const page of await pages()) page.postMessage({ build });
}

/** Answers for a file of this build; nothing for everything else. */
export function answerFor(event) {
    const { origin, pathname } = new URL(event.request.url);
    if (event.request.method !== "GET" || origin !== location.origin) return;
    if (pathname === "/" || files.includes(pathname)) event.respondWith(answer(event.request, pathname));
    else if (later.includes(pathname)) event.respondWith(answerKept(event.request, pathname));
}

/** The same for a file that is kept from its first use on. */
async function answerKept(request, path) {
    const response = await answer(request, path);
    if (response.ok) await (await caches.open(PREFIX + build)).put(path, response.clone());
    return response;
}

/** The file of this build. A browser that is short of space may have dropped it. */
async function answer(request, path) {
    const cache = await caches.open(PREFIX + build);
    return (await cache.match(path)) ?? fetch(request);
}
