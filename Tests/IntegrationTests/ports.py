"""Ports for the tests' servers."""

from __future__ import annotations

import contextlib
import os
import random
import socket

# Below those that the kernel gives to whoever asks for any port: between a port's being chosen and the server's start,
# no client can come to have it.
ALL = range(21_000, 32_000)
# Tests that run beside these have others.
WORKER, WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]), int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
RANGE = ALL[len(ALL) // WORKERS * WORKER :][: len(ALL) // WORKERS]
HOSTS = [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
taken: set[int] = set()


def free_port(width: int = 1) -> int:
    """A port that nobody has, nor the `width` - 1 behind it, for UDP and TCP on the loopback; never the same one twice."""
    while True:
        port = random.choice(RANGE)
        ports = range(port, port + width)
        if taken.intersection(ports):
            continue
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            for number in ports:
                for family, host in HOSTS:
                    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                        stack.enter_context(socket.socket(family, kind)).bind((host, number))
            taken.update(ports)
            return port
