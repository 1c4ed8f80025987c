// The recordings of a call: the tracks to play and download, and the transcripts.

import { credentials } from "../connection/credentials.js";
import { errorMessage } from "../connection/problems.js";
import { realtime } from "../connection/realtime.js";
import { request } from "../connection/requests.js";
import { ask, open } from "../elements/dialogs.js";
import { announce, button, h, toast } from "../elements/dom.js";
import { clockText, lengthText, whenText } from "../language/format.js";
import { t } from "../language/texts.js";
import { recordingMix } from "./recording-mix.js";
import { recordingTranscript } from "./recording-transcript.js";

/** States of a recording, and reasons for its end, that are explained. */
const states = ["ongoing", "longest", "failed", "interrupted", "quota_exceeded"];

/** Shows the recordings of a call. */
export async function showRecordings(call) {
    const list = h("div", { class: "recordings" }, h("p", { role: "status" }, t("recordings.loading")));
    const dialog = open({ "aria-labelledby": "recordings-title", id: "recordings" },
        h("h2", { id: "recordings-title", tabindex: "-1" }, t("recordings.title")), list,
        button({ name: "close", label: t("common.close"), bare: true, class: "round quiet corner", onclick: () => dialog.close() }));
    try {
        const { recordings } = await request("calls.recordings", { call: call.id });
        const nothing = h("p", { class: "hint" }, t("recordings.none"));
        // Somebody else deletes one, or it expires.
        const unsubscribe = realtime.on("change", ({ stream, type, data }) => {
            if (stream !== `user:${credentials.user?.id}` || type !== "recording.removed") return;
            parts.find((part) => part.id === data.recording)?.remove();
        });
        dialog.addEventListener("close", unsubscribe);
        const parts = recordings.map((one) => recordingPart(call, one, () => { if (!list.querySelector(".recording")) list.append(nothing); }));
        dialog.addEventListener("close", () => parts.forEach((part) => part.close()));
        list.replaceChildren(...(parts.length > 0 ? parts.map((part) => part.node) : [nothing]));
    } catch (error) { list.replaceChildren(h("p", { class: "hint" }, errorMessage(error))); }
}

/** `gone` is called when the recording was deleted. */
function recordingPart(call, recording, gone) {
    const name = (user) => call.participants.find((one) => one.user === user)?.displayName ?? t("common.somebody");
    const length = recording.endedAt && lengthText(Date.parse(recording.endedAt) - Date.parse(recording.startedAt));
    const state = states.find((one) => one === recording.reason) ?? states.find((one) => one === recording.status);
    const note = [state && t(`recordingStates.${state}`), recording.failure].filter(Boolean).join(" ");
    const rows = recording.tracks.map((track) => track.audio && trackRow(name(track.user), track));
    const players = rows.map((row) => row?.querySelector("audio"));
    const listen = (track, seconds) => {
        for (const player of players) if (player !== players[track]) player?.pause();
        const player = players[track];
        if (!player) return;
        player.currentTime = Math.max(seconds, 0);
        player.play().catch((error) => { if (error.name !== "AbortError") toast(errorMessage(error), { error: true }); });
    };
    const hasAudio = rows.some(Boolean) && recording.status !== "ongoing";
    const mix = hasAudio && recordingMix(recording);
    const transcript = recording.status !== "ongoing" && recordingTranscript(recording, { name, listen });
    const remove = async () => {
        const sure = await ask({ title: t("recordings.deleteSure"), danger: true,
            text: t("recordings.deleteConsequence"), choices: [{ value: "delete", label: t("common.delete") }] });
        if (!sure) return;
        try {
            await request("recordings.remove", { recording: recording.id });
            leave();
            announce(t("recordings.deleted"));
        } catch (error) { toast(errorMessage(error), { error: true }); }
    };
    const leave = () => {
        if (!node.isConnected) return;
        close();
        node.remove();
        gone();
    };
    const close = () => {
        for (const player of players) player?.pause();
        if (mix) mix.close();
        if (transcript) transcript.close();
    };
    const isMine = recording.by === credentials.user?.id && recording.status !== "ongoing";
    const node = h("section", { class: "recording", data: { recording: recording.id, status: recording.status } },
        h("div", { class: "recording-head" },
            h("h3", {}, [whenText(recording.startedAt), length].filter(Boolean).join(" · ")),
            isMine && button({ name: "trash", label: t("recordings.deleteLabel"), bare: true, class: "round quiet",
                data: { action: "delete-recording" }, onclick: remove })),
        h("p", { class: "hint" }, note ? t("recordings.byWithNote", { name: name(recording.by), note }) : t("recordings.by", { name: name(recording.by) })),
        h("ul", { class: "tracks" }, rows),
        mix && mix.node,
        transcript && transcript.node);
    return { id: recording.id, node, close, remove: leave };
}

function trackRow(name, track) {
    const source = track.source === "screen" ? t("tile.screen", { name }) : name;
    const { url } = track.audio;
    return h("li", { class: "track", data: { user: track.user } },
        h("span", { class: "name" }, source, track.offsetMs >= 1000 && h("span", { class: "hint" }, " ", t("recordings.from", { time: clockText(track.offsetMs) }))),
        h("audio", { controls: true, preload: "none", src: url, "aria-label": t("recordings.of", { name: source }) }),
        h("a", { href: url, download: `${source}.ogg` }, t("common.save")));
}
