// The incoming call dialog, on every open tab.

import { credentials } from "../connection/credentials.js";
import { avatar } from "../elements/avatar.js";
import { announce, button, h } from "../elements/dom.js";
import { redraw } from "../elements/keyed.js";
import { namesOf, othersOf } from "../language/format.js";
import { t } from "../language/texts.js";
import { calls } from "./calls.js";
import { showAttention, dismissAttention, player } from "./ring.js";

/** Enter and Escape are ignored for this long, in case somebody was typing when it began to ring. */
const KEY_DELAY = 700;

let dialog;

export function showRings() {
    const show = () => {
        const ring = calls.rings.values().next().value;
        if (dialog?.dataset.call === ring?.id && ring) return;
        dialog?.close();
        dialog?.remove();
        dialog = undefined;
        if (ring) openRing(ring); else { dismissAttention(); quiet(); }
    };
    calls.on("rings", show);
    calls.on("calls", () => {
        const ring = calls.rings.get(dialog?.dataset.call);
        // The choice is another one when a call of one's own began or ended in the meantime. Otherwise the buttons stay:
        // one may be being pressed.
        if (ring && dialog.dataset.choice !== choice()) fill(ring);
    });
}

function openRing(ring) {
    dialog = h("dialog", { id: "incoming", class: "incoming", "aria-labelledby": "incoming-title",
        "aria-describedby": "incoming-text", data: { call: ring.id } });
    dialog.addEventListener("cancel", (event) => {
        event.preventDefault();
        if (acceptsKeys()) calls.decline(ring);
    });
    dialog.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || event.target.closest("button") || !acceptsKeys()) return;
        const accept = dialog.querySelector("[data-default]");
        accept?.click();
    });
    const shownAt = performance.now();
    const acceptsKeys = () => performance.now() - shownAt > KEY_DELAY;
    fill(ring);
    document.body.append(dialog);
    dialog.showModal();
    dialog.querySelector("h2").focus();
    const text = t("ring.isCalling", { name: ring.caller.displayName });
    announce(text);
    showAttention(text, ring.id);
    player.play(open().length > 0 ? "waiting" : "ring");
}

const open = () => calls.active.filter((call) => call.phase !== "ended");

function quiet() {
    const call = calls.current;
    player.play(call && ["calling", "ringing"].includes(call.phase) ? "ringback" : undefined);
}

const choice = () => open().length > 0 ? "waiting" : "free";

function fill(ring) {
    const isVideo = ring.kind === "video";
    dialog.dataset.choice = choice();
    const waiting = dialog.dataset.choice === "waiting";
    redraw(dialog,
        h("div", { class: "pulse" }, avatar(ring.caller, { size: "huge" })),
        h("h2", { id: "incoming-title", tabindex: "-1" }, ring.caller.displayName),
        h("p", { id: "incoming-text" }, incomingText(ring)),
        h("div", { class: "answers" }, waiting ? waitingAnswers(ring) : answers(ring)),
        h("p", { class: "hint keys-hint" }, t.rich("ring.keys", { accept: h("kbd", {}, t("keys.enter")), decline: h("kbd", {}, t("keys.escape")) })));
}

/** Who else was called: one wants to know before one answers. */
function incomingText({ call, caller, kind }) {
    const others = othersOf(call, credentials.user.id).filter((one) => one.user !== caller.id);
    const key = kind === "video" ? "videoCall" : "call";
    return others.length > 0 ? t(`incomingWith.${key}`, { names: namesOf(others) }) : t(`incoming.${key}`);
}

function answers(ring) {
    const isVideo = ring.kind === "video";
    return [
        answer(ring, "hangUp", t("common.decline"), "danger", "decline", () => calls.decline(ring)),
        answer(ring, "phone", isVideo ? t("ring.audioOnly") : t("common.accept"), "go", "accept-audio",
            () => calls.accept(ring, { video: false }), !isVideo),
        isVideo && answer(ring, "video", t("common.accept"), "go", "accept-video", () => calls.accept(ring, { video: true }), true),
    ];
}

function waitingAnswers(ring) {
    const video = ring.kind === "video";
    return [
        answer(ring, "hangUp", t("common.decline"), "danger", "decline", () => calls.decline(ring)),
        answer(ring, "swap", t("ring.endAndAccept"), "warm", "end-accept", () => calls.accept(ring, { video, other: "end" })),
        answer(ring, "pause", t("ring.holdAndAccept"), "go", "hold-accept",
            () => calls.accept(ring, { video, other: "hold" }), true),
    ];
}

function answer(ring, name, label, style, action, onclick, isDefault = false) {
    return h("div", { class: "answer" },
        button({ name, label, bare: true, class: `round big ${style}`, data: { action, ...(isDefault && { default: "" }) }, onclick }),
        h("span", { "aria-hidden": "true" }, label));
}
