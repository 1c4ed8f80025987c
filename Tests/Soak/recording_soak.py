"""A recorded call of some minutes in real time, whose speaker pauses like real clients.

Ann sends talk spurts. In between her client is muted, with a clock that continues or one that stops, or sends only a
comfort noise frame now and then (DTX). Every spurt has to be in the file at the time when it was sent. Ben sends a tone
all the time, which must not have gaps.
"""

from __future__ import annotations

import asyncio
import fractions
import pathlib
import random
import statistics
import time

import av
import numpy
from aiortc.mediastreams import AudioStreamTrack
from switchboard_tests.audio_files import RATE, decode, opusinfo
from switchboard_tests.gateway import group
from switchboard_tests.recordings import ended, fetch, is_recorded
from switchboard_tests.server import Server

FRAME = RATE // 50
# The maximum deviation from the wall clock, in milliseconds.
TOLERANCE = 40
# The recorder runs every 50 ms, so the end is uncertain by that much.
ROUND = 50
PITCH = 700
# DTX: one empty Opus frame every 400 ms (RFC 6716 section 2.1.9).
COMFORT, COMFORT_FRAMES = b"\x78", 20
PAUSES = ["no pause", "muted", "muted, its clock stops", "comfort noise"]


def spurt(frames: int) -> list[bytes]:
    """A tone with a sharp onset, in packets of 20 ms."""
    context = av.CodecContext.create("libopus", "w")
    context.sample_rate, context.layout, context.format, context.bit_rate = RATE, "mono", "s16", 32_000
    packets = []
    for number in range(frames):
        times = (number * FRAME + numpy.arange(FRAME)) / RATE
        samples = (numpy.sin(2 * numpy.pi * PITCH * times) * 12_000).astype(numpy.int16)
        frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = RATE, number * FRAME, fractions.Fraction(1, RATE)
        packets += [bytes(packet) for packet in context.encode(frame)]
    return packets


