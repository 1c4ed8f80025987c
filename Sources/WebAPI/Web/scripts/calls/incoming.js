// The incoming call dialog, on every open tab.
//
// It stays until the call is answered or declined, by its buttons or a key, or stops ringing. Back does neither, nor does it
// change the page under it. A browser that asks dialogs to close, as Chromium on Android does on Back, closes none meanwhile.

import { credentials } from "../connection/credentials.js";
import { avatar } from "../elements/avatar.js";
import { announce, button, h } from "../elements/dom.js";
import { holdBack, releaseBack } from "../elements/history-entry.js";
import { redraw } from "../elements/keyed.js";
import { namesOf, othersOf } from "../language/format.js";
import { t } from "../language/texts.js";
import { calls } from "./calls.js";
import { showAttention, dismissAttention, player } from "./ring.js";

/** Enter and Escape are ignored for this long, in case somebody was typing when it began to ring. */
const KEY_DELAY = 700;

let dialog;
let shownAt = 0;
/** The open dialogs under it, which the browser may not close meanwhile. */
let locked = [];

export function showRings() {
    const update = () => {
        const ring = calls.rings.values().next().value;
        if (dialog?.dataset.call === ring?.id && ring) return;
        dialog?.close();
        dialog?.remove();
        dialog = undefined;
        if (ring) openRing(ring); else endRings();
    };
    calls.on("rings", update);
    addEventListener("keydown", onkeydown, { capture: true });
    calls.on("calls", () => {
        const ring = calls.rings.get(dialog?.dataset.call);
        // The choice is another one when a call of one's own began or ended in the meantime. Otherwise the buttons stay:
        // one may be being pressed.
        if (ring && dialog.dataset.choice !== choice()) fill(ring);
    });
}

function openRing(ring) {
    dialog = h("dialog", { id: "incoming", class: "incoming", "aria-labelledby": "incoming-title",
        "aria-describedby": "incoming-text", closedby: "none", data: { call: ring.id } });
    const node = dialog;
    // Browsers without `closedby` ask first, and close it all the same if nobody has touched the page since they asked last.
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    dialog.addEventListener("close", () => { if (node === dialog) show(); });
    dialog.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || event.target.closest("button") || !acceptsKeys()) return;
        const accept = dialog.querySelector("[data-default]");
        accept?.click();
    });
    shownAt = performance.now();
    fill(ring);
    document.body.append(dialog);
    show();
    holdBack();
    const text = t("ring.isCalling", { name: ring.caller.displayName });
    announce(text);
    showAttention(text, ring.id);
    player.play(open().length > 0 ? "waiting" : "ring");
}

/** Over everything that is open. */
function show() {
    lockDialogs();
    dialog.showModal();
    dialog.querySelector("h2").focus();
}

const acceptsKeys = () => performance.now() - shownAt > KEY_DELAY;

/** Nothing may have the focus. Left to the browser, the key would close the dialogs under this one as well. */
function onkeydown(event) {
    if (event.key !== "Escape" || !dialog || (event.target.closest?.("dialog") ?? dialog) !== dialog) return;
    event.preventDefault();
    const ring = calls.rings.get(dialog.dataset.call);
    if (ring && !event.repeat && !event.isComposing && acceptsKeys()) calls.decline(ring);
}

function lockDialogs() {
    for (const one of document.querySelectorAll("dialog[open]:not(#incoming, [closedby])")) {
        one.setAttribute("closedby", "none");
        locked.push(one);
    }
}

function endRings() {
    releaseBack();
    for (const one of locked) one.removeAttribute("closedby");
    locked = [];
    dismissAttention();
    quiet();
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
