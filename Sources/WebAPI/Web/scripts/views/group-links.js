// Links by which people join a group: making one, and those that work.

import { button, h } from "../dom.js";
import { whenText } from "../format.js";
import { request } from "../requests.js";
import { attempt } from "./attempt.js";
import { open } from "./dialogs.js";
import { showLink } from "./link-dialog.js";

const HOUR = 3_600_000;
const ends = [["1 hour", HOUR], ["1 day", 24 * HOUR], ["7 days", 7 * 24 * HOUR], ["30 days", 30 * 24 * HOUR]];
const uses = [["Any number", ""], ["1 person", "1"], ["10 people", "10"], ["100 people", "100"]];

export function linksSection(thread) {
    const list = h("ul", { class: "rows flat", "aria-label": "Invite links" });
    const conversation = thread.id;
    const load = async () => {
        const { links } = await request("links.list", { conversation });
        list.replaceChildren(...links.map((link) => h("li", { class: "row", data: { link: link.id } },
            h("span", { class: "name" }, `Until ${whenText(link.expiresAt)}`, h("span", { class: "state" },
                [`By ${link.maker === thread.me ? "you" : thread.nameOf(link.maker)}`, link.maxUses ? `${link.uses} of ${link.maxUses} joined` : `${link.uses} joined`].join(" · "))),
            button({ label: "Remove", class: "small quiet danger-text", data: { action: "remove-link" },
                onclick: () => attempt(async () => { await request("links.remove", { conversation, link: link.id }); await load(); }) }))));
    };
    attempt(load());
    return h("section", { "aria-labelledby": "links-title", data: { feature: "inviteLinks" } }, h("h3", { id: "links-title" }, "Invite links"), list,
        button({ name: "link", label: "Make an invite link", class: "item quiet", data: { action: "make-link" }, onclick: () => make(thread, load) }));
}

function make(thread, load) {
    const select = (id, label, options, chosen) => h("div", { class: "field" }, h("label", { for: id }, label),
        h("select", { id, name: id }, options.map(([text, value], index) => h("option", { value: String(value), selected: index === chosen }, text))));
    const form = h("form", { class: "ask-form", onsubmit: async (event) => {
        event.preventDefault();
        const { "link-ends": end, "link-uses": count } = form.elements;
        const [expiresAt, maxUses] = [new Date(Date.now() + Number(end.value)).toISOString(), Number(count.value)];
        dialog.close();
        await attempt(async () => {
            const { token } = await request("links.create", { conversation: thread.id, expiresAt, ...(maxUses && { maxUses }) });
            await load();
            showLink("Invite link", "Whoever has this link can join the group. It is shown only now.", token);
        });
    } }, select("link-ends", "It works for", ends, 2), select("link-uses", "How many may join", uses, 0),
    h("div", { class: "choices" }, h("button", { type: "submit", class: "primary", data: { choice: "make" } }, "Make"),
        button({ label: "Cancel", class: "quiet", onclick: () => dialog.close() })));
    const dialog = open({ id: "new-link", "aria-labelledby": "new-link-title" }, h("h2", { id: "new-link-title" }, "New invite link"), form);
}
