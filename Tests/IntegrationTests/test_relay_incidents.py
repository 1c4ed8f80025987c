"""Incidents of other relays that must not happen here: each test is named after an incident of coturn or another relay.

Elsewhere: connections of unauthenticated clients (CVE-2026-68552 and coturn#2041 too) in test_relay_streams.py, DTLS
before the cookie (CVE-2026-73214) in test_relay_dtls.py, reflection by NAT discovery in test_relay_discovery.py, a
flood of a million packets in test_relay.py, and expiry, which needs a clock of the tests' own, in Tests/TURNTests.
"""

from __future__ import annotations

import contextlib
import ipaddress
import itertools
import os
import pathlib
import random
import re
import socket
import struct
import time

import pytest
from switchboard_tests import stun
from switchboard_tests.ports import free_port
from switchboard_tests.relay_clients import Frames
from switchboard_tests.server import HTTP, Server
from switchboard_tests.waiting import TIMEOUT, wait_until

SECRET = "a secret of the tests, long enough"
ASK = stun.attribute(stun.TRANSPORT, bytes([17, 0, 0, 0]))
END = stun.attribute(stun.LIFETIME, bytes(4))
# <linux/in.h>; Python's socket module does not name it.
IP_RECVTTL = 12
CONNECT, EVEN_PORT, RESERVATION_TOKEN = 0x0A, 0x18, 0x22


@pytest.fixture(scope="module")
def relay(make_server) -> Server:
    """A server that relays to loopback, over IPv4 and IPv6."""
    return make_server(
        {
            "relay": {
                "listen": ["127.0.0.1", "::1"], "limits": {"allocationsPerUser": 1000},
                "peers": {"allow": ["127.0.0.0/8", "::1/128"]},
            }
        }
    )


@pytest.fixture(scope="module")
def strict_relay(make_server) -> Server:
    """A server with the default rule for peers."""
    return make_server(
        {
            "relay": {
                "listen": ["127.0.0.1", "::1"], "limits": {"allocationsPerUser": 1000, "newPeersPerSecond": 0},
                "peers": {"allow": []},
            }
        }
    )


@pytest.fixture
def brief(make_server):
    """Makes servers that end with the test, so that the next one finds their ports free."""
    made: list[Server] = []

    def make(settings: dict) -> Server:
        made.append(make_server(settings))
        return made[-1]

    yield make
    for server in made:
        assert server.process.poll() is None, server.log_tail()
        server.stop()


@pytest.fixture
def peers():
    """Makes peers: UDP sockets of other addresses of the loopback."""
    with contextlib.ExitStack() as stack:
        def make(address: str = "127.0.0.1") -> socket.socket:
            made = stack.enter_context(
                socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
            )
            made.bind((address, 0))
            made.settimeout(TIMEOUT)
            return made
        yield make


def comes_through(sender: socket.socket, relayed: tuple[str, int], receiver: stun.Client) -> bool:
    """Whether a peer's datagram to a relayed address reaches the client. `receiver` must have a permission for
    127.0.0.9, from where a second packet shows that the first was dropped and is not only late."""
    mark = os.urandom(8)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
        last.bind(("127.0.0.9", 0))
        sender.sendto(b"first" + mark, relayed)
        last.sendto(b"last" + mark, relayed)
        received = b""
        while b"last" + mark not in received:
            received += receiver.socket.recv(2000)
    return b"first" + mark in received


def metrics(server: Server) -> str:
    return HTTP.get(server.admin_url + "/metrics").text


def metric(server: Server, name: str) -> float:
    """The sum of a metric over its labels."""
    lines = re.findall(rf"^switchboard_{name}(?:{{[^}}]*}})? (\S+)$", metrics(server), re.MULTILINE)
    assert lines, f"there is no switchboard_{name}"
    return sum(map(float, lines))


# Who may be a peer (CVE-2020-26262, CVE-2026-27624, CVE-2026-53450) ---------------------------------------------------

REFUSED_IPV4 = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "127.9.9.9",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.1.1.1",
    "240.0.0.1",
    "255.255.255.255",
]
REFUSED_IPV6 = [
    "::", "::1", "64:ff9b:1::1", "100::1", "2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1", "3fff::1", "4000::1",
    "5f00::1", "fc00::1", "fd00::1", "fe80::1", "fec0::1", "ff02::1",
]


def spellings(address: str) -> list[str]:
    """An IPv4 address in every form that IPv6 has for it."""
    value = int(ipaddress.IPv4Address(address))
    teredo = (0x20010000 << 96) | (0x08080808 << 64) | (~value & 0xFFFFFFFF)
    forms = [
        0xFFFF_00000000 | value, value, 0xFFFF_00000000_0000 << 0 | value, (0x2002 << 112) | (value << 80) | 1,
        (0x0064FF9B << 96) | value, (0x0064FF9B0001 << 80) | value, teredo,
        (0x20010000 << 96) | (value << 64) | (~0x08080808 & 0xFFFFFFFF),
    ]
    return [str(ipaddress.IPv6Address(form)) for form in forms]


