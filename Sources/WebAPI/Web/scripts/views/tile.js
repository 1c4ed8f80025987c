// One tile of a group call: a participant's video or initials, or their screen, with their state.

import { h, icon } from "../dom.js";
import { presenceInCall, rateText } from "../format.js";
import { avatar } from "./avatar.js";
import { play } from "./pair-scene.js";

const qualities = ["No connection", "Poor connection", "Fair connection", "Good connection"];

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
        this.#mark = h("span", { class: "tile-mark", hidden: true }, icon("microphoneOff"), h("span", { class: "unseen" }, "microphone off"));
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
        const owner = isMe ? "You" : person.displayName;
        this.#setName(!isScreen ? owner : isMe ? "Your screen" : `${owner}’s screen`);
        const state = isScreen ? "" : presenceInCall(person) ?? (person.media?.held ? "On hold" : "");
        this.#state.textContent = state;
        const isMuted = !isScreen && person.state === "joined" && person.media?.audio === false;
        this.#mark.hidden = !isMuted;
        node.dataset.state = person.state;
        node.dataset.own = String(isMe);
        node.dataset.muted = String(isMuted);
        node.dataset.picture = String(Boolean(track));
        this.#video.hidden = !track;
        this.#video.classList.toggle("mirrored", isMirrored);
        this.#video.setAttribute("aria-label", isScreen ? this.#name.textContent : `Video of ${owner}`);
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
        this.#bars.setAttribute("aria-label", qualities[level]);
        const jitterText = jitter === undefined ? "" : `, jitter ${Math.round(jitter)} ms`;
        this.#bars.title = `${qualities[level]}: ${(loss * 100).toFixed(1)} % lost${jitterText}, ${rateText(rate)}`;
    }

    get user() { return this.#user; }

    close() {
        play(this.#video, undefined);
        this.node.remove();
    }
}
