// The replies in the thread of one message, with a field of their own.

import { attempt } from "../../elements/attempt.js";
import { open } from "../../elements/dialogs.js";
import { button, h } from "../../elements/dom.js";
import { onceAFrame } from "../../elements/frames.js";
import { Nodes, redraw, show as showNodes } from "../../elements/keyed.js";
import { visible } from "../../elements/message-text.js";
import { timeText, whenText } from "../../language/format.js";
import { t } from "../../language/texts.js";
import { heldMessages, messageOf, stateOf } from "../../state/thread-rows.js";
import { canSumUp, openSummary } from "../assistant/summary.js";
import { hintsOf } from "../messages/message-hints.js";
import { translationOf } from "../messages/message-translation.js";
import { content, outgoingItem } from "../messages/message.js";
import { showOutgoingMenu } from "../messages/outgoing-menu.js";
import { composer } from "../writing/composer.js";

/** `show(number)` leads to a message in the conversation. */
export function openReplies(thread, root, show) {
    const nodes = new Nodes();
    const list = h("ol", { class: "replies", "aria-label": t("replies.list") });
    const first = h("div", { class: "root" });
    const earlier = button({ label: t("replies.earlier"), class: "quiet wide", hidden: true, data: { action: "earlier-replies" }, onclick: () => attempt(load()) });
    const writing = composer(thread, { root });
    const actions = { outgoingMenu: (one) => showOutgoingMenu(thread, one, writing.edit) };
    /** What pages have; of copies the thread's own may be newer. */
    const held = new Map();
    let rootMessage;
    let before;
    const scroller = h("div", { class: "replies-scroller", tabindex: "0", role: "region", "aria-label": t("replies.title") }, first, earlier, list);
    const dialog = open({ id: "replies", "aria-labelledby": "replies-title", class: "dialog replies-dialog" },
        h("div", { class: "panel-head" }, h("h2", { id: "replies-title" }, t("replies.title")),
            canSumUp() && button({ name: "summary", label: t("summary.title"), class: "small soft", data: { action: "summary" },
                onclick: () => openSummary(thread.id, [{ name: "thread", params: { thread: root } }]) }),
            button({ name: "close", label: t("common.close"), bare: true, class: "round quiet", data: { action: "close" }, onclick: () => dialog.close() })),
        scroller, writing.node);

    const item = (message) => h("article", { class: "reply", "aria-label": t("message.label", { name: thread.nameOf(message.author), time: whenText(message.sentAt) }), data: { number: String(message.number) } },
        h("p", { class: "reply-head" }, h("bdi", { class: "author" }, message.author === thread.me ? t("common.you") : visible(thread.nameOf(message.author))),
            h("time", { datetime: message.sentAt }, timeText(message.sentAt))), content(thread, message), translationOf(thread, message), hintsOf(thread, message));
    const node = (message) => nodes.node(message.number, [message, thread.state.people, ...thread.translations.partsOf(message), ...thread.hints.partsOf(message)], () => h("li", {}, item(message)));

    const draw = () => {
        const { state, state: { hidden } } = thread;
        for (const one of heldMessages(state)) if (one.thread === root) held.set(one.number, one);
        const shown = [...held.values()].filter((one) => !hidden[one.number] && one.number !== root).sort((one, other) => one.number - other.number);
        const isAtEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 60;
        showNodes(list, [...shown.map(node), ...thread.outgoing.filter((one) => one.thread === root).map((one) =>
            nodes.node(one.clientID, [one], () => h("li", {}, outgoingItem(thread, one, actions))))]);
        nodes.sweep();
        rootMessage = messageOf(state, root) ?? rootMessage;
        if (rootMessage) {
            redraw(first, item(rootMessage), button({ label: t("replies.showInChat"), class: "link small", data: { action: "show-root" },
                onclick: () => { dialog.close(); show(root); } }));
        }
        writing.node.hidden = stateOf(thread.state, thread.me) !== "member";
        if (isAtEnd) scroller.scrollTop = scroller.scrollHeight;
    };
    const schedule = onceAFrame(draw);
    const load = async () => {
        const page = await thread.replies(root, before);
        for (const one of page.messages) held.set(one.number, one);
        before = page.messages[0]?.number;
        earlier.hidden = !page.hasEarlier || before === undefined;
        draw();
    };
    const unsubscribe = thread.on("change", schedule);
    dialog.addEventListener("close", () => {
        unsubscribe();
        schedule.cancel();
        writing.close();
    });
    draw();
    attempt(load());
    attempt(async () => { rootMessage = await thread.find(root); draw(); });
    writing.open();
    writing.focus();
}
