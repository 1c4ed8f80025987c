// The call history: who, how it ended, how long it took, and calling again.

import { credentials } from "../connection/credentials.js";
import { errorMessage } from "../connection/problems.js";
import { realtime } from "../connection/realtime.js";
import { request } from "../connection/requests.js";
import { avatar } from "../elements/avatar.js";
import { button, h, icon, toast } from "../elements/dom.js";
import { redraw } from "../elements/keyed.js";
import { ending, lengthText, namesOf, othersOf, sides, whenText } from "../language/format.js";
import { t } from "../language/texts.js";
import { calls } from "./calls.js";
import { showRecordings } from "./recordings.js";
import { callPeople } from "./start-call.js";

export function historyPage() {
    const list = h("ul", { class: "rows", id: "history" });
    const empty = h("div", { class: "empty", hidden: true }, icon("history"), h("p", {}, t("history.empty")));
    const more = button({ label: t("history.earlier"), class: "quiet wide", hidden: true, onclick: () => load(cursor) });
    let cursor;
    let turn = 0;
    let hasFailed = false;

    const load = async (from) => {
        const mine = ++turn;
        hasFailed = false;
        try {
            const page = await request("calls.list", { limit: 30, ...(from && { cursor: from }) });
            if (mine !== turn) return;
            const rows = page.calls.map(callRow).filter(Boolean);
            if (from) list.append(...rows); else redraw(list, rows);
            cursor = page.nextCursor;
            more.hidden = !cursor;
            empty.hidden = list.children.length > 0;
        } catch (error) {
            if (mine !== turn) return;
            hasFailed = !from;
            toast(errorMessage(error), { error: true });
        }
    };
    const unsubscribe = [calls.on("history", () => load()), realtime.on("state", (now) => { if (now === "online" && hasFailed) load(); })];
    load();
    return {
        node: h("div", { class: "page" }, h("h1", {}, t("history.title")), list, empty, more),
        close() {
            turn += 1;
            unsubscribe.forEach((one) => one());
        },
    };
}

function callRow(call) {
    const { outgoing } = sides(call, credentials.user.id);
    const users = othersOf(call, credentials.user.id).map((one) => ({ ...one, id: one.user }));
    if (users.length === 0) return undefined;
    const [user] = users;
    const isGroup = users.length > 1;
    const name = namesOf(users);
    const { outcome, text } = ending(call, credentials.user.id);
    const length = call.answeredAt && call.endedAt
        ? lengthText(Date.parse(call.endedAt) - Date.parse(call.answeredAt)) : undefined;
    const direction = outgoing ? t("history.outgoing") : t("history.incoming");
    const what = outcome === "answered" ? direction : text;
    // Only people who were in the call have access to its recordings.
    const wasIn = call.participants.find((one) => one.user === credentials.user.id)?.joinedAt;
    const recordings = call.recorded && wasIn && button({ name: "record", label: t("history.recordings", { name }), bare: true,
        class: "round quiet", data: { action: "recordings" }, onclick: () => showRecordings(call) });
    return h("li", { class: "row", data: { call: call.id, kind: call.kind, outcome, outgoing: String(outgoing) } },
        h("div", { class: "who" }, isGroup ? badge() : avatar(user),
            h("span", { class: "name" }, name,
                h("span", { class: `state ${outcome === "missed" ? "alarm" : ""}` },
                    icon(outcome === "missed" ? "missed" : outgoing ? "outgoing" : "incoming"),
                    h("span", {}, [what, length].filter(Boolean).join(" · ")),
                    call.kind === "video" && h("span", { class: "unseen" }, t("history.videoCall"))))),
        h("time", { class: "when", datetime: call.createdAt }, whenText(call.createdAt)),
        recordings,
        users.some((one) => !one.deleted) && button({ name: call.kind === "video" ? "video" : "phone", label: t("history.callAgain", { name }), bare: true,
            class: "round soft", data: { action: "call-again" }, onclick: () => callPeople(users.filter((one) => !one.deleted), call.kind) }));
}

const badge = () => h("span", { class: "avatar crowd", "aria-hidden": "true" }, icon("people"));
