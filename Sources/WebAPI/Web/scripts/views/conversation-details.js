// A conversation as a whole: its members, its settings, and how the user keeps it.

import { button, h } from "../dom.js";
import { friends } from "../friends.js";
import { inbox } from "../inbox.js";
import { t } from "../language/texts.js";
import { duration } from "../notices.js";
import { DISAPPEARING_CHOICES } from "../state/disappearing.js";
import { roleOf } from "../state/thread.js";
import { attempt } from "./attempt.js";
import { askText, open } from "./dialogs.js";
import { linksSection } from "./group-links.js";
import { membersSection } from "./group-members.js";
import { visible } from "./message-text.js";
import { pickPeople } from "./picker.js";
import { blockUser, reportUser } from "./report-user.js";
import { rowActions } from "./row-menu.js";

/** The names of what members may do. */
const rights = ["write", "add", "rename"];

export const disappearingText = (seconds) => seconds ? duration(seconds) : t("details.off");

export function showDetails(thread, title) {
    const { conversation } = thread.state;
    const isGroup = conversation.kind === "group";
    const content = h("div", { class: "details" });
    const dialog = open({ id: "members", "aria-labelledby": "members-title", class: "dialog picker details-dialog" },
        h("h2", { id: "members-title" }, h("bdi", {}, visible(title))), content,
        button({ label: t("common.close"), class: "wide soft", data: { action: "close" }, onclick: () => dialog.close() }));
    let key;
    const draw = () => {
        const row = inbox.row(thread.id);
        const { state } = thread;
        // What is being chosen stays, while something else changes.
        const next = [state.conversation.version, JSON.stringify(state.members), row?.counter].join();
        if (next === key || !dialog.open) return;
        key = next;
        const focused = content.contains(document.activeElement) && document.activeElement.id;
        const isManager = !isGroup || ["owner", "admin"].includes(roleOf(state, thread.me));
        const may = (what) => isGroup && (isManager || state.conversation.settings?.[what] === "members");
        content.replaceChildren(...[
            isGroup && membersSection(thread, dialog),
            isGroup && h("div", { class: "items" },
                may("add") && item("add-members", "addPerson", t("call.addPeople"), () => addPeople(thread)),
                may("rename") && item("rename", "edit", t("details.rename"), () => rename(thread))),
            may("add") && linksSection(thread),
            isGroup && isManager && rightsSection(thread),
            disappearingField(thread, isManager),
            conversation.kind !== "self" && receiptsField(thread, row),
            row && h("div", { class: "items" }, rowActions(row).map(({ action, name, label, style, run }) => item(action, name, label, run, style))),
            conversation.kind === "direct" && personItems(thread, item),
        ].filter(Boolean));
        if (focused) document.getElementById(focused)?.focus();
    };
    function item(action, name, label, run, style = "quiet") {
        return button({ name, label, class: `item ${style}`, data: { action }, onclick: () => { dialog.close(); run(); } });
    }
    const unsubscribe = [thread.on("change", draw), inbox.on("change", draw)];
    dialog.addEventListener("close", () => unsubscribe.forEach((one) => one()));
    draw();
}

async function addPeople(thread) {
    const present = Object.values(thread.state.members).filter((one) => one.state !== "left");
    const chosen = await pickPeople({ title: t("call.addPeople"), without: present.map((one) => one.user),
        actions: [{ value: "add", label: t("common.add"), name: "addPerson" }] });
    if (chosen) await attempt(thread.change("members.add", { members: chosen.people.map((one) => one.id) }));
}

async function rename(thread) {
    const name = await askText({ title: t("details.renameTitle"), label: t("details.groupName"), action: t("common.save"), maxlength: 80,
        value: thread.state.conversation.name ?? "" });
    if (name !== undefined) await attempt(thread.change("conversations.update", { name }));
}

/** A choice that is saved at once, and goes back if that fails. */
function choice({ id, label, hint, value, values, save, disabled }) {
    const input = h("select", { id, disabled }, values.map(([one, text]) => h("option", { value: one, selected: one === value }, text)));
    input.addEventListener("change", async () => { if (!await attempt(save(input.value))) input.value = value; });
    return h("div", { class: "field" }, h("label", { for: id }, label), input, hint && h("p", { class: "hint" }, hint));
}

function rightsSection(thread) {
    const { settings = {} } = thread.state.conversation;
    const words = [["members", t("details.allMembers")], ["admins", t("details.administrators")]];
    return h("section", { class: "rights", "aria-labelledby": "rights-title" }, h("h3", { id: "rights-title" }, t("details.whoMay")),
        rights.map((name) => choice({ id: `right-${name}`, label: t(`rights.${name}`), value: settings[name], values: words,
            save: (value) => thread.change("conversations.update", { settings: { [name]: value } }) })));
}

function disappearingField(thread, mayChange) {
    const seconds = thread.state.conversation.disappearAfter ?? 0;
    const values = [...new Set([...DISAPPEARING_CHOICES, seconds])].sort((one, other) => one - other).map((one) => [String(one), disappearingText(one)]);
    return choice({ id: "disappearing", label: t("details.disappear"), value: String(seconds), values, disabled: !mayChange,
        hint: t("details.disappearHint"),
        save: (value) => thread.change("conversations.update", { disappearAfter: Number(value) || null }) });
}

function receiptsField(thread, row) {
    const receipts = row?.membership?.receipts;
    const values = [["default", t("details.asInSettings")], ["true", t("details.yes")], ["false", t("details.no")]];
    return choice({ id: "show-receipts", label: t("settings.receipts"), value: receipts === undefined || receipts === null ? "default" : String(receipts), values,
        save: (value) => inbox.keep(thread.id, { receipts: value === "default" ? null : value === "true" }) });
}

function personItems(thread, item) {
    const person = Object.values(thread.state.people).find((one) => one.id !== thread.me && thread.state.members[one.id]);
    return person && !person.deleted && h("div", { class: "items" },
        friends.isBlocked(person.id) ? item("unblock", "block", t("common.unblock"), () => attempt(friends.unblock(person.id)))
            : item("block", "block", t("common.block"), () => blockUser(person), "quiet danger-text"),
        item("report", "alert", t("common.report"), () => reportUser(person), "quiet danger-text"));
}
