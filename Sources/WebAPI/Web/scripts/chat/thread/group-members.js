// The members of a group: all of them, their roles, and what an administrator does with them.

import { request } from "../../connection/requests.js";
import { attempt, report } from "../../elements/attempt.js";
import { avatar } from "../../elements/avatar.js";
import { ask, open } from "../../elements/dialogs.js";
import { busy, button, h } from "../../elements/dom.js";
import { visible } from "../../elements/message-text.js";
import { t } from "../../language/texts.js";
import { writeTo } from "../../people/new-chat.js";
import { blockUser, reportUser } from "../../people/report-user.js";
import { roleOf } from "../../state/thread-rows.js";
import { friends } from "../../sync/friends.js";

const ranks = { owner: 0, admin: 1, member: 2 };

/** `details` is the dialog that it stands in. */
export function membersSection(thread, details) {
    const { conversation, members } = thread.state;
    const present = Object.values(members).filter((one) => one.state !== "left")
        .sort((one, other) => ranks[one.role] - ranks[other.role] || thread.nameOf(one.user).localeCompare(thread.nameOf(other.user)));
    const list = h("ul", { class: "rows flat", "aria-label": t("members.list") }, present.map((one) => memberRow(thread, one, thread.state.people[one.user], details)));
    const known = new Set(present.map((one) => one.user));
    const more = thread.state.moreMembers && button({ label: t("members.showAll", { count: conversation.members }), class: "quiet wide", data: { action: "all-members" },
        onclick: () => busy(more, () => loadAll(thread, list, known, details, more), report) });
    return h("section", { "aria-labelledby": "group-members" }, h("h3", { id: "group-members" }, t("members.count", { count: conversation.members })),
        list, more);
}

/** Those that the snapshot leaves out, page by page. */
async function loadAll(thread, list, known, details, more) {
    let cursor;
    do {
        const page = await request("members.list", { conversation: thread.id, ...(cursor && { cursor }) });
        const people = Object.fromEntries(page.people.map((one) => [one.id, one]));
        const members = page.members.filter((one) => one.state !== "left" && !known.has(one.user));
        list.append(...members.map((one) => memberRow(thread, one, people[one.user], details)));
        for (const one of members) known.add(one.user);
        cursor = page.nextCursor;
    } while (cursor);
    more.remove();
}

function memberRow(thread, member, person = { id: member.user, displayName: "" }, details) {
    const isMe = member.user === thread.me;
    const name = person.displayName || t("common.deletedAccount");
    const notes = [isMe && t("common.you"), member.role !== "member" && t(`roles.${member.role}`), member.state === "invited" && t("members.invited"), friends.isBlocked(member.user) && t("members.blocked")].filter(Boolean);
    return h("li", { class: "row", data: { user: member.user, role: member.role } }, avatar(person),
        h("span", { class: "name" }, h("bdi", {}, visible(name)), h("span", { class: "state" }, notes.join(" · "))),
        !isMe && button({ name: "more", label: t("row.more", { name }), bare: true, class: "round quiet", data: { action: "member-menu" },
            onclick: () => showMember(thread, member, { ...person, displayName: name }, details) }));
}

function showMember(thread, member, person, details) {
    const { user } = member;
    const role = roleOf(thread.state, thread.me);
    const isManager = role === "owner" || role === "admin";
    const isJoined = member.state === "member";
    const item = (action, name, label, run, style = "quiet") => button({ name, label, class: `item ${style}`, data: { action },
        onclick: () => { dialog.close(); run(); } });
    const setRole = (next) => attempt(thread.change("members.update", { user, role: next, version: member.version }));
    const sure = async (title, text, label, work) => {
        if (await ask({ title, text, danger: true, choices: [{ value: true, label }] })) await attempt(work);
    };
    const dialog = open({ id: "member-menu", "aria-labelledby": "member-menu-title", class: "dialog menu" },
        h("h2", { id: "member-menu-title" }, h("bdi", {}, visible(person.displayName))),
        h("div", { class: "items" },
            !person.deleted && item("write", "chat", t("common.message"), () => { details.close(); writeTo(person); }),
            isManager && isJoined && member.role === "member" && item("make-admin", "shield", t("members.makeAdmin"), () => setRole("admin")),
            role === "owner" && member.role === "admin" && item("make-member", "people", t("members.makeMember"), () => setRole("member")),
            role === "owner" && isJoined && item("hand-over", "swap", t("members.handOver"), () => sure(t("members.handOverTo", { name: person.displayName }),
                t("members.handOverConsequence"), t("members.handOverNow"), () => thread.change("conversations.handOver", { user }))),
            isManager && member.role !== "owner" && item("remove-member", "signOut", t("members.removeFromGroup"), () => sure(t("members.removeName", { name: person.displayName }),
                t("members.removeConsequence"), t("common.remove"), () => request("members.remove", { conversation: thread.id, user })), "quiet danger-text"),
            friends.isBlocked(user) ? item("unblock", "block", t("common.unblock"), () => friends.unblock(user))
                : item("block", "block", t("common.block"), () => blockUser(person), "quiet danger-text"),
            item("report", "alert", t("common.report"), () => reportUser(person), "quiet danger-text")),
        button({ label: t("common.cancel"), class: "wide soft", onclick: () => dialog.close() }));
}
