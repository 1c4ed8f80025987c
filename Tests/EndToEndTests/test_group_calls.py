"""Calls of several people through the media gateway."""

import pathlib
import time

import pytest
from switchboard_tests.browsers.browser import DESK
from switchboard_tests.browsers.firefox import firefox
from switchboard_tests.browsers.pages import Person, connect, connect_group, everybody_receives_media

pytestmark = pytest.mark.alone

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
    connect_group(*people)
    everybody_receives_media(people)
    assert server.metric('switchboard_gateway_dropped_total{reason="malformed"}') == 0
    # The marks: a fake microphone beeps, so that everybody is seen to speak; who is muted is seen to be.
    ann.tile_is(ben, speaking="true")
    ann.browser.wait("a quality", lambda: (ann.tile(ben) or {}).get("bars"))
    dora.control("mute")
    ann.tile_is(dora, muted="true")
    sent = dora.browser.media()["audioSent"]
    ben.receives_voices(2)
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
    dora.sees(ann, ben, cem)
    # Once more from that screen, which is open for four seconds.
    dora.driver.execute_script(AGAIN)
    dora.control("hang-up")
    dora.browser.wait("the button to be there", lambda: dora.driver.execute_script("return window.askedAgain"), 60)
    dora.is_connected(limit=60)
    everybody_receives_media(people)

    # Everybody goes, and the call is over.
    for person in people:
        person.hang_up()


# A change of the call's stream from its beginning, when the user was still ringing.
STALE_CHANGE = """
const [user] = arguments;
const { calls, realtime } = globalThis.switchboard;
const { id } = calls.current;
const data = { version: 1, user, state: "ringing" };
realtime.emit("change", { stream: `call:${id}`, type: "participant", data });
return calls.current.phase;
"""


def test_a_screen_is_shared(crowd):
    people = ann, ben, cem = crowd(3)
    connect_group(*people)
    ann.sees(ben)
    assert ben.driver.execute_script(STALE_CHANGE, ben.user) == "active", "a stale change is ignored"
    ben.control("share")
    for other in (ann, cem):
        other.tile_is("Ben Brook’s screen", "screen")
        other.sees("Ben Brook’s screen", source="screen")
        other.sees(ben)
    ben.control("share")
    for other in (ann, cem):
        other.browser.wait("the screen to go", lambda one=other: one.tile("Ben Brook’s screen", "screen") is None)
    ben.control("share")
    ann.sees("Ben Brook’s screen", source="screen")


def test_who_declined_can_be_invited_again_and_can_join(crowd):
    people = ann, ben, cem = crowd(3)
    ann.call_group([ben, cem])
    ben.rings(limit=60)
    cem.says("#incoming", "with Ben Brook")
    ann.tile_is(cem, state="ringing")
    ben.answer()
    cem.click("#incoming [data-action=decline]")
    ann.is_connected(limit=60)
    ann.says(".absent", "Cem: declined")
    # One way is to ring again, the other to join the call in progress.
    ann.click("[data-action=ring-again]")
    cem.rings(limit=60)
    cem.click("#incoming [data-action=decline]")
    ann.says(".absent", "Cem: declined")
    cem.says("#open-calls", "Ann and Ben are in a call")
    cem.click("#open-calls [data-action=join]")
    for person in people:
        person.is_connected(limit=60)
    everybody_receives_media(people)
    cem.hang_up()
    ann.hang_up()
    ben.hang_up()
    cem.leave_call_screen()
    cem.gone("#open-calls", limit=60)


# Adds up, from now on, the concealed audio samples: of the direct connection while it is used, and of the gateway's
# afterwards. A page that is starved of CPU time conceals audio too, whatever the path: the samples of that time are
# added up separately.
WATCH_CONCEALMENT = """
const last = new Map();
window.concealed = window.starved = 0;
let started = false;
let due = performance.now();
const poll = async () => {
    window.starved += Math.max(0, performance.now() - due - 100) * 48;
    due = performance.now();
    for (const [index, peer] of window.peers.entries()) {
        if (peer.signalingState === "closed") continue;
        for (const one of (await peer.getStats()).values()) {
            if (one.type !== "inbound-rtp" || one.kind !== "audio") continue;
            const key = `${index} ${one.id}`;
            const made = one.concealedSamples - one.silentConcealedSamples;
            const isUsed = (document.getElementById("call").dataset.mediaPath === "gateway") === index > 0;
            if (isUsed) window.concealed += made - (last.get(key) ?? (started ? 0 : made));
            last.set(key, made);
        }
    }
    started = true;
    setTimeout(poll, 50);
};
poll();
"""


def test_a_third_is_invited_into_a_direct_call(crowd):
    people = ann, ben, cem = crowd(3)
    connect(ann, ben)
    for person in (ann, ben):
        person.driver.execute_script(WATCH_CONCEALMENT)
        assert person.browser.media()["connections"] == 1
    # The concealment on this busy machine without a move.
    for person in (ann, ben):
        person.receives_voices(1)
    before = [concealed(person) for person in (ann, ben)]
    ann.invite([cem])
    cem.rings(limit=60)
    # The two move to the gateway at once, and continue.
    for person, other in ((ann, ben), (ben, ann)):
        person.find("#call[data-mode=group]")
        person.browser.wait(
            "the gateway to be used", lambda one=person: one.all("#call[data-media-path=gateway]"), 60
        )
        person.receives_voices(1)
        person.sees(other)
    for person, baseline in zip((ann, ben), before):
        moved = concealed(person) - baseline
        starved = person.driver.execute_script("return window.starved")
        message = f"{person.name}: {moved} samples concealed over the move, {baseline} before it, {starved} starved"
        print(message)
        assert moved <= 14_400 + baseline + starved, message
    for person in (ann, ben):
        person.browser.wait(
            "only the connection with the gateway",
            lambda one=person: one.driver.execute_script(OPEN_CONNECTIONS) == 1,
            60,
        )
        person.receives_voices(1)
    cem.answer()
    cem.is_connected(limit=60)
    everybody_receives_media(people)


