// Charts of the last five minutes.

import { h } from "../scripts/elements/dom.js";

export const INTERVAL = 2_000;
const MAX_SAMPLES = 150;

// `rate` marks counters that are shown as their growth per second.
const CHARTS = [
    { name: "Live calls", read: (stats) => stats.calls },
    { name: "Realtime sessions", read: (stats) => stats.sessions },
    { name: "Relay allocations", read: (stats) => stats.allocations },
    { name: "Packets relayed", read: (stats) => stats.packets, rate: true, unit: "/s" },
    { name: "Bandwidth relayed", read: (stats) => stats.bytes * 8, rate: true, unit: "bit/s" },
    { name: "Gateway legs", read: (stats) => stats.legs },
    { name: "Packets from the gateway", read: (stats) => stats.mediaPackets, rate: true, unit: "/s" },
    { name: "Bandwidth from the gateway", read: (stats) => stats.mediaBytes * 8, rate: true, unit: "bit/s" },
    { name: "Requests handled", read: (stats) => stats.requests, rate: true, unit: "/s" },
    { name: "Requests rejected", read: (stats) => stats.rejected, rate: true, unit: "/s" },
    { name: "Memory", read: (stats) => stats.memory, unit: "B" },
];

const number = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const PREFIXES = ["", "k", "M", "G", "T"];

/** Such as 1.2 kbit/s. */
function short(value, unit = "") {
    const power = value < 1000 ? 0 : Math.min(PREFIXES.length - 1, Math.floor(Math.log10(value) / 3));
    const scaled = value / 1000 ** power;
    return `${number.format(scaled < 10 ? Math.round(scaled * 10) / 10 : Math.round(scaled))} ${PREFIXES[power]}${unit}`.trim();
}

/** Returns { element, add(stats), interrupt() }; after an interruption, counters begin anew. */
export function charts() {
    const all = CHARTS.map((chart) => {
        const output = h("output", {}, "–");
        const canvas = h("canvas", { role: "img", "aria-label": `${chart.name}, the last five minutes` });
        return { ...chart, output, canvas, values: [],
            card: h("figure", { class: "card" }, h("figcaption", {}, chart.name), output, canvas) };
    });
    let earlier = null;
    return {
        element: h("div", { class: "charts" }, all.map(({ card }) => card)),
        interrupt() { earlier = null; },
        add(stats) {
            for (const chart of all) add(chart, stats, earlier);
            earlier = stats;
        },
    };
}

function add(chart, stats, earlier) {
    const now = chart.read(stats);
    if (chart.rate && !earlier) return;
    const seconds = earlier ? (stats.at - earlier.at) / 1000 : 1;
    const value = chart.rate ? Math.max(0, (now - chart.read(earlier)) / Math.max(seconds, 0.001)) : now;
    chart.values.push(value);
    if (chart.values.length > MAX_SAMPLES) chart.values.shift();
    chart.output.textContent = short(value, chart.unit);
    draw(chart);
}

function draw({ canvas, values }) {
    const scale = window.devicePixelRatio || 1;
    const width = (canvas.width = canvas.clientWidth * scale);
    const height = (canvas.height = canvas.clientHeight * scale);
    const context = canvas.getContext("2d");
    const colour = getComputedStyle(canvas).getPropertyValue("--accent");
    const top = Math.max(1, ...values);
    const point = (value, index) => [
        width - ((values.length - 1 - index) * width) / (MAX_SAMPLES - 1),
        height - 2 * scale - (value / top) * (height - 6 * scale),
    ];
    context.clearRect(0, 0, width, height);
    if (values.length < 2) return;
    context.beginPath();
    values.forEach((value, index) => context.lineTo(...point(value, index)));
    context.lineWidth = 1.5 * scale;
    context.strokeStyle = colour;
    context.stroke();
    context.lineTo(width, height);
    context.lineTo(point(values[0], 0)[0], height);
    context.globalAlpha = 0.13;
    context.fillStyle = colour;
    context.fill();
}
