"""The relay against other people's clients: coturn's tools, and a STUN client of the tests' own."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import pathlib
import re
import socket
import subprocess
import time

import pytest

import coturn
import stun
from conftest import ROOT, Server
from coturn import EPHEMERAL, SECRET, STATIC  # noqa: F401

LOAD = pathlib.Path(os.environ.get("SWITCHBOARD_LOAD_BINARY", ROOT / ".build/debug/switchboard-load"))
OPEN = {"limits": {"allocationsPerUser": 1000}, "peers": {"allow": ["127.0.0.0/8", "::1/128"]}}


@pytest.fixture(scope="module")
def relay(make_server) -> Server:
    """A server that relays to loopback, over IPv4 and IPv6."""
    return make_server({"relay": {"listen": ["127.0.0.1", "::1"], **OPEN}})


@pytest.fixture(scope="module")
def strict_relay(make_server) -> Server:
    """A server with the default rule for peers."""
    return make_server({"relay": {"listen": ["127.0.0.1", "::1"], "peers": {"allow": []}}})


@pytest.fixture
def client():
    """Makes clients of a server, closed when the test is over."""
    with contextlib.ExitStack() as stack:
        def make(server: Server, host: str = "127.0.0.1", user: str = "alice", password: str = "wonderland"):
            made = stun.Client(host, server.relay_port, user, password)
            stack.callback(made.close)
            return made
        yield make


# coturn's clients -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def echo_port():
    """The port of coturn's echoing peer."""
    with coturn.echoing_peer() as port:
        yield port


def uclient(server: Server, arguments: list[str]) -> int:
    """Runs turnutils_uclient and returns how many packets it lost. Its modes over UDP are in test_relay_interop.py."""
    report = coturn.uclient(server.relay_port, arguments)
    assert report.lost >= 0 and report.sent >= 160, report.tail
    return report.lost


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_stunclient_learns_its_address(relay, host):
    coturn.require("turnutils_stunclient")
    done = subprocess.run(
        ["turnutils_stunclient", "-p", str(relay.relay_port), host], capture_output=True, text=True, timeout=20
    )
    assert host in done.stdout + done.stderr
    assert "reflexive addr" in done.stdout + done.stderr


# Who may be a peer ----------------------------------------------------------------------------------------------------

REFUSED_IPV4 = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.9.9.9", "169.254.169.254", "172.16.0.1",
    "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1",
    "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
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


def test_special_addresses_are_refused(strict_relay, client):
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


def test_public_addresses_are_not_refused(strict_relay, client):
    four, six = client(strict_relay), client(strict_relay, "::1")
    four.allocate()
    six.allocate()
    assert four.permit("8.8.8.8") == 0
    assert four.bind(0x4000, "8.8.8.8", 53) == 0
    assert six.permit("2600::1") == 0


@pytest.mark.parametrize("kind", ["strict_relay", "relay"])
def test_own_http_and_admin_ports_are_refused(request, client, kind):
    """Through every own address, also where the operator opened loopback to peers."""
    server = request.getfixturevalue(kind)
    made = client(server)
    made.allocate()
    own = {"127.0.0.1", "127.0.0.2", *(info[4][0] for info in socket.getaddrinfo(socket.gethostname(), 0, socket.AF_INET))}
    for address in own:
        for port in (server.port, server.admin_port, server.relay_port):
            assert made.permit(address, port) == 403, (address, port)
            assert made.bind(0x4000, address, port) == 403, (address, port)
    six = client(server, "::1")
    six.allocate()
    for port in (server.port, server.admin_port, server.relay_port):
        assert six.permit("::1", port) == 403


def test_two_relayed_clients_reach_each_other(strict_relay, client):
    """Although loopback is shut: the ports of live relays are the exception."""
    alice, bob = client(strict_relay), client(strict_relay, user="alice")
    at_alice, at_bob = alice.allocate(), bob.allocate()
    assert alice.bind(0x4000, *at_bob) == 0
    assert bob.bind(0x4001, *at_alice) == 0
    alice.send_channel(0x4000, b"hello")
    assert bob.socket.recv(100) == b"\x40\x01\x00\x05hello"
    assert bob.request(stun.REFRESH, stun.attribute(stun.LIFETIME, bytes(4)))[0] == 0
    assert alice.bind(0x4002, *at_bob) == 403


def test_what_follows_the_signature_is_not_obeyed(relay, client):
    made = client(relay)
    made.allocate()
    original = stun.message
    try:
        # Whatever is signed from here on gets a LIFETIME of 0 appended.
        stun.message = lambda kind, transaction, body: original(
            kind, transaction, body + stun.attribute(stun.LIFETIME, bytes(4)) if len(body) > 24 and body[-24:-22] == b"\0\x08" else body
        )
        error, answer = made.request(stun.REFRESH)
    finally:
        stun.message = original
    assert (error, answer[stun.LIFETIME]) == (0, (600).to_bytes(4, "big"))


# Junk -----------------------------------------------------------------------------------------------------------------


def resident_kilobytes(pid: int) -> int:
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text()).group(1))


def test_a_flood_leaves_memory_flat_and_calls_working(relay, client):
    """A million malformed and unauthenticated packets from a thousand addresses, while an allocation relays."""
    made = client(relay)
    relayed = made.allocate()
    peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    peer.bind(("127.0.0.1", 0))
    peer.settimeout(1)
    assert made.bind(0x4000, *peer.getsockname()) == 0

    def flood(packets: int) -> subprocess.Popen:
        return subprocess.Popen(
            [str(LOAD), "relay", "--server", f"127.0.0.1:{relay.relay_port}", "--flood", str(packets), "--sources", "1000"],
            stdout=subprocess.PIPE, text=True,
        )

    # The first packets warm up buffers and pages that stay the same from then on.
    assert flood(20_000).wait(timeout=120) == 0
    before = resident_kilobytes(relay.pid)
    process = flood(1_000_000)
    sent = received = 0
    while process.poll() is None:
        payload = f"packet {sent}".encode()
        made.send_channel(0x4000, payload)
        sent += 1
        # The receive buffers of server and peer may overflow; the allocation must go on working.
        with contextlib.suppress(TimeoutError):
            received += peer.recv(100) == payload
    assert process.returncode == 0
    assert received > 0
    made.send_channel(0x4000, b"after")
    deadline = time.monotonic() + 10
    while peer.recv(100) != b"after":
        assert time.monotonic() < deadline
    peer.sendto(b"back", relayed)
    assert made.socket.recv(100) == b"\x40\x00\x00\x04back"
    assert client(relay).allocate()
    growth = resident_kilobytes(relay.pid) - before
    assert growth < 4096, f"memory grew by {growth} KB"
    peer.close()
