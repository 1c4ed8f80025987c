"""Participants of a call over the media gateway: aiortc for the media, the tests' own endpoint for signalling."""

from __future__ import annotations

import asyncio
import contextlib
import fractions
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

import av
import numpy
from aiortc import RTCConfiguration, RTCPeerConnection, RTCRtpSender, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, MediaStreamTrack, VideoStreamTrack
from aiortc.rtcconfiguration import RTCBundlePolicy

from switchboard_tests.endpoint import Endpoint, client_id
from switchboard_tests.waiting import TIMEOUT

T = TypeVar("T")

RATE = 48_000


class Tone(AudioStreamTrack):
    """A sine tone whose pitch identifies the sender."""

    def __init__(self, pitch: float) -> None:
        super().__init__()
        self.pitch, self.sample, self.start = pitch, 0, time.monotonic()

    async def recv(self) -> av.AudioFrame:
        count = RATE // 50
        await asyncio.sleep(max(0.0, self.start + self.sample / RATE - time.monotonic()))
        times = (self.sample + numpy.arange(count)) / RATE
        samples = (numpy.sin(2 * numpy.pi * self.pitch * times) * 12_000).astype(numpy.int16)
        frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
        frame.pts, frame.sample_rate, frame.time_base = self.sample, RATE, fractions.Fraction(1, RATE)
        self.sample += count
        return frame


class SpeechTrack(AudioStreamTrack):
    """Silence, and speech passed to `say`, at 48 kHz."""

    def __init__(self) -> None:
        super().__init__()
        self.sample, self.start = 0, time.monotonic()
        self.samples = numpy.zeros(0, numpy.int16)

    async def say(self, samples: numpy.ndarray) -> None:
        """Returns when all samples are sent."""
        self.samples = samples
        while len(self.samples):
            await asyncio.sleep(0.02)

    async def recv(self) -> av.AudioFrame:
        count = RATE // 50
        await asyncio.sleep(max(0.0, self.start + self.sample / RATE - time.monotonic()))
        samples = numpy.zeros(count, numpy.int16)
        spoken, self.samples = self.samples[:count], self.samples[count:]
        samples[: len(spoken)] = spoken
        frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
        frame.pts, frame.sample_rate, frame.time_base = self.sample, RATE, fractions.Fraction(1, RATE)
        self.sample += count
        return frame


class Gray(VideoStreamTrack):
    """A grey picture with a moving bar, whose brightness identifies the sender."""

    def __init__(self, brightness: int, frames_per_second: int = 10) -> None:
        super().__init__()
        self.brightness, self.frames_per_second = brightness, frames_per_second
        self.number, self.start = 0, time.monotonic()

    async def recv(self) -> av.VideoFrame:
        await asyncio.sleep(max(0.0, self.start + self.number / self.frames_per_second - time.monotonic()))
        picture = numpy.full((180, 320), self.brightness, numpy.uint8)
        picture[:8, self.number * 8 % 320 :][:, :8] = 255
        frame = av.VideoFrame.from_ndarray(picture, format="gray").reformat(format="yuv420p")
        frame.pts, frame.time_base = self.number * 90_000 // self.frames_per_second, fractions.Fraction(1, 90_000)
        self.number += 1
        return frame


class ReceivedMedia:
    """The media received in one slot."""

    def __init__(self) -> None:
        self.frames = 0
        self.latest: Any = None

    @property
    def pitch(self) -> float:
        """The strongest frequency of the last frame of audio."""
        samples = self.latest.to_ndarray().reshape(-1)
        if len(self.latest.layout.channels) == 2:
            samples = samples[::2]
        spectrum = numpy.abs(numpy.fft.rfft(samples * numpy.hanning(len(samples)), 1 << 14))
        return float(numpy.argmax(spectrum) * self.latest.sample_rate / (1 << 14))

    @property
    def brightness(self) -> int:
        return int(numpy.median(self.latest.to_ndarray(format="gray")))


