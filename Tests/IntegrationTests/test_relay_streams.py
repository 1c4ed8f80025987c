"""The relay over TCP and TLS: coturn's clients, and everything that goes wrong with connections."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import ssl
import struct
import time

import pytest
from switchboard_tests import stun
from switchboard_tests.certificates import self_signed
from switchboard_tests.coturn import EPHEMERAL, STATIC, SideBySide
from switchboard_tests.metrics import metric
from switchboard_tests.ports import free_port
from switchboard_tests.processes import resident_kilobytes
from switchboard_tests.relay_clients import OPEN, Frames, connect, ends, is_free, over, tls, uclient
from switchboard_tests.server import Server, merged
from switchboard_tests.waiting import TIMEOUT, eventually


@pytest.fixture(scope="module")
def relay(make_server, certificate) -> Server:
    """A server that relays to loopback over TCP and TLS, and trusts 127.0.0.7 as a load balancer."""
    tls_port = free_port()
    settings = {
        "listen": ["127.0.0.1", "::1"],
        "tlsPorts": [tls_port],
        "proxyProtocol": ["127.0.0.7"],
        **certificate,
        **OPEN,
    }
    server = make_server({"relay": settings})
    server.tls_port = tls_port
    return server


@pytest.fixture(scope="module")
def hasty(make_server, certificate) -> Server:
    """A client that neither allocates nor completes a message has two seconds here instead of ten."""
    return make_server({"relay": {**OPEN, **certificate, "tlsPorts": [], "limits": {"messageSeconds": 2}}})


def closed(server: Server, reason: str) -> float:
    return metric(server, "relay_connections_closed_total", reason=reason)


def relays(client: stun.Client, peer: socket.socket, size: int = 100) -> None:
    """Allocates, binds a channel, and exchanges a payload with the peer."""
    relayed = client.allocate()
    assert client.bind(0x4000, *peer.getsockname()) == 0
    payload = os.urandom(size)
    client.send_channel(0x4000, payload)
    assert peer.recvfrom(70_000) == (payload, relayed)
    peer.sendto(payload[::-1], relayed)
    assert client.socket.recv(70_000) == struct.pack("!HH", 0x4000, size) + payload[::-1]


BINDING = stun.message(stun.BINDING, b"b" * 12, b"")


# coturn's clients -----------------------------------------------------------------------------------------------------


MODES = [[], ["-c"], ["-s"], ["-c", "-s"], ["-D"], ["-c", "-D"], ["-c", "-G"]]


def target(family: str) -> list[str]:
    return ["-e", "127.0.0.1", "-X", "127.0.0.1"] if family == "ipv4" else ["-x", "-e", "::1", "::1"]


@pytest.fixture(scope="module")
def tcp_runs(request, relay, echo_port):
    def run(mode, family):
        return uclient(relay, ["-t", "-r", str(echo_port), *STATIC, *mode, *target(family)])
    return SideBySide(request, "test_uclient_loses_nothing_over_tcp", run)


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: " ".join(mode) or "plain")
@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_uclient_loses_nothing_over_tcp(tcp_runs, mode, family):
    assert tcp_runs(mode=mode, family=family) == 0


@pytest.fixture(scope="module")
def runs_between_clients(request, relay):
    run = lambda mode: uclient(relay, ["-t", *STATIC, *mode, "127.0.0.1"])
    return SideBySide(request, "test_uclient_loses_nothing_between_tcp_clients", run)


@pytest.mark.parametrize("mode", [["-y"], ["-y", "-c"], ["-y", "-s", "-c"]], ids=" ".join)
def test_uclient_loses_nothing_between_tcp_clients(runs_between_clients, mode):
    assert runs_between_clients(mode=mode) == 0


def test_uclient_with_ephemeral_credentials_over_tcp(relay, echo_port):
    assert uclient(relay, ["-t", "-c", *EPHEMERAL, "-r", str(echo_port), *target("ipv4")]) == 0


@pytest.fixture(scope="module")
def tls_runs(request, relay, echo_port):
    def run(mode, family):
        return uclient(
            relay, ["-p", str(relay.tls_port), "-t", "-S", "-r", str(echo_port), *STATIC, *mode, *target(family)]
        )

    return SideBySide(request, "test_uclient_loses_nothing_over_tls", run)


@pytest.mark.parametrize(
    "mode", [[], ["-c"], ["-s"], ["-c", "-s"], ["-c", "-D"]], ids=lambda mode: " ".join(mode) or "plain"
)
@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_uclient_loses_nothing_over_tls(tls_runs, mode, family):
    """Without its client-to-client mode: over TLS that loses packets with coturn's own server too."""
    assert tls_runs(mode=mode, family=family) == 0


