// What the buttons of a ring's notification do: the service worker has no tokens, and tells a tab.

import { calls } from "../calls/calls.js";
import { realtime } from "../connection/realtime.js";
import { toast } from "../elements/dom.js";
import { t } from "../language/texts.js";

/** For so long a page that was just opened connects. */
const CONNECTION_TIME = 20_000;

export function watchRingActions() {
    navigator.serviceWorker?.addEventListener("message", ({ data, ports }) => {
        if (data?.answer) answerCall(data.answer);
        if (data?.decline) ports[0].postMessage(declined(data.decline));
    });
}

/**
 * Answers a call that rings, as soon as this page is connected. Where the browser would ask for microphone or camera, or
 * another call is in progress, the user has to choose first: the call rings here.
 */
export async function answerCall(id) {
    if (!calls.rings.has(id)) {
        await isConnected();
        await calls.fetch(id);
    }
    const ring = calls.rings.get(id);
    if (calls.has(id)) return;
    if (!ring) return toast(t("ring.over"));
    if (calls.active.some((call) => call.phase !== "ended")) return;
    const devices = ring.kind === "video" ? ["microphone", "camera"] : ["microphone"];
    const granted = await Promise.all(devices.map(isGranted));
    if (granted.includes(false) || !calls.rings.has(id)) return;
    await calls.accept(ring, { video: ring.kind === "video" });
}

/** Whether that call rang here. */
function declined(id) {
    const ring = calls.rings.get(id);
    if (ring) calls.decline(ring);
    return ring !== undefined;
}

function isConnected() {
    if (realtime.isOnline) return undefined;
    return new Promise((resolve) => {
        const stop = realtime.on("state", (state) => { if (state === "online") end(); });
        const timer = setTimeout(() => end(), CONNECTION_TIME);
        const end = () => {
            stop();
            clearTimeout(timer);
            resolve();
        };
    });
}

/** Not every browser tells. */
const isGranted = async (name) => (await navigator.permissions?.query({ name }).catch(() => undefined))?.state === "granted";
