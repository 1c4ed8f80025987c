// Messages that are sent later: choosing a time, and the list of those that wait.

import { randomID } from "../../connection/identity.js";
import { failureMessage } from "../../connection/problems.js";
import { request } from "../../connection/requests.js";
import { attempt, report } from "../../elements/attempt.js";
import { ask, closeButton, open } from "../../elements/dialogs.js";
import { button, h, icon, toast } from "../../elements/dom.js";
import { redraw } from "../../elements/keyed.js";
import { visible } from "../../elements/message-text.js";
import { whenText } from "../../language/format.js";
import { t } from "../../language/texts.js";
import { decoded, encoded } from "../../state/mentions.js";
import { laterChoices, localText } from "../../state/send-times.js";
import { serverNow } from "../../store/clock.js";
import { SCHEDULED, localDrafts } from "../../sync/local-drafts.js";

const LEAST = 10_000;
/** So long after a request without a response the same text is the same message, and another one later, in milliseconds. */
const REPEATED = 600_000;

/** Asks for a time; resolves to a date, or undefined when the dialog is dismissed. */
function askTime(title, at) {
    return new Promise((resolve) => {
        const take = (date) => {
            resolve(date);
            dialog.close();
        };
        const now = new Date(serverNow());
        const input = h("input", { type: "datetime-local", id: "field-time", name: "time", required: true, min: localText(now),
            value: localText(at ?? new Date(now.getTime() + 3_600_000)) });
        const form = h("form", { class: "ask-form", onsubmit: (event) => {
            event.preventDefault();
            const date = new Date(input.value);
            if (date.getTime() < serverNow() + LEAST) return toast(t("scheduled.future"), { error: true });
            take(date);
        } }, h("div", { class: "field" }, h("label", { for: "field-time" }, t("scheduled.time")), input),
        h("div", { class: "choices" }, h("button", { type: "submit", class: "primary", data: { choice: "time" } }, t("scheduled.sendThen")),
            button({ label: t("common.cancel"), class: "quiet", onclick: () => dialog.close() })));
        const dialog = open({ id: "send-time", "aria-labelledby": "send-time-title" }, h("h2", { id: "send-time-title" }, title),
            h("div", { class: "items" }, laterChoices(now).map(({ name, time }) => button({ name: "clock", label: t(`later.${name}`), class: "item quiet",
                data: { later: localText(time) }, onclick: () => take(time) }, t("scheduled.choice", { choice: t(`later.${name}`), time: whenText(time.toISOString()) })))), form);
        dialog.addEventListener("close", () => resolve(undefined));
    });
}

/** Asks for a time, and has the message sent then. Resolves to whether it waits. */
export async function sendLater(thread, message) {
    const time = await askTime(t("composer.sendLater"));
    if (!time || !await attempt(schedule(thread, message, time))) return false;
    toast(t("scheduled.isSent", { time: whenText(time.toISOString()) }));
    return true;
}

/**
 * The client id is kept until there is a response: whoever tries again, because the first request seems not to have arrived,
 * does not send it twice.
 */
async function schedule(thread, message, time) {
    const text = JSON.stringify(message);
    const before = localDrafts.of(thread.id, SCHEDULED);
    const isRepeated = before?.text === text && Math.abs(Date.now() - before.at) < REPEATED;
    const clientID = isRepeated ? before.clientID : randomID();
    localDrafts.write(thread.id, SCHEDULED, { clientID, text, at: Date.now() });
    try {
        if (!isRepeated || !await isMoved(thread, clientID, time)) await thread.schedule(message, time, clientID);
        localDrafts.end(thread.id, SCHEDULED);
    } catch (error) {
        if (!error.isTransient) localDrafts.end(thread.id, SCHEDULED);
        throw error;
    }
}

/** Gives one another time, if the server has it. */
async function isMoved(thread, clientID, time) {
    try {
        await request("scheduled.update", { conversation: thread.id, clientID, sendAt: time.toISOString() });
        return true;
    } catch (error) {
        if (error.type === "not_found") return false;
        throw error;
    }
}

