// The waveform of a voice message, and its playback position: a slider that is clicked, dragged or moved by keys.

import { clockText } from "../language/format.js";
import { t } from "../language/texts.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 40;

/** `seek(seconds)` is called with the requested position. */
export function waveform({ values, duration, label, seek }) {
    const node = document.createElementNS(SVG, "svg");
    node.setAttribute("class", "waveform");
    node.setAttribute("viewBox", `0 0 ${Math.max(values.length, 1) * 3} ${HEIGHT}`);
    node.setAttribute("preserveAspectRatio", "none");
    const attributes = { role: "slider", tabindex: "0", "aria-label": label, "aria-valuemin": "0",
        "aria-valuemax": duration.toFixed(1) };
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    const bars = values.map((value, index) => {
        const bar = document.createElementNS(SVG, "rect");
        // Loudness is perceived as a ratio: half the amplitude is more than half as high.
        const height = Math.max(2, Math.sqrt(value / 100) * HEIGHT);
        const attributes = { x: index * 3, y: (HEIGHT - height) / 2, width: 2, height, rx: 1 };
        for (const [name, number] of Object.entries(attributes)) bar.setAttribute(name, number);
        node.append(bar);
        return bar;
    });
    let position = 0;

    const at = ({ clientX }) => {
        const { left, width } = node.getBoundingClientRect();
        return Math.min(Math.max((clientX - left) / width, 0), 1) * duration;
    };
    node.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        node.setPointerCapture(event.pointerId);
        seek(at(event));
    });
    node.addEventListener("pointermove", (event) => { if (node.hasPointerCapture(event.pointerId)) seek(at(event)); });
    node.addEventListener("keydown", (event) => {
        const leap = Math.max(duration / 10, 1);
        const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -leap, PageUp: leap,
            Home: -duration, End: duration };
        if (!(event.key in steps) || event.altKey || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        seek(position + steps[event.key]);
    });

    const show = (seconds) => {
        position = seconds;
        const played = duration > 0 ? seconds / duration * bars.length : 0;
        bars.forEach((bar, index) => bar.classList.toggle("played", index < played));
        node.setAttribute("aria-valuenow", seconds.toFixed(1));
        node.setAttribute("aria-valuetext", t("voice.positionOf", { time: clockText(seconds * 1000), length: clockText(duration * 1000) }));
    };
    show(0);
    return { node, show };
}
