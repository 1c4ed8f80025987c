// The card of a person: a dialog over any page.

import { button, h } from "../dom.js";
import { friends } from "../friends.js";
import { avatar } from "./avatar.js";
import { attempt } from "./attempt.js";
import { open } from "./dialogs.js";
import { acceptFriend, askFriend, endFriend } from "./friend-actions.js";
import { visible } from "./message-text.js";
import { writeTo } from "./new-chat.js";
import { blockUser, reportUser } from "./report-user.js";
import { callPerson } from "./start-call.js";

/** A person's card: their languages, calling and writing to them, friendship, blocking and reporting them. */
export function showPerson(user) {
    const call = (kind) => () => { dialog.close(); callPerson(user, kind); };
    const names = new Intl.DisplayNames(undefined, { type: "language" });
    const speak = (user.languages ?? []).map((code) => { try { return names.of(code); } catch { return code; } });
    const changing = h("div", { class: "items" });
    const item = (action, name, label, run, style = "quiet", feature) => button({ name, label, class: `item ${style}`, data: { action, ...(feature && { feature }) },
        onclick: run });
    const draw = () => changing.replaceChildren(...[
        friendItem(user, item),
        friends.isBlocked(user.id) ? item("unblock", "block", "Unblock", () => attempt(friends.unblock(user.id)))
            : item("block", "block", "Block", () => { dialog.close(); blockUser(user); }, "quiet danger-text"),
        item("report", "alert", "Report", () => { dialog.close(); reportUser(user); }, "quiet danger-text"),
    ].flat().filter(Boolean));
    const dialog = open({ "aria-labelledby": "person-name", id: "person" },
        h("div", { class: "person" }, avatar(user, { size: "large" }),
            h("h2", { id: "person-name" }, h("bdi", {}, visible(user.displayName))),
            speak.length > 0 && h("p", { class: "hint" }, `Speaks ${speak.join(", ")}`),
            h("div", { class: "choices" },
                button({ name: "phone", label: "Call", class: "primary", onclick: call("audio") }),
                button({ name: "video", label: "Video call", class: "primary", onclick: call("video") })),
            button({ name: "chat", label: "Message", class: "soft wide", data: { action: "write" },
                onclick: () => { dialog.close(); writeTo(user); } }),
            changing,
            button({ name: "close", label: "Close", bare: true, class: "round quiet corner",
                onclick: () => dialog.close() })));
    const unsubscribe = friends.on("change", draw);
    dialog.addEventListener("close", unsubscribe);
    draw();
}

function friendItem(user, item) {
    switch (friends.stateOf(user.id)) {
    case "friend": return item("end-friend", "people", "End the friendship", () => endFriend(user));
    case "requested": return item("cancel-friend", "clock", "Cancel your request", () => endFriend(user));
    case "received": return [item("accept-friend", "check", "Accept the friend request", () => acceptFriend(user), "quiet", "friends"),
        item("decline-friend", "close", "Decline the friend request", () => endFriend(user, "friends.decline"))];
    default: return item("ask-friend", "addPerson", "Ask to become a friend", () => askFriend(user), "quiet", "friends");
    }
}
