// Notifications: every tab tells what has happened, and it is shown once, unless one of them shows it itself.

import { pages } from "./pages.js";

/** A tab that does not answer in time shows nothing. */
const ANSWER_TIME = 300;
const MOST_NOTICED = 500;
/** What was shown, or not, by tags: several tabs tell of the same within a moment. */
const noticed = new Set();

export async function showUnlessSeen({ title, page, options }) {
    if (noticed.has(options.tag)) return;
    note(options.tag);
    if (!await isSeen(page)) await registration.showNotification(title, options);
}

/** Shows one of a push. It replaces what has its tag, which a tab may have told of before, and ends the one with the tag `closes`. */
export async function showPush({ title, page, closes, options }) {
    const { tag } = options;
    if (await isSeen(page)) await closeNotifications({ tag });
    // A ring that is repeated does not begin again.
    else await registration.showNotification(title, { ...options, ...(options.renotify && { renotify: !noticed.has(tag) }) });
    if (options.requireInteraction || !tag?.startsWith("ring-")) note(tag);
    else noticed.delete(tag);
    if (closes) await closeNotifications({ tag: closes });
}

function note(tag) {
    if (!tag) return;
    noticed.add(tag);
    if (noticed.size > MOST_NOTICED) noticed.delete(noticed.values().next().value);
}

/** Whether a tab shows the page; no page is shown by none. */
async function isSeen(page) {
    if (page === undefined) return false;
    const tabs = (await pages()).filter((one) => one.visibilityState === "visible");
    return (await Promise.all(tabs.map((one) => ask(one, { ask: true, page })))).includes(true);
}

/** What a tab says to a message. */
function ask(tab, message) {
    return new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) => resolve(data);
        setTimeout(() => resolve(false), ANSWER_TIME);
        tab.postMessage(message, [port2]);
    });
}

/** Those with a tag, or of conversations that were read, `read` up to a number; without either all of them. */
export async function closeNotifications({ tag, read }) {
    // A call may ring again.
    if (tag?.startsWith("ring-")) noticed.delete(tag);
    for (const one of await registration.getNotifications(tag ? { tag } : {})) {
        if (!read || one.data?.number <= read[one.data?.conversation]) one.close();
    }
}

/** Not while one may be about to be shown: listing makes a browser forget what it does not show yet. */
export async function closeExpired(now) {
    for (const one of await registration.getNotifications()) {
        if (one.data?.expiresAt <= now) await closeNotifications({ tag: one.tag });
    }
}

/** Does what was clicked: the notification itself, or its button `answer` or `decline`. */
export async function openNotification(notification, action = "") {
    notification.close();
    const { address = "", call } = notification.data ?? {};
    if (action === "decline") return decline(call);
    const tabs = await pages();
    // One that is seen, else any, else a new one.
    const tab = tabs.find((one) => one.visibilityState === "visible") ?? tabs[0];
    if (!tab) return clients.openWindow(action === "answer" ? `/#/answer/${call}` : `/${address}`);
    tab.postMessage(action === "answer" ? { answer: call } : { open: address });
    // Only a click may bring a window to the front.
    await tab.focus().catch(() => {});
}

/** The worker has no tokens: a tab declines. Without one it rings on for the caller. */
async function decline(call) {
    for (const tab of await pages()) if (await ask(tab, { decline: call })) return;
}
