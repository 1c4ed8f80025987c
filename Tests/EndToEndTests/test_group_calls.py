"""Calls of several people through the media gateway."""

import pathlib
import time

import pytest

from browser import DESK, Browser
from firefox import firefox
from pages import Person, connect, everybody_sees_and_hears, meet

NAMES = ["Ann Abel", "Ben Brook", "Cem Can", "Dora Dean"]


@pytest.fixture(scope="module")
def four(browsers, tmp_path_factory):
    """Four browsers: the two that every test has, and two more."""
    more = [Browser(name, tmp_path_factory.mktemp(name)) for name in ("third", "fourth")]
    yield [*browsers, *more]
    for one in more:
        one.quit()


@pytest.fixture
def crowd(four, url):
    """Signs that many people up. They send small pictures, since one machine makes and shows all of them."""

    def gather(count):
        return [Person(one, url, name).sign_up(save_data=True) for one, name in zip(four[:count], NAMES)]

    for one in four:
        one.keep_one_tab()
    yield gather
    for one in four:
        one.keep_one_tab()
        one.driver.get("about:blank")


# Presses a button as soon as it is there.
AGAIN = """
const press = (_, observer) => {
    const button = document.querySelector("[data-action=join-again]");
    if (!button) return;
    observer.disconnect();
    button.click();
    window.askedAgain = true;
};
new MutationObserver(press).observe(document.body, { subtree: true, childList: true });
"""


def test_four_people(crowd, server):
    people = ann, ben, cem, dora = crowd(4)
    meet(*people)
    everybody_sees_and_hears(people)
    assert server.metric('switchboard_gateway_dropped_total{reason="malformed"}') == 0
    # The marks: a fake microphone beeps, so that everybody is seen to speak; who is muted is seen to be.
    ann.tile_is(ben, speaking="true")
    ann.browser.wait("a quality", lambda: (ann.tile(ben) or {}).get("bars"))
    dora.control("mute")
    ann.tile_is(dora, muted="true")
    sent = dora.browser.media()["audioSent"]
    ben.hears_voices(2)
    assert dora.browser.media()["audioSent"] == sent, "who is muted sends nothing"
    cem.control("camera")
    ann.tile_is(cem, picture="false")
    cem.control("camera")
    ann.sees(cem)

    # One leaves and comes back.
    dora.hang_up()
    dora.says("#call-status", "You left the call")
    ann.browser.wait("the tile to go", lambda: ann.tile(dora) is None)
    # The screen of the ended call closes by itself; the line above the page stays as long as the call goes on.
    dora.gone("[data-action=join-again]", limit=60)
    dora.click("[data-action=join]", limit=60)
    dora.is_connected(limit=60)
    for other in (ann, ben, cem):
        dora.sees(other)
    # Once more from that screen, which is open for four seconds.
    dora.driver.execute_script(AGAIN)
    dora.control("hang-up")
    dora.browser.wait("the button to be there", lambda: dora.driver.execute_script("return window.askedAgain"), 60)
    dora.is_connected(limit=60)
    for other in (ann, ben, cem):
        other.sees(dora)
        dora.sees(other)
    dora.hears_voices(3)

    # Everybody goes, and the call is over.
    for person in people:
        person.hang_up()


# A change of the call's stream as of its beginning, when the one who is here now still rang.
OLD_NEWS = """
const [user, done] = arguments;
Promise.all([import("/scripts/realtime.js"), import("/scripts/calls.js")]).then(([{ realtime }, { calls }]) => {
    const { id } = calls.current;
    realtime.emit("change", { stream: `call:${id}`, type: "participant", data: { version: 1, user, state: "ringing" } });
    done(calls.current.phase);
});
"""


def test_a_screen_is_shared(crowd):
    people = ann, ben, cem = crowd(3)
    meet(*people)
    ann.sees(ben)
    assert ben.driver.execute_async_script(OLD_NEWS, ben.user) == "active", "what an answer overtook is old"
    ben.control("share")
    for other in (ann, cem):
        other.tile_is("Ben Brook’s screen", "screen")
        other.sees("Ben Brook’s screen", "screen")
        other.sees(ben)
    ben.control("share")
    for other in (ann, cem):
        other.browser.wait("the screen to go", lambda one=other: one.tile("Ben Brook’s screen", "screen") is None)
    ben.control("share")
    ann.sees("Ben Brook’s screen", "screen")


