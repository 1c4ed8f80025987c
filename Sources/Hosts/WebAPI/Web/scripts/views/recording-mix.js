// A recording in one file: asked for, waited for, listened to.

import { credentials } from "../credentials.js";
import { busy, button, h, toast } from "../dom.js";
import { inWords } from "../problems.js";
import { realtime } from "../realtime.js";
import { request } from "../requests.js";

/** For a recording that has ended. Whoever asks for it, everybody's page shows what becomes of it. */
export function recordingMix(recording) {
    const node = h("div", { class: "mix" });
    let turn = 0;

    const make = (label) => {
        const control = button({ label, class: "quiet small", data: { action: "mix" },
            onclick: () => busy(control, async () => {
                const mine = ++turn;
                const answer = await request("recordings.mix", { recording: recording.id });
                // What is told in the stream is newer.
                if (mine === turn) show(answer.recording.mix);
            }, (error) => toast(inWords(error), { error: true })) });
        return control;
    };

    const show = (mix) => {
        const status = mix?.status ?? "none";
        // Somebody may be listening to it.
        if (status === "complete" && node.dataset.status === status) return;
        node.dataset.status = status;
        node.replaceChildren(...{
            none: () => [make("Put everybody into one file")],
            pending: () => [h("p", { class: "hint", role: "status" }, "Putting everybody into one file…")],
            complete: () => [h("div", { class: "track" }, h("span", { class: "name" }, "Everybody"),
                h("audio", { controls: true, preload: "none", src: mix.audio.url, "aria-label": "What everybody said" }),
                h("a", { href: mix.audio.url, download: "Everybody.ogg" }, "Save"))],
            failed: () => [h("p", { class: "hint", role: "status" }, mix.failure), make("Try again")],
        }[status]());
    };

    const load = async () => {
        const mine = ++turn;
        try {
            const answer = await request("recordings.get", { recording: recording.id });
            if (mine === turn) show(answer.recording.mix);
        } catch { /* It is gone; what is shown stays. */ }
    };

    const unhear = [
        realtime.on("change", ({ stream, type, data }) => {
            if (stream !== `user:${credentials.user?.id}` || type !== "recording.mixed") return;
            if (data.recording === recording.id) load();
        }),
        realtime.on("snapshot", ({ stream }) => { if (stream === `user:${credentials.user?.id}`) load(); }),
    ];
    show(recording.mix);
    return {
        node,
        close() {
            node.querySelector("audio")?.pause();
            for (const stop of unhear) stop();
        },
    };
}
