// Pushes: what the server sends while no tab may be open. Each is shown, since browsers demand it where no tab is seen.

import { noticeOf, parsedPush } from "../scripts/state/push-notices.js";
import { readReader } from "../scripts/store/push-reader-store.js";
import { closeExpired, showPush } from "./notifications.js";
import { pages } from "./pages.js";

export async function handlePush(data) {
    const push = parsedPush(data?.text() ?? "");
    const reader = await readReader().catch(() => ({}));
    const notice = noticeOf(push, reader, { now: nowOf(reader), mostActions: Notification.maxActions ?? 0 });
    await showPush(notice);
    if (notice.badge !== undefined) await navigator.setAppBadge?.(notice.badge).catch(() => {});
}

/** A page was opened: rings that are over, the push of whose end was lost, are no longer shown. */
export async function handleOpening() {
    await closeExpired(nowOf(await readReader().catch(() => ({}))));
}

/** By the server's clock. */
const nowOf = (reader) => Date.now() + (reader?.clockOffset ?? 0);

/** The worker has no tokens to register it with: a page does, now or when it is opened. */
export async function handleSubscriptionChange() {
    for (const page of await pages()) page.postMessage({ subscriptionChanged: true });
}
