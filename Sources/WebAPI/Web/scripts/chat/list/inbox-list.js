// The list of conversations with its filters and its search, and the archive.

import { calls } from "../../calls/calls.js";
import { server } from "../../connection/features.js";
import { WatchSet } from "../../connection/watches.js";
import { attempt } from "../../elements/attempt.js";
import { button, h, icon } from "../../elements/dom.js";
import { onceAFrame } from "../../elements/frames.js";
import { Nodes, show as showNodes } from "../../elements/keyed.js";
import { t } from "../../language/texts.js";
import { newChat, writeNotes } from "../../people/new-chat.js";
import { notificationHint } from "../../people/permission-request.js";
import { archivedRows, filteredRows, listedRows } from "../../state/inbox-rows.js";
import { drafts } from "../../sync/drafts.js";
import { inbox } from "../../sync/inbox.js";
import { names } from "../../sync/known-names.js";
import { outbox } from "../../sync/outbox.js";
import { presence } from "../../sync/presence.js";
import { writers } from "../../sync/writers.js";
import { priorityList } from "../assistant/priority.js";
import { conversationRow, rowParts } from "./conversation-row.js";
import { watchRows } from "./row-gestures.js";
import { rowSwipes, showRowMenu } from "./row-menu.js";
import { searchResults } from "./search-results.js";

/** Of so many rows at the top, typing and presence are watched. */
const WATCHED = 30;
const filters = ["all", "unread", "important", "groups"];

