"""Clients of WHIP and WHEP: aiortc, and FFmpeg's muxer."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import httpx
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamTrack
from aiortc.rtcconfiguration import RTCBundlePolicy

from switchboard_tests.ffmpeg_publisher import BRIGHTNESS, PITCH
from switchboard_tests.gateway import Gray, ReceivedMedia, Tone
from switchboard_tests.reaper import ends_with_tests
from switchboard_tests.server import User
from switchboard_tests.waiting import TIMEOUT

SDP = "application/sdp"
FRAGMENT = "application/trickle-ice-sdpfrag"
PUBLISHER = pathlib.Path(__file__).with_name("ffmpeg_publisher.py")


@contextlib.contextmanager
def ffmpeg(person: User, call: str, directory: pathlib.Path, **options: str) -> Iterator[Callable[[], bool]]:
    """FFmpeg publishes into a call with its muxer's defaults, and these options of the encoder. What is answered fails
    with its log once it has ended."""
    address = f"{person.server.url}/v1/calls/{call}/whip"
    arguments = [f"{name}={value}" for name, value in options.items()]
    path = directory / "ffmpeg.log"
    with path.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, str(PUBLISHER), address, person.token, *arguments], stdout=log, stderr=log)
    ends_with_tests(process.pid)

    def goes_on() -> bool:
        assert process.poll() is None, path.read_text()[-3000:]
        return True

    try:
        yield goes_on
    finally:
        process.kill()
        process.wait(TIMEOUT)


class WHIPSession:
    """A client of WHIP or WHEP: a token, an address, and a PeerConnection."""

    def __init__(self, person: User, call: str, kind: str) -> None:
        self.person, self.kind = person, kind
        self.address = f"{person.server.url}/v1/calls/{call}/{kind}"
        self.http = httpx.AsyncClient(headers={"Authorization": f"Bearer {person.token}"}, timeout=TIMEOUT)
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[], bundlePolicy=RTCBundlePolicy.MAX_BUNDLE))
        self.received: dict[str, ReceivedMedia] = {}
        self.listeners: list[asyncio.Task[Any]] = []
        self.connection.on("track", self.on_track)
        self.session_url = self.tag = ""

    def on_track(self, track: MediaStreamTrack) -> None:
        received = self.received[track.kind] = ReceivedMedia()

        async def listen() -> None:
            while True:
                received.latest = await track.recv()
                received.frames += 1

        self.listeners.append(asyncio.ensure_future(listen()))

    def plays(self, tolerance: float = 12) -> bool:
        """Whether it plays a tone and a picture like those that it would publish.

        `tolerance` is of the brightness, of 255."""
        audio, video = self.received.get("audio"), self.received.get("video")
        return bool(
            audio and video and audio.frames > 5 and video.frames > 2 and abs(audio.pitch - PITCH) < 15
            and abs(video.brightness - BRIGHTNESS) < tolerance
        )  # fmt: skip

    async def offer(self) -> str:
        if self.kind == "whip":
            self.connection.addTransceiver(Tone(PITCH), "sendonly")
            self.connection.addTransceiver(Gray(BRIGHTNESS), "sendonly")
        else:
            self.connection.addTransceiver("audio", "recvonly")
            self.connection.addTransceiver("video", "recvonly")
        await self.connection.setLocalDescription(await self.connection.createOffer())
        return self.connection.localDescription.sdp

    async def open(self) -> httpx.Response:
        response = await self.http.post(self.address, content=await self.offer(), headers={"Content-Type": SDP})
        assert response.status_code == 201, response.text
        assert response.headers["Content-Type"] == SDP
        assert response.headers["Accept-Patch"] == FRAGMENT
        self.session_url = str(httpx.URL(self.address).join(response.headers["Location"]))
        self.tag = response.headers["ETag"]
        await self.connection.setRemoteDescription(RTCSessionDescription(response.text, "answer"))
        return response

    async def patch(
        self, match: str | None, fragment: str = "a=ice-ufrag:abcd\r\na=ice-pwd:" + "p" * 24 + "\r\n"
    ) -> httpx.Response:
        headers = {"Content-Type": FRAGMENT} | ({"If-Match": match} if match else {})
        return await self.http.patch(self.session_url, content=fragment, headers=headers)

    @property
    def own_fragment(self) -> str:
        """The credentials of its offer, as a client repeats them with its candidates."""
        lines = self.connection.localDescription.sdp.splitlines()
        first = [next(line for line in lines if line.startswith(name)) for name in ("a=ice-ufrag:", "a=ice-pwd:")]
        return "\r\n".join(first) + "\r\n"

    async def end(self) -> httpx.Response:
        return await self.http.delete(self.session_url)

    async def __aenter__(self) -> WHIPSession:
        return self

    async def __aexit__(self, *_: Any) -> None:
        for listener in self.listeners:
            listener.cancel()
        await self.connection.close()
        await self.http.aclose()
