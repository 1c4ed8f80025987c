"""The server of the plans as a machine: its clock is set forward, it restarts, and a backup of it is put back."""

from __future__ import annotations

import pathlib
import shutil
import time
from typing import Any

from switchboard_tests.chat.clock import Clock
from switchboard_tests.server import Server, User

# Users are new for so long, and get no older than twice that: an access token is valid for 900 s.
NEW_SECONDS = 300


class Machine:
    def __init__(self, directory: pathlib.Path, settings: dict[str, Any]) -> None:
        self.server = Server(directory, settings)
        self.clock = Clock(self.server)
        self.backup = directory / "backup"
        # How far the clock is ahead, and when, by that clock, the last users were made.
        self.ahead = 0
        self.made_at = 0.0
        self.people: list[User] = []
        # Whether the clock was set forward since the last start: what is due is hidden, and removed within a minute.
        self.is_late = False

    def users(self, count: int) -> list[User]:
        """New users, whose tokens are valid for a while."""
        if len(self.people) < count or self.now > self.made_at + NEW_SECONDS:
            # Making some takes as long as making one.
            self.people = self.server.users(60)
            self.made_at = self.now
        return [self.people.pop() for _ in range(count)]

    @property
    def now(self) -> float:
        """What the server takes for the time, in seconds since 1970."""
        return time.time() + self.ahead

    def set_forward(self, seconds: int) -> bool:
        """Sets the clock forward, unless the users' tokens would expire."""
        if self.now + seconds > self.made_at + 2 * NEW_SECONDS:
            return False
        self.ahead += seconds
        self.clock.set(self.ahead)
        self.is_late = True
        return True

    def restart(self, is_killed: bool = False) -> None:
        if is_killed:
            self.server.kill()
        else:
            self.server.stop()
        self.server.start()
        self.is_late = False

    def back_up(self) -> None:
        shutil.rmtree(self.backup, ignore_errors=True)
        self.server.command("backup", str(self.backup))

    def restore(self) -> None:
        """The backup is put back, with the key that signs tokens: who is signed in stays so."""
        self.server.stop()
        lost = self.server.directory / "lost"
        shutil.rmtree(lost, ignore_errors=True)
        self.server.data.rename(lost)
        self.server.command("restore", str(self.backup))
        shutil.copy(lost / "signing-key.pem", self.server.data)
        self.server.start()
        self.is_late = False
