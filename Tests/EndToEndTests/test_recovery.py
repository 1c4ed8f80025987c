"""Calls that survive failures of the server and the network."""

import pytest
from switchboard_tests.browsers.pages import Person


def test_a_call_survives_a_restart_of_the_server(in_call, server):
    if server is None:
        pytest.skip("needs a server of its own")
    ann, ben = in_call
    server.kill()
    server.start()
    for person in in_call:
        person.is_online()
        person.find("#call[data-phase=active]")
        person.has_video()
        person.receives_audio()
    # Signalling works again too: a camera can be turned off and the call can be ended.
    ann.control("camera")
    ben.find("#call[data-picture=false]")
    ben.hang_up()
    ann.phase("ended")


def test_a_call_survives_a_restored_backup(in_call, server, tmp_path):
    """The page knows later versions of the call than the server, which also has other keys."""
    if server is None:
        pytest.skip("needs a server of its own")
    ann, ben = in_call
    server.command("backup", tmp_path / "backup")
    for _ in range(3):
        ann.control("camera")
        ben.find("#call[data-picture=false]")
        ann.control("camera")
        ben.find("#call[data-picture=true]")
    server.stop()
    (server.directory / "data").rename(tmp_path / "lost")
    server.command("restore", tmp_path / "backup")
    server.start()
    for person in in_call:
        person.is_online()
        person.find("#call[data-phase=active]")
        person.has_video()
        person.receives_audio()
    # Changes from now on apply, although their versions are lower.
    ann.control("camera")
    ben.find("#call[data-picture=false]")
    ben.hang_up()
    ann.phase("ended")


def test_a_relayed_call_survives_a_restart_of_the_server(people, server):
    if server is None:
        pytest.skip("needs a server of its own")
    ann, ben = people
    ann.go("settings")
    ann.click("#relay-always")
    ann.call(ben)
    ben.rings()
    ben.answer()
    for person in people:
        person.is_connected()
        person.has_video()
    server.kill()
    server.start()
    for person in people:
        person.is_online()
        person.browser.wait(
            "media through the new relay", lambda one=person: one.all("#call[data-connection=connected]"), 40
        )
        person.has_video()
    assert ann.path()[0] == "relay"


def test_a_lost_socket_reconnects_and_misses_nothing(people, proxy):
    ann, ben = people
    moved = behind(proxy, ben)
    ann.call(moved)
    moved.rings()
    moved.answer()
    for person in (ann, moved):
        person.is_connected()
        person.has_video()
    proxy.cut()
    moved.browser.wait("the loss of the socket to be noticed", lambda: state_of(moved) != "online")
    # Changes meanwhile are delivered afterwards: Ann turned her camera off and held the call.
    ann.control("camera")
    ann.control("hold")
    ann.says("#call-status", "On hold")
    proxy.restore()
    moved.is_online()
    moved.says("#call-status", "Ann put you on hold")
    ann.control("hold")
    moved.receives_audio()
    ann.hang_up()
    moved.phase("ended")


def test_an_unreachable_server_is_reported(ann, proxy):
    moved = behind(proxy, ann)
    proxy.cut()
    moved.says("#offline", "Reconnecting to the server")
    proxy.restore()
    moved.is_online()
    moved.gone("#offline")


def behind(proxy, person):
    """The same person, signed in through the proxy."""
    moved = Person(person.browser, proxy.url, person.name)
    moved.email = person.email
    moved.browser.open(proxy.url)
    moved.sign_in()
    moved.is_in()
    return moved


def state_of(person):
    return person.driver.execute_script("return document.documentElement.dataset.realtime")


def test_a_new_network_restarts_ice(in_call):
    ann, _ben = in_call
    before = ann.browser.media()["ufrag"]
    ann.driver.execute_script("window.dispatchEvent(new Event('online'))")
    ann.browser.wait("an ICE restart", lambda: ann.browser.media()["ufrag"] != before)
    for person in in_call:
        person.is_connected()
        person.has_video()
        person.receives_audio()


def test_a_reload_returns_into_the_call(in_call):
    ann, ben = in_call
    ben.control("mute")
    ann.says("#call-status", "Their microphone is off")
    ben.driver.refresh()
    for person in in_call:
        person.is_connected()
        person.has_video()
        person.receives_audio()
    # Who was muted stays muted.
    assert ben.attribute("[data-action=mute]", "aria-label").startswith("Unmute")
    ann.says("#call-status", "Their microphone is off")
    ben.hang_up()
    ann.phase("ended")


def test_the_other_tab_going_away_ends_the_call(in_call):
    ann, ben = in_call
    ben.driver.get("about:blank")
    ann.says("#call-status", "Reconnecting")
    ann.phase("ended", limit=60)
    ann.says("#call-status", "Connection lost")
    ann.leave_call_screen()
    ann.history_says("failed", outgoing=True)
