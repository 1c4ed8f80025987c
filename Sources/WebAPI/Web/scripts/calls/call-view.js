// The screen of a call: the participants' video, and the controls.

import { errorMessage } from "../connection/problems.js";
import { avatar } from "../elements/avatar.js";
import { button, h, icon, toast } from "../elements/dom.js";
import { HistoryEntry } from "../elements/history-entry.js";
import { redraw } from "../elements/keyed.js";
import { clockText, progress } from "../language/format.js";
import { t } from "../language/texts.js";
import { callFrame } from "./call-frame.js";
import { callLayout } from "./call-layout.js";
import { calls } from "./calls.js";
import { CaptionsView, hasTranscription } from "./captions.js";
import { DetailsPanel } from "./details-panel.js";
import { devicesPanel } from "./devices-panel.js";
import { GridScene } from "./grid-scene.js";
import { PairScene } from "./pair-scene.js";
import { pickPeople } from "./people-picker.js";
import { callPeople, joinCall } from "./start-call.js";

const panelEntry = new HistoryEntry("panel");

export class CallView {
    call;
    node;
    #parts;
    #frame;
    #layout;
    #scene;
    #captions;
    #transcribes = false;
    #details;
    #devices;
    #unsubscribe;
    #timer;
    /** The scene has what head and foot leave, where there is little room: notices, captions and rows of controls differ. */
    #sizes = new ResizeObserver((entries) => {
        for (const { target } of entries) this.node.style.setProperty(target.matches("header") ? "--call-head" : "--call-foot", `${target.offsetHeight}px`);
    });

    constructor(call) {
        this.call = call;
        this.#captions = new CaptionsView(call);
        this.#parts = this.#make();
        this.node = this.#parts.section;
        this.#frame = callFrame(call, this.node);
        this.#parts.add.after(this.#frame.node);
        for (const part of this.node.querySelectorAll(".call-head, .call-foot")) this.#sizes.observe(part);
        this.#unsubscribe = [call.on("change", () => this.#show()), call.on("stats", (sample) => this.#measure(sample)),
            call.on("speaking", () => this.#scene.updateSpeakers?.()), calls.on("open", () => this.#showAfter())];
        this.#timer = setInterval(() => this.#tick(), 500);
        this.onkey = (event) => this.#key(event);
        addEventListener("keydown", this.onkey);
        this.#show();
        hasTranscription().then((has) => { this.#transcribes = has; this.#show(); });
    }

    focus() { this.#parts.name.focus(); }

    /** `full`, `beside` or `corner`. */
    arrange(layout) {
        if (layout !== this.#layout) this.#closePanel();
        this.#layout = layout;
        this.#frame.arrange(layout);
    }

    close() {
        clearInterval(this.#timer);
        this.#closePanel();
        this.#sizes.disconnect();
        removeEventListener("keydown", this.onkey);
        this.#unsubscribe.forEach((one) => one());
        this.#scene.close();
        this.#captions.close();
        this.#frame.close();
    }

    /** Lists calls on hold behind this one. */
    showHeld(others) {
        redraw(this.#parts.held, others.map((other) => h("div", { class: "held-call", data: { held: other.id } },
            avatar(other.other, { size: "small" }), h("span", {}, t("call.isOnHold", { name: other.title })),
            button({ name: "swap", label: t("call.switch"), class: "small glass", data: { action: "swap" },
                onclick: () => calls.swap(other) }))));
    }

    // Building

    #make() {
        const { call } = this;
        const name = h("h1", { class: "call-name", tabindex: "-1", id: "call-name" }, call.title);
        const status = h("p", { id: "call-status", class: "call-status" });
        const clock = h("p", { id: "call-clock", class: "call-clock", role: "timer", "aria-label": t("call.length") });
        const recording = h("p", { id: "call-recording", class: "call-recording", role: "status", hidden: true });
        const captioned = h("p", { id: "call-captioned", class: "call-captioned", role: "status", hidden: true });
        const held = h("div", { class: "held-calls" });
        const panel = h("section", { class: "panel", id: "panel", hidden: true });
        const controls = this.#makeControls();
        const bar = h("div", { class: "controls", role: "group", "aria-label": t("call.controls") }, Object.values(controls));
        const after = h("div", { class: "after", hidden: true });
        const add = button({ name: "addPerson", label: t("call.addPeople"), bare: true, class: "round glass", data: { action: "invite" },
            onclick: () => this.#invite() });
        const section = h("section", { id: "call", class: "call", "aria-labelledby": "call-name" },
            h("header", { class: "call-head" }, h("div", { class: "call-title" }, name, h("div", { class: "call-line" }, status, clock, recording, captioned)), held, add),
            h("footer", { class: "call-foot" }, this.#captions.node, bar, after), panel);
        return { section, name, status, clock, recording, captioned, held, add, panel, controls, bar, after };
    }

    #makeControls() {
        const control = (action, name, label, onclick, style = "glass") =>
            button({ name, label, bare: true, class: `round big ${style}`, data: { action }, onclick });
        return {
            mute: control("mute", "microphone", t("call.mute"), () => this.call.mute(!this.call.isMuted)),
            camera: control("camera", "video", t("call.camera"), () => this.#try("camera", () => this.call.setCamera(!this.call.hasCamera))),
            hold: control("hold", "pause", t("call.hold"), () => this.call.hold(!this.call.held)),
            share: navigator.mediaDevices?.getDisplayMedia && control("share", "screen", t("call.share"),
                () => this.#try("screen", () => this.call.setSharing(!this.call.isSharing))),
            devices: control("devices", "sliders", t("call.devices"), () => this.#open("devices")),
            record: control("record", "record", t("call.record"),
                () => this.#try("call", () => this.call.setRecording(!this.call.isRecorded))),
            captions: control("captions", "captions", t("call.captions"),
                () => this.#try("call", () => this.call.setCaptions(!this.call.captions))),
            details: control("details", "chart", t("call.details"), () => this.#open("details")),
            hangUp: control("hang-up", "hangUp", t("call.hangUp"), () => this.call.hangUp(), "danger"),
        };
    }

    // Showing

    #show() {
        const { call } = this;
        const { section, name, status, recording, captioned, add, controls, bar } = this.#parts;
        const ended = call.phase === "ended";
        section.dataset.phase = call.phase;
        section.dataset.connection = call.connection;
        section.dataset.mediaPath = call.mediaPath;
        section.dataset.call = call.id ?? "";
        section.dataset.mode = call.isGroup ? "group" : "pair";
        name.textContent = call.title;
        status.textContent = this.#statusText(progress(call));
        recording.hidden = ended || !call.isRecorded;
        if (recording.textContent !== call.recorded) recording.textContent = call.recorded;
        captioned.hidden = ended || !call.captions;
        if (captioned.textContent !== call.captioned) captioned.textContent = call.captioned;
        this.#captions.show();
        this.#showScene(section);
        this.#showControls(controls);
        add.hidden = !["active", "connecting"].includes(call.phase) && !(call.isGroup && !ended);
        const wasUsed = bar.contains(document.activeElement);
        bar.hidden = ended;
        if (ended && wasUsed) name.focus();
        this.#frame?.show();
        this.#showAfter();
        if (ended) this.#closePanel();
    }

    /** A call between two that becomes a group call is shown as one from then on. */
    #showScene(section) {
        const Scene = this.call.isGroup ? GridScene : PairScene;
        if (!(this.#scene instanceof Scene)) {
            this.#scene?.close();
            this.#scene?.node.remove();
            this.#scene = new Scene(this.call);
            section.prepend(this.#scene.node);
        }
        this.#scene.show(section);
    }

    /** The actions after the call has ended here: a group call may continue without this tab. */
    #showAfter() {
        const { call } = this;
        const { after } = this.#parts;
        const ended = call.phase === "ended";
        const open = ended && calls.open.find((one) => one.id === call.id);
        const key = `${ended} ${Boolean(open)}`;
        after.hidden = !ended;
        if (after.dataset.key === key) return;
        after.dataset.key = key;
        const leave = (work) => () => { calls.remove(call); work?.(); };
        redraw(after,
            open ? button({ name: "phone", label: t("call.joinAgain"), class: "go pill", data: { action: "join-again" }, onclick: leave(() => joinCall(open)) })
                : button({ name: "phone", label: t("call.callAgain"), class: "go pill", data: { action: "call-again" },
                    onclick: leave(() => callPeople(call.others.map((one) => ({ ...one, id: one.user })), call.kind)) }),
            button({ name: "close", label: t("common.close"), class: "glass pill", data: { action: "close" }, onclick: leave() }));
    }

    #measure(sample) {
        this.#details?.show();
        this.#scene.rate?.(sample);
    }

    async #invite() {
        const { call } = this;
        const there = call.people.filter((one) => ["joined", "invited", "ringing"].includes(one.state)).map((one) => one.user);
        const users = await pickPeople({ title: t("call.addPeople"), without: there, actions: [{ value: "add", label: t("common.add"), name: "addPerson" }] });
        if (users) await this.#try("call", () => call.invite(users.people));
    }

    #statusText(text) {
        const media = this.call.otherMedia;
        return text === t("progress.connected") && media?.audio === false ? t("call.theirMicrophoneIsOff") : text;
    }

    #showControls({ mute, camera, hold, share, details, devices, record, captions }) {
        const { call } = this;
        set(mute, call.isMuted ? "microphoneOff" : "microphone", call.isMuted ? t("call.unmuteKey") : t("call.muteKey"), call.isMuted);
        set(camera, call.hasCamera ? "video" : "videoOff", call.hasCamera ? t("call.cameraOffKey") : t("call.cameraOnKey"), !call.hasCamera);
        set(hold, call.held ? "play" : "pause", call.held ? t("call.resumeKey") : t("call.holdKey"), call.held);
        if (share) set(share, "screen", call.isSharing ? t("call.stopSharing") : t("call.share"), call.isSharing);
        set(details, "chart", t("call.detailsKey"), Boolean(this.#details));
        set(devices, "sliders", t("call.devices"), Boolean(this.#devices));
        record.hidden = !call.usesGateway || call.phase !== "active";
        captions.hidden = record.hidden || !(this.#transcribes || call.captions);
        set(captions, "captions", call.captions ? t("call.captionsOffKey") : t("call.captionsOnKey"), Boolean(call.captions));
        set(record, "record", call.isRecorded ? t("call.stopRecording") : t("call.record"), call.isRecorded);
        details.setAttribute("aria-expanded", String(Boolean(this.#details)));
        devices.setAttribute("aria-expanded", String(Boolean(this.#devices)));
        const isOpen = call.phase === "active";
        hold.disabled = !isOpen;
        if (share) share.disabled = !isOpen;
    }

    #tick() {
        const { clock } = this.#parts;
        const { call } = this;
        if (call.phase === "active") clock.textContent = clockText(call.length);
        clock.hidden = !["active", "ended"].includes(call.phase) || !clock.textContent;
    }

    async #try(what, work) {
        try { await work(); } catch (error) {
            if (what !== "screen" || error.name !== "NotAllowedError") toast(errorMessage(error, what), { error: true });
        }
    }

    // Panels and keys

    #open(kind) {
        const before = this.#details ? "details" : this.#devices && "devices";
        if (before === kind) return this.#closePanel();
        const { panel, section } = this.#parts;
        const close = () => this.#closePanel();
        this.#details = kind === "details" ? new DetailsPanel(this.call, close) : undefined;
        this.#devices = kind === "devices" ? devicesPanel(this.call, close) : undefined;
        panel.replaceChildren(this.#details?.node ?? this.#devices);
        panel.setAttribute("aria-label", kind === "details" ? t("call.connectionPanel") : t("call.devicesPanel"));
        panel.hidden = false;
        section.classList.add("with-panel");
        this.#details?.show();
        panel.querySelector("h2").focus();
        if (!before) panelEntry.add(close);
        return this.#show();
    }

    /** By its button or key, by Back, or because the call ends or has more or less of the page. */
    #closePanel() {
        if (!this.#details && !this.#devices) return;
        const { panel, section, controls, name } = this.#parts;
        const control = this.#details ? controls.details : controls.devices;
        const hadFocus = panel.contains(document.activeElement);
        this.#details = this.#devices = undefined;
        panelEntry.leave();
        panel.hidden = true;
        panel.replaceChildren();
        section.classList.remove("with-panel");
        const ended = this.call.phase === "ended";
        if (hadFocus) (ended ? name : control).focus();
        if (!ended) this.#show();
    }

    #key(event) {
        if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
        if (event.target.closest?.("input:not([type=checkbox]), select, textarea")) return;
        // Elsewhere in the page keys have other meanings.
        if (callLayout.value !== "full" && !this.node.contains(event.target)) return;
        const { mute, camera, hold, captions, details } = this.#parts.controls;
        const control = { m: mute, v: camera, h: hold, c: captions, d: details }[event.key.toLowerCase()];
        if (event.key === "Escape") this.#closePanel();
        else if (control && this.call.phase !== "ended" && !control.disabled && !control.hidden) {
            event.preventDefault();
            control.click();
        }
    }
}

/** The label says what a click would do, so the state needs no other description. */
function set(control, name, label, isOn) {
    if (control.dataset.icon !== name) {
        control.dataset.icon = name;
        control.replaceChildren(icon(name));
    }
    control.setAttribute("aria-label", label);
    control.title = label;
    control.classList.toggle("on", isOn);
}
