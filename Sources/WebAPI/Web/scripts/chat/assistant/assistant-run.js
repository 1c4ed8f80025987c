// A question and its answer: what is written while it comes, then sentences with the messages that they rest on.

import { request } from "../../connection/requests.js";
import { attempt, report } from "../../elements/attempt.js";
import { ask } from "../../elements/dialogs.js";
import { busy, button, h, icon, toast } from "../../elements/dom.js";
import { visible } from "../../elements/message-text.js";
import { stampText } from "../../language/format.js";
import { hasText, listText, t } from "../../language/texts.js";
import { answerText, paragraphsOf, sourcesOf } from "../../state/assistant-runs.js";
import { assistant } from "../../sync/assistant.js";
import { drafts } from "../../sync/drafts.js";
import { inbox } from "../../sync/inbox.js";
import { names } from "../../sync/known-names.js";
import { titleOf } from "../list/conversation-row.js";
import { messageLink } from "../messages/message-link.js";
import { lineOf } from "../messages/message.js";

/** What is drawn of a run; while it is written, only its text changes. */
export class RunItem {
    run;
    node;
    #tools = h("p", { class: "hint run-tools", hidden: true });
    #text = h("p", { class: "answer-text", dir: "auto" });
    #said = h("p", { class: "hint", role: "status" });
    #shown;

