// Links by which people join a group: making one, and those that work.

import { request } from "../../connection/requests.js";
import { attempt } from "../../elements/attempt.js";
import { open } from "../../elements/dialogs.js";
import { button, h } from "../../elements/dom.js";
import { redraw } from "../../elements/keyed.js";
import { whenText } from "../../language/format.js";
import { t } from "../../language/texts.js";
import { showLink } from "../../people/link-dialog.js";
import { serverNow } from "../../store/clock.js";
import { duration } from "./notices.js";

const HOUR = 3_600_000;
const ends = [HOUR, 24 * HOUR, 7 * 24 * HOUR, 30 * 24 * HOUR];
/** How many may join by a link: 0 is any number. */
const uses = [0, 1, 10, 100];

/** `update(members)` reads them again when others are members: by links, some of them. */
export function linksSection(thread) {
    const list = h("ul", { class: "rows flat", "aria-label": t("links.title") });
    const conversation = thread.id;
    const load = async () => {
        const { links } = await request("links.list", { conversation });
        redraw(list, links.map((link) => h("li", { class: "row", data: { link: link.id } },
            h("span", { class: "name" }, t("links.until", { time: whenText(link.expiresAt) }), h("span", { class: "state" },
                [link.maker === thread.me ? t("links.byYou") : t("links.by", { name: thread.nameOf(link.maker) }),
                    link.maxUses ? t("links.usesOf", { count: link.uses, most: link.maxUses }) : t("links.uses", { count: link.uses })].join(" · "))),
            button({ label: t("common.remove"), class: "small quiet danger-text", data: { action: "remove-link" },
                onclick: () => attempt(async () => { await request("links.remove", { conversation, link: link.id }); await load(); }) }))));
    };
    let known;
    const node = h("section", { "aria-labelledby": "links-title", data: { feature: "inviteLinks" } }, h("h3", { id: "links-title" }, t("links.title")), list,
        button({ name: "link", label: t("links.make"), class: "item quiet", data: { action: "make-link" }, onclick: () => make(thread, load) }));
    return {
        node,
        update(members) {
            if (members === known) return;
            known = members;
            attempt(load());
        },
    };
}

function make(thread, load) {
    const select = (id, label, options, chosen) => h("div", { class: "field" }, h("label", { for: id }, label),
        h("select", { id, name: id }, options.map(([text, value], index) => h("option", { value: String(value), selected: index === chosen }, text))));
    const form = h("form", { class: "ask-form", onsubmit: async (event) => {
        event.preventDefault();
        const { "link-ends": end, "link-uses": count } = form.elements;
        const [expiresAt, maxUses] = [new Date(serverNow() + Number(end.value)).toISOString(), Number(count.value)];
        dialog.close();
        await attempt(async () => {
            const { token } = await request("links.create", { conversation: thread.id, expiresAt, ...(maxUses && { maxUses }) });
            await load();
            showLink(t("links.created"), t("links.createdHint"), token);
        });
    } }, select("link-ends", t("links.worksFor"), ends.map((one) => [duration(one / 1_000), one]), 2), select("link-uses", t("links.howMany"), uses.map((one) => [one === 0 ? t("links.anyNumber") : t("links.people", { count: one }), one]), 0),
    h("div", { class: "choices" }, h("button", { type: "submit", class: "primary", data: { choice: "make" } }, t("links.makeNow")),
        button({ label: t("common.cancel"), class: "quiet", onclick: () => dialog.close() })));
    const dialog = open({ id: "new-link", "aria-labelledby": "new-link-title" }, h("h2", { id: "new-link-title" }, t("links.new")), form);
}
