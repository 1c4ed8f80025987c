"""Real clients accept the answers that the gateway makes to their offers.

The answers are those that Tests/SDPTests keeps and compares with what is made. They fit any offer that the same client
makes in the same way: nothing in them depends on the offer's keys or addresses.
"""

import pathlib
import sys

import pytest

FIXTURES = pathlib.Path(__file__).parents[1] / "SDPTests" / "Fixtures"
sys.path.append(str(FIXTURES))

import peers  # noqa: E402


def answers(name):
    files = sorted(FIXTURES.glob(f"{name}-?.answer.sdp"))
    assert files, name
    return [file.read_bytes().decode() for file in files]


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def browser(request):
    if request.param == "firefox" and not pathlib.Path("/usr/bin/firefox-esr").exists():
        pytest.skip("firefox-esr is not installed")
    with getattr(peers, request.param)() as run:
        yield request.param, run


def told(made):
    assert "error" not in made or not made["error"], made["error"]
    assert made["state"] == "stable"
    return dict(line.split(" ") for line in made["directions"])


def test_life_of_a_leg(browser):
    """Camera and microphone, a screen that comes and goes, another in its place, an ICE restart."""
    name, run = browser
    directions = told(run(peers.RECIPES["life"], answers(f"{name}-life")))
    assert directions["0"] == "inactive" and directions["1"] == "sendonly" and directions["9"] == "sendonly"
    assert {directions[mid] for mid in "234568"} == {"recvonly"}


def test_thirty_slots(browser):
    name, run = browser
    directions = told(run(peers.RECIPES["slots"], answers(f"{name}-slots")))
    assert [*directions.values()] == ["sendonly"] * 2 + ["recvonly"] * 30


def test_a_page_that_knows_nothing_of_gateways(browser):
    """Its data channel is rejected, and its media accepted both ways."""
    name, run = browser
    assert {*told(run(peers.RECIPES["plain"], answers(f"{name}-plain"))).values()} == {"sendrecv"}


def test_aiortc():
    assert {*told(peers.aiortc(answers("aiortc"))).values()} == {"sendrecv", "recvonly"}


def test_webrtcbin():
    made = peers.gstreamer(answers("gstreamer"))
    assert not made["error"] and made["state"] == "stable"
