"""Writes the files beside it with FFmpeg: .venv/bin/python Tests/ContainersTests/Fixtures/make.py"""

import math
import pathlib

import av
import numpy

HERE = pathlib.Path(__file__).parent
RATE = 48_000


def make(name, seconds, layout="mono", options=None, pause=0.0):
    """A tone, with a pause before it and behind it."""
    with av.open(str(HERE / name), "w", format=name.rpartition(".")[2], options=options or {}) as container:
        stream = container.add_stream("libopus", rate=RATE, layout=layout)
        stream.bit_rate = 16_000
        time = numpy.arange(int(seconds * RATE)) / RATE
        tone = (0.3 * 32_767 * numpy.sin(2 * math.pi * 440 * time)).astype(numpy.int16)
        tone = numpy.pad(tone, int(pause * RATE))
        frame = av.AudioFrame.from_ndarray(
            numpy.repeat(tone, 2 if layout == "stereo" else 1)[None, :], format="s16", layout=layout
        )
        frame.sample_rate = RATE
        for part in (frame, None):
            container.mux(stream.encode(part))


make("tone.ogg", 1.25)
make("tone.webm", 1.25)
make("stereo.ogg", 1.5, "stereo")
# As a recorder writes it that does not know yet how long it will be.
make("live.webm", 1.25, options={"live": "1"})
# As loud as speech between pauses, which is taken for speech.
make("pauses.ogg", 1.25, pause=1.0)
