"""TCP allocations (RFC 6062): coturn's client, and peers and clients that misbehave."""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import ssl
import struct
import threading
import time

import pytest
import yaml
from switchboard_tests import stun
from switchboard_tests.coturn import STATIC
from switchboard_tests.metrics import metric
from switchboard_tests.ports import free_port
from switchboard_tests.processes import resident_kilobytes
from switchboard_tests.relay_clients import (
    CONNECT,
    CONNECTION_ATTEMPT,
    CONNECTION_BIND,
    CONNECTION_ID,
    OPEN,
    allocated,
    ask,
    claim,
    connect,
    ends,
    is_free,
    over,
    tls,
    uclient,
)
from switchboard_tests.server import Server
from switchboard_tests.waiting import TIMEOUT, eventually


@pytest.fixture(scope="module")
def relay(make_server, certificate) -> Server:
    """With several workers, so that most data connections arrive at another one than their allocation's."""
    return make_server({"relay": {"tlsPorts": [], "workers": 4, **certificate, **OPEN}})


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as made:
        made.settimeout(TIMEOUT)
        yield made


@pytest.fixture(params=["tcp", "tls"])
def open_connection(request, relay, certificate):
    """Opens client connections, plain or over TLS."""
    return lambda: tls(connect(relay), certificate) if request.param == "tls" else connect(relay)


def receive(connection: socket.socket, count: int) -> bytes:
    connection.settimeout(TIMEOUT)
    data = b""
    while len(data) < count:
        more = connection.recv(65536)
        assert more, f"closed after {len(data)} of {count} bytes"
        data += more
    return data


def test_ports_that_other_programs_have_for_tcp_are_passed_over(make_server):
    """Half of the range: an allocation gets one of the others."""
    first = free_port(4)
    server = make_server({"relay": {"tlsPorts": [], "minPort": first, "maxPort": first + 3, **OPEN}})
    taken = [socket.create_server(("127.0.0.1", first + offset)) for offset in (0, 2)]
    for _ in range(30):
        control, relayed = allocated(server, connect(server))
        assert relayed[1] in (first + 1, first + 3)
        control.close()
        eventually(lambda relayed=relayed: is_free(relayed))
    for one in taken:
        one.close()


@pytest.mark.parametrize("mode", [["-T"], ["-T", "-S"]], ids=" ".join)
def test_uclient_loses_nothing(relay, echo_port, mode):
    """Over TLS it starts most connections with a version that is rejected, and retries."""
    arguments = [*mode, *STATIC, "-r", str(echo_port), "-e", "127.0.0.1", "-X", "127.0.0.1"]
    assert uclient(relay, arguments) == 0


def test_client_connects_to_a_peer(relay, open_connection, listener):
    """Several times, so that the data connections reach every worker."""
    control, relayed = allocated(relay, open_connection())
    for _ in range(12):
        error, number = ask(control, *listener.getsockname())
        assert error == 0 and len(number) == 4
        peer, source = listener.accept()
        assert source == relayed
        # Data that the peer sends before the data connection exists is not lost.
        peer.sendall(b"welcome")
        data = open_connection()
        assert claim(relay, data, number) == 0
        assert receive(data, 7) == b"welcome"
        data.sendall(b"hello")
        assert receive(peer, 5) == b"hello"
        assert ask(control, *listener.getsockname())[0] == 446
        data.close()
        assert ends(peer)
        peer.close()
        eventually(lambda: ask(control, *listener.getsockname())[0] != 446)
        listener.accept()[0].close()
        control.close()
        control, relayed = allocated(relay, open_connection())


def test_a_peer_connects_to_a_client(relay, open_connection):
    control, relayed = allocated(relay, open_connection())
    with socket.create_connection(relayed) as outsider:
        assert ends(outsider)
    assert control.permit("127.0.0.1") == 0
    peer = socket.create_connection(relayed)
    kind, transaction, response = stun.parse(control.socket.recv())
    assert kind == stun.INDICATION | CONNECTION_ATTEMPT
    assert stun.read_address(response[stun.XOR_PEER], transaction) == peer.getsockname()
    data = open_connection()
    assert claim(relay, data, response[CONNECTION_ID]) == 0
    peer.sendall(b"hello")
    assert receive(data, 5) == b"hello"
    data.sendall(b"good bye")
    assert receive(peer, 8) == b"good bye"
    peer.close()
    assert ends(data)


