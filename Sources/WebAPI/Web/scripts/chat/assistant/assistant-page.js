// The assistant: a question about all chats or one of them, what it was asked before, and a thread of questions and answers.

import { server } from "../../connection/features.js";
import { errorMessage } from "../../connection/problems.js";
import { realtime } from "../../connection/realtime.js";
import { attempt, report } from "../../elements/attempt.js";
import { ask } from "../../elements/dialogs.js";
import { announce, busy, button, h, icon } from "../../elements/dom.js";
import { onceAFrame } from "../../elements/frames.js";
import { Nodes, show as showNodes } from "../../elements/keyed.js";
import { visible } from "../../elements/message-text.js";
import { nothingHere } from "../../elements/nothing-page.js";
import { shortWhenText } from "../../language/format.js";
import { t } from "../../language/texts.js";
import { answerText, runsOf, scopeOf } from "../../state/assistant-runs.js";
import { assistant } from "../../sync/assistant.js";
import { inbox } from "../../sync/inbox.js";
import { questionForm } from "./assistant-question.js";
import { RunItem } from "./assistant-run.js";

/** An open thread is read again so often, in milliseconds, since messages that its answers rest on may change. */
const READ_AGAIN = 60_000;

/** `key` is `assistant`, with the id of a thread or without, or `ask`, with that of the conversation that the question is about. */
export function assistantPage(key, id) {
    const node = h("div", { class: "page assistant" });
    let part;
    const navigate = (nextKey, nextID) => {
        part?.close();
        part = nextKey === "assistant" && nextID ? threadPart(nextID) : startPart(nextKey === "ask" ? nextID : undefined);
        node.replaceChildren(...part.nodes);
    };
    const missing = h("div", { class: "empty", id: "no-assistant" }, icon("assistant"), h("p", {}, t("assistant.none")));
    const drawMissing = () => {
        node.hidden = server.isKnown && !server.languageModel;
        missing.hidden = !node.hidden;
    };
    const unsubscribe = [server.on("change", drawMissing), assistant.on("ended", (run) => announce(run.status === "done" ? answerText(run) : t("assistant.ended")))];
    navigate(key, id);
    drawMissing();
    return {
        node: h("div", {}, missing, node),
        navigate,
        opened: () => part.opened(),
        close() {
            part.close();
            unsubscribe.forEach((one) => one());
        },
    };
}

/** A new question, and what was asked before. */
function startPart(conversation) {
    const list = h("ul", { class: "rows", id: "assistant-threads", "aria-label": t("assistant.earlier") });
    const heading = h("h2", { class: "section-title", hidden: true }, t("assistant.earlier"));
    const failure = h("div", {});
    const more = button({ label: t("assistant.more"), class: "quiet wide", hidden: true, data: { action: "more-threads" }, onclick: () => load(assistant.state.nextCursor) });
    const form = questionForm({ scope: { conversation, for: "me" }, about: () => conversation && inbox.row(conversation), asked: (run) => { location.hash = `#/assistant/${run.thread}`; } });
    const nodes = new Nodes();
    let isClosed = false;

    const draw = () => {
        const { threads, nextCursor, isLoaded } = assistant.state;
        heading.hidden = threads.length === 0;
        showNodes(list, threads.map((one) => nodes.node(one.id, [one], () => threadRow(one))));
        nodes.sweep();
        more.hidden = !isLoaded || !nextCursor;
    };
    const schedule = onceAFrame(draw);
    const load = async (cursor) => {
        try {
            await assistant.loadThreads(cursor);
            failure.replaceChildren();
        } catch (error) {
            if (!isClosed && server.languageModel) failure.replaceChildren(h("p", { class: "hint", role: "alert" }, errorMessage(error)),
                button({ label: t("common.tryAgain"), class: "small soft", data: { action: "retry-threads" }, onclick: () => load(cursor) }));
        }
    };
    const unsubscribe = [assistant.on("change", schedule), inbox.on("change", () => form.draw()), server.on("change", () => load())];
    if (server.languageModel) load();
    draw();
    return {
        nodes: [h("div", { class: "page-head" }, h("h1", {}, t("assistant.title"))), form.node, heading, h("div", { class: "results" }, list), failure, more],
        opened: () => form.focus(),
        close() {
            isClosed = true;
            schedule.cancel();
            form.close();
            unsubscribe.forEach((one) => one());
        },
    };
}

