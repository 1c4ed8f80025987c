// Who is in a conversation, and what can be done with it as a whole.

import { button, h, toast } from "../dom.js";
import { errorMessage } from "../problems.js";
import { request } from "../requests.js";
import { isMuted } from "../state/inbox.js";
import { roleOf } from "../state/thread.js";
import { avatar } from "./avatar.js";
import { ask, askText, open } from "./dialogs.js";
import { visible } from "./message-text.js";
import { pickPeople } from "./picker.js";

const words = { owner: "Owner", admin: "Administrator", member: "" };

/** `membership` is the user's own, of the list's row. */
export function showMembers(thread, title, membership) {
    const { conversation, members } = thread.state;
    const isGroup = conversation.kind === "group";
    const role = roleOf(thread.state, thread.me);
    const may = (what) => isGroup && (["owner", "admin"].includes(role) || conversation.settings?.[what] === "members");
    const present = Object.values(members).filter((one) => one.state !== "left");
    const muted = isMuted(membership);
    const item = (action, label, work, style = "soft") => button({ label, class: `wide ${style}`, data: { action },
        onclick: () => { dialog.close(); attempt(work); } });
    const change = (name, params) => request(name, { conversation: thread.id, ...params });
    const dialog = open({ id: "members", "aria-labelledby": "members-title", class: "dialog picker" },
        h("h2", { id: "members-title" }, h("bdi", {}, visible(title))),
        h("ul", { class: "rows flat", "aria-label": "Members" }, present.map((one) => memberRow(thread, one))),
        thread.state.moreMembers && h("p", { class: "hint" }, `${conversation.members} people are in it. Some are not listed here.`),
        h("div", { class: "choices" },
            may("add") && item("add-members", "Add people", async () => {
                const chosen = await pickPeople({ title: "Add people", without: present.map((one) => one.user),
                    actions: [{ value: "add", label: "Add", name: "addPerson" }] });
                if (chosen) await change("members.add", { members: chosen.people.map((one) => one.id) });
            }),
            may("rename") && item("rename", "Rename", async () => {
                const name = await askText({ title: "Rename the group", label: "Name of the group", action: "Save", maxlength: 80,
                    value: conversation.name ?? "" });
                if (name !== undefined) await change("conversations.update", { name });
            }),
            item("mute", muted ? "Unmute" : "Mute", () => change("members.updateMe", { muted: muted ? null : { mentions: true } })),
            item("pin", membership?.pinned ? "Unpin" : "Pin", () => change("members.updateMe", { pinned: !membership?.pinned })),
            isGroup && item("leave", "Leave", async () => {
                const sure = await ask({ title: "Leave the group?", danger: true, text: "You keep what you have seen.",
                    choices: [{ value: "leave", label: "Leave" }] });
                if (!sure) return;
                await change("members.leave");
                location.hash = "#/chats";
            }, "quiet danger-text"),
            button({ label: "Close", class: "wide quiet", onclick: () => dialog.close() })));
}

function memberRow(thread, { user, role, state }) {
    const person = thread.state.people[user] ?? { id: user, displayName: "" };
    const notes = [user === thread.me && "You", words[role], state === "invited" && "Invited"].filter(Boolean);
    return h("li", { class: "row", data: { user } }, avatar(person),
        h("span", { class: "name" }, h("bdi", {}, visible(person.displayName || "Deleted account")), h("span", { class: "state" }, notes.join(" · "))));
}

const attempt = async (work) => {
    try { await work(); } catch (error) { toast(errorMessage(error), { error: true }); }
};
