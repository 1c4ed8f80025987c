// The messages that the user has starred, in all conversations: the newest star first.

import { credentials } from "../../connection/credentials.js";
import { errorMessage } from "../../connection/problems.js";
import { realtime } from "../../connection/realtime.js";
import { request } from "../../connection/requests.js";
import { busy, button, h, icon, toast } from "../../elements/dom.js";
import { visible } from "../../elements/message-text.js";
import { shortWhenText } from "../../language/format.js";
import { t } from "../../language/texts.js";
import { inbox } from "../../sync/inbox.js";
import { names } from "../../sync/known-names.js";
import { outbox } from "../../sync/outbox.js";
import { lineOf } from "../messages/message.js";
import { titleOf } from "./conversation-row.js";

/** Whose stars are removed as soon as the server can be asked, by `conversation/number`. */
const removedStars = () => new Set(outbox.all.filter((one) => one.name === "messages.unstar" && one.state !== "failed")
    .map(({ conversation, params }) => `${conversation}/${params.number}`));

export function starredPage() {
    const list = h("ul", { class: "rows", id: "starred", "aria-label": t("starred.title") });
    const empty = h("div", { class: "empty", hidden: true }, icon("star"), h("p", {}, t("starred.empty")));
    const more = button({ label: t("starred.more"), class: "quiet wide", hidden: true, data: { action: "more-starred" }, onclick: () => busy(more, () => load(cursor)) });
    const people = new Map();
    let cursor;
    let hasFailed = false;
    let isClosed = false;

    /** Profiles of authors: those of the list, and others once. */
    const nameOf = async (message) => {
        const { author, conversation } = message;
        const person = inbox.row(conversation)?.person;
        if (author === credentials.user.id) return t("common.you");
        if (author === person?.id) return person.displayName;
        if (!people.has(author)) people.set(author, request("users.get", { user: author }).then((user) => user.displayName, () => undefined));
        return await people.get(author) ?? t("common.somebody");
    };
    const row = async (message) => {
        const author = await nameOf(message);
        const { conversation, number, sentAt } = message;
        const known = inbox.row(conversation);
        const title = known ? titleOf(known) : author;
        const text = h("bdi", {}, lineOf({ me: credentials.user.id, nameOf: (user) => user === credentials.user.id ? credentials.user.displayName
            : names.of(user) ?? t("row.aMember") }, message));
        const node = h("li", { class: "row", data: { conversation, number: String(number) } },
            h("a", { class: "who", href: `#/c/${conversation}/${number}` }, h("span", { class: "name" },
                h("span", { class: "title-line" }, h("bdi", { class: "title" }, visible(title)), h("time", { class: "when", datetime: sentAt }, shortWhenText(sentAt))),
                h("span", { class: "state found" }, h("span", {}, title === author ? text : t.rich("search.line", { author: h("bdi", {}, visible(author)), text }))))),
            button({ name: "close", label: t("menu.removeStar"), bare: true, class: "round quiet", data: { action: "unstar" }, onclick: () => remove(node, message) }));
        return node;
    };
    const remove = async (node, { conversation, number }) => {
        try {
            await request("messages.unstar", { conversation, number });
            const next = node.nextElementSibling ?? node.previousElementSibling;
            node.remove();
            (next?.querySelector("a") ?? heading).focus();
            empty.hidden = list.children.length > 0;
        } catch (error) { toast(errorMessage(error), { error: true }); }
    };
    const load = async (from) => {
        hasFailed = false;
        try {
            const removed = removedStars();
            const page = await request("messages.starred", from ? { cursor: from } : {});
            const rows = await Promise.all(page.messages.filter((one) => !removed.has(`${one.conversation}/${one.number}`)).map(row));
            if (isClosed) return;
            list.append(...rows);
            cursor = page.nextCursor;
            more.hidden = !cursor;
            empty.hidden = list.children.length > 0 || !more.hidden;
        } catch (error) {
            if (isClosed) return;
            hasFailed = !from;
            toast(errorMessage(error), { error: true });
        }
    };
    const heading = h("h1", { tabindex: "-1" }, t("starred.title"));
    const unsubscribe = realtime.on("state", (now) => { if (now === "online" && hasFailed) load(); });
    load();
    return {
        node: h("div", { class: "page chat-page" }, h("div", { class: "page-head" },
            h("a", { class: "back", href: "#/chats", "aria-label": t("chats.list") }, icon("back")), heading), h("div", { class: "results" }, list), empty, more),
        close() {
            isClosed = true;
            unsubscribe();
        },
    };
}
