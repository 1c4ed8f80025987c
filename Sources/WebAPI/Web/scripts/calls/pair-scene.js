// The video of a call between two: the other person large, the local user small.

import { avatar } from "../elements/avatar.js";
import { h } from "../elements/dom.js";
import { t } from "../language/texts.js";

export class PairScene {
    node;
    #call;
    #remote;
    #self;
    #face;

    constructor(call) {
        this.#call = call;
        this.#remote = h("video", { id: "remote-video", class: "remote", autoplay: true, playsInline: true, muted: true });
        this.#self = h("video", { id: "self-video", class: "self", autoplay: true, playsInline: true, muted: true,
            "aria-label": t("pair.own") });
        this.#face = h("div", { class: "face" });
        this.node = h("div", { class: "scene" }, this.#remote, h("div", { class: "shade", "aria-hidden": "true" }),
            this.#face, this.#self);
    }

    /** Updates the videos. */
    show(section) {
        const call = this.#call;
        const ended = call.phase === "ended";
        const media = call.otherMedia;
        const seesOther = !ended && !call.held && !call.heldByOther && call.phase === "active"
            && Boolean(media?.video || media?.screen);
        section.dataset.picture = String(seesOther);
        section.dataset.screen = String(Boolean(media?.screen));
        this.#showFace(seesOther);
        this.#remote.setAttribute("aria-label", t("tile.video", { name: call.other.displayName }));
        play(this.#remote, call.received.find((one) => one.kind === "video")?.track);
        const own = ended ? undefined : call.media.video;
        this.#self.hidden = !own;
        this.#self.classList.toggle("mirrored", !call.isSharing);
        play(this.#self, own);
    }

    close() {
        play(this.#remote, undefined);
        play(this.#self, undefined);
    }

    #showFace(hidden) {
        const { id } = this.#call.other;
        if (this.#face.dataset.user !== id) this.#face.replaceChildren(avatar(this.#call.other, { size: "huge" }));
        this.#face.dataset.user = id;
        this.#face.hidden = hidden;
    }
}

/** Shows a track in a video element; does nothing if it shows that track already. */
export function play(element, track) {
    if (element.srcObject?.getTracks()[0] !== track) element.srcObject = track ? new MediaStream([track]) : null;
}
