// The page of a conversation: its head, the messages, and the field to write in.

import { callLayout } from "../../calls/call-layout.js";
import { calls } from "../../calls/calls.js";
import { hasFeature } from "../../connection/features.js";
import { errorMessage } from "../../connection/problems.js";
import { attempt } from "../../elements/attempt.js";
import { announce, h, icon, toast } from "../../elements/dom.js";
import { onceAFrame } from "../../elements/frames.js";
import { redraw } from "../../elements/keyed.js";
import { visible } from "../../elements/message-text.js";
import { nothingHere } from "../../elements/nothing-page.js";
import { voiceText } from "../../language/format.js";
import { t } from "../../language/texts.js";
import { numberIn } from "../../state/address.js";
import { plainText } from "../../state/pieces.js";
import { messageOf, othersIn, stateOf } from "../../state/thread-rows.js";
import { friends } from "../../sync/friends.js";
import { inbox } from "../../sync/inbox.js";
import { Thread } from "../../sync/thread.js";
import { openSummary } from "../assistant/summary.js";
import { explain, spokenHints } from "../messages/message-hints.js";
import { pickReaction, showMenu } from "../messages/message-menu.js";
import { spokenTranslation, translate } from "../messages/message-translation.js";
import { showOutgoingMenu } from "../messages/outgoing-menu.js";
import { composer } from "../writing/composer.js";
import { scheduledLine } from "../writing/scheduled.js";
import { Feed } from "./feed.js";
import { openGoToDate } from "./go-to-date.js";
import { invitation } from "./invitation.js";
import { messageSelection } from "./message-selection.js";
import { writersText } from "./notices.js";
import { pinsBar } from "./pins.js";
import { openReplies } from "./replies.js";
import { threadHead } from "./thread-head.js";
import { openThreadSearch } from "./thread-search.js";

