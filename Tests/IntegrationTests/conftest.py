"""Shared fixtures of the integration tests: real servers, and users.

`server` is one server per test module; `make_server` makes more, with other settings. Both run the debug
binary that `Scripts/test` built (DEV_SWITCHBOARD_BINARY names another one) on free ports of the loopback and in a
directory of their own, and fail with the end of the server's log if it does not start.
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
import wave
from collections.abc import Iterator

import numpy
import pytest
from switchboard_tests import coturn, namespaces, stun
from switchboard_tests.audio_files import RATE
from switchboard_tests.certificates import self_signed
from switchboard_tests.scripted_recogniser import COMMAND
from switchboard_tests.server import Server
from switchboard_tests.transcription import SPEECH, WORDS
from switchboard_tests.waiting import TIMEOUT

# Files that take longest, the longest first. They begin first, so that no worker is alone with one in the end.
LONG = [
    "test_operation", "test_check", "test_webhook_delivery", "test_voice_recordings", "test_deletion", "test_openapi",
    "test_captions", "test_load_media", "test_stalls", "test_translations", "test_erased_bytes", "test_realtime_ends",
    "test_crash", "test_meaning", "test_recordings_networks", "test_recording_transcripts", "test_disappearing",
    "test_gateway_gstreamer", "test_relay", "test_realtime_sessions",
]  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LONG.index(item.path.stem) if item.path.stem in LONG else len(LONG))


@pytest.fixture(scope="module")
def make_server(tmp_path_factory):
    """Starts servers: `make_server({"calls": {…}})`, with all roles by default. Servers still running after the tests
    of the module are killed: of all files there would be hundreds."""
    servers: list[Server] = []

    def make(settings: dict | None = None, started: bool = True, role: str | None = None) -> Server:
        server = Server(tmp_path_factory.mktemp("server"), settings, role)
        servers.append(server)
        if started:
            server.start()
        return server

    yield make
    for server in servers:
        if server.process is not None:
            server.kill()


@pytest.fixture(scope="module")
def internet() -> Iterator[namespaces.Internet]:
    """An internet of network namespaces, with servers at 20.0.0.1."""
    namespaces.require()
    made = namespaces.Internet()
    yield made
    made.close()


@pytest.fixture(scope="module")
def server(make_server) -> Iterator[Server]:
    """One server for the tests of a module."""
    server = make_server()
    yield server
    assert server.process is None or server.process.poll() is None, f"the server died:\n{server.log_tail()}"
    if server.process is not None:
        server.stop()


@pytest.fixture(scope="module")
def listener(make_server) -> Iterator[Server]:
    """One server for the tests of a module, on which a scripted recogniser transcribes."""
    server = make_server(COMMAND)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def spoken(tmp_path_factory):
    """The words as samples at 48 kHz."""
    folder = tmp_path_factory.mktemp("speech")

    def speak(words: str) -> numpy.ndarray:
        file = folder / "words.wav"
        subprocess.run(["flite", "-voice", "slt", "-t", words, "-o", file], check=True)
        with wave.open(str(file)) as audio:
            samples = numpy.frombuffer(audio.readframes(audio.getnframes()), numpy.int16)
            step = audio.getframerate() / RATE
        return numpy.interp(numpy.arange(0, len(samples), step), numpy.arange(len(samples)), samples).astype(
            numpy.int16
        )

    return {words: speak(words) for _, words in SPEECH}


@pytest.fixture
def client():
    """Makes clients of a server, closed when the test is over."""
    with contextlib.ExitStack() as stack:
        def make(server: Server, host: str = "127.0.0.1", user: str = "alice", password: str = "wonderland"):
            made = stun.Client(host, server.relay_port, user, password)
            stack.callback(made.close)
            return made
        yield make


@pytest.fixture(scope="module")
def echo_port():
    """The port of coturn's echoing peer."""
    with coturn.echoing_peer() as port:
        yield port


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> dict[str, str]:
    """A self-signed certificate of this machine's loopback."""
    certificate, key = self_signed(tmp_path_factory.mktemp("certificate"))
    return {"certificate": str(certificate), "privateKey": str(key)}


@pytest.fixture
def peer():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.bind(("127.0.0.1", 0))
        made.settimeout(TIMEOUT)
        yield made


@pytest.fixture(scope="module")
def speech(tmp_path_factory) -> numpy.ndarray:
    """The words with a pause before and behind them, at 48 kHz."""
    file = tmp_path_factory.mktemp("speech") / "words.wav"
    subprocess.run(["flite", "-voice", "slt", "-t", WORDS, "-o", file], check=True)
    with wave.open(str(file)) as audio:
        samples = numpy.frombuffer(audio.readframes(audio.getnframes()), numpy.int16)
        step = audio.getframerate() / RATE
    spoken = numpy.interp(numpy.arange(0, len(samples), step), numpy.arange(len(samples)), samples).astype(numpy.int16)
    pause = numpy.zeros(RATE, numpy.int16)
    return numpy.concatenate([pause, spoken, pause])
