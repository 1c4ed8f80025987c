"""Writes the pictures in `images` with FFmpeg: .venv/bin/python Tests/ContainersTests/Fixtures/make_images.py"""

import fractions
import pathlib

import av
import numpy

FOLDER = pathlib.Path(__file__).parent / "images"
WIDTH, HEIGHT = 16, 12
Y, X = numpy.mgrid[0:HEIGHT, 0:WIDTH]
RGB = numpy.stack([X * 16, Y * 20, (X + Y) * 9], axis=2).astype(numpy.uint8)
RGBA = numpy.concatenate([RGB, (X * 17).astype(numpy.uint8)[..., None]], axis=2)


def still(name, codec, format, pixels, given, options=None):
    encoder = av.CodecContext.create(codec, "w")
    encoder.width, encoder.height, encoder.pix_fmt = WIDTH, HEIGHT, format
    encoder.time_base = fractions.Fraction(1, 25)
    encoder.options = options or {}
    frame = av.VideoFrame.from_ndarray(pixels, format=given).reformat(format=format)
    (FOLDER / name).write_bytes(b"".join(bytes(packet) for part in (frame, None) for packet in encoder.encode(part)))


def animation(name, codec, format):
    with av.open(str(FOLDER / name), "w", format=name.rpartition(".")[2].replace("png", "apng")) as container:
        stream = container.add_stream(codec, rate=5)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, format
        for number in range(3):
            frame = av.VideoFrame.from_ndarray(numpy.roll(RGBA, number * 3, axis=1).copy(), format="rgba")
            frame.pts = number
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


FOLDER.mkdir(exist_ok=True)
still("photo.jpg", "mjpeg", "yuvj420p", RGB, "rgb24")
still("grey.png", "png", "gray", RGB[..., 0].copy(), "gray")
still("picture.png", "png", "rgba", RGBA, "rgba")
still("lossy.webp", "libwebp", "yuv420p", RGB, "rgb24")
still("lossless.webp", "libwebp", "bgra", RGBA, "rgba", {"lossless": "1"})
still("transparent.webp", "libwebp", "yuva420p", RGBA, "rgba")
animation("animated.webp", "libwebp_anim", "yuva420p")
animation("animated.png", "apng", "rgba")
