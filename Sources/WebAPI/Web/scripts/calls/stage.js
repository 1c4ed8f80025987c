// The call screen above the pages, beside them or in a corner, with a line for a call on hold.

import { announce, toast } from "../elements/dom.js";
import { progress } from "../language/format.js";
import { t } from "../language/texts.js";
import { callLayout } from "./call-layout.js";
import { CallView } from "./call-view.js";
import { calls } from "./calls.js";
import { player } from "./ring.js";

/** How long the end of a call is shown, in milliseconds. A screen with "call again" stays until it is closed. */
const END_SCREEN_TIME = 4_000;

let refresh = () => {};

/** Draws the call's screen anew, in another language. */
export const refreshCalls = () => refresh();

export function showCalls(stage) {
    let view;
    const show = ({ isAnew = false } = {}) => {
        const call = calls.current;
        if (view?.call !== call || isAnew && call) {
            view?.close();
            view = call ? new CallView(call) : undefined;
            stage.replaceChildren(...(view ? [view.node] : []));
            if (isAnew) arrange();
            else if (view) callLayout.begin();
            else callLayout.end();
            if (call) announceStatus(call);
        }
        view?.showHeld(calls.active.slice(1).filter((other) => other.phase !== "ended"));
        updateTone(calls.current);
    };
    const arrange = () => {
        const layout = view ? callLayout.value : undefined;
        const app = document.getElementById("app");
        if (layout) document.documentElement.dataset.call = layout; else delete document.documentElement.dataset.call;
        app.inert = layout === "full";
        view?.arrange(layout);
        if (layout === "full") view.focus();
        else if (!app.contains(document.activeElement)) document.getElementById("main")?.focus({ preventScroll: true });
    };
    callLayout.on("change", arrange);
    refresh = () => show({ isAnew: true });
    calls.on("calls", () => show());
    calls.on("ended", (call) => {
        const isBehind = call !== calls.current;
        const isPlain = [t("ending.ended"), t("ending.cancelled"), t("ending.left")].includes(call.ending);
        const others = calls.active.some((other) => other !== call && other.phase !== "ended");
        if (isBehind || others) {
            toast(t("ending.of", { name: call.title, ending: call.ending }));
            return calls.remove(call);
        }
        if (isPlain) setTimeout(() => calls.remove(call), END_SCREEN_TIME);
        updateTone(call);
    });
    addEventListener("beforeunload", (event) => {
        // Closing the tab would leave the other person waiting.
        if (calls.active.some((call) => call.phase === "active")) event.preventDefault();
    });
}

const announcing = new WeakSet();

/** Announces the call's status to screen readers, each change once. */
function announceStatus(call) {
    if (announcing.has(call)) return;
    announcing.add(call);
    let announced;
    call.on("change", () => {
        if (call !== calls.current) return;
        const text = progress(call);
        if (text !== announced) announce(text);
        announced = text;
        updateTone(call);
    });
}

function updateTone(call) {
    if (calls.rings.size > 0) return;
    player.play(call && ["calling", "ringing"].includes(call.phase) ? "ringback" : undefined);
}
