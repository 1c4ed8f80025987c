// The unread messages that should be seen first, of all conversations, with the reasons.

import { realtime } from "../../connection/realtime.js";
import { requestOnce } from "../../connection/requests.js";
import { h, icon } from "../../elements/dom.js";
import { Nodes, redraw, show as showNodes } from "../../elements/keyed.js";
import { hasText, t } from "../../language/texts.js";
import { unreadConversations } from "../../state/inbox-rows.js";
import { stillUnread } from "../../state/summary-items.js";
import { inbox } from "../../sync/inbox.js";
import { titleOf } from "../list/conversation-row.js";
import { foundMessage } from "../list/found-message.js";
import { machineFailure } from "../messages/machine-failure.js";

/** It is asked for anew so long after something has come, in milliseconds: each time the server compares texts. */
const PAUSE = 4_000;
const TIMEOUT = 30_000;

/** `show(isOn)` says whether it is the list that is shown. */
export function priorityList() {
    const said = h("p", { class: "hint", role: "status" });
    const list = h("ul", { class: "rows", id: "priority", "aria-label": t("filters.important") });
    const rest = h("div", {});
    const node = h("div", { class: "priority results", hidden: true }, said, list, rest);
    const nodes = new Nodes();
    let isOn = false;
    let turn = 0;
    let timer;
    let found;
    let people = {};
    /** What the list of conversations said when it was asked for last. */
    let seen;

    const draw = () => {
        if (!found) return;
        const shown = stillUnread(found, inbox.state).filter(({ message }) => inbox.row(message.conversation)?.membership?.state !== "left");
        showNodes(list, shown.map(({ message, reasons }) => {
            const row = inbox.row(message.conversation);
            return nodes.node(`${message.conversation}/${message.number}`, [message, people, row && titleOf(row)], () => foundMessage({ message }, people, { about: reasonsOf(reasons) }));
        }));
        nodes.sweep();
        redraw(rest, shown.length === 0 && h("div", { class: "empty" }, icon("check"), h("p", {}, t("nothing.important"))));
    };
    const load = async () => {
        clearTimeout(timer);
        timer = undefined;
        const mine = turn += 1;
        seen = unreadKey();
        if (!found) said.textContent = t("priority.working");
        try {
            const page = await requestOnce("priority.list", {}, TIMEOUT);
            if (mine !== turn || !isOn) return;
            [found, people] = [page.messages, Object.fromEntries(page.people.map((one) => [one.id, one]))];
            said.textContent = "";
            draw();
        } catch (error) {
            if (mine !== turn || !isOn) return;
            found = undefined;
            said.textContent = "";
            redraw(list);
            redraw(rest, machineFailure(error, load));
        }
    };
    const note = () => {
        if (!isOn) return;
        draw();
        if (unreadKey() !== seen) timer ??= setTimeout(load, PAUSE);
    };
    const unsubscribe = [inbox.on("change", note), realtime.on("state", (state) => { if (isOn && state === "online") load(); })];
    return {
        node,
        show(next) {
            if (isOn === next) return;
            isOn = next;
            node.hidden = !isOn;
            if (isOn) load();
            else {
                turn += 1;
                clearTimeout(timer);
                timer = undefined;
            }
        },
        close() {
            isOn = false;
            clearTimeout(timer);
            unsubscribe.forEach((one) => one());
        },
    };
}

/** It is another when something unread has come or gone. */
const unreadKey = () => [unreadConversations(inbox.state), ...Object.values(inbox.state.rows).filter((row) => row.unread > 0).map((row) => `${row.id} ${row.unread} ${row.lastMessage?.number}`)].join();

const reasonsOf = (reasons) => h("span", { class: "reasons" }, reasons.filter((one) => hasText(`priorityReasons.${one}`))
    .map((one) => h("span", { class: "reason", data: { reason: one } }, t(`priorityReasons.${one}`))));
