// The page of a person: calling them, and the voice messages with them.

import { credentials } from "../credentials.js";
import { announce, button, h, icon, toast } from "../dom.js";
import { errorMessage } from "../problems.js";
import { request } from "../requests.js";
import { voice } from "../voice.js";
import { firstName } from "../format.js";
import { avatar } from "./avatar.js";
import { ask } from "./dialogs.js";
import { callPerson } from "./start-call.js";
import { voiceComposer } from "./voice-composer.js";
import { voiceMessage } from "./voice-message.js";

export function personPage(id) {
    const node = h("div", { class: "page" }, h("p", { class: "boot", role: "status" }, "Loading…"));
    let shown;
    let isClosed = false;
    request("users.get", { user: id }).then((user) => {
        if (isClosed) return;
        shown = conversation(user);
        node.replaceChildren(...shown.nodes);
    }).catch((error) => {
        if (!isClosed) node.replaceChildren(back(), h("div", { class: "empty" }, icon("people"), h("p", {}, errorMessage(error))));
    });
    return {
        node,
        close() {
            isClosed = true;
            shown?.close();
        },
    };
}

const back = () => h("a", { class: "back", href: "#/people" }, icon("back"), "People");

function conversation(user) {
    const me = credentials.user.id;
    const rows = new Map();
    /** Transcripts from events, which may arrive before their messages are loaded. */
    const transcripts = new Map();
    const list = h("ul", { class: "voices", id: "voice-messages", "aria-label": `Voice messages with ${user.displayName}` });
    const empty = h("div", { class: "empty", hidden: true }, icon("microphone"),
        h("p", {}, `No voice messages yet. Record one for ${firstName(user.displayName)}.`));
    const more = button({ label: "Show earlier messages", class: "quiet wide", hidden: true, onclick: () => load(cursor) });
    let cursor;
    let turn = 0;

    const updateEmpty = () => { empty.hidden = rows.size > 0; };
    const drop = (message) => {
        rows.get(message)?.close();
        rows.get(message)?.node.remove();
        rows.delete(message);
        updateEmpty();
    };
    const remove = async (message) => {
        const sure = await ask({ title: "Delete this voice message?", danger: true,
            text: `It is deleted for ${firstName(user.displayName)} too.`, choices: [{ value: "delete", label: "Delete" }] });
        if (!sure) return;
        try {
            await voice.remove(message);
            drop(message);
            announce("Deleted");
        } catch (error) { toast(errorMessage(error), { error: true }); }
    };
    /** Ids start with the time: the newest comes first. */
    const add = (message) => {
        if (rows.has(message.id)) return;
        const row = voiceMessage({ ...message, transcript: transcripts.get(message.id) ?? message.transcript }, { isOwn: message.from === me, name: user.displayName, remove: () => remove(message.id) });
        rows.set(message.id, row);
        const next = [...list.children].find((one) => one.dataset.message < message.id);
        list.insertBefore(row.node, next ?? null);
        updateEmpty();
    };
    const load = async (from) => {
        const mine = ++turn;
        try {
            const page = await voice.list(user.id, from);
            if (mine !== turn) return;
            // Removes messages that were deleted, without interrupting one that plays.
            const oldest = page.nextCursor ?? "";
            const there = new Set(page.messages.map((one) => one.id));
            if (!from) for (const known of rows.keys()) if (known >= oldest && !there.has(known)) drop(known);
            page.messages.forEach(add);
            if (from || cursor === undefined) cursor = page.nextCursor;
            more.hidden = !cursor;
            updateEmpty();
        } catch (error) {
            if (mine === turn) toast(errorMessage(error), { error: true });
        }
    };
    const composer = voiceComposer(user.id, add);
    const concerns = ({ from, to }) => from === user.id && to === me || from === me && to === user.id;
    const unsubscribe = [
        voice.watch(user.id),
        voice.on("reload", () => load()),
        voice.on("transcribed", ({ id, transcript }) => {
            transcripts.set(id, transcript);
            rows.get(id)?.setTranscript(transcript);
        }),
        voice.on("removed", (message) => drop(message.id)),
        voice.on("created", async (message) => {
            if (!concerns(message) || rows.has(message.id)) return;
            try {
                add(await voice.get(message.id));
                if (message.from === user.id) announce(`New voice message from ${user.displayName}`);
            } catch { /* It was deleted already, or the list is reloaded after reconnecting. */ }
        }),
    ];
    load();
    return {
        nodes: [
            back(),
            h("div", { class: "page-head" }, h("div", { class: "who" }, avatar(user), h("h1", {}, user.displayName)),
                !user.deleted && h("div", { class: "pair" },
                    button({ name: "phone", label: `Call ${user.displayName}`, bare: true, class: "round soft",
                        data: { action: "call-audio" }, onclick: () => callPerson(user, "audio") }),
                    button({ name: "video", label: `Video call with ${user.displayName}`, bare: true, class: "round soft",
                        data: { action: "call-video" }, onclick: () => callPerson(user, "video") }))),
            user.deleted ? h("p", { class: "hint" }, "This account was deleted. What you sent stays with you.") : composer.node,
            list, empty, more,
        ],
        close() {
            turn += 1;
            unsubscribe.forEach((one) => one());
            composer.close();
            for (const row of rows.values()) row.close();
        },
    };
}
