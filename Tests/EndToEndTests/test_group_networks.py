"""Group calls in which one leg goes over a bad network: it gets what comes through, and nobody else notices."""

import pytest

from arrivals import Arrivals
from namespaces import PORT_RESTRICTED
from pages import everybody_sees_and_hears, meet
from wire import Faults

pytest_plugins = ["distant"]

SEED = 20261122
BAD = Faults(loss=0.1, jitter=0.03, reordered=0.05, late=0.02)

# A camera as slow as in the dark: a machine that makes and shows all pictures leaves enough time for the network's part.
SLOW = ["--use-fake-device-for-media-stream=fps=10"]


@pytest.fixture
def three(person):
    """Ann, whose network it is about, Ben, who sends a large picture, and Cem, in a call."""
    ann = person("Ann Abel", PORT_RESTRICTED, flags=SLOW, seed=SEED)
    ben = person("Ben Brook", PORT_RESTRICTED, flags=SLOW, save_data=False)
    cem = person("Cem Can", PORT_RESTRICTED, flags=SLOW)
    meet(ann, ben, cem)
    everybody_sees_and_hears([ann, ben, cem])
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

    def is_untouched(self, one, other):
        video, voice, starved = self.flow(one, other)
        assert video["packetsLost"] == video["nackCount"] == voice["packetsLost"] == 0
        assert video["framesDecoded"] > 5 * (video["at"] - starved)
        assert video["totalFreezesDuration"] <= starved
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
