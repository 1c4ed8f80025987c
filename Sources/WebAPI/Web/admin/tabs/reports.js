// What users reported about others: with the messages that they reported, and what was made of it.

import { busy, h, toast } from "../../scripts/elements/dom.js";
import { get, request } from "../session.js";
import { fail, heading, pages, pill, time } from "../widgets.js";

const COLUMNS = ["When", "About", "By", "Why", "What to do"];
const REASONS = { spam: "Spam", abuse: "Abuse", impersonation: "Impersonation", other: "Something else" };
const OUTCOMES = { dismissed: "Dismissed", acted: "Acted on" };

export const reports = {
    id: "reports",
    title: "Reports",

    open(root) {
        const state = h("select", { "aria-label": "Which reports", onchange: () => list.reload() },
            h("option", { value: "open" }, "Open"), h("option", { value: "resolved" }, "Resolved"), h("option", { value: "" }, "All"));
        const list = pages("Reports", COLUMNS, async (cursor) => {
            const query = new URLSearchParams({ ...(state.value && { state: state.value }), ...(cursor && { cursor }) });
            const { reports: found, nextCursor } = await get(`/admin/v1/reports?${query}`);
            return [found.map(cells), nextCursor];
        }, { empty: "There are no such reports.", more: "Older" });

        function cells(report) {
            return [time(report.createdAt), user(report.user), user(report.reporter), why(report), actions(report)];
        }

        function actions(report) {
            const { resolution } = report;
            const resolve = (outcome, label) => {
                const button = h("button", { type: "button", class: "soft small", data: { outcome }, onclick: () => busy(button, async () => {
                    await request("POST", `/admin/v1/reports/${report.id}/resolve`, { outcome });
                    toast(`The report is noted as ${OUTCOMES[outcome].toLowerCase()}`);
                    await list.reload();
                }, fail) }, label);
                return button;
            };
            return h("div", { class: "report-actions" },
                resolution && h("p", { class: "hint" }, pill(OUTCOMES[resolution.outcome] ?? resolution.outcome, "good"), " ", time(resolution.at)),
                resolution?.outcome !== "acted" && resolve("acted", "Acted on"),
                resolution?.outcome !== "dismissed" && resolve("dismissed", "Dismiss"));
        }

        root.append(heading("Reports", state,
            h("button", { type: "button", class: "soft small", onclick: () => list.reload() }, "Refresh")),
        h("p", { class: "hint" },
            "What to do about a user is on their page: sign-ins can be ended there, and the account disabled. Who resolves a report stands in the audit log."),
        list.element);
        list.reload();
    },
};

const user = (id) => h("a", { href: `#/users/${id}` }, h("code", {}, id));

function why({ reason, text, messages }) {
    return h("div", {}, pill(REASONS[reason] ?? reason), text && h("p", { class: "report-text" }, h("bdi", {}, text)),
        messages.length > 0 && h("details", {},
            h("summary", {}, messages.length === 1 ? "The reported message" : `The reported message, and ${messages.length - 1} before it`),
            h("ol", { class: "evidence" }, messages.map((message) => h("li", {},
                h("p", { class: "hint" }, time(message.sentAt, { seconds: true }), ` · number ${message.number}`),
                h("blockquote", { dir: "auto" }, message.text))))));
}
