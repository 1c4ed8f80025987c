"""The rest of STUN and TURN against coturn's clients and by hand: DONT-FRAGMENT, ICMP, tokens, limits, other
servers.
"""

from __future__ import annotations

import base64
import re
import socket
import struct

import pytest
from switchboard_tests import stun
from switchboard_tests.coturn import STATIC, SideBySide
from switchboard_tests.relay_clients import uclient
from switchboard_tests.server import HTTP, Server
from switchboard_tests.waiting import TIMEOUT, wait_until

ICMP, DONT_FRAGMENT, ALTERNATE_SERVER = 0x8004, 0x1A, 0x8023
# What turnutils_uclient -J has built in.
TOKEN_KEYS = {
    "north": b"01234567890123456789012345678901",
    "union": b"1234567890123456",
    "oldempire": b"12345678901234567890123456789012",
}


@pytest.fixture(scope="module")
def relay(make_server) -> Server:
    keys = {name: base64.b64encode(key).decode() for name, key in TOKEN_KEYS.items()}
    return make_server({"relay": {"workers": 2, "oauthKeys": keys, "limits": {"allocationsPerUser": 1000}}})


def other_side(echo_port: int) -> list[str]:
    return ["-r", str(echo_port), "-e", "127.0.0.1", "-X", "127.0.0.1"]


def modes(test: str, server: str = "relay"):
    """A fixture that runs a test's modes of uclient side by side, against the server of another fixture."""
    @pytest.fixture(scope="module")
    def runs(request, echo_port):
        target = request.getfixturevalue(server)
        return SideBySide(request, test, lambda mode: uclient(target, [*STATIC, *mode, *other_side(echo_port)]))
    return runs


with_dont_fragment_runs = modes("test_uclient_with_dont_fragment")
moves_runs = modes("test_uclient_with_mobility", "moving")
with_access_tokens_runs = modes("test_uclient_with_access_tokens")


@pytest.mark.parametrize("mode", [["-g"], ["-g", "-c"], ["-g", "-s", "-c"]], ids=" ".join)
def test_uclient_with_dont_fragment(with_dont_fragment_runs, mode):
    assert with_dont_fragment_runs(mode=mode) == 0


@pytest.fixture(scope="module")
def moving(make_server) -> Server:
    """A server for mobile clients only: an allocation without a ticket, left by a test, would block its port for
    them."""
    return make_server({"relay": {"workers": 2, "limits": {"allocationsPerUser": 1000}}})


@pytest.mark.parametrize("mode", [["-M"], ["-M", "-c"], ["-M", "-s"], ["-M", "-s", "-c"]], ids=" ".join)
def test_uclient_with_mobility(moves_runs, mode):
    """Each client changes its port and continues with a ticket: with two workers, half of them reach the other one."""
    assert moves_runs(mode=mode) == 0


@pytest.mark.parametrize("mode", [["-M", "-t"], ["-M", "-t", "-c"], ["-M", "-T"]], ids=" ".join)
def test_uclient_with_mobility_over_connections(moving, echo_port, mode):
    """Not over TLS and DTLS: with -S, several clients that move fail at coturn's own server too, or crash."""
    assert uclient(moving, [*STATIC, *mode, *other_side(echo_port)]) == 0


@pytest.mark.parametrize("mode", [["-J"], ["-J", "-c"], ["-J", "-s"]], ids=" ".join)
def test_uclient_with_access_tokens(with_access_tokens_runs, mode):
    """Each Allocate and Refresh brings a new token, sealed with one of three keys."""
    assert with_access_tokens_runs(mode=mode) == 0


def test_a_closed_port_is_reported_to_the_client(relay, client):
    made = client(relay)
    made.allocate(stun.attribute(DONT_FRAGMENT, b""))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as closing:
        closing.bind(("127.0.0.1", 0))
        closed = closing.getsockname()
    assert made.permit(*closed) == 0
    made.send(*closed, b"anyone?")
    made.socket.settimeout(TIMEOUT)
    while True:
        kind, transaction, values = stun.parse(made.socket.recv(9000))
        if ICMP in values:
            break
    assert kind == stun.INDICATION | stun.DATA
    assert stun.read_address(values[stun.XOR_PEER], transaction) == closed
    # Destination unreachable, port unreachable.
    assert values[ICMP] == struct.pack("!HHI", 0, 3 << 9 | 3, 0)
    assert stun.DATA_VALUE not in values


def test_an_allocation_that_sends_too_fast_loses_packets_and_nobody_else(make_server, client, echo_port):
    server = make_server({"relay": {"limits": {"packetsPerSecond": 50}}})
    fast, slow = client(server), client(server)
    for made in (fast, slow):
        made.allocate()
        assert made.bind(0x4000, "127.0.0.1", echo_port) == 0
    for number in range(500):
        fast.send_channel(0x4000, b"%d" % number)
    slow.send_channel(0x4000, b"slow")
    assert slow.socket.recv(100) == b"\x40\x00\x00\x04slow"
    fast.socket.settimeout(0.5)
    received = 0
    try:
        while fast.socket.recv(100):
            received += 1
    except TimeoutError:
        pass
    # A burst of one second's budget, plus the budget of the elapsed time.
    assert 50 <= received < 400
    wait_until(lambda: rejected(server, "packet_rate") > 0, "a packet is counted as dropped for its rate")
    assert rejected(server, "bandwidth") == 0


def rejected(server: Server, reason: str) -> float:
    metrics = HTTP.get(server.admin_url + "/metrics").text
    return float(re.search(rf'relay_rejected_total{{reason="{reason}"}} (\S+)', metrics).group(1))


def test_a_full_relay_sends_clients_elsewhere(make_server, client):
    server = make_server(
        {"relay": {"limits": {"allocations": 1}, "alternateServer": ["203.0.113.9:3478", "[2001:db8::9]:3478"]}}
    )
    first, second = client(server), client(server)
    first.allocate()
    error, response = second.request(stun.ALLOCATE, stun.attribute(stun.TRANSPORT, bytes([17, 0, 0, 0])))
    assert error == 300
    assert response[ALTERNATE_SERVER] == bytes([0, 1]) + struct.pack("!H", 3478) + bytes([203, 0, 113, 9])
    assert stun.INTEGRITY in response
    assert first.request(stun.REFRESH, stun.attribute(stun.LIFETIME, bytes(4)))[0] == 0
    second.allocate()
