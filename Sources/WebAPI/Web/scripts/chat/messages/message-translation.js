// The translation of a message, under the text that it was made from.

import { attempt } from "../../elements/attempt.js";
import { button, h, icon, toast } from "../../elements/dom.js";
import { messageText } from "../../elements/message-text.js";
import { languageName, originText } from "../../language/names.js";
import { hasText, t } from "../../language/texts.js";
import { plainText } from "../../state/pieces.js";
import { messageOf } from "../../state/thread-rows.js";
import { translatedRanges } from "../../state/translated-text.js";

/** What stands under a message's text; undefined if nothing does. */
export function translationOf(thread, message) {
    const shown = thread.translations.of(message);
    return shown && parts[shown.status] && h("div", { class: "translation", role: "group", "aria-label": t("translation.title"), data: { translation: shown.status } },
        parts[shown.status](thread, message, shown));
}

const parts = {
    queued: () => h("p", { class: "translation-line", role: "status" }, icon("globe"), t("translation.waiting")),
    done: (thread, message, { row, isHidden }) => [
        !isHidden && h("div", { class: "text", lang: row.language, dir: "auto" },
            messageText({ text: row.text, ranges: translatedRanges(row.text, message) }, (user) => thread.nameOf(user))),
        h("p", { class: "translation-line" }, icon("globe"), !isHidden && h("span", {}, originText(message, row)), " ",
            h("button", { type: "button", class: "link", "aria-expanded": String(!isHidden), data: { action: "toggle-translation" },
                onclick: () => thread.translations.toggle(message) }, isHidden ? t("translation.show") : t("translation.hide"))),
    ],
    failed: (thread, message, { row }) => h("p", { class: "translation-line", role: "status" }, icon("alert"),
        h("span", {}, t("translation.failed", { reason: reasonText(row) })), " ",
        button({ label: t("message.retry"), class: "link", data: { action: "retry-translation" }, onclick: () => translate(thread, [message]) })),
    unavailable: (_, __, { row }) => h("p", { class: "translation-line", role: "status" }, icon("globe"), h("span", {}, reasonText(row))),
};

function reasonText({ reason, language }) {
    const name = hasText(`translationReasons.${reason}`) ? reason : "provider_failed";
    return t(`translationReasons.${name}`, { language: languageName(language) });
}

/** One that was asked for, for who listens to the page. */
export function spokenTranslation(thread, row) {
    const message = messageOf(thread.state, row.number);
    if (row.status !== "done" || !message) return reasonText(row);
    return plainText(row.text, translatedRanges(row.text, message), (user) => thread.nameOf(user));
}

/** Asks for translations of these. Whoever has said no language is asked for it. */
export async function translate(thread, messages) {
    if (thread.translations.reader.into) return attempt(thread.translations.ask(messages));
    return toast(t("translation.noLanguage"), { action: { label: t("settings.title"), run: () => { location.hash = "#/settings/languages"; } } });
}
