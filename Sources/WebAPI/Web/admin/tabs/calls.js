// Live calls, and ending them.

import { busy, h, toast } from "../../scripts/elements/dom.js";
import { get, request } from "../session.js";
import { confirm, fail, heading, pages, pill, time } from "../widgets.js";

const COLUMNS = ["Since", "State", "Call", "People", "What to do"];
const STATES = {
    invited: "invited", ringing: "rings", joined: "joined", left: "left", declined: "declined", busy: "busy",
    missed: "missed", unreachable: "unreachable",
};

export const calls = {
    id: "calls",
    title: "Calls",

    open(root) {
        const list = pages("Live calls", COLUMNS, async (cursor) => {
            const query = new URLSearchParams(cursor && { cursor });
            const { calls: found, nextCursor } = await get(`/admin/v1/calls?${query}`);
            return [found.map(cells), nextCursor];
        }, { empty: "There are no live calls." });

        function cells(call) {
            const end = h("button", { type: "button", class: "soft danger-text small", onclick: async () => {
                const question = { title: "End this call for everybody?", action: "End the call",
                    text: "Everybody in it hangs up, and phones stop ringing." };
                if (!await confirm(question)) return;
                await busy(end, async () => {
                    await request("POST", `/admin/v1/calls/${call.id}/end`);
                    toast("The call has ended");
                    await list.reload();
                }, fail);
            } }, "End");
            return [
                time(call.createdAt, { seconds: true }),
                call.status === "active" ? pill("Active", "good") : pill("Ringing"),
                h("div", {}, `${call.kind === "video" ? "Video" : "Audio"}, ${call.mode}`,
                    call.recording && h("div", {}, pill("Recorded", "bad")), h("div", { class: "hint" }, h("code", {}, call.id))),
                h("ul", { class: "people" }, call.participants.map((one) => h("li", {},
                    h("a", { href: `#/users/${one.user}` }, h("bdi", {}, one.displayName)), ` ${STATES[one.state] ?? one.state}`))),
                end,
            ];
        }

        root.append(heading("Live calls",
            h("button", { type: "button", class: "soft small", onclick: () => list.reload() }, "Refresh")), list.element);
        list.reload();
    },
};
