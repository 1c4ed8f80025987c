// What was recorded of a call: who is heard from when on, to listen to and to keep.

import { button, h } from "../dom.js";
import { inWords } from "../problems.js";
import { request } from "../requests.js";
import { clockText, lengthText, whenText } from "../words.js";
import { open } from "./dialogs.js";

const states = {
    ongoing: "It is still being recorded.",
    failed: "It could not be recorded to the end.",
    interrupted: "It was cut off when the server stopped.",
};

/** Shows the recordings of a call. */
export async function showRecordings(call) {
    const list = h("div", { class: "recordings" }, h("p", { role: "status" }, "Loading…"));
    const dialog = open({ "aria-labelledby": "recordings-title", id: "recordings" },
        h("h2", { id: "recordings-title", tabindex: "-1" }, "Recordings"), list,
        button({ name: "close", label: "Close", bare: true, class: "round quiet corner", onclick: () => dialog.close() }));
    try {
        const { recordings } = await request("calls.recordings", { call: call.id });
        const nothing = h("p", { class: "hint" }, "Nothing is left of what was recorded.");
        list.replaceChildren(...(recordings.length > 0 ? recordings.map((one) => recordingPart(call, one)) : [nothing]));
    } catch (error) { list.replaceChildren(h("p", { class: "hint" }, inWords(error))); }
}

function recordingPart(call, recording) {
    const name = (user) => call.participants.find((one) => one.user === user)?.displayName ?? "Somebody";
    const length = recording.endedAt && lengthText(Date.parse(recording.endedAt) - Date.parse(recording.startedAt));
    const told = [states[recording.status], recording.failure].filter(Boolean).join(" ");
    return h("section", { class: "recording", data: { recording: recording.id, status: recording.status } },
        h("h3", {}, [whenText(recording.startedAt), length].filter(Boolean).join(" · ")),
        h("p", { class: "hint" }, `Recorded by ${name(recording.by)}`, told && `. ${told}`),
        h("ul", { class: "tracks" }, recording.tracks.filter((track) => track.audio).map((track) => trackRow(name(track.user), track))));
}

function trackRow(name, track) {
    const source = track.source === "screen" ? `${name}’s screen` : name;
    const { url } = track.audio;
    return h("li", { class: "track", data: { user: track.user } },
        h("span", { class: "name" }, source, track.offsetMs >= 1000 && h("span", { class: "hint" }, ` from ${clockText(track.offsetMs)} on`)),
        h("audio", { controls: true, preload: "none", src: url, "aria-label": `What ${source} said` }),
        h("a", { href: url, download: `${source}.ogg` }, "Save"));
}