def test_messages_that_come_together_are_records_of_their_own(relay, echo_port):
    """uclient treats each TLS read as one message. At this rate some messages are always sent in one round."""
    arguments = ["-p", str(relay.tls_port), "-t", "-S", "-c", "-z", "2", "-n", "100", "-r", str(echo_port), *STATIC]
    assert uclient(relay, [*arguments, "-e", "127.0.0.1", "-X", "127.0.0.1"]) == 0


# TLS ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("port", ["relay_port", "tls_port"])
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=["1.2", "1.3"])
def test_tls_relays_on_either_port(relay, certificate, peer, port, version):
    connection = tls(connect(relay, port=getattr(relay, port)), certificate, version, ["stun.turn"])
    assert connection.selected_alpn_protocol() == "stun.turn"
    relays(over(connection, relay), peer)
    connection.unwrap().close()


def test_plain_turn_is_spoken_on_the_tls_port(relay, peer):
    relays(over(connect(relay, port=relay.tls_port), relay), peer)


def test_tls_before_1_2_is_rejected(relay, certificate):
    with pytest.raises(ssl.SSLError), connect(relay) as connection:
        context = ssl.create_default_context(cafile=certificate["certificate"])
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
        context.wrap_socket(connection, server_hostname="localhost")


def test_tls_for_another_protocol_is_rejected(relay, certificate):
    with (
        pytest.raises(ssl.SSLError, match=r"NO_APPLICATION_PROTOCOL|no application protocol"),
        connect(relay) as connection,
    ):
        tls(connection, certificate, protocols=["http/1.1"])


def test_tls_hello_in_single_bytes(relay, certificate, peer):
    """A ClientHello in as many segments as it has bytes, and everything after it too."""
    raw = connect(relay)
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context(cafile=certificate["certificate"])
    session = context.wrap_bio(incoming, outgoing, server_hostname="localhost")

    def push() -> None:
        for byte in outgoing.read():
            raw.send(bytes([byte]))

    def call(action):
        while True:
            try:
                return action()
            except ssl.SSLWantReadError:
                push()
                incoming.write(raw.recv(65536))

    call(session.do_handshake)
    session.write(BINDING)
    push()
    response = call(lambda: session.read(1000))
    assert stun.parse(response)[:2] == (stun.SUCCESS | stun.BINDING, b"b" * 12)
    raw.close()


def test_tls_close_notify_is_answered(relay, certificate):
    connection = tls(connect(relay), certificate)
    connection.sendall(BINDING)
    assert stun.parse(connection.recv(1000))[0] == stun.SUCCESS | stun.BINDING
    # Returns when the server's close_notify has come, and only then.
    raw = connection.unwrap()
    assert ends(raw)


def test_tls_large_messages(relay, certificate, peer):
    """A payload over several records."""
    relays(over(tls(connect(relay), certificate), relay), peer, size=8000)
    client = over(tls(connect(relay), certificate), relay)
    client.allocate()
    assert client.bind(0x4000, *peer.getsockname()) == 0
    client.send_channel(0x4000, b"x" * 60_000)
    assert len(peer.recv(70_000)) == 60_000


def test_broken_records_end_a_tls_connection(relay, certificate):
    before = closed(relay, "tls")
    raw = connect(relay)
    connection = tls(raw, certificate)
    connection.sendall(BINDING)
    assert connection.recv(1000)
    # Written past TLS: a record whose authentication fails.
    os.write(connection.fileno(), b"\x17\x03\x03\x00\x20" + os.urandom(32))
    with pytest.raises((ssl.SSLError, ConnectionError)):
        assert connection.recv(1) == b"unreachable"
    eventually(lambda: closed(relay, "tls") > before)


