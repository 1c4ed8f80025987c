// A request to write, or an invitation to a group: accepting, declining, blocking.

import { request } from "../../connection/requests.js";
import { attempt } from "../../elements/attempt.js";
import { button, h } from "../../elements/dom.js";
import { t } from "../../language/texts.js";
import { blockUser } from "../../people/report-user.js";

export function invitation({ id, person }, title) {
    const act = (name) => () => attempt(request(name, { conversation: id }));
    return h("span", { class: "pair" },
        button({ label: t("common.accept"), class: "small primary", data: { action: "accept" }, "aria-label": t("common.acceptName", { name: title }), onclick: act("members.accept") }),
        button({ label: t("common.decline"), class: "small quiet", data: { action: "decline" }, "aria-label": t("common.declineName", { name: title }), onclick: act("members.decline") }),
        person && button({ label: t("common.block"), class: "small quiet danger-text", data: { action: "block-request" }, "aria-label": t("common.blockName", { name: title }),
            onclick: async () => { if (await blockUser(person)) await act("members.decline")(); } }));
}
