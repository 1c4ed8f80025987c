"""A bad link between two network namespaces: it loses, delays and reorders datagrams as it is told, and by a seed.

This kernel may have no `tc netem`. So each end is a TAP device, at which the kernel hands Ethernet frames out and takes
them back, and a process copies them from one to the other: this file, run as a program. It leaves alone what is no UDP, and
decides about datagrams by their number in their direction: the same seed makes the same fate of each.
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

TUNSETIFF, TAP, NO_PACKET_INFORMATION = 0x400454CA, 2, 0x1000
LONGEST = 65_536


@dataclasses.dataclass(frozen=True)
class Faults:
    """What happens to the datagrams of one direction. Shares are of 1, times in seconds."""

    # Those that never arrive.
    loss: float = 0
    # How much longer one may take than another; their order stays.
    jitter: float = 0
    # Those that are held back by `late`, while others overtake them.
    reordered: float = 0
    late: float = 0


class Wire:
    """The link and its process. Up is from the second namespace to the first."""

    def __init__(self, first, first_name: str, second, second_name: str, seed: int):
        self.ends = [(first, first_name), (second, second_name)]
        taps = [tap(namespace, name) for namespace, name in self.ends]
        for namespace, name in self.ends:
            # Room for what comes while the process waits for its turn: a page, all at once.
            namespace.run(f"ip link set {name} txqueuelen 10000")
        self.process = subprocess.Popen(
            [sys.executable, __file__, *map(str, taps), str(seed)], pass_fds=taps,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for descriptor in taps:
            os.close(descriptor)
        # Frames would wait for a process that begins.
        self._ask({})

    def suffer(self, up: Faults = Faults(), down: Faults = Faults()) -> None:
        """From now on that happens; without faults it is a good link again."""
        self._ask({"up": dataclasses.asdict(up), "down": dataclasses.asdict(down)})

    def counts(self) -> dict[str, dict[str, int]]:
        """Of each direction: its `datagrams`, those `lost` and `reordered` as told, and what the link itself `dropped`."""
        counts = self._ask({})
        for (namespace, name), way in zip(self.ends, ("down", "up")):
            with namespace.inside():
                shown = subprocess.run(["ip", "-s", "-j", "link", "show", name], capture_output=True, check=True).stdout
            # The kernel drops frames when the process does not fetch them in time.
            counts[way]["dropped"] += json.loads(shown)[0]["stats64"]["tx"]["dropped"]
        return counts

    def _ask(self, command: dict) -> dict:
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(10)


def tap(namespace, name: str) -> int:
    """Makes a TAP device there. It lives as long as its descriptor is open."""
    with namespace.inside():
        descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH14x", name.encode(), TAP | NO_PACKET_INFORMATION))
    return descriptor


class Way:
    """The frames of one direction."""

    def __init__(self, source: int, target: int, seed: str):
        self.source, self.target = source, target
        self.random = random.Random(seed)
        self.faults = Faults()
        self.waiting: list[tuple[float, int, bytes]] = []
        self.number = 0
        # When the last of those left that keep their order.
        self.last = 0.0
        self.counts = {"datagrams": 0, "lost": 0, "reordered": 0, "dropped": 0}

    def fetch(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                frame = os.read(self.source, LONGEST)
                now = time.monotonic()
                due = self.decide(now) if is_datagram(frame) else now
                if due is not None:
                    self.number += 1
                    heapq.heappush(self.waiting, (due, self.number, frame))

    def decide(self, now: float) -> float | None:
        """When the datagram is to leave; never when it is lost."""
        self.counts["datagrams"] += 1
        faults = self.faults
        # Always as many numbers, so that what happens to one changes nothing for the next.
        lost, delayed, reordered = (self.random.random() for _ in range(3))
        if lost < faults.loss:
            self.counts["lost"] += 1
            return None
        due = self.last = max(self.last, now + delayed * faults.jitter)
        if reordered < faults.reordered:
            self.counts["reordered"] += 1
            due += faults.late
        return due

    def deliver(self) -> None:
        now = time.monotonic()
        while self.waiting and self.waiting[0][0] <= now:
            try:
                os.write(self.target, heapq.heappop(self.waiting)[2])
            except OSError as error:
                # An end that is not up yet takes nothing, as with any cable.
                if error.errno != errno.EIO:
                    self.counts["dropped"] += 1


def is_datagram(frame: bytes) -> bool:
    """IPv4 with UDP in it."""
    return frame[12:14] == b"\x08\x00" and frame[23:24] == b"\x11"


def main() -> None:
    first, second, seed = (int(argument) for argument in sys.argv[1:])
    ways = {"down": Way(first, second, f"{seed} down"), "up": Way(second, first, f"{seed} up")}
    # A link does not wait for its turn while browsers keep the machine busy.
    with contextlib.suppress(PermissionError):
        os.nice(-15)
    poll = select.poll()
    for descriptor in (first, second, sys.stdin.fileno()):
        poll.register(descriptor, select.POLLIN)
    while True:
        due = [way.waiting[0][0] for way in ways.values() if way.waiting]
        pause = max(0, min(due) - time.monotonic()) * 1000 if due else None
        ready = {descriptor for descriptor, _ in poll.poll(pause)}
        for way in ways.values():
            if way.source in ready:
                way.fetch()
            way.deliver()
        if sys.stdin.fileno() in ready:
            line = sys.stdin.readline()
            if not line:
                return
            for name, faults in json.loads(line).items():
                ways[name].faults = Faults(**faults)
            print(json.dumps({name: way.counts for name, way in ways.items()}), flush=True)


if __name__ == "__main__":
    main()
