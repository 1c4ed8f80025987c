// A conversation as a whole: its members, its settings, and how the user keeps it.

import { pickPeople } from "../../calls/people-picker.js";
import { credentials } from "../../connection/credentials.js";
import { hasFeature, server } from "../../connection/features.js";
import { attempt } from "../../elements/attempt.js";
import { askText, closeButton, open } from "../../elements/dialogs.js";
import { button, h } from "../../elements/dom.js";
import { Nodes, show } from "../../elements/keyed.js";
import { visible } from "../../elements/message-text.js";
import { t } from "../../language/texts.js";
import { blockUser, reportUser } from "../../people/report-user.js";
import { elsewhereText } from "../../settings/hosted-services.js";
import { choice, hintChoices, intoField, levelChoices, modeChoices, toneField } from "../../settings/settings-languages.js";
import { DISAPPEARING_CHOICES } from "../../state/disappearing.js";
import { unreadOf } from "../../state/inbox-rows.js";
import { readerOf } from "../../state/reading.js";
import { roleOf, stateOf } from "../../state/thread-rows.js";
import { friends } from "../../sync/friends.js";
import { inbox } from "../../sync/inbox.js";
import { showGlossary } from "../assistant/glossary.js";
import { machineActions, rowActions, summaryScopes } from "../list/row-menu.js";
import { linksSection } from "./group-links.js";
import { membersSection } from "./group-members.js";
import { duration } from "./notices.js";

/** The names of what members may do. */
const rights = ["write", "add", "rename"];

export const disappearingText = (seconds) => seconds ? duration(seconds) : t("details.off");

