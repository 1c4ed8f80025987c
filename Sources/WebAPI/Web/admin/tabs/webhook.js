// One webhook: what it is, what can be done with it, and its latest deliveries.

import { busy, h, toast } from "../../scripts/elements/dom.js";
import { get, request } from "../session.js";
import { confirm, facts, fail, heading, pages, pill, time } from "../widgets.js";
import { secretCard } from "./webhook-secret.js";

const COLUMNS = ["Created", "Event", "Outcome", "Attempts", "Response"];
const OUTCOMES = {
    waiting: ["Waits", ""], delivered: ["Delivered", "good"], failed: ["Failed", "bad"], expired: ["Expired", "bad"],
    dropped: ["Dropped", "bad"],
};
const SPANS = [[3_600, "the last hour"], [86_400, "the last day"], [604_800, "the last 7 days"], [2_592_000, "the last 30 days"]];

export function openWebhook(root, id) {
    const path = `/admin/v1/webhooks/${encodeURIComponent(id)}`;
    const made = h("div", {});
    const content = h("div", { class: "stack" }, h("p", { class: "hint" }, "Loading…"));
    const list = pages("Deliveries", COLUMNS, async () => [(await get(`${path}/deliveries`)).deliveries.map(cells)],
        { empty: "There were no deliveries." });
    root.append(h("p", { class: "back" }, h("a", { href: "#/webhooks" }, "All webhooks")), made, content);

    // One id for each rotation, so that a request whose response was lost can be sent again.
    let rotation = crypto.randomUUID();

    async function load() {
        try {
            const webhook = (await get("/admin/v1/webhooks")).webhooks.find((one) => one.id === id);
            if (!webhook) throw new Error("There is no such webhook.");
            show(webhook);
        } catch (error) {
            content.replaceChildren(heading("Webhook"), h("p", { class: "form-error", role: "alert" }, error.message));
        }
    }

    function show(webhook) {
        content.replaceChildren(
            heading(h("bdi", {}, webhook.name ?? "Webhook"),
                webhook.disabledAt ? pill("Disabled", "bad") : pill("Enabled", "good")),
            h("section", { class: "card", "aria-label": "Webhook" }, facts([
                ["Address", webhook.url ? h("code", { class: "long" }, webhook.url) : "read by the app"],
                ["Events", webhook.events.join(", ") || "all"],
                ["Created", time(webhook.createdAt)],
                ["Waiting", webhook.waiting],
                ["Dropped", webhook.dropped],
                ...(webhook.disabledAt ? [["Disabled", time(webhook.disabledAt)], ["Because", webhook.disabledReason ?? "–"]] : []),
                ...(webhook.previousUntil ? [["The previous secret signs until", time(webhook.previousUntil)]] : []),
                ["Id", h("code", {}, webhook.id)],
            ]), actions(webhook)),
            h("section", { class: "card stack" },
                h("div", { class: "heading" }, h("h2", {}, "Latest deliveries"),
                    h("button", { type: "button", class: "soft small", onclick: () => load() }, "Refresh")),
                webhook.url && replay(), list.element));
        return list.reload();
    }

    function actions(webhook) {
        return h("div", { class: "actions" },
            !webhook.disabledAt && button("Send a test", "primary", null, test),
            webhook.disabledAt && button("Enable", "primary", null, async () => {
                await request("POST", `${path}/enable`);
                toast("The webhook is enabled");
            }),
            webhook.url && button("New secret", "soft", {
                title: "Give it a new secret?", action: "New secret", danger: false,
                text: "Messages are signed by the old secret too for another 24 hours; one before it no longer signs.",
            }, async () => {
                secretCard(made, await request("POST", `${path}/rotate`, { clientID: rotation }));
                rotation = crypto.randomUUID();
            }),
            button("Remove", "soft danger-text", {
                title: "Remove this webhook?", action: "Remove", text: "What waits for it is not sent.",
            }, async () => {
                await request("DELETE", path);
                toast("The webhook is removed");
                location.hash = "#/webhooks";
                return true;
            }));
    }

    function button(label, style, question, run) {
        const element = h("button", { type: "button", class: style, onclick: async () => {
            if (question && !await confirm(question)) return;
            await busy(element, async () => {
                const isGone = await run();
                if (!isGone) await load();
            }, fail);
        } }, label);
        return element;
    }

    async function test() {
        const { delivery } = await request("POST", `${path}/test`);
        if (!delivery) toast("The event is written; there was no response yet");
        else if (delivery.outcome === "delivered") toast(`The webhook works: the response was ${delivery.status}`);
        else toast(delivery.reason ?? `The response was ${delivery.status}`, { error: true });
    }

    function replay() {
        const span = h("select", { id: "replay-span" }, SPANS.map(([value, text]) => h("option", { value }, text)));
        const run = button("Replay", "soft", {
            title: "Send these events again?", action: "Replay", danger: false,
            text: "They come with the same ids: an app that keeps ids handles none of them twice.",
        }, async () => {
            const since = new Date(Date.now() - span.value * 1000).toISOString();
            const { deliveries } = await request("POST", `${path}/replay`, { since });
            toast(deliveries === 1 ? "One delivery is made again" : `${deliveries} deliveries are made again`);
        });
        return h("div", { class: "search" },
            h("div", { class: "field" }, h("label", { for: "replay-span" }, "Send again what happened in"), span), run);
    }

    load();
}

function cells(delivery) {
    const [text, kind] = OUTCOMES[delivery.outcome] ?? [delivery.outcome, ""];
    return [
        time(delivery.createdAt, { seconds: true }),
        h("div", { class: "name" }, delivery.type ?? "no longer kept", delivery.event && h("code", { class: "hint" }, delivery.event)),
        pill(text, kind),
        h("div", {}, String(delivery.attempts), delivery.nextAt && delivery.attempts > 0 && h("div", { class: "hint" }, "next ", time(delivery.nextAt, { seconds: true }))),
        [delivery.status, delivery.reason].filter(Boolean).join(" ") || "–",
    ];
}
