// A clock that a test moves, in place of the page's.

/**
 * Runs `work(time)` with timers, `performance.now` and `Date.now` that stand still until `time.advance(milliseconds)`,
 * and with a `Math.random` that returns 0.
 */
export async function withVirtualTime(work) {
    const native = { setTimeout, clearTimeout, setInterval, clearInterval };
    const [dateNow, random] = [Date.now, Math.random];
    // Promises run before the message that follows them; nested timers of the browser would take 4 ms each.
    const { port1, port2 } = new MessageChannel();
    const settle = () => new Promise((resolve) => {
        port1.onmessage = resolve;
        port2.postMessage(undefined);
    });
    const timers = new Map();
    let now = 1_000_000;
    let last = 0;
    const add = (callback, delay = 0, period) => {
        timers.set(last += 1, { callback, at: now + Math.max(0, delay), period });
        return last;
    };
    const remove = (id) => { timers.delete(id); };
    Object.assign(window, { setTimeout: (callback, delay) => add(callback, delay), clearTimeout: remove,
        setInterval: (callback, delay) => add(callback, delay, delay), clearInterval: remove });
    performance.now = () => now;
    Date.now = () => 1_700_000_000_000 + now;
    Math.random = () => 0;
    const time = {
        settle,
        /** How many timers are running. */
        get timerCount() { return timers.size; },
        async advance(milliseconds) {
            const end = now + milliseconds;
            await settle();
            for (;;) {
                const due = [...timers].filter(([, { at }]) => at <= end);
                if (due.length === 0) break;
                const [id, timer] = due.sort(([, one], [, other]) => one.at - other.at)[0];
                now = timer.at;
                if (timer.period === undefined) timers.delete(id); else timer.at += Math.max(1, timer.period);
                timer.callback();
                await settle();
            }
            now = end;
        },
    };
    try { return await work(time); } finally {
        port1.close();
        Object.assign(window, native);
        delete performance.now;
        Date.now = dateNow;
        Math.random = random;
    }
}