def test_much_data_in_both_directions_with_slow_readers(relay, open_connection, listener):
    """Nothing is lost, reordered or buffered beyond a bound, however slowly the other side reads."""
    control, _ = allocated(relay, open_connection())
    _, number = ask(control, *listener.getsockname())
    peer, _ = listener.accept()
    data = open_connection()
    assert claim(relay, data, number) == 0
    before = resident_kilobytes(relay.pid)
    blob = os.urandom(1 << 20) * 24
    digest = hashlib.sha256(blob).digest()
    for sender, receiver in [(data, peer), (peer, data)]:
        thread = threading.Thread(target=sender.sendall, args=(blob,))
        sender.settimeout(TIMEOUT)
        thread.start()
        # The sender runs into full buffers before anybody reads.
        thread.join(0.5)
        assert thread.is_alive()
        assert resident_kilobytes(relay.pid) - before < 4096
        assert hashlib.sha256(receive(receiver, len(blob))).digest() == digest
        thread.join()
    # The last bytes arrive although their sender closes right after them.
    data.sendall(blob[: 1 << 20])
    data.close()
    assert receive(peer, 1 << 20) == blob[: 1 << 20]
    assert ends(peer)


@pytest.mark.parametrize("kind", ["tcp", "tls"])
def test_streams_wait_for_the_allocations_bandwidth(make_server, certificate, listener, kind):
    """Every byte arrives, and no more of them in a time than `relay.limits.bytesPerSecond` allows, both ways."""
    rate = 200_000
    server = make_server({"relay": {"tlsPorts": [], **certificate, **OPEN, "limits": {"bytesPerSecond": rate}}})
    open_connection = lambda: tls(connect(server), certificate) if kind == "tls" else connect(server)
    control, _ = allocated(server, open_connection())
    _, number = ask(control, *listener.getsockname())
    peer, _ = listener.accept()
    data = open_connection()
    assert claim(server, data, number) == 0
    blob = os.urandom(5 * rate // 2)
    for sender, receiver in [(data, peer), (peer, data)]:
        sender.settimeout(TIMEOUT)
        held = metric(server, "relay_streams_throttled_total")
        began = time.monotonic()
        thread = threading.Thread(target=sender.sendall, args=(blob,))
        thread.start()
        assert receive(receiver, len(blob)) == blob
        took = time.monotonic() - began
        thread.join()
        # A burst of one second's budget, plus the budget of the elapsed time.
        assert len(blob) <= rate * (took + 2)
        eventually(lambda: metric(server, "relay_streams_throttled_total") > held)
    # A reload lifts the limit for existing connections.
    server.settings["relay"]["limits"]["bytesPerSecond"] = 0
    server.config.write_text(yaml.safe_dump(server.settings))
    server.command("reload")
    held = metric(server, "relay_streams_throttled_total")
    thread = threading.Thread(target=data.sendall, args=(blob * 4,))
    thread.start()
    assert receive(peer, 4 * len(blob)) == blob * 4
    thread.join()
    assert metric(server, "relay_streams_throttled_total") <= held + 1


class HalfClosableTLS:
    """A TLS connection that can send close_notify without waiting for the other side's, unlike `ssl.SSLSocket`."""

    def __init__(self, connection: socket.socket, certificate: dict[str, str]):
        self.connection = connection
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = ssl.create_default_context(cafile=certificate["certificate"])
        self.secure = context.wrap_bio(self.incoming, self.outgoing, server_hostname="localhost")
        self.until(self.secure.do_handshake)

    def until(self, step):
        while True:
            try:
                result = step()
                self.connection.sendall(self.outgoing.read())
                return result
            except ssl.SSLWantReadError:
                self.connection.sendall(self.outgoing.read())
                received = self.connection.recv(65536)
                self.incoming.write(received) if received else self.incoming.write_eof()

    def sendall(self, data: bytes) -> None:
        self.secure.write(data)
        self.connection.sendall(self.outgoing.read())

    def recv(self, count: int) -> bytes:
        """Empty after the other side's close_notify; an end without one is an error."""
        try:
            return self.until(lambda: self.secure.read(count))
        except ssl.SSLZeroReturnError:
            return b""

    def shutdown(self, _how: int) -> None:
        with contextlib.suppress(ssl.SSLWantReadError):
            self.secure.unwrap()
        self.connection.sendall(self.outgoing.read())

    def settimeout(self, seconds: float) -> None:
        self.connection.settimeout(seconds)

    def close(self) -> None:
        self.connection.close()


@pytest.fixture(params=["tcp", "tls"])
def open_half_closable(request, relay, certificate):
    """Opens client connections that can be closed in one direction."""
    return lambda: HalfClosableTLS(connect(relay), certificate) if request.param == "tls" else connect(relay)


def joined(server: Server, open_connection, listener) -> tuple[stun.Client, socket.socket, socket.socket]:
    """An allocation, and both ends of one connection through it."""
    control, _ = allocated(server, connect(server))
    error, number = ask(control, *listener.getsockname())
    assert error == 0
    peer, _ = listener.accept()
    peer.settimeout(TIMEOUT)
    data = open_connection()
    assert claim(server, data, number) == 0
    return control, data, peer


@pytest.mark.parametrize("silent", ["client", "peer"])
def test_a_half_closed_connection_still_receives(relay, open_half_closable, listener, silent):
    """As in HTTP/1.0, rsync and others: the end of the request triggers the response."""
    control, data, peer = joined(relay, open_half_closable, listener)
    requesting, responding = (data, peer) if silent == "client" else (peer, data)
    blob = os.urandom(1 << 20)
    thread = threading.Thread(target=lambda: (requesting.sendall(blob), requesting.shutdown(socket.SHUT_WR)))
    thread.start()
    assert receive(responding, len(blob)) == blob
    thread.join()
    assert responding.recv(1) == b""
    for part in range(3):
        responding.sendall(b"%d" % part)
        assert receive(requesting, 1) == b"%d" % part
    thread = threading.Thread(target=lambda: (responding.sendall(blob), responding.shutdown(socket.SHUT_WR)))
    thread.start()
    assert receive(requesting, len(blob)) == blob
    thread.join()
    assert requesting.recv(1) == b""
    # Both directions have ended: the connection is removed, and another one to the same peer may be made.
    eventually(lambda: ask(control, *listener.getsockname())[0] == 0)
    control.close()


@pytest.mark.parametrize("who", ["client", "peer"])
def test_a_full_close_after_a_half_close_releases_the_connection(relay, open_half_closable, listener, who):
    """A reset from the side that had already half-closed."""
    control, data, peer = joined(relay, open_half_closable, listener)
    plain = data.connection if isinstance(data, HalfClosableTLS) else data
    (peer if who == "peer" else data).shutdown(socket.SHUT_WR)
    assert (data if who == "peer" else peer).recv(1) == b""
    going = peer if who == "peer" else plain
    going.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    going.close()
    eventually(lambda: ask(control, *listener.getsockname())[0] == 0)
    control.close()


def test_the_last_bytes_of_a_peer_arrive(relay, open_connection, listener):
    control, _ = allocated(relay, open_connection())
    _, number = ask(control, *listener.getsockname())
    peer, _ = listener.accept()
    blob = os.urandom(1 << 20)
    data = open_connection()
    assert claim(relay, data, number) == 0
    thread = threading.Thread(target=lambda: (peer.sendall(blob), peer.close()))
    thread.start()
    assert receive(data, len(blob)) == blob
    thread.join()
    assert ends(data)


def test_data_behind_the_claim_is_the_peers(relay, open_connection, listener):
    """Sent without waiting for the response, in one segment with the request."""
    control, _ = allocated(relay, open_connection())
    _, number = ask(control, *listener.getsockname())
    peer, _ = listener.accept()
    data = open_connection()
    client = over(data, relay)
    # Gets the nonce with a request that fails.
    assert (
        client.request(
            CONNECTION_BIND, stun.attribute(CONNECTION_ID, struct.pack("!I", struct.unpack("!I", number)[0] ^ 1))
        )[0]
        == 400
    )
    send = client.socket.sendto
    client.socket.sendto = lambda message, server: send(message + b"\xff\xffdata, not messages", server)
    assert client.request(CONNECTION_BIND, stun.attribute(CONNECTION_ID, number))[0] == 0
    assert receive(peer, 20).startswith(b"\xff\xffdata, not messages")


def test_ends_with_its_allocation(relay, open_connection, listener):
    control, relayed = allocated(relay, open_connection())
    _, number = ask(control, *listener.getsockname())
    peer, _ = listener.accept()
    data = open_connection()
    assert claim(relay, data, number) == 0
    assert control.request(stun.REFRESH, stun.attribute(stun.LIFETIME, bytes(4)))[0] == 0
    assert ends(peer)
    assert ends(data)
    with pytest.raises(ConnectionRefusedError):
        eventually(lambda: socket.create_connection(relayed).close())
    eventually(lambda: is_free(relayed))


def test_errors(relay, make_server, listener):
    control, relayed = allocated(relay, connect(relay))
    closed_port = free_port()
    assert ask(control, "127.0.0.1", closed_port)[0] == 447
    assert ask(control, *relayed)[0] == 403
    # CVE-2020-26262 and its like, over TCP: own ports, although loopback is open.
    for port in (relay.port, relay.admin_port, relay.relay_port):
        for address in ("127.0.0.1", "127.0.0.2"):
            assert ask(control, address, port)[0] == 403, (address, port)
    assert ask(control, "::1", 80)[0] == 443
    _, number = ask(control, *listener.getsockname())
    assert claim(relay, connect(relay), bytes(4)) == 400
    assert claim(relay, connect(relay), struct.pack("!I", 0xFF << 24)) == 400
    with pytest.raises(AssertionError):
        # Another user's, wrongly signed: never claimed.
        assert claim(relay, connect(relay), number, user="mallory") == 0
    datagrams = stun.Client("127.0.0.1", relay.relay_port, "alice", "wonderland")
    assert datagrams.request(stun.ALLOCATE, stun.attribute(stun.TRANSPORT, bytes([6, 0, 0, 0])))[0] == 400
    datagrams.close()
    strict = make_server({"relay": {"peers": {"allow": []}}})
    control, _ = allocated(strict, connect(strict))
    for address in ("127.0.0.1", "10.0.0.1", "169.254.169.254", "0.0.0.0"):
        assert ask(control, address, 80)[0] == 403, address


def test_a_connection_with_an_allocation_claims_nothing(relay, open_connection):
    """Whichever worker the number names, the connection stays where its allocation is."""
    control, _ = allocated(relay, open_connection())
    for worker in range(4):
        assert control.request(CONNECTION_BIND, stun.attribute(CONNECTION_ID, bytes([worker, 0, 0, 1])))[0] == 400
        assert control.permit("127.0.0.1") == 0


def test_two_relays_reach_each_other(relay, listener):
    """Each allocation connects to the other's relayed address."""
    alice, at_alice = allocated(relay, connect(relay))
    bob, at_bob = allocated(relay, connect(relay))
    assert bob.permit(*at_alice) == 0
    transaction = os.urandom(12)
    error, response = alice.request(CONNECT, alice.peer(*at_bob, transaction), transaction=transaction)
    assert error == 0
    kind, _, attempt = stun.parse(bob.socket.recv())
    assert kind == stun.INDICATION | CONNECTION_ATTEMPT
    from_alice, from_bob = connect(relay), connect(relay)
    assert claim(relay, from_alice, response[CONNECTION_ID]) == 0
    assert claim(relay, from_bob, attempt[CONNECTION_ID]) == 0
    from_alice.sendall(b"hello")
    assert receive(from_bob, 5) == b"hello"
    with contextlib.suppress(OSError):
        alice.close()
    assert ends(from_bob)
