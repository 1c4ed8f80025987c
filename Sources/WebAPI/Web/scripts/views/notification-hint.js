// Asks once, in a list, for permission to show notifications. The browser asks only after a click.

import { button, h, icon } from "../dom.js";
import { t } from "../language/texts.js";
import { notifications } from "../notifications.js";
import { preferences } from "../preferences.js";

/** A card, or nothing where the user has decided. */
export function notificationHint() {
    if (notifications.permission !== "default" || preferences.get("noticeDismissed")) return undefined;
    const dismiss = () => {
        preferences.set("noticeDismissed", true);
        for (const one of document.querySelectorAll(".notification-hint")) one.remove();
    };
    return h("div", { class: "notice-card notification-hint" }, icon("bell"), h("p", {}, t("notify.ask")),
        button({ label: t("notify.turnOn"), class: "small primary", data: { action: "turn-on-notifications" }, onclick: () => notifications.ask().then(dismiss) }),
        button({ label: t("notify.notNow"), class: "small quiet", data: { action: "no-notifications" }, onclick: dismiss }));
}
