// Choosing several messages of a thread: each has a box, and a bar has what can be done with all of them.
//
// A press anywhere on a message, or the space bar, chooses it, and with Shift all from the last one on. Escape and Back end it.

import { attempt } from "../../elements/attempt.js";
import { ask } from "../../elements/dialogs.js";
import { announce, button, h, icon, toast } from "../../elements/dom.js";
import { HistoryEntry } from "../../elements/history-entry.js";
import { stampText, voiceText } from "../../language/format.js";
import { t } from "../../language/texts.js";
import { decoded } from "../../state/mentions.js";
import * as chosen from "../../state/message-choice.js";
import { messageOf } from "../../state/thread-rows.js";
import { outbox } from "../../sync/outbox.js";
import { pickConversations } from "../list/conversation-picker.js";
import { translate } from "../messages/message-translation.js";
import { lineOf } from "../messages/message.js";

const entry = new HistoryEntry("selection");

/** `onchange` is called when it begins, changes and ends: the messages are drawn then. */
export function messageSelection(thread, onchange) {
    let selection;
    const messages = () => chosen.selectedMessages(selection ?? chosen.emptySelection, thread.state);
    const count = h("h1", { class: "selection-count" });
    const head = h("div", { class: "thread-head selection-head", hidden: true },
        button({ name: "close", label: t("selection.stop"), bare: true, class: "round quiet", data: { action: "stop-selecting" }, onclick: () => end() }), count);
    const item = (action, name, label, work) => button({ name, label, class: "quiet", data: { action }, onclick: work });
    const buttons = {
        copy: item("copy-selected", "copy", t("common.copy"), () => copy()),
        translate: item("translate-selected", "globe", t("menu.translate"), () => translateAll()),
        forward: item("forward-selected", "forward", t("menu.forward"), () => forward()),
        star: item("star-selected", "star", t("menu.star"), () => star(true)),
        unstar: item("unstar-selected", "star", t("menu.removeStar"), () => star(false)),
        delete: item("delete-selected", "trash", t("common.delete"), () => remove()),
    };
    const bar = h("div", { class: "selection-bar", role: "toolbar", "aria-label": t("selection.actions"), hidden: true }, Object.values(buttons));

    const draw = () => {
        head.hidden = bar.hidden = !selection;
        if (!selection) count.textContent = "";
        if (!selection) return;
        const text = t("selection.count", { count: chosen.countSelected(selection) });
        if (count.textContent !== text) announce(text);
        count.textContent = text;
        const may = chosen.actionsFor(messages(), thread.state, thread.me);
        for (const name of ["copy", "forward", "delete"]) buttons[name].disabled = !may[name];
        buttons.forward.title = may.forward || !may.copy ? "" : t("selection.onlyTexts");
        buttons.translate.hidden = !messages().some((one) => thread.translations.isOffered(one));
        const focused = document.activeElement;
        buttons.unstar.hidden = !may.unstar;
        buttons.star.hidden = may.unstar;
        buttons.star.disabled = !may.star;
        if (focused === buttons.star || focused === buttons.unstar) (may.unstar ? buttons.unstar : buttons.star).focus();
    };
    const set = (next) => {
        selection = next;
        draw();
        onchange();
    };
    const begin = (message) => {
        if (selection || !chosen.isSelectable(message)) return;
        entry.add(close);
        set(chosen.toggled(chosen.emptySelection, message));
        boxOf(message.number)?.focus();
    };
    /** What had the focus is gone: the message that was chosen last has it. */
    const close = () => {
        if (!selection) return;
        const { last } = selection;
        const hadFocus = document.activeElement?.closest(".selection-head, .selection-bar, [data-action=select]");
        set(undefined);
        if (hadFocus) (document.getElementById(`message-${last}`) ?? document.getElementById("messages"))?.focus({ preventScroll: true });
    };
    const end = () => {
        if (!selection) return;
        entry.remove();
        close();
    };
    const choose = (number, isRange) => {
        const message = messageOf(thread.state, number);
        if (!chosen.isSelectable(message)) return;
        const next = isRange ? chosen.extended(selection, thread.state, number) : chosen.toggled(selection, message);
        if (chosen.countSelected(next) === chosen.MOST && (isRange || next === selection)) toast(t("selection.most", { count: chosen.MOST }));
        if (next !== selection) set(next);
        boxOf(number)?.focus({ preventScroll: true });
    };

    // What is done with them

    const copy = async () => {
        const lines = messages().map((one) => t("selection.line", { name: thread.nameOf(one.author), time: stampText(one.sentAt), text: textOf(one) }));
        try {
            await navigator.clipboard.writeText(lines.join("\n"));
            toast(t("common.copied"));
            end();
        } catch { toast(t("menu.cannotCopy"), { error: true }); }
    };
    const textOf = (one) => one.text !== undefined ? decoded(one.text, (user) => thread.nameOf(user)).text
        : one.voice ? one.voice.transcript?.text ?? voiceText(one.voice) : lineOf(thread, one);
    const forward = async () => {
        const ids = await pickConversations({ title: t("menu.forwardTo"), action: t("menu.forward") });
        const forwarded = messages().filter(chosen.isForwardable);
        if (!ids || forwarded.length === 0) return;
        for (const id of ids) for (const { number } of forwarded) outbox.send(id, { forward: { conversation: thread.id, number } });
        toast(t("menu.forwarded", { count: ids.length }));
        end();
    };
    const translateAll = () => {
        translate(thread, messages().filter((one) => thread.translations.isOffered(one)));
        end();
    };
    const star = (isOn) => {
        for (const one of messages()) if (Boolean(thread.state.starred[one.number]) !== isOn) thread.star(one, isOn);
        end();
    };
    const remove = async () => {
        const all = messages();
        const mayForAll = chosen.actionsFor(all, thread.state, thread.me).deleteForAll;
        const sure = await ask({ title: t("selection.deleteSure", { count: all.length }), danger: true, text: mayForAll && t("selection.deleteConsequence"),
            choices: [{ value: "me", label: t("menu.deleteForMe") }, ...mayForAll ? [{ value: "all", label: t("menu.deleteForAll") }] : []] });
        if (!sure) return;
        for (const one of messages()) attempt(sure === "all" ? () => thread.deleteForAll(one) : () => thread.deleteForMe(one));
        end();
    };

    /** The message that an event is about, of those that can be chosen. */
    const numberAt = (target) => {
        const number = Number(target.closest?.(".message")?.dataset.number);
        return selection && !target.closest(".folded") && chosen.isSelectable(messageOf(thread.state, number)) ? number : undefined;
    };
    const onclick = (event) => {
        const number = numberAt(event.target);
        if (number === undefined) return;
        // Links, quotes and players of the message do nothing meanwhile.
        event.preventDefault();
        event.stopPropagation();
        choose(number, event.shiftKey);
    };
    const onkeydown = (event) => {
        if (!selection || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
        if (event.key === "Escape" && !document.querySelector("dialog[open]") && !document.getElementById("app").inert && !event.target.closest?.("#stage")) {
            event.preventDefault();
            end();
        } else if (event.key === " " && event.target.matches?.(".message, [data-action=select]")) {
            event.preventDefault();
            choose(Number(event.target.closest(".message").dataset.number), event.shiftKey);
        }
    };
    addEventListener("keydown", onkeydown);
    const unsubscribe = thread.on("change", () => {
        if (!selection) return;
        const next = chosen.kept(selection, thread.state);
        if (!thread.state.isLoaded) end();
        else if (next === selection) draw();
        else set(next);
    });
    let isMarked = false;
    return {
        head,
        bar,
        begin,
        get isOn() { return Boolean(selection); },
        /** Handles presses on the messages before they do. */
        watch(node) { node.addEventListener("click", onclick, { capture: true }); },
        /** Gives the nodes of messages their boxes, or takes them away. */
        mark(nodes) {
            if (!selection && !isMarked) return;
            isMarked = Boolean(selection);
            for (const node of nodes) markNode(node);
        },
        close() {
            removeEventListener("keydown", onkeydown);
            unsubscribe();
            end();
        },
    };

    function markNode(node) {
        const number = Number(node.dataset.number);
        const isOffered = Boolean(selection) && !node.dataset.folded && chosen.isSelectable(messageOf(thread.state, number));
        const known = node.querySelector("[data-action=select]");
        const isOn = isOffered && chosen.isSelected(selection, number);
        node.classList.toggle("selected", isOn);
        if (!isOffered) return known?.remove();
        const box = known ?? h("span", { class: "select-box", role: "checkbox", tabindex: "-1", "aria-label": node.getAttribute("aria-label"), data: { action: "select" } }, icon("check"));
        box.setAttribute("aria-checked", String(isOn));
        if (!known) node.querySelector(".message-line")?.prepend(box);
        return undefined;
    }
}

const boxOf = (number) => document.querySelector(`#message-${number} [data-action=select]`);