def test_a_reload_shows_new_connections_the_new_certificate(make_server, tmp_path, peer):
    certificate, key = self_signed(tmp_path)
    files = {"certificate": str(certificate), "privateKey": str(key)}
    server = make_server({"relay": {"tlsPorts": [free_port()], **files, **OPEN}})
    old = over(tls(connect(server), files), server)
    relayed = old.allocate()
    assert old.bind(0x4000, *peer.getsockname()) == 0
    self_signed(tmp_path)
    with pytest.raises(ssl.SSLError):
        tls(connect(server), files)
    assert "relay.certificate (new content)" in server.command("reload")
    eventually(lambda: accepts_tls(server, files))
    peer.sendto(b"still here", relayed)
    assert old.socket.recv() == b"\x40\x00\x00\x0astill here"


def accepts_tls(server: Server, files: dict[str, str]) -> bool:
    with contextlib.suppress(ssl.SSLError):
        tls(connect(server), files).close()
        return True
    return False


def test_without_a_certificate_there_is_no_tls(make_server, certificate):
    tls_port = free_port()
    server = make_server({"relay": {"tlsPorts": [tls_port]}})
    with pytest.raises((ssl.SSLError, ConnectionError)), connect(server) as connection:
        tls(connection, certificate)
    with pytest.raises(ConnectionRefusedError):
        connect(server, port=tls_port)


def test_ice_servers_name_every_transport(relay):
    response = relay.user().get("/v1/ice-servers").json()
    urls = [url for server in response["iceServers"] for url in server["urls"]]
    assert urls == [
        f"stun:127.0.0.1:{relay.relay_port}", f"turn:127.0.0.1:{relay.relay_port}?transport=udp",
        f"turn:127.0.0.1:{relay.relay_port}?transport=tcp", f"turns:127.0.0.1:{relay.tls_port}?transport=tcp",
    ]


@pytest.mark.parametrize("change, complaint", [
    ({"privateKey": "/nowhere/key.pem"}, "the private key /nowhere/key.pem cannot be read: No such file"),
    ({"certificate": "/nowhere/chain.pem"}, "the certificate /nowhere/chain.pem cannot be read: No such file"),
    ({"privateKey": ""}, "relay.certificate and relay.privateKey go together"),
    ({"proxyProtocol": ["10.0.0.0/33"]}, "relay.proxyProtocol: 10.0.0.0/33 is not an address or range"),
])
def test_settings_that_cannot_be_used_are_named(make_server, certificate, change, complaint):
    server = make_server({"relay": {**certificate, **change}}, started=False)
    with pytest.raises(AssertionError, match=re.escape(complaint)):
        server.start()


def test_a_tcp_port_in_use_is_reported(make_server):
    server = make_server(started=False)
    complaint = f"relay.port: TCP port {server.relay_port} on 127.0.0.1 is taken"
    with socket.create_server(("127.0.0.1", server.relay_port)), pytest.raises(AssertionError, match=complaint):
        server.start()


# Slow, broken and hostile connections ---------------------------------------------------------------------------------


def test_single_bytes_and_many_messages_at_once(relay, peer):
    connection = connect(relay)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    client = over(connection, relay)
    client.socket.sendto = lambda message, _: [
        connection.send(bytes([byte])) for byte in message + bytes(-len(message) % 4)
    ]
    relays(client, peer)
    connection.sendall(BINDING * 200)
    for _ in range(200):
        assert stun.parse(client.socket.recv())[0] == stun.SUCCESS | stun.BINDING


def test_the_largest_messages_are_relayed(relay, peer):
    client = over(connect(relay), relay)
    relays(client, peer, size=9000)
    # More than fits into UDP: read and dropped; the next message is handled.
    client.send_channel(0x4000, b"x" * 65_535)
    client.send_channel(0x4000, b"y" * 65_507)
    client.send_channel(0x4000, b"z")
    assert peer.recv(70_000) == b"y" * 65_507
    assert peer.recv(70_000) == b"z"


