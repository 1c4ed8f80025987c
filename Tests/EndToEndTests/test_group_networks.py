"""Group calls with one leg on a bad network: it gets what the network can carry, and nobody else is affected."""

import itertools

import pytest
from arrivals import Arrivals
from camera import write_noise_film
from switchboard_tests.browsers.pages import connect_group, everybody_receives_media
from switchboard_tests.impaired_link import Impairments
from switchboard_tests.namespaces import PORT_RESTRICTED

pytestmark = pytest.mark.alone

pytest_plugins = ["distant"]

BAD = Impairments(loss=0.1, jitter=0.03, reordered=0.05, late=0.02)

# Low frame rates, so that a machine that encodes and decodes all video has CPU time left for the network.
RATE = 10
SLOW = [f"--use-fake-device-for-media-stream=fps={RATE}"]
# The height of Ben's best layer. A page that is short of CPU time may send fewer frames, but no smaller ones.
BEST = 360
KEEP_SIZE = """
const [done] = arguments;
const sender = window.peers.at(-1).getSenders().find(({ track }) => track?.kind === "video");
sender.setParameters({ ...sender.getParameters(), degradationPreference: "maintain-resolution" }).then(done);
"""


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    return write_noise_film(tmp_path_factory.mktemp("film") / "noise.y4m", RATE)


@pytest.fixture
def three(person, film, request):
    """Ann, whose network is impaired, Ben, whose video needs a high bit rate, and Cem, in a call."""
    ann = person("Ann Abel", PORT_RESTRICTED, flags=SLOW, seed=getattr(request, "param", None))
    ben = person("Ben Brook", PORT_RESTRICTED, flags=film, save_data=False)
    cem = person("Cem Can", PORT_RESTRICTED, flags=SLOW)
    connect_group(ann, ben, cem)
    everybody_receives_media([ann, ben, cem])
    ben.driver.execute_async_script(KEEP_SIZE)
    return ann, ben, cem


class Watch:
    """What everybody has received since `begin`."""

    def __init__(self, people):
        self.arrivals = {one: Arrivals(one) for one in people}
        self.begin()

    def begin(self):
        self.since = {one: arrivals.now() for one, arrivals in self.arrivals.items()}

    def flow(self, one, other):
        """How much the statistics of the other's video and audio have grown, and how long both pages were starved.

        A page without CPU time sends and shows nothing, whatever the network does.
        """
        video, voice = (self.arrivals[one].growth(other, kind, self.since[one]) for kind in ("video", "audio"))
        starved = sum(self.arrivals[each].starved(self.since[each]) for each in (one, other))
        print(f"{one.name} of {other.name}: {video}, {voice}, {starved:.2f} s starved")
        return video, voice, starved

    def heights(self, one, other, last):
        """The heights of the other's video in the last seconds, once that many have passed."""
        arrivals = self.arrivals[one]
        now = arrivals.now()
        samples = arrivals.of(other, "video", now - last)
        return {each["frameHeight"] for each in samples} if now - self.since[one] > last else set()

    def is_unaffected(self, one, other, has_video=True):
        video, voice, starved = self.flow(one, other)
        assert video["packetsLost"] == video["nackCount"] == voice["packetsLost"] == 0
        if has_video:
            assert video["framesDecoded"] > 5 * (video["at"] - starved)
            # A freeze is measured from one frame to the next, so it includes a normal frame interval.
            assert video["totalFreezesDuration"] <= starved + video["freezeCount"] / RATE
        assert voice["concealedSamples"] <= 0.02 * voice["totalSamplesReceived"] + 48_000 * starved

    def is_repaired(self, one, other):
        video, voice, starved = self.flow(one, other)
        # Without retransmissions, two of five large frames would miss a packet, and each would freeze until a key
        # frame.
        assert video["nackCount"] > 0 and video["retransmittedPacketsReceived"] > 0
        assert video["framesDecoded"] > 5 * (video["at"] - starved)
        assert video["totalFreezesDuration"] < 0.2 * video["at"] + starved
        # Opus conceals lost audio.
        assert voice["packetsLost"] > 0 and voice["packetsReceived"] > 30 * (voice["at"] - starved)
        assert 0 < voice["concealedSamples"] < 0.2 * voice["totalSamplesReceived"] + 48_000 * starved


def test_a_throttled_leg_gets_smaller_video_and_nobody_else_is_affected(three):
    ann, ben, cem = three
    # A second video would exceed the throttled rate.
    cem.control("camera")
    watch = Watch(three)
    page = watch.arrivals[ann]
    # For ten seconds without a break, since a layer that was dropped soon after an upgrade is retried later.
    for one in (ann, cem):
        one.browser.wait("the best layer for a while", lambda: watch.heights(one, ben, last=10) == {BEST}, 90)

    watch.begin()
    began = watch.since[ann]
    ann.browser.network.throttle("300kbit")
    page.wait(10)
    lifted = page.now()
    ann.browser.network.unthrottle()
    page.wait(11)

    seen = page.of(ben, "video", began)
    changes = [after for before, after in itertools.pairwise(seen) if before["frameHeight"] != after["frameHeight"]]
    print([(round(one["at"] - began, 1), one["frameHeight"]) for one in changes], "lifted at", round(lifted - began, 1))
    assert any(one["frameHeight"] < BEST for one in seen if one["at"] < began + 3)
    # The smaller video moves, and the audio is received.
    picture = page.growth(ben, "video", began + 5, lifted)
    starved = sum(watch.arrivals[one].starved(watch.since[one]) for one in (ann, ben))
    assert picture["framesDecoded"] > 5 * (picture["at"] - starved)
    for other in (ben, cem):
        voice = page.growth(other, "audio", began + 5, lifted)
        assert voice["concealedSamples"] < 0.2 * voice["totalSamplesReceived"] + 48_000 * starved
    assert any(one["frameHeight"] == BEST for one in seen if lifted < one["at"] < lifted + 10)

    assert {one["frameHeight"] for one in watch.arrivals[cem].of(ben, "video", watch.since[cem])} == {BEST}
    for one, other in ((ben, ann), (ben, cem), (cem, ann), (cem, ben)):
        watch.is_unaffected(one, other, has_video=other is not cem)


@pytest.mark.parametrize("three", [20261122], ids=["seed"], indirect=True)
def test_loss_is_repaired_and_nobody_else_is_affected(three):
    ann, ben, cem = three
    # Otherwise the others would rightly miss a tenth of her audio.
    ann.control("mute")
    for other in (ben, cem):
        other.tile_is(ann, muted="true")

    link = ann.browser.network.link
    link.impair(up=BAD, down=BAD)
    before = link.counts()
    watch = Watch(three)
    watch.arrivals[ann].wait(20)
    after = link.counts()
    print(before, after)

    # The network lost as many packets as it was told to, and no others.
    for direction in ("up", "down"):
        assert after[direction]["dropped"] == 0
        number = after[direction]["datagrams"] - before[direction]["datagrams"]
        assert 0.07 * number < after[direction]["lost"] - before[direction]["lost"] < 0.13 * number
        assert after[direction]["reordered"] > before[direction]["reordered"]
    watch.is_repaired(ann, ben)
    watch.is_repaired(ann, cem)
    watch.is_unaffected(ben, cem)
    watch.is_unaffected(cem, ben)

    link.impair()
    ann.sees(ben, cem)
