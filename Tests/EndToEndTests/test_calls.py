"""A call from the first ring to the history, direct and through the relay."""

import time

import pytest
from switchboard_tests.browsers.browser import Browser
from switchboard_tests.browsers.pages import Person, connect


def set_relay_only(person):
    person.go("settings")
    person.click("#relay-always")
    person.go("people")


@pytest.mark.parametrize("path", ["direct", "relay"])
def test_two_people_receive_each_other(people, path):
    ann, ben = people
    if path == "relay":
        set_relay_only(ann)
        set_relay_only(ben)
    ann.call(ben)
    ben.rings()
    ben.says("#incoming", "Incoming video call")
    ann.says("#call-status", "Ringing")
    ben.answer()
    for person in people:
        person.is_connected()
        person.has_video()
        person.receives_audio()
        local, remote = person.path()
        if path == "relay":
            assert (local, remote) == ("relay", "relay")
        else:
            assert "relay" not in (local, remote)
    ann.control("details")
    ann.says("#details [data-stat=path]", "relay" if path == "relay" else "Direct")
    ann.control("details")
    ann.hang_up()
    ann.says("#call-status", "Call ended")
    ben.phase("ended")
    ben.says("#call-status", "Call ended")
    ann.leave_call_screen()
    ben.leave_call_screen()
    ann.history_says("answered", outgoing=True)
    assert ann.attribute("#history .row", "data-kind") == "video"
    ben.history_says("answered", outgoing=False)


# Leaves the page's connections only the TURN URLs with that suffix.
ONLY = """
const only = arguments[0];
const cut = (configuration) => ({
    ...configuration,
    iceServers: (configuration.iceServers ?? [])
        .map((server) => ({ ...server, urls: [server.urls].flat().filter((url) => url.endsWith(only)) }))
        .filter((server) => server.urls.length),
});
const Native = window.RTCPeerConnection;
window.RTCPeerConnection = class extends Native {
    constructor(configuration, ...others) { super(cut(configuration), ...others); }
    setConfiguration(configuration) { super.setConfiguration(cut(configuration)); }
};
"""

RELAY_PROTOCOL = """
const done = arguments[arguments.length - 1];
window.peers.at(-1).getStats().then((stats) => {
    const reports = [...stats.values()];
    const transport = reports.find((one) => one.type === "transport");
    const pair = reports.find((one) => one.id === transport?.selectedCandidatePairId);
    done(reports.find((one) => one.id === pair?.localCandidateId)?.relayProtocol ?? null);
});
"""


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_a_call_through_the_relay_only(people, transport):
    """TLS is tested in test_nat_calls.py, where the browser trusts the certificate."""
    for person in people:
        set_relay_only(person)
        person.driver.execute_script(ONLY, f"transport={transport}")
    connect(*people)
    for person in people:
        person.receives_audio()
        assert person.path() == ("relay", "relay")
        assert person.driver.execute_async_script(RELAY_PROTOCOL) == transport


def test_mute_and_camera(in_call):
    ann, ben = in_call
    ann.control("mute")
    assert ann.attribute("[data-action=mute]", "aria-label").startswith("Unmute")
    ben.says("#call-status", "Their microphone is off")
    ann.control("mute")
    ben.says("#call-status", "Connected")
    ann.control("camera")
    ben.find("#call[data-picture=false] .face")
    ann.control("camera")
    ben.find("#call[data-picture=true]")
    ben.has_video()


def test_hold_stops_media_both_ways_and_resumes(in_call):
    ann, ben = in_call
    ann.control("hold")
    ann.says("#call-status", "On hold")
    ben.says("#call-status", "Ann put you on hold")
    for person in in_call:
        person.browser.wait("the audio to stop", lambda one=person: is_silent(one))
    ann.control("hold")
    ben.says("#call-status", "Connected")
    for person in in_call:
        person.receives_audio()
        person.has_video()


# The browser gives a camera or a screen when `give()` is called.
HELD_MEDIA = """
window.given = [];
for (const name of ["getUserMedia", "getDisplayMedia"]) {
    navigator.mediaDevices[name] = () => new Promise((resolve) => {
        window.give = () => {
            const stream = document.createElement("canvas").captureStream();
            window.given.push(...stream.getTracks());
            resolve(stream);
        };
    });
}
"""
GIVEN = "return window.given.map((one) => one.readyState)"


def test_a_camera_and_a_screen_that_come_too_late_stay_off(in_call):
    """The camera was switched off while another one was opened, and the call has ended before a screen was chosen."""
    ann, ben = in_call
    ann.driver.execute_script(HELD_MEDIA)
    ann.driver.execute_script("globalThis.switchboard.calls.current.changeDevice('camera', 'another')")
    ann.control("camera")
    ben.find("#call[data-picture=false]")
    ann.driver.execute_script("window.give()")
    ann.browser.wait("the camera to end", lambda: ann.driver.execute_script(GIVEN) == ["ended"])
    ann.find("#call [data-action=camera][data-icon=videoOff]")
    ann.control("share")
    ann.hang_up()
    ann.driver.execute_script("window.give()")
    ann.browser.wait("the screen to end", lambda: ann.driver.execute_script(GIVEN) == ["ended", "ended"])


def test_who_is_signed_out_leaves_the_call(in_call):
    ann, _ben = in_call
    ann.driver.execute_script("globalThis.switchboard.credentials.end({ isExpired: true })")
    ann.find("#sign-in-form")
    ann.gone("#call")
    assert ann.driver.execute_script("return window.peers.at(-1).signalingState") == "closed"