/** `number` is that of the message to open at; if it `isThread`, what was answered to it is shown. */
export function threadPage(id, number, isThread) {
    const thread = new Thread(id);
    let refusal;
    const selection = messageSelection(thread, () => {
        node.dataset.selecting = String(selection.isOn);
        feed.draw();
    });

    const show = async (wanted) => {
        let isFound = false;
        if (await attempt(async () => { isFound = await feed.showMessage(wanted); }) && !isFound) missing();
    };
    const missing = () => toast(t("thread.messageGone"));
    let root = isThread ? numberIn(number) : undefined;
    const actions = {
        outgoingMenu: (one) => showOutgoingMenu(thread, one, writing.edit),
        menu: (message) => showMenu(thread, message, actions),
        react: (message, anchor) => pickReaction(thread, message, anchor),
        reply: (message) => writing.reply(message),
        edit: (message) => writing.edit(message),
        suggest: (message) => writing.suggest(message),
        select: (message) => selection.begin(message),
        mark: (nodes) => selection.mark(nodes),
        openThread: (about) => openReplies(thread, about, show),
        show,
        missing,
        goToDate: (day) => openGoToDate(thread, show, day),
        sumUp: () => openSummary(id, [{ name: "unread", params: feed.unread ?? { unread: true } }]),
        /** A key that was pressed on a message. */
        key: (key, wanted) => {
            const message = messageOf(thread.state, wanted);
            if (!message || message.deletedAt || message.notice || selection.isOn) return;
            if (key === "t" && thread.translations.isOffered(message)) translate(thread, [message]);
            if (key === "x" && thread.hints.isOffered(message)) explain(thread, message);
            if (key === "t" || key === "x" || writing.node.hidden) return;
            if (key === "r") writing.reply(message);
            else if (message.author === thread.me && message.kind === "text") writing.edit(message);
        },
    };
    const writing = composer(thread, { onsend: () => feed.endUnread() });
    const feed = new Feed(thread, actions, isThread ? undefined : numberIn(number));
    const search = () => openThreadSearch(thread, show);
    const head = threadHead(thread, { search, goToDate: () => openGoToDate(thread, show), unread: () => feed.unread });
    const pins = pinsBar(thread, show);
    const later = scheduledLine(thread);
    const typing = h("p", { id: "typing", class: "hint" });
    const notice = h("div", { class: "thread-notice" });
    const absent = h("div", { class: "empty absent-thread", role: "status" });
    const node = h("div", { class: "thread" }, head.node, selection.head, pins.node, absent, feed.node,
        h("div", { class: "thread-foot" }, typing, notice, later.node, writing.node, selection.bar));
    selection.watch(feed.node);

    let searchesWhenLoaded = false;
    const draw = () => {
        if (!node.isConnected) return;
        const state = refusal ? inbox.row(id)?.membership?.state ?? thread.state.membership?.state : stateOf(thread.state, thread.me);
        const person = thread.state.conversation?.kind === "direct" ? othersIn(thread.state, thread.me)[0] : inbox.row(id)?.person;
        const isAbsent = Boolean(refusal) && state === undefined;
        const title = head.draw(state, person, isAbsent);
        drawAbsent(isAbsent);
        drawNotice(state, title, person);
        pins.draw();
        later.draw();
        if (thread.state.isLoaded) writing.open();
        if (thread.state.isLoaded && root) showReplies();
        if (thread.state.isLoaded && searchesWhenLoaded) {
            searchesWhenLoaded = false;
            search();
        }
        feed.draw();
    };
    const schedule = onceAFrame(draw);
    /** The thread that the address names, once. */
    const showReplies = async () => {
        const about = root;
        root = undefined;
        if (await thread.find(about).catch(() => undefined)) openReplies(thread, about, show); else missing();
    };

    /** Why there are no messages: it may be not there at all, or neither on this device nor to be asked for now. */
    const drawAbsent = (isAbsent) => {
        const { isLoaded } = thread.state;
        const key = isAbsent ? "absent" : isLoaded ? "" : t("thread.notOnDevice");
        const state = isAbsent ? "absent" : isLoaded ? "loaded" : "loading";
        if (node.dataset.state !== state) node.dataset.state = state;
        if (absent.dataset.key === key) return;
        absent.dataset.key = key;
        redraw(absent, isAbsent ? nothingHere() : key ? [icon("chat"), h("p", {}, key)] : []);
    };

    const drawNotice = (state, title, person) => {
        const isWaiting = state === "member" && person && thread.state.members[person.id]?.state === "invited";
        const isBlocked = Boolean(person) && friends.isBlocked(person.id);
        const isDeleted = Boolean(person?.deleted ?? inbox.row(id)?.person?.deleted);
        const { isLeaving } = thread.state;
        const isHidden = state !== "member" || Boolean(refusal) || Boolean(isLeaving) || isDeleted;
        if (writing.node.hidden !== isHidden) writing.node.hidden = isHidden;
        const key = [state, title, isWaiting, isBlocked, isDeleted, isLeaving, refusal].join();
        if (notice.dataset.key === key) return;
        notice.dataset.key = key;
        redraw(notice, [
            state === "invited" && h("div", { class: "notice-card" },
                h("p", {}, person ? t.rich("thread.wantMessages", { name: h("bdi", {}, visible(title)) }) : t("thread.invitedToGroup")),
                invitation({ id, person }, title)),
            state === "left" && h("p", { class: "hint" }, t("thread.notMember")),
            isDeleted && state === "member" && h("p", { class: "hint" }, t("thread.accountDeleted")),
            isWaiting && !isDeleted && h("p", { class: "hint" }, t("thread.mustAccept")),
            isLeaving && state === "member" && h("div", { class: "notice-card" }, h("p", {}, t("thread.leaving")),
                h("button", { type: "button", class: "small primary", data: { action: "stay" }, onclick: () => thread.stay() }, t("thread.stay"))),
            isBlocked && state === "member" && h("div", { class: "notice-card" }, h("p", {}, t("thread.blocked")),
                h("button", { type: "button", class: "small primary", data: { action: "unblock" }, onclick: () => friends.unblock(person.id) }, t("common.unblock"))),
        ]);
    };

    const unsubscribe = [
        thread.on("change", schedule),
        thread.on("writers", () => { typing.textContent = writersText(thread.writers, (user) => thread.nameOf(user)); }),
        thread.on("refused", (error) => {
            refusal = error ? errorMessage(error) : t("thread.notMember");
            schedule();
        }),
        thread.on("arrived", (message) => {
            feed.noteArrival(message);
            if (friends.isBlocked(message.author)) return;
            announce(t("search.line", { author: thread.nameOf(message.author), text: message.voice ? voiceText(message.voice)
                : plainText(message.text ?? "", message.ranges, (user) => thread.nameOf(user)) }));
        }),
        thread.on("translated", (row) => announce(spokenTranslation(thread, row))),
        thread.on("explained", (row) => announce(spokenHints(thread, row))),
        friends.on("change", schedule),
        calls.on("calls", schedule),
        thread.on("returned", () => {
            refusal = undefined;
            schedule();
        }),
        inbox.on("change", schedule),
    ];
    /** Letters that are typed where nothing takes them land in the field to write in. */
    const writes = (event) => !event.defaultPrevented && event.key.length === 1 && !/[ ?]/.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey && !event.isComposing
        && !writing.node.hidden && !callLayout.isOver && !event.target.closest("input, textarea, select, dialog, [contenteditable], #stage")
        && !document.querySelector("dialog[open], :popover-open:not(#toasts)");
    /** Ctrl and F search what is not on the page too. */
    const onkeydown = (event) => {
        // The letter comes after the key.
        if (writes(event)) return writing.focus();
        const isFind = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "f";
        if (!isFind || !hasFeature("messageSearch") || node.dataset.state === "absent" || document.querySelector("dialog[open]")) return;
        event.preventDefault();
        // Whoever is quicker than the chat gets it as soon as there is one.
        if (thread.state.isLoaded) search(); else searchesWhenLoaded = true;
    };
    addEventListener("keydown", onkeydown);
    inbox.isTyping = (conversation) => conversation === id && writing.isTyping;
    queueMicrotask(draw);
    return {
        id,
        node,
        /** The address names a message of it. */
        goTo(wanted, opensThread) {
            if (opensThread) {
                root = numberIn(wanted);
                schedule();
            } else if (numberIn(wanted)) show(numberIn(wanted));
        },
        close() {
            inbox.isTyping = () => false;
            removeEventListener("keydown", onkeydown);
            schedule.cancel();
            unsubscribe.forEach((one) => one());
            selection.close();
            writing.close();
            feed.close();
            head.close();
            thread.close();
        },
    };
}
