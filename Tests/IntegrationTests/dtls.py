"""DTLS as a client without a library writes it: hellos for the front door, and a bad wire for real clients."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import struct
import threading

HANDSHAKE = 22
CLIENT_HELLO, HELLO_VERIFY_REQUEST = 1, 3
# ECDHE_ECDSA with AES-128-GCM, no compression, and the extensions that go with it.
OFFER = bytes.fromhex("0002c02b 0100 001a 000a00040002 0017 000b00020100 000d00040002 0403 00170000".replace(" ", ""))


def record(content: bytes, kind: int = HANDSHAKE, epoch: int = 0, sequence: int = 0) -> bytes:
    return struct.pack("!BHH", kind, 0xFEFD, epoch) + sequence.to_bytes(6, "big") + struct.pack("!H", len(content)) + content


def hello(nonce: bytes, cookie: bytes = b"", more: bytes = OFFER) -> bytes:
    """A ClientHello without headers."""
    return b"\xfe\xfd" + nonce + b"\x00" + bytes([len(cookie)]) + cookie + more


def fragments(message: bytes, size: int, number: int, kind: int = CLIENT_HELLO) -> list[bytes]:
    """The message as records of at most so many bytes of it each."""
    parts = []
    for offset in range(0, len(message), size):
        part = message[offset : offset + size]
        header = bytes([kind]) + len(message).to_bytes(3, "big") + struct.pack("!H", number)
        header += offset.to_bytes(3, "big") + len(part).to_bytes(3, "big")
        parts.append(record(header + part, sequence=len(parts) + number * 100))
    return parts


def cookie_of(answer: bytes) -> bytes:
    assert answer[0] == HANDSHAKE and answer[13] == HELLO_VERIFY_REQUEST and len(answer) == 48, answer.hex()
    return answer[28:]


def new_nonce() -> bytes:
    return os.urandom(32)


class BadWire:
    """A UDP proxy before a server. `change` gets each datagram on its way to the server, and the number of its client, and
    returns what arrives there."""

    def __init__(self, server: tuple[str, int], change):
        self.server = server
        self.change = change
        self.front = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.front.bind(("127.0.0.1", 0))
        self.port = self.front.getsockname()[1]
        self.backs: dict[tuple, socket.socket] = {}
        self.isOpen = True
        self.threads = [threading.Thread(target=self.forward, daemon=True)]
        self.threads[0].start()

    def forward(self) -> None:
        while self.isOpen:
            data, source = self.front.recvfrom(65536)
            # `close` wakes this thread with a datagram of its own.
            if not self.isOpen:
                return
            if source not in self.backs:
                back = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                back.connect(self.server)
                self.backs[source] = back
                threading.Thread(target=self.back, args=(back, source), daemon=True).start()
            # It may be closed in the middle of a datagram, or the server gone.
            with contextlib.suppress(OSError):
                for datagram in self.change(data, source[1]):
                    self.backs[source].send(datagram)

    def back(self, back: socket.socket, source: tuple) -> None:
        while self.isOpen:
            try:
                self.front.sendto(back.recv(65536), source)
            except OSError:
                return

    def close(self) -> None:
        self.isOpen = False
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"", self.front.getsockname())
        for back in self.backs.values():
            back.close()


class JunkAndReplays:
    """Sends a client's datagrams again later, and between any two something that anybody could forge.

    A client gets no first hello of another one in its name: the answer's cookie would not fit its own hello, and nothing
    in DTLS 1.2 tells a client so."""

    def __init__(self, seed: int):
        self.chance = random.Random(seed)
        self.seen: dict[int, list[bytes]] = {}

    def junk(self) -> bytes:
        body = self.chance.randbytes(self.chance.choice([0, 1, 2, 12, 23, 24, 40, 200]))
        kind = self.chance.choice([20, 21, 22, 23])
        return self.chance.choice(
            [
                record(body, kind, self.chance.choice([0, 1, 1, 2]), self.chance.choice([0, 1, 5, 1 << 47])),
                record(b"\x02\x28", 21), record(b"\x01", 20), bytes([kind]) + body,
                fragments(hello(self.chance.randbytes(32)), 60, 1)[-1], b"\x3f" + body,
            ]
        )

    def __call__(self, data: bytes, client: int) -> list[bytes]:
        seen = self.seen.setdefault(client, [])
        seen.append(data)
        return [self.junk(), data, self.junk(), self.chance.choice(seen)]