def test_cve_2020_26262_and_2026_27624_special_addresses_in_every_spelling(strict_relay, client):
    four, six = client(strict_relay), client(strict_relay, "::1")
    four.allocate()
    six.allocate()
    for address in REFUSED_IPV4:
        assert four.permit(address) == 403, address
        assert four.bind(0x4000, address, 9) == 403, address
        for spelling in spellings(address):
            assert six.permit(spelling) == 403, f"{address} as {spelling}"
            assert six.bind(0x4000, spelling, 9) == 403, f"{address} as {spelling}"
    for address in REFUSED_IPV6:
        assert six.permit(address) == 403, address
        assert six.bind(0x4000, address, 9) == 403, address


def test_addresses_of_the_wrong_family_are_443(strict_relay, client):
    four, six = client(strict_relay), client(strict_relay, "::1")
    four.allocate()
    six.allocate()
    for address in [*REFUSED_IPV6, "2600::1", "::ffff:8.8.8.8"]:
        assert four.permit(address) == 443, address
    for address in [*REFUSED_IPV4, "8.8.8.8"]:
        assert six.permit(address) == 443, address


def test_public_addresses_are_allowed(strict_relay, client):
    four, six = client(strict_relay), client(strict_relay, "::1")
    four.allocate()
    six.allocate()
    assert four.permit("8.8.8.8") == 0
    assert four.bind(0x4000, "8.8.8.8", 53) == 0
    assert six.permit("2600::1") == 0


@pytest.mark.parametrize("kind", ["strict_relay", "relay"])
def test_coturn_1946_own_http_and_admin_ports_are_rejected(request, client, kind):
    """Through every own address, even if the operator allows loopback peers."""
    server = request.getfixturevalue(kind)
    made = client(server)
    made.allocate()
    own = {
        "127.0.0.1",
        "127.0.0.2",
        *(info[4][0] for info in socket.getaddrinfo(socket.gethostname(), 0, socket.AF_INET)),
    }
    for address in own:
        for port in (server.port, server.admin_port, server.relay_port):
            assert made.permit(address, port) == 403, (address, port)
            assert made.bind(0x4000, address, port) == 403, (address, port)
    six = client(server, "::1")
    six.allocate()
    for port in (server.port, server.admin_port, server.relay_port):
        assert six.permit("::1", port) == 403


def test_coturn_584_two_relayed_clients_reach_each_other(strict_relay, client):
    """Loopback is denied, except for the ports of live allocations."""
    alice, bob = client(strict_relay), client(strict_relay, user="alice")
    at_alice, at_bob = alice.allocate(), bob.allocate()
    assert alice.bind(0x4000, *at_bob) == 0
    assert bob.bind(0x4001, *at_alice) == 0
    alice.send_channel(0x4000, b"hello")
    assert bob.socket.recv(100) == b"\x40\x01\x00\x05hello"
    assert bob.request(stun.REFRESH, stun.attribute(stun.LIFETIME, bytes(4)))[0] == 0
    assert alice.bind(0x4002, *at_bob) == 403

@pytest.mark.parametrize("loopback_is_open", [False, True], ids=["shut", "loopback-open"])
def test_cve_2020_26262_over_tcp_allocations(brief, loopback_is_open):
    """As demonstrated with curl through coturn: a TCP allocation that connects to a service on the server itself."""
    allowed = ["127.0.0.0/8", "::1/128"] if loopback_is_open else []
    server = brief(
        {"relay": {"listen": ["127.0.0.1", "::1"], "limits": {"newPeersPerSecond": 0}, "peers": {"allow": allowed}}}
    )
    own = [server.port, server.admin_port, server.relay_port]
    for host, targets in [
        ("127.0.0.1", REFUSED_IPV4),
        ("::1", [*REFUSED_IPV6, *(form for address in REFUSED_IPV4 for form in spellings(address))]),
    ]:
        with socket.create_connection((host, server.relay_port), timeout=10) as connection:
            made = stun.Client(host, server.relay_port, "alice", "wonderland")
            made.close()
            made.socket = stream = Frames(connection)
            family = [stun.attribute(stun.FAMILY, bytes([2, 0, 0, 0]))] if ":" in host else []
            assert made.request(stun.ALLOCATE, stun.attribute(stun.TRANSPORT, bytes([6, 0, 0, 0])), *family)[0] == 0

            def connect(address: str, port: int) -> int:
                transaction = os.urandom(12)
                return made.request(CONNECT, made.peer(address, port, transaction), transaction=transaction)[0]

            for port in own:
                assert connect(host, port) == 403, port
            for address in targets:
                if not loopback_is_open:
                    assert connect(address, 80) == 403, address
            stream.close()


