"""FFmpeg's WHIP muxer, as PyAV's wheel brings it: publishes a gray picture and a tone in both channels, in real time
until it is ended.

    python ffmpeg_publisher.py ADDRESS TOKEN [name=value …]

Further arguments are options of libx264.
"""

from __future__ import annotations

import fractions
import sys
import time

import av
import numpy

RATE, FRAMES_PER_SECOND, SAMPLES = 48_000, 25, 960
WIDTH, HEIGHT, BRIGHTNESS, PITCH = 320, 240, 140, 700


def main(address: str, token: str, options: dict[str, str]) -> None:
    with av.open(address, "w", format="whip", options={"authorization": token}) as output:
        video = output.add_stream("libx264", FRAMES_PER_SECOND, options=options)
        video.width, video.height, video.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        video.gop_size = FRAMES_PER_SECOND
        audio = output.add_stream("libopus", RATE, layout="stereo")
        picture = numpy.full((HEIGHT * 3 // 2, WIDTH), 128, numpy.uint8)
        picture[:HEIGHT] = BRIGHTNESS
        start, samples, pictures = time.monotonic(), 0, 0
        while True:
            now = time.monotonic() - start
            while pictures <= now * FRAMES_PER_SECOND:
                frame = av.VideoFrame.from_ndarray(picture, format="yuv420p")
                frame.pts, frame.time_base = pictures, fractions.Fraction(1, FRAMES_PER_SECOND)
                output.mux(video.encode(frame))
                pictures += 1
            while samples <= now * RATE:
                phase = numpy.arange(samples, samples + SAMPLES) * 2 * numpy.pi * PITCH / RATE
                left = (numpy.sin(phase) * 8000).astype(numpy.int16)
                sound = av.AudioFrame.from_ndarray(
                    numpy.stack([left, left], axis=1).reshape(1, -1), format="s16", layout="stereo")
                sound.sample_rate, sound.pts = RATE, samples
                sound.time_base = fractions.Fraction(1, RATE)
                output.mux(audio.encode(sound))
                samples += SAMPLES
            time.sleep(0.005)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], dict(argument.split("=", 1) for argument in sys.argv[3:]))
