// What was said in a recording: who, when, and the words. A click on a line is heard from there.

import { authorized, serverInfo } from "../api.js";
import { credentials } from "../credentials.js";
import { announce, busy, button, h, toast } from "../dom.js";
import { inWords } from "../problems.js";
import { realtime } from "../realtime.js";
import { request } from "../requests.js";
import { clockText } from "../format.js";

const files = { text: ["Text", "txt"], srt: ["SRT", "srt"], vtt: ["WebVTT", "vtt"] };

/** `name` names a user, `listen` plays a track of the recording from a second of its own on. */
export function recordingTranscript(recording, { name, listen }) {
    const node = h("div", { class: "said", hidden: true });
    let turn = 0;

    const write = (label) => {
        const control = button({ label, class: "soft small", data: { action: "transcribe" },
            onclick: () => busy(control, async () => {
                const mine = ++turn;
                const { transcript } = await request("recordings.transcribe", { recording: recording.id });
                // What is told in the stream is newer.
                if (mine === turn) show(transcript);
            }, (error) => toast(inWords(error), { error: true })) });
        return control;
    };

    const line = (segment, language) => {
        const track = recording.tracks[segment.track];
        return h("li", {}, h("button", { type: "button", class: "line", disabled: !track?.audio, data: { user: segment.user, start: segment.start },
            title: "Listen from here", onclick: () => listen(segment.track, (segment.start - track.offsetMs) / 1000) },
        h("span", { class: "at" }, clockText(segment.start)),
        h("span", {}, h("b", {}, name(segment.user)), segment.source === "screen" && " (screen)", ": ",
            h("span", { class: "words", lang: language }, segment.text))));
    };

    /** What is known so far is there, also while some of it is still missing. */
    const show = ({ status, segments, language, failure }) => {
        node.hidden = false;
        node.dataset.status = status;
        const nothing = status === "complete" && segments.length === 0;
        const missing = segments.length > 0 ? "Some of it is not written down." : "It is not written down.";
        const told = { pending: "Writing down what was said…", complete: nothing && "No words were heard.",
            failed: `${missing} ${failure?.detail ?? ""}` }[status];
        node.replaceChildren(...[
            told && h("p", { class: "hint", role: "status" }, told),
            status === "failed" && failure?.mayRetry && write("Try again"),
            segments.length > 0 && h("ol", { class: "lines", "aria-label": "What was said" }, segments.map((one) => line(one, language))),
            status === "complete" && !nothing && h("div", { class: "files" },
                Object.keys(files).map((format) => download(recording, format))),
        ].filter(Boolean));
    };

    const load = async () => {
        const mine = ++turn;
        try {
            const { transcript } = await request("recordings.transcript", { recording: recording.id });
            if (mine === turn) show(transcript);
        } catch (error) {
            if (mine !== turn) return;
            const isUnasked = error.type === "not_found";
            // Nobody is offered what the server cannot do.
            if (isUnasked && !(await serverInfo()).transcribes) return;
            if (mine !== turn) return;
            node.hidden = false;
            node.dataset.status = "none";
            node.replaceChildren(isUnasked ? write("Write down what was said") : h("p", { class: "hint" }, inWords(error)));
        }
    };
    const unhear = [
        realtime.on("change", ({ stream, type, data }) => {
            if (stream !== `user:${credentials.user?.id}` || type !== "recording.transcribed") return;
            if (data.recording === recording.id) load();
        }),
        realtime.on("snapshot", ({ stream }) => { if (stream === `user:${credentials.user?.id}`) load(); }),
    ];
    load();
    return {
        node,
        close() {
            turn += 1;
            unhear.forEach((one) => one());
        },
    };
}

/** Only who may hear the recording gets it, so that it is no plain link. */
function download(recording, format) {
    const [label, ending] = files[format];
    const control = button({ label, class: "link", data: { format }, onclick: () => busy(control, async () => {
        const text = await authorized("GET", `/v1/recordings/${recording.id}/transcript/${format}`, undefined, { isText: true });
        const url = URL.createObjectURL(new Blob([text]));
        h("a", { href: url, download: `${recording.startedAt.slice(0, 16).replace(":", ".")}.${ending}` }).click();
        setTimeout(() => URL.revokeObjectURL(url), 10_000);
        announce("Saved");
    }, (error) => toast(inWords(error), { error: true })) });
    return control;
}
