// A voice message in the composer of a thread: recording one, or choosing a file. What was recorded when the chat is left can be
// sent when it is opened again.

import { server } from "../connection/features.js";
import { errorMessage } from "../connection/problems.js";
import { announce, button, busy, h, toast } from "../elements/dom.js";
import { clockText, lengthText } from "../language/format.js";
import { t } from "../language/texts.js";
import { serverNow } from "../store/clock.js";
import { Recorder } from "./recorder.js";
import { dictated, discardVoice, voiceFile, voiceLimits } from "./voice-files.js";

const MIN_DURATION = 500;

/** Those that are being sent or written down, in a chat that may have been opened anew meanwhile. */
const used = new Set();

/** A recorder that has ended long ago: `what` it is kept as. */
class KeptRecording {
    hasEnded = true;
    #sound;

    constructor({ what, elapsed, file, blob }) {
        this.what = what;
        this.elapsed = elapsed;
        this.#sound = file ? { file } : { blob };
    }

    async finish() { return this.#sound; }
    cancel() { discardVoice(this.#sound); }
}

/**
 * The buttons to begin with, and the row that is shown meanwhile. `send(sound)` is called with what is to be sent, `{file}` or `{blob}`,
 * `write(text)` with what was said instead, `note(isRecording)` while it is recorded, `show(isRecording)` when the row takes the place
 * of the text. `unsent` keeps what was recorded and not sent: `get()` returns all of it, `{what, file, blob, elapsed, expiresAt}`,
 * `keep(sound)` adds one, and `end(what)` ends it. Once `isSignedIn()` is false nobody is told what became of it, and nothing is kept.
 */
export function voiceComposer({ send, write, note, show: showRow, isSignedIn, unsent }) {
    /** The one that records, or has ended by itself; not that of a recording that is being sent. */
    let recorder;
    let isClosed = false;
    let timer;
    let maxDuration = Infinity;
    const clock = h("span", { class: "clock", role: "timer", "aria-label": t("voice.soFar") }, "0:00");
    const input = h("input", { type: "file", accept: "audio/ogg,audio/webm,.ogg,.oga,.opus,.webm", class: "unseen", id: "voice-file",
        tabindex: "-1", "aria-hidden": "true", onchange: () => chosen() });
    const report = (error) => { if (isSignedIn()) toast(errorMessage(error, "microphone"), { error: true }); };
    const say = (text) => { if (isSignedIn()) announce(text); };
    const record = button({ name: "microphone", label: t("voice.record"), bare: true, class: "round quiet", type: "button",
        data: { action: "record" }, onclick: () => busy(record, start, fail) });
    const choose = button({ name: "upload", label: t("voice.choose"), bare: true, class: "round quiet", type: "button",
        data: { action: "choose-file" }, onclick: () => input.click() });
    const done = button({ name: "send", label: t("voice.send"), bare: true, class: "round primary", type: "button",
        data: { action: "send-voice" }, onclick: () => busy(done, finish, report) });
    const asText = button({ name: "edit", label: t("voice.asText"), bare: true, class: "round quiet", type: "button",
        data: { action: "dictate" }, onclick: () => busy(asText, dictate, report) });
    const drop = button({ label: t("common.cancel"), class: "quiet pill", type: "button", data: { action: "cancel-voice" }, onclick: () => cancel() });
    const row = h("div", { class: "recording-row", id: "voice-composer", hidden: true, data: { state: "waiting" } },
        h("span", { class: "recording-dot", "aria-hidden": "true" }), clock, drop, asText, done);

    const show = (state) => {
        row.dataset.state = state;
        row.hidden = state === "waiting";
        for (const one of [drop, asText, done]) one.disabled = state === "sending";
        showRow(state !== "waiting");
    };
    const tick = () => {
        clock.textContent = clockText(recorder.elapsed);
        if (recorder.elapsed >= maxDuration) busy(done, finish, report);
        else if (recorder.hasEnded) {
            clearInterval(timer);
            note(false);
            row.dataset.state = "ended";
            toast(t("voice.lost"), { error: true });
        } else note(true);
    };
    const start = async () => {
        const { maxSeconds } = await voiceLimits();
        // The chat was left meanwhile: the microphone stays off.
        if (isClosed) return;
        // Sends it shortly before the limit, so that nothing is cut off.
        maxDuration = maxSeconds * 1000 - 1_000;
        recorder = new Recorder();
        await recorder.start();
        // Cancelled by closing.
        if (isClosed) return;
        asText.hidden = !server.transcribes;
        show("recording");
        tick();
        timer = setInterval(tick, 200);
        announce(t("voice.recording"));
        done.focus();
    };
    const fail = (error) => {
        recorder = undefined;
        if (!isClosed) report(error);
    };
    const end = (own, text) => {
        clearInterval(timer);
        recorder = undefined;
        if (own?.what) {
            unsent.end(own.what);
            used.delete(own.what);
        }
        note(false);
        show("waiting");
        record.focus();
        say(text);
    };
    const cancel = () => {
        const own = recorder;
        own?.cancel();
        end(own, t("ending.cancelled"));
    };
    /** Ends the recording, and does something with it. */
    const conclude = async (work) => {
        const own = recorder;
        if (!own) return;
        if (own.elapsed < MIN_DURATION) {
            cancel();
            toast(t("voice.short"));
            return;
        }
        clearInterval(timer);
        note(false);
        show("sending");
        recorder = undefined;
        if (own.what) used.add(own.what);
        await work(own);
    };
    /** After an error it may be sent, here or when the chat is opened again. */
    const keep = (own) => {
        used.delete(own.what);
        if (isClosed) return keepUnsent(own).catch(() => {});
        recorder = own;
        show("ended");
    };
    /** What cannot be finished is lost. */
    const keepUnsent = async (own) => {
        if (own.what) return;
        if (own.elapsed < MIN_DURATION || !isSignedIn()) return own.cancel();
        const { elapsed } = own;
        try {
            const sound = await own.finish();
            if (isSignedIn()) unsent.keep({ ...sound, elapsed }); else discardVoice(sound);
        } catch (error) {
            own.cancel();
            throw error;
        }
    };
    const finish = () => conclude(async (own) => {
        try {
            const { file, blob } = await own.finish();
            send(file ? { file } : { blob });
            end(own, t("receipts.sent"));
        } catch (error) {
            if (error.isTransient) {
                keep(own);
            } else {
                own.cancel();
                end(own, t("row.notSent"));
            }
            throw error;
        }
    });
    const dictate = () => conclude(async (own) => {
        try {
            const text = await dictated(await own.finish());
            end(own, text || t("transcript.noSpeech"));
            if (text) write(text);
            else if (isSignedIn()) toast(t("transcript.noSpeech"));
        } catch (error) {
            // It can be sent as it is.
            keep(own);
            throw error;
        }
    });
    const chosen = () => busy(choose, async () => {
        const [file] = input.files;
        input.value = "";
        if (!file) return;
        const { maxBytes, maxSeconds } = await voiceLimits();
        if (file.size > maxBytes) {
            toast(t("voice.tooLarge", { time: lengthText(maxSeconds * 1000), size: Math.floor(maxBytes / 1e6) }),
                { error: true });
            return;
        }
        send(await voiceFile(new Blob([file], { type: /\.webm$/i.test(file.name) ? "audio/webm" : "audio/ogg" })));
        say(t("receipts.sent"));
    }, report);

    return {
        row,
        buttons: h("div", { class: "voice-actions" }, Recorder.isPossible && record, choose, input),
        /** Shows what was recorded before the chat was left. */
        restore() {
            if (isClosed || recorder || row.dataset.state !== "waiting" || record.hasAttribute("aria-busy")) return;
            // The server has deleted it.
            const isOver = ({ expiresAt }) => expiresAt && Date.parse(expiresAt) <= serverNow();
            for (const one of unsent.get().filter(isOver)) unsent.end(one.what);
            const sound = unsent.get().find(({ what }) => !used.has(what));
            if (!sound) return;
            recorder = new KeptRecording(sound);
            asText.hidden = !server.transcribes;
            clock.textContent = clockText(recorder.elapsed);
            show("ended");
        },
        /** What was kept is over, such as in another tab. */
        drop(what) {
            if (recorder?.what !== what) return;
            recorder = undefined;
            show("waiting");
        },
        /** What is being sent goes on, and what was being recorded is kept. */
        close() {
            isClosed = true;
            clearInterval(timer);
            if (row.dataset.state === "waiting") recorder?.cancel();
            else if (recorder) keepUnsent(recorder).catch(report);
            recorder = undefined;
        },
    };
}
