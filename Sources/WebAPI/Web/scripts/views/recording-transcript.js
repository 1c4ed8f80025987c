// The transcript of a recording: speaker, time and text. A click on a line plays from there.

import { authorized, serverInfo } from "../api.js";
import { credentials } from "../credentials.js";
import { announce, busy, button, h, toast } from "../dom.js";
import { t } from "../language/texts.js";
import { errorMessage, failureMessage } from "../problems.js";
import { realtime } from "../realtime.js";
import { request } from "../requests.js";
import { clockText } from "../format.js";
import { redraw } from "./keyed.js";

const files = { text: "txt", srt: "srt", vtt: "vtt" };

/** `name(user)` returns a display name, `listen(track, seconds)` plays a track from that position. */
export function recordingTranscript(recording, { name, listen }) {
    const node = h("div", { class: "said", hidden: true });
    let turn = 0;

    const transcribeButton = (label) => {
        const control = button({ label, class: "soft small", data: { action: "transcribe" },
            onclick: () => busy(control, async () => {
                const mine = ++turn;
                const { transcript } = await request("recordings.transcribe", { recording: recording.id });
                // A stream change that arrived meanwhile is newer.
                if (mine === turn) show(transcript);
            }, (error) => toast(errorMessage(error), { error: true })) });
        return control;
    };

    const line = (segment, language) => {
        const track = recording.tracks[segment.track];
        return h("li", {}, h("button", { type: "button", class: "line", disabled: !track?.audio, data: { user: segment.user, start: segment.start },
            title: t("transcript.listen"), onclick: () => listen(segment.track, (segment.start - track.offsetMs) / 1000) },
        h("span", { class: "at" }, clockText(segment.start)),
        h("span", {}, t.rich(segment.source === "screen" ? "transcript.screenLine" : "transcript.line", { name: h("b", {}, name(segment.user)),
            text: h("span", { class: "words", lang: language }, segment.text) }))));
    };

    /** Shows the segments so far, even while some are missing. */
    const show = ({ status, segments, language, failure }) => {
        node.hidden = false;
        node.dataset.status = status;
        const isEmpty = status === "complete" && segments.length === 0;
        const missing = segments.length > 0 ? t("transcript.missing") : t("transcript.none");
        const message = { pending: t("transcript.pending"), complete: isEmpty && t("transcript.noSpeech"),
            failed: `${missing} ${failureMessage(failure)}` }[status];
        redraw(node, [
            message && h("p", { class: "hint", role: "status" }, message),
            status === "failed" && failure?.mayRetry && transcribeButton(t("common.tryAgain")),
            segments.length > 0 && h("ol", { class: "lines", "aria-label": t("transcript.title") }, segments.map((one) => line(one, language))),
            status === "complete" && !isEmpty && h("div", { class: "files" },
                Object.keys(files).map((format) => download(recording, format))),
        ]);
    };

    const load = async () => {
        const mine = ++turn;
        try {
            const { transcript } = await request("recordings.transcript", { recording: recording.id });
            if (mine === turn) show(transcript);
        } catch (error) {
            if (mine !== turn) return;
            const hasNotBeenRequested = error.type === "not_found";
            // Not offered if the server cannot transcribe.
            if (hasNotBeenRequested && !(await serverInfo()).transcribes) return;
            if (mine !== turn) return;
            node.hidden = false;
            node.dataset.status = "none";
            node.replaceChildren(hasNotBeenRequested ? transcribeButton(t("transcript.make")) : h("p", { class: "hint" }, errorMessage(error)));
        }
    };
    const unsubscribe = [
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
            unsubscribe.forEach((one) => one());
        },
    };
}

/** The file needs authorization, so that it cannot be a plain link. */
function download(recording, format) {
    const ending = files[format];
    const control = button({ label: t(`files.${format}`), class: "link", data: { format }, onclick: () => busy(control, async () => {
        const text = await authorized("GET", `/v1/recordings/${recording.id}/transcript/${format}`, undefined, { isText: true });
        const url = URL.createObjectURL(new Blob([text]));
        h("a", { href: url, download: `${recording.startedAt.slice(0, 16).replace(":", ".")}.${ending}` }).click();
        setTimeout(() => URL.revokeObjectURL(url), 10_000);
        announce(t("transcript.saved"));
    }, (error) => toast(errorMessage(error), { error: true })) });
    return control;
}
