"""A user who writes, edits, deletes, reads, and adds and removes members, at random."""

from __future__ import annotations

import asyncio
import random
from typing import Any

from switchboard_tests.chat.device import Device
from switchboard_tests.chat.history import History, Sent
from switchboard_tests.endpoint import RequestError, client_id


class Actor:
    def __init__(
        self, devices: list[Device], conversations: list[str], history: History, rng: random.Random,
        managed: tuple[str, str] | None = None, text_bytes: int = 60, pause: float = 0.03,
    ) -> None:  # fmt: skip
        """`managed` is a group that the user owns, and a member who is removed and added again."""
        self.devices = devices
        self.user = devices[0].user
        self.conversations = conversations
        self.history = history
        self.rng = rng
        self.managed = managed
        self.text_bytes = text_bytes
        self.pause = pause
        self.is_stopping = False
        self.own: list[str] = []
        self.versions: dict[str, int] = {}
        self.first_texts: dict[str, str] = {}
        self.writes = 0
        self.repeats = 0

    async def run(self) -> None:
        while not self.is_stopping:
            await self.step()
            await asyncio.sleep(self.rng.random() * self.pause)

    def text(self) -> str:
        self.writes += 1
        filler = "x" * self.rng.randrange(self.text_bytes)
        return f"{self.writes} of {self.user[-4:]} {filler}."

    async def step(self) -> None:
        number = self.rng.random()
        device = self.rng.choice(self.devices)
        if number < 0.6 or not self.own:
            await self.send(device, self.rng.choice(self.conversations))
        elif number < 0.72:
            await self.edit(device, self.rng.choice(self.own))
        elif number < 0.78:
            await self.delete(device, self.rng.choice(self.own))
        elif number < 0.84:
            await self.repeat(device, self.rng.choice(self.own))
        elif number < 0.93 or self.managed is None:
            await self.read(device, self.rng.choice(self.conversations))
        else:
            await self.manage(device)

    async def send(self, device: Device, conversation: str) -> None:
        id, text = client_id(), self.text()
        more: dict[str, Any] = {}
        held = device.held[conversation]
        if held.last > 0 and self.rng.random() < 0.3:
            more["readUpTo"] = held.last
        try:
            result = await device.ask("messages.send", conversation=conversation, clientID=id, text=text, **more)
        except RequestError as error:
            self.history.refused.add(id)
            self.expect(error, "send", {"forbidden", "not_found"})
            return
        message = result["message"]
        if message["clientID"] != id or message["text"] != text:
            self.history.violations.append(f"{id} with {text!r} was acknowledged as {message}")
        self.history.sent[id] = Sent(conversation, self.user, message["number"], text)
        self.versions[id] = message["textVersion"]
        self.first_texts[id] = text
        self.own.append(id)

    async def repeat(self, device: Device, id: str) -> None:
        """The same request again, which stores nothing."""
        sent = self.history.sent[id]
        try:
            result = await device.ask(
                "messages.send", conversation=sent.conversation, clientID=id, text=self.first_texts[id]
            )
        except RequestError as error:
            self.expect(error, "repetition", {"forbidden"})
            return
        self.repeats += 1
        if result["message"]["number"] != sent.number or not result.get("duplicate"):
            self.history.violations.append(f"{id} is {sent.number}, and its repetition {result}")

    async def edit(self, device: Device, id: str) -> None:
        sent, text = self.history.sent[id], self.text()
        if sent.text is None:
            return
        try:
            result = await device.ask(
                "messages.edit", conversation=sent.conversation, number=sent.number, text=text,
                textVersion=self.versions[id],
            )  # fmt: skip
        except RequestError as error:
            self.expect(error, "edit", {"forbidden"})
            return
        self.versions[id] = result["message"]["textVersion"]
        sent.text = text

    async def delete(self, device: Device, id: str) -> None:
        sent = self.history.sent[id]
        try:
            await device.ask("messages.delete", conversation=sent.conversation, number=sent.number, **{"for": "all"})
        except RequestError as error:
            self.expect(error, "deletion", {"forbidden"})
            return
        sent.text = None
        self.own.remove(id)

    async def read(self, device: Device, conversation: str) -> None:
        number = device.held[conversation].last
        # Also backwards, which changes nothing.
        number = self.rng.choice([number, max(0, number - 3)])
        try:
            result = await device.ask("conversations.mark", conversation=conversation, read=number)
        except RequestError as error:
            self.expect(error, "mark", {"forbidden", "not_found"})
            return
        if result["read"] < number:
            self.history.violations.append(f"{self.user} read up to {number} and the mark is {result}")

    async def manage(self, device: Device) -> None:
        assert self.managed is not None
        group, other = self.managed
        try:
            if self.rng.random() < 0.5:
                await device.ask("members.remove", conversation=group, user=other)
            else:
                await device.ask("members.add", conversation=group, members=[other])
        except RequestError as error:
            self.expect(error, "change of members", set())

    def expect(self, error: RequestError, what: str, types: set[str]) -> None:
        """Notes a refusal that nothing explains."""
        if error.type not in types:
            self.history.violations.append(f"a {what} of {self.user} was refused: {error.problem}")
