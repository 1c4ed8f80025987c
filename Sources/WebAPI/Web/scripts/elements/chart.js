// A live chart of the bit rates sent and received in the last minute.

const SPAN = 60;

/** Draws on a canvas in the colours of its style (`--up`, `--down`, `--grid`, `--ink`). */
export class Chart {
    #canvas;

    constructor(canvas) { this.#canvas = canvas; }

    /** `series` is a list of `{up, down}`, the newest last. */
    draw(series) {
        const canvas = this.#canvas;
        const { clientWidth: width, clientHeight: height } = canvas;
        if (width === 0) return;
        const ratio = devicePixelRatio || 1;
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
        const pen = canvas.getContext("2d");
        pen.scale(ratio, ratio);
        const style = getComputedStyle(canvas);
        const colour = (name) => style.getPropertyValue(name).trim();
        const top = ceiling(Math.max(50_000, ...series.map(({ up, down }) => Math.max(up, down))));
        const box = { left: 0, right: width - 2, top: 14, bottom: height - 4 };
        grid(pen, box, top, colour("--grid"), colour("--ink"), style.fontFamily);
        line(pen, box, series.map(({ down }) => down / top), colour("--down"), true);
        line(pen, box, series.map(({ up }) => up / top), colour("--up"), false);
    }
}

function grid(pen, { left, right, top, bottom }, value, colour, ink, family) {
    pen.strokeStyle = colour;
    pen.lineWidth = 1;
    pen.fillStyle = ink;
    pen.font = `11px ${family}`;
    for (const part of [0, 0.5, 1]) {
        const y = Math.round(bottom - (bottom - top) * part) + 0.5;
        pen.beginPath();
        pen.moveTo(left, y);
        pen.lineTo(right, y);
        pen.stroke();
        if (part > 0) pen.fillText(short(value * part), left, y - 3);
    }
}

function line(pen, { left, right, top, bottom }, values, colour, filled) {
    if (values.length < 2) return;
    const x = (index) => right - (values.length - 1 - index) * (right - left) / (SPAN - 1);
    const y = (value) => bottom - (bottom - top) * value;
    pen.beginPath();
    values.forEach((value, index) => pen.lineTo(x(index), y(value)));
    pen.strokeStyle = colour;
    pen.lineWidth = 2;
    pen.lineJoin = "round";
    pen.stroke();
    if (!filled) return;
    pen.lineTo(right, bottom);
    pen.lineTo(x(0), bottom);
    pen.closePath();
    pen.globalAlpha = 0.14;
    pen.fillStyle = colour;
    pen.fill();
    pen.globalAlpha = 1;
}

/** The next of 1, 2, 5, 10, 20 … above the value. */
function ceiling(value) {
    const power = 10 ** Math.floor(Math.log10(value));
    return power * [1, 2, 5, 10].find((step) => step * power >= value);
}

function short(bits) { return bits >= 1e6 ? `${bits / 1e6} Mbit/s` : `${Math.round(bits / 1e3)} kbit/s`; }
