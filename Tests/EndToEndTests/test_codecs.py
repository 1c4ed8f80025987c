"""Video in other codecs than VP8: used while everybody supports them, and no longer once somebody joins who does
not."""

import pytest
from switchboard_tests.browsers.pages import Person
from switchboard_tests.browsers.peer import Peer

pytestmark = pytest.mark.alone

# The page prefers a codec for sending, as with hardware support for it.
PREFER = """
const wanted = arguments[0];
const { codecs } = RTCRtpReceiver.getCapabilities("video");
const canSend = RTCRtpSender.getCapabilities("video").codecs.some((one) => one.mimeType === wanted);
const add = RTCPeerConnection.prototype.addTransceiver;
RTCPeerConnection.prototype.addTransceiver = function (kind, init) {
    const made = add.call(this, kind, init);
    if (kind === "video") {
        made.setCodecPreferences([
            ...codecs.filter((one) => one.mimeType === wanted), ...codecs.filter((one) => one.mimeType !== wanted),
        ]);
    }
    return made;
};
return canSend;
"""

# Sent packets and decoded frames of each video stream, with its current codec.
CODECS = """
const done = arguments[arguments.length - 1];
window.peers.filter((one) => one.signalingState !== "closed").at(-1).getStats().then((stats) => {
    const reports = [...stats.values()].filter((one) => one.kind === "video");
    const of = (type, count) => reports.filter((one) => one.type === type && one[count] > 0)
        .map((one) => [one.id, { codec: stats.get(one.codecId)?.mimeType, count: one[count] }]);
    done(Object.fromEntries([...of("outbound-rtp", "packetsSent"), ...of("inbound-rtp", "framesDecoded")]));
});
"""


@pytest.fixture
def crowd(browsers, url):
    for one in browsers:
        one.keep_one_tab()
    yield [Person(one, url, name).sign_up(save_data=True) for one, name in zip(browsers, ("Ann Abel", "Ben Brook"))]
    for one in browsers:
        one.keep_one_tab()
        one.driver.get("about:blank")


@pytest.fixture
def old(url):
    """Somebody whose client supports VP8 only."""
    one = Peer(url, "Pia Pine")
    yield one
    one.close()


def all_video_uses(codec, person, streams):
    """Waits until at least so many streams are active, all of them in the codec."""
    seen = []

    def is_so():
        now = person.driver.execute_async_script(CODECS)
        seen.append(now)
        before = seen[-10] if len(seen) > 10 else {}
        active = [one["codec"] for id, one in now.items() if id in before and one["count"] > before[id]["count"]]
        return len(active) >= streams and {*active} == {codec}

    try:
        person.browser.wait(f"video in {codec}", is_so, 60)
    finally:
        print(person.name, seen[-10:][0], seen[-1])


@pytest.mark.parametrize("codec", ["video/H264", "video/VP9", "video/AV1"])
def test_a_participant_with_vp8_only_makes_the_others_fall_back(crowd, old, codec):
    ann, ben = crowd
    for person in crowd:
        if not person.driver.execute_script(PREFER, codec):
            pytest.skip(f"this Chromium cannot send {codec}")
    ann.call_group([ben, old])
    ben.rings(limit=60)
    ben.answer()
    for person, other in ((ann, ben), (ben, ann)):
        person.is_connected(limit=60)
        person.sees(other)
    # The sent video and the other's.
    for person in crowd:
        all_video_uses(codec, person, streams=2)

    old.answer(slots=2, codecs=["video/VP8", "video/rtx"])
    old.receives_everybody(2)
    for person, other in ((ann, ben), (ben, ann)):
        all_video_uses("video/VP8", person, streams=3)
        person.sees(other, old)
    ann.hang_up()
    ben.hang_up()