def concealed(person):
    return person.driver.execute_script("return window.concealed")


OPEN_CONNECTIONS = "return window.peers.filter((one) => one.signalingState !== 'closed').length"


def test_a_group_call_survives_a_restored_backup(crowd, server, tmp_path):
    """The legs are gone with the server, and the pages know later versions of the call than it does."""
    people = ann, ben, cem = crowd(3)
    connect_group(*people)
    everybody_receives_media(people)
    server.command("backup", tmp_path / "backup")
    for _ in range(2):
        ann.control("mute")
        ben.tile_is(ann, muted="true")
        ann.control("mute")
        ben.tile_is(ann, muted="false")
    server.stop()
    (server.directory / "data").rename(tmp_path / "lost")
    server.command("restore", tmp_path / "backup")
    server.start()
    for person in people:
        person.is_online()
        person.find("#call[data-phase=active]")
    everybody_receives_media(people)
    # Changes from now on apply, although their versions are lower.
    cem.control("mute")
    ann.tile_is(cem, muted="true")


def test_everybody_reconnects_after_the_server_was_killed(crowd, server):
    if server is None:
        pytest.skip("needs a server of its own")
    people = crowd(3)
    connect_group(*people)
    everybody_receives_media(people)
    before = [person.browser.media()["connections"] for person in people]
    server.kill()
    server.start()
    for person, count in zip(people, before):
        person.is_online(limit=60)
        person.browser.wait("a new leg", lambda one=person, n=count: one.browser.media()["connections"] > n, 60)
        person.is_connected(limit=60)
    everybody_receives_media(people)


def test_a_new_network_and_a_reload(crowd):
    people = ann, ben, cem = crowd(3)
    connect_group(*people)
    before = ann.browser.media()
    ann.driver.execute_script("window.dispatchEvent(new Event('online'))")
    ann.browser.wait("an ICE restart", lambda: ann.browser.media()["ufrag"] != before["ufrag"], 60)
    everybody_receives_media(people)
    assert ann.browser.media()["connections"] == before["connections"], "the leg is the same"
    ben.control("mute")
    ben.driver.refresh()
    ben.is_connected(limit=60)
    for other in (ann, cem):
        other.tile_is(ben, muted="true")
        other.sees(ben)
    ben.sees(ann, cem)
    ben.receives_voices(2)


# A camera that Chromium sends in two sizes, at a low frame rate, since three browsers share two cores.
LARGE_CAMERA = """
const devices = navigator.mediaDevices;
const native = devices.getUserMedia.bind(devices);
const small = { width: 640, height: 360, frameRate: 10 };
devices.getUserMedia = (constraints) => native({ ...constraints, video: constraints.video && small });
"""


def test_video_is_requested_as_large_as_it_is_shown(crowd):
    people = ann, ben, cem = crowd(3)
    ben.driver.execute_script(LARGE_CAMERA)
    connect_group(*people)
    everybody_receives_media(people)

    def width():
        return ann.tile(ben)["width"]

    ann.browser.wait("Ben in full size", lambda: width() == 640, 60)
    for size, quality in (((1280, 500), "medium"), ((1280, 340), "low"), ((1280, 800), "high")):
        ann.browser.resize(size)
        ann.prefers(quality, ben, cem)
        if quality == "low":
            ann.browser.wait("a smaller picture of Ben", lambda: width() == 320, 60)
            cem.browser.wait("him in full size elsewhere", lambda: cem.tile(ben)["width"] == 640, 60)
            assert width() == 320
    ann.browser.wait("Ben in full size again", lambda: width() == 640, 60)
    ben.prefers("high", ann, cem)
    # A hidden page requests no video after a delay; a visible one requests it at once.
    began = time.monotonic()
    ann.driver.minimize_window()
    ann.prefers("off", ben, cem)
    hidden = time.monotonic()
    assert hidden - began > 4.5
    ann.browser.wait("the last frame, while audio continues", ann.has_voice_without_picture, 60)
    ann.driver.set_window_rect(0, 0, *DESK)
    ann.prefers("high", ben, cem)
    assert time.monotonic() - hidden < hidden - began
    ann.sees(ben, cem)
    # The same on hold.
    ann.control("hold")
    ann.prefers("off", ben, cem)
    ann.control("hold")
    ann.prefers("high", ben, cem)
    # A new leg does not inherit the preferences of the one before.
    ann.browser.resize((1280, 340))
    ann.driver.refresh()
    ann.is_connected(limit=60)
    ann.prefers("low", ben, cem)
    ann.browser.resize(DESK)
    ann.sees(ben, cem)


def test_a_page_without_microphone_and_camera_takes_part(crowd):
    people = ann, ben, cem = crowd(3)
    ben.driver.execute_script(
        "navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotAllowedError'))"
    )
    connect_group(*people)
    ann.tile_is(ben, muted="true", picture="false")
    ben.sees(ann)
    ben.receives_voices(2)
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
        connect_group(ann, ben, fay)
        for person in (ann, ben):
            person.sees(fay)
            person.receives_voices(2)
        fay.sees(ann, ben)
        for other in (ann, ben):
            fay.tile_is(other, speaking="true")
        ann.tile_is(fay, speaking="true")
        # Its frames are checked as those of the others are.
        browser.check_frames()
        assert browser.frames.sockets