class SpurtTrack(AudioStreamTrack):
    """Random spurts and pauses, and when each spurt was sent."""

    def __init__(self, rng: random.Random):
        super().__init__()
        self.rng, self.spurts = rng, [spurt(frames) for frames in (30, 100, 400)]
        self.sample, self.due = 0, time.monotonic()
        self.plan = self.generate()
        self.sent: list[float] = []
        self.paused = dict.fromkeys(PAUSES, 0)

    def generate(self):
        """Packets, each with the frames that pass before it: on its media clock, and in real time."""
        while True:
            pause = self.rng.choice(PAUSES)
            frames = 0 if pause == "no pause" else self.rng.randint(25, 500)
            self.paused[pause] += 1
            if pause == "comfort noise":
                for _ in range(frames // COMFORT_FRAMES):
                    yield COMFORT, COMFORT_FRAMES, COMFORT_FRAMES, False
                frames %= COMFORT_FRAMES
            for number, packet in enumerate(self.rng.choice(self.spurts)):
                own = 0 if pause == "muted, its clock stops" else frames
                yield packet, *((own, frames) if number == 0 else (0, 0)), number == 0 and pause != "no pause"

    # A packet instead of a frame: aiortc sends it as it is.
    async def recv(self) -> av.Packet:  # type: ignore[override]
        payload, own, passed, begins = next(self.plan)
        self.sample += own * FRAME
        self.due += passed * 0.02
        await asyncio.sleep(max(0.0, self.due - time.monotonic()))
        packet = av.Packet(payload)
        packet.pts, packet.time_base = self.sample, fractions.Fraction(1, RATE)
        if begins:
            self.sent.append(time.monotonic())
        self.sample += FRAME
        self.due += 0.02
        return packet


def onsets(audio: numpy.ndarray) -> list[float]:
    """The onsets after at least 200 ms of silence, in milliseconds."""
    step = RATE // 1_000
    loud = numpy.abs(audio[: len(audio) // step * step].astype(int)).reshape(-1, step).max(axis=1) > 3_000
    found, quiet = [], 0
    for millisecond, is_loud in enumerate(loud):
        if is_loud and quiet >= 200:
            found.append(float(millisecond))
        quiet = 0 if is_loud else quiet + 1
    return found


class Comparison:
    """Compares the files with what was sent, in milliseconds."""

    def __init__(self, server: Server, rng: random.Random, seconds: float):
        self.track: SpurtTrack | None = None
        self.problems: list[str] = []
        manifest, users, times = asyncio.run(self.call(server, rng, seconds))
        ann, ben = ([each for each in manifest["tracks"] if each["user"] == user] for user in users)
        if manifest["status"] != "complete" or len(ann) != 1 or len(ben) != 1:
            raise SystemExit(f"soak: expected one track per participant: {manifest}")
        files = [fetch(server, each) for each in (*ann, *ben)]
        for file in files:
            opusinfo(file)
        self.lengths(ann[0], ben[0], times)
        self.spurts(decode(files[0]), times[0] + ann[0]["offsetMs"] / 1000, times[2])
        self.tone(decode(files[1]))

    async def call(self, server: Server, rng: random.Random, seconds: float):
        async with group(server, 2, "audio") as (ann, ben):
            self.track = SpurtTrack(rng)
            await ann.join(video=False, audio=self.track)
            await ben.join(video=False)
            await ann.receives_audio(ben)
            requested = time.monotonic()
            await ben.endpoint.ask("calls.record", call=ben.call)
            started = time.monotonic()
            await is_recorded(ann, ben)
            await asyncio.sleep(seconds)
            stopped = time.monotonic()
            await ben.endpoint.ask("calls.stopRecording", call=ben.call)
            times = requested, started, stopped, time.monotonic()
            return await ended(server, ben, ben.call), [one.endpoint.user for one in (ann, ben)], times

    def expect(self, what: str, low: float, value: float, high: float) -> None:
        print(f"  {what}: {value:.1f} ms, {low:.1f} to {high:.1f} expected", flush=True)
        if not low <= value <= high:
            self.problems.append(f"{what}: {value:.1f} ms, expected {low:.1f} to {high:.1f}")

    def lengths(self, ann: dict, ben: dict, times: tuple[float, ...]) -> None:
        requested, started, stopped, over = times
        ends = [each["offsetMs"] + each["durationMs"] for each in (ann, ben)]
        self.expect("the end of one file relative to that of the other", -TOLERANCE, ends[0] - ends[1], TOLERANCE)
        for end in ends:
            self.expect(
                "the end", (stopped - started) * 1000 - TOLERANCE, end, (over - requested) * 1000 + ROUND + TOLERANCE
            )

    def spurts(self, audio: numpy.ndarray, began: float, stopped: float) -> None:
        """Each spurt is at the time when it was sent, relative to the first."""
        # The first one in the file may have started before it.
        sent = [moment for moment in self.track.sent if began + 0.5 < moment < stopped - 0.5]
        found = [moment for moment in onsets(audio) if 500 < moment < len(audio) / RATE * 1000]
        near = [min(found, key=lambda moment: abs(began * 1000 + moment - each * 1000), default=0) for each in sent]
        differences = [moment - (each - began) * 1000 for moment, each in zip(near, sent)]
        print(f"  {len(sent)} spurts between {self.track.paused}", flush=True)
        if not sent or len(found) < len(sent):
            self.problems.append(f"{len(sent)} spurts were sent, {len(found)} are in the file")
            return
        middle = statistics.median(differences)
        self.expect("the earliest spurt", -TOLERANCE, min(differences) - middle, 0)
        self.expect("the latest spurt", 0, max(differences) - middle, TOLERANCE)

    def tone(self, audio: numpy.ndarray) -> None:
        """The tone has no gaps."""
        whole = numpy.abs(audio[RATE // 2 : len(audio) // RATE * RATE - RATE // 2].astype(int)).reshape(-1, RATE // 20)
        quiet = int((whole.max(axis=1) < 3_000).sum()) * 50
        self.expect("silence in the file of the continuous tone", 0, quiet, TOLERANCE)


def soak(directory: pathlib.Path, rng: random.Random, minutes: float) -> list[str]:
    """Returns the problems."""
    server = Server(directory, {"log": {"level": "warning"}})
    server.start()
    try:
        return Comparison(server, rng, minutes * 60).problems
    finally:
        server.stop()
