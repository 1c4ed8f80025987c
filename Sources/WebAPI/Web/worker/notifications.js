// Notifications: every tab tells what has happened, and it is shown once, unless one of them shows it itself.

import { pages } from "./pages.js";

/** A tab that does not answer in time shows nothing. */
const ANSWER_TIME = 300;
const MOST_NOTICED = 500;
/** What was shown, or not, by tags: several tabs tell of the same within a moment. */
const noticed = new Set();

export async function showUnlessSeen({ title, page, options }) {
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
export async function closeNotifications({ tag, read }) {
    // A call may ring again.
    if (tag?.startsWith("ring-")) noticed.delete(tag);
    for (const one of await registration.getNotifications(tag ? { tag } : {})) {
        if (!read || one.data?.number <= read[one.data?.conversation]) one.close();
    }
}

/** Opens what it tells of in a tab: one that is seen, else any, else a new one. */
export async function openNotification(notification) {
    notification.close();
    const { address } = notification.data;
    const tabs = await pages();
    const tab = tabs.find((one) => one.visibilityState === "visible") ?? tabs[0];
    if (!tab) return clients.openWindow(`/${address}`);
    tab.postMessage({ open: address });
    // Only a click may bring a window to the front.
    await tab.focus().catch(() => {});
}
