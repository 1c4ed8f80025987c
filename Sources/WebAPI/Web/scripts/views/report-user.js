// Blocking somebody, and reporting them to the operator of the server.

import { button, h, toast } from "../dom.js";
import { friends } from "../friends.js";
import { randomID } from "../identity.js";
import { request } from "../requests.js";
import { attempt } from "./attempt.js";
import { ask, open } from "./dialogs.js";

const reasons = [["spam", "Spam"], ["abuse", "Insults or threats"], ["impersonation", "They pretend to be somebody else"], ["other", "Something else"]];

/** Asks, and blocks. Resolves to whether it was done. */
export async function blockUser(user) {
    const sure = await ask({ title: `Block ${user.displayName}?`, danger: true,
        text: "Their calls and messages won’t reach you. They won’t be notified.",
        choices: [{ value: "block", label: "Block" }] });
    if (!sure || !await attempt(friends.block(user.id))) return false;
    toast(`${user.displayName} is blocked. You can undo this in the settings.`);
    return true;
}

/** `message` is `{conversation, number}` of a message by the user, of which the operator gets a copy. */
export function reportUser(user, message) {
    const options = reasons.map(([value, label], index) => h("label", { class: "option" },
        h("input", { type: "radio", name: "reason", value, checked: index === 0 }), label));
    const text = h("textarea", { id: "report-text", name: "text", rows: "3", maxlength: "1000" });
    const form = h("form", { class: "ask-form", onsubmit: async (event) => {
        event.preventDefault();
        const { reason } = form.elements;
        dialog.close();
        const words = text.value.trim();
        const isDone = await attempt(request("reports.create", { clientID: randomID(), user: user.id, reason: reason.value,
            ...(words && { text: words }), ...message }));
        if (isDone) toast("Reported. The operator of this server reads it.");
    } }, h("fieldset", { class: "options" }, h("legend", { class: "unseen" }, "What is wrong"), options),
    h("div", { class: "field" }, h("label", { for: "report-text" }, "What should the operator know?"), text),
    message && h("p", { class: "hint" }, "The operator gets a copy of the message, and of some that they wrote before it."),
    h("div", { class: "choices" }, h("button", { type: "submit", class: "danger", data: { choice: "report" } }, "Report"),
        button({ label: "Cancel", class: "quiet", onclick: () => dialog.close() })));
    const dialog = open({ id: "report", "aria-labelledby": "report-title" }, h("h2", { id: "report-title" }, `Report ${user.displayName}?`), form);
}
