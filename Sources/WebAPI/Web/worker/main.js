// The service worker: keeps one build of the web client, and shows notifications.

import { activate, answerFor, install } from "./builds.js";
import { closeNotifications, openNotification, showUnlessSeen } from "./notifications.js";
import { handleOpening, handlePush, handleSubscriptionChange } from "./push.js";

addEventListener("install", (event) => { event.waitUntil(install()); });
addEventListener("activate", (event) => { event.waitUntil(activate()); });
addEventListener("fetch", answerFor);

addEventListener("message", (event) => {
    const { notify, opened, withdraw } = event.data ?? {};
    if (opened) event.waitUntil(handleOpening());
    if (notify) event.waitUntil(showUnlessSeen(notify));
    if (withdraw) event.waitUntil(closeNotifications(withdraw));
});
addEventListener("push", (event) => { event.waitUntil(handlePush(event.data)); });
addEventListener("pushsubscriptionchange", (event) => { event.waitUntil(handleSubscriptionChange()); });
addEventListener("notificationclick", (event) => { event.waitUntil(openNotification(event.notification, event.action)); });

/** For tests: a browser without a screen has nobody who clicks. */
globalThis.switchboard = { openNotification };