class Participant:
    """A user in one client: an endpoint, and a PeerConnection with a microphone, a camera, and slots for others."""

    def __init__(self, server: Any, person: Any, pitch: float = 440, brightness: int = 100) -> None:
        self.endpoint = Endpoint(server.realtime_url, person.id, person.token)
        self.pitch, self.brightness = pitch, brightness
        self.connection: RTCPeerConnection | None = None
        self.received: dict[str, ReceivedMedia] = {}
        self.slots: list[dict[str, Any]] = []
        self.listeners: list[asyncio.Task[Any]] = []
        self.call = ""

    async def open(self) -> None:
        await self.endpoint.open()
        await self.endpoint.listen(f"user:{self.endpoint.user}")

    async def call_group(
        self, others: list[Participant], kind: str = "video", conversation: str | None = None
    ) -> str:
        callees = {"callees": [other.endpoint.user for other in others]}
        made = await self.endpoint.ask(
            "calls.create", clientID=client_id(), kind=kind, mode="gateway",
            **({"conversation": conversation} if conversation else callees),
        )
        self.call = made["call"]["id"]
        await self.endpoint.listen(f"call:{self.call}")
        return self.call

    async def accept(self, call: str) -> None:
        self.call = call
        await self.endpoint.ask("calls.accept", call=call, clientID=client_id())
        await self.endpoint.listen(f"call:{call}")

    async def join(
        self, slots: int = 1, sends: bool = True, video: bool = True, ice_servers: list[Any] | None = None,
        codecs: list[str] | None = None, audio: AudioStreamTrack | None = None,
    ) -> None:
        """Makes a leg: publishes a tone, or other audio, and video, with so many slots of each kind. `codecs` are its
        video codecs, the preferred one first."""
        await self.endpoint.listen(f"signals:{self.call}:{self.endpoint.id}")
        self.connection = RTCPeerConnection(
            RTCConfiguration(iceServers=ice_servers or [], bundlePolicy=RTCBundlePolicy.MAX_BUNDLE)
        )
        self.connection.on("track", self.on_track)
        kinds = ["audio", "video"] if video else ["audio"]
        if sends:
            self.connection.addTransceiver(audio or Tone(self.pitch), "sendonly")
            if video:
                self.connection.addTransceiver(Gray(self.brightness), "sendonly")
        for _ in range(slots):
            for kind in kinds:
                self.connection.addTransceiver(kind, "recvonly")
        if codecs is not None:
            known = RTCRtpSender.getCapabilities("video").codecs
            chosen = [one for name in codecs for one in known if one.mimeType == name]
            for transceiver in self.connection.getTransceivers():
                if transceiver.kind == "video":
                    transceiver.setCodecPreferences(chosen)
        await self.offer()
        await self.endpoint.ask("calls.connected", call=self.call)

    async def offer(self) -> None:
        connection = self.connection
        assert connection is not None
        await connection.setLocalDescription(await connection.createOffer())
        made = await self.endpoint.ask(
            "calls.leg", call=self.call, offer={"sdp": connection.localDescription.sdp}
        )
        self.slots = made["slots"]
        await connection.setRemoteDescription(RTCSessionDescription(made["answer"]["sdp"], "answer"))

    def on_track(self, track: MediaStreamTrack) -> None:
        assert self.connection is not None
        mid = next(t.mid for t in self.connection.getTransceivers() if t.receiver.track is track)
        assert mid is not None
        self.received[mid] = ReceivedMedia()
        self.listeners.append(asyncio.ensure_future(self.listen(track, self.received[mid])))

    @staticmethod
    async def listen(track: MediaStreamTrack, received: ReceivedMedia) -> None:
        with contextlib.suppress(Exception):
            while True:
                received.latest = await track.recv()
                received.frames += 1

    def current_slots(self) -> list[dict[str, Any]]:
        """The slots' tracks, from the latest signal or answer."""
        changes = [signal for signal in self.endpoint.signals(self.call) if signal["kind"] == "slots"]
        return changes[-1]["slots"] if changes else self.slots

    def slot_of(self, other: Participant, kind: str) -> str | None:
        """The mid of the slot that carries the other's track."""
        for slot in self.current_slots():
            track = slot.get("track")
            if track and slot["kind"] == kind and track["endpoint"] == other.endpoint.id:
                return slot["mid"]
        return None

    async def until(self, what: str, condition: Callable[[], T]) -> T:
        async def wait() -> T:
            while not (value := condition()):
                await asyncio.sleep(0.05)
            return value

        try:
            return await asyncio.wait_for(wait(), TIMEOUT)
        except TimeoutError as error:
            frames = {mid: received.frames for mid, received in self.received.items()}
            connection = self.connection
            states = connection and (connection.iceConnectionState, connection.connectionState)
            ends = [one.get("reason") for one in self.endpoint.signals(self.call) if one["kind"] == "legEnded"]
            raise AssertionError(
                f"timed out waiting for {what}; {states}, ended {ends}, frames {frames}, slots {self.current_slots()}"
            ) from error

    async def receives_audio(self, other: Participant) -> None:
        """Waits until the other's tone is received in their slot."""

        def condition() -> object:
            mid = self.slot_of(other, "audio")
            received = self.received.get(mid) if mid else None
            return received and received.frames > 5 and abs(received.pitch - other.pitch) < 15

        await self.until(f"the tone of {other.pitch} Hz", condition)

    async def receives_video(self, other: Participant) -> None:
        def condition() -> object:
            mid = self.slot_of(other, "video")
            received = self.received.get(mid) if mid else None
            return received and received.frames > 2 and abs(received.brightness - other.brightness) < 12

        await self.until(f"the picture of brightness {other.brightness}", condition)

    async def receives_more(self, mid: str, count: int = 10) -> None:
        """Waits for further frames of a slot."""
        before = self.received[mid].frames
        await self.until(f"more of slot {mid}", lambda: self.received[mid].frames >= before + count)

    async def hang_up_media(self) -> None:
        if self.connection is not None:
            await self.connection.close()
        for listener in self.listeners:
            listener.cancel()
        self.listeners = []
        self.received = {}

    async def close(self) -> None:
        await self.hang_up_media()
        await self.endpoint.close()