export function inboxList() {
    const nodes = new Nodes();
    const list = h("ul", { class: "rows", id: "inbox", "aria-label": t("chats.list") });
    const emptyText = h("p", {});
    const start = h("div", { class: "pair" }, button({ label: t("inbox.start"), class: "primary", data: { action: "start-chat" }, onclick: newChat }),
        button({ label: t("inbox.startNotes"), class: "quiet", data: { action: "start-notes" }, onclick: writeNotes }));
    const empty = h("div", { class: "empty", hidden: true }, icon("chat"), emptyText, start);
    const more = button({ label: t("inbox.earlier"), class: "quiet wide", hidden: true, data: { action: "more-chats" },
        onclick: () => attempt(isArchive ? inbox.loadArchive() : inbox.loadMore()) });
    const heading = h("h1", {}, t("chats.list"));
    const tabs = h("div", { class: "filters", role: "group", "aria-label": t("inbox.which") }, filters.map((value) =>
        h("button", { type: "button", class: "filter", "aria-pressed": String(value === "all"), data: { filter: value }, onclick: () => setFilter(value) }, t(`filters.${value}`))));
    const archive = h("a", { class: "archive-link", href: "#/archive", hidden: true, data: { action: "archive" } }, icon("archive"), t("inbox.archive"));
    const starred = h("a", { class: "archive-link", href: "#/starred", data: { action: "starred" } }, icon("star"), t("starred.title"));
    const back = h("a", { class: "back", href: "#/chats", "aria-label": t("chats.list"), hidden: true }, icon("back"));
    const results = searchResults();
    const input = h("input", { id: "chat-search", type: "search", placeholder: t("inbox.search"), autocomplete: "off", spellcheck: "false",
        enterkeyhint: "search", "aria-controls": "search-results", oninput: () => search(), onkeydown: (event) => {
            if (event.key !== "Escape" || input.value === "") return;
            event.preventDefault();
            input.value = "";
            search();
        } });
    const field = h("form", { role: "search", class: "search", onsubmit: (event) => { event.preventDefault(); results.open(); } },
        h("label", { for: "chat-search", class: "unseen" }, t("inbox.searchLabel")), icon("search"), input);
    const begin = [button({ name: "notes", label: t("inbox.notes"), bare: true, class: "round soft", data: { action: "notes" }, onclick: writeNotes }),
        button({ name: "addPerson", label: t("inbox.newChat"), class: "soft pill", data: { action: "new-chat" }, onclick: newChat })];
    const priority = priorityList();
    const hint = notificationHint();
    const listed = h("div", { class: "listed" }, tabs, priority.node, list, empty, more, archive, starred);
    const node = h("div", { class: "page chat-page" },
        h("div", { class: "page-head" }, back, heading, h("div", { class: "pair" }, begin)),
        field, results.node, hint.node, listed);
    const typing = new WatchSet("typing");
    const online = new WatchSet("presence");
    let filter = "all";
    let isArchive = false;
    let current;

    const search = () => {
        const query = input.value.trim();
        listed.hidden = query !== "";
        results.search(query);
    };
    const setFilter = (value) => {
        filter = value;
        for (const one of tabs.children) one.setAttribute("aria-pressed", String(one.dataset.filter === value));
        priority.show(isImportant());
        draw();
    };
    const isImportant = () => filter === "important" && !isArchive;
    /** What machines find important is there where they understand texts. */
    const drawTabs = () => {
        tabs.querySelector("[data-filter=important]").hidden = !server.findsMeaning;
        if (filter === "important" && !server.findsMeaning) setFilter("all");
    };
    /** What stands around the rows. */
    const drawAround = (rows, state) => {
        list.hidden = isImportant();
        empty.hidden = rows.length > 0 || !state.isLoaded || isImportant();
        emptyText.textContent = t(`nothing.${isArchive ? "archive" : filter}`);
        start.hidden = isArchive || filter !== "all";
        more.hidden = isImportant() || (isArchive ? !state.archive?.nextCursor : !state.nextCursor);
        archive.hidden = starred.hidden = isArchive || filter !== "all";
    };
    let drawn;
    let isPressed = false;
    const draw = () => {
        // Another row would come under the pointer: it is drawn when that is lifted.
        if (isPressed) return;
        const { state } = inbox;
        const rows = isArchive ? archivedRows(state) : filteredRows(state, listedRows(state), filter, current);
        showNodes(list, rows.map((row) => nodes.node(row.id, rowParts(state, row, row.id === current),
            () => conversationRow(state, row, { isCurrent: row.id === current, menu: showRowMenu }))));
        nodes.sweep();
        const key = [rows.length > 0 || !state.isLoaded, isArchive, filter, Boolean(isArchive ? state.archive?.nextCursor : state.nextCursor)].join();
        if (key !== drawn) drawAround(rows, state);
        drawn = key;
        const top = rows.slice(0, WATCHED);
        typing.update(top.filter((row) => row.membership.state === "member").map((row) => row.id));
        online.update(top.filter((row) => row.person && !row.person.deleted).map((row) => row.person.id));
    };
    const schedule = onceAFrame(draw);
    watchRows(list, {
        menu: (id) => { if (inbox.row(id)) showRowMenu(inbox.row(id)); },
        swipes: (id) => inbox.row(id) ? rowSwipes(inbox.row(id)) : {},
        pressed(isDown) {
            isPressed = isDown;
            if (!isDown) schedule();
        },
    });
    drawTabs();
    const unsubscribe = [server.on("change", drawTabs), ...[inbox, drafts, names, outbox, presence, writers].map((one) => one.on("change", schedule)), calls.on("calls", schedule)];
    return {
        node,
        /** The conversation that is shown beside it, and whether the archive is listed. */
        update(id, showsArchive) {
            current = id;
            if (showsArchive !== isArchive) {
                isArchive = showsArchive;
                heading.textContent = isArchive ? t("inbox.archive") : t("chats.list");
                tabs.hidden = isArchive;
                back.hidden = !isArchive;
                priority.show(isImportant());
                for (const one of begin) one.hidden = isArchive;
                if (isArchive) attempt(inbox.loadArchive());
            }
            draw();
        },
        focusSearch: () => input.focus(),
        close() {
            schedule.cancel();
            results.close();
            priority.close();
            hint.close();
            typing.close();
            online.close();
            unsubscribe.forEach((one) => one());
        },
    };
}
