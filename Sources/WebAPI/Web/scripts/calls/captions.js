// Live captions: the last lines, above the controls, and under each what it says in the language that the user reads.

import { serverInfo } from "../connection/api.js";
import { credentials } from "../connection/credentials.js";
import { server } from "../connection/features.js";
import { h } from "../elements/dom.js";
import { languageName } from "../language/names.js";
import { hasText, t } from "../language/texts.js";
import { readerOf } from "../state/reading.js";

const MAX_LINES = 3;
const LINE_LIFETIME = 8_000;
/** The same speaker's next words are appended to the line, up to this length. */
const MAX_LINE_LENGTH = 110;

let transcriptionSupport;

/** Whether the server can transcribe. */
export const hasTranscription = () => transcriptionSupport ??= serverInfo().then((info) => info.transcribes, () => { transcriptionSupport = undefined; return false; });

/** By which a translation finds what it is of. */
const keyOf = ({ user, source, startedAt }) => [user, source, startedAt].join(" ");

export class CaptionsView {
    node;
    #call;
    #lines;
    #error;
    #translate;
    #unsubscribe;
    /** What the user chose in this call; undefined: as everywhere else. */
    #isTranslated;
    /** Why the last caption has no translation. */
    #reason;

    constructor(call) {
        this.#call = call;
        this.#lines = h("div", { class: "caption-lines", role: "log", "aria-label": t("captions.lines") });
        this.#error = h("p", { class: "caption-trouble", role: "status", hidden: true });
        this.#translate = h("button", { type: "button", class: "caption-translate", data: { action: "translate-captions" }, onclick: () => this.#toggle() });
        this.node = h("div", { id: "captions", class: "captions", hidden: true }, this.#lines, this.#error, this.#translate);
        this.#unsubscribe = [
            call.on("caption", (caption) => this.#show(caption)), call.on("translatedCaption", (translation) => this.#showTranslation(translation)),
            server.on("change", () => this.show()),
        ];
    }

    show() {
        const { captions, phase } = this.#call;
        this.node.hidden = !captions || phase === "ended";
        if (this.node.hidden) {
            this.#lines.replaceChildren();
            this.#reason = undefined;
        }
        const { into, mode } = readerOf(credentials.user);
        const canTranslate = !this.node.hidden && phase === "active" && server.translates && Boolean(into) && mode !== "off";
        const language = canTranslate && (this.#isTranslated ?? mode === "automatic") ? into : undefined;
        this.#call.translateCaptions(language);
        this.#translate.hidden = !canTranslate;
        if (canTranslate) {
            this.#translate.textContent = t("captions.translate", { language: languageName(into) });
            this.#translate.setAttribute("aria-pressed", String(Boolean(language)));
        }
        this.#showError(captions, language);
    }

    close() { this.#unsubscribe.forEach((one) => one()); }

    #toggle() {
        this.#isTranslated = this.#translate.getAttribute("aria-pressed") !== "true";
        if (!this.#isTranslated) for (const one of this.#lines.querySelectorAll(".caption-translation")) one.remove();
        this.#reason = undefined;
        this.show();
    }

    #showError(captions, language) {
        const reason = this.#reason && language && t(`translationReasons.${this.#reason}`, { language: languageName(language) });
        const error = captions?.failure ? t("captions.failure", { reason: captions.failure }) : reason ?? "";
        if (this.#error.textContent !== error) this.#error.textContent = error;
        this.#error.hidden = !error;
    }

    #show(caption) {
        const { user, text } = caption;
        const last = this.#lines.lastElementChild;
        const words = last?.querySelector(".caption-words");
        if (last?.dataset.user === user && words.textContent.length + text.length < MAX_LINE_LENGTH) words.textContent += ` ${text}`;
        else this.#add(caption);
        const line = this.#lines.lastElementChild;
        line.captions.add(keyOf(caption));
        while (this.#lines.children.length > MAX_LINES) this.#lines.firstElementChild.remove();
        this.#removeLater(line);
    }

    #add({ user, text, language }) {
        const name = this.#call.nameOf(user);
        const line = h("p", { class: "caption", data: { user } }, h("b", { class: "caption-name" }, name), " ",
            h("span", { class: "caption-words", dir: "auto", ...(language && { lang: language }) }, text));
        line.captions = new Set();
        this.#lines.append(line);
    }

    /** Under the line with the caption, if that is still there. */
    #showTranslation(translation) {
        const { status, text, language, reason } = translation;
        this.#reason = status === "done" ? undefined : hasText(`translationReasons.${reason}`) ? reason : "provider_failed";
        this.show();
        const line = [...this.#lines.children].find((one) => one.captions.has(keyOf(translation)));
        if (!line || status !== "done" || this.#translate.getAttribute("aria-pressed") !== "true") return;
        const shown = line.querySelector(".caption-translation");
        if (shown) shown.textContent += ` ${text}`;
        else line.append(h("span", { class: "caption-translation", lang: language, dir: "auto" }, text));
        this.#removeLater(line);
    }

    #removeLater(line) {
        clearTimeout(line.timer);
        line.timer = setTimeout(() => line.remove(), LINE_LIFETIME);
    }
}
