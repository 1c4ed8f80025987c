"""Real clients accept the gateway's SDP answers to their offers.

The answers are the golden files of Tests/SDPTests. They fit any offer that the same client makes in the same way:
nothing in them depends on the offer's keys or addresses.
"""

import pathlib

import pytest
from switchboard_tests.browsers import offer_clients
from switchboard_tests.browsers.offer_clients import FIXTURES


def answers(name):
    files = sorted(FIXTURES.glob(f"{name}-?.answer.sdp"))
    assert files, name
    return [file.read_bytes().decode() for file in files]


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def browser(request):
    if request.param == "firefox" and not pathlib.Path("/usr/bin/firefox-esr").exists():
        pytest.skip("firefox-esr is not installed")
    with getattr(offer_clients, request.param)() as run:
        yield request.param, run


def directions_of(result):
    assert "error" not in result or not result["error"], result["error"]
    assert result["state"] == "stable"
    return dict(line.split(" ") for line in result["directions"])


def test_life_of_a_leg(browser):
    """Camera and microphone, a screen that is added and removed, another in its section, an ICE restart."""
    name, run = browser
    directions = directions_of(run(offer_clients.RECIPES["life"], answers(f"{name}-life")))
    assert directions["0"] == "inactive" and directions["1"] == "sendonly" and directions["9"] == "sendonly"
    assert {directions[mid] for mid in "234568"} == {"recvonly"}


def test_thirty_slots(browser):
    name, run = browser
    directions = directions_of(run(offer_clients.RECIPES["slots"], answers(f"{name}-slots")))
    assert [*directions.values()] == ["sendonly"] * 2 + ["recvonly"] * 30


def test_a_plain_webrtc_page(browser):
    """Its data channel is rejected, and its media accepted both ways."""
    name, run = browser
    assert {*directions_of(run(offer_clients.RECIPES["plain"], answers(f"{name}-plain"))).values()} == {"sendrecv"}


def test_aiortc():
    assert {*directions_of(offer_clients.aiortc(answers("aiortc"))).values()} == {"sendrecv", "recvonly"}


def test_webrtcbin():
    result = offer_clients.gstreamer(answers("gstreamer"))
    assert not result["error"] and result["state"] == "stable"