def test_who_declines_can_be_asked_again_and_who_missed_it_joins(crowd):
    people = ann, ben, cem = crowd(3)
    ann.call_group([ben, cem])
    ben.rings(limit=60)
    cem.says("#incoming", "with Ben Brook")
    ann.tile_is(cem, state="ringing")
    ben.answer()
    cem.click("#incoming [data-action=decline]")
    ann.is_connected(limit=60)
    ann.says(".absent", "Cem: declined")
    # The one way: ringing again. The other: joining what goes on.
    ann.click("[data-action=ring-again]")
    cem.rings(limit=60)
    cem.click("#incoming [data-action=decline]")
    ann.says(".absent", "Cem: declined")
    cem.says("#open-calls", "Ann and Ben are in a call")
    cem.click("#open-calls [data-action=join]")
    for person in people:
        person.is_connected(limit=60)
    everybody_sees_and_hears(people)
    cem.hang_up()
    ann.hang_up()
    ben.hang_up()
    cem.leave_call_screen()
    cem.gone("#open-calls", limit=60)


# Adds up, from now on, the samples of voices that were made up because none had arrived: of the direct connection while
# it is what is heard, and of the gateway's afterwards. A page that does not come to its turn gets no voices in time,
# either, whatever the way: how many samples long it had to wait is added up, too.
WATCH_CONCEALMENT = """
const last = new Map();
window.concealed = window.starved = 0;
let started = false;
let turn = performance.now();
const look = async () => {
    window.starved += Math.max(0, performance.now() - turn - 100) * 48;
    turn = performance.now();
    for (const [index, peer] of window.peers.entries()) {
        if (peer.signalingState === "closed") continue;
        for (const one of (await peer.getStats()).values()) {
            if (one.type !== "inbound-rtp" || one.kind !== "audio") continue;
            const key = `${index} ${one.id}`;
            const made = one.concealedSamples - one.silentConcealedSamples;
            const isHeard = (document.getElementById("call").dataset.way === "gateway") === index > 0;
            if (isHeard) window.concealed += made - (last.get(key) ?? (started ? 0 : made));
            last.set(key, made);
        }
    }
    started = true;
    setTimeout(look, 50);
};
look();
"""


def test_a_third_is_invited_into_a_direct_call(crowd):
    people = ann, ben, cem = crowd(3)
    connect(ann, ben)
    for person in (ann, ben):
        person.driver.execute_script(WATCH_CONCEALMENT)
        assert person.browser.media()["connections"] == 1
    # What this machine conceals anyway, busy as it is.
    for person in (ann, ben):
        person.hears_voices(1)
    before = [concealed(person) for person in (ann, ben)]
    ann.invite([cem])
    cem.rings(limit=60)
    # The two are in the gateway already, and go on.
    for person, other in ((ann, ben), (ben, ann)):
        person.find("#call[data-mode=group]")
        person.browser.wait(
            "the gateway to be what is heard", lambda one=person: one.all("#call[data-way=gateway]"), 60
        )
        person.hears_voices(1)
        person.sees(other)
    for person, calm in zip((ann, ben), before):
        moved = concealed(person) - calm
        starved = person.driver.execute_script("return window.starved")
        told = f"{person.name}: {moved} samples concealed over the move, {calm} before it, {starved} waited for a turn"
        print(told)
        assert moved <= 14_400 + calm + starved, told
    for person in (ann, ben):
        person.browser.wait(
            "only the connection with the gateway",
            lambda one=person: one.driver.execute_script(OPEN_CONNECTIONS) == 1,
            60,
        )
        person.hears_voices(1)
    cem.answer()
    cem.is_connected(limit=60)
    everybody_sees_and_hears(people)


def concealed(person):
    return person.driver.execute_script("return window.concealed")


OPEN_CONNECTIONS = "return window.peers.filter((one) => one.signalingState !== 'closed').length"


def test_everybody_comes_back_after_the_server_was_killed(crowd, server):
    if server is None:
        pytest.skip("needs a server of its own")
    people = crowd(3)
    meet(*people)
    everybody_sees_and_hears(people)
    before = [person.browser.media()["connections"] for person in people]
    server.kill()
    server.start()
    for person, count in zip(people, before):
        person.is_online(limit=60)
        person.browser.wait("a new leg", lambda one=person, n=count: one.browser.media()["connections"] > n, 60)
        person.is_connected(limit=60)
    everybody_sees_and_hears(people)


