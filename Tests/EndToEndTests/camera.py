"""A fake camera with random noise, which needs the encoder's full bit rate.

The picture of Chromium's own fake camera is so simple that its best layer fits a link that is far too narrow for real
video.
"""

import random

WIDTH, HEIGHT = 640, 360
BLOCK = 4
# Low contrast, so that even the smallest layer meets its bit rate.
LEVELS = range(112, 144)


def write_noise_film(path, rate, frames=20, seed=1):
    """Writes a film of unrelated noise frames as YUV4MPEG2, and returns the browser flags that play it."""
    levels = random.Random(seed)
    colours = bytes([128]) * (WIDTH * HEIGHT // 2)
    with path.open("wb") as film:
        film.write(f"YUV4MPEG2 W{WIDTH} H{HEIGHT} F{rate}:1 Ip A1:1 C420mpeg2\n".encode())
        for _ in range(frames):
            film.write(b"FRAME\n")
            for _ in range(HEIGHT // BLOCK):
                blocks = levels.choices(LEVELS, k=WIDTH // BLOCK)
                film.write(b"".join(bytes([level]) * BLOCK for level in blocks) * BLOCK)
            film.write(colours)
    return [f"--use-file-for-fake-video-capture={path}"]
