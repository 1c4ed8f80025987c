"""What goes wrong while clients write: one random fault after the other."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import os
import random
import subprocess
from collections.abc import Iterator

from switchboard_tests.chat.clock import Clock
from switchboard_tests.chat.device import Device, expiring
from switchboard_tests.idle_session import IdleSession
from switchboard_tests.server import Server, User

KINDS = [
    "kill", "cut", "cut all", "drop responses", "slow reader", "expired token", "clock jump", "close crowd",
    "full disk",
]  # fmt: skip

# Of the crowd, at a time: the devices share this thread.
CONNECTING = 20


class Faults:
    """The crowd are users whose idle sessions close all at once, `sessions_each` of each."""

    def __init__(
        self, server: Server, devices: list[Device], clock: Clock, crowd: list[User], rng: random.Random,
        has_small_disk: bool, sessions_each: int = 20,
    ) -> None:  # fmt: skip
        self.server = server
        self.devices = devices
        self.clock = clock
        self.crowd = crowd
        self.rng = rng
        self.sessions_each = sessions_each
        self.counts: collections.Counter[str] = collections.Counter()
        # The most sessions of the crowd that were open.
        self.closed_at_once = 0
        self.kinds = [kind for kind in KINDS if has_small_disk or kind != "full disk"]
        # Every kind before any twice.
        self.next: list[str] = []

    async def one(self) -> None:
        if not self.next:
            # The server's death is what there is most of.
            self.next = [*self.kinds, "kill", "kill"]
            self.rng.shuffle(self.next)
        kind = self.next.pop()
        self.counts[kind] += 1
        await getattr(self, kind.replace(" ", "_"))()

    async def pause(self, longest: float) -> None:
        await asyncio.sleep(self.rng.random() * longest)

    async def kill(self) -> None:
        await asyncio.to_thread(self.server.kill)
        await asyncio.to_thread(self.server.start)

    async def cut(self) -> None:
        device = self.rng.choice(self.devices)
        device.proxy.cut()
        await self.pause(0.3)
        device.proxy.restore()

    async def cut_all(self) -> None:
        for device in self.devices:
            device.proxy.cut()
        await self.pause(0.3)
        for device in self.devices:
            device.proxy.restore()

    async def drop_responses(self) -> None:
        some = self.rng.sample(self.devices, 3)
        for device in some:
            device.proxy.swallow()
        await self.pause(0.3)
        for device in some:
            device.proxy.cut()
            device.proxy.restore()

    async def slow_reader(self) -> None:
        device = self.rng.choice(self.devices)
        device.proxy.pause()
        await self.pause(2)
        device.proxy.resume()

    async def expired_token(self) -> None:
        device = self.rng.choice(self.devices)
        device.token = expiring(self.server, device.lasting_token, 1)
        device.proxy.cut()
        device.proxy.restore()
        await self.pause(0.5)

    async def clock_jump(self) -> None:
        self.clock.set(self.rng.choice([-100, -10, 0, 10, 100]))
        await self.pause(0.3)

    async def full_disk(self) -> None:
        filler = self.server.data / "filler"
        await asyncio.to_thread(fill, filler)
        await self.pause(1)
        filler.unlink()

    async def close_crowd(self) -> None:
        sessions = [IdleSession(user) for user in self.crowd for _ in range(self.sessions_each)]
        opened = []
        for first in range(0, len(sessions), CONNECTING):
            some = sessions[first : first + CONNECTING]
            results = await asyncio.gather(*(one.open(self.server.port) for one in some), return_exceptions=True)
            for session, result in zip(some, results, strict=True):
                if result is None:
                    opened.append(session)
                # The server closes what sends no request or hello for seconds, as on a machine with much else to do.
                elif not isinstance(result, (ConnectionError, asyncio.IncompleteReadError)):
                    raise result
        for session in opened:
            session.abort()
        self.closed_at_once = max(self.closed_at_once, len(opened))
        await self.pause(0.2)


def fill(path: os.PathLike[str]) -> None:
    """Writes until nothing fits any more."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        for size in (1 << 20, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while os.write(file, bytes(size)) == size:
                    pass
    finally:
        os.close(file)


@contextlib.contextmanager
def data_on_a_small_disk(server: Server, size: str) -> Iterator[bool]:
    """The data directory of a server that has not started is a disk of this size; False where that is not allowed."""
    if os.geteuid() != 0:
        yield False
        return
    server.data.mkdir(parents=True, mode=0o700)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(server.data)], check=True)
    try:
        yield True
    finally:
        subprocess.run(["umount", "--lazy", str(server.data)], check=True)
