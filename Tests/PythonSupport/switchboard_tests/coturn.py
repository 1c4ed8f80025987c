"""coturn's command-line clients, run against the server under test."""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from switchboard_tests.ports import free_port
from switchboard_tests.reaper import ends_with_tests

SECRET = "a secret of the tests, long enough"
STATIC = ["-u", "alice", "-w", "wonderland"]
EPHEMERAL = ["-u", "bob", "-W", SECRET]


def require(tool: str) -> None:
    if not shutil.which(tool):
        pytest.skip(f"{tool} is not installed (apt-get install coturn)")


@dataclasses.dataclass
class Report:
    """The packet counts reported by turnutils_uclient; -1 for missing ones."""

    sent: int
    received: int
    lost: int
    output: str

    def __post_init__(self) -> None:
        self.tail = self.output[-3000:]


def uclient(port: int, arguments: list[str], *, clients: int = 4, prefix: list[str] | None = None) -> Report:
    """Runs turnutils_uclient with 40 messages for each client; the last argument is the server's address."""
    done = subprocess.run(
        [
            *(prefix or []),
            "turnutils_uclient",
            "-p",
            str(port),
            "-n",
            "40",
            "-m",
            str(clients),
            "-l",
            "170",
            "-z",
            "5",
            *arguments,
        ],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=90,
    )
    output = done.stdout + done.stderr
    counts = re.findall(r"tot_send_msgs=(\d+), tot_recv_msgs=(\d+)", output)
    lost = re.search(r"Total lost packets (\d+)", output)
    sent, received = counts[-1] if counts else (-1, -1)
    return Report(int(sent), int(received), int(lost.group(1)) if lost else -1, output)


class SideBySide:
    """Runs of a program for the selected parameters of one test, a few at a time: each takes seconds and mostly waits.

    The first test starts them all, and each gets the result of its own run.
    """

    def __init__(self, request: pytest.FixtureRequest, test: str, run: Callable[..., Any]) -> None:
        self.pool = concurrent.futures.ThreadPoolExecutor(8)
        request.addfinalizer(lambda: self.pool.shutdown(cancel_futures=True))
        items: list[Any] = request.session.items
        chosen = [item for item in items if item.module is request.module and item.originalname == test]
        self.runs = {self.key(item.callspec.params): self.pool.submit(run, **item.callspec.params) for item in chosen}
        self.done = 0

    @staticmethod
    def key(parameters: dict[str, Any]) -> str:
        return repr(sorted(parameters.items()))

    def __call__(self, **parameters: Any) -> Any:
        result = self.runs[self.key(parameters)].result()
        self.done += 1
        return result


@contextlib.contextmanager
def echoing_peer() -> Iterator[int]:
    """turnutils_peer on a port of 127.0.0.1 and ::1, which it returns. It has the next one too, to which uclient
    without -c sends every other packet."""
    require("turnutils_peer")
    port = free_port(2)
    process = subprocess.Popen(
        ["turnutils_peer", "-L", "127.0.0.1", "-L", "::1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    ends_with_tests(process.pid)
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.settimeout(0.1)
            waiting = {("127.0.0.1", port), ("127.0.0.1", port + 1)}
            for _ in range(100):
                for target in waiting:
                    probe.sendto(b"ready?", target)
                with contextlib.suppress(TimeoutError, ConnectionError):
                    waiting.discard(probe.recvfrom(100)[1])
                if not waiting:
                    break
            else:
                raise AssertionError(f"turnutils_peer does not respond on {waiting}")
        yield port
    finally:
        process.kill()
        process.wait()
