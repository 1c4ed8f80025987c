// The mix of a recording: all tracks in one file, made on request.

import { credentials } from "../connection/credentials.js";
import { errorMessage } from "../connection/problems.js";
import { realtime } from "../connection/realtime.js";
import { request } from "../connection/requests.js";
import { busy, button, h, toast } from "../elements/dom.js";
import { redraw } from "../elements/keyed.js";
import { t } from "../language/texts.js";

/** For a recording that has ended. Whoever requests the mix, everybody's page shows its progress. */
export function recordingMix(recording) {
    const node = h("div", { class: "mix" });
    let turn = 0;

    const make = (label) => {
        const control = button({ label, class: "quiet small", data: { action: "mix" },
            onclick: () => busy(control, async () => {
                const mine = ++turn;
                const result = await request("recordings.mix", { recording: recording.id });
                // A stream change that arrived meanwhile is newer.
                if (mine === turn) show(result.recording.mix);
            }, (error) => toast(errorMessage(error), { error: true })) });
        return control;
    };

    const show = (mix) => {
        const status = mix?.status ?? "none";
        // Somebody may be listening to it.
        if (status === "complete" && node.dataset.status === status) return;
        node.dataset.status = status;
        redraw(node, {
            none: () => [make(t("mix.make"))],
            pending: () => [h("p", { class: "hint", role: "status" }, t("mix.pending"))],
            complete: () => [h("div", { class: "track" }, h("span", { class: "name" }, t("mix.everyone")),
                h("audio", { controls: true, preload: "none", src: mix.audio.url, "aria-label": t("mix.label") }),
                h("a", { href: mix.audio.url, download: `${t("mix.everyone")}.ogg` }, t("common.save")))],
            failed: () => [h("p", { class: "hint", role: "status" }, mix.failure), make(t("common.tryAgain"))],
        }[status]());
    };

    const load = async () => {
        const mine = ++turn;
        try {
            const result = await request("recordings.get", { recording: recording.id });
            if (mine === turn) show(result.recording.mix);
        } catch { /* It was deleted; keeps what is shown. */ }
    };

    const unsubscribe = [
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
            for (const stop of unsubscribe) stop();
        },
    };
}