def test_a_new_network_and_a_reload(crowd):
    people = ann, ben, cem = crowd(3)
    meet(*people)
    before = ann.browser.media()
    ann.driver.execute_script("window.dispatchEvent(new Event('online'))")
    ann.browser.wait("an ICE restart", lambda: ann.browser.media()["ufrag"] != before["ufrag"], 60)
    everybody_sees_and_hears(people)
    assert ann.browser.media()["connections"] == before["connections"], "the same leg went on"
    ben.control("mute")
    ben.driver.refresh()
    ben.is_connected(limit=60)
    for other in (ann, cem):
        other.tile_is(ben, muted="true")
        other.sees(ben)
        ben.sees(other)
    ben.hears_voices(2)


# A camera whose picture Chromium sends in two sizes, 160 and 320 wide, and slowly, since three browsers share two cores.
LARGE_CAMERA = """
const devices = navigator.mediaDevices;
const native = devices.getUserMedia.bind(devices);
devices.getUserMedia = (wanted) => native({ ...wanted, video: wanted.video && { width: 640, height: 360, frameRate: 10 } });
"""


def test_pictures_come_as_large_as_they_are_seen(crowd):
    people = ann, ben, cem = crowd(3)
    ben.driver.execute_script(LARGE_CAMERA)
    meet(*people)
    everybody_sees_and_hears(people)

    def width():
        return ann.tile(ben)["width"]

    ann.browser.wait("Ben in full size", lambda: width() == 640, 60)
    for size, quality in (((1280, 500), "medium"), ((1280, 340), "low"), ((1280, 800), "high")):
        ann.browser.resize(size)
        ann.wants(quality, ben, cem)
        if quality == "low":
            ann.browser.wait("a smaller picture of Ben", lambda: width() == 320, 60)
            cem.browser.wait("him in full size elsewhere", lambda: cem.tile(ben)["width"] == 640, 60)
            assert width() == 320
    ann.browser.wait("Ben in full size again", lambda: width() == 640, 60)
    ben.wants("high", ann, cem)
    # A page that nobody sees wants nothing, but not at once; one that is seen again does not wait.
    began = time.monotonic()
    ann.driver.minimize_window()
    ann.wants("off", ben, cem)
    hidden = time.monotonic()
    assert hidden - began > 4.5
    ann.browser.wait("the last picture, while sound is heard all the same", ann.has_voice_without_picture, 60)
    ann.driver.set_window_rect(0, 0, *DESK)
    ann.wants("high", ben, cem)
    assert time.monotonic() - hidden < hidden - began
    for other in (ben, cem):
        ann.sees(other)
    # The same on hold.
    ann.control("hold")
    ann.wants("off", ben, cem)
    ann.control("hold")
    ann.wants("high", ben, cem)
    # A new leg knows nothing of the one before.
    ann.browser.resize((1280, 340))
    ann.driver.refresh()
    ann.is_connected(limit=60)
    ann.wants("low", ben, cem)
    ann.browser.resize(DESK)
    for other in (ben, cem):
        ann.sees(other)


def test_a_page_that_is_refused_a_camera_takes_part(crowd):
    people = ann, ben, cem = crowd(3)
    ben.driver.execute_script(
        "navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotAllowedError'))"
    )
    meet(*people)
    ann.tile_is(ben, muted="true", picture="false")
    ben.sees(ann)
    ben.hears_voices(2)
    ann.control("hold")
    ann.says("#call-status", "On hold")
    cem.tile_is(ann, picture="false")
    ann.control("hold")
    cem.sees(ann)


def test_firefox_among_chromiums(crowd, url, tmp_path):
    if not pathlib.Path("/usr/bin/firefox-esr").exists():
        pytest.skip("firefox-esr is not installed")
    ann, ben = crowd(2)
    with firefox(tmp_path) as browser:
        fay = Person(browser, url, "Fay Fox").sign_up(save_data=True)
        meet(ann, ben, fay)
        for person in (ann, ben):
            person.sees(fay)
            person.hears_voices(2)
        for other in (ann, ben):
            fay.sees(other)
            fay.tile_is(other, speaking="true")
        ann.tile_is(fay, speaking="true")
