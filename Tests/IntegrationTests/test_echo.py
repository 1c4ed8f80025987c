"""`switchboard-load echo`: a user who answers, called by aiortc directly and in a group."""

from __future__ import annotations

import asyncio
import contextlib
import re
import signal
import subprocess
import threading
import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.rtcconfiguration import RTCBundlePolicy
from switchboard_tests.endpoint import client_id
from switchboard_tests.gateway import Gray, Participant, Tone
from switchboard_tests.server import LOAD, Server
from switchboard_tests.waiting import until, wait_until

PASSWORD = "correct horse battery staple"


class Echo:
    """The program, and the lines that it has printed."""

    def __init__(self, server: Server, *options: str) -> None:
        self.process = subprocess.Popen(
            [str(LOAD), "echo", "--url", server.url, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines: list[str] = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        wait_until(lambda: self.find("ready: ") or self.process.poll() is not None, "ready")
        assert self.process.poll() is None, self.lines

    def read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def find(self, pattern: str) -> list[str]:
        """The lines that match from their beginning."""
        return [line for line in self.lines if re.match(pattern, line)]

    @property
    def user(self) -> str:
        found = re.match(r"ready: .* is user (\S+);", self.find("ready: ")[-1])
        assert found is not None
        return found[1]

    def stop(self) -> None:
        """Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=20)
        self.reader.join(10)
        assert code == 0, self.lines

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def running(server: Server, *options: str) -> Iterator[Echo]:
    echo = Echo(server, *options)
    try:
        yield echo
    finally:
        echo.kill()


@pytest.fixture(scope="module")
def echo(server) -> Iterator[Echo]:
    with running(server) as made:
        yield made


class Caller(Participant):
    """A user whose own tone and picture come back."""

    async def call_directly(self, user: str, video: bool) -> None:
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[], bundlePolicy=RTCBundlePolicy.MAX_BUNDLE))
        self.connection.on("track", self.on_track)
        self.connection.addTransceiver(Tone(self.pitch), "sendrecv")
        if video:
            self.connection.addTransceiver(Gray(self.brightness), "sendrecv")
        await self.connection.setLocalDescription(await self.connection.createOffer())
        made = await self.endpoint.ask(
            "calls.create", clientID=client_id(), callees=[user], kind="video" if video else "audio",
            offer={"sdp": self.connection.localDescription.sdp},
        )
        self.call = made["call"]["id"]
        await self.endpoint.listen(f"call:{self.call}")
        await self.endpoint.until("the call to be answered", lambda: self.document["status"] == "active")
        await self.endpoint.listen(f"signals:{self.call}:{self.endpoint.id}")
        await self.endpoint.until("the answer", self.answers)
        await self.connection.setRemoteDescription(RTCSessionDescription(self.answers()[-1], "answer"))
        await self.endpoint.ask("calls.connected", call=self.call)

    @property
    def document(self) -> dict[str, Any]:
        document = self.endpoint.call(self.call)
        assert document is not None
        return document

    def answers(self) -> list[str]:
        return [one["payload"]["sdp"] for one in self.endpoint.signals(self.call) if one["kind"] == "answer"]

    def receives_own_tone(self) -> bool:
        return any(
            media.frames > 5 and abs(media.pitch - self.pitch) < 15
            for mid, media in self.received.items()
            if self.kind_of(mid) == "audio"
        )

    def receives_own_picture(self) -> bool:
        return any(
            media.frames > 2 and abs(media.brightness - self.brightness) < 12
            for mid, media in self.received.items()
            if self.kind_of(mid) == "video"
        )

    def kind_of(self, mid: str) -> str:
        assert self.connection is not None
        return next(one.kind for one in self.connection.getTransceivers() if one.mid == mid)

    async def receives_itself(self, video: bool) -> None:
        await self.until("its own tone", self.receives_own_tone)
        if video:
            await self.until("its own picture", self.receives_own_picture)

    async def hang_up(self) -> None:
        await self.endpoint.ask("calls.end", call=self.call)
        await self.hang_up_media()


@contextlib.asynccontextmanager
async def caller(server: Server, pitch: float = 700, brightness: int = 140) -> AsyncIterator[Caller]:
    made = Caller(server, server.user(), pitch, brightness)
    await made.open()
    try:
        yield made
    finally:
        await made.close()


async def ended(echo: Echo, call: str) -> str:
    await until("the line of the end", lambda: echo.find(f"call {call}: ended"))
    return echo.find(f"call {call}: ended")[0]


@pytest.mark.parametrize("video", [False, True])
def test_a_caller_receives_its_own_media(server, echo, video):
    async def run() -> None:
        async with caller(server) as ann:
            await ann.call_directly(echo.user, video)
            await ann.receives_itself(video)
            answered = next(one for one in ann.document["participants"] if one["user"] == echo.user)
            assert (answered["media"]["audio"], answered["media"]["video"]) == (True, video)
            await ann.hang_up()
            line = await ended(echo, ann.call)
            found = re.search(r"ended, hung_up, after \d+ s; sent back (\d+) packets of audio, (\d+) of video$", line)
            assert found is not None, line
            assert int(found[1]) > 5
            assert (int(found[2]) > 0) == video
            steps = [line.split(": ", 1)[1] for line in echo.find(f"call {ann.call}: ")]
            expected = ["rings, ", "answered", "media connected with ", "sends "]
            assert all(step.startswith(start) for step, start in zip(steps, expected)), echo.lines
            assert ("sends video back" in steps) == video

    asyncio.run(run())


def test_a_group_receives_the_speaker(server, echo):
    async def run() -> None:
        async with caller(server) as ann:
            made = await ann.endpoint.ask(
                "calls.create", clientID=client_id(), callees=[echo.user], kind="video", mode="gateway"
            )
            ann.call = made["call"]["id"]
            await ann.endpoint.listen(f"call:{ann.call}")
            await ann.endpoint.until("the call to be answered", lambda: ann.document["status"] == "active")
            await ann.join(slots=1)
            await ann.receives_itself(video=True)
            await ann.endpoint.ask("calls.leave", call=ann.call)
            # A call of two ends; of a larger one the echo would be the last.
            await ended(echo, ann.call)

    asyncio.run(run())


def test_an_echo_does_not_stay_in_a_group_alone(server, echo):
    async def run() -> None:
        async with caller(server) as ann, caller(server, pitch=500) as ben:
            made = await ann.endpoint.ask(
                "calls.create", clientID=client_id(), callees=[echo.user, ben.endpoint.user], kind="audio"
            )
            call = ann.call = made["call"]["id"]
            assert made["call"]["mode"] == "gateway"
            await ben.accept(call)
            await until("the echo to answer", lambda: echo.find(f"call {call}: answered"))
            for one in (ann, ben):
                await one.endpoint.ask("calls.leave", call=call)
            assert "everybody left" in await ended(echo, call)

    asyncio.run(run())


def test_two_calls_at_once_and_no_more_than_the_limit(server):
    async def run(echo: Echo) -> None:
        async with caller(server, pitch=500) as ann, caller(server, pitch=900) as ben, caller(server) as cal:
            await ann.call_directly(echo.user, video=False)
            await ben.call_directly(echo.user, video=False)
            await ann.receives_itself(video=False)
            await ben.receives_itself(video=False)

            def is_held() -> bool:
                own = next(one for one in ann.document["participants"] if one["user"] == echo.user)
                return own["media"]["held"]

            await ann.until("the first call to be resumed", lambda: not is_held())
            made = await cal.endpoint.ask(
                "calls.create", clientID=client_id(), callees=[echo.user], kind="audio", offer={"sdp": "v=0"}
            )
            call = made["call"]["id"]
            await cal.endpoint.listen(f"call:{call}")

            def reason() -> object:
                document = cal.endpoint.call(call)
                return document and document.get("endReason")

            assert await cal.endpoint.until("the end", reason) == "declined"
            # The server says so to both before the program prints it.
            line = f"call {call}: declined, since 2 are open"
            await asyncio.to_thread(wait_until, lambda: echo.find(line), line)
            # Hanging up one leaves the other.
            await ann.hang_up()
            await ended(echo, ann.call)
            before = next(iter(ben.received.values())).frames
            await ben.until("more media", lambda: next(iter(ben.received.values())).frames > before + 20)

    with running(server, "--limit", "2") as echo:
        asyncio.run(run(echo))


def test_an_offer_without_media_is_reported(server, echo):
    async def run() -> None:
        async with caller(server) as ann:
            made = await ann.endpoint.ask(
                "calls.create", clientID=client_id(), callees=[echo.user], kind="audio", offer={"sdp": "v=0"}
            )
            call = made["call"]["id"]
            await until("the failure", lambda: echo.find(f"call {call}: failed, an offer was not answered"))
            await ann.endpoint.ask("calls.end", call=call)
            await ended(echo, call)

    asyncio.run(run())
    assert echo.process.poll() is None


async def reconnected(one: Caller) -> None:
    """Waits until the restarted server was noticed, and connects again."""
    await until("the old connection to end", lambda: not one.endpoint.connected.is_set())
    await one.endpoint.open()


def test_calls_survive_a_restart_of_the_server(make_server):
    server = make_server()

    async def run(echo: Echo) -> None:
        async with caller(server) as ann:
            await ann.call_directly(echo.user, video=False)
            await ann.receives_itself(video=False)
            await asyncio.to_thread(server.restart)
            await until("the connection", lambda: echo.find("connected to the server again"))
            await reconnected(ann)
            media = next(iter(ann.received.values()))
            before = media.frames
            await ann.until("more of a direct call", lambda: media.frames > before + 50)
            assert ann.receives_own_tone()
            await ann.hang_up()
            await ended(echo, ann.call)
            # And it answers new calls.
            await ann.call_directly(echo.user, video=False)
            await ann.receives_itself(video=False)
            await ann.hang_up()

    with running(server) as echo:
        asyncio.run(run(echo))
        assert echo.find("disconnected from the server")


def test_a_leg_is_made_again_after_a_restart_of_the_server(make_server):
    server = make_server()

    async def run(echo: Echo) -> None:
        async with caller(server) as ann:
            made = await ann.endpoint.ask(
                "calls.create", clientID=client_id(), callees=[echo.user], kind="audio", mode="gateway"
            )
            ann.call = made["call"]["id"]
            await ann.endpoint.listen(f"call:{ann.call}")
            await ann.endpoint.until("the call to be answered", lambda: ann.document["status"] == "active")
            await ann.join(slots=1, video=False)
            await ann.receives_itself(video=False)
            await asyncio.to_thread(server.restart)
            await reconnected(ann)
            await ann.hang_up_media()
            await ann.join(slots=1, video=False)
            await ann.receives_itself(video=False)
            assert len(echo.find(f"call {ann.call}: media connected")) >= 2

    with running(server) as echo:
        asyncio.run(run(echo))


def test_ctrl_c_hangs_up(server):
    async def run(echo: Echo) -> None:
        async with caller(server) as ann:
            await ann.call_directly(echo.user, video=False)
            await ann.receives_itself(video=False)
            await asyncio.to_thread(echo.stop)
            await ann.endpoint.until("the end", lambda: ann.document["status"] == "ended")
            assert ann.document["endReason"] == "hung_up"
            assert ann.document["endedBy"] == echo.user

    with running(server) as echo:
        user = echo.user
        asyncio.run(run(echo))
        assert user in echo.find("ready: ")[0]
        assert echo.find("stopping: hanging up 1 call$")
        assert echo.find(r"call \S+: ended, stopped, ")


def test_an_address_and_a_password_are_the_same_user_again(server):
    email = f"echo-{uuid.uuid4().hex[:10]}@example.org"
    with running(server, "--email", email, "--password", PASSWORD, "--name", "Mirror") as echo:
        first = echo.user
        assert echo.find("ready: Mirror is user ")
        echo.stop()
    with running(server, "--email", email, "--password", PASSWORD) as echo:
        assert echo.user == first


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--email", "a@example.org"], "--email and --password"),
        (["--url", "ws://127.0.0.1"], "--url must be"),
        (["--limit", "0"], "--limit must be 1 to 64"),
        (["--name", ""], "--name must have"),
        (["--address", "localhost"], "--address must be an IP address"),
    ],
)
def test_wrong_options_are_named(options, message):
    done = subprocess.run([str(LOAD), "echo", *options], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert message in done.stderr


def test_a_wrong_password_ends_the_program(server):
    email = f"echo-{uuid.uuid4().hex[:10]}@example.org"
    with running(server, "--email", email, "--password", PASSWORD) as echo:
        echo.stop()
    done = subprocess.run(
        [str(LOAD), "echo", "--url", server.url, "--email", email, "--password", "another password"],
        capture_output=True, text=True, timeout=60,
    )
    assert done.returncode != 0
    assert "ready" not in done.stdout
    assert done.stderr.strip()
