// The audit log, the newest entry first.

import { h } from "../../scripts/elements/dom.js";
import { get } from "../session.js";
import { heading, pages, pill, time } from "../widgets.js";

const COLUMNS = ["When", "Who", "What", "About", "Outcome", "From"];

export const audit = {
    id: "audit",
    title: "Audit",

    open(root) {
        const list = pages("Audit log", COLUMNS, async (cursor) => {
            const query = new URLSearchParams(cursor && { cursor });
            const [{ entries, nextCursor }, { keys }] = await Promise.all(
                [get(`/admin/v1/audit?${query}`), get("/admin/v1/keys")]);
            const names = new Map(keys.map(({ id, name }) => [id, name]));
            return [entries.map((entry) => cells(entry, names)), nextCursor];
        }, { empty: "There are no entries.", more: "Older" });
        root.append(heading("Audit log",
            h("button", { type: "button", class: "soft small", onclick: () => list.reload() }, "Refresh")),
        h("p", { class: "hint" },
            "Every write of keys and commands, and what was refused, counted by minute. Kept for 400 days."),
        list.element);
        list.reload();
    },
};

/** Who did it: the name of a key with its id. */
function actor(text, names) {
    if (text === "operator") return "command line";
    const [kind, id] = text.split(":");
    if (kind !== "key") return text;
    return h("div", { class: "name" }, h("bdi", {}, names.get(id) ?? "a key"), h("code", { class: "hint" }, id));
}

/** What it is about: a key with its name, a user as a link. */
function subject({ action, subject: id }, names) {
    if (!id) return "–";
    if (names.has(id)) return h("div", { class: "name" }, h("bdi", {}, names.get(id)), h("code", { class: "hint" }, id));
    if (/\.(users|tokens)\./.test(action)) return h("a", { href: `#/users/${id}` }, h("code", {}, id));
    return h("code", {}, id);
}

const cells = (entry, names) => [
    time(entry.at, { seconds: true }), actor(entry.actor, names), h("code", {}, entry.action), subject(entry, names),
    h("span", {}, pill(entry.outcome.replaceAll("_", " "), entry.outcome === "done" ? "good" : "bad"),
        entry.count > 1 && ` × ${entry.count}`),
    entry.address ?? "–",
];
