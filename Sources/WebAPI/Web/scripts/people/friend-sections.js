// Friends, and requests to become some, on the page of people.

import { avatar } from "../elements/avatar.js";
import { button, h } from "../elements/dom.js";
import { redraw } from "../elements/keyed.js";
import { visible } from "../elements/message-text.js";
import { whenText } from "../language/format.js";
import { t } from "../language/texts.js";
import { friendsIn } from "../state/friend-lists.js";
import { friends } from "../sync/friends.js";
import { showPerson } from "./person-card.js";
import { personRow } from "./person-row.js";

/** `requests` stands above the search's results, `node` below. `watched` shows who is online. */
export function friendsSections(watched) {
    const requests = h("section", { class: "friend-requests", "aria-label": t("friends.requests") });
    const node = h("section", { class: "friends", "aria-label": t("friends.title") });
    const list = (title, rows) => rows.length > 0 ? [h("h2", { class: "section-title" }, title), h("ul", { class: "rows", "aria-label": title }, rows)] : [];

    const requestRow = ({ user, note, createdAt, state }) => h("li", { class: "row", data: { friend: user.id, state } },
        h("button", { type: "button", class: "who", onclick: () => showPerson(user) }, avatar(user),
            h("span", { class: "name" }, h("bdi", {}, visible(user.displayName)), h("span", { class: "state" }, note ? h("bdi", {}, visible(note)) : createdAt && whenText(createdAt)))),
        state === "received" ? h("span", { class: "pair" },
            button({ label: t("common.accept"), class: "small primary", data: { action: "accept-friend", feature: "friends" }, "aria-label": t("common.acceptName", { name: user.displayName }), onclick: () => friends.accept(user.id) }),
            button({ label: t("common.decline"), class: "small quiet", data: { action: "decline-friend" }, "aria-label": t("common.declineName", { name: user.displayName }),
                onclick: () => friends.decline(user.id) }))
            : button({ label: t("common.cancel"), class: "small quiet", data: { action: "cancel-friend" }, "aria-label": t("friends.cancelName", { name: user.displayName }), onclick: () => friends.remove(user.id) }));

    const draw = () => {
        const [received, requested, all] = ["received", "requested", "friend"].map((state) => friendsIn(friends.state, state));
        redraw(requests, list(t("friends.received"), received.map(requestRow)));
        redraw(node, list(t("friends.title"), all.map(({ user }) => personRow(user, watched))), list(t("friends.sent"), requested.map(requestRow)));
        for (const one of [requests, node]) one.hidden = one.children.length === 0;
    };
    draw();
    return { requests, node, draw, users: () => friendsIn(friends.state, "friend").map((one) => one.user.id) };
}
