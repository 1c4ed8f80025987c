"""A run: users with two devices each write while faults happen; then everything is read and checked."""

from __future__ import annotations

import asyncio
import random
import time
from typing import Any

from switchboard_tests.chat.actor import Actor
from switchboard_tests.chat.clock import Clock
from switchboard_tests.chat.device import Device
from switchboard_tests.chat.faults import Faults
from switchboard_tests.chat.history import History, Reader, check
from switchboard_tests.conversations import befriend, direct, group
from switchboard_tests.server import Server, User

USERS, DEVICES = 5, 2
LIMITS = {
    "friendRequestsPerHour": 10_000, "conversationsPerHour": 1_000_000, "messagesPerMinute": 10_000_000,
    "requestsPerMinute": 10_000_000,
}  # fmt: skip
SETTINGS: dict[str, Any] = {"limits": LIMITS, "media": {"minFreeBytes": 0}}
# Until everything that was written has reached every device.
QUIET_SECONDS = 60


class Run:
    """`server` was made with SETTINGS and has started."""

    def __init__(
        self, server: Server, clock: Clock, rng: random.Random, has_small_disk: bool, crowd: int = 5, **actors: Any
    ) -> None:  # fmt: skip
        self.server = server
        self.rng = rng
        self.users = server.users(USERS)
        self.history = History()
        owner, *others = self.users
        for other in others:
            befriend(owner, other)
        left = others[-1]
        # The last member of the second group leaves and returns.
        self.members = {
            direct(owner, others[0]): [owner, others[0]],
            group(owner, others): [owner, *others],
            (managed := group(owner, others)): [owner, *others],
        }
        self.devices: list[Device] = []
        self.actors: list[Actor] = []
        for user in self.users:
            mine = [id for id, members in self.members.items() if user in members]
            devices = [Device(server, user, f"{user.id} {index + 1}", mine) for index in range(DEVICES)]
            self.devices += devices
            manages = (managed, left.id) if user is owner else None
            self.actors.append(Actor(devices, mine, self.history, random.Random(rng.random()), manages, **actors))
        self.faults = Faults(server, self.devices, clock, server.users(crowd), rng, has_small_disk)

    async def write(self, faults: int, between: int = 10) -> None:
        """Writes while so many faults happen, after each so many messages, and waits for all results."""
        for device in self.devices:
            if device.supervisor is None:
                device.start()
        for actor in self.actors:
            actor.is_stopping = False
        tasks = [asyncio.create_task(actor.run()) for actor in self.actors]
        for _ in range(faults):
            wanted = len(self.history.sent) + self.rng.randrange(2 * between)
            while len(self.history.sent) < wanted:
                await asyncio.sleep(0.01)
                self.raise_failures(tasks)
            # In the middle of what is being written.
            await asyncio.sleep(self.rng.random() * 0.05)
            await self.faults.one()
        for actor in self.actors:
            actor.is_stopping = True
        await asyncio.gather(*tasks)

    @staticmethod
    def raise_failures(tasks: list[asyncio.Task[None]]) -> None:
        for task in tasks:
            if task.done():
                task.result()

    async def violations(self) -> list[str]:
        """Reads everything and checks it, once the devices have received all of it."""
        deadline = time.monotonic() + QUIET_SECONDS
        while True:
            await asyncio.to_thread(self.read)
            found = check(self.history)
            if not found or time.monotonic() > deadline:
                return found + [f"device {one.name}: {what}" for one in self.devices for what in one.violations]
            # Devices may lack what is on its way.
            await asyncio.sleep(0.3)

    async def stop(self) -> None:
        await asyncio.gather(*(device.stop() for device in self.devices))

    def read(self) -> None:
        inboxes = {user.id: self.inbox(user) for user in self.users}
        self.history.readers = {
            id: [
                Reader(user.id, self.pages(user, id), inboxes[user.id][id]["membership"]["spans"], inboxes[user.id][id])
                for user in members
            ]
            for id, members in self.members.items()
        }
        self.history.held = [
            (device.name, id, device.held[id], device.rows.get(id))
            for device in self.devices
            for id in device.conversations
        ]

    def inbox(self, user: User) -> dict[str, dict[str, Any]]:
        page = user.get("/v1/inbox", params={"limit": 100})
        assert page.status_code == 200, page.text
        return {row["id"]: row for row in page.json()["conversations"]}

    def pages(self, user: User, conversation: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while True:
            after = found[-1]["number"] if found else 0
            response = user.get(f"/v1/conversations/{conversation}/messages", params={"after": after, "limit": 100})
            assert response.status_code == 200, response.text
            page = response.json()
            found += page["messages"]
            if not page["hasLater"]:
                return found

    def summary(self) -> str:
        writes = len(self.history.sent)
        repeats = sum(actor.repeats for actor in self.actors)
        connections = sum(device.reconnects for device in self.devices)
        faults = ", ".join(f"{count} {kind}" for kind, count in sorted(self.faults.counts.items()))
        resets = sum(len(device.resets) for device in self.devices)
        return (
            f"{writes} messages acknowledged, {len(self.history.refused)} refused, {repeats} repeated on purpose; "
            f"{connections} connections, {resets} resets; faults: {faults}; "
            f"{self.faults.closed_at_once} sockets closed at once"
        )
