// Where a link leads: to a person, or into a group.

import { errorMessage } from "../connection/problems.js";
import { request } from "../connection/requests.js";
import { attempt } from "../elements/attempt.js";
import { avatar } from "../elements/avatar.js";
import { button, h, icon } from "../elements/dom.js";
import { visible } from "../elements/message-text.js";
import { waysBack } from "../elements/nothing-page.js";
import { t } from "../language/texts.js";
import { writeTo } from "./new-chat.js";
import { showPerson } from "./person-card.js";

export function linkPage(_, token) {
    const content = h("div", { class: "card link-card" }, h("p", { role: "status" }, t("link.looking")));
    request("links.get", { token }).then((link) => content.replaceChildren(...parts(link, token)),
        (error) => content.replaceChildren(h("h1", {}, t("link.broken")), h("p", { class: "hint" },
            error.status === 404 ? t("link.expired") : errorMessage(error)), waysBack()));
    return { node: h("div", { class: "page" }, content) };
}

function parts({ kind, user, name, members }, token) {
    if (kind === "contact") {
        return [avatar(user, { size: "large" }), h("h1", {}, h("bdi", {}, visible(user.displayName))),
            h("div", { class: "pair" }, button({ name: "chat", label: t("common.message"), class: "primary", data: { action: "write" }, onclick: () => writeTo(user) }),
                button({ name: "people", label: t("link.show"), class: "soft", data: { action: "person" }, onclick: () => showPerson(user) }))];
    }
    if (kind === "group") {
        return [h("span", { class: "avatar large crowd", "aria-hidden": "true" }, icon("people")), h("h1", {}, h("bdi", {}, visible(name ?? t("link.aGroup")))),
            h("p", { class: "hint" }, t("members.count", { count: members })),
            button({ label: t("link.join"), class: "primary", data: { action: "join-group" }, onclick: () => attempt(async () => {
                const { conversation } = await request("links.join", { token });
                location.hash = `#/c/${conversation.id}`;
            }) })];
    }
    return [h("h1", {}, t("link.newer")), waysBack()];
}
