// Blocking somebody, and reporting them to the operator of the server.

import { randomID } from "../connection/identity.js";
import { request } from "../connection/requests.js";
import { attempt } from "../elements/attempt.js";
import { ask, open } from "../elements/dialogs.js";
import { button, h, toast } from "../elements/dom.js";
import { t } from "../language/texts.js";
import { friends } from "../sync/friends.js";

const reasons = ["spam", "abuse", "impersonation", "other"];

/** Asks, and blocks. Resolves to whether it was done. */
export async function blockUser(user) {
    const sure = await ask({ title: t("report.blockName", { name: user.displayName }), danger: true,
        text: t("report.blockConsequence"),
        choices: [{ value: "block", label: t("common.block") }] });
    if (!sure) return false;
    friends.block(user.id);
    toast(t("report.blocked", { name: user.displayName }));
    return true;
}

/** `message` is `{conversation, number}` of a message by the user, of which the operator gets a copy. */
export function reportUser(user, message) {
    const options = reasons.map((value, index) => h("label", { class: "option" },
        h("input", { type: "radio", name: "reason", value, checked: index === 0 }), t(`reasons.${value}`)));
    const text = h("textarea", { id: "report-text", name: "text", rows: "3", maxlength: "1000" });
    const form = h("form", { class: "ask-form", onsubmit: async (event) => {
        event.preventDefault();
        const { reason } = form.elements;
        dialog.close();
        const words = text.value.trim();
        const isDone = await attempt(request("reports.create", { clientID: randomID(), user: user.id, reason: reason.value,
            ...(words && { text: words }), ...message }));
        if (isDone) toast(t("report.reported"));
    } }, h("fieldset", { class: "options" }, h("legend", { class: "unseen" }, t("report.wrong")), options),
    h("div", { class: "field" }, h("label", { for: "report-text" }, t("report.know")), text),
    message && h("p", { class: "hint" }, t("report.copyHint")),
    h("div", { class: "choices" }, h("button", { type: "submit", class: "danger", data: { choice: "report" } }, t("common.report")),
        button({ label: t("common.cancel"), class: "quiet", onclick: () => dialog.close() })));
    const dialog = open({ id: "report", "aria-labelledby": "report-title" }, h("h2", { id: "report-title" }, t("report.title", { name: user.displayName })), form);
}