@contextlib.asynccontextmanager
async def group(
    server: Any, count: int, kind: str = "video", people: list[Any] | None = None, conversation: str | None = None
) -> AsyncIterator[list[Participant]]:
    """So many users in one call over the gateway, joined but without media; new ones, unless given; of all members of a
    conversation, if one is given."""
    people = people or server.users(count)
    everybody = [
        Participant(server, person, pitch=300 + 200 * number, brightness=60 + 40 * number)
        for number, person in enumerate(people)
    ]
    try:
        for one in everybody:
            await one.open()
        call = await everybody[0].call_group(everybody[1:], kind, conversation)
        for one in everybody[1:]:
            await one.accept(call)
        yield everybody
    finally:
        for one in everybody:
            await one.close()


@contextlib.asynccontextmanager
async def speaking_call(
    server: Any, count: int = 2, people: list[Any] | None = None, conversation: str | None = None
) -> AsyncIterator[tuple[list[Participant], list[SpeechTrack]]]:
    """Users in a call who are silent until `say`."""
    async with group(server, count, "audio", people, conversation) as everybody:
        tracks = [SpeechTrack() for _ in everybody]
        for one, speech_track in zip(everybody, tracks):
            await one.join(slots=len(everybody) - 1, video=False, audio=speech_track)
        for one in everybody:
            for other in everybody:
                if one is not other:
                    await one.until("a voice", lambda: one.slot_of(other, "audio"))
        yield everybody, tracks
