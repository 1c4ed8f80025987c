// Why machines did not do what they were asked for, and trying it again.

import { server } from "../../connection/features.js";
import { errorMessage } from "../../connection/problems.js";
import { button, h, icon } from "../../elements/dom.js";
import { whenText } from "../../language/format.js";
import { t } from "../../language/texts.js";
import { failureOf } from "../../state/summary-items.js";
import { serverNow } from "../../store/clock.js";

/** The text for an error; a hosted model is told by its name. */
export function machineFailureText(error) {
    const { kind, until } = failureOf(error, serverNow());
    const { languageModel: model } = server;
    if (kind === "consent" && model) return t("hintReasons.consent_required", { engine: model.name });
    if (kind === "budget") return until ? t("machines.budgetUntil", { time: whenText(until) }) : t("machines.budget");
    return kind === "unavailable" ? t("machines.unavailable") : errorMessage(error);
}

/** The same for a page or a dialog, with a button to try it `again` where that may help. */
export function machineFailure(error, again) {
    const { canRetry } = failureOf(error, serverNow());
    return h("div", { class: "machine-failure", data: { failure: failureOf(error, 0).kind } }, h("p", { role: "alert" }, icon("alert"), h("span", {}, machineFailureText(error))),
        canRetry && button({ label: t("common.tryAgain"), class: "soft small", data: { action: "retry-machine" }, onclick: again }));
}