# The first and last address of ranges whose ends are in the middle of a byte, and their neighbours.
EDGES_IPV4 = {
    "100.63.255.255": 0, "100.64.0.0": 403, "100.127.255.255": 403, "100.128.0.0": 0,
    "172.15.255.255": 0, "172.16.0.0": 403, "172.31.255.255": 403, "172.32.0.0": 0,
    "198.17.255.255": 0, "198.18.0.0": 403, "198.19.255.255": 403, "198.20.0.0": 0,
    "223.255.255.255": 0, "224.0.0.0": 403, "239.255.255.255": 403, "240.0.0.0": 403,
}
EDGES_IPV6 = {
    "fbff:ffff::1": 403, "fc00::": 403, "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff": 403, "fe80::": 403,
    "febf:ffff::1": 403, "fec0::": 403, "feff:ffff::1": 403, "1fff:ffff::1": 403, "2000::1": 0,
    "3ffe:ffff::1": 0, "3fff::": 403, "3fff:fff:ffff::1": 403, "3fff:1000::1": 0, "4000::": 403,
    "2001:10::": 403, "2001:1f:ffff::1": 403, "2001:20::": 403, "2001:2f:ffff::1": 403,
}


def test_coturn_6c13608c_ranges_that_end_within_a_byte(strict_relay, client):
    """coturn compared byte by byte, so that such ranges let some of their own addresses through."""
    four, six = client(strict_relay), client(strict_relay, "::1")
    four.allocate()
    six.allocate()
    assert {address: four.permit(address) for address in EDGES_IPV4} == EDGES_IPV4
    assert {address: six.permit(address) for address in EDGES_IPV6} == EDGES_IPV6


def test_coturn_6c13608c_opened_ranges_that_end_within_a_byte(brief, client):
    server = brief({"relay": {"listen": ["127.0.0.1", "::1"], "peers": {"allow": ["10.96.0.0/11", "fd00:a000::/19"]}}})
    four, six = client(server), client(server, "::1")
    four.allocate()
    six.allocate()
    for address, verdict in {"10.95.255.255": 403, "10.96.0.0": 0, "10.127.255.255": 0, "10.128.0.0": 403}.items():
        assert four.permit(address) == verdict, address
    for address, verdict in {
        "fd00:9fff:ffff::": 403,
        "fd00:a000::": 0,
        "fd00:bfff:ffff::": 0,
        "fd00:c000::": 403,
    }.items():
        assert six.permit(address) == verdict, address


@pytest.mark.parametrize("order", [1, -1], ids=["allowed-first", "forbidden-first"])
def test_processone_stun_each_peer_is_judged_by_itself(brief, client, peers, order):
    """There, one allowed address in a CreatePermission let all others through. Here a rejected request installs
    none."""
    server = brief({"relay": {"peers": {"allow": ["127.0.0.8/31"]}}})
    made = client(server)
    relayed = made.allocate()
    assert made.permit("127.0.0.9") == 0
    transaction = os.urandom(12)
    both = [made.peer("127.0.0.8", 9, transaction), made.peer("127.0.0.7", 9, transaction)][::order]
    assert made.ask(made.signed(stun.CREATE_PERMISSION, *both, transaction=transaction))[0] == 403
    allowed, forbidden = peers("127.0.0.8"), peers("127.0.0.7")
    for peer in (allowed, forbidden):
        assert not comes_through(peer, relayed, made)
        made.send(*peer.getsockname(), b"out")
    assert made.permit("127.0.0.8") == 0
    assert comes_through(allowed, relayed, made)
    # And nothing was sent to either of them before.
    made.send(*allowed.getsockname(), b"now")
    assert allowed.recv(100) == b"now"
    forbidden.setblocking(False)
    with pytest.raises(BlockingIOError):
        forbidden.recv(100)


# What follows the signature (coturn ab762f33) -------------------------------------------------------------------------


def test_coturn_ab762f33_a_lifetime_appended_in_transit(relay, client):
    """An attacker on the path appends LIFETIME 0 to a Refresh: the allocation would end."""
    made = client(relay)
    made.allocate()
    error, response = made.ask(made.signed(stun.REFRESH, after=END))
    assert (error, response[stun.LIFETIME]) == (0, (600).to_bytes(4, "big"))
    assert made.request(stun.REFRESH)[0] == 0


def test_coturn_ab762f33_a_peer_appended_in_transit(relay, client, peers):
    """An attacker on the path appends an XOR-PEER-ADDRESS to a CreatePermission: that peer could send to the client."""
    made = client(relay)
    relayed = made.allocate()
    outsider = peers("127.0.0.8")
    transaction = os.urandom(12)
    request = made.signed(
        stun.CREATE_PERMISSION, made.peer("127.0.0.9", 9, transaction), transaction=transaction,
        after=made.peer("127.0.0.8", 9, transaction),
    )
    assert made.ask(request)[0] == 0
    assert not comes_through(outsider, relayed, made)


def test_coturn_ab762f33_required_attributes_must_be_signed(relay, client, peers):
    """A peer, channel or transport after the signature counts as absent."""
    made = client(relay)
    assert made.request(stun.ALLOCATE)[0] == 400
    assert made.ask(made.signed(stun.ALLOCATE, after=ASK))[0] == 400
    relayed = made.allocate()
    assert made.permit("127.0.0.9") == 0
    outsider = peers("127.0.0.8")
    transaction = os.urandom(12)
    peer = made.peer(*outsider.getsockname(), transaction)
    channel = stun.attribute(stun.CHANNEL_NUMBER, struct.pack("!HH", 0x4000, 0))
    for method, signed, after in [
        (stun.CREATE_PERMISSION, b"", peer), (stun.CHANNEL_BIND, channel, peer), (stun.CHANNEL_BIND, peer, channel),
    ]:
        assert made.ask(made.signed(method, signed, transaction=transaction, after=after))[0] == 400
    assert not comes_through(outsider, relayed, made)


