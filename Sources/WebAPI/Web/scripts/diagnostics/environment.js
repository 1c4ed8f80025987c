// What calls need besides ICE servers: permission for microphone and camera, and the connection to the server.

import { listDevices } from "../media.js";
import { realtime } from "../realtime.js";
import { median } from "./pings.js";

const REQUEST_COUNT = 5;

/** `{level, word, help}` for the `microphone` or the `camera`. */
export async function device(name) {
    if (!navigator.mediaDevices) {
        return { level: "bad", word: "Not available", help: "Browsers allow the microphone and camera on HTTPS pages only." };
    }
    const devices = await listDevices().catch(() => ({}));
    const state = await navigator.permissions?.query({ name }).then((status) => status.state, () => undefined);
    if (state === "denied") {
        return { level: "bad", word: "Blocked", help: `Allow the ${name} for this page in the browser’s site settings.` };
    }
    // Without permission browsers may list no devices, or devices without names.
    if (state === "granted" && !devices[name]?.length) {
        return { level: "bad", word: "Not found", help: `Connect a ${name}, or check whether the system hides it.` };
    }
    if (state === "granted") return { level: "good", word: "Allowed" };
    return { level: "unsure", word: "Not asked yet", help: "The browser asks when you place or accept the first call." };
}

const states = { online: "Connected", connecting: "Connecting", waiting: "Reconnecting", idle: "Not connected" };

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
    const word = states[realtime.state] ?? realtime.state;
    if (realtime.isOnline) return { level: "good", word, roundTrip: median(times) };
    return { level: "bad", word, help: "Without it calls cannot ring here. A proxy or a filter on this network may block WebSockets." };
}
