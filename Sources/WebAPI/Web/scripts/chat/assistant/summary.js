// What is worth knowing of messages: of those that are unread, the last ones, a thread or a call. Each item leads to the
// messages that it rests on.

import { credentials } from "../../connection/credentials.js";
import { server } from "../../connection/features.js";
import { request, requestOnce } from "../../connection/requests.js";
import { closeButton, open } from "../../elements/dialogs.js";
import { h, icon } from "../../elements/dom.js";
import { visible } from "../../elements/message-text.js";
import { clockText, dayText, stampText } from "../../language/format.js";
import { hasText, t } from "../../language/texts.js";
import { dueOf, sectionsOf } from "../../state/summary-items.js";
import { names } from "../../sync/known-names.js";
import { machineFailure } from "../messages/machine-failure.js";
import { messageLink } from "../messages/message-link.js";

/** Models take their time. */
const TIMEOUT = 60_000;

/** Whether this server can sum up. */
export const canSumUp = () => server.findsMeaning || Boolean(server.languageModel);

/**
 * Opens it for a conversation. `scopes` are what can be summed up, `{name, params}`, the first of them at once: `unread`,
 * `newest`, `thread` or `call`, with the parameters of the request.
 */
export function openSummary(conversation, scopes, title = "") {
    const said = h("p", { class: "hint", role: "status" });
    const result = h("div", { class: "summary-result" });
    const tabs = h("div", { class: "filters", role: "group", "aria-label": t("summary.which"), hidden: scopes.length < 2 }, scopes.map((scope) =>
        h("button", { type: "button", class: "filter", data: { scope: scope.name }, onclick: () => load(scope) }, t(`summaryScopes.${scope.name}`))));
    const dialog = open({ id: "summary", "aria-labelledby": "summary-title", class: "dialog picker summary-dialog" },
        h("h2", { id: "summary-title" }, title === "" ? t("summary.title") : t.rich("summary.titleOf", { name: h("bdi", {}, visible(title)) })),
        tabs, h("div", { class: "summary-scroller" }, said, result), closeButton(() => dialog.close()));
    const leave = () => { for (const one of document.querySelectorAll("dialog.dialog[open]")) one.close(); };
    /** Of several requests the last counts. */
    let turn = 0;

    const load = async (scope) => {
        const mine = turn += 1;
        for (const one of tabs.children) one.setAttribute("aria-pressed", String(one.dataset.scope === scope.name));
        said.replaceChildren(icon("clock"), " ", t("summary.working"));
        result.replaceChildren();
        dialog.setAttribute("aria-busy", "true");
        const show = (line, ...content) => {
            if (mine !== turn || !dialog.open) return;
            dialog.removeAttribute("aria-busy");
            said.replaceChildren(line);
            result.replaceChildren(...content);
        };
        try {
            const summary = await requestOnce("summaries.create", { conversation, ...scope.params }, TIMEOUT);
            const sections = sectionsOf(summary);
            const nameOf = await namesOf(sections.flatMap(({ items }) => items));
            if (sections.length === 0) show("", h("div", { class: "empty" }, icon("notes"), h("p", { role: "status" }, scope.params.call ? t("summary.nothingSaid") : t("summary.nothing"))));
            else show(scope.params.call ? t("summary.countSaid", { count: summary.count }) : t("summary.count", { count: summary.count }), ...sections.map((one) => sectionPart(one, { conversation, nameOf, leave })), kindLine(summary, scope));
        } catch (error) {
            show("", machineFailure(error, () => load(scope)));
        }
    };
    load(scopes[0]);
}

function sectionPart({ kind, items }, context) {
    return h("section", { data: { section: kind } }, h("h3", {}, t(`summaryKinds.${kind}`)), h("ul", { class: "summary-items" }, items.map((item) => itemPart(item, context))));
}

function itemPart(item, { conversation, nameOf, leave }) {
    const due = dueOf(item);
    const about = [item.said && h("span", { data: { said: String(item.said.start) } }, icon("microphone"), clockText(item.said.start)),
        item.owner && h("span", { data: { owner: item.owner } }, icon("people"), h("bdi", {}, visible(nameOf(item.owner)))),
        due && h("span", { data: { due: item.due } }, icon("calendar"), t("summary.due", { time: due.isDay ? dayText(due.at) : stampText(due.at) }))].filter(Boolean);
    const isAlone = item.messages.length === 1;
    return h("li", {}, h("p", { class: "summary-text", dir: "auto" }, visible(item.text)),
        about.length > 0 && h("p", { class: "summary-about" }, about),
        h("p", { class: "summary-links" }, item.messages.map((number, index) => messageLink({ conversation, number },
            { leave, class: isAlone ? "link" : "source", data: { number: String(number) }, ...(!isAlone && { "aria-label": t("summary.message", { number: index + 1 }) }) },
            isAlone ? t("summary.show") : String(index + 1)))));
}

/** Who has made it, and why it was no language model where there is one. */
function kindLine({ kind, engine, reason }, { params }) {
    const model = server.languageModel?.name ?? "";
    const why = reason && hasText(`hintReasons.${reason}`) ? t(`hintReasons.${reason}`, { engine: model }) : "";
    return h("p", { class: "hint", data: { made: kind } }, icon("info"), " ",
        kind === "model" ? t("summary.written", { engine: engine ?? model }) : [params.call ? t("summary.extractedSaid") : t("summary.extracted"), why].filter(Boolean).join(" "));
}

/** The names of those who are to do something. */
async function namesOf(items) {
    const found = new Map();
    await Promise.all([...new Set(items.map((one) => one.owner).filter(Boolean))].map(async (user) => {
        const known = user === credentials.user?.id ? t("common.you") : names.of(user);
        found.set(user, known ?? await request("users.get", { user }).then((person) => person.displayName, () => undefined) ?? t("common.somebody"));
    }));
    return (user) => found.get(user);
}
