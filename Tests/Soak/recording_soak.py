"""A recorded call of some minutes on the real clock, whose speaker pauses as people and their programs do.

Ann speaks in spurts. In between her program is muted, with a clock that goes on or one that stands still, or sends only a
frame of comfort noise now and then (DTX). Every spurt is looked for in the file and has to lie where it was said. Ben
sends a tone all the while, which has to be there all the while.
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
from conftest import Server
from gateway import group
from audio_files import RATE, decode, opusinfo
from test_recordings import ended, fetch, is_recorded

FRAME = RATE // 50
# So far from the wall clock anything may be, in milliseconds.
TOLERANCE = 40
# The recorder comes around every 50 ms, so that the end is that much less sure.
ROUND = 50
PITCH = 700
# In the middle of nothing: one frame of Opus without anything in it, each 400 ms (RFC 6716 section 2.1.9).
COMFORT, COMFORT_FRAMES = b"\x78", 20
PAUSES = ["speaks on", "muted", "muted, its clock stands still", "comfort noise"]


def spurt(frames: int) -> list[bytes]:
    """A tone that begins at once, in packets of 20 ms."""
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


class Patchy(AudioStreamTrack):
    """Spurts and pauses as a seed has them, and when each spurt was sent."""

    def __init__(self, chance: random.Random):
        super().__init__()
        self.chance, self.spurts = chance, [spurt(frames) for frames in (30, 100, 400)]
        self.sample, self.due = 0, time.monotonic()
        self.plan = self.story()
        self.sent: list[float] = []
        self.paused = dict.fromkeys(PAUSES, 0)

    def story(self):
        """Packets, each with the frames that pass before it: those of its clock, and those of everybody's."""
        while True:
            pause = self.chance.choice(PAUSES)
            frames = 0 if pause == "speaks on" else self.chance.randint(25, 500)
            self.paused[pause] += 1
            if pause == "comfort noise":
                for _ in range(frames // COMFORT_FRAMES):
                    yield COMFORT, COMFORT_FRAMES, COMFORT_FRAMES, False
                frames %= COMFORT_FRAMES
            for number, packet in enumerate(self.chance.choice(self.spurts)):
                own = 0 if pause == "muted, its clock stands still" else frames
                yield packet, *((own, frames) if number == 0 else (0, 0)), number == 0 and pause != "speaks on"

    async def recv(self) -> av.Packet:
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


def onsets(sound: numpy.ndarray) -> list[float]:
    """When it grows loud after at least 200 ms of quiet, in milliseconds."""
    step = RATE // 1_000
    loud = numpy.abs(sound[: len(sound) // step * step].astype(int)).reshape(-1, step).max(axis=1) > 3_000
    found, quiet = [], 0
    for millisecond, is_loud in enumerate(loud):
        if is_loud and quiet >= 200:
            found.append(float(millisecond))
        quiet = 0 if is_loud else quiet + 1
    return found


class Found:
    """What stands in the files against what was done, in milliseconds."""

    def __init__(self, server: Server, chance: random.Random, seconds: float):
        self.track: Patchy | None = None
        self.problems: list[str] = []
        manifest, users, times = asyncio.run(self.call(server, chance, seconds))
        ann, ben = ([each for each in manifest["tracks"] if each["user"] == user] for user in users)
        if manifest["status"] != "complete" or len(ann) != 1 or len(ben) != 1:
            raise SystemExit(f"soak: it is not a track for each: {manifest}")
        files = [fetch(server, each) for each in (*ann, *ben)]
        for file in files:
            opusinfo(file)
        self.lengths(ann[0], ben[0], times)
        self.spurts(decode(files[0]), times[0] + ann[0]["offsetMs"] / 1000, times[2])
        self.tone(decode(files[1]))

    async def call(self, server: Server, chance: random.Random, seconds: float):
        async with group(server, 2, "audio") as (ann, ben):
            self.track = Patchy(chance)
            await ann.join(video=False, sound=self.track)
            await ben.join(video=False)
            await ann.hears(ben)
            asked = time.monotonic()
            await ben.endpoint.ask("calls.record", call=ben.call)
            begun = time.monotonic()
            await is_recorded(ann, ben)
            await asyncio.sleep(seconds)
            stopped = time.monotonic()
            await ben.endpoint.ask("calls.stopRecording", call=ben.call)
            times = asked, begun, stopped, time.monotonic()
            return await ended(server, ben, ben.call), [one.endpoint.user for one in (ann, ben)], times

    def expect(self, what: str, low: float, value: float, high: float) -> None:
        print(f"  {what}: {value:.1f} ms, {low:.1f} to {high:.1f} expected", flush=True)
        if not low <= value <= high:
            self.problems.append(f"{what}: {value:.1f} ms, and not {low:.1f} to {high:.1f}")

    def lengths(self, ann: dict, ben: dict, times: tuple[float, ...]) -> None:
        asked, begun, stopped, over = times
        ends = [each["offsetMs"] + each["durationMs"] for each in (ann, ben)]
        self.expect("the end of one file behind that of the other", -TOLERANCE, ends[0] - ends[1], TOLERANCE)
        for end in ends:
            self.expect("the end", (stopped - begun) * 1000 - TOLERANCE, end, (over - asked) * 1000 + ROUND + TOLERANCE)

    def spurts(self, sound: numpy.ndarray, began: float, stopped: float) -> None:
        """Each lies where it was said: as far from the first as on our clock."""
        # The first in the file may have begun before it.
        said = [moment for moment in self.track.sent if began + 0.5 < moment < stopped - 0.5]
        heard = [moment for moment in onsets(sound) if 500 < moment < len(sound) / RATE * 1000]
        near = [min(heard, key=lambda moment: abs(began * 1000 + moment - each * 1000), default=0) for each in said]
        differences = [moment - (each - began) * 1000 for moment, each in zip(near, said)]
        print(f"  {len(said)} spurts between {self.track.paused}", flush=True)
        if not said or len(heard) < len(said):
            self.problems.append(f"{len(said)} spurts were sent, {len(heard)} are heard")
            return
        middle = statistics.median(differences)
        self.expect("the most early of the spurts", -TOLERANCE, min(differences) - middle, 0)
        self.expect("the most late of the spurts", 0, max(differences) - middle, TOLERANCE)

    def tone(self, sound: numpy.ndarray) -> None:
        """It never pauses."""
        whole = numpy.abs(sound[RATE // 2 : len(sound) // RATE * RATE - RATE // 2].astype(int)).reshape(-1, RATE // 20)
        quiet = int((whole.max(axis=1) < 3_000).sum()) * 50
        self.expect("silence in the file of who never paused", 0, quiet, TOLERANCE)


def soak(directory: pathlib.Path, chance: random.Random, minutes: float) -> list[str]:
    """Returns what is wrong."""
    server = Server(directory, {"log": {"level": "warning"}})
    server.start()
    try:
        return Found(server, chance, minutes * 60).problems
    finally:
        server.stop()
