// The head of a thread: whose it is, whether they are there, calling, and its details.

import { callLayout } from "../../calls/call-layout.js";
import { calls } from "../../calls/calls.js";
import { callGroup, callPerson, joinLive } from "../../calls/start-call.js";
import { hasFeature } from "../../connection/features.js";
import { WatchSet } from "../../connection/watches.js";
import { avatar } from "../../elements/avatar.js";
import { button, h, icon } from "../../elements/dom.js";
import { redraw } from "../../elements/keyed.js";
import { visible } from "../../elements/message-text.js";
import { namesOf, whenText } from "../../language/format.js";
import { t } from "../../language/texts.js";
import { othersIn } from "../../state/thread-rows.js";
import { inbox } from "../../sync/inbox.js";
import { presence } from "../../sync/presence.js";
import { titleOf } from "../list/conversation-row.js";
import { disappearingText, showDetails } from "./conversation-details.js";

/** Whether this page is in the call of the conversation. */
function hereIn(thread, person) {
    return calls.active.some((call) => call.phase !== "ended" && (call.document?.conversationID === thread.id
        || Boolean(person) && !call.isGroup && call.other?.user === person.id));
}

/** `actions` are `{search(), goToDate(), unread()}`, which open the search of the thread, ask for a day of it, and say what was unread. */
export function threadHead(thread, actions) {
    const node = h("div", { class: "thread-head" });
    const about = h("span", { class: "state about-line" });
    const watched = new WatchSet("presence");
    let person;
    let key;

    const drawAbout = () => {
        const { conversation } = thread.state;
        const parts = [];
        if (person) {
            const state = presence.of(person.id);
            parts.push(state?.online ? t("presence.online") : state?.lastSeenAt ? t("presence.lastSeen", { time: whenText(state.lastSeenAt) }) : "");
        } else if (conversation?.kind === "group") parts.push(t("members.count", { count: conversation.members }));
        if (conversation?.disappearAfter) parts.push(t("thread.disappearAfter", { time: disappearingText(conversation.disappearAfter) }));
        const text = parts.filter(Boolean).join(" · ");
        if (about.textContent !== text) about.textContent = text;
        const isOnline = String(Boolean(person && presence.isOnline(person.id)));
        if (about.dataset.online !== isOnline) about.dataset.online = isOnline;
    };
    let drawn;
    const unsubscribe = [
        presence.on("change", (user) => { if (user === person?.id) drawAbout(); }),
        // Whether the call is here decides between joining it and going back to it.
        calls.on("calls", () => { if (drawn) head.draw(...drawn); }),
        callLayout.on("change", () => { if (drawn) head.draw(...drawn); }),
    ];

    const head = {
        node,
        /** Draws it, and returns the title. `state` is the user's own, and `other` the one of two. An absent one has no name. */
        draw(state, other, isAbsent) {
            drawn = [state, other, isAbsent];
            const row = inbox.row(thread.id);
            const { conversation } = thread.state;
            const others = othersIn(thread.state, thread.me);
            // While the thread is not there, its row is.
            const { kind } = conversation ?? row?.conversation ?? {};
            person = other;
            watched.update(person && state === "member" && !person.deleted ? [person.id] : []);
            const title = conversation && !person && conversation.kind === "group" && !conversation.name && others.length > 0
                ? namesOf(others) : conversation || row?.conversation ? titleOf({ conversation: conversation ?? row.conversation, person }) : "";
            drawAbout();
            const next = [title, state, isAbsent, person?.photoURL, person?.id, kind, conversation?.kind, conversation?.liveCall?.id, thread.state.isLoaded, hereIn(thread, person)].join();
            if (next === key) return title;
            key = next;
            const canCall = state === "member" && (person ? !person.deleted : conversation?.kind === "group");
            const call = (kind) => () => person ? callPerson(person, kind) : callGroup(thread.id, othersIn(thread.state, thread.me), kind);
            const details = () => showDetails(thread, title, actions);
            redraw(node, [h("a", { class: "back", href: "#/chats", "aria-label": t("chats.list") }, icon("back")),
                isAbsent ? undefined : person ? avatar(person) : h("span", { class: "avatar crowd", "aria-hidden": "true" }, icon(kind === "self" ? "notes" : "people")),
                h("div", { class: "thread-title" }, h("h1", {}, h("bdi", {}, isAbsent ? t("chats.chat") : visible(title))), about),
                canCall && h("div", { class: "pair" }, hereIn(thread, person)
                    ? button({ label: t("thread.backToCall"), class: "small go", data: { action: "back-to-call" }, onclick: () => callLayout.expand() })
                    : conversation?.liveCall && !person
                    ? button({ label: t("thread.joinCall"), class: "small primary", data: { action: "join-call" }, onclick: () => joinLive(thread.state.conversation.liveCall.id) })
                    : [person && button({ name: "phone", label: t("person.callName", { name: title }), bare: true, class: "round soft", data: { action: "call-audio" }, onclick: call("audio") }),
                        button({ name: "video", label: t("person.videoCallName", { name: title }), bare: true, class: "round soft",
                            data: { action: person ? "call-video" : "call-group" }, onclick: call("video") })]),
                thread.state.isLoaded && hasFeature("messageSearch") && button({ name: "search", label: t("threadSearch.open"), bare: true, class: "round quiet",
                    data: { action: "search-thread" }, onclick: actions.search }),
                state === "member" && thread.state.isLoaded && button({ name: "more", label: t("thread.settings"), bare: true, class: "round quiet",
                    data: { action: "members" }, onclick: details }),
            ]);
            return title;
        },
        close() {
            unsubscribe.forEach((one) => one());
            watched.close();
        },
    };
    return head;
}
