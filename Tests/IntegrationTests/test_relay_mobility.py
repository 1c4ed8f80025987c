"""Mobility (RFC 8016) over every transport: a client that changes between UDP, TCP and TLS keeps its relayed
address.
"""

from __future__ import annotations

import contextlib
import random
import socket

import pytest
from switchboard_tests import stun
from switchboard_tests.metrics import metric
from switchboard_tests.ports import free_port
from switchboard_tests.relay_clients import OPEN, connect, over, tls
from switchboard_tests.server import Server
from switchboard_tests.waiting import eventually

ASK = stun.attribute(stun.TRANSPORT, bytes([17, 0, 0, 0]))
END = stun.attribute(stun.LIFETIME, bytes(4))


@pytest.fixture(scope="module")
def relay(make_server, certificate) -> Server:
    """With several workers, so that most connections arrive at another worker than the allocation's."""
    tls_port = free_port()
    server = make_server({"relay": {"tlsPorts": [tls_port], "workers": 3, **certificate, **OPEN}})
    server.tls_port = tls_port
    return server


@pytest.fixture
def make_client(relay, certificate):
    """Makes clients over a transport, closed when the test is over."""
    with contextlib.ExitStack() as stack:

        def make(transport: str, user: str = "alice", password: str = "wonderland") -> stun.Client:
            if transport == "udp":
                made = stun.Client("127.0.0.1", relay.relay_port, user, password)
            elif transport == "tcp":
                made = over(connect(relay), relay, user, password)
            else:
                made = over(tls(connect(relay, port=relay.tls_port), certificate), relay, user, password)
            stack.callback(made.close)
            return made

        yield make


def ticket(value: bytes = b"") -> bytes:
    return stun.attribute(stun.MOBILITY_TICKET, value)


def mobile(client: stun.Client) -> tuple[bytes, tuple[str, int]]:
    """Makes a mobile allocation; returns its ticket and its relayed address."""
    error, response = client.request(stun.ALLOCATE, ASK, ticket())
    assert error == 0
    return response[stun.MOBILITY_TICKET], stun.read_address(response[stun.XOR_RELAYED], client.transaction)


def both_ways(client: stun.Client, peer: socket.socket, relayed: tuple[str, int], tag: bytes) -> None:
    for number in range(4):
        payload = tag + b"%d" % number
        client.send_channel(0x4000, payload)
        assert peer.recvfrom(100) == (payload, relayed)
        peer.sendto(payload[::-1], relayed)
        assert client.socket.recv(100)[4:] == payload[::-1]


@pytest.mark.parametrize("seed", range(4))
def test_a_client_moves_between_udp_tcp_and_tls(relay, make_client, peer, seed):
    """Sixteen moves reach every worker from every other one with near certainty. Permissions and channels are kept."""
    rng = random.Random(seed)
    current = make_client(rng.choice(["udp", "tcp", "tls"]))
    good, relayed = mobile(current)
    assert current.bind(0x4000, *peer.getsockname()) == 0
    both_ways(current, peer, relayed, b"first")
    for round_ in range(16):
        before, current = current, make_client(rng.choice(["udp", "tcp", "tls"]))
        is_late = rng.random() < 0.5
        if is_late:
            before.close()
        error, response = current.request(stun.REFRESH, ticket(good))
        assert error == 0
        good = response[stun.MOBILITY_TICKET]
        both_ways(current, peer, relayed, b"move %d" % round_)
        if not is_late:
            # The old flow has ended.
            assert before.request(stun.REFRESH)[0] == 437
    assert current.request(stun.REFRESH, END)[0] == 0
    eventually(lambda: metric(relay, "relay_allocations") == 0)


@pytest.mark.parametrize("transport", ["tcp", "tls"])
def test_data_after_the_ticket_in_one_write_is_not_lost(relay, make_client, peer, transport):
    """The connection is handed to another worker with all received data, complete messages and partial ones."""
    first = make_client("udp")
    good, relayed = mobile(first)
    assert first.bind(0x4000, *peer.getsockname()) == 0
    for _ in range(8):
        client = make_client(transport)
        assert client.request(stun.ALLOCATE)[0] in (400, 437)
        packets = [client.signed(stun.REFRESH, ticket(good))]
        packets += [b"\x40\x00\x00\x04" + b"%04d" % number for number in range(200)]
        wire = b"".join(packets)
        client.transaction = packets[0][8:20]
        client.socket.connection.sendall(wire[: len(wire) - 3])
        response = client.socket.recv()
        kind, transaction, values = stun.parse(response)
        assert kind == stun.SUCCESS | stun.REFRESH and transaction == client.transaction
        good = values[stun.MOBILITY_TICKET]
        client.socket.connection.sendall(wire[len(wire) - 3 :])
        assert [peer.recvfrom(100) for _ in range(200)] == [(b"%04d" % number, relayed) for number in range(200)]
        both_ways(client, peer, relayed, b"after")
    assert client.request(stun.REFRESH, END)[0] == 0


def test_a_rejected_move_changes_nothing_and_leaves_the_connection_usable(relay, make_client, peer):
    owner = make_client("udp")
    good, relayed = mobile(owner)
    assert owner.bind(0x4000, *peer.getsockname()) == 0
    for transport in ["tcp", "tls"] * 6:
        thief = make_client(transport, password="wrong")
        assert thief.request(stun.REFRESH, ticket(good))[0] == 401
        broken = make_client(transport)
        assert broken.request(stun.REFRESH, ticket(good[:-1] + bytes([good[-1] ^ 1])))[0] == 437
        # The connection may have been handed to the owner's worker, which does not matter.
        assert broken.request(stun.ALLOCATE, ASK)[0] == 0
        assert broken.request(stun.REFRESH, END)[0] == 0
    both_ways(owner, peer, relayed, b"still")
    assert owner.request(stun.REFRESH, END)[0] == 0


def test_a_connection_with_an_allocation_of_its_own_keeps_it(relay, make_client, peer):
    """The ticket of another worker's allocation does not move a connection that has an allocation of its own."""
    for transport in ["tcp", "tls"] * 4:
        mover, settled = make_client("udp"), make_client(transport)
        good, _ = mobile(mover)
        assert settled.request(stun.ALLOCATE, ASK)[0] == 0
        assert settled.request(stun.REFRESH, ticket(good))[0] == 437
        assert settled.bind(0x4000, *peer.getsockname()) == 0
        for client in (mover, settled):
            assert client.request(stun.REFRESH, END)[0] == 0


def test_a_connection_is_handed_between_workers_a_few_times_only(relay, make_client):
    """Tickets that are valid but rejected hand a connection between workers, up to a limit; then it gets a response."""
    owners = [make_client("udp") for _ in range(12)]
    tickets = [mobile(owner)[0] for owner in owners]
    other = make_client("tcp", password="wrong")
    for round_ in range(100):
        assert other.request(stun.REFRESH, ticket(tickets[round_ % 12]))[0] in (401, 437)
    for owner in owners:
        assert owner.request(stun.REFRESH, END)[0] == 0
