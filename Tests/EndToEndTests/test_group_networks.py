"""Group calls in which one leg goes over a bad network: it gets what comes through, and nobody else notices."""

import pytest

from arrivals import Arrivals
from camera import restless
from namespaces import PORT_RESTRICTED
from pages import everybody_sees_and_hears, meet
from impaired_link import Faults

pytest_plugins = ["distant"]

BAD = Faults(loss=0.1, jitter=0.03, reordered=0.05, late=0.02)

# Cameras as slow as in the dark: a machine that makes and shows all pictures leaves enough time for the network's part.
RATE = 10
SLOW = [f"--use-fake-device-for-media-stream=fps={RATE}"]
# The height of Ben's best layer. A page that is short of time may send fewer pictures, but no smaller ones.
BEST = 360
KEEP_SIZE = """
const [done] = arguments;
const sender = window.peers.at(-1).getSenders().find(({ track }) => track?.kind === "video");
sender.setParameters({ ...sender.getParameters(), degradationPreference: "maintain-resolution" }).then(done);
"""


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    return restless(tmp_path_factory.mktemp("film") / "restless.y4m", RATE)


@pytest.fixture
def three(person, film, request):
    """Ann, whose network it is about, Ben, whose picture needs much, and Cem, in a call."""
    ann = person("Ann Abel", PORT_RESTRICTED, flags=SLOW, seed=getattr(request, "param", None))
    ben = person("Ben Brook", PORT_RESTRICTED, flags=film, save_data=False)
    cem = person("Cem Can", PORT_RESTRICTED, flags=SLOW)
    meet(ann, ben, cem)
    everybody_sees_and_hears([ann, ben, cem])
    ben.driver.execute_async_script(KEEP_SIZE)
    return ann, ben, cem


class Watch:
    """What everybody has received since it began."""

    def __init__(self, people):
        self.arrivals = {one: Arrivals(one) for one in people}
        self.begin()

    def begin(self):
        self.since = {one: arrivals.now() for one, arrivals in self.arrivals.items()}

    def flow(self, one, other):
        """How much the statistics of the other's picture and voice have grown, and how long both pages could do nothing.

        A page that does not come to its turn sends and shows nothing, whatever the network does.
        """
        video, voice = (self.arrivals[one].growth(other, kind, self.since[one]) for kind in ("video", "audio"))
        starved = sum(self.arrivals[each].starved(self.since[each]) for each in (one, other))
        print(f"{one.name} of {other.name}: {video}, {voice}, {starved:.2f} s waited for a turn")
        return video, voice, starved

    def heights(self, one, other, last):
        """Of the other's pictures in the last seconds, once there are so many."""
        arrivals = self.arrivals[one]
        now = arrivals.now()
        samples = arrivals.of(other, "video", now - last)
        return {each["frameHeight"] for each in samples} if now - self.since[one] > last else set()

    def is_untouched(self, one, other, shows=True):
        video, voice, starved = self.flow(one, other)
        assert video["packetsLost"] == video["nackCount"] == voice["packetsLost"] == 0
        if shows:
            assert video["framesDecoded"] > 5 * (video["at"] - starved)
            # A freeze is told from one picture to the next, with the time that lies between any two.
            assert video["totalFreezesDuration"] <= starved + video["freezeCount"] / RATE
        assert voice["concealedSamples"] <= 0.02 * voice["totalSamplesReceived"] + 48_000 * starved

    def is_repaired(self, one, other):
        video, voice, starved = self.flow(one, other)
        # Without repairs, two of five large pictures would lack a packet, and each would stand still for a key frame.
        assert video["nackCount"] > 0 and video["retransmittedPacketsReceived"] > 0
        assert video["framesDecoded"] > 5 * (video["at"] - starved)
        assert video["totalFreezesDuration"] < 0.2 * video["at"] + starved
        # Opus makes up what is lost of a voice.
        assert voice["packetsLost"] > 0 and voice["packetsReceived"] > 30 * (voice["at"] - starved)
        assert 0 < voice["concealedSamples"] < 0.2 * voice["totalSamplesReceived"] + 48_000 * starved


def test_who_is_throttled_gets_a_smaller_picture_and_nobody_else_notices(three):
    ann, ben, cem = three
    # With a second picture, what is left would not go through.
    cem.control("camera")
    watch = Watch(three)
    page = watch.arrivals[ann]
    # For ten seconds on end, since a layer that had just come and has to go is tried again later than others.
    for one in (ann, cem):
        one.browser.wait("the best picture for a while", lambda: watch.heights(one, ben, last=10) == {BEST}, 90)

    watch.begin()
    began = watch.since[ann]
    ann.browser.network.throttle("300kbit")
    page.wait(10)
    lifted = page.now()
    ann.browser.network.unthrottle()
    page.wait(11)

    seen = page.of(ben, "video", began)
    changes = [after for before, after in zip(seen, seen[1:]) if before["frameHeight"] != after["frameHeight"]]
    print([(round(one["at"] - began, 1), one["frameHeight"]) for one in changes], "lifted at", round(lifted - began, 1))
    assert any(one["frameHeight"] < BEST for one in seen if one["at"] < began + 3)
    # What is left of the picture moves, and the voices are heard.
    picture = page.growth(ben, "video", began + 5, lifted)
    starved = sum(watch.arrivals[one].starved(watch.since[one]) for one in (ann, ben))
    assert picture["framesDecoded"] > 5 * (picture["at"] - starved)
    for other in (ben, cem):
        voice = page.growth(other, "audio", began + 5, lifted)
        assert voice["concealedSamples"] < 0.2 * voice["totalSamplesReceived"] + 48_000 * starved
    assert any(one["frameHeight"] == BEST for one in seen if lifted < one["at"] < lifted + 10)

    assert {one["frameHeight"] for one in watch.arrivals[cem].of(ben, "video", watch.since[cem])} == {BEST}
    for one, other in ((ben, ann), (ben, cem), (cem, ann), (cem, ben)):
        watch.is_untouched(one, other, shows=other is not cem)


@pytest.mark.parametrize("three", [20261122], ids=["seed"], indirect=True)
def test_what_a_bad_network_loses_is_repaired_and_nobody_else_notices(three):
    ann, ben, cem = three
    # Of her own voice the others would rightly miss a tenth.
    ann.control("mute")
    for other in (ben, cem):
        other.tile_is(ann, muted="true")

    wire = ann.browser.network.wire
    wire.suffer(up=BAD, down=BAD)
    before = wire.counts()
    watch = Watch(three)
    watch.arrivals[ann].wait(20)
    after = wire.counts()
    print(before, after)

    # It was bad as it was to be, and by nothing else.
    for way in ("up", "down"):
        assert after[way]["dropped"] == 0
        number = after[way]["datagrams"] - before[way]["datagrams"]
        assert 0.07 * number < after[way]["lost"] - before[way]["lost"] < 0.13 * number
        assert after[way]["reordered"] > before[way]["reordered"]
    watch.is_repaired(ann, ben)
    watch.is_repaired(ann, cem)
    watch.is_untouched(ben, cem)
    watch.is_untouched(cem, ben)

    wire.suffer()
    for other in (ben, cem):
        ann.sees(other)
