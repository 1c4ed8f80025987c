// Choosing conversations: several to forward to, or one to go to.

import { open } from "../../elements/dialogs.js";
import { button, h } from "../../elements/dom.js";
import { visible } from "../../elements/message-text.js";
import { t } from "../../language/texts.js";
import { listedRows } from "../../state/inbox-rows.js";
import { nameMatches } from "../../state/search-matches.js";
import { inbox } from "../../sync/inbox.js";
import { avatarOf, titleOf } from "./conversation-row.js";

/** Conversations that the user may write in, whose names match. */
export function matchingRows(query) {
    return listedRows(inbox.state).filter((row) => row.membership?.state === "member"
        && (query.trim() === "" || nameMatches(titleOf(row), query).length > 0));
}

/** Asks for conversations; resolves to their ids, or undefined when the dialog is dismissed. */
export function pickConversations({ title, action }) {
    return new Promise((resolve) => {
        const chosen = new Set();
        const list = h("ul", { class: "rows flat picks", id: "conversation-picks", "aria-label": t("chats.list") });
        const search = h("input", { id: "conversation-search", type: "search", placeholder: t("picker.chatName"), autocomplete: "off",
            spellcheck: "false", enterkeyhint: "search", "aria-controls": "conversation-picks", oninput: () => show() });
        const done = button({ label: action, class: "primary", disabled: true, data: { choice: "done" },
            onclick: () => { resolve([...chosen]); dialog.close(); } });
        const empty = h("p", { class: "hint", role: "status" });
        const show = () => {
            const rows = matchingRows(search.value);
            empty.textContent = rows.length > 0 ? "" : t("picker.noChat");
            list.replaceChildren(...rows.map((row) => {
                const id = `pick-${row.id}`;
                const input = h("input", { type: "checkbox", id, checked: chosen.has(row.id), onchange: () => {
                    if (input.checked) chosen.add(row.id); else chosen.delete(row.id);
                    done.disabled = chosen.size === 0;
                } });
                return h("li", { class: "row pick", data: { conversation: row.id } },
                    h("label", { for: id, class: "who" }, avatarOf(row), h("span", { class: "name" }, h("bdi", {}, visible(titleOf(row))))), input);
            }));
        };
        const dialog = open({ id: "conversation-picker", "aria-labelledby": "conversation-picker-title", class: "dialog picker" },
            h("h2", { id: "conversation-picker-title" }, title),
            h("div", { class: "search" }, h("label", { for: "conversation-search", class: "unseen" }, t("picker.findChat")), search), empty, list,
            h("div", { class: "choices" }, done, button({ label: t("common.cancel"), class: "quiet", onclick: () => dialog.close() })));
        dialog.addEventListener("close", () => resolve(undefined));
        show();
    });
}
