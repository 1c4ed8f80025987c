"""What sessions are sent when somebody acts in a conversation, compared with a table."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

from switchboard_tests.conversation_roles import Harness
from switchboard_tests.conversations import create
from switchboard_tests.endpoint import Endpoint
from switchboard_tests.server import User
from switchboard_tests.waiting import SILENCE

# What somebody does: their role, the operation, its parameters and body; and of what it sends, to which roles. With a
# question mark, it is not compared whether it is sent to the role.
Act = tuple[str, str, dict[str, Any], dict[str, set[str]]]
KINDS = ("conversation", "typing", "marks")


class Listener(Endpoint):
    """Somebody's session, with what it is sent of the conversation."""

    def __init__(self, harness: Harness, user: User) -> None:
        super().__init__(user.server.realtime_url, user.id, user.token)
        self.harness = harness
        self.roles = {who.id: role for role, who in harness.people.items() if who is not None}
        self.notes = create(user, "self").json()["conversation"]["id"]
        self.is_pinned = False
        self.received: set[str] = set()

    async def handle(self, frame: dict[str, Any]) -> None:
        if "stream" in frame:
            self.received.update(self.names(frame))
        await super().handle(frame)

    def names(self, frame: dict[str, Any]) -> Iterator[str]:
        """What the frame tells, as the table names it. Rows that are left out for the listener leave an empty frame."""
        kind, about = frame["stream"].split(":")[:2]
        if kind == "call":
            # What the call's own stream tells is tested with calls.
            yield kind
            return
        if about not in (self.harness.here, self.user):
            yield frame["stream"]
        if "snapshot" in frame:
            yield f"snapshot of {kind}"
        if "reset" in frame:
            yield f"reset of {kind}"
        if "event" in frame:
            yield f"{kind} of {self.roles[frame['event']['user']]}"
        for change in frame.get("changes", []):
            yield f"{kind} {change['type']}"
        for row in frame.get("rows", []):
            if kind == "inbox":
                yield from self.names_of_inbox(row)
            else:
                yield from self.names_of_row(row)

    def names_of_inbox(self, row: dict[str, Any]) -> Iterator[str]:
        if row["id"] == self.harness.here:
            last = row.get("lastMessage", {}).get("number", "gone" if row.get("gone") else "")
            yield f"inbox {last}".strip()
        elif row["id"] != self.notes:
            yield f"inbox of {row['id']}"

    def names_of_row(self, row: dict[str, Any]) -> Iterator[str]:
        match row:
            case {"message": message}:
                what = "deleted" if "deletedAt" in message else message.get("text", "")
                if "notice" in message:
                    what = message["notice"]["kind"]
                elif "call" in message:
                    what = f"call {message['call']['state']}"
                yield " ".join([f"message {message['number']}: {what}", *message.get("reactions", {})])
            case {"member": member}:
                yield f"member {self.roles[member['user']]}"
            case {"conversation": conversation}:
                yield "conversation"
                yield from (f"pin {number}" for number in conversation["pins"])
            case {"marks": marks}:
                yield "own marks" if "read" in marks else f"marks of {self.roles[marks['user']]}"
            case {"own": own}:
                yield f"own {own['number']}"
            case _:
                yield from row

    async def listens(self) -> set[str]:
        """Listens to the streams of the conversation that the user may listen to, and returns their kinds."""
        return {kind for kind in KINDS if await self.listen(f"{kind}:{self.harness.here}") is not None}

    async def has(self, names: set[str]) -> None:
        await self.until(f"{names}", lambda: names <= self.received)

    async def settle(self) -> None:
        """A request, and the row of the inbox that it moves, come after all that was on its way."""
        self.is_pinned = not self.is_pinned
        await self.ask("members.updateMe", conversation=self.notes, pinned=self.is_pinned)

        def is_there() -> bool:
            rows = [row for row in self.streams[f"inbox:{self.user}"].rows if row["id"] == self.notes]
            return bool(rows) and rows[-1]["membership"]["pinned"] == self.is_pinned

        await self.until("the row of the own notes", is_there)
        await asyncio.sleep(SILENCE)


def act(harness: Harness, role: str, operation: str, values: dict[str, Any]) -> None:
    if "textVersion" in values:
        found = harness.ask(role, "messages.get", {"number": values["number"]}).json()
        values = values | {"textVersion": found["message"]["textVersion"]}
    response = harness.ask(role, operation, values | ({"call": harness.call} if "call" in values else {}))
    assert response.status_code < 300, (role, operation, response.text)
    if operation == "calls.create":
        harness.call = response.json()["call"]["id"]


async def compare(
    harness: Harness, acts: list[Act], may_listen: Callable[[str], set[str]], done: Callable[[str], object] = bool
) -> None:
    """Acts, and compares after each act what every session was sent with what the table says.

    Those who have to be sent something are waited for; then all make a request of their own, whose row comes after
    whatever was on its way. `may_listen` says to what kinds of streams a role may listen, and `done`
    is told which operation was done.
    """
    listeners = {role: Listener(harness, user) for role, user in harness.people.items() if user is not None}
    for listener in listeners.values():
        await listener.open()
        for stream in ("inbox", "user"):
            assert await listener.listen(f"{stream}:{listener.user}") is not None
    for role, operation, values, sent in acts:
        listening = await asyncio.gather(*[listener.listens() for listener in listeners.values()])
        assert dict(zip(listeners, listening, strict=True)) == {one: may_listen(one) for one in listeners}
        for listener in listeners.values():
            listener.received.clear()
        await asyncio.to_thread(act, harness, role, operation, values)
        expected = {one: {name for name, roles in sent.items() if one in roles} for one in listeners}
        await asyncio.gather(*[listener.has(expected[one]) for one, listener in listeners.items()])
        await asyncio.gather(*[listener.settle() for listener in listeners.values()])
        found = {one: listener.received for one, listener in listeners.items()}
        assert found == expected, (role, operation, values)
        done(operation)
    for listener in listeners.values():
        assert listener.violations == []
        await listener.close()