@pytest.mark.parametrize(
    "opening",
    [b"", b"\0", BINDING[:19], b"\x16\x03\x01", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc"],
    ids=["silent", "byte", "message", "tls", "hello"],
)
def test_half_open_connections_are_closed(hasty, opening):
    """Incident class: slow and half-open TCP. Bytes that never complete a message do not keep a connection open."""
    before = closed(hasty, "idle")
    connection = connect(hasty)
    connection.sendall(opening)
    assert ends(connection)
    eventually(lambda: closed(hasty, "idle") > before)


def test_whole_messages_alone_do_not_keep_a_connection(make_server):
    """A client that only sends Binding requests is closed too, later."""
    server = make_server({"relay": {**OPEN, "limits": {"messageSeconds": 3600, "idleSeconds": 2}}})
    connection = connect(server)
    connection.settimeout(0.2)
    deadline = time.monotonic() + TIMEOUT
    with contextlib.suppress(ConnectionError):
        while True:
            assert time.monotonic() < deadline, "the connection is kept"
            connection.sendall(BINDING)
            with contextlib.suppress(TimeoutError):
                if not connection.recv(2000):
                    break


def test_dripping_bytes_do_not_keep_a_connection(hasty):
    """Two bytes a second of a message that is never completed."""
    connection = connect(hasty)
    connection.settimeout(0.5)
    message = stun.message(stun.BINDING, b"d" * 12, stun.attribute(0x8022, bytes(400)))
    deadline = time.monotonic() + TIMEOUT
    with contextlib.suppress(ConnectionError):
        for byte in message:
            assert time.monotonic() < deadline, "the connection is kept"
            connection.send(bytes([byte]))
            with contextlib.suppress(TimeoutError):
                assert connection.recv(1) == b""
                break


def test_an_allocation_keeps_a_silent_connection(hasty, peer):
    """Three times the timeout of others, which are closed meanwhile."""
    client = over(connect(hasty), hasty)
    relayed = client.allocate()
    assert client.bind(0x4000, *peer.getsockname()) == 0
    for _ in range(2):
        assert ends(connect(hasty))
    peer.sendto(b"still here", relayed)
    assert client.socket.recv() == b"\x40\x00\x00\x0astill here"
    # Refresh with lifetime 0 keeps the connection for another allocation.
    assert client.request(stun.REFRESH, stun.attribute(stun.LIFETIME, bytes(4)))[0] == 0
    relays(client, peer)


@pytest.mark.parametrize(
    "junk",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\xff" * 100,
        b"\0\1\0\0" + bytes(16),
        b"\0\1\0\3\x21\x12\xa4\x42" + bytes(12),
        b"\x40\0\0\4abcd",
        b"SSH-2.0-OpenSSH_9\r\n",
        b"\x16\x02" + bytes(20),
    ],
    ids=["http", "ones", "cookie", "length", "channel", "ssh", "record"],
)
def test_garbage_ends_a_connection(relay, junk):
    before = closed(relay, "malformed")
    connection = connect(relay)
    connection.sendall(junk)
    assert ends(connection)
    eventually(lambda: closed(relay, "malformed") > before)


def test_garbage_after_messages_ends_a_connection_and_its_allocation(relay, peer):
    client = over(connect(relay), relay)
    relayed = client.allocate()
    assert client.bind(0x4000, *peer.getsockname()) == 0
    assert not is_free(relayed)
    client.socket.connection.sendall(BINDING + b"\xff\xff\xff\xff")
    assert stun.parse(client.socket.recv())[0] == stun.SUCCESS | stun.BINDING
    assert ends(client.socket.connection)
    eventually(lambda: is_free(relayed))


