// Choosing a microphone, a camera and a speaker during a call.

import { errorMessage } from "../connection/problems.js";
import { button, h, toast } from "../elements/dom.js";
import { redraw } from "../elements/keyed.js";
import { t } from "../language/texts.js";
import { listDevices } from "../media/local-media.js";
import { preferences } from "../store/preferences.js";

const kinds = ["microphone", "camera", "speaker"];

export function devicesPanel(call, close) {
    const fields = h("div", { class: "device-fields" });
    const node = h("div", { id: "devices-panel" },
        h("div", { class: "panel-head" }, h("h2", { tabindex: "-1" }, t("devices.title")),
            button({ name: "close", label: t("common.close"), bare: true, class: "round glass", data: { action: "close-panel" }, onclick: close })),
        fields);
    const fill = async () => {
        const devices = await listDevices();
        redraw(fields, kinds.map((kind) => choice(kind, t(`device.${kind}`), devices[kind], call)));
    };
    fill();
    const media = navigator.mediaDevices;
    const refill = () => { if (node.isConnected) fill(); else media.removeEventListener("devicechange", refill); };
    media?.addEventListener("devicechange", refill);
    return node;
}

function choice(kind, label, devices, call) {
    const id = `choose-${kind}`;
    const options = devices.map((device) => h("option", { value: device.id }, device.name));
    const select = h("select", { id, disabled: devices.length === 0 },
        devices.length > 0 ? options : h("option", {}, kind === "speaker" ? t("devices.bySystem") : t("devices.none")));
    const chosen = preferences.get(kind);
    if (devices.some((device) => device.id === chosen)) select.value = chosen;
    select.addEventListener("change", async () => {
        try { await call.changeDevice(kind, select.value); } catch (error) { toast(errorMessage(error, kind), { error: true }); }
    });
    return h("div", { class: "field" }, h("label", { for: id }, label), select);
}
