"""Samples what a page receives from everybody in a group call, every 100 ms in the page itself.

Polling from the test would be late on a busy machine; the page's own clock says when something changed.
"""

# The seconds for which the page was starved of CPU time are recorded too: its own media is delayed as long.
WATCH = """
const [done] = arguments;
const FIELDS = [
    "packetsReceived", "packetsLost", "retransmittedPacketsReceived", "nackCount", "pliCount", "frameHeight",
    "framesDecoded", "freezeCount", "totalFreezesDuration", "totalSamplesReceived", "concealedSamples",
];
const { calls } = globalThis.switchboard;
window.arrivals = [];
let starved = 0;
let due = performance.now();
const sample = async () => {
    starved += Math.max(0, performance.now() - due - 150) / 1000;
    due = performance.now();
    const reports = [...(await window.peers.at(-1).getStats()).values()];
    const streams = {};
    for (const { user, kind, track } of calls.current?.received ?? []) {
        const one = reports.find((one) => one.type === "inbound-rtp" && one.trackIdentifier === track.id);
        if (one) streams[`${user} ${kind}`] = Object.fromEntries(FIELDS.map((name) => [name, one[name] ?? 0]));
    }
    window.arrivals.push({ at: performance.now() / 1000, starved, streams });
    setTimeout(sample, 100);
};
sample().then(done);
"""

BETWEEN = "return window.arrivals.filter(({ at }) => at >= arguments[0] && at < (arguments[1] ?? Infinity))"


class Arrivals:
    """What one person receives from others, from now on. Times are the page's, in seconds."""

    def __init__(self, person):
        self.driver = person.driver
        self.driver.execute_async_script(WATCH)

    def now(self):
        return self.driver.execute_script("return performance.now() / 1000")

    def wait(self, seconds):
        """Lets time pass in the page."""
        self.driver.execute_async_script("setTimeout(arguments[1], arguments[0] * 1000)", seconds)

    def of(self, other, kind, since=0, until=None):
        """The samples of a stream, oldest first: `at`, and fields of WebRTC's statistics."""
        stream = f"{other.user} {kind}"
        samples = self._samples(since, until)
        return [{"at": one["at"], **one["streams"][stream]} for one in samples if stream in one["streams"]]

    def growth(self, other, kind, since, until=None):
        """How much every field has grown in that period."""
        samples = self.of(other, kind, since, until)
        return {name: samples[-1][name] - samples[0][name] for name in samples[0]}

    def starved(self, since, until=None):
        """How long the page was starved of CPU time in that period."""
        samples = self._samples(since, until)
        return samples[-1]["starved"] - samples[0]["starved"]

    def _samples(self, since, until):
        return self.driver.execute_script(BETWEEN, since, until)
