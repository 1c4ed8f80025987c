// Users: the search, and one user.

import { h } from "../../scripts/elements/dom.js";
import { get } from "../session.js";
import { heading, pages, time } from "../widgets.js";
import { statePill } from "./user-actions.js";
import { openUser } from "./user.js";

const COLUMNS = ["Name", "E-mail", "App’s id", "State", "Created"];
/** The last search, for the way back from a user. */
let last = "";

export const users = {
    id: "users",
    title: "Users",
    open: (root, detail) => (detail ? openUser(root, detail) : openSearch(root)),
};

function openSearch(root) {
    const input = h("input", { id: "query", type: "search", value: last, autocomplete: "off", maxlength: "600",
        "aria-describedby": "query-hint" });
    const list = pages("Users", COLUMNS, async (cursor) => {
        const query = new URLSearchParams({ ...(last && { query: last }), ...(cursor && { cursor }) });
        const { users: found, nextCursor } = await get(`/admin/v1/users?${query}`);
        return [found.map(cells), nextCursor];
    }, { empty: "Nobody was found." });
    root.append(heading("Users"),
        h("form", {
            class: "search", role: "search", onsubmit: (event) => {
                event.preventDefault();
                last = input.value.trim();
                list.reload();
            },
        },
        h("div", { class: "field" }, h("label", { for: "query" }, "Find"), input),
        h("button", { class: "primary" }, "Find"),
        h("p", { id: "query-hint", class: "hint" },
            "A name or how it begins, a whole e-mail address, an id, or ext: and the app’s own id.")),
        list.element);
    list.reload();
}

const cells = (user) => [
    h("a", { href: `#/users/${user.id}` }, h("bdi", {}, user.displayName)), user.email ?? "–", user.ext ?? "–",
    statePill(user), time(user.createdAt),
];
