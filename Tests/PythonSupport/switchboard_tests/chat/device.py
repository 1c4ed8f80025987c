"""A device: an endpoint that connects again whenever its connection is lost, and notes what it was sent."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import time
from typing import Any

import websockets
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from switchboard_tests.chat.history import Held
from switchboard_tests.endpoint import Endpoint, RequestError
from switchboard_tests.issuers import encoded
from switchboard_tests.server import Server, User
from switchboard_tests.tcp_proxy import Proxy
from switchboard_tests.waiting import TIMEOUT

# The server cannot do it now: to be repeated.
TEMPORARY = {"storage_full", "unavailable", "internal_error", "rate_limited"}
LOST = (ConnectionError, OSError, TimeoutError, asyncio.TimeoutError, websockets.WebSocketException)


def expiring(server: Server, token: str, seconds: float) -> str:
    """The same token, signed with the server's key, for so many seconds."""
    key = serialization.load_pem_private_key((server.data / "signing-key.pem").read_bytes(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    head, body, _ = token.split(".")
    claims = json.loads(_decoded(body)) | {"exp": int(time.time() + seconds) + 1}
    signed = f"{head}.{encoded(json.dumps(claims).encode())}"
    r, s = decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
    return f"{signed}.{encoded(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Device(Endpoint):
    """One device of a user, behind a proxy of its own."""

    def __init__(self, server: Server, user: User, name: str, conversations: list[str]) -> None:
        self.proxy = Proxy(server.port)
        super().__init__(f"ws://127.0.0.1:{self.proxy.port}/v1/realtime", user.id, user.token)
        self.name = name
        self.lasting_token = user.token
        self.conversations = conversations
        self.held = {one: Held() for one in conversations}
        self.rows: dict[str, dict[str, Any]] = {}
        self.reads: dict[str, int] = {}
        self.reconnects = 0
        self.is_closing = False
        self.supervisor: asyncio.Task[None] | None = None

    @property
    def inbox_stream(self) -> str:
        return f"inbox:{self.user}"

    def start(self) -> None:
        self.supervisor = asyncio.create_task(self.stay_connected())

    async def stop(self) -> None:
        self.is_closing = True
        await self.close()
        if self.supervisor is not None:
            await self.supervisor
        self.proxy.close()

    async def stay_connected(self) -> None:
        while not self.is_closing:
            try:
                await asyncio.wait_for(self.open(), TIMEOUT)
                self.reconnects += 1
                assert self.reader is not None
                while not self.reader.done():
                    await self.listen_to_all()
                    await asyncio.wait({self.reader}, timeout=0.2)
            except LOST:
                pass
            except RequestError as error:
                if error.type == "unauthenticated":
                    self.token = self.lasting_token
                elif error.type not in TEMPORARY:
                    self.violations.append(f"the hello was refused: {error}")
            self.connected.clear()
            for future in self.pending.values():
                if not future.done():
                    future.set_exception(ConnectionError("the connection was given up"))
                    # For that of the hello nobody waits any more.
                    future.exception()
            if self.socket is not None:
                with contextlib.suppress(*LOST):
                    await asyncio.wait_for(self.socket.close(), 2)
            await asyncio.sleep(0.05)

    async def listen_to_all(self) -> None:
        """Listens to the inbox, and to the conversations that the user is in."""
        for stream in [self.inbox_stream, *(f"conversation:{one}" for one in self.conversations)]:
            if stream in self.streams:
                continue
            try:
                await self.exchange({"listen": {"stream": stream}})
            except RequestError as error:
                # Who was removed tries again, until being added.
                if error.type not in {"forbidden", "not_found"} | TEMPORARY:
                    self.violations.append(f"listening to {stream} was refused: {error}")

    async def ask(self, name: str, /, **params: Any) -> dict[str, Any]:
        """Repeats a request until the server decides on it."""
        while True:
            await asyncio.wait_for(self.connected.wait(), TIMEOUT)
            try:
                return await self.exchange({"request": name, "params": params})
            except ConnectionError:
                await asyncio.sleep(0.02)
            except RequestError as error:
                if error.type not in TEMPORARY:
                    raise
                await asyncio.sleep(0.2)

    def handle_stream(self, frame: dict[str, Any]) -> None:
        name = frame["stream"]
        super().handle_stream(frame)
        kind, _, id = name.partition(":")
        if kind == "inbox" and ("rows" in frame or "snapshot" in frame):
            rows = frame["rows"] if "rows" in frame else frame["snapshot"]["conversations"]
            for row in rows:
                self.take_row(row)
        elif kind == "conversation" and id in self.held:
            held = self.held[id]
            if "reset" in frame:
                held.reset()
            elif "snapshot" in frame:
                held.snapshot(frame["snapshot"]["messages"])
            elif "rows" in frame:
                # One whose reactions alone have changed is no whole document.
                messages = [row["message"] for row in frame["rows"] if "clientID" in row.get("message", {})]
                held.rows(messages, frame.get("gap"))
        if name in self.streams:
            # What is kept of them is kept here.
            self.streams[name].rows.clear()

    def take_row(self, row: dict[str, Any]) -> None:
        """Keeps the newer copy; the mark of what was read only rises."""
        known = self.rows.get(row["id"])
        if known is not None and known["counter"] > row["counter"]:
            return
        self.rows[row["id"]] = row
        read = row.get("membership", {}).get("read", 0)
        if not row.get("gone"):
            if read < self.reads.get(row["id"], 0):
                self.violations.append(f"{row['id']} was read up to {self.reads[row['id']]} and is up to {read}")
            self.reads[row["id"]] = read
