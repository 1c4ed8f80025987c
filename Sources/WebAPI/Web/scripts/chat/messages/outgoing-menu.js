// What can be done with a message that is not stored yet.

import { open } from "../../elements/dialogs.js";
import { button, h, toast } from "../../elements/dom.js";
import { t } from "../../language/texts.js";

/** `one` is a message of the outbox, and `edit(message)` gives its text back to the field. */
export function showOutgoingMenu(thread, one, edit) {
    const item = (action, name, label, work, style = "quiet") => button({ name, label, class: `item ${style}`, data: { action },
        onclick: () => {
            dialog.close();
            work(thread.outgoing.find(({ clientID }) => clientID === one.clientID));
        } });
    const dialog = open({ id: "message-menu", "aria-label": t("common.message"), class: "dialog menu" }, h("div", { class: "items" },
        one.text && item("edit", "edit", t("menu.edit"), (now) => {
            if (now?.isRevisable) edit(now); else toast(t("composer.mayBeSent"), { error: true });
        }),
        one.state === "failed" && item("retry", "send", t("message.retry"), () => thread.retry(one.clientID)),
        item("discard", "trash", t("message.discard"), () => thread.discard(one.clientID), "quiet danger-text")),
    button({ label: t("common.cancel"), class: "wide soft", data: { action: "cancel" }, onclick: () => dialog.close() }));
}
