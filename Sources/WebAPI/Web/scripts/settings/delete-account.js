// Deleting the account, at the end of the settings.

import { authorized } from "../connection/api.js";
import { credentials } from "../connection/credentials.js";
import { errorMessage } from "../connection/problems.js";
import { open } from "../elements/dialogs.js";
import { busy, button, field, h } from "../elements/dom.js";
import { t } from "../language/texts.js";
import { section } from "./settings-section.js";

export function deletionSection() {
    return section("delete-account", t("deletion.delete"),
        h("p", { class: "hint" }, t("deletion.hint")),
        button({ label: t("deletion.delete"), class: "soft danger-text", data: { action: "delete-account" }, onclick: confirm }));
}

/** An account without a password here proves with its token, which is renewed when it is too old. */
function confirm() {
    const hasPassword = Boolean(credentials.user.email);
    const remove = button({ label: t("deletion.confirm"), type: "submit", class: "danger", data: { action: "confirm-deletion" } });
    // In the dialog, which covers messages of the page.
    const failure = h("p", { class: "form-error", role: "alert", hidden: true });
    const form = h("form", { id: "deletion-form", class: "ask-form" },
        h("input", { type: "text", autocomplete: "username", value: credentials.user.email ?? "", hidden: true }),
        field({ label: t("deletion.yourPassword"), name: "password", type: "password", autocomplete: "current-password", required: hasPassword }),
        failure,
        h("div", { class: "choices" }, remove, button({ label: t("deletion.keep"), class: "quiet", onclick: () => dialog.close() })));
    const dialog = open({ "aria-labelledby": "deletion-title", id: "deletion" },
        h("h2", { id: "deletion-title" }, t("deletion.title")),
        h("p", {}, t("deletion.consequence")),
        form);
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        busy(remove, async () => {
            const password = form.elements.password.value;
            await authorized("POST", "/v1/me/delete", password ? { password } : {});
            dialog.close();
            credentials.end();
        }, (error) => {
            failure.textContent = errorMessage(error);
            failure.hidden = false;
        });
    });
    form.elements.password.focus();
}
