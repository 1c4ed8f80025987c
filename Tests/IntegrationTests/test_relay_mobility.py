"""Mobility (RFC 8016) over every transport: a client that changes between UDP, TCP and TLS keeps its relayed address."""

from __future__ import annotations

import contextlib
import random
import socket

import pytest

import stun
from conftest import Server
from ports import free_port
from test_relay import OPEN
from test_relay_streams import certificate, connect, eventually, figure, over, peer, tls  # noqa: F401

ASK = stun.attribute(stun.TRANSPORT, bytes([17, 0, 0, 0]))
END = stun.attribute(stun.LIFETIME, bytes(4))


@pytest.fixture(scope="module")
def relay(make_server, certificate) -> Server:  # noqa: F811
    """With several workers, so that most connections arrive at another one than the allocation's."""
    tls_port = free_port()
    server = make_server({"relay": {"tlsPorts": [tls_port], "workers": 3, **certificate, **OPEN}})
    server.tls_port = tls_port
    return server


@pytest.fixture
def door(relay, certificate):  # noqa: F811
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
    """Makes an allocation that can move: its ticket and its relayed address."""
    error, answer = client.request(stun.ALLOCATE, ASK, ticket())
    assert error == 0
    return answer[stun.MOBILITY_TICKET], stun.read_address(answer[stun.XOR_RELAYED], client.transaction)


def both_ways(client: stun.Client, peer: socket.socket, relayed: tuple[str, int], tag: bytes) -> None:  # noqa: F811
    for number in range(4):
        payload = tag + b"%d" % number
        client.send_channel(0x4000, payload)
        assert peer.recvfrom(100) == (payload, relayed)
        peer.sendto(payload[::-1], relayed)
        assert client.socket.recv(100)[4:] == payload[::-1]


@pytest.mark.parametrize("seed", range(4))
def test_a_client_moves_between_udp_tcp_and_tls(relay, door, peer, seed):  # noqa: F811
    """Sixteen moves reach every worker from every other one with near certainty. Permissions and channels go along."""
    chance = random.Random(seed)
    current = door(chance.choice(["udp", "tcp", "tls"]))
    good, relayed = mobile(current)
    assert current.bind(0x4000, *peer.getsockname()) == 0
    both_ways(current, peer, relayed, b"first")
    for round_ in range(16):
        before, current = current, door(chance.choice(["udp", "tcp", "tls"]))
        is_late = chance.random() < 0.5
        if is_late:
            before.close()
        error, answer = current.request(stun.REFRESH, ticket(good))
        assert error == 0
        good = answer[stun.MOBILITY_TICKET]
        both_ways(current, peer, relayed, b"move %d" % round_)
        if not is_late:
            # The old flow has ended.
            assert before.request(stun.REFRESH)[0] == 437
    assert current.request(stun.REFRESH, END)[0] == 0
    eventually(lambda: figure(relay, "relay_allocations") == 0)


@pytest.mark.parametrize("transport", ["tcp", "tls"])
def test_what_follows_the_ticket_in_one_write_is_not_lost(relay, door, peer, transport):  # noqa: F811
    """The connection goes to another worker with everything that came on it, whole messages and half ones."""
    first = door("udp")
    good, relayed = mobile(first)
    assert first.bind(0x4000, *peer.getsockname()) == 0
    for round_ in range(8):
        client = door(transport)
        assert client.request(stun.ALLOCATE)[0] in (400, 437)
        packets = [client.signed(stun.REFRESH, ticket(good))]
        packets += [b"\x40\x00\x00\x04" + b"%04d" % number for number in range(200)]
        wire = b"".join(packets)
        client.transaction = packets[0][8:20]
        client.socket.connection.sendall(wire[: len(wire) - 3])
        answer = client.socket.recv()
        kind, transaction, values = stun.parse(answer)
        assert kind == stun.SUCCESS | stun.REFRESH and transaction == client.transaction
        good = values[stun.MOBILITY_TICKET]
        client.socket.connection.sendall(wire[len(wire) - 3 :])
        assert [peer.recvfrom(100) for _ in range(200)] == [(b"%04d" % number, relayed) for number in range(200)]
        both_ways(client, peer, relayed, b"after")
    assert client.request(stun.REFRESH, END)[0] == 0


def test_a_refused_move_changes_nothing_and_leaves_the_connection_usable(relay, door, peer):  # noqa: F811
    owner = door("udp")
    good, relayed = mobile(owner)
    assert owner.bind(0x4000, *peer.getsockname()) == 0
    for transport in ["tcp", "tls"] * 6:
        thief = door(transport, password="wrong")
        assert thief.request(stun.REFRESH, ticket(good))[0] == 401
        broken = door(transport)
        assert broken.request(stun.REFRESH, ticket(good[:-1] + bytes([good[-1] ^ 1])))[0] == 437
        # The connection may have gone to the owner's worker for it: it is as good as any.
        assert broken.request(stun.ALLOCATE, ASK)[0] == 0
        assert broken.request(stun.REFRESH, END)[0] == 0
    both_ways(owner, peer, relayed, b"still")
    assert owner.request(stun.REFRESH, END)[0] == 0


def test_a_connection_with_an_allocation_of_its_own_keeps_it(relay, door, peer):  # noqa: F811
    """The ticket of another worker's allocation does not carry a connection away from the allocation that it has."""
    for transport in ["tcp", "tls"] * 4:
        mover, settled = door("udp"), door(transport)
        good, _ = mobile(mover)
        assert settled.request(stun.ALLOCATE, ASK)[0] == 0
        assert settled.request(stun.REFRESH, ticket(good))[0] == 437
        assert settled.bind(0x4000, *peer.getsockname()) == 0
        for client in (mover, settled):
            assert client.request(stun.REFRESH, END)[0] == 0


def test_a_connection_goes_from_worker_to_worker_a_few_times_only(relay, door):
    """Tickets that are valid but refused send a connection round the workers; after a while it stays, and is answered."""
    owners = [door("udp") for _ in range(12)]
    tickets = [mobile(owner)[0] for owner in owners]
    other = door("tcp", password="wrong")
    for round_ in range(100):
        assert other.request(stun.REFRESH, ticket(tickets[round_ % 12]))[0] in (401, 437)
    for owner in owners:
        assert owner.request(stun.REFRESH, END)[0] == 0
