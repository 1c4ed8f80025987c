"""A message to a group of 10,000, and how long typing takes to the other's screen."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from typing import Any

from switchboard_tests import server_keys
from switchboard_tests.conversations import befriend, direct
from switchboard_tests.endpoint import client_id
from switchboard_tests.rawsocket import RawSocket, frame
from switchboard_tests.server import Server, User

GOAL_TOLD, GOAL_TYPING = 200, 50
# What a request may add, and at how many messages a count stops.
AT_ONCE, CAP = 100, 999
MESSAGES, NOTES = 20, 200
HANDSHAKE = (
    b"GET /v1/realtime HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


class Listener(asyncio.Protocol):
    """A session that listens to one stream and notes when it has a frame with the text that it waits for. It parses
    nothing, so that 1,000 of them in one process measure the server and not themselves."""

    def __init__(self, user: User, stream: str) -> None:
        self.user, self.stream = user, stream
        self.received = b""
        self.awaited = b""
        self.received_at: asyncio.Future[float] | None = None
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(HANDSHAKE)
        requests: list[dict[str, Any]] = [
            {"id": 1, "hello": {"token": self.user.token}}, {"id": 2, "listen": {"stream": self.stream}},
        ]
        for request in requests:
            transport.write(frame(json.dumps(request).encode()))

    def data_received(self, data: bytes) -> None:
        self.received += data
        if self.received_at and not self.received_at.done() and self.awaited in self.received:
            self.received_at.set_result(time.monotonic())
            self.received = b""

    def wait(self, text: str) -> asyncio.Future[float]:
        self.awaited = text.encode()
        self.received_at = asyncio.get_running_loop().create_future()
        self.data_received(b"")
        return self.received_at


def crowd(server: Server, members: int, online: int) -> None:
    """A group whose members are online in part, each with the inbox before them; then with all counts at the cap."""
    people = server.users(members)
    owner = people[0]
    key = server_keys.create(server, "conversations:write", "conversations:read")
    made = key.post(
        "/v1/server/conversations",
        {"clientID": client_id(), "kind": "group", "members": [one.id for one in people[:AT_ONCE]], "name": "all"},
    )
    assert made.status_code == 201, made.text
    here = made.json()["conversation"]["id"]
    for first in range(AT_ONCE, members, AT_ONCE):
        more = [one.id for one in people[first : first + AT_ONCE]]
        added = key.post(f"/v1/server/conversations/{here}/members", {"members": more})
        assert added.status_code == 200, added.text
    print(f"\na message to a group of {members:,}, {online:,} of whom have their inbox open, ms until all are told:")
    listening = people[1 : 1 + online]
    for name, before in ("without unread messages", 0), ("with the counts at the cap", CAP):
        for _ in range(before):
            sent = owner.post(f"/v1/conversations/{here}/messages", {"clientID": client_id(), "text": "more"})
            assert sent.status_code == 201, sent.text
        told, acknowledged = asyncio.run(messages(server, owner, here, listening))
        is_met = "met" if max(told) <= GOAL_TOLD else "missed"
        print(
            f"  {name:28} p50 {statistics.median(told):.0f}, longest {max(told):.0f}   {is_met} (goal: {GOAL_TOLD}); "
            f"acknowledged after p50 {statistics.median(acknowledged):.1f}", flush=True,
        )  # fmt: skip


async def messages(
    server: Server, owner: User, here: str, people: list[User]
) -> tuple[list[float], list[float]]:
    """Milliseconds from a send until the last listener has it, and until the sender has the response."""
    loop = asyncio.get_running_loop()
    listeners = []
    for user in people:
        listener = Listener(user, f"inbox:{user.id}")
        ready = listener.wait('"id":2')
        await loop.create_connection(lambda listener=listener: listener, "127.0.0.1", server.port)  # type: ignore[misc]
        await ready
        listeners.append(listener)
    told, acknowledged = [], []
    for number in range(MESSAGES):
        text = f"message {number} to everybody"
        waiting = [listener.wait(text) for listener in listeners]
        since = time.monotonic()
        sent = await asyncio.to_thread(
            owner.post, f"/v1/conversations/{here}/messages", {"clientID": client_id(), "text": text})
        acknowledged.append(1000 * (time.monotonic() - since))
        assert sent.status_code == 201, sent.text
        told.append(1000 * (max(await asyncio.gather(*waiting)) - since))
    for listener in listeners:
        listener.transport.abort()
    return told, acknowledged


def typing(server: Server) -> None:
    """From the request of one to the frame at the other, who listens."""
    one, other = befriend(*server.users(2))
    here = direct(one, other)
    took = []
    with RawSocket(server.port) as writer, RawSocket(server.port) as reader:
        writer.hello(one)
        reader.hello(other)
        reader.send({"id": 2, "listen": {"stream": f"typing:{here}"}})
        while reader.message().get("id") != 2:
            pass
        for number in range(NOTES):
            # Alternating, since repeating tells nothing new.
            state = "typing" if number % 2 == 0 else "stopped"
            since = time.monotonic()
            note = {"conversation": here, "state": state}
            writer.send({"id": number + 2, "request": "typing.note", "params": note})
            while reader.message().get("stream") != f"typing:{here}":
                pass
            took.append(1000 * (time.monotonic() - since))
            while writer.message().get("id") != number + 2:
                pass
    p95 = statistics.quantiles(took, n=20)[18]
    is_met = "met" if p95 <= GOAL_TYPING else "missed"
    print(
        f"\ntyping to the other's screen, ms: p50 {statistics.median(took):.1f}, p95 {p95:.1f}, longest {max(took):.1f}"
        f"   {is_met} (goal: p95 {GOAL_TYPING})", flush=True,
    )  # fmt: skip