@pytest.mark.parametrize(
    "header", [b"\0\1\xff\xfc\x21\x12\xa4\x42", b"\0\1\xff\xec\x21\x12\xa4\x42", b"\0\1\x20\0\x21\x12\xa4\x42"]
)
def test_lengths_do_not_wrap_and_unauthenticated_clients_send_no_large_messages(relay, header):
    """CVE-2026-68552: the length of a message and its header together exceed 16 bits."""
    before = closed(relay, "oversized")
    connection = connect(relay)
    connection.sendall(header + bytes(100))
    assert ends(connection)
    eventually(lambda: closed(relay, "oversized") > before)


def test_the_last_response_survives_a_half_close(relay, certificate):
    """coturn#2041: the client sends its last request and shuts down; the response must still be sent."""
    for _ in range(20):
        connection = connect(relay)
        connection.sendall(BINDING * 50)
        connection.shutdown(socket.SHUT_WR)
        frames = Frames(connection)
        for _ in range(50):
            assert stun.parse(frames.recv())[0] == stun.SUCCESS | stun.BINDING
        assert ends(connection)


def test_the_last_responses_survive_a_half_close_of_a_slow_reader(relay):
    """More responses than the kernel's buffer holds wait for the client."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", relay.relay_port))
    count = 2000
    connection.sendall(BINDING * count)
    connection.shutdown(socket.SHUT_WR)
    frames = Frames(connection)
    for _ in range(count):
        assert stun.parse(frames.recv())[0] == stun.SUCCESS | stun.BINDING
    assert ends(connection)


def test_a_client_that_never_reads_costs_bounded_memory(relay, peer, certificate):
    """Its packets are dropped, others are not affected, and unread responses to its requests end the connection."""
    other = over(connect(relay), relay)
    relayed_other = other.allocate()
    assert other.bind(0x4000, *peer.getsockname()) == 0
    clients = [over(tls(connect(relay), certificate) if index % 2 else connect(relay), relay) for index in range(8)]
    addresses = [client.allocate() for client in clients]
    for client in clients:
        assert client.bind(0x4000, *peer.getsockname()) == 0
    before = resident_kilobytes(relay.pid)
    dropped = metric(relay, "relay_rejected_total", reason="full_connection")
    payload = bytes(8000)
    for round_ in range(400):
        for address in addresses:
            peer.sendto(payload, address)
        # The worker keeps up: nothing is lost because it is busy.
        peer.sendto(b"%d" % round_, relayed_other)
        assert other.socket.recv()[4:] == b"%d" % round_
    eventually(lambda: metric(relay, "relay_rejected_total", reason="full_connection") > dropped)
    growth = resident_kilobytes(relay.pid) - before
    # 256 KB and one partial record each.
    assert growth < 8 * 700, f"memory grew by {growth} KB"
    for client in clients:
        client.socket.close()


def test_unread_responses_end_a_connection(relay):
    before = closed(relay, "unread")
    connection = connect(relay)
    connection.settimeout(10)
    with contextlib.suppress(ConnectionError, TimeoutError):
        for _ in range(20_000):
            connection.sendall(BINDING * 100)
    eventually(lambda: closed(relay, "unread") > before)


@pytest.mark.parametrize("close_method", ["close", "reset", "tls"])
def test_a_closed_connection_releases_its_ports_and_quota(make_server, certificate, close_method):
    lowest = free_port(2)
    server = make_server({"relay": {**OPEN, **certificate, "tlsPorts": [], "limits": {"allocationsPerUser": 1},
                                    "minPort": lowest, "maxPort": lowest + 1}})

    def allocation() -> stun.Client | None:
        connection = connect(server)
        client = over(tls(connection, certificate) if close_method == "tls" else connection, server)
        error, _ = client.request(stun.ALLOCATE, stun.attribute(stun.TRANSPORT, bytes([17, 0, 0, 0])))
        if error == 0:
            return client
        assert error == 486
        client.socket.close()
        return None

    for _ in range(10):
        client = eventually(allocation)
        if close_method == "reset":
            client.socket.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.socket.close()
    eventually(lambda: metric(server, "relay_allocations") == 0 and metric(server, "relay_connections") == 0)


def one_worker(**limits: int) -> dict:
    """The limit is shared by all workers, not divided among them."""
    return merged(OPEN, {"workers": 1, "limits": limits})


def test_connections_are_bounded(make_server):
    """Connections with allocations stay open."""
    server = make_server({"relay": one_worker(connections=8)})
    held = [over(connect(server), server) for _ in range(8)]
    for client in held:
        client.allocate()
    assert ends(connect(server))
    assert eventually(lambda: metric(server, "relay_rejected_total", reason="connections_refused"))
    assert all(client.request(stun.REFRESH)[0] == 0 for client in held)
    held.pop().socket.close()

    def is_served() -> bool:
        with contextlib.suppress(ConnectionError):
            connection = connect(server)
            connection.sendall(BINDING)
            return len(connection.recv(100)) == 32
        return False

    assert eventually(is_served)


def test_one_host_holds_a_quarter_of_the_connections(make_server, peer):
    """A client over its limit loses its own oldest silent connections, and nobody else is affected."""
    server = make_server({"relay": one_worker(connections=40)})
    ann = over(connect(server), server)
    ann.allocate()
    crowd = [connect(server, source="127.0.0.3") for _ in range(60)]
    eventually(lambda: closed(server, "evicted") == 50)
    eventually(lambda: metric(server, "relay_connections") == 11)
    assert all(ends(connection) for connection in crowd[:50]) and not any(
        ends_now(connection) for connection in crowd[50:]
    )
    assert ann.request(stun.REFRESH)[0] == 0
    relays(over(connect(server, source="127.0.0.4"), server), peer)


def test_silent_connections_of_many_hosts_make_room(make_server, peer):
    server = make_server({"relay": one_worker(connections=40)})
    ann = over(connect(server), server)
    ann.allocate()
    crowd = [connect(server, source=f"127.0.1.{host}") for host in range(1, 12) for _ in range(10)]
    eventually(lambda: closed(server, "evicted") == len(crowd) - 39)
    relays(over(connect(server, source="127.0.0.4"), server), peer)
    assert ann.request(stun.REFRESH)[0] == 0


def test_limits_count_the_client_behind_a_balancer(make_server, peer):
    """The connection counts for the client in its PROXY header only."""
    server = make_server({"relay": {**one_worker(connections=40), "proxyProtocol": [BALANCER]}})
    unnamed = [connect(server, source=BALANCER) for _ in range(15)]
    named = [connect(server, source=BALANCER) for _ in range(12)]
    for connection in named:
        connection.sendall(proxy_header("203.0.113.50", connection.getsockname()[1]) + BINDING)
    eventually(lambda: closed(server, "source_limit") == 2)
    other = connect(server, source=BALANCER)
    other.sendall(proxy_header("203.0.113.51"))
    assert mapped(other) == ("203.0.113.51", 50_123)
    assert not any(ends_now(connection) for connection in unnamed)


def test_many_tls_handshakes_are_delayed_and_not_rejected(make_server, certificate, peer):
    """Each handshake costs a signature; they get a part of the worker's time, and media of other clients continues."""
    server = make_server({"relay": {**one_worker(connections=2000), **certificate, "tlsPorts": []}})
    ann = over(connect(server), server)
    relays(ann, peer)
    context = ssl.create_default_context(cafile=certificate["certificate"])
    crowd = []
    for _ in range(150):
        connection = connect(server)
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        session = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
        with contextlib.suppress(ssl.SSLWantReadError):
            session.do_handshake()
        connection.sendall(outgoing.read())
        crowd.append((connection, session, incoming, outgoing))
    for connection, session, incoming, outgoing in crowd:
        connection.settimeout(TIMEOUT)
        while True:
            try:
                session.do_handshake()
                break
            except ssl.SSLWantReadError:
                incoming.write(connection.recv(65_536))
        connection.sendall(outgoing.read())
        session.write(BINDING)
        connection.sendall(outgoing.read())
        response = b""
        while len(response) < 32:
            with contextlib.suppress(ssl.SSLWantReadError):
                response += session.read(32 - len(response))
                continue
            incoming.write(connection.recv(65_536))
        assert stun.parse(response)[0] == stun.SUCCESS | stun.BINDING
    assert eventually(lambda: metric(server, "relay_tls_handshakes_delayed_total"))
    assert ann.request(stun.REFRESH)[0] == 0


