// The server's time, estimated here: durations must be right even where the device's clock is wrong.

let offset = 0;
let isSet = false;

export function setServerTime(text) {
    const then = Date.parse(text);
    if (!Number.isFinite(then)) return;
    offset = then - Date.now();
    isSet = true;
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
