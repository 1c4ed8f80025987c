// The sound of a voice message in a thread: playing it, seeking, and its transcript.

import { errorMessage, failureMessage } from "../connection/problems.js";
import { busy, button, h, icon, toast } from "../elements/dom.js";
import { redraw } from "../elements/keyed.js";
import { clockText, firstName, numberText } from "../language/format.js";
import { t } from "../language/texts.js";
import { preferences } from "../store/preferences.js";
import { changeSpeed, Player, speed } from "./player.js";
import { waveform } from "./waveform.js";

/** `thread` asks for the audio and the transcript, and notes that it was listened to. */
export function voiceSound(thread, message) {
    const isOwn = message.author === thread.me;
    const { voice } = message;
    const player = new Player(voice.durationMs, () => thread.audioLink(message));
    // A message of less than a second is shown as one second.
    const length = clockText(Math.max(voice.durationMs, 1_000));
    const labelOf = (what) => isOwn ? t(`ownVoice.${what}`) : t(`othersVoice.${what}`, { name: firstName(thread.nameOf(message.author)) });
    const play = button({ name: "play", label: labelOf("play"), bare: true, class: "round primary", disabled: !voice.file,
        data: { action: "play" }, onclick: () => player.toggle() });
    const wave = waveform({ values: voice.waveform, duration: player.duration,
        label: labelOf("position"), seek: (seconds) => player.seek(seconds) });
    const faster = h("button", { type: "button", class: "quiet speed", data: { action: "voice-speed" }, onclick: changeSpeed });
    const showSpeed = () => {
        const text = t("voice.times", { speed: numberText(speed(), Number.isInteger(speed()) ? 0 : 1) });
        faster.textContent = text;
        for (const attribute of ["aria-label", "title"]) faster.setAttribute(attribute, t("voice.speed", { speed: text }));
    };
    showSpeed();
    const unsubscribe = preferences.on("voiceSpeed", showSpeed);
    const clock = h("span", { class: "clock" }, length);
    const transcriptNode = h("div", { class: "transcript", hidden: true });
    const node = h("div", { class: "voice", data: { state: "paused" } },
        play, h("div", { class: "sound" }, wave.node, h("p", { class: "state" }, clock,
            !voice.file && h("span", { class: "hint" }, t("voice.noAudio")))), voice.file && faster, transcriptNode);

    const again = button({ label: t("common.tryAgain"), class: "quiet small", data: { action: "transcribe" },
        onclick: () => busy(again, () => thread.transcribe(message), (error) => toast(errorMessage(error), { error: true })) });
    /** Shows the transcript, or why there is none, and whether it is new to the user. */
    const update = ({ voice: { transcript }, language }, isListened) => {
        node.dataset.listened = String(isOwn || isListened);
        transcriptNode.hidden = !transcript;
        if (!transcript) return;
        transcriptNode.dataset.status = transcript.status;
        const { status, text, failure } = transcript;
        const shownText = { pending: t("transcript.pending"), complete: text || t("transcript.noSpeech"), failed: failureMessage(failure) }[status];
        redraw(transcriptNode, h("p", { lang: language?.code ?? transcript.language, dir: "auto" }, shownText), failure?.mayRetry && again);
    };

    let wasPlaying = false;
    player.on("change", () => {
        const { isPlaying, position } = player;
        wave.show(position);
        const isWithin = isPlaying || position > 0 && position < player.duration;
        clock.textContent = isWithin ? `${clockText(position * 1000)} / ${length}` : length;
        if (isPlaying === wasPlaying) return;
        wasPlaying = isPlaying;
        if (isPlaying && node.dataset.listened === "false") thread.noteListened(message);
        node.dataset.state = isPlaying ? "playing" : "paused";
        const label = labelOf(isPlaying ? "pause" : "play");
        play.replaceChildren(icon(isPlaying ? "pause" : "play"));
        for (const attribute of ["aria-label", "title"]) play.setAttribute(attribute, label);
    });
    player.on("problem", (error) => toast(errorMessage(error), { error: true }));
    return { node, file: voice.file, update, close() {
        unsubscribe();
        player.close();
    } };
}
