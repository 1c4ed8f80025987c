// Sending a voice message: recording one, or choosing a file.

import { announce, button, busy, h, toast } from "../dom.js";
import { errorMessage } from "../problems.js";
import { Recorder } from "../recorder.js";
import { voice } from "../voice.js";
import { clockText, lengthText } from "../format.js";

const MIN_DURATION = 500;

/** The bar to record or upload a message for `user`; `sent(message)` is called once it was sent. */
export function voiceComposer(user, sent) {
    let recorder;
    let timer;
    let maxDuration = Infinity;
    const clock = h("span", { class: "clock", role: "timer", "aria-label": "Recorded so far" }, "0:00");
    const input = h("input", { type: "file", accept: "audio/ogg,audio/webm,.ogg,.oga,.opus,.webm", class: "unseen", id: "voice-file",
        tabindex: "-1", "aria-hidden": "true", onchange: () => chosen() });
    const report = (error) => toast(errorMessage(error, "microphone"), { error: true });
    const record = button({ name: "microphone", label: "Record a message", class: "primary pill",
        data: { action: "record" }, onclick: () => busy(record, start, fail) });
    const choose = button({ name: "upload", label: "Choose a file", class: "soft pill", data: { action: "choose-file" },
        onclick: () => input.click() });
    const done = button({ name: "send", label: "Send", class: "primary pill", data: { action: "send-voice" },
        onclick: () => busy(done, finish, report) });
    const drop = button({ label: "Cancel", class: "quiet pill", data: { action: "cancel-voice" }, onclick: () => cancel() });
    const waiting = h("div", { class: "composer-row" }, Recorder.isPossible && record, choose, input);
    const recording = h("div", { class: "composer-row", hidden: true },
        h("span", { class: "recording-dot", "aria-hidden": "true" }), clock, drop, done);
    const node = h("div", { class: "composer", id: "voice-composer", data: { state: "waiting" } }, waiting, recording);

    const show = (state) => {
        node.dataset.state = state;
        waiting.hidden = state !== "waiting";
        recording.hidden = state === "waiting";
        drop.disabled = state === "sending";
    };
    const tick = () => {
        clock.textContent = clockText(recorder.elapsed);
        if (recorder.elapsed >= maxDuration) busy(done, finish, report);
        else if (recorder.hasEnded) {
            clearInterval(timer);
            node.dataset.state = "ended";
            toast("The connection was lost. You can send what was recorded until then.", { error: true });
        }
    };
    const start = async () => {
        const { maxSeconds } = await voice.limits();
        // Sends it shortly before the limit, so that nothing is cut off.
        maxDuration = maxSeconds * 1000 - 1_000;
        recorder = new Recorder(user);
        await recorder.start();
        show("recording");
        tick();
        timer = setInterval(tick, 200);
        announce("Recording");
        done.focus();
    };
    const fail = (error) => {
        recorder = undefined;
        report(error);
    };
    const end = (text) => {
        clearInterval(timer);
        recorder = undefined;
        show("waiting");
        record.focus();
        announce(text);
    };
    const cancel = () => {
        recorder?.cancel();
        end("Cancelled");
    };
    const finish = async () => {
        if (!recorder) return;
        if (recorder.elapsed < MIN_DURATION) {
            cancel();
            toast("That was too short. Speak for a moment before you send it.");
            return;
        }
        clearInterval(timer);
        show("sending");
        try {
            sent(await recorder.send());
            end("Sent");
        } catch (error) {
            // After a transient error it may be sent again.
            if (error.isTransient) {
                show("ended");
            } else {
                recorder.cancel();
                end("Not sent");
            }
            throw error;
        }
    };
    const chosen = () => busy(choose, async () => {
        const [file] = input.files;
        input.value = "";
        if (!file) return;
        const { maxBytes, maxSeconds } = await voice.limits();
        if (file.size > maxBytes) {
            toast(`The file is too large: at most ${lengthText(maxSeconds * 1000)} and ${Math.floor(maxBytes / 1e6)} MB can be sent.`,
                { error: true });
            return;
        }
        sent(await voice.send(user, new Blob([file], { type: /\.webm$/i.test(file.name) ? "audio/webm" : "audio/ogg" })));
        announce("Sent");
    }, report);

    return {
        node,
        close() {
            clearInterval(timer);
            recorder?.cancel();
            recorder = undefined;
        },
    };
}