function threadRow({ id, title, updatedAt, runs }) {
    return h("li", { class: "row", id: `assistant-thread-${id}` },
        h("a", { class: "who", href: `#/assistant/${id}` }, h("span", { class: "name" },
            h("span", { class: "title-line" }, h("bdi", { class: "title" }, visible(title)), h("time", { class: "when", datetime: updatedAt }, shortWhenText(updatedAt))),
            h("span", { class: "state" }, t("assistant.questions", { count: runs })))),
        button({ name: "trash", label: t("assistant.eraseName", { title }), bare: true, class: "round quiet", data: { action: "erase-thread" }, onclick: () => erase(id) }));
}

/** Resolves to whether it was erased. */
async function erase(id) {
    const sure = await ask({ title: t("assistant.eraseSure"), text: t("assistant.eraseConsequence"), danger: true, choices: [{ value: "erase", label: t("common.delete") }] });
    return Boolean(sure) && attempt(assistant.eraseThread(id));
}

/** Questions that know of each other. */
function threadPart(id) {
    const items = new Map();
    const list = h("div", { class: "runs", role: "feed", "aria-label": t("assistant.answers"), "aria-busy": "true" });
    const title = h("bdi", {});
    const state = h("div", {});
    const remove = button({ name: "trash", label: t("assistant.erase"), bare: true, class: "round quiet", data: { action: "erase-thread" },
        onclick: () => busy(remove, () => erase(id), report) });
    let isClosed = false;
    let isLoaded = false;
    const runs = () => runsOf(assistant.state, id);
    const form = questionForm({ scope: scopeOf(runs()), thread: id, about: () => { const { conversation } = scopeOf(runs()); return conversation && inbox.row(conversation); },
        asked: (run) => {
            draw();
            document.getElementById(`run-${run.id}`)?.scrollIntoView({ block: "start" });
        } });

    const draw = () => {
        if (isClosed) return;
        const shown = runs();
        // It goes with its last question.
        if (isLoaded && shown.length === 0) return void (location.hash = "#/assistant");
        const known = assistant.state.threads.find((one) => one.id === id)?.title ?? shown[0]?.run.question ?? "";
        if (title.textContent !== known) title.replaceChildren(...visible(known));
        for (const [run] of items) if (!shown.some((one) => one.run.id === run)) items.delete(run);
        showNodes(list, shown.map((entry, index) => {
            const made = items.get(entry.run.id);
            const item = made?.run === entry.run ? made : new RunItem(entry.run);
            items.set(entry.run.id, item);
            item.update(entry, { position: index + 1, count: shown.length });
            return item.node;
        }));
        form.follow(scopeOf(shown), shown.some((one) => one.run.status === "running"));
    };
    const schedule = onceAFrame(draw);
    const showNothing = () => state.parentElement?.replaceChildren(nothingHere("h1"));
    const load = async () => {
        try {
            await assistant.loadThread(id);
            if (isClosed) return;
            isLoaded = true;
            state.replaceChildren();
        } catch (error) {
            if (isClosed) return;
            if (error.status === 404) return showNothing();
            state.replaceChildren(h("p", { class: "hint", role: "alert" }, errorMessage(error)),
                button({ label: t("common.tryAgain"), class: "small soft", data: { action: "retry-thread" }, onclick: load }));
        }
        list.removeAttribute("aria-busy");
        draw();
    };
    const unsubscribe = [assistant.on("change", schedule), inbox.on("change", schedule), server.on("change", load),
        realtime.on("state", (now) => { if (now === "online" && state.hasChildNodes()) load(); })];
    // What is there stays where that fails, unless it was erased elsewhere.
    const readAgain = () => {
        if (document.hidden || !realtime.isOnline || !isLoaded) return;
        assistant.loadThread(id).catch((error) => { if (error.status === 404 && !isClosed) showNothing(); });
    };
    const timer = setInterval(readAgain, READ_AGAIN);
    document.addEventListener("visibilitychange", readAgain);
    draw();
    load();
    return {
        nodes: [h("div", { class: "page-head" }, h("a", { class: "back", href: "#/assistant", "aria-label": t("assistant.title") }, icon("back")), h("h1", { tabindex: "-1" }, title), remove),
            list, state, form.node],
        opened: () => form.focus(),
        close() {
            isClosed = true;
            clearInterval(timer);
            document.removeEventListener("visibilitychange", readAgain);
            schedule.cancel();
            form.close();
            unsubscribe.forEach((one) => one());
        },
    };
}
