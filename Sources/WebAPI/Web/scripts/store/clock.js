// The server's time, estimated here: durations must be right even where the device's clock is wrong.

import { Emitter } from "../state/emitter.js";

/** Smaller corrections are no news. */
const TOLERANCE = 1_000;

let offset = 0;
let isSet = false;

/** Event: `set`, the first time and when the device's clock was changed: what is due may be another. */
export const clock = new Emitter();

export function setServerTime(text) {
    const then = Date.parse(text);
    if (!Number.isFinite(then)) return;
    const [before, wasSet] = [offset, isSet];
    offset = then - Date.now();
    isSet = true;
    if (!wasSet || Math.abs(offset - before) > TOLERANCE) clock.emit("set");
}

/** How far the server's clock is ahead, in milliseconds, to be restored by the next page. */
export const clockOffset = () => offset;
export const restoreClock = (milliseconds = 0) => { if (!isSet) offset = milliseconds; };

/**
 * A time that has surely come, where content is removed for good: the device's clock may have been set since the server
 * was last asked.
 */
export const certainNow = () => serverNow() - (isSet ? 0 : 86_400_000);

/** The server's time now, in milliseconds since 1970. */
export const serverNow = () => Date.now() + offset;

/** Milliseconds on a clock that never jumps: for deadlines within this page. */
export const monotonicNow = () => performance.now();
