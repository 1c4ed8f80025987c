// The service worker: keeps one build of the web client, so that the page opens at once, and without a network too.
//
// Everything that a page loads is in two files beside it, and in the catalogue of its language, which it loads as it
// starts. So a new build replaces the old one as soon as it is complete: pages that are open go on with what they have,
// and are told.
//
// `Scripts/web` sets BUILD, the name of the build, FILES, the paths of what the page loads, and CATALOGUES. A folder of
// plain modules has no builds: there this worker removes itself and what earlier ones kept.

const build = typeof BUILD === "undefined" ? undefined : BUILD;
const files = typeof FILES === "undefined" ? [] : FILES;
/** By the tag of a language, the path of its catalogue: kept once it was loaded. */
const catalogues = typeof CATALOGUES === "undefined" ? {} : CATALOGUES;
const PREFIX = "build ";

addEventListener("install", (event) => { event.waitUntil(install()); });
addEventListener("activate", (event) => { event.waitUntil(activate()); });
addEventListener("fetch", (event) => {
    const { origin, pathname } = new URL(event.request.url);
    if (event.request.method !== "GET" || origin !== location.origin) return;
    if (!build) return;
    if (pathname === "/" || files.includes(pathname)) event.respondWith(answer(event.request, pathname));
    else if (Object.values(catalogues).includes(pathname)) event.respondWith(answerKept(event.request, pathname));
});

async function install() {
    if (build) {
        const cache = await caches.open(PREFIX + build);
        await cache.addAll([...files, ...await keptCatalogues()]);
        const page = await fetch("/", { cache: "no-cache" });
        // The server may have got another build since it sent this script: then that one's worker is installed next.
        if (!page.ok || !(await page.clone().text()).includes(`content="${build}"`)) {
            await caches.delete(PREFIX + build);
            throw new Error("the server has another build");
        }
        await cache.put("/", page);
    }
    await skipWaiting();
}

/** The catalogues of this build in the languages that an earlier one has kept. */
async function keptCatalogues() {
    const names = (await caches.keys()).filter((name) => name.startsWith(PREFIX));
    const requests = (await Promise.all(names.map(async (name) => (await caches.open(name)).keys()))).flat();
    const tags = requests.map(({ url }) => /\/catalogues\/([\w-]+)-[0-9a-f]{12}\.json$/.exec(url)?.[1]);
    return [...new Set(tags)].map((tag) => catalogues[tag]).filter(Boolean);
}

async function activate() {
    for (const name of await caches.keys()) {
        if (name.startsWith(PREFIX) && name !== PREFIX + build) await caches.delete(name);
    }
    if (!build) await registration.unregister();
    // The pages that were loaded without a worker are also told.
    for (const page of await clients.matchAll({ type: "window", includeUncontrolled: true })) page.postMessage({ build });
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
