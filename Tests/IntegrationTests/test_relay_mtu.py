"""DONT-FRAGMENT and the ICMP attribute on a path that is narrower than its ends: a router with a link of 1280 bytes."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator

import pytest
from switchboard_tests import stun
from switchboard_tests.namespaces import Namespace
from switchboard_tests.server import Server
from switchboard_tests.waiting import TIMEOUT

DONT_FRAGMENT, ICMP = 0x1A, 0x8004
ROUTER, HOST, NARROW = "20.0.0.70", "30.0.0.2", 1280


@pytest.fixture(scope="module")
def host(internet):
    """A host behind the narrow link, reached by its own address."""
    router, host = Namespace(), Namespace()
    internet.namespace.run(
        f"ip link add narrow type veth peer name wan netns {router.path}", "ip link set narrow master wide up",
        f"ip route add 30.0.0.0/24 via {ROUTER}",
    )
    router.run(
        f"ip address add {ROUTER}/24 dev wan", "ip link set wan up",
        f"ip link add lan type veth peer name eth0 netns {host.path}", "ip address add 30.0.0.1/24 dev lan",
        f"ip link set lan mtu {NARROW} up", "sysctl -qw net.ipv4.ip_forward=1",
    )
    host.run(
        f"ip address add {HOST}/24 dev eth0", f"ip link set eth0 mtu {NARROW} up", "ip route add default via 30.0.0.1"
    )
    yield host
    host.close()
    router.close()


@pytest.fixture(scope="module")
def relay(internet, make_server) -> Iterator[Server]:
    with internet.namespace.inside():
        server = make_server(
            {"http": {"host": "20.0.0.1", "port": 8080}, "relay": {"listen": ["20.0.0.1"], "port": 3478}}, started=False
        )
        server.url, server.relay_port = "http://20.0.0.1:8080", 3478
        server.start()
        yield server
        server.stop()


@pytest.fixture
def peers(internet, host, relay):
    """A client with an allocation, and a peer behind the narrow link that it may send to."""
    with host.inside():
        peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        peer.bind((HOST, 0))
        peer.settimeout(TIMEOUT)
    with internet.namespace.inside():
        client = stun.Client("20.0.0.1", 3478, "alice", "wonderland")
    client.allocate(stun.attribute(DONT_FRAGMENT, b""))
    assert client.permit(*peer.getsockname()) == 0
    client.socket.settimeout(TIMEOUT)
    yield client, peer
    client.close()
    peer.close()


def send(client: stun.Client, peer: socket.socket, size: int, *attributes: bytes) -> None:
    transaction = os.urandom(12)
    address, port = peer.getsockname()
    body = client.peer(address, port, transaction) + b"".join(attributes)
    body += stun.attribute(stun.DATA_VALUE, bytes(size))
    client.socket.sendto(stun.message(stun.INDICATION | stun.SEND, transaction, body), client.server)


def test_packet_too_big_on_the_path_is_reported_with_its_mtu(peers):
    client, peer = peers
    send(client, peer, 1300, stun.attribute(DONT_FRAGMENT, b""))
    kind, transaction, values = stun.parse(client.socket.recv(9000))
    assert kind == stun.INDICATION | stun.DATA
    assert stun.read_address(values[stun.XOR_PEER], transaction) == peer.getsockname()
    # Destination unreachable, fragmentation needed, and what fits.
    assert values[ICMP] == struct.pack("!HHI", 0, 3 << 9 | 4, NARROW)
    # The next one that fits arrives, and one of the full size with its header too.
    for size in (100, NARROW - 28):
        send(client, peer, size, stun.attribute(DONT_FRAGMENT, b""))
        assert len(peer.recv(9000)) == size


def test_datagrams_that_may_be_fragmented_arrive(peers):
    """Also after the kernel has discovered the path MTU from another packet."""
    client, peer = peers
    for size in (1300, 4000):
        send(client, peer, size)
        assert len(peer.recv(9000)) == size
        send(client, peer, 1300, stun.attribute(DONT_FRAGMENT, b""))
        assert ICMP in stun.parse(client.socket.recv(9000))[2]


def test_packet_too_big_on_the_first_link_is_reported_too(peers):
    """The server's own link has 1500 bytes: no router is asked."""
    client, peer = peers
    send(client, peer, 3000, stun.attribute(DONT_FRAGMENT, b""))
    _, _, values = stun.parse(client.socket.recv(9000))
    assert values[ICMP] == struct.pack("!HHI", 0, 3 << 9 | 4, 1500)
