// The page of a conversation.

import { announce, button, h, icon, toast } from "../dom.js";
import { namesOf, voiceText } from "../format.js";
import { inbox } from "../inbox.js";
import { Problem, errorMessage } from "../problems.js";
import { request } from "../requests.js";
import { plainText } from "../state/pieces.js";
import { othersIn, shownMessages, stateOf } from "../state/thread.js";
import { writersText } from "../state/writers.js";
import { Thread } from "../thread.js";
import { avatar } from "./avatar.js";
import { composer } from "./composer.js";
import { invitation, titleOf } from "./inbox.js";
import { messageItem, outgoingItem } from "./message.js";
import { visible } from "./message-text.js";
import { callGroup, callPerson, joinCall } from "./start-call.js";
import { showMembers } from "./thread-members.js";

/** How far from its end the page still counts as being there. */
const END = 80;

/** Joins the call that is on in the conversation. */
async function joinLive({ id }) {
    try { await joinCall((await request("calls.get", { call: id })).call); } catch (error) { toast(errorMessage(error), { error: true }); }
}

export function threadPage(id) {
    const thread = new Thread(id);
    const head = h("div", { class: "thread-head" });
    const messages = h("ol", { id: "messages", class: "messages", "aria-label": "Messages" });
    const earlier = button({ label: "Show earlier messages", class: "quiet wide", hidden: true, data: { action: "earlier" }, onclick: () => loadEarlier() });
    const typing = h("p", { id: "typing", class: "hint", role: "status" });
    const notice = h("div", { class: "thread-notice" });
    const writing = composer(thread);
    const items = new Map();
    let refusal;
    let isFirst = true;

    const isAtEnd = () => innerHeight + scrollY >= document.documentElement.scrollHeight - END;
    const scrollToEnd = () => scrollTo(0, document.documentElement.scrollHeight);
    const loadEarlier = async () => {
        const height = document.documentElement.scrollHeight;
        try { await thread.loadEarlier(); } catch (error) { return toast(errorMessage(error), { error: true }); }
        draw();
        // What was on the screen stays there.
        scrollTo(0, scrollY + document.documentElement.scrollHeight - height);
    };
    const markIfSeen = () => { if (!document.hidden && isAtEnd()) thread.markRead(); };
    const show = () => {
        const wasAtEnd = isFirst || isAtEnd();
        drawHead();
        drawMessages();
        if (thread.state.isLoaded) isFirst = false;
        if (wasAtEnd) scrollToEnd();
        markIfSeen();
    };
    /** Draws once for all changes of one moment, also in a page that is hidden and gets no frames. */
    let isDue = false;
    const draw = () => {
        isDue = false;
        if (head.isConnected) show();
    };
    const schedule = () => {
        if (isDue) return;
        isDue = true;
        queueMicrotask(() => { if (isDue) draw(); });
    };

    const drawMessages = () => {
        const shown = shownMessages(thread.state);
        const nodes = shown.map((message) => {
            // What an item shows beside its message: names, and quotes.
            const key = [message, message.replyTo && thread.state.messages[message.replyTo], thread.state.people, thread.state.shown,
                thread.state.hidden, thread.state.membership, thread.state.listened[message.number]];
            const known = items.get(message.number);
            if (known?.key.every((one, index) => one === key[index])) return known.node;
            const node = messageItem(thread, message, writing);
            items.set(message.number, { key, node });
            return node;
        });
        const focus = focusIn(messages);
        const pending = thread.outgoing.map((one) => outgoingItem(thread, one));
        replace(messages, [...nodes, ...pending]);
        focus();
        earlier.hidden = !thread.state.hasEarlier;
    };

    const drawHead = () => {
        const row = inbox.row(id);
        const { conversation } = thread.state;
        const state = refusal ? row?.membership?.state ?? thread.state.membership?.state : stateOf(thread.state, thread.me);
        const others = othersIn(thread.state, thread.me);
        const person = conversation?.kind === "direct" ? others[0] : row?.person;
        const title = conversation && !person && conversation.kind === "group" && !conversation.name && others.length > 0
            ? namesOf(others) : conversation || row ? titleOf({ conversation: conversation ?? row.conversation, person }) : "";
        const focus = focusIn(head);
        head.replaceChildren(...[h("a", { class: "back", href: "#/chats", "aria-label": "Chats" }, icon("back")),
            person ? avatar(person) : h("span", { class: "avatar crowd", "aria-hidden": "true" }, icon("people")),
            h("h1", {}, h("bdi", {}, visible(title))),
            person && state === "member" && !person.deleted && h("div", { class: "pair" },
                button({ name: "phone", label: `Call ${title}`, bare: true, class: "round soft", data: { action: "call-audio" }, onclick: () => callPerson(person, "audio") }),
                button({ name: "video", label: `Video call with ${title}`, bare: true, class: "round soft", data: { action: "call-video" }, onclick: () => callPerson(person, "video") })),
            state === "member" && conversation?.kind === "group" && h("div", { class: "pair" }, conversation.liveCall
                ? button({ label: "Join call", class: "small primary", data: { action: "join-call" }, onclick: () => joinLive(conversation.liveCall) })
                : button({ name: "video", label: `Video call with ${title}`, bare: true, class: "round soft", data: { action: "call-group" },
                    onclick: () => callGroup(id, others, "video") })),
            state === "member" && thread.state.isLoaded && button({ name: "more", label: "Members and settings", bare: true, class: "round quiet", data: { action: "members" },
                onclick: () => showMembers(thread, title, inbox.row(id)?.membership ?? thread.state.membership) }),
        ].filter(Boolean));
        focus();
        drawNotice(state, title, person, others);
    };

    const drawNotice = (state, title, person, others) => {
        const isWaiting = state === "member" && person && thread.state.members[person.id]?.state === "invited";
        const mayWrite = state === "member" && !refusal;
        writing.node.hidden = !mayWrite;
        const key = [state, title, isWaiting, others.length, refusal].join();
        if (notice.dataset.key === key) return;
        notice.dataset.key = key;
        notice.replaceChildren(...[
            state === "invited" && h("div", { class: "notice-card" },
                h("p", {}, person ? ["Do you want to get messages from ", h("bdi", {}, visible(title)), "?"] : "You are invited to this group."),
                invitation(id, title)),
            state === "left" && h("p", { class: "hint" }, "You are not in this conversation any more."),
            refusal && state === undefined && h("p", { class: "hint" }, refusal),
            isWaiting && h("p", { class: "hint" }, "They have to accept before you can write more than three messages."),
        ].filter(Boolean));
    };

    const onscroll = () => markIfSeen();
    addEventListener("scroll", onscroll, { passive: true });
    document.addEventListener("visibilitychange", markIfSeen);
    const unsubscribe = [
        thread.on("change", schedule),
        thread.on("writers", () => { typing.textContent = writersText(thread.writers, (user) => thread.nameOf(user)); }),
        thread.on("refused", (error) => {
            refusal = error instanceof Problem ? errorMessage(error) : "You are not in this conversation any more.";
            schedule();
        }),
        thread.on("arrived", (message) => announce(`${thread.nameOf(message.author)}: ${message.voice ? voiceText(message.voice)
            : plainText(message.text ?? "", message.ranges, (user) => thread.nameOf(user))}`)),
        inbox.on("change", () => {
            // An invitation that was accepted here or elsewhere.
            if (refusal && inbox.row(id)?.membership?.state === "member") {
                refusal = undefined;
                thread.listen();
            }
            schedule();
        }),
    ];
    queueMicrotask(draw);
    return {
        node: h("div", { class: "thread" }, head, earlier, messages, h("div", { class: "thread-foot" }, typing, notice, writing.node)),
        close() {
            removeEventListener("scroll", onscroll);
            document.removeEventListener("visibilitychange", markIfSeen);
            unsubscribe.forEach((one) => one());
            writing.close();
            thread.close();
        },
    };
}

/** Makes these the children of a list, moving no node that stays in its order. */
function replace(list, nodes) {
    const kept = new Set(nodes);
    for (const one of [...list.children]) if (!kept.has(one)) one.remove();
    nodes.forEach((node, index) => { if (list.children[index] !== node) list.insertBefore(node, list.children[index] ?? null); });
}

/** Remembers which control of an item has the focus; the result focuses the one that took its turn. */
function focusIn(root) {
    const active = root.contains(document.activeElement) ? document.activeElement : undefined;
    const item = active?.closest("[id]")?.id;
    const action = active?.dataset.action;
    return () => {
        if (!active || active.isConnected) return;
        const scope = item && document.getElementById(item) || root;
        (scope.querySelector(`[data-action="${action}"]`) ?? root.querySelector("button, a"))?.focus();
    };
}
