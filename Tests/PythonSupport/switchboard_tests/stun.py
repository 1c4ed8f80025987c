"""An independent STUN and TURN client in plain Python, without code shared with the server."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import ipaddress
import os
import socket
import struct
import time
from collections.abc import Iterator
from typing import Any

from switchboard_tests.waiting import TIMEOUT

COOKIE = 0x2112A442
BINDING, ALLOCATE, REFRESH, SEND, DATA, CREATE_PERMISSION, CHANNEL_BIND = 1, 3, 4, 6, 7, 8, 9
USERNAME, INTEGRITY, ERROR_CODE, CHANNEL_NUMBER, LIFETIME = 0x06, 0x08, 0x09, 0x0C, 0x0D
XOR_PEER, DATA_VALUE, REALM, NONCE, XOR_RELAYED, FAMILY, TRANSPORT = 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x19
XOR_MAPPED, MOBILITY_TICKET = 0x20, 0x8030
REQUEST, INDICATION, SUCCESS, FAILURE = 0x000, 0x010, 0x100, 0x110
RETRANSMISSION_SECONDS = 0.5


def attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("!HH", kind, len(value)) + value + bytes(-len(value) % 4)


def message(kind: int, transaction: bytes, body: bytes) -> bytes:
    return struct.pack("!HHI", kind, len(body), COOKIE) + transaction + body


def xor_address(address: str, port: int, transaction: bytes) -> bytes:
    packed = ipaddress.ip_address(address).packed
    mask = struct.pack("!I", COOKIE) + transaction
    family = 1 if len(packed) == 4 else 2
    return struct.pack("!BBH", 0, family, port ^ (COOKIE >> 16)) + bytes(a ^ b for a, b in zip(packed, mask))


def parse(data: bytes) -> tuple[int, bytes, dict[int, bytes]]:
    kind, length, cookie = struct.unpack_from("!HHI", data)
    assert cookie == COOKIE and length == len(data) - 20
    attributes: dict[int, bytes] = {}
    offset = 20
    while offset < len(data):
        name, size = struct.unpack_from("!HH", data, offset)
        attributes.setdefault(name, data[offset + 4 : offset + 4 + size])
        offset += 4 + size + -size % 4
    return kind, data[8:20], attributes


def read_address(value: bytes, transaction: bytes) -> tuple[str, int]:
    mask = struct.pack("!I", COOKIE) + transaction
    packed = bytes(a ^ b for a, b in zip(value[4:], mask))
    return str(ipaddress.ip_address(packed)), struct.unpack_from("!H", value, 2)[0] ^ (COOKIE >> 16)


def ephemeral(secret: str, user: str, seconds: int = 600) -> tuple[str, str]:
    name = f"{int(time.time()) + seconds}:{user}"
    return name, base64.b64encode(hmac.digest(secret.encode(), name.encode(), "sha1")).decode()


used_ports: set[int] = set()


def fresh_socket(host: str) -> socket.socket:
    """A UDP socket on a port that no client of this run has used: an earlier 5-tuple's allocation may live for
    minutes."""
    while True:
        made = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
        made.bind((host, 0))
        port = made.getsockname()[1]
        if port not in used_ports:
            used_ports.add(port)
            return made
        made.close()


class Client:
    """One client of a TURN server over UDP. Every request returns its error number, 0 for success, and its
    attributes."""

    def __init__(self, host: str, port: int, user: str = "", password: str = "", local: str = "") -> None:
        self.server = (host, port)
        # Or what has its methods.
        self.socket: Any = fresh_socket(local or host)
        self.socket.settimeout(TIMEOUT)
        self.user, self.password = user, password
        self.realm = self.nonce = b""
        self.transaction = b""

    def close(self) -> None:
        self.socket.close()

    def request(
        self, method: int, *attributes: bytes, transaction: bytes | None = None
    ) -> tuple[int, dict[int, bytes]]:
        for _ in range(3):
            error, response = self.exchange(method, attributes, transaction)
            if error not in (401, 438) or (error == 401 and self.nonce):
                return error, response
            self.realm, self.nonce = response[REALM], response[NONCE]
        return error, response

    def exchange(
        self, method: int, attributes: tuple[Any, ...], transaction: bytes | None
    ) -> tuple[int, dict[int, bytes]]:
        return self.ask(self.signed(method, *attributes, transaction=transaction))

    def signed(self, method: int, *attributes: bytes, transaction: bytes | None = None, after: bytes = b"") -> bytes:
        """A request with the credentials; `after` follows its signature, as an attacker on the path could append it."""
        transaction = transaction or os.urandom(12)
        body = b"".join(attributes)
        if self.nonce:
            body += attribute(USERNAME, self.user.encode())
            body += attribute(REALM, self.realm) + attribute(NONCE, self.nonce)
            key = hashlib.md5(b":".join((self.user.encode(), self.realm, self.password.encode()))).digest()
            covered = message(method, transaction, body + bytes(24))[: 20 + len(body)]
            body += attribute(INTEGRITY, hmac.digest(key, covered, "sha1"))
        return message(REQUEST | method, transaction, body + after)

    def ask(self, packet: bytes) -> tuple[int, dict[int, bytes]]:
        """Sends a request until it gets a response."""
        self.transaction = packet[8:20]
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            self.socket.sendto(packet, self.server)
            with self.retransmitting(), contextlib.suppress(TimeoutError):
                while True:
                    data = self.socket.recv(9000)
                    if data[0] < 0x40 and data[8:20] == self.transaction:
                        kind, _, response = parse(data)
                        code = response.get(ERROR_CODE, b"\0\0\0\0")
                        return (0 if kind & 0x110 == SUCCESS else code[2] * 100 + code[3]), response
        raise AssertionError(f"no response from {self.server} in {TIMEOUT} s")

    @contextlib.contextmanager
    def retransmitting(self) -> Iterator[None]:
        """Datagrams that are lost are sent again soon (RFC 8489 section 6.2.1), those of a stream are not lost."""
        if not isinstance(self.socket, socket.socket):
            yield
            return
        before = self.socket.gettimeout()
        self.socket.settimeout(RETRANSMISSION_SECONDS)
        try:
            yield
        finally:
            self.socket.settimeout(before)

    def allocate(self, *attributes: bytes) -> tuple[str, int]:
        extra = (attribute(FAMILY, bytes([2, 0, 0, 0])),) if ":" in self.server[0] else ()
        error, response = self.request(ALLOCATE, attribute(TRANSPORT, bytes([17, 0, 0, 0])), *extra, *attributes)
        assert error == 0, f"Allocate was rejected with {error}"
        return read_address(response[XOR_RELAYED], self.transaction)

    def peer(self, address: str, port: int, transaction: bytes) -> bytes:
        return attribute(XOR_PEER, xor_address(address, port, transaction))

    def permit(self, address: str, port: int = 9) -> int:
        transaction = os.urandom(12)
        return self.request(CREATE_PERMISSION, self.peer(address, port, transaction), transaction=transaction)[0]

    def bind(self, channel: int, address: str, port: int) -> int:
        transaction = os.urandom(12)
        number = attribute(CHANNEL_NUMBER, struct.pack("!HH", channel, 0))
        return self.request(CHANNEL_BIND, number, self.peer(address, port, transaction), transaction=transaction)[0]

    def send_channel(self, channel: int, payload: bytes) -> None:
        self.socket.sendto(struct.pack("!HH", channel, len(payload)) + payload, self.server)

    def send(self, address: str, port: int, payload: bytes) -> None:
        transaction = os.urandom(12)
        body = self.peer(address, port, transaction) + attribute(DATA_VALUE, payload)
        self.socket.sendto(message(INDICATION | SEND, transaction, body), self.server)
