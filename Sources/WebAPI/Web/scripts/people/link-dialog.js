// A link that was made: to copy, or to give to another app.

import { open } from "../elements/dialogs.js";
import { button, h, toast } from "../elements/dom.js";
import { t } from "../language/texts.js";
import { qrPicture } from "./qr-picture.js";

export const linkAddress = (token) => `${location.origin}/#/l/${token}`;

export function showLink(title, hint, token) {
    const address = linkAddress(token);
    const input = h("input", { id: "link-address", type: "text", value: address, readonly: true, onfocus: () => input.select() });
    const dialog = open({ id: "made-link", "aria-labelledby": "made-link-title" }, h("h2", { id: "made-link-title" }, title), h("p", {}, hint),
        qrPicture(address, t("link.code")),
        h("div", { class: "field" }, h("label", { for: "link-address" }, t("link.address")), input),
        h("div", { class: "choices" },
            button({ name: "copy", label: t("common.copy"), class: "primary", data: { action: "copy-link" }, onclick: async () => {
                try {
                    await navigator.clipboard.writeText(address);
                    toast(t("common.copied"));
                } catch { input.select(); }
            } }),
            navigator.share && button({ label: t("link.share"), class: "soft", onclick: () => navigator.share({ url: address }).catch(() => {}) }),
            button({ label: t("common.close"), class: "quiet", data: { action: "close" }, onclick: () => dialog.close() })));
}
