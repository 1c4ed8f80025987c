// The transcript of a recording: speaker, time and text, and under each what it says in the language that the user reads. A
// click on a line plays from there.

import { authorized, serverInfo } from "../connection/api.js";
import { credentials } from "../connection/credentials.js";
import { server } from "../connection/features.js";
import { errorMessage, failureMessage } from "../connection/problems.js";
import { realtime } from "../connection/realtime.js";
import { request, requestOnce } from "../connection/requests.js";
import { announce, busy, button, h, toast } from "../elements/dom.js";
import { redraw } from "../elements/keyed.js";
import { clockText } from "../language/format.js";
import { languageName, originText } from "../language/names.js";
import { hasText, t } from "../language/texts.js";
import { isReadable, readerOf } from "../state/reading.js";

/** The server takes up to 25 seconds for a page, and a request that is repeated costs as much again. */
const TIMEOUT = 40_000;

const files = { text: "txt", srt: "srt", vtt: "vtt" };

/** `name(user)` returns a display name, `listen(track, seconds)` plays a track from that position. */
export function recordingTranscript(recording, { name, listen }) {
    const node = h("div", { class: "said", hidden: true });
    let turn = 0;
    let shown;
    /** The rows of the server, by `keyOf` their segments. */
    const translations = new Map();
    let isTranslated = false;
    let isTranslating = false;
    let isClosed = false;

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
        const row = isTranslated && translations.get(keyOf(segment));
        const before = index > 0 ? translations.get(keyOf(shown.segments[index - 1])) : undefined;
        return h("li", {}, h("button", { type: "button", class: "line", disabled: !track?.audio, data: { user: segment.user, start: segment.start },
            title: t("transcript.listen"), onclick: () => listen(segment.track, (segment.start - track.offsetMs) / 1000) },
        h("span", { class: "at" }, clockText(segment.start)),
        h("span", {}, t.rich(segment.source === "screen" ? "transcript.screenLine" : "transcript.line", { name: h("b", {}, name(segment.user)),
            text: h("span", { class: "words", lang: language, dir: "auto" }, segment.text) }))), row && translationOf(row, before));
    };

    /** A reason stands once under lines of which it is the same. */
    const translationOf = (row, before) => {
        if (row.status === "done") return h("p", { class: "line-translation", lang: row.language, dir: "auto" }, row.text);
        return !["same_language", "no_text", before?.reason].includes(row.reason) && h("p", { class: "line-translation hint" }, reasonText(row));
    };

    /** By what they are made: a line for each engine and language. */
    const origins = () => {
        const rows = isTranslated ? shown.segments.map((one) => translations.get(keyOf(one))) : [];
        return [...new Set(rows.filter((row) => row?.status === "done").map((row) => originText({ language: row.from && { code: row.from } }, row)))];
    };

    /** The first segment from there on that has to be asked for, or that has not. */
    const nextOpen = (first, into, isOpen = true) => {
        const found = shown.segments.findIndex((one, index) => index >= first && isSettled(translations.get(keyOf(one)), into) !== isOpen);
        return found < 0 ? undefined : found;
    };

    /** Where the server asks to wait, it waits, as long as somebody wants it. */
    const pageOf = async (into, from, before) => {
        for (;;) {
            try {
                return await requestOnce("recordings.translateTranscript", { recording: recording.id, language: into, from, before }, TIMEOUT);
            } catch (error) {
                if (!["rate_limited", "unavailable"].includes(error.type) || !error.retryAfter) throw error;
                await new Promise((resolve) => setTimeout(resolve, error.retryAfter));
                if (!isTranslated || isClosed) throw error;
            }
        }
    };

    /** Page by page: what is there already is not asked for again. */
    const translate = async (into) => {
        isTranslating = true;
        show(shown);
        try {
            let from = nextOpen(0, into);
            while (from !== undefined && isTranslated) {
                const before = nextOpen(from, into, false);
                const page = await pageOf(into, from, before);
                if (isClosed) return;
                for (const row of page.translations) {
                    const segment = shown.segments[row.segment];
                    // It may have been transcribed anew meanwhile.
                    if (segment?.track !== row.track || segment.start !== row.start) continue;
                    translations.set(keyOf(segment), { ...row, language: page.language });
                }
                show(shown);
                const next = page.next ?? before;
                from = next === undefined ? undefined : nextOpen(next, into);
            }
            const rows = shown.segments.map((one) => translations.get(keyOf(one)));
            if (rows.every((row) => row?.reason === "same_language")) {
                isTranslated = false;
                toast(reasonText(rows[0]));
            } else if (isTranslated) announce(t("transcript.translated", { language: languageName(into) }));
        } catch (error) {
            if (!isClosed && isTranslated) toast(errorMessage(error), { error: true });
        } finally {
            isTranslating = false;
            if (!isClosed) show(shown);
        }
    };

    const translateButton = (into) => {
        const hasFailed = isTranslated && !isTranslating && nextOpen(0, into) !== undefined;
        return [
            h("button", { type: "button", class: "soft small", "aria-pressed": String(isTranslated),
                data: { action: "translate-transcript" }, onclick: () => {
                    isTranslated = !isTranslated;
                    if (isTranslated && !isTranslating) translate(into);
                    else show(shown);
                } }, t("captions.translate", { language: languageName(into) })),
            hasFailed && button({ label: t("common.tryAgain"), class: "link", data: { action: "retry-translation" }, onclick: () => translate(into) }),
        ];
    };

    /** Shows the segments so far, even while some are missing. */
    const show = (transcript) => {
        const { status, segments, language, tracks, failure } = shown = transcript;
        const { into } = readerOf(credentials.user);
        // The reader may have another language by now.
        for (const [key, row] of translations) if (row.language !== into) translations.delete(key);
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
            isTranslated && isTranslating && h("p", { class: "hint", role: "status" }, t("translation.waiting")),
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
            isClosed = true;
            unsubscribe.forEach((one) => one());
        },
    };
}

/** By which a translation finds its segment, also after another track was transcribed. Several may begin at one time. */
const keyOf = ({ track, start, text }) => `${track} ${start} ${text}`;

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
