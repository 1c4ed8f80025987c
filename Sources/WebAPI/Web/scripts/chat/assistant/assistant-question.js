// The field in which the assistant is asked, with what the question is about, and for whom the answer is.

import { credentials } from "../../connection/credentials.js";
import { server } from "../../connection/features.js";
import { request } from "../../connection/requests.js";
import { report } from "../../elements/attempt.js";
import { busy, button, h, icon } from "../../elements/dom.js";
import { redraw } from "../../elements/keyed.js";
import { visible } from "../../elements/message-text.js";
import { t } from "../../language/texts.js";
import { allHosted, consentText } from "../../settings/hosted-services.js";
import { preferences } from "../../store/preferences.js";
import { assistant } from "../../sync/assistant.js";
import { titleOf } from "../list/conversation-row.js";
import { machineFailure } from "../messages/machine-failure.js";

/** The server's limit, in characters. */
const MOST = 4_000;

/**
 * `scope` is `{conversation?, for}`, `about()` the row of the conversation that it is about, and `thread` what it goes on with.
 * `asked(run)` is called when it was asked.
 */
export function questionForm({ scope: first, thread, about, asked }) {
    let scope = first;
    let isRunning = false;
    const field = h("textarea", { id: "question", rows: "2", maxlength: String(MOST), dir: "auto", placeholder: t("assistant.placeholder"), "aria-label": t("assistant.placeholder"),
        enterkeyhint: "send", oninput: () => { assistant.unsent = field.value; } });
    const submit = button({ name: "send", label: t("assistant.ask"), class: "primary pill", type: "submit", data: { action: "ask" } });
    const scopeNode = h("div", { class: "question-scope" });
    const failed = h("div", {});
    const submitted = (event) => {
        event.preventDefault();
        send();
    };
    const node = h("form", { class: "card question-form", id: "question-form", onsubmit: submitted }, scopeNode, field, h("div", { class: "question-foot" }, hostedHint(), submit), failed);
    field.value = assistant.unsent ?? "";
    field.addEventListener("keydown", (event) => {
        if (event.isComposing || event.keyCode === 229 || event.key !== "Enter") return;
        if (!(event.ctrlKey || event.metaKey) && (!preferences.get("enterSends") || event.shiftKey)) return;
        event.preventDefault();
        send();
    });

    const send = () => {
        const question = field.value.trim();
        if (question === "" || isRunning) return field.focus();
        failed.replaceChildren();
        busy(submit, async () => {
            const run = await assistant.ask({ question, ...(thread && { thread }), ...scope });
            field.value = assistant.unsent = "";
            asked(run);
        }, (error) => failed.replaceChildren(isOwnConsent(error) ? consentNeeded(send) : machineFailure(error, send)));
    };
    let drawn;
    const draw = () => {
        const row = about();
        const kind = row?.conversation.kind;
        const key = JSON.stringify([isRunning, row && titleOf(row), kind, scope]);
        // Somebody may be in the middle of a choice.
        if (key === drawn) return;
        drawn = key;
        submit.disabled = isRunning;
        redraw(scopeNode, row ? [
            h("p", { class: "question-about" }, icon("chat"), h("span", {}, t.rich("assistant.about", { name: h("bdi", {}, visible(titleOf(row))) })),
                !thread && h("a", { class: "link", href: "#/assistant", data: { action: "ask-of-all" } }, t("assistant.ofAll"))),
            kind === "self" ? false : !thread ? audience() : scope.for === "conversation" && h("p", { class: "hint" }, t("assistant.forAll")),
        ] : h("p", { class: "hint" }, scope.conversation ? t("assistant.aboutOne") : t("assistant.aboutAll")));
    };
    const audience = () => h("fieldset", { class: "options question-audience" }, h("legend", {}, t("assistant.for")), ["me", "conversation"].map((value) =>
        h("label", { class: "option" }, h("input", { type: "radio", name: "audience", value, checked: scope.for === value, onchange: () => {
            scope = { ...scope, for: value };
            draw();
        } }),
            h("span", {}, t(`assistantAudiences.${value}`)))));
    draw();
    const unsubscribe = server.on("change", draw);
    return {
        node,
        draw,
        /** The scope of the thread, which is known once that is read, and whether it is being answered. */
        follow(next, running) {
            if (scope.conversation !== next.conversation) scope = next;
            isRunning = running;
            draw();
        },
        focus() { if (matchMedia("(hover: hover)").matches) field.focus({ preventScroll: true }); },
        close: unsubscribe,
    };
}

const hostedHint = () => h("p", { class: "hint" }, server.languageModel?.hosted ? t("assistant.hosted", { engine: server.languageModel.name }) : "");

/** It is the user's own level that does not allow it. */
const isOwnConsent = ({ type, field }) => type === "consent_required" && field === "intelligence";

/** The user may allow it, a hosted model and what is allowed with it by their names, and then it is asked `again`. */
function consentNeeded(again) {
    const { languageModel: model } = server;
    const allow = button({ label: t("assistant.allow", { engine: allHosted() }), class: "soft small", data: { action: "allow-model" }, onclick: () => busy(allow, async () => {
        credentials.setUser(await request("me.update", { intelligence: "full" }));
        again();
    }, report) });
    return h("div", { class: "machine-failure", data: { failure: "consent" } },
        h("p", { role: "alert" }, icon("shield"), h("span", {}, model?.hosted ? consentText(t("assistant.consent", { engine: model.name })) : t("assistant.consentOff"))),
        h("div", { class: "pair" }, model?.hosted && allow, h("a", { class: "link", href: "#/settings/languages" }, t("assistant.toSettings"))));
}
