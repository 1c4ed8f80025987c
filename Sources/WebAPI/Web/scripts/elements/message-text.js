// Showing a message's text: text nodes only, with what the server found in it.

import { linkAddress, mentionText, pieces, visibleParts } from "../state/pieces.js";
import { h } from "./dom.js";

/** A text whose invisible characters are shown by their codes. */
export const visible = (text) => visibleParts(text).map((part) => part.code
    ? h("span", { class: "code-point" }, part.code) : part.text);

/** The nodes of a notice's parts. */
export const nodesOf = (parts) => parts.map((part) => part.name === undefined ? part : h("bdi", {}, visible(part.name)));

/** The nodes of a text. `nameOf` has the names of those who are mentioned. */
export function messageText({ text, ranges }, nameOf) {
    return pieces(text, ranges).map((piece) => pieceNode(piece, nameOf));
}

const elements = { code: "code", block: "code", bold: "b", italic: "i", strike: "s" };

function pieceNode(piece, nameOf) {
    const isMention = piece.kinds.includes("mention");
    let node = isMention ? h("bdi", { class: "mention" }, visible(mentionText(piece, nameOf))) : visible(piece.text);
    for (const kind of piece.kinds) {
        const address = kind === "link" ? linkAddress(piece.text) : undefined;
        if (address) node = h("a", { href: address, target: "_blank", rel: "noopener noreferrer nofollow" }, node);
        else if (elements[kind]) node = h(elements[kind], { class: kind === "block" ? "block" : undefined }, node);
    }
    return node;
}
