// The user's own link, by which others find them.

import { button, h, toast } from "../dom.js";
import { request } from "../requests.js";
import { attempt } from "./attempt.js";
import { ask } from "./dialogs.js";
import { showLink } from "./link-dialog.js";

export function contactLink() {
    return h("section", { class: "card contact-link", "aria-labelledby": "contact-link-title", data: { feature: "inviteLinks" } },
        h("h2", { id: "contact-link-title" }, "Your link"),
        h("p", { class: "hint" }, "Whoever has it finds you here, and can write to you."),
        h("div", { class: "pair" },
            button({ name: "link", label: "Make a link", class: "small soft", data: { action: "make-contact-link" }, onclick: () => attempt(async () => {
                const { token } = await request("me.makeLink");
                showLink("Your link", "An earlier one does not work any more. It is shown only now.", token);
            }) }),
            button({ label: "Remove it", class: "small quiet danger-text", data: { action: "remove-contact-link" }, onclick: async () => {
                const sure = await ask({ title: "Remove your link?", text: "It does not work any more then.", danger: true, choices: [{ value: true, label: "Remove" }] });
                if (sure && await attempt(request("me.removeLink"))) toast("Your link does not work any more.");
            } })));
}
