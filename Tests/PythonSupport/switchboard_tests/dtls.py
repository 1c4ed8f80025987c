"""Hand-written DTLS: ClientHellos for the cookie exchange, and an impairing UDP proxy for real clients."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import struct
import threading
from collections.abc import Callable, Iterable
from typing import Any

HANDSHAKE = 22
CLIENT_HELLO, HELLO_VERIFY_REQUEST = 1, 3
# ECDHE_ECDSA with AES-128-GCM, no compression, and the necessary extensions.
OFFER = bytes.fromhex("0002c02b 0100 001a 000a00040002 0017 000b00020100 000d00040002 0403 00170000".replace(" ", ""))


def record(content: bytes, kind: int = HANDSHAKE, epoch: int = 0, sequence: int = 0) -> bytes:
    return (
        struct.pack("!BHH", kind, 0xFEFD, epoch)
        + sequence.to_bytes(6, "big")
        + struct.pack("!H", len(content))
        + content
    )


def hello(nonce: bytes, cookie: bytes = b"", more: bytes = OFFER) -> bytes:
    """A ClientHello without headers."""
    return b"\xfe\xfd" + nonce + b"\x00" + bytes([len(cookie)]) + cookie + more


def fragments(message: bytes, size: int, number: int, kind: int = CLIENT_HELLO) -> list[bytes]:
    """The message as records with at most so many bytes of it each."""
    parts: list[bytes] = []
    for offset in range(0, len(message), size):
        part = message[offset : offset + size]
        header = bytes([kind]) + len(message).to_bytes(3, "big") + struct.pack("!H", number)
        header += offset.to_bytes(3, "big") + len(part).to_bytes(3, "big")
        parts.append(record(header + part, sequence=len(parts) + number * 100))
    return parts


def cookie_of(response: bytes) -> bytes:
    assert response[0] == HANDSHAKE and response[13] == HELLO_VERIFY_REQUEST and len(response) == 48, response.hex()
    return response[28:]


def new_nonce() -> bytes:
    return os.urandom(32)


class DatagramProxy:
    """A UDP proxy in front of a server. `change` gets each datagram to the server and its client's port, and returns
    the datagrams to deliver."""

    def __init__(self, server: tuple[str, int], change: Callable[[bytes, int], Iterable[bytes]]) -> None:
        self.server = server
        self.change = change
        self.front = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.front.bind(("127.0.0.1", 0))
        self.port = self.front.getsockname()[1]
        self.backs: dict[tuple[Any, ...], socket.socket] = {}
        self.is_open = True
        self.threads = [threading.Thread(target=self.forward, daemon=True)]
        self.threads[0].start()

    def forward(self) -> None:
        while self.is_open:
            data, source = self.front.recvfrom(65536)
            # `close` wakes this thread with a datagram of its own.
            if not self.is_open:
                return
            if source not in self.backs:
                back = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                back.connect(self.server)
                self.backs[source] = back
                threading.Thread(target=self.back, args=(back, source), daemon=True).start()
            # The proxy may be closed meanwhile, or the server gone.
            with contextlib.suppress(OSError):
                for datagram in self.change(data, source[1]):
                    self.backs[source].send(datagram)

    def back(self, back: socket.socket, source: tuple[Any, ...]) -> None:
        while self.is_open:
            try:
                self.front.sendto(back.recv(65536), source)
            except OSError:
                return

    def close(self) -> None:
        self.is_open = False
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"", self.front.getsockname())
        for back in self.backs.values():
            back.close()


class JunkAndReplays:
    """Replays a client's datagrams, and inserts junk that anybody could forge between them.

    It forges no first ClientHello for a client: the cookie in the response would not match the client's own hello, and
    DTLS 1.2 has no way to tell the client so."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.seen: dict[int, list[bytes]] = {}

    def junk(self) -> bytes:
        body = self.rng.randbytes(self.rng.choice([0, 1, 2, 12, 23, 24, 40, 200]))
        kind = self.rng.choice([20, 21, 22, 23])
        return self.rng.choice(
            [
                record(body, kind, self.rng.choice([0, 1, 1, 2]), self.rng.choice([0, 1, 5, 1 << 47])),
                record(b"\x02\x28", 21), record(b"\x01", 20), bytes([kind]) + body,
                fragments(hello(self.rng.randbytes(32)), 60, 1)[-1], b"\x3f" + body,
            ]
        )

    def __call__(self, data: bytes, client: int) -> list[bytes]:
        seen = self.seen.setdefault(client, [])
        seen.append(data)
        return [self.junk(), data, self.junk(), self.rng.choice(seen)]
