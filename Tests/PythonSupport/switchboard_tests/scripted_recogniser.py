"""A speech recogniser that is never wrong: a program for the transcription provider "command".

It knows a few texts, each by a pitch. `utterance` makes the audio of a text, a tone with syllables that speech
detection accepts as a voice, and the program finds it again in what comes through Opus, jitter buffers and the server's
own detection, however busy the machine is. Its output is pocketsphinx 5's: a line of JSON for each utterance.

The server runs this file by its path, without this package and without numpy, which takes longer to load than the work.
"""

from __future__ import annotations

import array
import json
import math
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy

# Of its input, 16-bit little-endian samples, and of what `utterance` makes.
INPUT_RATE, SPOKEN_RATE = 16_000, 48_000
# Within the range of voices, and none a multiple of another.
PITCHES = {"one two three four five": 150, "six seven eight nine ten": 220, "one two three": 310}
SYLLABLES_PER_SECOND = 3
FRAME = INPUT_RATE // 50
# A frame louder than this belongs to an utterance, which ends with so many frames that do not.
LOUD, PAUSE_FRAMES = 300, 20
# The part of an utterance's energy that has its pitch; the rest is noise of the codec and the edges of lost packets.
PURITY = 0.3

COMMAND = {"transcription": {"provider": "command", "command": [sys.executable, "-I", __file__]}}


def utterance(text: str) -> numpy.ndarray:
    """The audio of a text that it knows, two syllables a word."""
    import numpy

    time = numpy.arange(int(len(text.split()) * SPOKEN_RATE * 0.4)) / SPOKEN_RATE
    envelope = numpy.sin(numpy.pi * SYLLABLES_PER_SECOND * time) ** 2
    return (numpy.sin(2 * numpy.pi * PITCHES[text] * time) * envelope * 12_000).astype(numpy.int16)


def recognise(samples: array.array[int]) -> list[dict[str, Any]]:
    """Its utterances, with their times in seconds and those of their words. Parts that follow each other with one text
    are one: a speaker who was starved of processor time has pauses."""
    spoken: list[tuple[str, int, int]] = []
    for begin, end in loud_parts(samples):
        text = text_of(samples[begin:end])
        if text is None:
            continue
        is_continued = spoken and spoken[-1][0] == text
        spoken.append((text, spoken.pop()[1] if is_continued else begin, end))
    found = []
    for text, begin, end in spoken:
        words = text.split()
        start, length = begin / INPUT_RATE, (end - begin) / INPUT_RATE
        timed = [
            {"b": start + length * index / len(words), "d": length / len(words), "t": word}
            for index, word in enumerate(words)
        ]
        found.append({"b": start, "d": length, "t": text, "w": timed})
    return found


def loud_parts(samples: array.array[int]) -> Iterator[tuple[int, int]]:
    """From the first to the last loud frame of each utterance."""
    begin = end = None
    for position in range(0, len(samples), FRAME):
        if max(map(abs, samples[position : position + FRAME])) > LOUD:
            begin, end = position if begin is None else begin, min(position + FRAME, len(samples))
        elif begin is not None and end is not None and position - end >= PAUSE_FRAMES * FRAME:
            yield begin, end
            begin = end = None
    if begin is not None and end is not None:
        yield begin, end


def text_of(samples: array.array[int]) -> str | None:
    """The text whose pitch is the strongest in each tenth of a second, by most of them."""
    votes = dict.fromkeys(PITCHES, 0.0)
    window = INPUT_RATE // 10
    for position in range(0, len(samples), window):
        part = samples[position : position + window]
        energy = sum(sample * sample for sample in part) * len(part) / 2
        powers = {text: power(part, pitch) for text, pitch in PITCHES.items()}
        strongest = max(powers, key=lambda text: powers[text])
        if powers[strongest] > PURITY * energy > 0:
            votes[strongest] += powers[strongest]
    best = max(votes, key=lambda text: votes[text])
    return best if votes[best] else None


def power(samples: array.array[int], pitch: float) -> float:
    """By Goertzel's algorithm."""
    factor = 2 * math.cos(2 * math.pi * pitch / INPUT_RATE)
    last = before = 0.0
    for sample in samples:
        last, before = sample + factor * last - before, last
    return last * last + before * before - factor * last * before


def recognised_text(audio: bytes) -> str:
    return " ".join(one["t"] for one in recognise(samples_of(audio)))


def samples_of(audio: bytes) -> array.array[int]:
    samples = array.array("h", audio[: len(audio) // 2 * 2])
    if sys.byteorder == "big":
        samples.byteswap()
    return samples


if __name__ == "__main__":
    for one in recognise(samples_of(sys.stdin.buffer.read())):
        print(json.dumps(one))
