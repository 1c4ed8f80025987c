// A section of the settings, and how its errors are reported.

import { errorMessage } from "../connection/problems.js";
import { h, toast } from "../elements/dom.js";

export const report = (error) => toast(errorMessage(error), { error: true });

/** `name` is part of its id: the title is another one in each language. */
export function section(name, title, ...content) {
    const id = `section-${name}`;
    return h("section", { class: "card", "aria-labelledby": id }, h("h2", { id }, title), content);
}
