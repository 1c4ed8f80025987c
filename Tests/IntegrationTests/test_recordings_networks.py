"""Recordings over a bad network: a valid file, as long as the call."""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import Iterator

import numpy
import pytest
from switchboard_tests.audio_files import RATE, opusinfo
from switchboard_tests.gateway import group
from switchboard_tests.impaired_link import Impairments
from switchboard_tests.namespaces import PORT_RESTRICTED
from switchboard_tests.recordings import ended, fetch, is_recorded, meet, pitch
from switchboard_tests.server import Server

BAD = Impairments(loss=0.1, jitter=0.03, reordered=0.05, late=0.06)
SECONDS = 20
FRAME = RATE // 50


@pytest.fixture(scope="module")
def distant(internet, make_server) -> Iterator[Server]:
    """A server at 20.0.0.1."""
    with internet.namespace.inside():
        server = make_server(
            {"http": {"host": "20.0.0.1", "port": 8080}, "relay": {"listen": ["20.0.0.1"], "peers": {"allow": []}}},
            started=False,
        )
        server.url, server.realtime_url = "http://20.0.0.1:8080", "ws://20.0.0.1:8080/v1/realtime"
        server.start()
        yield server
        server.stop()


def decode_with_libopus(file: bytes) -> numpy.ndarray:
    """Decoded by libopus: FFmpeg's own decoder does not conceal lost frames."""
    done = subprocess.run(
        ["opusdec", "--quiet", "--rate", str(RATE), "--force-stereo", "--no-dither", "-", "-"],
        input=file, capture_output=True, timeout=20,
    )
    assert done.returncode == 0, done.stderr.decode()
    return numpy.frombuffer(done.stdout, numpy.int16)[::2]


def loudness(audio: numpy.ndarray) -> numpy.ndarray:
    """Of each 20 ms."""
    whole = audio[: len(audio) // FRAME * FRAME].reshape(-1, FRAME)
    return numpy.sqrt((whole.astype(float) ** 2).mean(axis=1))


@pytest.mark.parametrize("seed", [1, 2])
def test_a_recording_over_a_bad_network_is_whole_and_as_long_as_the_call(internet, distant, seed):
    network = internet.network(PORT_RESTRICTED, seed=seed)

    async def run():
        # Both are behind the same bad link.
        async with group(distant, 2, "audio") as everybody:
            ann, ben = everybody
            await meet(everybody)
            network.link.impair(up=BAD, down=BAD)
            asked = time.monotonic()
            await ann.endpoint.ask("calls.record", call=ann.call)
            begun, before = time.monotonic(), network.link.counts()["up"]
            await is_recorded(ben, ann)
            await asyncio.sleep(SECONDS)
            least, after = time.monotonic() - begun, network.link.counts()["up"]
            await ann.endpoint.ask("calls.stopRecording", call=ann.call)
            most = time.monotonic() - asked
            network.link.impair()
            manifest = await ended(distant, ann, ann.call)
            people = {one.endpoint.user: one.pitch for one in everybody}
            return manifest, (least, most), people, {name: after[name] - before[name] for name in after}

    # New sockets are in the private network, except those opened before.
    with network.host.inside():
        manifest, (least, most), people, sent = asyncio.run(run())
        files = {track["user"]: (track, fetch(distant, track)) for track in manifest["tracks"]}
    print(f"seed {seed}: {sent}, {least:.2f} to {most:.2f} s")
    # The link had the requested impairments, and no others.
    assert sent["dropped"] == 0 and sent["datagrams"] > 2 * 50 * SECONDS * 0.9
    assert 0.07 < sent["lost"] / sent["datagrams"] < 0.13 and sent["reordered"] > 0.03 * sent["datagrams"]

    assert manifest["status"] == "complete" and files.keys() == people.keys()
    for user, (track, file) in files.items():
        opusinfo(file)
        audio = decode_with_libopus(file)
        assert abs(len(audio) / RATE * 1000 - track["durationMs"]) < 1
        # It begins and ends somewhere within the two requests.
        end = track["offsetMs"] + track["durationMs"]
        assert 0.99 * least * 1000 < end < 1.01 * most * 1000, (track, least, most)
        # Losses are concealed: the tone continues.
        for start in range(0, len(audio) - RATE // 2, RATE // 2):
            assert abs(pitch(audio[start : start + RATE // 2]) - people[user]) < 15, f"at {start / RATE} s"
        loud = loudness(audio)
        assert (loud > 0.3 * numpy.median(loud)).mean() > 0.97, "two lost in a row are made up as well"
