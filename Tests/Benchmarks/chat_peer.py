"""Prosody with its archive in SQLite, and a load of pairs for it: the peer of the bench of conversations.

Each message is stored for both people before it is acknowledged (XEP-0313, XEP-0198), as Switchboard's are; the
database is set to a write-ahead log, which is its fastest mode that syncs every commit.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import pathlib
import re
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator

HOST = "localhost"
TEXT = "The train is late, I will be there at a quarter past."


class Prosody:
    """A server of its own, with accounts u0, u1, …"""

    def __init__(self, directory: pathlib.Path, users: int) -> None:
        self.directory = directory
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        accounts = directory / HOST / "accounts"
        accounts.mkdir(parents=True)
        for number in range(users):
            (accounts / f"u{number}.dat").write_text('return { ["password"] = "secret" };')
        self.archive = directory / "archive.sqlite"
        with contextlib.closing(sqlite3.connect(self.archive)) as database:
            database.execute("PRAGMA journal_mode = WAL")
        (directory / "prosody.cfg.lua").write_text(f"""
            run_as_root = true
            data_path = "{directory}"
            pidfile = "{directory}/pid"
            c2s_ports = {{ {self.port} }}
            c2s_interfaces = {{ "127.0.0.1" }}
            s2s_ports = {{}}
            modules_enabled = {{ "saslauth", "smacks", "mam", "roster" }}
            modules_disabled = {{ "s2s", "offline", "tls" }}
            c2s_require_encryption = false
            allow_unencrypted_plain_auth = true
            authentication = "internal_plain"
            storage = {{ archive = "sql" }}
            sql = {{ driver = "SQLite3", database = "{self.archive}" }}
            default_archive_policy = true
            limits = {{}}
            log = {{ warn = "{directory}/log" }}
            VirtualHost "{HOST}"
            """)

    @contextlib.contextmanager
    def running(self, *before: str) -> Iterator[None]:
        """Runs it, by another program if one is given."""
        command = [*before, "prosody", "-F", "--config", str(self.directory / "prosody.cfg.lua")]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while True:
                if process.poll() is not None:
                    raise RuntimeError(f"Prosody ended: {(self.directory / 'log').read_text()}")
                with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", self.port)):
                    break
                time.sleep(0.05)
            yield
        finally:
            # strace passes no signals on.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                os.kill(int((self.directory / "pid").read_text()), signal.SIGTERM)
            process.wait()

    def stored(self) -> int:
        """The messages in its archive, each of which is there for both people."""
        with contextlib.closing(sqlite3.connect(self.archive)) as database:
            return int(database.execute("SELECT COUNT(*) FROM prosodyarchive").fetchone()[0])


class Client:
    def __init__(self, port: int, name: str) -> None:
        self.port, self.name = port, name
        self.text = b""
        # The stanzas that were received and are to be acknowledged.
        self.handled = 0

    async def connect(self) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        await self.open()
        login = base64.b64encode(f"\0{self.name}\0secret".encode()).decode()
        self.write(f"<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>{login}</auth>")
        await self.until(b"<success")
        await self.open()
        bind = "<bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/>"
        self.write(f"<iq type='set' id='b'>{bind}</iq>")
        await self.until(b"</iq>")
        self.write("<enable xmlns='urn:xmpp:sm:3'/>")
        await self.until(b"<enabled")
        self.write("<presence/>")
        # What is sent to somebody before is not for their session.
        await self.until(b"<presence")
        self.handled = 1

    async def open(self) -> None:
        start = "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' version='1.0'"
        self.write(f"{start} to='{HOST}'>")
        await self.until(b"</stream:features>")

    def write(self, text: str) -> None:
        self.writer.write(text.encode())

    async def pieces(self) -> AsyncIterator[bytes]:
        """Whole elements, as they come. What the server asks to be acknowledged is."""
        rest = b""
        while piece := await self.reader.read(65536):
            rest += piece
            end = rest.rfind(b">") + 1
            whole, rest = rest[:end], rest[end:]
            self.handled += len(re.findall(rb"</message>|<presence[ />]", whole))
            if b"<r " in whole:
                self.write(f"<a xmlns='urn:xmpp:sm:3' h='{self.handled}'/>")
            yield whole

    async def until(self, found: bytes) -> None:
        while found not in self.text:
            piece = await self.reader.read(65536)
            if not piece or b"<failure" in piece:
                raise RuntimeError(f"Prosody refused {self.name}: {self.text + piece!r}")
            self.text += piece
        self.text = b""


class Pair:
    """One sends, the other receives; so many messages wait for their acknowledgement."""

    def __init__(self, port: int, number: int, in_flight: int) -> None:
        self.sender, self.listener = Client(port, f"u{2 * number}"), Client(port, f"u{2 * number + 1}")
        self.in_flight = in_flight
        self.sent = self.acknowledged = self.received = 0
        self.since: dict[int, float] = {}
        self.times: list[float] = []
        self.room = asyncio.Event()

    async def connect(self) -> None:
        await asyncio.gather(self.sender.connect(), self.listener.connect())

    async def acknowledgements(self) -> None:
        async for piece in self.sender.pieces():
            for match in re.finditer(rb"<a [^>]*h='(\d+)'", piece):
                now = time.monotonic()
                # The presence was counted too.
                while self.acknowledged < int(match[1]) - 1:
                    self.acknowledged += 1
                    self.times.append(now - self.since.pop(self.acknowledged))
                self.room.set()

    async def receive(self) -> None:
        async for piece in self.listener.pieces():
            self.received += piece.count(b"</message>")

    async def send(self, until: float) -> None:
        while time.monotonic() < until:
            while self.sent - self.acknowledged < self.in_flight:
                self.sent += 1
                self.since[self.sent] = time.monotonic()
                self.sender.write(
                    f"<message to='{self.listener.name}@{HOST}' type='chat' id='{self.sent}'><body>{TEXT}</body>"
                    "</message><r xmlns='urn:xmpp:sm:3'/>"
                )
            self.room.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.room.wait(), 1)
        while self.acknowledged < self.sent or self.received < self.sent:
            await asyncio.sleep(0.01)


async def load(port: int, pairs: int, in_flight: int, seconds: float) -> tuple[int, float, list[float]]:
    """Messages that were acknowledged and received, in how many seconds, and those until each acknowledgement."""
    every = [Pair(port, number, in_flight) for number in range(pairs)]
    for pair in every:
        await pair.connect()
    tasks = [asyncio.create_task(work) for pair in every for work in (pair.acknowledgements(), pair.receive())]
    began = time.monotonic()
    await asyncio.gather(*(pair.send(began + seconds) for pair in every))
    took = time.monotonic() - began
    for task in tasks:
        task.cancel()
    for pair in every:
        pair.sender.writer.close()
        pair.listener.writer.close()
    return sum(pair.acknowledged for pair in every), took, [one for pair in every for one in pair.times]


def measure(pairs: int, in_flight: int, seconds: float) -> tuple[float, float, float]:
    """Messages a second, and p50 and p99 until they are acknowledged, in milliseconds."""
    with tempfile.TemporaryDirectory() as path:
        peer = Prosody(pathlib.Path(path), 2 * pairs)
        with peer.running():
            count, took, times = asyncio.run(load(peer.port, pairs, in_flight, seconds))
        # For both people; the last ones were on their way.
        assert count <= peer.stored() / 2 <= count + pairs * in_flight, (peer.stored(), count)
    times.sort()
    return count / took, 1e3 * times[len(times) // 2], 1e3 * times[len(times) * 99 // 100]


def syncs(messages: int = 20) -> float:
    """How often it syncs for each message, one after the other: strace counts."""
    with tempfile.TemporaryDirectory() as path:
        peer = Prosody(pathlib.Path(path), 2)
        trace = pathlib.Path(path) / "trace"
        with peer.running("strace", "-f", "-e", "trace=fsync,fdatasync", "-o", str(trace)):

            async def some() -> float:
                pair = Pair(peer.port, 0, 1)
                await pair.connect()
                tasks = [asyncio.create_task(pair.acknowledgements()), asyncio.create_task(pair.receive())]
                before = trace.read_text().count("sync(")
                while pair.sent < messages:
                    await pair.send(time.monotonic() + 0.01)
                for task in tasks:
                    task.cancel()
                return (trace.read_text().count("sync(") - before) / pair.sent

            return asyncio.run(some())
