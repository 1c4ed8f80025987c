// Live captions: the last lines, above the controls.

import { serverInfo } from "../api.js";
import { h } from "../dom.js";
import { t } from "../language/texts.js";

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

    constructor(call) {
        this.#call = call;
        this.#lines = h("div", { class: "caption-lines", role: "log", "aria-label": t("captions.lines") });
        this.#error = h("p", { class: "caption-trouble", role: "status", hidden: true });
        this.node = h("div", { id: "captions", class: "captions", hidden: true }, this.#lines, this.#error);
        this.#unsubscribe = call.on("caption", (caption) => this.#show(caption));
    }

    show() {
        const { captions, phase } = this.#call;
        this.node.hidden = !captions || phase === "ended";
        if (this.node.hidden) this.#lines.replaceChildren();
        const error = captions?.failure ? t("captions.failure", { reason: captions.failure }) : "";
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
        this.#lines.append(h("p", { class: "caption", data: { user } }, h("b", { class: "caption-name" }, name), " ",
            h("span", { class: "caption-words", ...(language && { lang: language }) }, text)));
    }

    #removeLater(line) {
        clearTimeout(line.timer);
        line.timer = setTimeout(() => line.remove(), LINE_LIFETIME);
    }
}