# Reflection (coturn#1588, #1470, #603, netbird#3900) ------------------------------------------------------------------


def reply_size(server: Server, packet: bytes) -> int:
    """How many bytes a datagram gets in response; 0 if only other requests get one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect(("127.0.0.1", server.relay_port))
        sender.settimeout(TIMEOUT)
        sender.send(packet)
        first = sender.recv(9000)
        return len(first)


def test_coturn_1588_unauthenticated_responses_are_small(relay):
    """coturn's 401 was 3.6 times as large as a bare header, its Binding response 2.8 times; both had SOFTWARE and
    reasons."""
    bare = {method: stun.message(method, os.urandom(12), b"") for method in (stun.BINDING, stun.ALLOCATE, stun.REFRESH)}
    # The header and the address: the minimum.
    assert reply_size(relay, bare[stun.BINDING]) == 32
    # 401: ERROR-CODE without a reason, REALM, NONCE and PASSWORD-ALGORITHMS.
    realm = len("switchboard.test")
    for method in (stun.ALLOCATE, stun.REFRESH):
        assert reply_size(relay, bare[method]) <= 20 + 8 + 4 + realm + 4 + 36 + 12
    # A client's real first request: 8 bytes more for REQUESTED-TRANSPORT. 2.42 times with coturn, before it was
    # reduced.
    assert reply_size(relay, stun.message(stun.ALLOCATE, os.urandom(12), ASK)) <= 100


def test_coturn_1588_a_stale_nonce_brings_back_less_than_it_cost(relay, client):
    made = client(relay)
    made.request(stun.ALLOCATE, ASK)
    made.nonce = b"obMatJos2AAAB" + bytes(20)
    packet = made.signed(stun.ALLOCATE, ASK)
    assert reply_size(relay, packet) <= len(packet)


def test_coturn_1588_unknown_attributes_bring_back_less_than_they_cost(relay, client):
    """420 lists the unknown attributes: at most two bytes for each four of the request."""
    many = b"".join(stun.attribute(kind, b"") for kind in range(0x7000, 0x7100))
    request = stun.message(stun.BINDING, os.urandom(12), many)
    assert reply_size(relay, request) < len(request)
    few = stun.message(stun.BINDING, os.urandom(12), stun.attribute(0x7000, b""))
    assert reply_size(relay, few) <= 20 + 8 + 8


def test_coturn_1470_only_requests_get_responses(relay, client):
    """Responses, indications and junk get no response, so two servers cannot be made to loop."""
    made = client(relay)
    transaction = os.urandom(12)
    for kind in (stun.SUCCESS, stun.FAILURE, stun.INDICATION):
        for method in (stun.BINDING, stun.ALLOCATE, stun.REFRESH, stun.CREATE_PERMISSION, stun.CHANNEL_BIND, 0x0A):
            made.socket.sendto(stun.message(kind | method, transaction, b""), made.server)
    binding = stun.message(stun.BINDING, transaction, b"")
    for junk in (
        b"",
        b"\0",
        b"\xff" * 100,
        b"\x40\0\0\x04abcd",
        binding[:19],
        binding[:4] + bytes(16),
        b"\0\1\xff\xff" + binding[4:],
    ):
        made.socket.sendto(junk, made.server)
    # The first response is that to the Binding request after all of them.
    last = os.urandom(12)
    made.socket.sendto(stun.message(stun.BINDING, last, b""), made.server)
    made.socket.settimeout(TIMEOUT)
    assert made.socket.recv(9000)[8:20] == last


@pytest.mark.parametrize("method", [stun.BINDING, stun.ALLOCATE], ids=["Binding", "401"])
def test_coturn_1957_responses_to_one_prefix_are_limited(brief, method):
    server = brief({"relay": {"workers": 1}})
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect(("127.0.0.1", server.relay_port))
        sender.setblocking(False)
        answered = 0

        def count() -> int:
            number = 0
            with contextlib.suppress(BlockingIOError):
                while sender.recv(9000):
                    number += 1
            return number

        started = time.monotonic()
        for _ in range(20_000):
            sender.send(stun.message(method, os.urandom(12), b""))
            answered += count()
        wait_until(lambda: metric(server, "relay_rejected_total") > 0, "an answer that was not given")
        answered += count()
        # 2,000 at once, and 500 a second.
        assert answered <= 2000 + 500 * (time.monotonic() - started + 1)


# State before authentication (coturn#948, #780, turn-rs) --------------------------------------------------------------


def resident_kilobytes(server: Server) -> int:
    """Of what it has allocated: pages of its files come and go as the system likes."""
    return int(re.search(r"RssAnon:\s+(\d+)", pathlib.Path(f"/proc/{server.pid}/status").read_text()).group(1))


def descriptors(server: Server) -> int:
    return len(os.listdir(f"/proc/{server.pid}/fd"))


def test_coturn_948_unauthenticated_clients_leave_no_state(brief):
    """A session per packet let a server grow to 235 GB. Here 40,000 source ports of 40 networks leave no state."""
    server = brief({})
    forged = b"".join(
        stun.attribute(kind, value)
        for kind, value in [
            (stun.USERNAME, b"x" * 400),
            (stun.REALM, b"switchboard.test"),
            (stun.NONCE, b"n" * 60),
            (stun.INTEGRITY, bytes(20)),
        ]
    )
    packets = [
        stun.message(stun.ALLOCATE, os.urandom(12), ASK), stun.message(stun.BINDING, os.urandom(12), b""),
        stun.message(stun.REFRESH, os.urandom(12), END), stun.message(stun.ALLOCATE, os.urandom(12), ASK + forged),
    ]

    def send_unauthenticated(count: int) -> None:
        for number in range(count):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                sender.bind((f"127.{number % 40}.1.1", 0))
                for packet in packets:
                    sender.sendto(packet, ("127.0.0.1", server.relay_port))

    send_unauthenticated(1000)
    opened = descriptors(server)
    grown = []
    for _ in range(5):
        before = resident_kilobytes(server)
        send_unauthenticated(10_000)
        grown.append(resident_kilobytes(server) - before)
    # State for each of 40,000 packets is there in every round, 25 bytes of it in all but one. What the server's other
    # services take once, and what waits in queues of a busy machine, is not.
    assert sorted(grown)[1] < 1024 and sum(grown) < 25 * 1024, grown
    assert metric(server, "relay_allocations") == 0
    # The connection of the metrics request closes by itself.
    wait_until(lambda: descriptors(server) <= opened, "the descriptors are what they were")


# Nonces (CVE-2025-69217, turn-rs) -------------------------------------------------------------------------------------


def test_cve_2025_69217_nonces_and_ports_cannot_be_guessed(relay, client):
    """coturn generated both with random(): knowing some predicted the following ones."""
    made = [client(relay) for _ in range(40)]
    ports = [one.allocate()[1] for one in made]
    nonces = {one.nonce for one in made}
    assert len(nonces) == len(set(ports)) == 40
    steps = [after - before for before, after in itertools.pairwise(ports)]
    assert len(set(steps)) > 30, ports
    assert max(ports) - min(ports) > 4000, ports
    for one in made:
        assert one.request(stun.REFRESH, END)[0] == 0


def test_turn_rs_a_forged_nonce_is_stale(relay, client):
    """There nonces were not checked. Here each character is."""
    made = client(relay)
    assert made.request(stun.REFRESH)[0] == 437
    good = made.nonce
    forged = [good[:at] + (b"A" if good[at : at + 1] != b"A" else b"B") + good[at + 1 :] for at in range(len(good))]
    forged += [b"", good[:-1], good + b"A", good * 2, b"A" * 128, bytes(len(good))]
    for nonce in forged:
        made.nonce = nonce or b"\0"
        error, response = made.exchange(stun.ALLOCATE, (ASK,), None)
        assert error == 438 and response[stun.NONCE] != nonce, nonce
    made.nonce = good
    assert made.exchange(stun.ALLOCATE, (ASK,), None)[0] == 0
    assert made.request(stun.REFRESH, END)[0] == 0


def test_turn_rs_a_nonce_is_for_one_address_and_port(relay, client):
    """A captured request is rejected from another address, although its signature is valid."""
    made, other = client(relay), client(relay)
    made.allocate()
    for packet in (made.signed(stun.ALLOCATE, ASK), made.signed(stun.REFRESH, END)):
        assert other.ask(packet)[0] == 438
    elsewhere = stun.Client("127.0.0.1", relay.relay_port, local="127.0.0.5")
    assert elsewhere.ask(made.signed(stun.ALLOCATE, ASK))[0] == 438
    elsewhere.close()
    assert made.request(stun.REFRESH)[0] == 0


def test_a_nonce_of_an_earlier_server_is_stale(brief, client):
    """The keys of nonces live in the process; a client with an old nonce gets a new one and continues."""
    server = brief({})
    made = client(server)
    made.allocate()
    server.restart()
    assert made.exchange(stun.ALLOCATE, (ASK,), None)[0] == 438
    made.allocate()


def test_a_repeated_request_is_done_once(relay, client):
    """The response was lost: the same Allocate again gets the same response and no second allocation."""
    made = client(relay)
    assert made.request(stun.REFRESH)[0] == 437
    packet = made.signed(stun.ALLOCATE, ASK)
    responses = [made.ask(packet) for _ in range(3)]
    assert [error for error, _ in responses] == [0, 0, 0]
    assert len({response[stun.XOR_RELAYED] for _, response in responses}) == 1
    assert made.request(stun.ALLOCATE, ASK)[0] == 437
    ending = made.signed(stun.REFRESH, END)
    assert [made.ask(ending)[0] for _ in range(3)] == [0, 0, 0]


# Ports and quotas (coturn 4adbd82e, 3c5b2615, eturnal, #217, pion/turn#27) --------------------------------------------


def even_port(reserve: bool) -> bytes:
    return stun.attribute(EVEN_PORT, b"\x80" if reserve else b"\0")


@pytest.mark.parametrize("workers", [1, 2])
def test_coturn_4adbd82e_an_even_port_leaks_no_port(brief, client, workers):
    """EVEN-PORT without a reservation leaked the port above it. Four ports must suffice forever."""
    lowest = free_port(4)
    server = brief({"relay": {"minPort": lowest, "maxPort": lowest + 3, "workers": workers}})
    made = client(server)
    for _ in range(20):
        assert made.allocate(even_port(False))[1] in (lowest, lowest + 2)
        assert made.request(stun.REFRESH, END)[0] == 0
    for _ in range(10):
        error, response = made.request(stun.ALLOCATE, ASK, even_port(True))
        assert error == 0
        first = stun.read_address(response[stun.XOR_RELAYED], made.transaction)[1]
        assert first % 2 == 0
        second = client(server)
        error, response = second.request(
            stun.ALLOCATE, ASK, stun.attribute(RESERVATION_TOKEN, response[RESERVATION_TOKEN])
        )
        assert error == 0
        assert stun.read_address(response[stun.XOR_RELAYED], second.transaction)[1] == first + 1
        for one in (made, second):
            assert one.request(stun.REFRESH, END)[0] == 0
    # All four are available.
    everyone = [client(server) for _ in range(4)]
    assert sorted(one.allocate()[1] for one in everyone) == [lowest, lowest + 1, lowest + 2, lowest + 3]
    assert client(server).request(stun.ALLOCATE, ASK)[0] == 508


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_coturn_3c5b2615_quotas_come_back_in_any_order(brief, client, seed, workers):
    """However earlier allocations ended, a user can have exactly as many as the limit."""
    lowest = free_port(20)
    ports = {"minPort": lowest, "maxPort": lowest + 19}
    server = brief({"relay": {"limits": {"allocationsPerUser": 5}, "workers": workers} | ports})
    rng = random.Random(seed)
    open_ones: list[stun.Client] = []
    for _ in range(200):
        match rng.randrange(5):
            case 0 | 1:
                made = client(server)
                error, _ = made.request(stun.ALLOCATE, ASK, *([even_port(False)] if rng.random() < 0.3 else []))
                assert error == (0 if len(open_ones) < 5 else 486)
                if error == 0:
                    open_ones.append(made)
            case 2 if open_ones:
                made = open_ones.pop(rng.randrange(len(open_ones)))
                assert made.request(stun.REFRESH, END)[0] == 0
                assert made.request(stun.REFRESH)[0] == 437
            case 3 if open_ones:
                # Neither a second Allocate nor another user's Refresh changes anything.
                made = rng.choice(open_ones)
                assert made.request(stun.ALLOCATE, ASK)[0] == 437
                assert made.request(stun.REFRESH)[0] == 0
            case 4 if open_ones:
                made = rng.choice(open_ones)
                right, made.password = made.password, "wrong"
                assert made.exchange(stun.REFRESH, (END,), None)[0] == 401
                made.password = right
    wait_until(lambda: metric(server, "relay_allocations") == len(open_ones), "so many allocations")
    for made in open_ones:
        assert made.request(stun.REFRESH, END)[0] == 0
    wait_until(lambda: metric(server, "relay_allocations") == 0, "no allocation")
    assert [client(server).request(stun.ALLOCATE, ASK)[0] for _ in range(6)] == [0] * 5 + [486]


def test_eturnal_quotas_hold_when_all_come_at_once(brief, client):
    """There the limit was checked before it was taken. Of 60 simultaneous requests over both workers, ten succeed."""
    server = brief({"relay": {"limits": {"allocationsPerUser": 10}, "workers": 2}})
    everyone = [client(server) for _ in range(60)]
    for made in everyone:
        assert made.request(stun.REFRESH)[0] == 437
    for made in everyone:
        made.socket.sendto(made.signed(stun.ALLOCATE, ASK), made.server)
    kinds = []
    for made in everyone:
        made.socket.settimeout(TIMEOUT)
        kinds.append(stun.parse(made.socket.recv(9000))[0])
    assert kinds.count(stun.SUCCESS | stun.ALLOCATE) == 10
    wait_until(lambda: metric(server, "relay_allocations") == 10, "ten allocations")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_coturn_217_and_pion_27_sockets_are_closed(relay, client, host):
    """There relay sockets of IPv6 were never freed, and another server ran out of descriptors."""
    made = client(relay, host)
    made.allocate()
    assert made.request(stun.REFRESH, END)[0] == 0
    before = descriptors(relay)
    for _ in range(200):
        made.allocate()
        assert made.request(stun.REFRESH, END)[0] == 0
    assert descriptors(relay) <= before


# Mobility (coturn 3c5b2615, a97f1924, GHSA-f6hc-79w3-p8pq) ------------------------------------------------------------


def ticket(value: bytes = b"") -> bytes:
    return stun.attribute(stun.MOBILITY_TICKET, value)


def mobile_allocation(made: stun.Client) -> bytes:
    """Makes a mobile allocation, and returns its ticket."""
    error, response = made.request(stun.ALLOCATE, ASK, ticket())
    assert error == 0
    return response[stun.MOBILITY_TICKET]


@pytest.mark.parametrize("workers", [1, 2])
def test_coturn_3c5b2615_an_allocation_with_mobility_stays_in_its_quota(brief, client, workers):
    """Moving released the quota while the allocation lived: a user could have any number."""
    server = brief({"relay": {"workers": workers, "limits": {"allocationsPerUser": 2}}})
    first, second = client(server), client(server)
    tickets = [mobile_allocation(first), mobile_allocation(second)]
    for round_ in range(20):
        last = client(server)
        error, response = last.request(stun.REFRESH, ticket(tickets[round_ % 2]))
        assert error == 0
        tickets[round_ % 2] = response[stun.MOBILITY_TICKET]
        assert last.permit("127.0.0.9") == 0
        assert client(server).request(stun.ALLOCATE, ASK)[0] == 486
        if round_ == 18:
            other = last
    for made in (last, other):
        assert made.request(stun.REFRESH, END)[0] == 0
    assert [client(server).request(stun.ALLOCATE, ASK)[0] for _ in range(3)] == [0, 0, 486]


@pytest.mark.parametrize("workers", [1, 2])
def test_coturn_a97f1924_chained_refreshes_with_tickets_leave_no_state(brief, workers):
    """Each move leaked the previous one in memory."""
    server = brief({"relay": {"workers": workers}})
    # The client does nothing but move, so the allocation keeps the first port, which nobody else may get.
    first = stun.Client("127.0.0.1", server.relay_port, "alice", "wonderland")
    good, made = mobile_allocation(first), first

    def move(times: int) -> None:
        nonlocal made, good
        for _ in range(times):
            before, made = made, stun.Client("127.0.0.1", server.relay_port, "alice", "wonderland")
            if before is not first:
                before.close()
            error, response = made.request(stun.REFRESH, ticket(good))
            assert error == 0
            good = response[stun.MOBILITY_TICKET]

    move(300)
    opened = descriptors(server)
    growths = []
    for _ in range(5):
        before = resident_kilobytes(server)
        move(600)
        growths.append(resident_kilobytes(server) - before)
    # A server that has just begun grows for a moment by itself, and another where it waits for the CPU; what each move
    # leaks, by 256 bytes or more, is in all of the rounds.
    assert sorted(growths)[1] < 150, growths
    assert descriptors(server) <= opened
    assert made.request(stun.REFRESH, END)[0] == 0
    for one in (first, made):
        one.close()
    wait_until(lambda: metric(server, "relay_allocations") == 0, "no allocation")


@pytest.mark.parametrize("workers", [1, 2])
def test_ghsa_f6hc_a_ticket_is_for_its_owner_and_for_one_move(brief, client, workers):
    """Neither another user, nor a ticket that is forged or was used before, moves an allocation."""
    server = brief({"relay": {"workers": workers, "users": {"alice": "wonderland", "mallory": "malice"}}})
    made = client(server)
    oldest = mobile_allocation(made)
    moved = client(server)
    error, response = moved.request(stun.REFRESH, ticket(oldest))
    assert error == 0
    again = client(server)
    error, response = again.request(stun.REFRESH, ticket(response[stun.MOBILITY_TICKET]))
    assert error == 0
    good = response[stun.MOBILITY_TICKET]
    assert again.permit("127.0.0.9") == 0
    rng = random.Random(1)
    forged = [bytes([*good[:at], good[at] ^ 1 << rng.randrange(6), *good[at + 1 :]]) for at in range(len(good))]
    for wrong in [oldest, b"A" * len(good), good[:-1], good + b"A", *forged]:
        for _ in range(4):
            # Several ports, so that both workers are reached.
            assert client(server).request(stun.REFRESH, ticket(wrong))[0] in (400, 437), wrong
    for _ in range(4):
        assert client(server, user="mallory", password="malice").request(stun.REFRESH, ticket(good))[0] in (437, 441)
        assert client(server, password="wrong").request(stun.REFRESH, ticket(good))[0] == 401
    # None of that changed anything.
    assert again.request(stun.REFRESH)[0] == 0
    wait_until(lambda: metric(server, "relay_allocations") == 1, "one allocation")


# Loops (firezone#10286, coturn#584) -----------------------------------------------------------------------------------


def test_firezone_10286_a_packet_to_the_own_relay_comes_back_once(relay, client):
    made = client(relay)
    relayed = made.allocate()
    assert made.bind(0x4000, *relayed) == 0
    made.send_channel(0x4000, b"round")
    assert made.socket.recv(100) == b"\x40\x00\x00\x05round"
    made.send_channel(0x4000, b"again")
    assert made.socket.recv(100) == b"\x40\x00\x00\x05again"


def test_firezone_10286_no_relay_is_a_client_of_its_own_server(relay, client):
    """An allocation made through an allocation would relay outside its limits, and in loops."""
    made = client(relay)
    made.allocate()
    assert made.permit("127.0.0.1", relay.relay_port) == 403
    assert made.bind(0x4000, "127.0.0.1", relay.relay_port) == 403
    # With a permission for another port of the address, the outgoing packet is dropped.
    assert made.permit("127.0.0.1", 9) == 0
    made.send("127.0.0.1", relay.relay_port, stun.message(stun.BINDING, b"inner loop  ", b""))
    assert made.request(stun.REFRESH)[0] == 0
    made.socket.settimeout(0.3)
    with contextlib.suppress(TimeoutError):
        while True:
            assert b"inner loop" not in made.socket.recv(2000)


# Replies (coturn#2043) ------------------------------------------------------------------------------------------------


def test_coturn_2043_the_hop_limit_of_a_request_is_not_that_of_its_response(relay, client, peers):
    """coturn copied the TTL of incoming packets to outgoing ones; behind Docker that was 1."""
    made, peer = client(relay), peers()
    made.socket.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 1)
    peer.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 1)
    relayed = made.allocate()
    assert made.bind(0x4000, *peer.getsockname()) == 0
    usual = int(pathlib.Path("/proc/sys/net/ipv4/ip_default_ttl").read_text())
    for receiver in (made.socket, peer):
        receiver.setsockopt(socket.IPPROTO_IP, IP_RECVTTL, 1)

    def hops(receiver: socket.socket) -> int:
        _, ancillary, _, _ = receiver.recvmsg(2000, 100)
        return next(struct.unpack("i", value)[0] for _, kind, value in ancillary if kind == socket.IP_TTL)

    made.socket.sendto(stun.message(stun.BINDING, os.urandom(12), b""), made.server)
    assert hops(made.socket) == usual
    made.send_channel(0x4000, b"out")
    assert hops(peer) == usual
    peer.sendto(b"in", relayed)
    assert hops(made.socket) == usual


# Names (coturn#666, GHSA-4g7c-p5wg-j4hp, GHSA-v8hj-2xx7-xmp5) ---------------------------------------------------------


def test_coturn_666_metrics_have_no_label_for_a_user(relay, client):
    """A label for each ephemeral name made the metrics grow without bound."""
    first = client(relay, "127.0.0.1", *stun.ephemeral(SECRET, "somebody-0"))
    first.allocate()
    before = len(metrics(relay).splitlines())
    for number in range(1, 100):
        made = client(relay, "127.0.0.1", *stun.ephemeral(SECRET, f"somebody-{number}"))
        made.allocate()
        made.permit(f"127.0.1.{number}")
        client(relay, user=f"stranger-{number}").request(stun.ALLOCATE, ASK)
    after = metrics(relay)
    assert len(after.splitlines()) == before
    for text in ("somebody", "stranger", "alice", "127.0."):
        assert text not in after


NAMES = [
    "%s%s%s%n%n%n",
    "%x" * 50,
    "'; DROP TABLE users; --",
    "alice' OR '1'='1",
    "../../etc/passwd",
    "a\0lice",
    "alice\n",
    "\x1b[2J",
    "é" * 200,
    "x" * 508,
    "9" * 300 + ":alice",
    "-1:alice",
    "99999999999999999999:alice",
    ":",
    "::::",
    "1e400:alice",
]


def test_ghsa_4g7c_and_v8hj_names_are_only_names(relay, client):
    """There a name that is a format string or SQL reached printf and the database. Here it is just a wrong name."""
    log = relay.log.stat().st_size
    for name in NAMES:
        assert client(relay, user=name, password="wonderland").request(stun.ALLOCATE, ASK)[0] == 401, name
    client(relay).allocate()
    logged = relay.log.read_bytes()[log:]
    assert b"\x1b[2J" not in logged and b"\0" not in logged


# Lengths (CVE-2026-40613) ---------------------------------------------------------------------------------------------


def test_cve_2026_40613_attributes_of_wrong_lengths(relay, client, peers):
    """Correctly signed attributes of every invalid length: rejected or ignored, never misread."""
    made = client(relay)
    attributes = [
        stun.LIFETIME,
        stun.TRANSPORT,
        stun.FAMILY,
        stun.XOR_PEER,
        stun.CHANNEL_NUMBER,
        EVEN_PORT,
        RESERVATION_TOKEN,
        0x1A,
        0x8000,
        0x1D,
        0x1E,
        0x8002,
        0x8030,
    ]
    made.allocate()
    statuses = set()
    for kind, length in itertools.product(attributes, [*range(10), 15, 16, 17, 19, 20, 21, 100, 1000]):
        for method in (stun.REFRESH, stun.CREATE_PERMISSION, stun.CHANNEL_BIND, stun.ALLOCATE):
            error, _ = made.exchange(method, (stun.attribute(kind, os.urandom(length)),), None)
            statuses.add(error)
            if error in (437, 438):
                # A Refresh with a valid LIFETIME ended it.
                made.request(stun.ALLOCATE, ASK)
    assert 0 in statuses and 400 in statuses and not statuses & {500, 508, 486}, statuses
    made.request(stun.REFRESH, END)
    relayed = made.allocate()
    peer = peers()
    assert made.bind(0x4001, *peer.getsockname()) == 0
    peer.sendto(b"well", relayed)
    assert made.socket.recv(100) == b"\x40\x01\x00\x04well"
