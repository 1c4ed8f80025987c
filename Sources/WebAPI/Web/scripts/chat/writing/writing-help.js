// Help with a draft: how it will sound, other ways to write it, and replies that can be taken over. Nothing is changed or
// sent without the user.

import { server } from "../../connection/features.js";
import { errorMessage } from "../../connection/problems.js";
import { requestOnce } from "../../connection/requests.js";
import { closeButton, open } from "../../elements/dialogs.js";
import { button, h, icon } from "../../elements/dom.js";
import { visible } from "../../elements/message-text.js";
import { hasText, t } from "../../language/texts.js";
import { allHosted, consentText } from "../../settings/hosted-services.js";
import { quotedIn } from "../../state/hints.js";
import { decoded } from "../../state/mentions.js";
import { inbox } from "../../sync/inbox.js";

const STYLES = ["formal", "informal", "friendly", "simple", "shorter", "correct"];
/** Models take their time. */
const TIMEOUT = 60_000;

/**
 * Opens it for a draft, as it is sent; `take(text)` is called with another one that the user wants instead.
 */
export function openWritingHelp(thread, text, take) {
    const nameOf = (user) => thread.state.people[user]?.displayName;
    const shown = (words) => visible(decoded(words, nameOf).text);
    const findings = h("div", { class: "draft-findings", role: "status" });
    const proposal = h("div", { class: "draft-proposal", role: "status" });
    const model = server.languageModel;
    /** Of several requests the last counts. */
    let current = 0;

    /** Shows what comes of a request in `area`; what may be tried again can be. */
    async function work(area, name, params, draw) {
        const own = current += 1;
        area.replaceChildren(h("p", { class: "hint" }, icon("clock"), " ", t("writing.working")));
        try {
            const result = await requestOnce(name, { conversation: thread.id, text, ...params }, TIMEOUT);
            if (own === current && dialog.open) area.replaceChildren(...draw(result));
        } catch (error) {
            if (own !== current || !dialog.open) return;
            const again = () => work(area, name, params, draw);
            area.replaceChildren(...failure(error, again));
        }
    }

    /** What has failed: a hosted model needs the author's consent, which is asked for by its name and those of what it covers too. */
    function failure(error, again) {
        const needsConsent = error.type === "consent_required" && model?.hosted;
        return [h("p", { class: "error", role: "alert" }, needsConsent ? consentText(t("writing.consent", { engine: model.name })) : errorMessage(error)),
            h("div", { class: "choices" }, needsConsent
                ? button({ label: t("writing.allow", { engine: allHosted() }), class: "soft", data: { action: "allow-model" }, onclick: async () => {
                    inbox.keep(thread.id, { intelligence: "full" });
                    // It is known to the server before it is asked again.
                    await requestOnce("members.updateMe", { conversation: thread.id, intelligence: "full" }, TIMEOUT).catch(() => {});
                    again();
                } })
                : button({ label: t("message.retry"), class: "soft", data: { action: "retry-writing" }, onclick: again }))];
    }

    const check = (usesModel) => work(findings, "drafts.check", usesModel ? { model: true } : {}, ({ tone, findings: all, kind, engine }) => [
        h("p", {}, h("strong", {}, t(`writingTones.${hasText(`writingTones.${tone}`) ? tone : "neutral"}`)),
            kind === "model" && h("span", { class: "hint" }, " · ", engine)),
        all.length === 0 ? h("p", { class: "hint" }, t("writing.nothing"))
            : h("ul", { class: "finding-list" }, all.map((one) => h("li", { data: { finding: one.kind } },
                h("q", { dir: "auto" }, shown(quotedIn(text, one))), " ", h("span", {}, findingText(one)),
                one.suggestion && h("span", { class: "hint" }, " ", t.rich("writing.instead", { words: h("bdi", {}, visible(one.suggestion)) }))))),
    ]);

    const rewrite = (style) => work(proposal, "drafts.rewrite", { style }, ({ text: other, engine }) => [
        h("div", { class: "two-drafts" },
            h("figure", {}, h("figcaption", { class: "hint" }, t("writing.yours")), h("blockquote", { dir: "auto" }, shown(text))),
            h("figure", {}, h("figcaption", { class: "hint" }, t("writing.proposal", { engine })), h("blockquote", { dir: "auto", id: "rewritten" }, shown(other)))),
        h("div", { class: "choices" },
            button({ label: t("writing.take"), class: "primary", data: { action: "take-proposal" }, onclick: () => { dialog.close(); take(other); } }),
            button({ label: t("writing.leave"), class: "quiet", data: { action: "leave-proposal" }, onclick: () => proposal.replaceChildren() })),
    ]);

    const dialog = open({ id: "writing-help", "aria-labelledby": "writing-help-title", class: "dialog picker writing-help" },
        h("h2", { id: "writing-help-title" }, t("writing.title")),
        h("section", { "aria-labelledby": "writing-tone-title" }, h("h3", { id: "writing-tone-title" }, t("writing.sounds")), findings,
            model && button({ label: t("writing.askModel", { engine: model.name }), class: "small soft", data: { action: "ask-model" }, onclick: () => check(true) })),
        model && h("section", { "aria-labelledby": "writing-styles-title" }, h("h3", { id: "writing-styles-title" }, t("writing.rewrite")),
            h("div", { class: "draft-styles" }, STYLES.map((style) => button({ label: t(`writingStyles.${style}`), class: "small soft", data: { style }, onclick: () => rewrite(style) }))),
            proposal),
        model?.hosted && h("p", { class: "hint" }, t("writing.hosted", { engine: model.name })),
        closeButton(() => dialog.close()));
    check(false);
}

function findingText({ kind, advice }) {
    if (kind === "tone" || !hasText(`writingFindings.${kind}`)) return visible(advice ?? "");
    return t(`writingFindings.${kind}`);
}

/** Replies to a message, above the field in which they are written: `{node, suggest(message), close()}`. */
export function replyChips(thread, { take }) {
    const node = h("div", { class: "reply-chips", role: "group", "aria-label": t("writing.replies"), hidden: true });
    let current = 0;
    const close = () => {
        current += 1;
        node.hidden = true;
        node.replaceChildren();
    };
    const closing = () => button({ name: "close", label: t("common.close"), bare: true, class: "round quiet", data: { action: "close-replies" }, onclick: close });
    const suggest = async (message) => {
        const own = current += 1;
        const model = server.languageModel;
        node.hidden = false;
        node.replaceChildren(h("p", { class: "hint", role: "status" }, model ? t("hints.askingModel", { engine: model.name }) : t("writing.working")), closing());
        try {
            const { replies } = await requestOnce("replies.suggest", { conversation: thread.id, number: message.number }, TIMEOUT);
            if (own !== current) return;
            node.replaceChildren(...replies.map((text) => h("button", { type: "button", class: "chip", dir: "auto", data: { action: "take-reply" },
                onclick: () => { close(); take(message, text); } }, visible(text))), closing());
            node.querySelector("button").focus();
        } catch (error) {
            if (own !== current) return;
            const needsConsent = error.type === "consent_required" && model?.hosted;
            node.replaceChildren(h("p", { class: "hint", role: "alert" }, needsConsent ? t("writing.replyConsent", { engine: model.name }) : errorMessage(error)),
                !needsConsent && button({ label: t("message.retry"), class: "small soft", data: { action: "retry-replies" }, onclick: () => suggest(message) }) || "", closing());
        }
    };
    return { node, suggest, close };
}
