// One voice message in a list: playing it, seeking, and deleting one's own.

import { busy, button, h, icon, toast } from "../dom.js";
import { Player } from "../player.js";
import { errorMessage } from "../problems.js";
import { voice } from "../voice.js";
import { clockText, firstName, whenText } from "../format.js";
import { waveform } from "./waveform.js";

/** `remove` is called to delete the message. */
export function voiceMessage(message, { isOwn, name, remove }) {
    const player = new Player(message);
    // A message of less than a second is shown as one second.
    const length = clockText(Math.max(message.durationMs, 1_000));
    const whose = isOwn ? "your voice message" : `the voice message from ${firstName(name)}`;
    const play = button({ name: "play", label: `Play ${whose}`, bare: true, class: "round primary",
        data: { action: "play" }, onclick: () => player.toggle() });
    const wave = waveform({ values: message.waveform, duration: player.duration,
        label: `Position in ${whose}`, seek: (seconds) => player.seek(seconds) });
    const clock = h("span", { class: "clock" }, length);
    const transcriptNode = h("div", { class: "transcript", hidden: true });
    const node = h("li", { class: `voice ${isOwn ? "own" : ""}`, data: { message: message.id, own: String(isOwn), state: "paused" } },
        play,
        h("div", { class: "sound" }, wave.node,
            h("p", { class: "state" }, h("span", { class: "unseen" }, isOwn ? "From you" : `From ${name}`), clock,
                h("time", { datetime: message.createdAt }, whenText(message.createdAt))), transcriptNode),
        isOwn && button({ name: "trash", label: "Delete your voice message", bare: true, class: "round quiet",
            data: { action: "delete-voice" }, onclick: remove }));

    const again = button({ label: "Try again", class: "quiet small", data: { action: "transcribe" },
        onclick: () => busy(again, async () => setTranscript(await voice.transcribe(message.id)),
            (error) => toast(errorMessage(error), { error: true })) });
    /** Shows the transcript, or why there is none. */
    const setTranscript = (transcript) => {
        transcriptNode.hidden = !transcript;
        if (!transcript) return;
        transcriptNode.dataset.status = transcript.status;
        const { status, text, failure } = transcript;
        const shownText = { pending: "Transcribing…", complete: text || "No speech was recognized.", failed: failure?.detail }[status];
        transcriptNode.replaceChildren(h("p", { lang: transcript.language }, shownText), ...(failure?.mayRetry ? [again] : []));
    };
    setTranscript(message.transcript);

    let wasPlaying = false;
    player.on("change", () => {
        const { isPlaying, position } = player;
        wave.show(position);
        const isWithin = isPlaying || position > 0 && position < player.duration;
        clock.textContent = isWithin ? `${clockText(position * 1000)} / ${length}` : length;
        if (isPlaying === wasPlaying) return;
        wasPlaying = isPlaying;
        node.dataset.state = isPlaying ? "playing" : "paused";
        const label = `${isPlaying ? "Pause" : "Play"} ${whose}`;
        play.replaceChildren(icon(isPlaying ? "pause" : "play"));
        for (const attribute of ["aria-label", "title"]) play.setAttribute(attribute, label);
    });
    player.on("problem", (error) => toast(errorMessage(error), { error: true }));
    return { node, message, setTranscript, close: () => player.close() };
}
