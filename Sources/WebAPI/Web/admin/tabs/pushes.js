// The services that wake devices: whether they take pushes, and trying them.

import { busy, h } from "../../scripts/elements/dom.js";
import { SERVICES, kindName } from "../push-services.js";
import { get, request } from "../session.js";
import { duration, facts, fail, heading, pill, time } from "../widgets.js";

const whole = new Intl.NumberFormat("en");

export const pushes = {
    id: "pushes",
    title: "Pushes",

    open(root) {
        const content = h("div", { class: "stack" }, h("p", { class: "hint" }, "Loading…"));
        // What a check found stays when the rest is read anew.
        const results = new Map(SERVICES.map(({ title }) => [title, h("div", { role: "status" })]));
        const refresh = h("button", { type: "button", class: "soft small", onclick: () => busy(refresh, load, fail) }, "Refresh");
        root.append(heading("Pushes", refresh), content);

        async function load() {
            try {
                const { kinds } = await get("/admin/v1/push");
                const byKind = new Map(kinds.map((one) => [one.kind, one]));
                content.replaceChildren(...SERVICES.map((service) =>
                    card(service, service.kinds.map((kind) => byKind.get(kind)).filter(Boolean))));
            } catch (error) {
                content.replaceChildren(h("p", { class: "form-error", role: "alert" }, error.message));
            }
        }

        function card(service, kinds) {
            const isConfigured = kinds.some((one) => one.configured);
            return h("section", { class: "card stack push-service" },
                h("div", { class: "heading" }, h("h2", {}, service.title), statePill(kinds, isConfigured)),
                h("p", { class: "hint" }, `By ${service.by}`, isConfigured ? "." : [": see ", h("code", {}, service.setting), "."]),
                (isConfigured || kinds.some((one) => one.registrations > 0)) && kinds.map((one) => metrics(one, kinds.length > 1)),
                isConfigured && service.service && h("div", { class: "actions" }, checkButton(service)),
                isConfigured && service.service && results.get(service.title));
        }

        function metrics(one, isNamed) {
            return h("div", { class: "stack" }, isNamed && h("h3", {}, kindName(one.kind)), facts([
                ["Registered devices", whole.format(one.registrations)],
                ["Pushes that wait", whole.format(one.waiting)],
                ...(one.waiting ? [["The oldest waits for", duration(one.oldestSeconds)]] : []),
            ]), one.failure && h("p", { class: "long" },
                "Failing since ", time(one.failure.since, { seconds: true }), `: ${one.failure.reason}`));
        }

        function checkButton({ title, by, service }) {
            const button = h("button", { type: "button", class: "soft", onclick: () => busy(button, async () => {
                const result = results.get(title);
                result.replaceChildren();
                const { problem } = await request("POST", `/admin/v1/push/${service}/check`);
                result.replaceChildren(problem
                    ? h("p", { class: "form-error" }, `${by} would take no pushes. ${problem}`)
                    : h("p", { class: "hint" }, `${by} would take pushes.`));
            }, fail) }, "Check");
            return button;
        }

        load();
    },
};

function statePill(kinds, isConfigured) {
    if (!isConfigured) return pill("Not configured");
    return kinds.some((one) => one.failure) ? pill("The last push failed", "bad") : pill("Configured", "good");
}