def is_silent(person):
    """Whether no audio arrived within half a second."""
    before = person.browser.media()["audio"]
    person.driver.execute_async_script("setTimeout(arguments[0], 500)")
    return person.browser.media()["audio"] == before


def test_an_ice_restart_keeps_the_connection(in_call):
    ann, _ben = in_call
    before = ann.browser.media()["ufrag"]
    ann.driver.execute_script("window.peers.at(-1).restartIce()")
    ann.browser.wait("new ICE credentials", lambda: ann.browser.media()["ufrag"] != before)
    for person in in_call:
        person.is_connected()
        person.has_video()
        person.receives_audio()
        assert person.browser.media()["connections"] == 1


def test_into_the_relay_during_a_call_and_back(in_call):
    ann, _ben = in_call
    ann.control("details")
    ann.click("#relay-only")
    ann.browser.wait("the relay to be used", lambda: ann.path()[0] == "relay")
    for person in in_call:
        person.has_video()
        person.receives_audio()
    ann.click("#relay-only")
    ann.browser.wait("the direct path to be back", lambda: ann.path()[0] != "relay")
    for person in in_call:
        person.has_video()


def test_audio_becomes_video(people):
    ann, ben = people
    ann.call(ben, "audio")
    ben.rings()
    ben.says("#incoming", "Incoming call")
    ben.answer("accept-audio")
    for person in people:
        person.is_connected()
        person.receives_audio()
    ann.find("#call[data-picture=false]")
    ben.control("camera")
    ann.find("#call[data-picture=true]")
    ann.has_video()
    ann.control("camera")
    ben.has_video()


def at_once(people, selector):
    """Everybody clicks at the same millisecond, as near as two processes can."""
    instant = time.time() * 1000 + 1_000
    for person in people:
        person.driver.execute_script(
            "const [selector, instant] = arguments;"
            "setTimeout(() => document.querySelector(selector).click(), instant - Date.now())",
            selector,
            instant,
        )


def test_both_turn_their_cameras_on_at_once(people):
    ann, ben = people
    ann.call(ben, "audio")
    ben.rings()
    ben.answer("accept-audio")
    for person in people:
        person.is_connected()
    at_once(people, "#call [data-action=camera]")
    for person in people:
        person.has_video()
        person.receives_audio()


def test_both_call_each_other_at_once(people):
    ann, ben = people
    ann.search_for(ben)
    ben.search_for(ann)
    at_once(people, "#people [data-action=call-video]")
    for person in people:
        person.is_connected()
        person.has_video()
    ann.hang_up()
    ben.phase("ended")


def test_keyboard(people):
    ann, ben = people
    ann.call(ben)
    ben.rings()
    ben.driver.execute_async_script(
        "setTimeout(arguments[0], 800)"
    )  # Enter is ignored for a moment after it began to ring.
    ben.press("\ue007")
    for person in people:
        person.is_connected()
    ann.press("m")
    ben.says("#call-status", "Their microphone is off")
    ann.press("d")
    ann.find("#details")
    ann.press("\ue00c")
    ann.gone("#details")
    ann.press("h")
    ben.says("#call-status", "put you on hold")


def test_call_waiting_holds_the_first_call(people, tmp_path_factory, url):
    ann, ben = people
    ben.go("settings")
    ben.click("#call-waiting")
    connect(ann, ben)
    third = Browser("third", tmp_path_factory.mktemp("third"))
    try:
        cem = Person(third, url, "Cem Can").sign_up()
        cem.call(ben, "audio")
        ben.rings()
        ben.answer("hold-accept")
        cem.is_connected()
        cem.receives_audio()
        ann.says("#call-status", "Ben put you on hold")
        ben.says(".held-call", "Ann Abel is on hold")
        ben.click("[data-action=swap]")
        ann.says("#call-status", "Connected")
        ann.has_video()
        cem.says("#call-status", "Ben put you on hold")
        cem.hang_up()
        ben.gone(".held-call")
        ben.find("#call[data-phase=active]")
        ben.has_video()
    finally:
        third.quit()


def test_without_call_waiting_the_third_gets_busy(in_call, tmp_path_factory, url):
    _ann, ben = in_call
    third = Browser("third", tmp_path_factory.mktemp("third"))
    try:
        cem = Person(third, url, "Cem Can").sign_up()
        cem.call(ben, "audio")
        cem.phase("ended")
        cem.says("#call-status", "Ben is in another call")
        assert not ben.all("#incoming")
        ben.has_video()
    finally:
        third.quit()


def test_a_blocked_microphone_is_reported_and_nobody_is_rung(people):
    ann, ben = people
    ann.driver.execute_script(
        "navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotAllowedError'))"
    )
    ann.search_for(ben)
    ann.click("#people [data-action=call-audio]")
    ann.says(".toast", "may not use your microphone")
    ann.gone("#call")
    ann.go("history")
    ann.says(".empty", "Your calls will be listed here")
    assert not ben.all("#incoming")


def test_a_callee_without_a_microphone_listens(people):
    ann, ben = people
    ben.driver.execute_script(
        "navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotFoundError'))"
    )
    ann.call(ben, "audio")
    ben.rings()
    ben.answer("accept-audio")
    ben.is_connected()
    ben.receives_audio()
    ann.says("#call-status", "Their microphone is off")