/** `actions` are `{search(), goToDate(), unread()}` of the thread: `unread()` has the scope of what was unread when it was opened. */
export function showDetails(thread, title, actions) {
    const { conversation } = thread.state;
    const isGroup = conversation.kind === "group";
    const content = h("div", { class: "details" });
    const nodes = new Nodes();
    const links = isGroup && linksSection(thread);
    const dialog = open({ id: "members", "aria-labelledby": "members-title", class: "dialog picker details-dialog" },
        h("h2", { id: "members-title" }, h("bdi", {}, visible(title))), content,
        closeButton(() => dialog.close()));
    // Each part stays while what it shows is the same: somebody may be in the middle of a choice.
    const draw = () => {
        if (!dialog.open) return;
        const row = inbox.row(thread.id);
        const { state } = thread;
        const { settings, disappearAfter, members: count } = state.conversation;
        const isManager = !isGroup || ["owner", "admin"].includes(roleOf(state, thread.me));
        const may = (what) => isGroup && (isManager || settings?.[what] === "members");
        const members = JSON.stringify([count, state.moreMembers, state.members, Object.keys(state.members).map((user) => [thread.nameOf(user), friends.isBlocked(user)])]);
        const part = (name, isShown, parts, make) => isShown && nodes.node(name, parts, make);
        show(content, [
            part("finding", true, [row?.membership?.state], () => h("div", { class: "items" },
                hasFeature("messageSearch") && item("search-here", "search", t("threadSearch.title"), actions.search),
                item("go-to-date", "calendar", t("goToDate.title"), actions.goToDate),
                row && machineActions(row, summaryScopes(row, actions.unread())).map(({ action, name, label, run }) => item(action, name, label, run)))),
            part("members", isGroup, [members], () => membersSection(thread, dialog)),
            part("changes", isGroup, [may("add"), may("rename")], () => h("div", { class: "items" },
                may("add") && item("add-members", "addPerson", t("call.addPeople"), () => addPeople(thread)),
                may("rename") && item("rename", "edit", t("details.rename"), () => rename(thread)))),
            may("add") && links.node,
            part("rights", isGroup && isManager, [JSON.stringify(settings)], () => rightsSection(thread)),
            part("disappearing", true, [disappearAfter, isManager], () => disappearingField(thread, isManager)),
            part("receipts", conversation.kind !== "self", [row?.membership?.receipts], () => receiptsField(thread, row)),
            part("reading", conversation.kind !== "self" && server.translates && row, [JSON.stringify([row?.membership?.translation, credentials.user.languages])],
                () => readingFields(thread, row)),
            part("glossary", conversation.kind !== "self" && server.translates && stateOf(state, thread.me) === "member", [], () => h("div", { class: "items" },
                item("glossary", "globe", t("glossary.title"), () => showGlossary(thread, () => !isGroup || ["owner", "admin"].includes(roleOf(thread.state, thread.me)))))),
            part("hints", conversation.kind !== "self" && row?.membership?.state === "member", [row?.membership?.hints], () => hintsField(thread, row)),
            part("ownLevel", row?.membership?.state === "member", [row?.membership?.intelligence, elsewhereText()], () => ownLevelField(thread, row, conversation.kind)),
            part("level", isGroup && isManager, [settings?.intelligence, elsewhereText()], () => groupLevelField(thread)),
            part("actions", row, [JSON.stringify(row?.membership), row && unreadOf(inbox.state, row).unread > 0], () => h("div", { class: "items" },
                rowActions(row).map(({ action, name, label, style, run }) => item(action, name, label, run, style)))),
            part("person", conversation.kind === "direct", [members], () => personItems(thread, item)),
        ].filter(Boolean));
        nodes.sweep();
        if (may("add")) links.update(members);
    };
    function item(action, name, label, run, style = "quiet") {
        return button({ name, label, class: `item ${style}`, data: { action }, onclick: () => { dialog.close(); run(); } });
    }
    const unsubscribe = [thread, inbox, server].map((one) => one.on("change", draw));
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

/** How the user reads this conversation, if not as their settings say. */
function readingFields(thread, row) {
    const { translation } = row.membership;
    const { mode, into, known } = readerOf(credentials.user, row.membership);
    const own = translation?.into ?? (translation ? undefined : credentials.user.translation?.into);
    const tone = translation?.tone ?? (translation ? undefined : credentials.user.translation?.tone);
    const save = (change) => inbox.keep(thread.id, { translation: change });
    return h("div", { class: "setting-fields" },
        choice({ id: "read-in", label: t("languages.translate"), value: translation?.mode ?? "default", values: [["default", t("details.asInSettings")], ...modeChoices()],
            save: (value) => save(value === "default" ? null : { mode: value, ...(own && { into: own }), ...(tone && { tone }) }) }),
        translation && mode !== "off" && intoField({ id: "read-into", chosen: translation.into, known, save: (value) => save({ mode, ...(value && { into: value }), ...(tone && { tone }) }) }),
        translation && mode !== "off" && toneField({ id: "read-tone", chosen: tone,
            save: (value) => save({ mode, ...(own && { into: own }), ...(value && { tone: value }) }) }),
        translation && mode !== "off" && !into && h("p", { class: "hint" }, t("translation.noLanguage")));
}

/** When messages are explained here. */
function hintsField(thread, { membership: { hints } }) {
    return choice({ id: "explain-here", label: t("hints.setting"), value: hints ?? "default", values: [["default", t("details.asInSettings")], ...hintChoices()],
        save: (value) => inbox.keep(thread.id, { hints: value === "default" ? null : value }) });
}

/** What machines may make of what the user writes here. Of two people, and in notes to oneself, it is of all that is written. */
function ownLevelField(thread, { membership: { intelligence } }, kind) {
    return choice({ id: "own-level", label: t("languages.machinesHere"), hint: [kind === "direct" && t("languages.ofTwo"), elsewhereText()].filter(Boolean).join(" "), value: intelligence ?? "default",
        values: [["default", t("details.asInSettings")], ...levelChoices()],
        save: (value) => inbox.keep(thread.id, { intelligence: value === "default" ? null : value }) });
}

function groupLevelField(thread) {
    const { intelligence } = thread.state.conversation.settings ?? {};
    return choice({ id: "group-level", label: t("languages.machinesInGroup"), hint: `${t("languages.machinesInGroupHint")} ${elsewhereText()}`, value: intelligence ?? "",
        values: [...intelligence ? [] : [["", t("languages.asServer")]], ...levelChoices()],
        save: (value) => thread.change("conversations.update", { settings: { intelligence: value } }) });
}

function personItems(thread, item) {
    const person = Object.values(thread.state.people).find((one) => one.id !== thread.me && thread.state.members[one.id]);
    return h("div", { class: "items", hidden: !person || person.deleted }, person && [
        friends.isBlocked(person.id) ? item("unblock", "block", t("common.unblock"), () => friends.unblock(person.id))
            : item("block", "block", t("common.block"), () => blockUser(person), "quiet danger-text"),
        item("report", "alert", t("common.report"), () => reportUser(person), "quiet danger-text")]);
}
