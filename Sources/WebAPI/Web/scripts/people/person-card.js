// The card of a person: a dialog over any page.

import { callPerson } from "../calls/start-call.js";
import { avatar } from "../elements/avatar.js";
import { open } from "../elements/dialogs.js";
import { button, h } from "../elements/dom.js";
import { redraw } from "../elements/keyed.js";
import { visible } from "../elements/message-text.js";
import { languageName } from "../language/names.js";
import { t } from "../language/texts.js";
import { friends } from "../sync/friends.js";
import { askFriend } from "./friend-actions.js";
import { writeTo } from "./new-chat.js";
import { blockUser, reportUser } from "./report-user.js";

/** A person's card: their languages, calling and writing to them, friendship, blocking and reporting them. */
export function showPerson(user) {
    const call = (kind) => () => { dialog.close(); callPerson(user, kind); };
    const speak = (user.languages ?? []).map((code) => languageName(code));
    const changing = h("div", { class: "items" });
    const item = (action, name, label, run, style = "quiet", feature) => button({ name, label, class: `item ${style}`, data: { action, ...(feature && { feature }) },
        onclick: run });
    const draw = () => redraw(changing, [
        friendItem(user, item),
        friends.isBlocked(user.id) ? item("unblock", "block", t("common.unblock"), () => friends.unblock(user.id))
            : item("block", "block", t("common.block"), () => { dialog.close(); blockUser(user); }, "quiet danger-text"),
        item("report", "alert", t("common.report"), () => { dialog.close(); reportUser(user); }, "quiet danger-text"),
    ]);
    const dialog = open({ "aria-labelledby": "person-name", id: "person" },
        h("div", { class: "person" }, avatar(user, { size: "large" }),
            h("h2", { id: "person-name" }, h("bdi", {}, visible(user.displayName))),
            speak.length > 0 && h("p", { class: "hint" }, t("person.speaks", { languages: speak.join(", ") })),
            h("div", { class: "choices" },
                button({ name: "phone", label: t("common.call"), class: "primary", onclick: call("audio") }),
                button({ name: "video", label: t("common.videoCall"), class: "primary", onclick: call("video") })),
            button({ name: "chat", label: t("common.message"), class: "soft wide", data: { action: "write" },
                onclick: () => { dialog.close(); writeTo(user); } }),
            changing,
            button({ name: "close", label: t("common.close"), bare: true, class: "round quiet corner",
                onclick: () => dialog.close() })));
    const unsubscribe = friends.on("change", draw);
    dialog.addEventListener("close", unsubscribe);
    draw();
}

function friendItem(user, item) {
    switch (friends.stateOf(user.id)) {
    case "friend": return item("end-friend", "people", t("person.endFriendship"), () => friends.remove(user.id));
    case "requested": return item("cancel-friend", "clock", t("person.cancelRequest"), () => friends.remove(user.id));
    case "received": return [item("accept-friend", "check", t("person.acceptRequest"), () => friends.accept(user.id), "quiet", "friends"),
        item("decline-friend", "close", t("person.declineRequest"), () => friends.decline(user.id))];
    default: return item("ask-friend", "addPerson", t("person.askFriend"), () => askFriend(user), "quiet", "friends");
    }
}
