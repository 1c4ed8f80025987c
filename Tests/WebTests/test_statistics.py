"""media/statistics.js: samples of a connection's statistics, the quality of its tracks, and the report at the end."""

import pytest


def path(local="host", remote="srflx", **pair):
    return [
        {"id": "T", "type": "transport", "selectedCandidatePairId": "P"},
        {"id": "P", "type": "candidate-pair", "localCandidateId": "L", "remoteCandidateId": "R", **pair},
        {"id": "L", "type": "local-candidate", "candidateType": local, "protocol": "udp", "address": "192.0.2.1"},
        {"id": "R", "type": "remote-candidate", "candidateType": remote, "address": "192.0.2.2"},
    ]


def inbound(packets, lost=0, size=0, jitter=0.0, kind="audio", **rest):
    return {"id": f"in {kind}", "type": "inbound-rtp", "kind": kind, "trackIdentifier": f"track {kind}",
            "packetsReceived": packets, "packetsLost": lost, "bytesReceived": size, "jitter": jitter,
            **rest}  # fmt: skip


@pytest.fixture
def sample(run):
    """Takes a sample of each of the lists of reports, at intervals of two seconds: all samples, and the summary."""

    def take(*lists):
        return run("""
            const { Statistics } = await load("media/statistics.js");
            const { withVirtualTime } = await import("/tests/virtual-time.js");
            return withVirtualTime(async (time) => {
                const statistics = new Statistics();
                const samples = [];
                for (const reports of lists) {
                    const stats = new Map(reports.map((one) => [one.id, one]));
                    const sample = await statistics.sample({ getStats: async () => stats });
                    samples.push({ ...sample, streams: Object.fromEntries(sample.streams) });
                    await time.advance(2_000);
                }
                return { samples, summary: statistics.summary ?? null, count: statistics.series.length,
                    isLatest: statistics.series.at(-1) === statistics.latest };
            });
        """, lists=lists)

    return take


def test_rates_and_loss(sample):
    found = sample(
        [*path(), inbound(100, 0, 10_000)],
        [*path(currentRoundTripTime=0.025), inbound(190, 10, 35_000, 0.004)],
    )
    first, second = found["samples"]
    # Without a sample before there is no rate.
    assert (first["down"], first["loss"], first["packets"]) == (0, 0, 100)
    assert (second["down"], second["loss"], second["packets"], second["jitter"]) == (100_000, 0.1, 90, 4)
    assert second["streams"] == {"track audio": {"received": 90, "lost": 10, "jitter": 4, "rate": 100_000}}
    assert (second["local"], second["remote"], second["relayed"], second["roundTrip"]) == ("host", "srflx", False, 25)
    assert found["isLatest"]


def test_counters_that_go_back(sample):
    """A new connection counts from the beginning, and late packets lower the number of lost ones."""
    found = sample([*path(), inbound(1_000, 50, 100_000)], [*path(), inbound(20, 0, 2_000)])
    second = found["samples"][1]
    assert (second["down"], second["loss"], second["packets"], second["lost"]) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("local", "remote", "relayed"), [("relay", "host", True), ("host", "relay", True), ("srflx", "prflx", False)]
)
def test_relayed(sample, local, remote, relayed):
    found = sample(path(local, remote))
    assert found["samples"][0]["relayed"] is relayed
    assert found["summary"]["relayed"] is relayed


def test_a_browser_without_the_selected_pair(sample):
    """Firefox: the nominated pair that has succeeded."""
    _, pair, *candidates = path("relay")
    failed = {**pair, "id": "Q", "nominated": False, "state": "succeeded", "localCandidateId": "R"}
    found = sample([failed, {**pair, "nominated": True, "state": "succeeded"}, *candidates])
    assert (found["samples"][0]["local"], found["samples"][0]["relayed"]) == ("relay", True)


def test_without_a_connection(sample):
    found = sample([], [inbound(10)])
    assert found["summary"] is None
    assert found["samples"][0] == {"relayed": False, "up": 0, "down": 0, "received": 0, "lost": 0, "jitter": 0,
                                   "packets": 0, "streams": {}, "sent": [], "loss": 0}  # fmt: skip


def test_the_largest_video_with_a_frame_rate(sample):
    codec = {"id": "C", "type": "codec", "mimeType": "video/VP8"}
    videos = [
        inbound(1, kind="video", codecId="C", frameWidth=320, frameHeight=180, framesPerSecond=30),
        {**inbound(1, kind="video", frameWidth=1280, frameHeight=720), "id": "still"},
        {**inbound(1, kind="video", codecId="C", frameWidth=640, frameHeight=360, framesPerSecond=15), "id": "larger"},
    ]
    found = sample([*path(), codec, *videos])["samples"][0]
    assert found["videoIn"] == {"codec": "VP8", "width": 640, "height": 360, "rate": 15}


def test_the_last_minute_is_kept(sample):
    found = sample(*[path(bytesSent=number) for number in range(65)])
    assert (found["count"], found["isLatest"]) == (60, True)
    assert found["summary"]["sent"] == 64


def test_the_summary(sample):
    found = sample(
        [*path(currentRoundTripTime=0.02, bytesSent=1_000, bytesReceived=3_000), inbound(90, 10, jitter=0.002)],
        [*path(currentRoundTripTime=0.04, bytesSent=2_000, bytesReceived=6_000), inbound(190, 10, jitter=0.006)],
    )
    assert found["summary"] == {"loss": 10 / 200, "jitter": 4, "roundTrip": 30, "relayed": False, "sent": 2_000,
                                "received": 6_000, "seconds": 4}  # fmt: skip


# Runs `expression` with functions that make samples.
QUALITY = """
    const { qualityOf, ownQuality } = await load("media/statistics.js");
    const stream = (received, lost, jitter = 0) => ({ received, lost, jitter, rate: 1_000 });
    const sample = (streams) => ({ streams: new Map(Object.entries(streams)) });
"""


@pytest.mark.parametrize(
    ("received", "lost", "jitter", "level"),
    [(1_000, 0, 0, 3), (975, 25, 60, 3), (974, 26, 0, 2), (920, 80, 0, 2), (919, 81, 0, 1), (100, 0, 61, 2),
     (100, 0, 120, 2), (100, 0, 121, 1), (0, 5, 0, 1)],
)  # fmt: skip
def test_levels_of_quality(run, received, lost, jitter, level):
    script = QUALITY + 'return qualityOf(sample({ a: stream(received, lost, jitter) }), ["a"]).level;'
    assert run(script, received=received, lost=lost, jitter=jitter) == level


def test_the_quality_of_several_tracks(run):
    assert run(QUALITY + """
        const both = sample({ a: stream(90, 10, 5), b: stream(100, 0, 30), silent: stream(0, 0, 500) });
        return [["a", "b", "silent", "unknown"], ["silent", "unknown"], []]
            .map((tracks) => qualityOf(both, tracks) ?? null);
    """) == [{"level": 2, "loss": 0.05, "jitter": 30, "rate": 2_000}, None, None]


def test_own_quality(run):
    """The worst of what the receiver reports; unknown while nothing is sent."""
    assert run(QUALITY + """
        const sent = [{ loss: 0.09, jitter: 5 }, { loss: 0, jitter: 50 }];
        return [{ sent, up: 64_000 }, { sent, up: 0 }, { sent: [], up: 64_000 }].map((one) => ownQuality(one) ?? null);
    """) == [{"level": 1, "loss": 0.09, "jitter": 50, "rate": 64_000}, None, None]
