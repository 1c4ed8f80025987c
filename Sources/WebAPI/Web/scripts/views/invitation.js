// A request to write, or an invitation to a group: accepting, declining, blocking.

import { button, h } from "../dom.js";
import { request } from "../requests.js";
import { attempt } from "./attempt.js";
import { blockUser } from "./report-user.js";

export function invitation({ id, person }, title) {
    const act = (name) => () => attempt(request(name, { conversation: id }));
    return h("span", { class: "pair" },
        button({ label: "Accept", class: "small primary", data: { action: "accept" }, "aria-label": `Accept ${title}`, onclick: act("members.accept") }),
        button({ label: "Decline", class: "small quiet", data: { action: "decline" }, "aria-label": `Decline ${title}`, onclick: act("members.decline") }),
        person && button({ label: "Block", class: "small quiet danger-text", data: { action: "block-request" }, "aria-label": `Block ${title}`,
            onclick: async () => { if (await blockUser(person)) await act("members.decline")(); } }));
}
