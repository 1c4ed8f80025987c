"""Ends what the tests have started when their process is killed, as at the end of a hang: a process of its own, since
nothing else is run then.

`PR_SET_PDEATHSIG` would end a server with the thread that started it, and some are started by threads of a pool.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import selectors
import signal
import struct
import subprocess
import sys

_reapers: dict[int, subprocess.Popen[bytes]] = {}


def ends_with_tests(pid: int) -> None:
    """Has a process of the tests killed, with its descendants, if it survives them."""
    owner = os.getpid()
    if owner not in _reapers:
        # A signal to the tests' process group is not for it.
        _reapers[owner] = subprocess.Popen(
            [sys.executable, "-I", __file__], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )
    pipe = _reapers[owner].stdin
    assert pipe is not None
    pipe.write(struct.pack("=i", pid))
    pipe.flush()


def _parents() -> dict[int, int]:
    """The parent of each process."""
    found = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            found[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    return found


def _descendants(pid: int) -> list[int]:
    parents = _parents()
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def _watch() -> None:
    """Reads process IDs until the pipe ends. A descriptor of a process cannot mean a later one with the same ID."""
    selector = selectors.DefaultSelector()
    selector.register(0, selectors.EVENT_READ)
    living: dict[int, int] = {}
    while True:
        for key, _ in selector.select():
            if key.fd in living:
                selector.unregister(key.fd)
                os.close(key.fd)
                del living[key.fd]
                continue
            packed = os.read(0, 4)
            if not packed:
                for descriptor, pid in living.items():
                    _kill(descriptor, pid)
                return
            [pid] = struct.unpack("=i", packed)
            with contextlib.suppress(ProcessLookupError):
                descriptor = os.pidfd_open(pid)
                living[descriptor] = pid
                selector.register(descriptor, selectors.EVENT_READ)


def _kill(descriptor: int, pid: int) -> None:
    descendants = _descendants(pid)
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        for one in descendants:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)


if __name__ == "__main__":
    _watch()
