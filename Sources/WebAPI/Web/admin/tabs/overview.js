// The state of the server, draining, and charts.

import { busy, h, toast } from "../../scripts/elements/dom.js";
import { INTERVAL, charts } from "../charts.js";
import { get, request } from "../session.js";
import { confirm, duration, facts, fail, heading, pill, poll, table, time } from "../widgets.js";

const whole = new Intl.NumberFormat("en");
const obstacles = { starting: "Starting", draining: "Draining", storage_full: "The disk is full" };

export const overview = {
    id: "overview",
    title: "Overview",

    open(root) {
        const status = h("section", { class: "card status", "aria-label": "State of the server" });
        const button = h("button", { type: "button", class: "soft", hidden: true });
        const details = h("div", {});
        status.append(details, button);
        const drawing = charts();
        const rejected = h("div", {});
        root.append(heading("Overview"), status, drawing.element,
            h("section", { class: "card" }, h("h2", {}, "Rejected since the start"), rejected));

        function show(server) {
            details.replaceChildren(facts([
                ["State", server.ready ? pill("Ready", "good") : pill(obstacles[server.obstacle] ?? server.obstacle, "bad")],
                ["Version", server.version],
                ["Up for", duration(server.uptime)],
                ["Started", time(server.startedAt)],
                ["Runs", server.roles.join(", ")],
                ["Relay allocations", whole.format(server.allocations)],
            ]));
            button.hidden = false;
            button.textContent = server.draining ? "Stop draining" : "Drain";
            button.onclick = () => drain(!server.draining);
        }

        async function drain(on) {
            if (on && !await confirm({
                title: "Drain this server?", action: "Drain",
                text: "New relay allocations are refused, and /readyz responds with 503, so that a load balancer sends "
                    + "clients elsewhere. What is there goes on.",
            })) return;
            await busy(button, async () => {
                show(await request("PUT", "/admin/v1/drain", { on }));
                toast(on ? "Draining" : "No longer draining");
            }, fail);
        }

        function showRejected(reasons) {
            const rows = Object.entries(reasons).filter(([, count]) => count > 0).sort((one, other) => other[1] - one[1])
                .map(([reason, count]) => [reason.replaceAll("_", " "), whole.format(count)]);
            rejected.replaceChildren(rows.length ? table("Rejected since the start", ["Reason", "Count"], rows)
                : h("p", { class: "hint" }, "Nothing."));
        }

        return poll(async (signal) => {
            try {
                const [stats, server] = await Promise.all(
                    [get("/admin/figures", signal), get("/admin/v1/server", signal)]);
                if (signal.aborted) return;
                drawing.add(stats);
                showRejected(stats.reasons);
                show(server);
            } catch (error) {
                drawing.interrupt();
                throw error;
            }
        }, INTERVAL);
    },
};
