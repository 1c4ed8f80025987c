// A QR code as a picture: dark on white in every theme, since many cameras read nothing else.

import { h } from "../elements/dom.js";
import { qrCode } from "./qr-code.js";

/** What has to be free around a code, in modules. */
const QUIET = 4;
const SVG = "http://www.w3.org/2000/svg";

export function qrPicture(text, label) {
    const rows = qrCode(text);
    const size = rows.length + 2 * QUIET;
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${size} ${size}`);
    svg.setAttribute("shape-rendering", "crispEdges");
    svg.setAttribute("aria-hidden", "true");
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", rows.flatMap((row, y) => row.flatMap((isDark, x) => isDark ? [`M${x + QUIET} ${y + QUIET}h1v1h-1z`] : [])).join(""));
    svg.append(path);
    return h("div", { class: "qr-code", role: "img", "aria-label": label }, svg);
}
