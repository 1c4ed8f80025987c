"""Clients of the relay over streams, and coturn's."""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import struct
from typing import Any

from switchboard_tests import coturn, stun
from switchboard_tests.server import Server
from switchboard_tests.waiting import TIMEOUT

OPEN = {"limits": {"allocationsPerUser": 1000}, "peers": {"allow": ["127.0.0.0/8", "::1/128"]}}


def uclient(server: Server, arguments: list[str]) -> int:
    """Runs turnutils_uclient and returns how many packets it lost. Its modes over UDP are in test_relay_interop.py."""
    report = coturn.uclient(server.relay_port, arguments)
    assert report.lost >= 0 and report.sent >= 160, report.tail
    return report.lost


class Frames:
    """A socket interface for `stun.Client` that splits a TCP or TLS stream into messages."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.held = b""
        connection.settimeout(TIMEOUT)

    def sendto(self, message: bytes, server: Any) -> None:
        self.connection.sendall(message + bytes(-len(message) % 4))

    def recv(self, size: int = 0) -> bytes:
        header = self.take(4)
        length = struct.unpack("!H", header[2:])[0]
        if header[0] & 0x40:
            return header + self.take(length + -length % 4)[:length]
        return header + self.take(16 + length)

    def take(self, count: int) -> bytes:
        while len(self.held) < count:
            more = self.connection.recv(count - len(self.held))
            if not more:
                raise ConnectionError("the server closed the connection")
            self.held += more
        taken, self.held = self.held[:count], self.held[count:]
        return taken

    def settimeout(self, seconds: float) -> None:
        self.connection.settimeout(seconds)

    def close(self) -> None:
        self.connection.close()


def connect(server: Server, host: str = "127.0.0.1", source: str = "", port: int = 0) -> socket.socket:
    return socket.create_connection(
        (host, port or server.relay_port), timeout=TIMEOUT, source_address=(source, 0) if source else None
    )


def over(connection: socket.socket, server: Server, user: str = "alice", password: str = "wonderland") -> stun.Client:
    """A TURN client on an open connection."""
    client = stun.Client("127.0.0.1", server.relay_port, user, password)
    client.socket.close()
    client.socket = Frames(connection)
    return client


def tls(
    connection: socket.socket,
    certificate: dict[str, str],
    version: ssl.TLSVersion | None = None,
    protocols: list[str] | None = None,
) -> ssl.SSLSocket:
    context = ssl.create_default_context(cafile=certificate["certificate"])
    if version:
        context.minimum_version = context.maximum_version = version
    if protocols:
        context.set_alpn_protocols(protocols)
    return context.wrap_socket(connection, server_hostname="localhost")


def ends(connection: socket.socket, seconds: float = TIMEOUT) -> bool:
    """Whether the server closes the connection without another byte."""
    connection.settimeout(seconds)
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def is_free(address: tuple[str, int]) -> bool:
    """Whether the relay has released a port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):
        probe.bind(address)
        return True
    return False


CONNECT, CONNECTION_BIND, CONNECTION_ATTEMPT, CONNECTION_ID = 0x00A, 0x00B, 0x00C, 0x2A


def allocated(server: Server, connection: socket.socket) -> tuple[stun.Client, tuple[str, int]]:
    control = over(connection, server)
    error, response = control.request(stun.ALLOCATE, stun.attribute(stun.TRANSPORT, bytes([6, 0, 0, 0])))
    assert error == 0
    return control, stun.read_address(response[stun.XOR_RELAYED], control.transaction)


def ask(control: stun.Client, address: str, port: int) -> tuple[int, bytes]:
    transaction = os.urandom(12)
    error, response = control.request(CONNECT, control.peer(address, port, transaction), transaction=transaction)
    return error, response.get(CONNECTION_ID, b"")


def claim(server: Server, connection: socket.socket, number: bytes, **credentials: str) -> int:
    return over(connection, server, **credentials).request(CONNECTION_BIND, stun.attribute(CONNECTION_ID, number))[0]