    constructor(run) {
        this.run = run;
        const isRunning = run.status === "running";
        this.node = h("article", { class: "run", id: `run-${run.id}`, tabindex: "-1", "aria-label": t("assistant.question", { question: run.question }), data: { status: run.status } },
            h("div", { class: "run-question" }, h("p", { dir: "auto" }, visible(run.question))),
            h("div", { class: "run-answer", "aria-busy": isRunning && "true" }, this.#tools, isRunning ? this.#writing() : ended(run)));
    }

    update({ text, tools }, { position, count }) {
        this.node.setAttribute("aria-posinset", position);
        this.node.setAttribute("aria-setsize", count);
        const key = tools.join();
        if (this.#shown?.tools !== key) {
            const used = [...new Set(tools)].filter((one) => hasText(`assistantTools.${one}`)).map((one) => t(`assistantTools.${one}`));
            this.#tools.hidden = used.length === 0;
            this.#tools.replaceChildren(icon("search"), " ", t("assistant.looked", { what: listText(used) }));
        }
        if (this.run.status === "running" && this.#shown?.text !== text) {
            this.#text.replaceChildren(...visible(text));
            this.#text.hidden = text === "";
            this.#said.textContent = text === "" ? t("assistant.thinking") : t("assistant.writing");
        }
        this.#shown = { tools: key, text };
    }

    #writing() {
        const stop = button({ name: "close", label: t("assistant.stop"), class: "small soft", data: { action: "stop-run" }, onclick: () => busy(stop, () => assistant.cancel(this.run.id), report) });
        return [this.#text, h("div", { class: "run-foot" }, this.#said, stop)];
    }
}

function ended(run) {
    const { status } = run;
    const paragraphs = status === "done" ? paragraphsOf(run) : [];
    const isPartlyUncited = paragraphs.flat().some((one) => one.isUncited);
    return [
        paragraphs.map((sentences) => h("p", { class: "answer-text", dir: "auto" }, sentences.map((one) => sentencePart(run, one)))),
        status !== "done" && h("div", { class: "machine-failure", data: { failure: status } }, h("p", {}, icon(status === "cancelled" ? "close" : "alert"), h("span", {}, reasonText(run))), retry(run)),
        status === "done" && paragraphs.length === 0 && h("p", { class: "hint" }, t("assistant.nothing")),
        isPartlyUncited && h("p", { class: "hint uncited-note" }, icon("info"), " ", t.rich("assistant.uncitedNote", { mark: h("span", { class: "uncited" }, t("assistant.uncitedMark")) })),
        sourcesPart(run),
        footPart(run),
    ];
}

const reasonText = ({ status, reason }) => t(hasText(`assistantReasons.${reason}`) ? `assistantReasons.${reason}` : status === "cancelled" ? "assistantReasons.cancelled" : "assistantReasons.provider_failed");

function retry(run) {
    const again = button({ label: t("common.tryAgain"), class: "small soft", data: { action: "retry-run" }, onclick: () => busy(again, () => assistant.askAgain(run), report) });
    return again;
}

function sentencePart(run, { text, sources, isUncited, isWithdrawn }) {
    if (isWithdrawn) return [h("span", { class: "withdrawn" }, t("assistant.withdrawn")), " "];
    const cited = sourcesOf(run);
    return [h("span", { class: isUncited ? "uncited" : undefined, data: { cited: String(!isUncited) } }, visible(text), isUncited && h("span", { class: "unseen" }, " ", t("assistant.uncited"))),
        sources.map((position) => [" ", messageLink(cited[position - 1], { class: "citation", "aria-label": t("assistant.source", { number: position }), title: titleIn(cited[position - 1]), data: { source: String(position) } }, String(position))]), " "];
}

const titleIn = ({ conversation }) => {
    const row = inbox.row(conversation);
    return row ? titleOf(row) : t("assistant.aChat");
};

/** The messages that it rests on, whose words are read when somebody wants to see them. */
function sourcesPart(run) {
    const sources = sourcesOf(run);
    if (sources.length === 0) return undefined;
    const lines = sources.map(() => h("span", { class: "source-text" }));
    let isRead = false;
    const list = h("details", { class: "sources", ontoggle: () => {
        if (!list.open || isRead) return;
        isRead = true;
        sources.forEach((source, index) => readSource(source).then((text) => lines[index].replaceChildren(...text)));
    } }, h("summary", {}, t("assistant.sources", { count: sources.length })),
    h("ol", {}, sources.map((source, index) => h("li", {}, messageLink(source, { class: "source-row", data: { number: String(source.number) } },
        h("span", { class: "citation" }, String(index + 1)), h("span", { class: "source-words" }, h("bdi", { class: "title" }, visible(titleIn(source))), lines[index]))))));
    return list;
}

/** The nodes of a line: what the message says, unless it has changed. */
async function readSource({ conversation, number, of }) {
    try {
        const { message } = await request("messages.get", { conversation, number });
        const isChanged = of !== undefined && message.textVersion !== undefined && message.textVersion !== of;
        const line = lineOf({ nameOf: (user) => names.of(user) ?? t("row.aMember") }, message);
        return [h("bdi", {}, visible(line)), isChanged ? h("span", { class: "hint" }, " ", t("assistant.changed")) : ""];
    } catch (error) {
        return [error.status === 404 ? t("thread.messageGone") : ""];
    }
}

function footPart(run) {
    const text = answerText(run);
    const isToSend = run.for === "conversation" && run.conversation && text !== "";
    const remove = button({ name: "trash", label: t("assistant.eraseRun"), bare: true, class: "round quiet", data: { action: "erase-run" }, onclick: () => busy(remove, () => eraseRun(run), report) });
    return h("div", { class: "run-foot" }, h("p", { class: "hint" }, run.model && [h("bdi", {}, visible(run.model)), " · "], h("bdi", {}, stampText(run.endedAt ?? run.askedAt))),
        isToSend && button({ name: "send", label: t("assistant.sendToChat"), class: "small soft", data: { action: "send-answer" }, onclick: () => sendToChat(run, text) }),
        text !== "" && button({ name: "copy", label: t("common.copy"), bare: true, class: "round quiet", data: { action: "copy-answer" }, onclick: () => copy(text) }), remove);
}

/** It becomes a draft, which the user sends or not. What looks like a mention in it mentions nobody. */
function sendToChat({ conversation }, text) {
    const draft = drafts.of(conversation);
    const plain = text.replaceAll("<@", "< @");
    drafts.write(conversation, draft.text.trim() === "" ? plain : `${draft.text}\n${plain}`, draft.replyTo);
    location.hash = `#/c/${conversation}`;
}

async function copy(text) {
    try {
        await navigator.clipboard.writeText(text);
        toast(t("common.copied"));
    } catch { toast(t("menu.cannotCopy"), { error: true }); }
}

async function eraseRun({ id }) {
    const sure = await ask({ title: t("assistant.eraseRunSure"), text: t("assistant.eraseRunConsequence"), danger: true, choices: [{ value: "erase", label: t("common.delete") }] });
    if (sure) await attempt(assistant.eraseRun(id));
}
