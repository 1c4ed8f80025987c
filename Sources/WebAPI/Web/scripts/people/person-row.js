// A person in a list: who they are, whether they are there, and calling them.

import { callPerson } from "../calls/start-call.js";
import { WatchSet } from "../connection/watches.js";
import { avatar } from "../elements/avatar.js";
import { button, h } from "../elements/dom.js";
import { visible } from "../elements/message-text.js";
import { whenText } from "../language/format.js";
import { t } from "../language/texts.js";
import { presence } from "../sync/presence.js";
import { showPerson } from "./person-card.js";

export function personRow(user, watched) {
    return h("li", { class: "row", data: { user: user.id } },
        h("button", { type: "button", class: "who", data: { action: "person" }, onclick: () => showPerson(user) },
            avatar(user, { presence: watched.dot(user.id) }),
            h("span", { class: "name" }, h("bdi", {}, visible(user.displayName)), watched.text(user.id))),
        button({ name: "phone", label: t("person.callName", { name: user.displayName }), bare: true, class: "round soft",
            data: { action: "call-audio" }, onclick: () => callPerson(user, "audio") }),
        button({ name: "video", label: t("person.videoCallName", { name: user.displayName }), bare: true, class: "round soft",
            data: { action: "call-video" }, onclick: () => callPerson(user, "video") }));
}

/** Shows who of those on the page is online. */
export class PeoplePresence {
    #watched = new WatchSet("presence");
    #unsubscribe = presence.on("change", (user) => this.#update(user));

    watch(users) { this.#watched.update(users); }

    dot(user) { return h("span", { class: "presence", data: { presence: user, online: String(presence.isOnline(user)) } }); }

    text(user) {
        return h("span", { class: "state", data: { presenceText: user } }, presenceText(presence.of(user)));
    }

    close() {
        this.#watched.close();
        this.#unsubscribe();
    }

    #update(user) {
        const state = presence.of(user);
        for (const dot of document.querySelectorAll(`[data-presence="${user}"]`)) dot.dataset.online = String(state.online);
        for (const text of document.querySelectorAll(`[data-presence-text="${user}"]`)) text.textContent = presenceText(state);
    }
}

function presenceText(state) {
    if (state?.online) return t("presence.online");
    return state?.lastSeenAt ? t("presence.lastSeen", { time: whenText(state.lastSeenAt) }) : "";
}
