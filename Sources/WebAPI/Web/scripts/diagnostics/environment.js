// What calls need besides ICE servers: permission for microphone and camera, and the connection to the server.

import { realtime } from "../connection/realtime.js";
import { t } from "../language/texts.js";
import { listDevices } from "../media/local-media.js";
import { median } from "./pings.js";

const REQUEST_COUNT = 5;

/** `{level, word, help}` for the `microphone` or the `camera`. */
export async function device(name) {
    if (!navigator.mediaDevices) {
        return { level: "bad", word: t("environment.unavailable"), help: t("environment.needsHTTPS") };
    }
    const devices = await listDevices().catch(() => ({}));
    const state = await navigator.permissions?.query({ name }).then((status) => status.state, () => undefined);
    if (state === "denied") {
        return { level: "bad", word: t("environment.blocked"), help: t(`allowDevice.${name}`) };
    }
    // Without permission browsers may list no devices, or devices without names.
    if (state === "granted" && !devices[name]?.length) {
        return { level: "bad", word: t("environment.notFound"), help: t(`connectDevice.${name}`) };
    }
    if (state === "granted") return { level: "good", word: t("environment.allowed") };
    return { level: "unsure", word: t("environment.notAsked"), help: t("environment.asks") };
}

/** The connection over which calls ring: `{level, word, roundTrip, help}`. */
export async function connection() {
    const times = [];
    for (let number = 0; number < REQUEST_COUNT && realtime.isOnline; number += 1) {
        const began = performance.now();
        try {
            await realtime.request("me.get", {});
            times.push(performance.now() - began);
        } catch { break; }
    }
    const word = t(`realtime.${realtime.state}`);
    if (realtime.isOnline) return { level: "good", word, roundTrip: median(times) };
    return { level: "bad", word, help: t("environment.noConnection") };
}
