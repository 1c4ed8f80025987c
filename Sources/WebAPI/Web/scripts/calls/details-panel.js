// The details panel: the path of the media, its quality, and a switch for "relay only".

import { Chart } from "../elements/chart.js";
import { button, h, toggle } from "../elements/dom.js";
import { millisecondsText, numberText, rateText } from "../language/format.js";
import { t } from "../language/texts.js";
import { preferences } from "../store/preferences.js";

const kinds = ["host", "srflx", "prflx"];

export class DetailsPanel {
    node;
    #call;
    #values = new Map();
    #chart;
    #canvas;

    constructor(call, close) {
        this.#call = call;
        this.#canvas = h("canvas", { class: "chart", role: "img", "aria-label": t("media.chart") });
        this.#chart = new Chart(this.#canvas);
        this.node = h("div", { id: "details" },
            h("div", { class: "panel-head" }, h("h2", { tabindex: "-1" }, t("media.title")),
                button({ name: "close", label: t("common.close"), bare: true, class: "round glass", data: { action: "close-panel" }, onclick: close })),
            h("p", { class: "path", data: { stat: "path" } }, t("progress.connecting")),
            this.#canvas,
            h("p", { class: "legend" }, this.#rate("down", t("media.received")), this.#rate("up", t("media.sent"))),
            h("dl", { class: "stats" }, this.#rows()),
            toggle({ id: "relay-only", label: t("media.relayOnly"), checked: preferences.get("relayOnly"),
                onchange: (on) => call.setRelayOnly(on), hint: call.isGroup
                    ? t("media.relayToServerHint")
                    : t("media.hideHint") }));
    }

    /** Shows the latest sample. */
    show() {
        const sample = this.#call.statistics.latest;
        if (!sample?.local) return;
        const set = (name, text) => { this.#values.get(name).textContent = text; };
        const path = this.node.querySelector("[data-stat=path]");
        path.textContent = pathText(sample.relayed, this.#call.isGroup);
        path.dataset.relayed = String(sample.relayed);
        set("down", rateText(sample.down));
        set("up", rateText(sample.up));
        set("roundTrip", sample.roundTrip === undefined ? "–" : millisecondsText(sample.roundTrip));
        set("loss", t("media.loss", { received: numberText(sample.loss * 100, 1), sent: numberText((sample.lossOut ?? 0) * 100, 1) }));
        set("jitter", millisecondsText(sample.jitter));
        this.#candidate("local", sample.local);
        this.#candidate("remote", sample.remote);
        set("protocol", transport(sample));
        set("codec", [sample.audioIn?.codec, sample.videoIn?.codec].filter(Boolean).join(", ") || "–");
        set("pictureIn", picture(sample.videoIn));
        set("pictureOut", picture(sample.videoOut));
        this.#chart.draw(this.#call.statistics.series);
        this.#canvas.setAttribute("aria-label",
            t("media.lastMinute", { down: rateText(sample.down), up: rateText(sample.up) }));
    }

    #candidate(name, type) {
        const value = this.#values.get(name);
        value.textContent = !type ? "–" : kinds.includes(type) ? t(`candidates.${type}`, { type }) : type;
        value.dataset.type = type ?? "";
    }

    #rate(name, label) {
        return h("span", { class: `key ${name}` }, h("i", { "aria-hidden": "true" }), label, " ", this.#value(name, "b"));
    }

    #rows() {
        const rows = ["roundTrip", "loss", "jitter", "local", "remote", "protocol", "codec", "pictureIn", "pictureOut"];
        return rows.map((name) => h("div", {}, h("dt", {}, t(`stats.${name}`)), this.#value(name, "dd")));
    }

    #value(name, tag) {
        const node = h(tag, { data: { stat: name } }, "–");
        this.#values.set(name, node);
        return node;
    }
}

function pathText(isRelayed, isGroup) {
    if (isGroup) return isRelayed ? t("media.relayedToServer") : t("media.toServer");
    return isRelayed ? t("media.relayed") : t("media.direct");
}

function transport({ protocol, relayProtocol }) {
    const name = (protocol ?? "").toUpperCase() || "–";
    return relayProtocol ? t("media.turn", { protocol: name, relay: relayProtocol.toUpperCase() }) : name;
}

function picture(video) {
    return video?.width ? t("media.picture", { width: String(video.width), height: String(video.height), rate: Math.round(video.rate ?? 0) }) : "–";
}
