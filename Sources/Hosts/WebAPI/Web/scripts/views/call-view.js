// The call screen: the other person large, oneself small, and what one can do.

import { calls } from "../calls.js";
import { button, h, icon, toast } from "../dom.js";
import { preferences } from "../preferences.js";
import { inWords } from "../problems.js";
import { clockText, progress } from "../words.js";
import { avatar } from "./avatar.js";
import { DetailsPanel } from "./details.js";
import { devicesPanel } from "./devices.js";
import { callPerson } from "./people.js";

export class CallView {
    call;
    node;
    #parts;
    #details;
    #devices;
    #unhear;
    #timer;

    constructor(call) {
        this.call = call;
        this.#parts = this.#make();
        this.node = this.#parts.section;
        this.#unhear = [call.on("change", () => this.#show()), call.on("stats", () => this.#details?.show())];
        this.#timer = setInterval(() => this.#tick(), 500);
        this.onkey = (event) => this.#key(event);
        addEventListener("keydown", this.onkey);
        this.#show();
    }

    focus() { this.#parts.name.focus(); }

    close() {
        clearInterval(this.#timer);
        removeEventListener("keydown", this.onkey);
        this.#unhear.forEach((one) => one());
        this.#parts.remote.srcObject = null;
        this.#parts.self.srcObject = null;
    }

    /** Lists calls on hold behind this one. */
    showHeld(others) {
        this.#parts.held.replaceChildren(...others.map((other) => h("div", { class: "held-call", data: { held: other.id } },
            avatar(other.other, { size: "small" }), h("span", {}, `${other.other.displayName} is on hold`),
            button({ name: "swap", label: "Switch", class: "small glass", data: { action: "swap" },
                onclick: () => calls.swap(other) }))));
    }

    // Building

    #make() {
        const { call } = this;
        const name = h("h1", { class: "call-name", tabindex: "-1", id: "call-name" }, call.other.displayName);
        const status = h("p", { id: "call-status", class: "call-status" });
        const clock = h("p", { id: "call-clock", class: "call-clock", role: "timer", "aria-label": "Length of the call" });
        const remote = h("video", { id: "remote-video", class: "remote", autoplay: true, playsInline: true,
            "aria-label": `Video of ${call.other.displayName}` });
        const self = h("video", { id: "self-video", class: "self", autoplay: true, playsInline: true, muted: true,
            "aria-label": "Your own video" });
        const held = h("div", { class: "held-calls" });
        const panel = h("aside", { class: "panel", id: "panel", hidden: true });
        const face = h("div", { class: "face" }, avatar(call.other, { size: "huge" }));
        const controls = this.#makeControls();
        const bar = h("div", { class: "controls", role: "group", "aria-label": "Call" }, Object.values(controls));
        const after = h("div", { class: "after", hidden: true },
            button({ name: "phone", label: "Call again", class: "go pill", data: { action: "call-again" },
                onclick: () => { calls.remove(call); callPerson(call.other, call.kind); } }),
            button({ name: "close", label: "Close", class: "glass pill", data: { action: "close" },
                onclick: () => calls.remove(call) }));
        const section = h("section", { id: "call", class: "call", "aria-labelledby": "call-name" },
            remote, h("div", { class: "shade", "aria-hidden": "true" }), face,
            h("header", { class: "call-head" }, h("div", {}, name, h("div", { class: "call-line" }, status, clock)), held),
            self, h("footer", { class: "call-foot" }, bar, after), panel);
        return { section, name, status, clock, remote, self, held, panel, face, controls, bar, after };
    }

    #makeControls() {
        const control = (action, name, label, onclick, style = "glass") =>
            button({ name, label, bare: true, class: `round big ${style}`, data: { action }, onclick });
        return {
            mute: control("mute", "microphone", "Mute", () => this.call.mute(!this.call.isMuted)),
            camera: control("camera", "video", "Camera", () => this.#try("camera", () => this.call.setCamera(!this.call.hasCamera))),
            hold: control("hold", "pause", "Hold", () => this.call.hold(!this.call.held)),
            share: navigator.mediaDevices?.getDisplayMedia && control("share", "screen", "Share your screen",
                () => this.#try("screen", () => this.call.setSharing(!this.call.isSharing))),
            devices: control("devices", "sliders", "Microphone, camera and speaker", () => this.#open("devices")),
            details: control("details", "chart", "Connection details", () => this.#open("details")),
            hangUp: control("hang-up", "hangUp", "Hang up", () => this.call.hangUp(), "danger"),
        };
    }

    // Showing

    #show() {
        const { call } = this;
        const { section, name, status, remote, self, face, controls, bar, after } = this.#parts;
        const ended = call.phase === "ended";
        section.dataset.phase = call.phase;
        section.dataset.connection = call.connection;
        section.dataset.call = call.id ?? "";
        name.textContent = call.other.displayName;
        status.textContent = this.#otherState(progress(call));
        const media = call.otherMedia;
        const seesOther = !ended && !call.held && !call.heldByOther && call.phase === "active"
            && Boolean(media?.video || media?.screen);
        section.dataset.picture = String(seesOther);
        section.dataset.screen = String(Boolean(media?.screen));
        face.hidden = seesOther;
        if (remote.srcObject !== call.remote) remote.srcObject = call.remote;
        remote.muted = call.held || call.heldByOther || ended;
        this.#chooseSpeaker(remote);
        this.#showSelf(self, ended);
        this.#showControls(controls);
        bar.hidden = ended;
        after.hidden = !ended;
        if (ended) this.#closePanel();
    }

    #otherState(text) {
        const media = this.call.otherMedia;
        return text === "Connected" && media?.audio === false ? "Their microphone is off" : text;
    }

    #showSelf(self, ended) {
        const track = this.call.media.video;
        self.hidden = !track || ended;
        self.classList.toggle("mirrored", !this.call.isSharing);
        if (self.srcObject?.getTracks()[0] !== track) self.srcObject = track ? new MediaStream([track]) : null;
    }

    #showControls({ mute, camera, hold, share, details, devices }) {
        const { call } = this;
        set(mute, call.isMuted ? "microphoneOff" : "microphone", call.isMuted ? "Unmute (M)" : "Mute (M)", call.isMuted);
        set(camera, call.hasCamera ? "video" : "videoOff", call.hasCamera ? "Turn camera off (V)" : "Turn camera on (V)", !call.hasCamera);
        set(hold, call.held ? "play" : "pause", call.held ? "Resume (H)" : "Hold (H)", call.held);
        if (share) set(share, "screen", call.isSharing ? "Stop sharing" : "Share your screen", call.isSharing);
        set(details, "chart", "Connection details (D)", Boolean(this.#details));
        set(devices, "sliders", "Microphone, camera and speaker", Boolean(this.#devices));
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

    async #chooseSpeaker(element) {
        const id = preferences.get("speaker");
        if (element.setSinkId && id !== (element.sinkId ?? "")) await element.setSinkId(id).catch(() => {});
    }

    async #try(what, work) {
        try { await work(); } catch (error) {
            if (what !== "screen" || error.name !== "NotAllowedError") toast(inWords(error, what), { error: true });
        }
    }

    // Panels and keys

    #open(kind) {
        const wasOpen = kind === "details" ? this.#details : this.#devices;
        this.#closePanel();
        if (wasOpen) return;
        const { panel, section } = this.#parts;
        const close = () => { this.#closePanel(); this.#parts.controls[kind].focus(); };
        if (kind === "details") this.#details = new DetailsPanel(this.call, close);
        else this.#devices = devicesPanel(this.call, close);
        panel.replaceChildren(kind === "details" ? this.#details.node : this.#devices);
        panel.setAttribute("aria-label", kind === "details" ? "Connection" : "Devices");
        panel.hidden = false;
        section.classList.add("with-panel");
        this.#details?.show();
        panel.querySelector("h2").focus();
        this.#show();
    }

    #closePanel() {
        if (!this.#details && !this.#devices) return;
        this.#details = this.#devices = undefined;
        this.#parts.panel.hidden = true;
        this.#parts.panel.replaceChildren();
        this.#parts.section.classList.remove("with-panel");
        if (this.call.phase !== "ended") this.#show();
    }

    #key(event) {
        if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
        if (event.target.closest?.("input:not([type=checkbox]), select, textarea")) return;
        const { mute, camera, hold, details } = this.#parts.controls;
        const control = { m: mute, v: camera, h: hold, d: details }[event.key.toLowerCase()];
        if (event.key === "Escape") this.#closePanel();
        else if (control && this.call.phase !== "ended" && !control.disabled) {
            event.preventDefault();
            control.click();
        }
    }
}

/** The label says what a press would do, so nothing more is said about the state. */
function set(control, name, label, isOn) {
    if (control.dataset.icon !== name) {
        control.dataset.icon = name;
        control.replaceChildren(icon(name));
    }
    control.setAttribute("aria-label", label);
    control.title = label;
    control.classList.toggle("on", isOn);
}
