"""A realtime session that mostly waits."""

from __future__ import annotations

import asyncio
import json
import ssl
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from switchboard_tests import asyncapi
from switchboard_tests.rawsocket import frame

if TYPE_CHECKING:
    from switchboard_tests.server import User

CONNECTING_AT_ONCE = 100


class IdleSession:
    """A session that listens to its user's stream, responds to heartbeats, and keeps the changes. It may listen to
    others too, in which nothing is expected to happen."""

    def __init__(self, user: User, others: Sequence[str] = ()) -> None:
        self.user = user
        self.others = others
        self.position = 0
        self.changes: list[int] = []
        self.errors: list[str] = []
        self.heartbeats = 0
        self.closing = False
        self.changed = asyncio.Event()
        self.reader: asyncio.StreamReader
        self.writer: asyncio.StreamWriter
        self.task: asyncio.Task[Any]

    async def open(self, port: int, security: ssl.SSLContext | None = None) -> None:
        """`security` makes it wss."""
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 16, ssl=security)
        self.writer.write(
            b"GET /v1/realtime HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        head = await self.reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101"), head
        stream = f"user:{self.user.id}"
        requests = {1: {"id": 1, "hello": {"token": self.user.token}}, 2: {"id": 2, "listen": {"stream": stream}}}
        for request in requests.values():
            self.send(request)
        for number, other in enumerate(self.others):
            requests[3 + number] = {"id": 3 + number, "listen": {"stream": other}}
            self.send(requests[3 + number])
        waiting = set(requests)
        while True:
            message = await self.message()
            if "id" in message:
                asyncapi.answered(requests[message["id"]], message)
                # As for a moment after its disk was full.
                if message.get("error", {}).get("type") in {"storage_full", "unavailable"}:
                    self.writer.close()
                    raise ConnectionError("the server refuses the session for now")
                assert "result" in message, message
                waiting.discard(message["id"])
            if message.get("id") == 2:
                self.position = message["result"]["position"][1]
            if not waiting:
                break
        self.task = asyncio.create_task(self.read())

    def send(self, message: dict[str, Any]) -> None:
        self.writer.write(frame(json.dumps(message).encode()))

    async def message(self) -> dict[str, Any]:
        first, short = await self.reader.readexactly(2)
        if first == 0x88:
            raise ConnectionError("the server closed the session")
        assert first == 0x81, first
        length = short
        if short == 126:
            length = struct.unpack(">H", await self.reader.readexactly(2))[0]
        elif short == 127:
            length = struct.unpack(">Q", await self.reader.readexactly(8))[0]
        message = json.loads(await self.reader.readexactly(length))
        asyncapi.received(message)
        return message

    async def read(self) -> None:
        try:
            while True:
                self.take(await self.message())
        except (asyncio.IncompleteReadError, ConnectionError, AssertionError) as error:
            if not self.closing:
                self.errors.append(f"closed: {error!r}")
                self.changed.set()

    def take(self, message: dict[str, Any]) -> None:
        if "heartbeat" in message:
            self.heartbeats += 1
            self.send({"heartbeat": {}})
            return
        for change in message.get("changes", []):
            if change["seq"] != self.position + 1:
                self.errors.append(f"{change['seq']} after {self.position}")
            self.position = change["seq"]
            self.changes.append(change["seq"])
            self.changed.set()
        if "changes" not in message:
            self.errors.append(f"unexpected: {message}")

    async def has(self, count: int) -> None:
        """Waits until so many changes were received, or an error occurred."""
        while len(self.changes) < count and not self.errors:
            self.changed.clear()
            await self.changed.wait()

    def abort(self) -> None:
        """Aborts the connection without a close frame, like a lost network."""
        self.closing = True
        self.writer.transport.abort()
