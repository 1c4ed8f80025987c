// The service worker: keeps one build of the web client, and shows notifications.

import { activate, answerFor, install } from "./builds.js";
import { closeNotifications, openNotification, showUnlessSeen } from "./notifications.js";

addEventListener("install", (event) => { event.waitUntil(install()); });
addEventListener("activate", (event) => { event.waitUntil(activate()); });
addEventListener("fetch", answerFor);

addEventListener("message", (event) => {
    const { notify, withdraw } = event.data ?? {};
    if (notify) event.waitUntil(showUnlessSeen(notify));
    if (withdraw) event.waitUntil(closeNotifications(withdraw));
});
addEventListener("notificationclick", (event) => { event.waitUntil(openNotification(event.notification)); });

/** For tests: a browser without a screen has nobody who clicks. */
globalThis.switchboard = { openNotification };
