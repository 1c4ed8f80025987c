"""Calls between people behind real NATs: network namespaces, masquerading by the kernel, and aiortc on both sides.

The server has a public address and the default rule for peers; its addresses and credentials come from its own
`GET /v1/ice-servers`. The tests carry the two descriptions from one side to the other.
"""

from __future__ import annotations

import json
import os
import pathlib
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator

import pytest
from switchboard_tests import coturn, stun
from switchboard_tests.certificates import Authority
from switchboard_tests.namespaces import (
    EVERYTHING,
    NO_UDP,
    ONLY_443,
    PORT_RESTRICTED,
    SYMMETRIC,
    Internet,
    LocalNetwork,
)
from switchboard_tests.server import Server
from switchboard_tests.waiting import TIMEOUT

# The virtual environment has no GStreamer: that belongs to the system's Python.
SYSTEM_PYTHON, GSTREAMER = "/usr/bin/python3", pathlib.Path(__file__).with_name("gstreamer_call.py")
TRANSPORT_UDP = stun.attribute(stun.TRANSPORT, bytes([17, 0, 0, 0]))
PEER = pathlib.Path(__file__).with_name("webrtc_peer.py")


@pytest.fixture(scope="module")
def authority(tmp_path_factory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def relay(internet, make_server, authority) -> Iterator[Server]:
    """The server at 20.0.0.1, on the standard ports."""
    with internet.namespace.inside():
        server = make_server(
            {
                "http": {"host": "20.0.0.1", "port": 8080},
                "relay": {
                    "listen": ["20.0.0.1", "20.0.0.2"],
                    "port": 3478,
                    "tlsPorts": [5349, 443],
                    "peers": {"allow": []},
                    "credentials": "open",
                    **authority.issue("20.0.0.1", "20.0.0.2"),
                },
            },
            started=False,
        )
        server.url, server.relay_port = "http://20.0.0.1:8080", 3478
        server.start()
        yield server
        server.stop()


def ice_servers(relay: Server, scheme: str, internet: Internet) -> list[dict]:
    """The ICE servers of a new user, with only the TURN URLs of one kind: aiortc uses the first."""
    with internet.namespace.inside():
        response = relay.user().get("/v1/ice-servers").json()
    servers = []
    for server in response["iceServers"]:
        urls = [url for url in server["urls"] if url.startswith("stun:") or (scheme and is_of(url, scheme))]
        if urls:
            servers.append({**server, "urls": urls})
    return servers


def is_of(url: str, scheme: str) -> bool:
    """TLS means the port that firewalls allow."""
    return (
        url == "turns:20.0.0.1:443?transport=tcp"
        if scheme == "tls"
        else url.startswith("turn:") and url.endswith(scheme)
    )


class Caller:
    """webrtc_peer.py in a private network. It trusts the authority, if given."""

    def __init__(
        self,
        network: LocalNetwork,
        servers: list[dict],
        authority: Authority | None = None,
        *,
        offers: bool,
        relay_only: bool,
    ):
        trust = {"SSL_CERT_FILE": str(authority.file)} if authority else {}
        with network.host.inside():
            self.process = subprocess.Popen(
                [sys.executable, str(PEER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, **trust},
            )
        self.write({"offers": offers, "iceServers": servers, "relayOnly": relay_only})

    def write(self, message: dict) -> None:
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def read(self) -> dict:
        line = self.process.stdout.readline()
        assert line, f"the peer ended:\n{self.process.stderr.read()[-2000:]}"
        return json.loads(line)

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


def call(left: tuple, right: tuple, relay_only: bool = False) -> tuple[dict, dict]:
    """A call from one network to the other, each with its ICE servers; returns what both sides report of it."""
    caller, callee = (
        Caller(*left, offers=True, relay_only=relay_only),
        Caller(*right, offers=False, relay_only=relay_only),
    )
    try:
        callee.write(caller.read())
        caller.write(callee.read())
        return caller.read(), callee.read()
    finally:
        caller.close()
        callee.close()


def assert_through(reports: tuple[dict, dict], candidate_types: set[tuple[str, str]]) -> None:
    """Asserts that both sides received audio and data, over one of these pairs of candidate types."""
    for report in reports:
        assert report["through"] and report["echoed"] == 50, report
        assert tuple(sorted((report["local"], report["remote"]))) in candidate_types, report


DIRECT = {("prflx", "srflx"), ("srflx", "srflx"), ("prflx", "prflx"), ("host", "srflx"), ("host", "prflx")}
RELAYED = {("host", "relay"), ("prflx", "relay"), ("relay", "srflx"), ("relay", "relay")}


def test_two_port_restricted_nats_need_no_relay(internet, relay):
    """Hole punching with the addresses from the server's STUN responses."""
    left, right = internet.network(PORT_RESTRICTED), internet.network(PORT_RESTRICTED)
    servers = ice_servers(relay, "", internet)
    assert_through(call((left, servers), (right, servers)), DIRECT)


@pytest.mark.parametrize("other", [PORT_RESTRICTED, SYMMETRIC], ids=["port-restricted", "symmetric"])
def test_a_symmetric_nat_needs_the_relay(internet, relay, other):
    left, right = internet.network(SYMMETRIC), internet.network(other)
    assert_through(
        call((left, ice_servers(relay, "udp", internet)), (right, ice_servers(relay, "udp", internet))), RELAYED
    )


@pytest.mark.parametrize(
    "kind, maps_alike", [(PORT_RESTRICTED, True), (SYMMETRIC, False)], ids=["port-restricted", "symmetric"]
)
def test_the_nats_behave_as_named(internet, relay, kind, maps_alike):
    """Seen from two addresses, a symmetric one has two ports for one socket of its host."""
    network = internet.network(kind)
    with network.host.inside():
        client = stun.Client("20.0.0.1", 3478, local="0.0.0.0")
        seen = []
        for server in ("20.0.0.1", "20.0.0.2"):
            client.server = (server, 3478)
            error, response = client.request(stun.BINDING)
            assert error == 0
            seen.append(stun.read_address(response[stun.XOR_MAPPED], client.transaction))
        client.close()
    assert [address for address, _ in seen] == [network.public] * 2
    assert (seen[0] == seen[1]) == maps_alike


@pytest.mark.parametrize("kind", [PORT_RESTRICTED, SYMMETRIC], ids=["port-restricted", "symmetric"])
@pytest.mark.parametrize("relay_only", [False, True], ids=["any", "relay-only"])
def test_where_udp_is_blocked_the_relay_is_reached_by_tcp(internet, relay, kind, relay_only):
    """One side's firewall blocks outgoing UDP; the other side is behind a home NAT."""
    left, right = internet.network(kind, NO_UDP), internet.network(SYMMETRIC)
    pair = (left, ice_servers(relay, "tcp", internet)), (right, ice_servers(relay, "udp", internet))
    assert_through(call(*pair, relay_only), {("relay", "relay")} if relay_only else RELAYED)


@pytest.mark.parametrize("relay_only", [False, True], ids=["any", "relay-only"])
def test_where_only_443_is_open_the_relay_is_reached_by_tls(internet, relay, authority, relay_only):
    """As in many offices and hotels. The certificate is verified against the tests' own authority."""
    left, right = internet.network(SYMMETRIC, ONLY_443), internet.network(SYMMETRIC)
    pair = (left, ice_servers(relay, "tls", internet), authority), (right, ice_servers(relay, "udp", internet))
    assert_through(call(*pair, relay_only), {("relay", "relay")} if relay_only else RELAYED)


def test_an_untrusted_certificate_is_rejected(internet, relay):
    """Shows that the test above does verify the certificate."""
    network = internet.network(SYMMETRIC, ONLY_443)
    caller = Caller(network, ice_servers(relay, "tls", internet), offers=True, relay_only=True)
    assert "a=candidate" not in caller.read()["sdp"]
    caller.close()


def test_udp_is_blocked_by_the_firewall(internet, relay):
    network = internet.network(PORT_RESTRICTED, NO_UDP)
    with network.host.inside(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.settimeout(0.3)
        probe.sendto(stun.message(stun.BINDING, bytes(12), b""), ("20.0.0.1", 3478))
        with pytest.raises(TimeoutError):
            probe.recv(100)
        stream = socket.create_connection(("20.0.0.1", 3478), timeout=5)
        stream.sendall(stun.message(stun.BINDING, bytes(12), b""))
        kind, _, response = stun.parse(stream.recv(100))
        assert kind == stun.SUCCESS | stun.BINDING
        assert stun.read_address(response[stun.XOR_MAPPED], bytes(12))[0] == network.public
        stream.close()


@pytest.mark.parametrize("mode", [["-c"], ["-M", "-s", "-c"], ["-t", "-c"]], ids=" ".join)
def test_uclient_relays_between_its_clients_through_a_nat(internet, relay, mode):
    coturn.require("turnutils_uclient")
    with internet.network(SYMMETRIC, NO_UDP if "-t" in mode else EVERYTHING).host.inside():
        report = coturn.uclient(3478, [*coturn.STATIC, "-y", *mode, "20.0.0.1"])
    assert report.lost == 0 and report.sent >= 160, report.tail


def mapped(client: stun.Client) -> tuple[str, int]:
    """The address that the server sees."""
    error, response = client.request(stun.BINDING)
    assert error == 0
    return stun.read_address(response[stun.XOR_MAPPED], client.transaction)


def received(client):
    """The next datagram and its sender, but for a second response to a request that was sent again."""
    while True:
        datagram, sender = client.socket.recvfrom(100)
        if not datagram.startswith(struct.pack("!H", stun.BINDING | 0x100)):
            return datagram, sender


@pytest.mark.parametrize("kind", [PORT_RESTRICTED, SYMMETRIC], ids=["port-restricted", "symmetric"])
def test_an_allocation_follows_its_client_to_another_address(internet, relay, kind):
    """The NAT gets another public address: with its ticket, the client keeps the relayed address, and the peer, behind
    another NAT, is not affected."""
    left, right = internet.network(kind), internet.network(PORT_RESTRICTED)
    with left.host.inside():
        client = stun.Client("20.0.0.1", 3478, "alice", "wonderland", local="0.0.0.0")
    with right.host.inside():
        peer = stun.Client("20.0.0.1", 3478, local="0.0.0.0")
    error, response = client.request(stun.ALLOCATE, TRANSPORT_UDP, stun.attribute(stun.MOBILITY_TICKET, b""))
    assert error == 0
    ticket, relayed = response[stun.MOBILITY_TICKET], stun.read_address(response[stun.XOR_RELAYED], client.transaction)
    seen = mapped(peer)
    assert client.bind(0x4000, *seen) == 0
    for one in (client, peer):
        one.socket.settimeout(TIMEOUT)

    def both_ways(number: int) -> None:
        # The peer opens its own NAT; what it sends may arrive or not.
        peer.socket.sendto(b"to client %d" % number, relayed)
        assert received(client)[0] == struct.pack("!HH", 0x4000, 11) + b"to client %d" % number
        client.send_channel(0x4000, b"to peer %d" % number)
        assert received(peer) == (b"to peer %d" % number, relayed)

    both_ways(1)
    for number in (2, 3):
        left.move()
        # The kernel flushes its NAT table asynchronously.
        while mapped(client)[0] != left.public:
            pass
        # A nonce is valid for one address.
        assert client.exchange(stun.REFRESH, (stun.attribute(stun.MOBILITY_TICKET, ticket),), None)[0] == 438
        client.nonce = b""
        error, response = client.request(stun.REFRESH, stun.attribute(stun.MOBILITY_TICKET, ticket))
        assert error == 0
        ticket = response[stun.MOBILITY_TICKET]
        client.send_channel(0x4000, b"here I am")
        assert peer.socket.recvfrom(100) == (b"here I am", relayed)
        both_ways(number)
    assert client.request(stun.REFRESH, stun.attribute(stun.LIFETIME, bytes(4)))[0] == 0
    client.close()
    peer.close()


@pytest.mark.parametrize("relay_only", [False, True], ids=["any", "relay-only"])
def test_a_server_behind_a_one_to_one_nat(internet, make_server, relay_only):
    """As in most clouds: the machine has a private address, and relay.externalAddress says which one is public. With
    relayed addresses on both sides, the server sends to its own external address, which is unreachable from inside."""
    cloud = internet.network(PORT_RESTRICTED)
    cloud.expose()
    with cloud.host.inside():
        server = make_server(
            {
                "http": {"host": cloud.private, "port": 8080},
                "relay": {
                    "listen": [cloud.private],
                    "port": 3478,
                    "externalAddress": cloud.public,
                    "peers": {"allow": []},
                    "credentials": "open",
                },
            },
            started=False,
        )
        server.url = f"http://{cloud.private}:8080"
        server.start()
        servers = server.user().get("/v1/ice-servers").json()["iceServers"]
    assert {url for one in servers for url in one["urls"]} == {
        f"stun:{cloud.public}:3478",
        f"turn:{cloud.public}:3478?transport=udp",
        f"turn:{cloud.public}:3478?transport=tcp",
    }
    left, right = internet.network(SYMMETRIC), internet.network(SYMMETRIC)
    assert_through(call((left, servers), (right, servers), relay_only), {("relay", "relay")} if relay_only else RELAYED)
    server.stop()


def test_turn_rs_169_a_server_on_every_address_responds_from_the_destination_address(internet, make_server):
    """NATs drop a response from another address."""
    with internet.namespace.inside():
        server = make_server(
            {"http": {"host": "20.0.0.1", "port": 8090}, "relay": {"listen": [], "port": 3490, "peers": {"allow": []}}},
            started=False,
        )
        server.url = "http://20.0.0.1:8090"
        server.start()
    with internet.network(PORT_RESTRICTED).host.inside():
        for address in ("20.0.0.1", "20.0.0.2"):
            client = stun.Client(address, 3490, "alice", "wonderland", local="0.0.0.0")
            assert client.allocate()[0] == address
            client.close()
    server.stop()


@pytest.mark.parametrize("transports", [("udp", "udp"), ("tcp", "tcp"), ("udp", "tcp")], ids="-".join)
def test_gstreamer_connects_through_two_relays(internet, relay, transports):
    """webrtcbin (libnice, which knows no loopback) on both sides, with Opus both ways; behind a NAT, as it happens."""
    if subprocess.run(
        [SYSTEM_PYTHON, "-c", "import gi; gi.require_version('GstWebRTC', '1.0')"], capture_output=True
    ).returncode:
        pytest.skip(
            "GStreamer is not installed (apt-get install gir1.2-gst-plugins-bad-1.0 gstreamer1.0-nice python3-gi)"
        )
    urls = [f"turn://alice:wonderland@20.0.0.1:3478?transport={transport}" for transport in transports]
    # What webrtcbin and libnice log is shown if it fails.
    environment = os.environ | {
        "GST_DEBUG": "webrtc*:5,rtpsession:1,*:2", "GST_DEBUG_NO_COLOR": "1",
        "G_MESSAGES_DEBUG": "libnice", "NICE_DEBUG": "nice,turn",
    }  # fmt: skip
    with internet.network(SYMMETRIC).host.inside():
        done = subprocess.run(
            [SYSTEM_PYTHON, str(GSTREAMER), *urls], capture_output=True, text=True, timeout=60, env=environment
        )
    said = f"{done.stdout}\n{done.stderr[:30_000]}\n…\n{done.stderr[30_000:][-10_000:]}\n{relay.log_tail()}"
    assert done.returncode == 0, said
    for side in json.loads(done.stdout):
        assert side["packets"] >= 50 and side["kinds"] == ["relay"], said
