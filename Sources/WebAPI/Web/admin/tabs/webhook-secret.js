// The card with a new secret, which is shown once.

import { h } from "../../scripts/elements/dom.js";
import { copy } from "../widgets.js";

/** Shows what adding or rotating a webhook responded. One without an address has no secret. */
export function secretCard(container, { webhook, secret }) {
    const done = h("button", { type: "button", class: "quiet", onclick: () => container.replaceChildren() }, "Done");
    container.replaceChildren(h("section", { class: "card made", "aria-labelledby": "made" },
        h("h2", { id: "made", tabindex: "-1" }, secret ? "The secret of the webhook" : "The webhook is added"),
        secret && h("p", {}, "Copy it now: it cannot be shown again. The app checks every message with it."),
        secret && h("p", { class: "secret" }, h("code", { id: "made-secret" }, secret)),
        !secret && h("p", {}, "The app reads its events by GET /v1/server/events, with a key of the scope events."),
        h("p", { class: "hint" }, h("code", {}, webhook.id)),
        h("div", { class: "actions" },
            secret && h("button", { type: "button", class: "primary", onclick: () => copy(secret) }, "Copy"), done)));
    document.getElementById("made").focus();
}
