"""A realtime endpoint for tests: it records every change, resumes its streams after reconnecting, and repeats requests
that a lost connection left without a response. It is independent of the Swift SDK, so that the two check each other.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import websockets
from websockets.asyncio.client import ClientConnection, connect

from switchboard_tests import asyncapi, seen
from switchboard_tests.server import User
from switchboard_tests.waiting import TIMEOUT

T = TypeVar("T")


class RequestError(Exception):
    """The server's problem document."""

    def __init__(self, problem: dict[str, Any]) -> None:
        super().__init__(f"{problem.get('type')}: {problem.get('detail')}")
        self.problem = problem

    @property
    def type(self) -> str:
        return self.problem["type"]


@dataclass
class Stream:
    """The state of a stream: its position, and every entry since its first snapshot."""

    epoch: str
    seq: int
    snapshot: dict[str, Any]
    entries: dict[int, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    snapshots: int = 1
    # The rows of keyed state since the latest snapshot, in the order in which they came.
    rows: list[dict[str, Any]] = field(default_factory=list)
    gaps: list[list[int]] = field(default_factory=list)


class Endpoint:
    """One running client of a user."""

    def __init__(self, url: str, user: str, token: str) -> None:
        self.url = url
        self.user = user
        self.token = token
        self.id = str(uuid.uuid4())
        self.secret = uuid.uuid4().hex
        self.streams: dict[str, Stream] = {}
        # Events of streams without a log, in order.
        self.events: dict[str, list[dict[str, Any]]] = {}
        self.violations: list[str] = []
        self.resets: list[str] = []
        self.socket: ClientConnection | None = None
        self.reader: asyncio.Task[Any] | None = None
        self.last_id = 0
        self.pending: dict[int, asyncio.Future[Any]] = {}
        self.connected = asyncio.Event()
        self.changed = asyncio.Condition()
        self.bye: dict[str, Any] | None = None
        self.forgotten: set[str] = set()

    # Connections

    async def open(self) -> dict[str, Any]:
        """Connects and sends hello, resuming every stream; returns the result of the hello."""
        socket = self.socket = await connect(self.url, max_size=1 << 24, compression=None, ping_interval=None)
        self.pending = {}
        self.reader = asyncio.create_task(self.read(socket))
        hello = {
            "token": self.token,
            "endpoint": self.id,
            "secret": self.secret,
            "resume": {
                name: [stream.epoch, stream.seq] for name, stream in self.streams.items() if stream.epoch
            },
        }
        asked = {name: self.streams[name] for name in hello["resume"]}
        greeting = await self.exchange({"hello": hello})
        for name, stream in asked.items():
            # Only unchanged streams: frames after the hello's result may have been read already.
            if name not in greeting.get("resumed", {}) and self.streams.get(name) is stream:
                del self.streams[name]
        self.connected.set()
        return greeting

    async def close(self) -> None:
        self.connected.clear()
        if self.socket is not None:
            await self.socket.close()
        if self.reader is not None:
            await self.reader

    async def read(self, socket: ClientConnection) -> None:
        with contextlib.suppress(websockets.ConnectionClosed, OSError):
            async for text in socket:
                frame = json.loads(text)
                asyncapi.received(frame)
                await self.handle(frame)
        seen.closed(socket.close_code)
        self.connected.clear()
        for future in self.pending.values():
            if not future.done():
                future.set_exception(ConnectionError("the connection ended"))
        async with self.changed:
            self.changed.notify_all()

    async def handle(self, frame: dict[str, Any]) -> None:
        if "heartbeat" in frame:
            assert self.socket is not None
            await self.socket.send('{"heartbeat":{}}')
        elif "bye" in frame:
            self.bye = frame["bye"]
        elif "stream" in frame:
            self.handle_stream(frame)
            async with self.changed:
                self.changed.notify_all()
        elif frame.get("id") in self.pending:
            future = self.pending.pop(frame["id"])
            if not future.done():
                if "error" in frame:
                    future.set_exception(RequestError(frame["error"]))
                else:
                    future.set_result(frame)

    def forget(self, call: str) -> None:
        """Drops the streams of an ended call, and ignores further frames of them."""
        self.forgotten.add(call)
        for name in [name for name in self.streams if call in name]:
            del self.streams[name]

    def handle_stream(self, frame: dict[str, Any]) -> None:
        name = frame["stream"]
        if self.forgotten and name.split(":")[1] in self.forgotten:
            return
        known = self.streams.get(name)
        if "snapshot" in frame:
            stream = Stream(frame.get("epoch", ""), frame.get("seq", 0), frame["snapshot"])
            if known is not None:
                if known.epoch == stream.epoch and known.seq > stream.seq:
                    self.violations.append(f"{name} went back from {known.seq} to {stream.seq}")
                stream.entries = known.entries if known.epoch == stream.epoch else {}
                stream.snapshots = known.snapshots + 1
            self.streams[name] = stream
        elif "reset" in frame:
            self.resets.append(f"{name}: {frame['reset'].get('reason')}")
            if frame["reset"].get("reason") == "access":
                self.streams.pop(name, None)
        elif "event" in frame:
            if known is None:
                self.violations.append(f"{name} had an event before its snapshot")
            self.events.setdefault(name, []).append(frame["event"])
        elif "rows" in frame:
            if known is None:
                self.violations.append(f"{name} had rows before its snapshot")
                return
            if frame["epoch"] != known.epoch or frame["after"] > known.seq or frame["upTo"] < frame["after"]:
                self.violations.append(f"{name} has a hole: {frame['after']} to {frame['upTo']} after {known.seq}")
            known.seq = max(known.seq, frame["upTo"])
            known.rows += frame["rows"]
            if "gap" in frame:
                known.gaps.append(frame["gap"])
        elif "changes" in frame and known is not None:
            for change in frame["changes"]:
                seq, entry = change["seq"], (change["type"], change["data"])
                if seq <= known.seq:
                    if seq in known.entries and known.entries[seq] != entry:
                        self.violations.append(f"{name}: {seq} was {known.entries[seq]} and is now {entry}")
                    continue
                if seq != known.seq + 1:
                    self.violations.append(f"{name} has a gap: {seq} after {known.seq}")
                known.seq = seq
                known.entries[seq] = entry
        elif "changes" in frame:
            self.violations.append(f"{name} changed before its snapshot")

    # Requests

    async def exchange(self, body: dict[str, Any]) -> dict[str, Any]:
        """Sends a frame and waits for its response, on this connection."""
        self.last_id += 1
        assert self.socket is not None
        future = asyncio.get_running_loop().create_future()
        self.pending[self.last_id] = future
        frame = {"id": self.last_id, **body}
        try:
            await self.socket.send(json.dumps(frame))
        except websockets.ConnectionClosed as error:
            # Nobody waits for it.
            future.cancel()
            raise ConnectionError("the connection ended") from error
        try:
            response = await asyncio.wait_for(future, TIMEOUT)
        except TimeoutError as error:
            what = json.dumps(frame)[:300]
            raise TimeoutError(f"{self.user} had no response to {what} in {TIMEOUT} s") from error
        asyncapi.answered(frame, response)
        return response["result"]

    async def ask(self, name: str, /, **params: Any) -> dict[str, Any]:
        """Sends a request, and repeats it on the next connection until it gets a response."""
        while True:
            await asyncio.wait_for(self.connected.wait(), TIMEOUT)
            try:
                return await self.exchange({"request": name, "params": params})
            except ConnectionError:
                self.connected.clear()

    async def listen(self, stream: str) -> Stream | None:
        """Listens to a stream, unless it does already; None if the stream does not exist any more."""
        while True:
            await asyncio.wait_for(self.connected.wait(), TIMEOUT)
            if stream in self.streams:
                return self.streams[stream]
            try:
                await self.exchange({"listen": {"stream": stream}})
            except ConnectionError:
                self.connected.clear()
            except RequestError as error:
                if error.type in ("not_found", "forbidden"):
                    return None
                raise

    async def until(self, what: str, condition: Callable[[], T]) -> T:
        """Waits until `condition()` is true, and returns its value."""

        async def wait() -> T:
            async with self.changed:
                while not (value := condition()):
                    # The connection may be replaced meanwhile.
                    with contextlib.suppress(asyncio.TimeoutError):
                        await asyncio.wait_for(self.changed.wait(), 1)
                return value

        try:
            return await asyncio.wait_for(wait(), TIMEOUT)
        except TimeoutError as error:
            seen = {name: (stream.seq, stream.snapshot) for name, stream in self.streams.items()}
            raise AssertionError(
                f"{self.user} timed out waiting for {what}; it received {json.dumps(seen)[:3000]}"
            ) from error

    # State from the streams

    def call(self, id: str) -> dict[str, Any] | None:
        """The call's document from its stream."""
        stream = self.streams.get(f"call:{id}")
        if stream is None:
            return None
        call = dict(stream.snapshot["call"])
        participants = {participant["user"]: participant for participant in call["participants"]}
        for seq in sorted(stream.entries):
            kind, data = stream.entries[seq]
            if kind == "call":
                call = {**call, **data}
            elif kind == "participant":
                participants[data["user"]] = data
        call["participants"] = list(participants.values())
        return call

    def signals(self, call: str) -> list[dict[str, Any]]:
        """Everything in this endpoint's mailbox of a call, in order."""
        stream = self.streams.get(f"signals:{call}:{self.id}")
        if stream is None:
            return []
        entries = {entry["seq"]: entry["data"] for entry in stream.snapshot["signals"]}
        entries |= {seq: data for seq, (_, data) in stream.entries.items()}
        return [entries[seq] for seq in sorted(entries)]

    def ringing_calls(self) -> list[str]:
        """The calls that have rung for the user, from their stream, whatever their state is now."""
        stream = self.streams.get(f"user:{self.user}")
        if stream is None:
            return []
        documents = list(stream.snapshot["calls"])
        documents += [data for _, (kind, data) in sorted(stream.entries.items()) if kind == "call"]
        return [
            document["id"]
            for document in documents
            if document["caller"] != self.user and document["status"] == "ringing"
        ]


def client_id() -> str:
    return str(uuid.uuid4())


@contextlib.asynccontextmanager
async def listening(user: User, *streams: str) -> AsyncIterator[Endpoint]:
    """A session of the user that listens to the streams, and has had nothing twice or out of order in the end."""
    endpoint = Endpoint(user.server.realtime_url, user.id, user.token)
    await endpoint.open()
    for stream in streams:
        await endpoint.exchange({"listen": {"stream": stream}})
    try:
        yield endpoint
    finally:
        assert endpoint.violations == []
        await endpoint.close()
