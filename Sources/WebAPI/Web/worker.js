// The service worker: keeps one build of the web client, so that the page opens at once, and without a network too.
//
// Everything that a page loads is in two files beside it, in the catalogue of its language, which it loads as it starts,
// and in the emoji, which it loads when one is to be chosen. So a new build replaces the old one as soon as it is
// complete: pages that are open go on with what they have, and are told.
//
// `Scripts/web` sets BUILD, the name of the build, FILES, the paths of what the page loads, CATALOGUES and EMOJI. A folder
// of plain modules has no builds: there this worker removes itself and what earlier ones kept.

const build = typeof BUILD === "undefined" ? undefined : BUILD;
const files = typeof FILES === "undefined" ? [] : FILES;
/** The paths of catalogues and emoji, a language each: kept once they were loaded. */
const later = [...Object.values(typeof CATALOGUES === "undefined" ? {} : CATALOGUES), ...Object.values(typeof EMOJI === "undefined" ? {} : EMOJI)];
const PREFIX = "build ";

addEventListener("install", (event) => { event.waitUntil(install()); });
addEventListener("activate", (event) => { event.waitUntil(activate()); });
addEventListener("fetch", (event) => {
    const { origin, pathname } = new URL(event.request.url);
    if (event.request.method !== "GET" || origin !== location.origin) return;
    if (!build) return;
    if (pathname === "/" || files.includes(pathname)) event.respondWith(answer(event.request, pathname));
    else if (later.includes(pathname)) event.respondWith(answerKept(event.request, pathname));
});

addEventListener("message", (event) => {
    const { notify, withdraw } = event.data ?? {};
    if (notify) event.waitUntil(showUnlessSeen(notify));
    if (withdraw) event.waitUntil(closeNotifications(withdraw));
});
addEventListener("notificationclick", (event) => { event.waitUntil(openNotification(event.notification)); });

/** For tests: a browser without a screen has nobody who clicks. */
globalThis.switchboard = { openNotification };

async function install() {
    if (build) {
        const cache = await caches.open(PREFIX + build);
        await cache.addAll([...files, ...await keptLater()]);
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

/** The catalogues and emoji of this build in the languages that an earlier one has kept. */
async function keptLater() {
    const names = (await caches.keys()).filter((name) => name.startsWith(PREFIX));
    const requests = (await Promise.all(names.map(async (name) => (await caches.open(name)).keys()))).flat();
    const kept = new Set(requests.map(({ url }) => unhashed(new URL(url).pathname)));
    return later.filter((path) => kept.has(unhashed(path)));
}

const unhashed = (path) => path.replace(/-[0-9a-f]{12}(?=\.json$)/, "");

async function activate() {
    for (const name of await caches.keys()) {
        if (name.startsWith(PREFIX) && name !== PREFIX + build) await caches.delete(name);
    }
    if (!build) await registration.unregister();
    // The pages that were loaded without a worker are also told.
    for (const page of await pages()) page.postMessage({ build });
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

// Notifications: every tab tells what has happened, and it is shown once, unless one of them shows it itself.

/** A tab that does not answer in time shows nothing. */
const ANSWER_TIME = 300;
const MOST_NOTICED = 500;
/** What was shown, or not, by tags: several tabs tell of the same within a moment. */
const noticed = new Set();

async function showUnlessSeen({ title, page, options }) {
    if (noticed.has(options.tag)) return;
    noticed.add(options.tag);
    if (noticed.size > MOST_NOTICED) noticed.delete(noticed.values().next().value);
    const tabs = (await pages()).filter((one) => one.visibilityState === "visible");
    const answers = await Promise.all(tabs.map((one) => isShownIn(one, page)));
    if (!answers.includes(true)) await registration.showNotification(title, options);
}

function isShownIn(tab, page) {
    return new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) => resolve(data);
        setTimeout(() => resolve(false), ANSWER_TIME);
        tab.postMessage({ ask: true, page }, [port2]);
    });
}

/** Those with a tag, or of conversations that were read, `read` up to a number; without either all of them. */
async function closeNotifications({ tag, read }) {
    // A call may ring again.
    if (tag?.startsWith("ring-")) noticed.delete(tag);
    for (const one of await registration.getNotifications(tag ? { tag } : {})) {
        if (!read || one.data?.number <= read[one.data?.conversation]) one.close();
    }
}

/** Opens what it tells of in a tab: one that is seen, else any, else a new one. */
async function openNotification(notification) {
    notification.close();
    const { address } = notification.data;
    const tabs = await pages();
    const tab = tabs.find((one) => one.visibilityState === "visible") ?? tabs[0];
    if (!tab) return clients.openWindow(`/${address}`);
    tab.postMessage({ open: address });
    // Only a click may bring a window to the front.
    await tab.focus().catch(() => {});
}

/** The tabs of the web client, not those of /docs. */
async function pages() {
    const windows = await clients.matchAll({ type: "window", includeUncontrolled: true });
    return windows.filter(({ url }) => new URL(url).pathname === "/");
}
