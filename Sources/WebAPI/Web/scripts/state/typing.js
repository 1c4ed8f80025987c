// Who is writing. Somebody who is says so again within two seconds; who has not for three has stopped.

const SHOWN = 3_500;

/** `writers` is by user until when they are shown, in the milliseconds of `now`. */
export function applyTyping(writers, { user, state }, now) {
    const { [user]: _, ...others } = writers;
    return state === "stopped" ? others : { ...others, [user]: { state, until: now + SHOWN } };
}

export const currentWriters = (writers, now) =>
    Object.fromEntries(Object.entries(writers).filter(([, { until }]) => until > now));

/** When the next of them stops, or undefined. */
export function nextStop(writers) {
    const times = Object.values(writers).map(({ until }) => until);
    return times.length > 0 ? Math.min(...times) : undefined;
}
