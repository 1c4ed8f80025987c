// What is said in a call, as it was understood: the last lines, above the controls.

import { serverInfo } from "../api.js";
import { h } from "../dom.js";

const LINES = 3;
const STAY = 8_000;
/** What somebody goes on to say stands in the same line, up to here. */
const LONGEST = 110;

let asked;

/** Whether the server has somebody who writes down what is said. */
export const hasTranscription = () => asked ??= serverInfo().then((info) => info.transcribes, () => { asked = undefined; return false; });

export class CaptionsView {
    node;
    #call;
    #lines;
    #trouble;
    #unhear;

    constructor(call) {
        this.#call = call;
        this.#lines = h("ol", { class: "caption-lines", role: "log", "aria-label": "Captions" });
        this.#trouble = h("p", { class: "caption-trouble", role: "status", hidden: true });
        this.node = h("div", { id: "captions", class: "captions", hidden: true }, this.#lines, this.#trouble);
        this.#unhear = call.on("caption", (caption) => this.#take(caption));
    }

    show() {
        const { captions, phase } = this.#call;
        this.node.hidden = !captions || phase === "ended";
        if (this.node.hidden) this.#lines.replaceChildren();
        const trouble = captions?.failure ? `No captions at the moment: ${captions.failure}` : "";
        if (this.#trouble.textContent !== trouble) this.#trouble.textContent = trouble;
        this.#trouble.hidden = !trouble;
    }

    close() { this.#unhear(); }

    #take({ user, text, language }) {
        const last = this.#lines.lastElementChild;
        const words = last?.querySelector(".caption-words");
        if (last?.dataset.user === user && words.textContent.length + text.length < LONGEST) words.textContent += ` ${text}`;
        else this.#add(user, text, language);
        while (this.#lines.children.length > LINES) this.#lines.firstElementChild.remove();
        this.#stay(this.#lines.lastElementChild);
    }

    #add(user, text, language) {
        const name = this.#call.nameOf(user);
        this.#lines.append(h("li", { class: "caption", data: { user } }, h("b", { class: "caption-name" }, name), " ",
            h("span", { class: "caption-words", ...(language && { lang: language }) }, text)));
    }

    #stay(line) {
        clearTimeout(line.timer);
        line.timer = setTimeout(() => line.remove(), STAY);
    }
}
