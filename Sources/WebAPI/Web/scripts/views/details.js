// The details panel: the path of the media, its quality, and a switch for "relay only".

import { Chart } from "../chart.js";
import { button, h, toggle } from "../dom.js";
import { preferences } from "../preferences.js";
import { rateText } from "../format.js";

const kinds = { host: "local address", srflx: "public address", prflx: "discovered address" };

export class DetailsPanel {
    node;
    #call;
    #values = new Map();
    #chart;
    #canvas;

    constructor(call, close) {
        this.#call = call;
        this.#canvas = h("canvas", { class: "chart", role: "img", "aria-label": "Bits sent and received, last minute" });
        this.#chart = new Chart(this.#canvas);
        this.node = h("div", { id: "details" },
            h("div", { class: "panel-head" }, h("h2", { tabindex: "-1" }, "Connection"),
                button({ name: "close", label: "Close", bare: true, class: "round glass", data: { action: "close-panel" }, onclick: close })),
            h("p", { class: "path", data: { stat: "path" } }, "Connecting…"),
            this.#canvas,
            h("p", { class: "legend" }, this.#rate("down", "Received"), this.#rate("up", "Sent")),
            h("dl", { class: "stats" }, this.#rows()),
            toggle({ id: "relay-only", label: "Relay only", checked: preferences.get("relayOnly"),
                onchange: (on) => call.setRelayOnly(on), hint: call.isGroup
                    ? "Connects to the server through its relay, for networks that block everything else. Takes effect at once."
                    : "Hides your address from the other person. Takes effect at once." }));
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
        set("roundTrip", sample.roundTrip === undefined ? "–" : `${Math.round(sample.roundTrip)} ms`);
        set("loss", `${(sample.loss * 100).toFixed(1)} % in, ${((sample.lossOut ?? 0) * 100).toFixed(1)} % out`);
        set("jitter", `${Math.round(sample.jitter)} ms`);
        this.#candidate("local", sample.local);
        this.#candidate("remote", sample.remote);
        set("protocol", transport(sample));
        set("codec", [sample.audioIn?.codec, sample.videoIn?.codec].filter(Boolean).join(", ") || "–");
        set("pictureIn", picture(sample.videoIn));
        set("pictureOut", picture(sample.videoOut));
        this.#chart.draw(this.#call.statistics.series);
        this.#canvas.setAttribute("aria-label",
            `Last minute: receiving ${rateText(sample.down)}, sending ${rateText(sample.up)}`);
    }

    #candidate(name, type) {
        const value = this.#values.get(name);
        value.textContent = type ? `${type}${kinds[type] ? ` (${kinds[type]})` : ""}` : "–";
        value.dataset.type = type ?? "";
    }

    #rate(name, label) {
        return h("span", { class: `key ${name}` }, h("i", { "aria-hidden": "true" }), label, " ", this.#value(name, "b"));
    }

    #rows() {
        const rows = [["roundTrip", "Round trip"], ["loss", "Loss"], ["jitter", "Jitter"], ["local", "This side"],
            ["remote", "Other side"], ["protocol", "Protocol"], ["codec", "Codecs"], ["pictureIn", "Video received"],
            ["pictureOut", "Video sent"]];
        return rows.map(([name, label]) => h("div", {}, h("dt", {}, label), this.#value(name, "dd")));
    }

    #value(name, tag) {
        const node = h(tag, { data: { stat: name } }, "–");
        this.#values.set(name, node);
        return node;
    }
}

function pathText(isRelayed, isGroup) {
    if (isGroup) return isRelayed ? "Through the relay to the server" : "Through the server";
    return isRelayed ? "Through the relay" : "Direct, from browser to browser";
}

function transport({ protocol, relayProtocol }) {
    const name = (protocol ?? "").toUpperCase() || "–";
    return relayProtocol ? `${name}, TURN over ${relayProtocol.toUpperCase()}` : name;
}

function picture(video) {
    return video?.width ? `${video.width} × ${video.height}, ${Math.round(video.rate ?? 0)}/s` : "–";
}
