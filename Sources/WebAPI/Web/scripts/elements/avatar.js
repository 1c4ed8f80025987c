// A user's avatar: a photo, or initials on a colour that is always the same for that user.

import { initials } from "../language/format.js";
import { h } from "./dom.js";

const hues = [12, 32, 88, 150, 172, 198, 222, 258, 292, 330];

export function avatar(user, { size = "", presence } = {}) {
    let hash = 0;
    for (const character of user.id ?? "") hash = (hash * 31 + character.codePointAt(0)) % 9973;
    // Only photos on this server, so that showing one reveals nothing to other sites.
    const photo = user.photoURL?.startsWith("/v1/photos/")
        ? h("img", { src: user.photoURL, alt: "", onerror: (event) => event.target.remove() })
        : undefined;
    const node = h("span", { class: `avatar ${size}`, "aria-hidden": "true" }, initials(user.displayName), photo);
    node.style.setProperty("--hue", hues[hash % hues.length]);
    return presence === undefined ? node : h("span", { class: "with-presence" }, node, presence);
}
