// The transcript of a recording: speaker, time and text, and under each what it says in the language that the user reads. A
// click on a line plays from there.

import { authorized, serverInfo } from "../api.js";
import { credentials } from "../credentials.js";
import { announce, busy, button, h, toast } from "../dom.js";
import { server } from "../features.js";
import { languageName } from "../language/names.js";
import { hasText, t } from "../language/texts.js";
import { errorMessage, failureMessage } from "../problems.js";
import { realtime } from "../realtime.js";
import { request, requestOnce } from "../requests.js";
import { isReadable, readerOf } from "../state/reading.js";
import { clockText } from "../format.js";
import { redraw } from "./keyed.js";
import { originText } from "./message-translation.js";

/** The server takes 25 seconds at most. */
const PAGE_TIMEOUT = 40_000;

const files = { text: "txt", srt: "srt", vtt: "vtt" };

/** `name(user)` returns a display name, `listen(track, seconds)` plays a track from that position. */
export function recordingTranscript(recording, { name, listen }) {
    const node = h("div", { class: "said", hidden: true });
    let turn = 0;
    let shown;
    /** The rows of the server, by the index of their segment, in one language. */
    let translations = new Map();
    let isTranslated = false;
    /** Of the translating that goes on: another one has begun, or none is to go on, where it is another object. */
    let translating;

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

    const line = (segment, index, language) => {
        const track = recording.tracks[segment.track];
        const row = isTranslated && translations.get(index);
        return h("li", {}, h("button", { type: "button", class: "line", disabled: !track?.audio, data: { user: segment.user, start: segment.start },
            title: t("transcript.listen"), onclick: () => listen(segment.track, (segment.start - track.offsetMs) / 1000) },
        h("span", { class: "at" }, clockText(segment.start)),
        h("span", {}, t.rich(segment.source === "screen" ? "transcript.screenLine" : "transcript.line", { name: h("b", {}, name(segment.user)),
            text: h("span", { class: "words", lang: language }, segment.text) }))), row && translationOf(row));
    };

    const translationOf = (row) => {
        if (row.status === "done") return h("p", { class: "line-translation", lang: row.language, dir: "auto" }, row.text);
        return !["same_language", "no_text"].includes(row.reason) && h("p", { class: "line-translation hint" }, reasonText(row));
    };

    /** By what they are made: a line for each engine and language. */
    const origins = () => {
        const rows = isTranslated ? [...translations.values()] : [];
        return [...new Set(rows.filter((row) => row.status === "done").map((row) => originText({ language: row.from && { code: row.from } }, row)))];
    };

    /** The first segment of which asking may bring something else; -1 without one. */
    const unsettled = (into, from = 0) => shown.segments.findIndex((_, index) => index >= from && !isSettled(translations.get(index), into));

    /** Where the server asks to wait, it waits, as long as somebody wants it. */
    const pageOf = async (into, from, isWanted) => {
        for (;;) {
            try {
                return await requestOnce("recordings.translateTranscript", { recording: recording.id, language: into, from }, PAGE_TIMEOUT);
            } catch (error) {
                if (!["rate_limited", "unavailable"].includes(error.type) || !error.retryAfter || !isWanted()) throw error;
                await new Promise((resolve) => setTimeout(resolve, error.retryAfter));
                if (!isWanted()) throw error;
            }
        }
    };

    /** Page by page, from the first that is missing. */
    const translate = async (into) => {
        const mine = translating = {};
        const { segments } = shown;
        show(shown);
        try {
            for (let from = unsettled(into); from >= 0;) {
                const page = await pageOf(into, from, () => mine === translating);
                // Switched off, closed, or of a transcript that is another one by now.
                if (mine !== translating || segments !== shown.segments) return;
                for (const row of page.translations) translations.set(row.segment, { ...row, language: page.language });
                from = page.next === undefined ? -1 : unsettled(into, page.next);
                show(shown);
            }
            const rows = [...translations.values()];
            if (rows.every((row) => row.reason === "same_language")) {
                isTranslated = false;
                toast(reasonText(rows[0]));
            } else announce(t("transcript.translated", { language: languageName(into) }));
        } catch (error) {
            if (mine === translating) toast(errorMessage(error), { error: true });
        } finally {
            if (mine === translating) {
                translating = undefined;
                show(shown);
            }
        }
    };

    const translateButton = (into) => {
        const hasFailed = isTranslated && !translating && unsettled(into) >= 0;
        return [
            h("button", { type: "button", class: "soft small", "aria-pressed": String(isTranslated), "aria-busy": String(Boolean(translating)),
                data: { action: "translate-transcript" }, onclick: () => {
                    isTranslated = !isTranslated;
                    translating = undefined;
                    if (isTranslated && unsettled(into) >= 0) translate(into);
                    else show(shown);
                } }, t("captions.translate", { language: languageName(into) })),
            hasFailed && button({ label: t("common.tryAgain"), class: "link", data: { action: "retry-translation" }, onclick: () => translate(into) }),
        ];
    };

    /** Shows the segments so far, even while some are missing. */
    const show = (transcript) => {
        const before = shown;
        shown = transcript;
        const { status, segments, language, tracks, failure } = transcript;
        const { into } = readerOf(credentials.user);
        // Others may have come between the segments.
        const isAnother = before && before !== transcript && JSON.stringify(before.segments) !== JSON.stringify(segments);
        // The reader may have another language by now.
        for (const [index, row] of translations) if (row.language !== into) translations.delete(index);
        if (isAnother) translations = new Map();
        else if (before && before !== transcript) shown = { ...transcript, segments: before.segments };
        const languages = new Map(tracks.map((one) => [one.track, one.language ?? language]));
        const canTranslate = server.translates && into && status !== "pending"
            && segments.some((one) => { const spoken = languages.get(one.track); return !spoken || !isReadable(spoken, [into]); });
        node.hidden = false;
        node.dataset.status = status;
        const isEmpty = status === "complete" && segments.length === 0;
        const missing = segments.length > 0 ? t("transcript.missing") : t("transcript.none");
        const message = { pending: t("transcript.pending"), complete: isEmpty && t("transcript.noSpeech"),
            failed: `${missing} ${failureMessage(failure)}` }[status];
        redraw(node, [
            message && h("p", { class: "hint", role: "status" }, message),
            status === "failed" && failure?.mayRetry && transcribeButton(t("common.tryAgain")),
            segments.length > 0 && h("ol", { class: "lines", "aria-label": t("transcript.title") }, segments.map((one, index) => line(one, index, languages.get(one.track)))),
            canTranslate && origins().map((text) => h("p", { class: "hint" }, text)),
            canTranslate && h("div", { class: "files" }, translateButton(into)),
            status === "complete" && !isEmpty && h("div", { class: "files" },
                Object.keys(files).map((format) => download(recording, format))),
        ]);
    };

    const load = async () => {
        const mine = ++turn;
        try {
            const { transcript } = await request("recordings.transcript", { recording: recording.id });
            if (mine !== turn) return;
            show(transcript);
            const { into } = readerOf(credentials.user);
            if (isTranslated && translations.size === 0 && into && transcript.status !== "pending" && unsettled(into) >= 0) translate(into);
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
            translating = undefined;
            unsubscribe.forEach((one) => one());
        },
    };
}

/** Whether asking again would bring nothing else. */
const isSettled = (row, into) => row?.language === into && row.status !== "failed" && row.reason !== "budget_exhausted";

function reasonText({ reason, language }) {
    const name = hasText(`translationReasons.${reason}`) ? reason : "provider_failed";
    return t(`translationReasons.${name}`, { language: languageName(language) });
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
