"""Audio files, written and read by FFmpeg (PyAV), to send as voice messages."""

from __future__ import annotations

import fractions
import io
import math
import subprocess
from typing import cast

import av
import numpy

RATE = 48_000


def tone(seconds: float) -> numpy.ndarray:
    """A tone of rising amplitude."""
    time = numpy.arange(int(seconds * RATE)) / RATE
    return (numpy.sin(2 * math.pi * 440 * time) * time / seconds * 0.5 * 32_767).astype(numpy.int16)


def voice(seconds: float) -> numpy.ndarray:
    """A tone of alternating amplitude, which speech detection accepts as a voice."""
    time = numpy.arange(int(seconds * RATE)) / RATE
    return (numpy.sin(2 * math.pi * 200 * time) * numpy.sin(2 * math.pi * 3 * time) ** 2 * 12_000).astype(numpy.int16)


def encode(samples: numpy.ndarray, format: str = "ogg", codec: str = "libopus", **options: str) -> bytes:
    """A file as FFmpeg writes it; `live="1"` makes WebM like a browser's recorder."""
    file = io.BytesIO()
    with av.open(file, "w", format=format, options=options) as container:
        stream = cast("av.AudioStream", container.add_stream(codec, rate=RATE, layout="mono"))
        stream.bit_rate = 32_000
        frame = av.AudioFrame.from_ndarray(samples[None, :], format="s16", layout="mono")
        frame.sample_rate = RATE
        stream.codec_context.open()
        resampler = av.AudioResampler(
            format=stream.format, layout="mono", rate=RATE, frame_size=stream.codec_context.frame_size or None
        )
        for part in [*resampler.resample(frame), *resampler.resample(None), None]:
            container.mux(stream.encode(part))
    return file.getvalue()


def with_gap(before: float, gap: float, after: float) -> bytes:
    """WebM with a gap: a tone, nothing, a tone."""
    file = io.BytesIO()
    with av.open(file, "w", format="webm") as container:
        stream = container.add_stream("libopus", rate=RATE, layout="mono")
        stream.codec_context.open()
        samples = numpy.concatenate([tone(before), tone(after)])
        frame = av.AudioFrame.from_ndarray(samples[None, :], format="s16", layout="mono")
        frame.sample_rate = RATE
        resampler = av.AudioResampler(
            format=stream.format, layout="mono", rate=RATE, frame_size=stream.codec_context.frame_size
        )
        time = 0
        for part in [*resampler.resample(frame), *resampler.resample(None), None]:
            for packet in stream.encode(part):
                packet.time_base = fractions.Fraction(1, RATE)
                packet.pts = packet.dts = time + (int(gap * RATE) if time >= before * RATE else 0)
                time += stream.codec_context.frame_size
                container.mux(packet)
    return file.getvalue()


def decode(file: bytes) -> numpy.ndarray:
    with av.open(io.BytesIO(file), "r") as container:
        resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
        parts = [part.to_ndarray()[0] for frame in container.decode(audio=0) for part in resampler.resample(frame)]
    return numpy.concatenate(parts)


def opusinfo(file: bytes, known: str | None = None) -> str:
    """The output of Xiph's tool for a file; fails on warnings except one that is `known`."""
    done = subprocess.run(["opusinfo", "/dev/stdin"], input=file, capture_output=True, timeout=20)
    text = (done.stdout + done.stderr).decode()
    warnings = [line for line in text.splitlines() if "WARNING" in line and not (known and known in line)]
    assert not warnings and (done.returncode == 0 or (known and known in text)), text
    return text


def ogg_page(number: int, flags: int, granule: int, packets: list[bytes]) -> bytes:
    """A page of an Ogg file (RFC 3533 section 6) of short packets, with its checksum."""
    head = b"OggS\0" + bytes([flags]) + granule.to_bytes(8, "little") + (7).to_bytes(4, "little")
    head += number.to_bytes(4, "little") + bytes(4) + bytes([len(packets)]) + bytes(len(packet) for packet in packets)
    page = head + b"".join(packets)
    checksum = 0
    for byte in page:
        checksum = (checksum << 8 & 0xFFFFFFFF) ^ CHECKSUMS[checksum >> 24 ^ byte]
    return page[:22] + checksum.to_bytes(4, "little") + page[26:]


def checksum_of(byte: int) -> int:
    value = byte << 24
    for _ in range(8):
        value = (value << 1 ^ 0x04C11DB7 if value & 0x80000000 else value << 1) & 0xFFFFFFFF
    return value


CHECKSUMS = [checksum_of(byte) for byte in range(256)]
