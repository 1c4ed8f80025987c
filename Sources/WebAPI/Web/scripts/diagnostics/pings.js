// Round trips over a data channel whose other end echoes every message.

const COUNT = 20;
const INTERVAL = 50;
/** Messages that are not echoed within this time are lost. */
const TIMEOUT = 1_000;

/** Returns `{sent, received, median}`, the median round trip in milliseconds. */
export async function exchangePings(channel, signal) {
    const sentAt = [];
    const times = [];
    let finish;
    const all = new Promise((resolve) => { finish = resolve; });
    channel.onmessage = ({ data }) => {
        const number = Number(data);
        if (sentAt[number] === undefined) return;
        times.push(performance.now() - sentAt[number]);
        sentAt[number] = undefined;
        if (times.length === COUNT) finish();
    };
    for (let number = 0; number < COUNT; number += 1) {
        signal.throwIfAborted();
        if (channel.readyState !== "open") break;
        sentAt[number] = performance.now();
        channel.send(String(number));
        await pause(INTERVAL);
    }
    await Promise.race([all, pause(TIMEOUT)]);
    return { sent: sentAt.length, received: times.length, median: median(times) };
}

export function median(values) {
    if (values.length === 0) return undefined;
    const sorted = values.toSorted((one, other) => one - other);
    const middle = sorted.length >> 1;
    return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