/** The line above the composer that says how many wait. */
export function scheduledLine(thread) {
    const show = button({ name: "clock", label: "", class: "quiet small wide scheduled", data: { action: "scheduled" }, onclick: () => showScheduled(thread) });
    show.hidden = true;
    let key;
    return {
        node: show,
        draw() {
            const { count = 0, failed = 0 } = thread.state.scheduled ?? {};
            if (key === `${count} ${failed}`) return;
            key = `${count} ${failed}`;
            show.hidden = count === 0;
            show.classList.toggle("danger-text", failed > 0);
            const text = [t("scheduled.count", { count }), failed > 0 && t("scheduled.failed", { count: failed })].filter(Boolean).join("");
            show.replaceChildren(icon(failed > 0 ? "alert" : "clock"), h("span", {}, text));
        },
    };
}

/** The list of those that wait: changing, sending and deleting one. */
async function showScheduled(thread) {
    const list = h("ul", { class: "rows flat", "aria-label": t("scheduled.list") });
    const nameOf = (user) => thread.nameOf(user);
    let turn = 0;
    const load = async () => {
        const mine = ++turn;
        const { scheduled } = await request("scheduled.list", { conversation: thread.id });
        if (mine !== turn) return;
        if (scheduled.length === 0) dialog.close();
        redraw(list, scheduled.map(row));
    };
    /** What could not be changed may have been sent or deleted meanwhile. */
    const act = async (name, one, params) => {
        await attempt(request(name, { conversation: thread.id, clientID: one.clientID, ...params }));
        await attempt(load);
    };
    /** One was sent, or changed elsewhere. */
    let known = thread.state.scheduled;
    const follow = () => {
        if (thread.state.scheduled === known) return;
        known = thread.state.scheduled;
        load().catch(() => {});
    };
    const row = (one) => h("li", { class: "row scheduled-row", data: { scheduled: one.clientID } },
        h("div", { class: "name" }, h("span", { class: "text", dir: "auto" }, visible(decoded(one.text, nameOf).text)),
            h("span", { class: one.failure ? "state alarm" : "state" }, one.failure ? t("scheduled.notSent", { reason: failureMessage(one.failure) }) : whenText(one.sendAt))),
        h("div", { class: "pair" },
            button({ name: "edit", label: t("scheduled.changeText"), bare: true, class: "round quiet", data: { action: "change-text" }, onclick: async () => {
                const text = await askLines(t("scheduled.changeMessage"), one, nameOf);
                if (text) act("scheduled.update", one, { text });
            } }),
            button({ name: "clock", label: t("scheduled.changeTime"), bare: true, class: "round quiet", data: { action: "change-time" }, onclick: async () => {
                const time = await askTime(t("scheduled.changeTime"), new Date(one.sendAt));
                if (time) act("scheduled.update", one, { sendAt: time.toISOString() });
            } }),
            button({ name: "send", label: t("scheduled.sendNow"), bare: true, class: "round quiet", data: { action: "send-now" },
                onclick: () => act("scheduled.update", one, { sendAt: null }) }),
            button({ name: "trash", label: t("common.delete"), bare: true, class: "round quiet danger-text", data: { action: "delete-scheduled" }, onclick: async () => {
                const sure = await ask({ title: t("scheduled.deleteSure"), danger: true, choices: [{ value: "delete", label: t("common.delete") }] });
                if (sure) act("scheduled.delete", one);
            } })));
    const dialog = open({ id: "scheduled", "aria-labelledby": "scheduled-title", class: "dialog picker" },
        h("h2", { id: "scheduled-title" }, t("scheduled.title")), list,
        closeButton(() => dialog.close()));
    dialog.addEventListener("close", thread.on("change", follow));
    try { await load(); } catch (error) { report(error); }
}

/** Asks for another text of one; resolves to undefined when the dialog is dismissed. */
function askLines(title, { text }, nameOf) {
    return new Promise((resolve) => {
        const { text: shown, mentions } = decoded(text, nameOf);
        const input = h("textarea", { id: "field-lines", rows: "4", required: true, value: shown });
        const form = h("form", { class: "ask-form", onsubmit: (event) => {
            event.preventDefault();
            resolve(encoded(input.value, mentions).trim());
            dialog.close();
        } }, h("div", { class: "field" }, h("label", { for: "field-lines" }, t("common.message")), input),
        h("div", { class: "choices" }, h("button", { type: "submit", class: "primary", data: { choice: "save" } }, t("common.save")),
            button({ label: t("common.cancel"), class: "quiet", onclick: () => dialog.close() })));
        const dialog = open({ id: "lines", "aria-labelledby": "lines-title" }, h("h2", { id: "lines-title" }, title), form);
        dialog.addEventListener("close", () => resolve(undefined));
    });
}
