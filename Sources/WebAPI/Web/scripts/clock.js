// The server's time, estimated here: durations must be right even where the device's clock is wrong.

let offset = 0;

export function setServerTime(text) {
    const then = Date.parse(text);
    if (Number.isFinite(then)) offset = then - Date.now();
}

/** The server's time now, in milliseconds since 1970. */
export const serverNow = () => Date.now() + offset;

/** Milliseconds on a clock that never jumps: for deadlines within this page. */
export const monotonicNow = () => performance.now();
