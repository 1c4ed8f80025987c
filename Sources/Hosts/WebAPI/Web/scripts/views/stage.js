// Over everything: the call that this tab is in, and a line for one that is on hold.

import { calls } from "../calls.js";
import { announce, toast } from "../dom.js";
import { player } from "../ring.js";
import { progress } from "../format.js";
import { CallView } from "./call-view.js";

/** How long the last words of a call stay, in milliseconds. What asks for another try stays until it is closed. */
const FAREWELL = 4_000;

export function showCalls(stage) {
    let view;
    const show = () => {
        const call = calls.current;
        if (view?.call !== call) {
            view?.close();
            view = call ? new CallView(call) : undefined;
            stage.replaceChildren(...(view ? [view.node] : []));
            document.getElementById("app").inert = Boolean(view);
            if (view) view.focus(); else document.getElementById("main")?.focus();
            if (call) follow(call);
        }
        view?.showHeld(calls.active.slice(1).filter((other) => other.phase !== "ended"));
        sound(calls.current);
    };
    calls.on("calls", show);
    calls.on("ended", (call) => {
        const isBehind = call !== calls.current;
        const isPlain = ["Call ended", "Cancelled", "You left the call"].includes(call.ending);
        const others = calls.active.some((other) => other !== call && other.phase !== "ended");
        if (isBehind || others) {
            toast(`${call.title}: ${call.ending}`);
            return calls.remove(call);
        }
        if (isPlain) setTimeout(() => calls.remove(call), FAREWELL);
        sound(call);
    });
    addEventListener("beforeunload", (event) => {
        // Closing the tab would leave the other person waiting.
        if (calls.active.some((call) => call.phase === "active")) event.preventDefault();
    });
}

const followed = new WeakSet();

/** Says aloud what becomes of a call, each thing once. */
function follow(call) {
    if (followed.has(call)) return;
    followed.add(call);
    let said;
    call.on("change", () => {
        if (call !== calls.current) return;
        const text = progress(call);
        if (text !== said) announce(text);
        said = text;
        sound(call);
    });
}

function sound(call) {
    if (calls.rings.size > 0) return;
    player.play(call && ["calling", "ringing"].includes(call.phase) ? "ringback" : undefined);
}
