"""Clients that request more than they read, or more than they may: their use of the server's memory and CPU is
bounded."""

from __future__ import annotations

import select
import socket
import time

import pytest
from switchboard_tests.processes import memory
from switchboard_tests.rawsocket import RawSocket, frame
from switchboard_tests.waiting import TIMEOUT

MIB = 1 << 20


def flood(client: socket.socket, data: bytes, seconds: float) -> bool:
    """Sends `data` repeatedly and reads nothing. Returns whether the server closed the connection."""
    client.setblocking(False)
    end = time.monotonic() + seconds
    rest = data
    while time.monotonic() < end:
        writable = select.select([], [client], [], 0.05)[1]
        if not writable:
            continue
        try:
            rest = rest[client.send(rest) :] or data
        except BlockingIOError:
            continue
        except ConnectionError:
            return True
    return False


def wait_until_closed(client: socket.socket) -> None:
    client.settimeout(TIMEOUT)
    try:
        while client.recv(65536):
            pass
    except ConnectionError:
        pass


@pytest.mark.parametrize(
    "flooded",
    [
        frame(b"", opcode=9),
        frame(b"p" * 125, opcode=9),
        frame(b"", opcode=10),
        frame(b"", final=False, opcode=1) + frame(b"", final=False, opcode=0) * 999,
    ],
    ids=["empty pings", "pings", "pongs", "empty fragments"],
)
def test_control_and_empty_frames_of_an_unauthenticated_client_that_does_not_read_cost_no_memory(server, flooded):
    before = memory(server.pid)
    with RawSocket(server.port) as client:
        flood(client.socket, flooded * (65536 // len(flooded) or 1), seconds=4)
        grown = memory(server.pid) - before
        wait_until_closed(client.socket)
    assert grown < 16 * MIB, f"{grown / MIB:.1f} MiB"


def test_pings_are_answered_whoever_sends_a_few(server):
    with RawSocket(server.port) as client:
        client.write(frame(b"one", opcode=9))
        assert client.read() == (10, b"one")
        # Of several pings at least the latest gets a pong (RFC 6455 section 5.5.3).
        client.write(frame(b"two", opcode=9) + frame(b"three", opcode=9))
        got = client.read()
        while got != (10, b"three"):
            assert got == (10, b"two")
            got = client.read()
