"""Ports for the tests' servers."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import random
import socket
import tempfile

# Below the kernel's ephemeral ports: no client can get the port between its choice and the server's start.
SINGLE = range(21_000, 30_000)
# Several in a row, which would hardly be found among the others.
SEVERAL = range(30_000, 32_000)
HOSTS = [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
# Processes of one run, and of several at once, do not take the same ports: each holds locks on the bytes of this file
# whose offsets are its ports, until it ends.
LOCKS = pathlib.Path(tempfile.gettempdir()) / f"switchboard-tests-{os.getuid()}.ports"
taken: set[int] = set()
locks: list[int] = []


def free_port(width: int = 1) -> int:
    """A port that is free together with the next `width` - 1, for UDP and TCP on the loopback; never the same twice.
    The first of several is even."""
    for _ in range(10_000):
        port = random.choice(SINGLE if width == 1 else SEVERAL[: -width : 2])
        ports = range(port, port + width)
        if taken.intersection(ports) or not lock(port, width):
            continue
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            for number in ports:
                for family, host in HOSTS:
                    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                        stack.enter_context(socket.socket(family, kind)).bind((host, number))
            taken.update(ports)
            return port
    raise RuntimeError(f"no {width} ports in a row are free")


def lock(port: int, width: int) -> bool:
    """Takes the ports, unless another process has them."""
    if not locks:
        locks.append(os.open(LOCKS, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    try:
        fcntl.lockf(locks[0], fcntl.LOCK_EX | fcntl.LOCK_NB, width, port)
    except OSError:
        return False
    return True
