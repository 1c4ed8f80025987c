"""A camera whose picture costs as much as its encoder may spend: nothing in it can be foreseen.

What Chromium's own fake camera shows is so plain that the best layer of it goes through a link that is far too narrow
for anybody's face.
"""

import random

WIDTH, HEIGHT = 640, 360
BLOCK = 4
# Grey, and so little different from it that even the smallest layer can be made as small as it has to be.
LEVELS = range(112, 144)


def restless(path, rate, frames=20, seed=1):
    """Writes a film of pictures per second that share nothing, as YUV4MPEG2, and gives the flags that show it."""
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
