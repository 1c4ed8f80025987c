// The user's own link, by which others find them.

import { request } from "../connection/requests.js";
import { attempt } from "../elements/attempt.js";
import { ask } from "../elements/dialogs.js";
import { button, h, toast } from "../elements/dom.js";
import { t } from "../language/texts.js";
import { showLink } from "./link-dialog.js";

export function contactLink() {
    return h("section", { class: "card contact-link", "aria-labelledby": "contact-link-title", data: { feature: "inviteLinks" } },
        h("h2", { id: "contact-link-title" }, t("contactLink.title")),
        h("p", { class: "hint" }, t("contactLink.hint")),
        h("div", { class: "pair" },
            button({ name: "link", label: t("contactLink.make"), class: "small soft", data: { action: "make-contact-link" }, onclick: () => attempt(async () => {
                const { token } = await request("me.makeLink");
                showLink(t("contactLink.title"), t("contactLink.shownOnce"), token);
            }) }),
            button({ label: t("contactLink.remove"), class: "small quiet danger-text", data: { action: "remove-contact-link" }, onclick: async () => {
                const sure = await ask({ title: t("contactLink.sure"), text: t("contactLink.consequence"), danger: true, choices: [{ value: true, label: t("common.remove") }] });
                if (sure && await attempt(request("me.removeLink"))) toast(t("contactLink.removed"));
            } })));
}
