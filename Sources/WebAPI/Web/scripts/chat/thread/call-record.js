// A call in its conversation: how it went, joining it while it is on, and its recordings and transcripts afterwards.

import { calls } from "../../calls/calls.js";
import { showRecordings } from "../../calls/recordings.js";
import { joinLive } from "../../calls/start-call.js";
import { credentials } from "../../connection/credentials.js";
import { request } from "../../connection/requests.js";
import { button, h, icon } from "../../elements/dom.js";
import { recordText } from "../../language/format.js";
import { t } from "../../language/texts.js";
import { canSumUp, openSummary } from "../assistant/summary.js";

/** The documents of calls that have ended, by id, of each thread: a record itself does not say whether the call was recorded. */
const documents = new WeakMap();
/** They are asked for one after the other: a page may have many. */
let queue = Promise.resolve();

export function callRecord(thread, record) {
    const { me, state } = thread;
    const isGroup = state.conversation?.kind === "group";
    const node = h("div", { class: "text call-record", data: { call: record.id, state: record.state } },
        h("p", {}, icon(record.kind === "video" ? "video" : "phone"), recordText(record, me)));
    if (record.state !== "ended" && isGroup && !calls.has(record.id)) {
        node.append(button({ label: t("thread.joinCall"), class: "small go", data: { action: "join-record" }, onclick: () => joinLive(record.id) }));
    }
    if (record.state === "ended" && record.answeredAt && record.participants.some((one) => one.user === me)) addRecordings(node, record.id, thread);
    return node;
}

/** Only people who were in the call have access to its recordings. */
async function addRecordings(node, id, thread) {
    if (!documents.has(thread)) documents.set(thread, new Map());
    const ended = documents.get(thread);
    if (!ended.has(id)) {
        queue = queue.then(() => request("calls.get", { call: id })).then(({ call }) => call, () => { ended.delete(id); });
        ended.set(id, queue);
    }
    const call = await ended.get(id);
    if (!call?.recorded || !call.participants.find((one) => one.user === credentials.user?.id)?.joinedAt) return;
    node.append(button({ name: "record", label: t("callRecord.recordings"), class: "small soft", data: { action: "call-recordings" },
        onclick: () => showRecordings(call) }));
    if (canSumUp()) node.append(button({ name: "summary", label: t("summary.title"), class: "small soft", data: { action: "call-summary" },
        onclick: () => openSummary(thread.id, [{ name: "call", params: { call: id } }]) }));
}
