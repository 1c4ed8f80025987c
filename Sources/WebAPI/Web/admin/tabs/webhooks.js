// Webhooks: the list, and adding one.

import { busy, h } from "../../scripts/elements/dom.js";
import { get, request } from "../session.js";
import { heading, pages, pill } from "../widgets.js";
import { secretCard } from "./webhook-secret.js";
import { openWebhook } from "./webhook.js";

const COLUMNS = ["Name", "State", "Address", "Events", "Deliveries"];
const EVENTS = [
    ["user.created", "A user was created"], ["user.disabled", "A user was disabled"], ["user.deleted", "A user was deleted"],
    ["call.ringing", "A call rings for a user"], ["call.answered", "A call was answered"], ["call.missed", "A call was missed"],
    ["friend.requested", "A user was asked to be a friend"], ["friend.accepted", "A user's request was accepted"],
    ["friend.removed", "A friendship ended"],
    ["conversation.created", "A conversation is new"], ["conversation.updated", "A group has changed"],
    ["conversation.member", "A member has changed"], ["message.created", "A message was sent"],
    ["message.edited", "A message has another text"], ["message.deleted", "A message was deleted"],
    ["call.ended", "A call ended"], ["recording.ready", "A recording can be read"],
    ["transcript.ready", "A transcript can be read"],
];

export const webhooks = {
    id: "webhooks",
    title: "Webhooks",
    open: (root, detail) => (detail ? openWebhook(root, detail) : openList(root)),
};

function openList(root) {
    const made = h("div", {});
    const list = pages("Webhooks", COLUMNS, async () => [(await get("/admin/v1/webhooks")).webhooks.reverse().map(cells)],
        { empty: "There are no webhooks." });
    root.append(heading("Webhooks"), made, form(async (body) => {
        secretCard(made, await request("POST", "/admin/v1/webhooks", body));
        await list.reload();
    }), list.element);
    list.reload();
}

const cells = (webhook) => [
    h("a", { href: `#/webhooks/${webhook.id}` }, h("bdi", {}, webhook.name ?? webhook.id)),
    webhook.disabledAt ? pill("Disabled", "bad") : pill("Enabled", "good"),
    webhook.url ? h("code", { class: "long" }, webhook.url) : "read by the app",
    webhook.events.join(", ") || "all",
    `${webhook.waiting} wait${webhook.dropped ? `, ${webhook.dropped} dropped` : ""}`,
];

function form(add) {
    let clientID = crypto.randomUUID();
    const error = h("p", { class: "form-error", role: "alert", hidden: true });
    const name = h("input", { id: "webhook-name", maxlength: "80", autocomplete: "off" });
    const url = h("input", { id: "webhook-url", type: "url", maxlength: "2048", autocomplete: "off",
        placeholder: "https://", "aria-describedby": "webhook-url-hint" });
    const events = EVENTS.map(([event]) => h("input", { type: "checkbox", id: `event-${event}`, value: event }));
    const button = h("button", { class: "primary" }, "Add the webhook");
    const element = h("form", { class: "stack", onsubmit: (event) => {
        event.preventDefault();
        busy(button, async () => {
            error.hidden = true;
            await add({
                clientID, ...(name.value.trim() && { name: name.value }), ...(url.value.trim() && { url: url.value.trim() }),
                events: events.filter((one) => one.checked).map((one) => one.value),
            });
            clientID = crypto.randomUUID();
            element.reset();
            details.open = false;
        }, (problem) => {
            // Another content is another request.
            if (problem.status) clientID = crypto.randomUUID();
            error.textContent = problem.message;
            error.hidden = false;
        });
    } },
    error,
    h("div", { class: "columns" },
        h("div", { class: "field" }, h("label", { for: "webhook-name" }, "Name"), name),
        h("div", { class: "field" }, h("label", { for: "webhook-url" }, "Address"), url,
            h("p", { id: "webhook-url-hint", class: "hint" },
                "Empty if the app reads the events itself, by GET /v1/server/events."))),
    h("fieldset", { class: "scopes" }, h("legend", {}, "Which events; none for all"), events.map((box, index) =>
        h("div", { class: "check" }, box, h("label", { for: box.id }, h("code", {}, EVENTS[index][0]), ` ${EVENTS[index][1]}`)))),
    h("div", { class: "actions" }, button));
    const details = h("details", { class: "card" }, h("summary", {}, "New webhook"), element);
    return details;
}
