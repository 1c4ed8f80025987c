// What a message means, under its text: a badge that opens the explanations.

import { server } from "../../connection/features.js";
import { attempt } from "../../elements/attempt.js";
import { button, h, icon } from "../../elements/dom.js";
import { visible } from "../../elements/message-text.js";
import { hasText, t } from "../../language/texts.js";
import { quotedIn } from "../../state/hints.js";
import { wordsOf } from "../../state/reading.js";
import { messageOf } from "../../state/thread-rows.js";

/** What stands there; undefined if nothing does. */
export function hintsOf(thread, message) {
    const shown = thread.hints.of(message);
    if (!shown) return undefined;
    const { row, isAsking, isOpen } = shown;
    const count = row?.items.length ?? 0;
    return h("div", { class: "hints", role: "group", "aria-label": t("hints.title"), data: { hints: isAsking && !row ? "asking" : row.status } },
        count > 0 && h("p", { class: "translation-line" }, icon("info"),
            h("button", { type: "button", class: "link", "aria-expanded": String(isOpen), "aria-controls": `hints-${message.number}`, data: { action: "toggle-hints" },
                onclick: () => thread.hints.toggle(message) }, isOpen ? t("hints.hide") : t("hints.count", { count }))),
        count > 0 && h("dl", { class: "hint-list", id: `hints-${message.number}`, hidden: !isOpen }, row.items.map((one) => explained(message, one, row))),
        stateLine(thread, message, shown));
}

function explained(message, hint, { kind, language }) {
    return h("div", { class: "hint-item", data: { kind: hint.kind } },
        h("dt", {}, h("q", { lang: message.language?.code, dir: "auto" }, visible(quotedIn(wordsOf(message) ?? "", hint))), " ",
            h("span", { class: "hint" }, kindText(hint.kind))),
        h("dd", { dir: "auto", lang: kind === "model" ? language : "en" }, visible(hint.meaning)),
        hint.expansion && hint.expansion !== hint.meaning && h("dd", { class: "hint" }, t.rich("hints.expansion", { words: h("q", { dir: "auto", lang: message.language?.code }, visible(hint.expansion)) })),
        hint.equivalent && h("dd", { class: "hint" }, t.rich("hints.equivalent", { words: h("q", { dir: "auto", lang: language }, visible(hint.equivalent)) })));
}

const kindText = (kind) => hasText(`hintKinds.${kind}`) ? t(`hintKinds.${kind}`) : kind;

/** What becomes of it, while something does, or why there is nothing. */
function stateLine(thread, message, { row, isAsked, isAsking }) {
    const line = (name, ...children) => h("p", { class: "translation-line", role: "status" }, icon(name), children);
    const engine = server.languageModel?.name ?? "";
    if (isAsking && !row) return line("info", t("hints.asking"));
    if (row.status === "queued") return line("clock", t("hints.askingModel", { engine }));
    const retry = () => button({ label: t("message.retry"), class: "link", data: { action: "retry-hints" }, onclick: () => explain(thread, message) });
    if (row.status === "failed") return line("alert", h("span", {}, t("hints.failed", { engine })), " ", retry());
    if (!isAsked) return undefined;
    if (row.kind === "model" && row.items.length > 0) return line("info", h("span", {}, t("hints.byModel", { engine: row.engine })));
    const why = row.reason && row.reason !== "no_text" ? reasonText(row.reason, engine) : undefined;
    if (row.items.length > 0) return why && line("info", h("span", {}, why));
    return line("info", h("span", {}, [t("hints.nothing"), why].filter(Boolean).join(" ")));
}

const reasonText = (reason, engine) => hasText(`hintReasons.${reason}`) ? t(`hintReasons.${reason}`, { engine }) : t("hintReasons.provider_failed", { engine });

/** Those that were asked for, for who listens to the page. */
export function spokenHints(thread, row) {
    const message = messageOf(thread.state, row.number);
    if (!message || row.items.length === 0) return t("hints.nothing");
    return row.items.map((one) => `${quotedIn(wordsOf(message) ?? "", one)}: ${one.meaning}`).join("; ");
}

/** Asks what a message means. */
export const explain = (thread, message) => attempt(thread.hints.ask(message));
