"""Ports for the tests' servers."""

from __future__ import annotations

import contextlib
import os
import random
import socket

# Below the kernel's ephemeral ports: no client can get the port between its choice and the server's start.
ALL = range(21_000, 32_000)
# Concurrent test processes have ranges of their own.
WORKER, WORKERS = (
    int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]),
    int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")),
)
RANGE = ALL[len(ALL) // WORKERS * WORKER :][: len(ALL) // WORKERS]
HOSTS = [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
taken: set[int] = set()


def free_port(width: int = 1) -> int:
    """A port that is free together with the next `width` - 1, for UDP and TCP on the loopback; never the same twice."""
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
