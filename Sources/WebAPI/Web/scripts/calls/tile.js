// One tile of a group call: a participant's video or initials, or their screen, with their state.

import { avatar } from "../elements/avatar.js";
import { h, icon } from "../elements/dom.js";
import { millisecondsText, numberText, presenceInCall, rateText } from "../language/format.js";
import { t } from "../language/texts.js";
import { play } from "./pair-scene.js";

export class Tile {
    node;
    #user;
    #video;
    #name;
    #state;
    #mark;
    #bars;

    /** `source` is `camera` or `screen`. */
    constructor(person, source) {
        this.#user = person.user;
        this.#video = h("video", { autoplay: true, playsInline: true, muted: true, hidden: true });
        this.#name = h("span", { class: "tile-name" }, h("span"), h("span", { class: "rest" }));
        this.#state = h("span", { class: "tile-state" });
        this.#mark = h("span", { class: "tile-mark", hidden: true }, icon("microphoneOff"), h("span", { class: "unseen" }, t("tile.microphoneOff")));
        this.#bars = h("span", { class: "bars", role: "img", hidden: true }, h("i"), h("i"), h("i"));
        const face = source === "camera"
            && h("div", { class: "tile-face" }, avatar({ id: person.user, displayName: person.displayName, photoURL: person.photoURL }, { size: "large" }));
        this.node = h("li", { class: "tile", data: { user: person.user, source } }, this.#video, face,
            h("div", { class: "tile-foot" }, this.#name, this.#state, this.#mark, this.#bars));
    }

    /** `track` is the video, if there is one. */
    show(person, { track, isMe, isSpeaking, isMirrored }) {
        const { node } = this;
        const isScreen = node.dataset.source === "screen";
        const owner = isMe ? t("common.you") : person.displayName;
        this.#setName(!isScreen ? owner : isMe ? t("tile.ownScreen") : t("tile.screen", { name: owner }));
        const state = isScreen ? "" : presenceInCall(person) ?? (person.media?.held ? t("progress.onHold") : "");
        this.#state.textContent = state;
        const isMuted = !isScreen && person.state === "joined" && person.media?.audio === false;
        this.#mark.hidden = !isMuted;
        node.dataset.state = person.state;
        node.dataset.own = String(isMe);
        node.dataset.muted = String(isMuted);
        node.dataset.picture = String(Boolean(track));
        this.#video.hidden = !track;
        this.#video.classList.toggle("mirrored", isMirrored);
        this.#video.setAttribute("aria-label", isScreen ? this.#name.textContent : t("tile.video", { name: owner }));
        play(this.#video, track);
        this.setSpeaking(isSpeaking && !isMuted);
    }

    /** A small tile has room for the first name only. */
    #setName(name) {
        if (this.#name.textContent === name) return;
        const [first, ...rest] = name.split(" ");
        this.#name.children[0].textContent = first;
        this.#name.children[1].textContent = rest.length > 0 ? ` ${rest.join(" ")}` : "";
    }

    setSpeaking(isSpeaking) { this.node.dataset.speaking = String(Boolean(isSpeaking)); }

    /** `quality` is `{level, loss, jitter, rate}`; undefined hides the bars. */
    rate(quality) {
        this.#bars.hidden = !quality;
        if (!quality) return;
        const { level, loss, jitter, rate } = quality;
        this.#bars.dataset.level = level;
        const text = t(`quality.${level}`);
        this.#bars.setAttribute("aria-label", text);
        const values = { quality: text, loss: numberText(loss * 100, 1), rate: rateText(rate) };
        this.#bars.title = jitter === undefined ? t("tile.quality", values) : t("tile.qualityWithJitter", { ...values, jitter: millisecondsText(jitter) });
    }

    get user() { return this.#user; }

    close() {
        play(this.#video, undefined);
        this.node.remove();
    }
}
