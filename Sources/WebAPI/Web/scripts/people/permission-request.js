// Asks once, in a list, for permission to show notifications: after the first message or call, and not at the start. The
// browser asks only after a click.

import { calls } from "../calls/calls.js";
import { button, h, icon } from "../elements/dom.js";
import { t } from "../language/texts.js";
import { notifications } from "../notifications/notifications.js";
import { hasWritten } from "../state/permission-hint.js";
import { preferences } from "../store/preferences.js";
import { inbox } from "../sync/inbox.js";

/** Whether a call has ended in this page. */
let hasCalled = false;
calls.on("ended", () => { hasCalled = true; });

/** A card, which is hidden until there is a reason to ask, and after the user has decided. */
export function notificationHint() {
    const dismiss = () => preferences.set("noticeDismissed", true);
    const node = h("div", { class: "notice-card notification-hint", hidden: true }, icon("bell"), h("p", {}, t("notify.ask")),
        button({ label: t("notify.turnOn"), class: "small primary", data: { action: "turn-on-notifications" }, onclick: () => notifications.ask().then(dismiss) }),
        button({ label: t("notify.notNow"), class: "small quiet", data: { action: "no-notifications" }, onclick: dismiss }));
    const show = () => {
        node.hidden = notifications.permission !== "default" || preferences.get("noticeDismissed") || !(hasCalled || hasWritten(inbox.state));
    };
    show();
    const unsubscribe = [inbox.on("change", show), calls.on("ended", show), preferences.on("noticeDismissed", show), notifications.on("permission", show)];
    return { node, close: () => unsubscribe.forEach((one) => one()) };
}