# The PROXY protocol ---------------------------------------------------------------------------------------------------

BALANCER = "127.0.0.7"
SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"


def proxy_header(address: str = "203.0.113.9", port: int = 50_123, command: int = 0x21, tail: bytes = b"") -> bytes:
    body = socket.inet_aton(address) + socket.inet_aton("192.0.2.1") + struct.pack("!HH", port, 3478) + tail
    return SIGNATURE + struct.pack("!BBH", command, 0x11, len(body)) + body


def mapped(connection: socket.socket) -> tuple[str, int]:
    connection.sendall(BINDING)
    kind, transaction, attributes = stun.parse(Frames(connection).recv())
    assert kind == stun.SUCCESS | stun.BINDING
    return stun.read_address(attributes[stun.XOR_MAPPED], transaction)


def test_proxy_header_names_the_client(relay, certificate, peer):
    connection = connect(relay, source=BALANCER)
    connection.sendall(proxy_header(tail=b"\x04\x00\x03abc"))
    assert mapped(connection) == ("203.0.113.9", 50_123)
    relays(over(connection, relay), peer)
    # In fragments, and before TLS.
    connection = connect(relay, source=BALANCER)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for byte in proxy_header("198.51.100.4", 1):
        connection.send(bytes([byte]))
    secured = tls(connection, certificate)
    assert mapped(secured) == ("198.51.100.4", 1)
    relays(over(secured, relay), peer)


