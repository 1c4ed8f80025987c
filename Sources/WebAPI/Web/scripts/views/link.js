// Where a link leads: to a person, or into a group.

import { button, h, icon } from "../dom.js";
import { errorMessage } from "../problems.js";
import { request } from "../requests.js";
import { attempt } from "./attempt.js";
import { avatar } from "./avatar.js";
import { visible } from "./message-text.js";
import { showPerson } from "./person-card.js";
import { writeTo } from "./new-chat.js";

export function linkPage(_, token) {
    const content = h("div", { class: "card link-card" }, h("p", { role: "status" }, "Looking at the link…"));
    request("links.get", { token }).then((link) => content.replaceChildren(...parts(link, token)),
        (error) => content.replaceChildren(h("h1", {}, "This link does not work"), h("p", { class: "hint" },
            error.status === 404 ? "It may have expired, or its maker has removed it." : errorMessage(error)), home()));
    return { node: h("div", { class: "page" }, content) };
}

const home = () => h("a", { class: "link", href: "#/chats" }, "Go to your chats");

function parts({ kind, user, name, members }, token) {
    if (kind === "contact") {
        return [avatar(user, { size: "large" }), h("h1", {}, h("bdi", {}, visible(user.displayName))),
            h("div", { class: "pair" }, button({ name: "chat", label: "Message", class: "primary", data: { action: "write" }, onclick: () => writeTo(user) }),
                button({ name: "people", label: "Show", class: "soft", data: { action: "person" }, onclick: () => showPerson(user) }))];
    }
    if (kind === "group") {
        return [h("span", { class: "avatar large crowd", "aria-hidden": "true" }, icon("people")), h("h1", {}, h("bdi", {}, visible(name ?? "A group"))),
            h("p", { class: "hint" }, members === 1 ? "1 member" : `${members} members`),
            button({ label: "Join the group", class: "primary", data: { action: "join-group" }, onclick: () => attempt(async () => {
                const { conversation } = await request("links.join", { token });
                location.hash = `#/c/${conversation.id}`;
            }) })];
    }
    return [h("h1", {}, "This link is for a newer version"), home()];
}
