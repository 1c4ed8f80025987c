"""An impaired link between two network namespaces: it loses, delays and reorders datagrams, reproducibly by a seed.

The kernel may lack `tc netem`. So each end is a TAP device, through which the kernel exchanges Ethernet frames with a
process that copies them from one to the other: this file, run as a program. But for `latency`, only UDP is impaired,
by the datagram's number in its direction: with the same seed the same datagrams are affected.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import fcntl
import heapq
import json
import os
import random
import select
import struct
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from switchboard_tests.namespaces import Namespace


TUNSETIFF, TAP, NO_PACKET_INFORMATION = 0x400454CA, 2, 0x1000
MAX_FRAME = 65_536


@dataclasses.dataclass(frozen=True)
class Impairments:
    """The impairments of one direction. Shares are of 1, times in seconds."""

    # The delay of everything, TCP included.
    latency: float = 0
    # The share that is lost.
    loss: float = 0
    # The maximum extra delay; the order is kept.
    jitter: float = 0
    # The share that is delayed by `late`, and overtaken by others.
    reordered: float = 0
    late: float = 0


class ImpairedLink:
    """The link and its process. Up is from the second namespace to the first."""

    def __init__(self, first: Namespace, first_name: str, second: Namespace, second_name: str, seed: int) -> None:
        self.ends = [(first, first_name), (second, second_name)]
        taps = [tap(namespace, name) for namespace, name in self.ends]
        for namespace, name in self.ends:
            # A queue for bursts while the process waits for the CPU, such as a web page.
            namespace.run(f"ip link set {name} txqueuelen 10000")
        self.process = subprocess.Popen(
            [sys.executable, __file__, *map(str, taps), str(seed)], pass_fds=taps,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for descriptor in taps:
            os.close(descriptor)
        # Waits until the process is running.
        self._ask({})

    def impair(self, up: Impairments = Impairments(), down: Impairments = Impairments()) -> None:
        """Sets the impairments; without any it is a normal link again."""
        self._ask({"up": dataclasses.asdict(up), "down": dataclasses.asdict(down)})

    def counts(self) -> dict[str, dict[str, int]]:
        """Per direction: its `datagrams`, those `lost` and `reordered` on purpose, and those `dropped` by the link
        itself."""
        counts = self._ask({})
        for (namespace, name), direction in zip(self.ends, ("down", "up")):
            with namespace.inside():
                shown = subprocess.run(["ip", "-s", "-j", "link", "show", name], capture_output=True, check=True).stdout
            # The kernel drops frames when the process does not fetch them in time.
            counts[direction]["dropped"] += json.loads(shown)[0]["stats64"]["tx"]["dropped"]
        return counts

    def _ask(self, command: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(10)


def tap(namespace: Namespace, name: str) -> int:
    """Creates a TAP device in the namespace. It lives as long as its descriptor is open."""
    with namespace.inside():
        descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH14x", name.encode(), TAP | NO_PACKET_INFORMATION))
    return descriptor


class Direction:
    """The frames of one direction."""

    def __init__(self, source: int, target: int, seed: str) -> None:
        self.source, self.target = source, target
        self.random = random.Random(seed)
        self.impairments = Impairments()
        self.waiting: list[tuple[float, int, bytes]] = []
        self.number = 0
        # The departure time of the last datagram that keeps the order.
        self.last = 0.0
        self.counts = {"datagrams": 0, "lost": 0, "reordered": 0, "dropped": 0}

    def fetch(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                frame = os.read(self.source, MAX_FRAME)
                now = time.monotonic()
                due = self.decide(now) if is_datagram(frame) else now
                if due is not None:
                    self.number += 1
                    heapq.heappush(self.waiting, (due + self.impairments.latency, self.number, frame))

    def decide(self, now: float) -> float | None:
        """The datagram's departure time; None if it is lost."""
        self.counts["datagrams"] += 1
        impairments = self.impairments
        # Always draws three numbers, so that the impairments do not affect later draws.
        lost, delayed, reordered = (self.random.random() for _ in range(3))
        if lost < impairments.loss:
            self.counts["lost"] += 1
            return None
        due = self.last = max(self.last, now + delayed * impairments.jitter)
        if reordered < impairments.reordered:
            self.counts["reordered"] += 1
            due += impairments.late
        return due

    def deliver(self) -> None:
        now = time.monotonic()
        while self.waiting and self.waiting[0][0] <= now:
            try:
                os.write(self.target, heapq.heappop(self.waiting)[2])
            except OSError as error:
                # An interface that is not up yet accepts no frames.
                if error.errno != errno.EIO:
                    self.counts["dropped"] += 1


def is_datagram(frame: bytes) -> bool:
    """IPv4 with UDP in it."""
    return frame[12:14] == b"\x08\x00" and frame[23:24] == b"\x11"


def main() -> None:
    first, second, seed = (int(argument) for argument in sys.argv[1:])
    directions = {"down": Direction(first, second, f"{seed} down"), "up": Direction(second, first, f"{seed} up")}
    # A higher priority than the browsers that keep the machine busy.
    with contextlib.suppress(PermissionError):
        os.nice(-15)
    poll = select.poll()
    for descriptor in (first, second, sys.stdin.fileno()):
        poll.register(descriptor, select.POLLIN)
    while True:
        due = [direction.waiting[0][0] for direction in directions.values() if direction.waiting]
        pause = max(0, min(due) - time.monotonic()) * 1000 if due else None
        ready = {descriptor for descriptor, _ in poll.poll(pause)}
        for direction in directions.values():
            if direction.source in ready:
                direction.fetch()
            direction.deliver()
        if sys.stdin.fileno() in ready:
            line = sys.stdin.readline()
            if not line:
                return
            for name, impairments in json.loads(line).items():
                directions[name].impairments = Impairments(**impairments)
            print(json.dumps({name: direction.counts for name, direction in directions.items()}), flush=True)


if __name__ == "__main__":
    main()
