// A section of the settings, and how its errors are reported.

import { h, toast } from "../dom.js";
import { errorMessage } from "../problems.js";

export const report = (error) => toast(errorMessage(error), { error: true });

export function section(title, ...content) {
    const id = `section-${title.toLowerCase().replace(/\W+/g, "-")}`;
    return h("section", { class: "card", "aria-labelledby": id }, h("h2", { id }, title), content);
}