def test_proxy_header_in_one_piece_with_a_request(relay):
    connection = connect(relay, source=BALANCER)
    connection.sendall(proxy_header() + BINDING)
    _kind, transaction, attributes = stun.parse(Frames(connection).recv())
    assert stun.read_address(attributes[stun.XOR_MAPPED], transaction) == ("203.0.113.9", 50_123)


def test_a_balancers_own_connection_has_its_own_address(relay):
    connection = connect(relay, source=BALANCER)
    connection.sendall(proxy_header(command=0x20))
    assert mapped(connection) == connection.getsockname()


@pytest.mark.parametrize(
    "junk",
    [
        BINDING,
        b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n",
        SIGNATURE + b"\x31\x11\0\x0c" + bytes(12),
        SIGNATURE + b"\x21\x11\xff\xff" + bytes(12),
        b"\x16\x03\x01\x02\0",
    ],
    ids=["absent", "version1", "version3", "length", "tls"],
)
def test_a_balancer_without_header_is_cut_off(relay, junk):
    before = closed(relay, "proxy_header")
    connection = connect(relay, source=BALANCER)
    connection.sendall(junk)
    assert ends(connection)
    eventually(lambda: closed(relay, "proxy_header") > before)


def test_a_forged_proxy_header_is_garbage(relay):
    before = closed(relay, "malformed")
    connection = connect(relay)
    connection.sendall(proxy_header() + BINDING)
    assert ends(connection)
    eventually(lambda: closed(relay, "malformed") > before)


def test_the_same_client_again_through_a_balancer_replaces_itself(relay, peer):
    """The load balancer has dropped the older connection; its allocation must not serve the newer one's client."""
    first = connect(relay, source=BALANCER)
    # Both must be on the same worker: retries until two are.
    before = closed(relay, "replaced")
    first.sendall(proxy_header("203.0.113.77", 7))
    client = over(first, relay)
    client.allocate()
    others = []
    for _ in range(100):
        other = connect(relay, source=BALANCER)
        other.sendall(proxy_header("203.0.113.77", 7))
        assert mapped(other) == ("203.0.113.77", 7)
        others.append(other)
        if ends_now(first):
            break
    else:
        raise AssertionError("the older connection is still there")
    eventually(lambda: closed(relay, "replaced") > before)
    relays(over(others[-1], relay), peer)


def ends_now(connection: socket.socket) -> bool:
    connection.settimeout(0.05)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True
