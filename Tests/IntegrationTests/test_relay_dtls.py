"""The relay over DTLS: coturn's and OpenSSL's clients, and unauthenticated packets before and after a handshake."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator

import pytest
from switchboard_tests import dtls, stun
from switchboard_tests.certificates import self_signed
from switchboard_tests.coturn import EPHEMERAL, STATIC, SideBySide
from switchboard_tests.ports import free_port
from switchboard_tests.processes import resident_kilobytes
from switchboard_tests.relay_clients import OPEN, uclient
from switchboard_tests.server import HTTP, Server
from switchboard_tests.waiting import TIMEOUT


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> tuple[str, str]:
    """A self-signed certificate for localhost and its key, as files."""
    chain, key = self_signed(tmp_path_factory.mktemp("certificate"))
    return str(chain), str(key)


@pytest.fixture(scope="module")
def relay(make_server, certificate) -> Iterator[Server]:
    """A server that relays to loopback, over IPv4 and IPv6, plain and over DTLS, without limits for unauthenticated
    clients."""
    made = make_server(relay_settings(certificate))
    yield made
    assert made.process is None or made.process.poll() is None, f"the server died:\n{made.log_tail()}"


def relay_settings(certificate: tuple[str, str]) -> dict:
    return {
        "relay": {
            "listen": ["127.0.0.1", "::1"], "certificate": certificate[0], "privateKey": certificate[1],
            "tlsPorts": [free_port()], **OPEN,
        }
    }


def metric(server: Server, name: str, **labels: str) -> int:
    """One of the server's metrics."""
    wanted = "".join(f'{key}="{value}"' for key, value in labels.items())
    for line in HTTP.get(server.admin_url + "/metrics").text.splitlines():
        if re.match(rf"switchboard_{name}(\{{{wanted}\}})? ", line):
            return int(float(line.split()[-1]))
    raise AssertionError(f"no metric {name} {labels}")


def waits_for(condition, seconds: float = TIMEOUT) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def settled(server: Server, name: str, **labels: str) -> int:
    """A metric that earlier tests may still affect: read once it no longer changes."""
    value = metric(server, name, **labels)
    while True:
        time.sleep(0.2)
        again = metric(server, name, **labels)
        if again == value:
            return value
        value = again


def tls_port(server: Server) -> int:
    return server.settings["relay"]["tlsPorts"][0]


# coturn's clients -----------------------------------------------------------------------------------------------------


MODES = [("ipv4", mode) for mode in ([], ["-c"], ["-s"], ["-c", "-s"], ["-c", "-D"], ["-c", "-G"])]
MODES += [("ipv6", mode) for mode in ([], ["-c", "-s"])]


@pytest.fixture(scope="module")
def dtls_runs(request, relay, echo_port):
    before = settled(relay, "relay_dtls_handshakes_total", outcome="completed")

    def run(family, mode):
        target = ["-e", "127.0.0.1", "-X", "127.0.0.1"] if family == "ipv4" else ["-x", "-e", "::1", "::1"]
        return uclient(relay, ["-S", "-r", str(echo_port), *STATIC, *mode, *target])

    runs = SideBySide(request, "test_uclient_loses_nothing_over_dtls", run)
    runs.before = before
    return runs


@pytest.mark.parametrize("family, mode", MODES, ids=[" ".join([family, *mode]) for family, mode in MODES])
def test_uclient_loses_nothing_over_dtls(relay, dtls_runs, family, mode):
    assert dtls_runs(family=family, mode=mode) == 0
    # Four clients each, and all of them over DTLS.
    wanted = dtls_runs.before + 4 * dtls_runs.done
    assert waits_for(lambda: metric(relay, "relay_dtls_handshakes_total", outcome="completed") >= wanted)


@pytest.fixture(scope="module")
def runs_between_clients(request, relay):
    run = lambda mode: uclient(relay, ["-S", *STATIC, *mode, "127.0.0.1"])
    return SideBySide(request, "test_uclient_loses_nothing_between_dtls_clients", run)


@pytest.mark.parametrize("mode", [["-y"], ["-y", "-c"], ["-y", "-s", "-c"]], ids=" ".join)
def test_uclient_loses_nothing_between_dtls_clients(runs_between_clients, mode):
    assert runs_between_clients(mode=mode) == 0


def test_uclient_with_ephemeral_credentials_on_the_port_of_tls(relay, echo_port):
    port = ["-p", str(tls_port(relay))]
    target = ["-r", str(echo_port), "-e", "127.0.0.1", "-X", "127.0.0.1"]
    assert uclient(relay, ["-S", "-c", *EPHEMERAL, *port, *target]) == 0


# OpenSSL's client -----------------------------------------------------------------------------------------------------


MANY_GROUPS = "P-256:P-384:P-521:X25519:X448:sect571r1:sect409k1:brainpoolP256r1:brainpoolP384r1:brainpoolP512r1"
LONG = ["-mtu", "256", "-groups", MANY_GROUPS, "-alpn", ",".join(f"protocol-{number}" for number in range(60))]


def openssl(port: int, *options: str, source: int = 0) -> subprocess.Popen:
    command = ["openssl", "s_client", "-dtls1_2", "-connect", f"127.0.0.1:{port}", "-quiet", *options]
    if source:
        command += ["-bind", f"127.0.0.1:{source}"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def binding(process: subprocess.Popen) -> None:
    """Sends a Binding request through the session, and reads the response."""
    transaction = bytes(range(12))
    process.stdin.write(stun.message(stun.REQUEST | stun.BINDING, transaction, b""))
    process.stdin.flush()
    response = process.stdout.read(32)
    kind, given, attributes = stun.parse(response)
    assert (kind, given) == (stun.SUCCESS | stun.BINDING, transaction)
    assert stun.read_address(attributes[stun.XOR_MAPPED], transaction)[0] == "127.0.0.1"


def end(process: subprocess.Popen) -> None:
    process.kill()
    process.communicate()


@pytest.mark.parametrize("options", [[], ["-mtu", "256"], LONG], ids=["plain", "small", "fragmented"])
def test_openssl_connects_and_gets_its_address(relay, options):
    for port in (relay.relay_port, tls_port(relay)):
        process = openssl(port, *options)
        binding(process)
        end(process)


def test_a_session_ends_with_close_notify(make_server, certificate):
    # Of its own: the sessions of clients that were killed end by themselves meanwhile.
    relay = make_server(relay_settings(certificate))
    process = openssl(relay.relay_port, "-no_ign_eof")
    binding(process)
    assert waits_for(lambda: metric(relay, "relay_dtls_sessions") == 1)
    process.communicate(timeout=20)
    assert waits_for(lambda: metric(relay, "relay_dtls_sessions") == 0)


def test_a_large_hello_is_in_many_datagrams(relay):
    """Shows that the hello of the test above is fragmented, with a counting proxy."""
    firsts: list[bytes] = []
    proxy = dtls.DatagramProxy(("127.0.0.1", relay.relay_port), lambda data, _: firsts.append(data) or [data])
    process = openssl(proxy.port, *LONG)
    binding(process)
    end(process)
    proxy.close()
    hellos = [data for data in firsts if len(data) > 13 and data[0] == 22 and data[13] == dtls.CLIENT_HELLO]
    assert len(hellos) >= 6, [len(data) for data in hellos]


def test_a_client_that_restarts_on_its_port_gets_through(relay):
    source = free_port()
    completed = settled(relay, "relay_dtls_handshakes_total", outcome="completed")
    for _ in range(3):
        process = openssl(relay.relay_port, source=source)
        binding(process)
        process.kill()
        process.communicate()
    assert waits_for(lambda: metric(relay, "relay_dtls_handshakes_total", outcome="completed") == completed + 3)


def test_a_reloaded_certificate_is_shown_to_new_clients_and_old_ones_go_on(make_server, tmp_path):
    def shown(server: Server) -> str:
        command = ["openssl", "s_client", "-dtls1_2", "-connect", f"127.0.0.1:{server.relay_port}"]
        return subprocess.run(command, input="", capture_output=True, text=True, timeout=20).stdout

    chain, key = self_signed(tmp_path, "first.test")
    server = make_server(relay_settings((str(chain), str(key))))
    old = openssl(server.relay_port)
    binding(old)
    assert "CN = first.test" in shown(server)
    self_signed(tmp_path, "second.test")
    os.kill(server.pid, signal.SIGHUP)
    assert waits_for(lambda: "CN = second.test" in shown(server))
    binding(old)
    end(old)
    server.stop()


# Impaired network -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_junk_and_replays_are_ignored(relay, seed):
    proxy = dtls.DatagramProxy(("127.0.0.1", relay.relay_port), dtls.JunkAndReplays(seed))
    failed = settled(relay, "relay_dtls_handshakes_total", outcome="failed")
    process = openssl(proxy.port, *(LONG if seed % 2 else []))
    for _ in range(10):
        binding(process)
    end(process)
    proxy.close()
    assert metric(relay, "relay_dtls_handshakes_total", outcome="failed") == failed


def test_uclient_loses_nothing_amid_junk_and_replays(relay, echo_port):
    proxy = dtls.DatagramProxy(("127.0.0.1", relay.relay_port), dtls.JunkAndReplays(99))
    target = ["-r", str(echo_port), "-e", "127.0.0.1", "-X", "127.0.0.1"]
    assert uclient(relay, ["-S", "-c", *STATIC, "-p", str(proxy.port), *target]) == 0
    proxy.close()


def test_fragments_out_of_order_and_doubled_are_one_hello(relay):
    """The first fragment first, since no state is kept without it; the others in any order."""
    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as client:
        client.bind(("127.0.0.1", 0))
        client.settimeout(TIMEOUT)
        server = ("127.0.0.1", relay.relay_port)
        nonce, more = dtls.new_nonce(), dtls.OFFER[:-4] + b"\x00\x15\x05\x00" + bytes(1280)
        more = dtls.OFFER[:4] + dtls.OFFER[4:6] + (len(more) - 8).to_bytes(2, "big") + more[8:]
        client.sendto(dtls.fragments(dtls.hello(nonce, more=more), 200, 0)[0], server)
        cookie = dtls.cookie_of(client.recv(2000))
        parts = dtls.fragments(dtls.hello(nonce, cookie, more), 200, 1)
        for part in [parts[0], *reversed(parts[1:]), *parts[1:]][: len(parts)]:
            client.sendto(part, server)
            client.sendto(part, server)
        response = client.recv(2000)
        assert response[0] == dtls.HANDSHAKE and response[13] == 2, "no ServerHello: " + response.hex()


# Unauthenticated packets ----------------------------------------------------------------------------------------------


def test_a_response_is_smaller_than_its_request(relay):
    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as client:
        client.settimeout(TIMEOUT)
        shortest = dtls.fragments(dtls.hello(dtls.new_nonce(), more=b""), 1000, 0)
        assert len(shortest) == 1
        client.sendto(shortest[0], ("127.0.0.1", relay.relay_port))
        assert len(client.recv(2000)) < len(shortest[0])


def test_forged_and_foreign_cookies_begin_nothing(make_server, certificate):
    settings = relay_settings(certificate)
    settings["relay"]["limits"] = {**OPEN["limits"], "dtlsHandshakeSeconds": 3}
    relay = make_server(settings)
    server = ("127.0.0.1", relay.relay_port)
    with contextlib.ExitStack() as stack:
        owner, other = (stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(2))
        for client in (owner, other):
            client.bind(("127.0.0.1", 0))
            client.settimeout(TIMEOUT)
        nonce = dtls.new_nonce()
        owner.sendto(dtls.fragments(dtls.hello(nonce), 1000, 0)[0], server)
        cookie = dtls.cookie_of(owner.recv(2000))
        refused = settled(relay, "relay_rejected_total", reason="dtls_cookie")
        sessions = settled(relay, "relay_dtls_sessions")

        def tries(client: socket.socket, nonce: bytes, cookie: bytes) -> None:
            client.sendto(dtls.fragments(dtls.hello(nonce, cookie), 1000, 1)[0], server)

        for index in range(20):
            tries(owner, nonce, bytes(byte ^ (0x80 if at == index else 0) for at, byte in enumerate(cookie)))
        tries(owner, dtls.new_nonce(), cookie)
        tries(owner, nonce, cookie[:-1])
        tries(owner, nonce, b"")
        tries(other, nonce, cookie)
        assert waits_for(lambda: metric(relay, "relay_rejected_total", reason="dtls_cookie") == refused + 24)
        assert metric(relay, "relay_dtls_sessions") == sessions
        owner.settimeout(0.2)
        with pytest.raises(TimeoutError):
            owner.recv(2000)
        # The right cookie, and a repeat: a flight of the server, and no second session.
        owner.settimeout(TIMEOUT)
        tries(owner, nonce, cookie)
        response = owner.recv(2000)
        assert response[0] == dtls.HANDSHAKE and response[13] == 2
        for _ in range(100):
            tries(owner, nonce, cookie)
        assert waits_for(lambda: metric(relay, "relay_dtls_sessions") == sessions + 1)
        # A silent session is dropped, without any state.
        assert waits_for(lambda: metric(relay, "relay_dtls_sessions") == sessions)


def test_ten_thousand_hellos_without_a_cookie_leave_memory_flat(make_server, certificate):
    """From a thousand addresses, whole and in first and other fragments, with cookies and without."""
    flooded = make_server(relay_settings(certificate))
    clients = []
    for number in range(1000):
        client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        client.bind((f"127.{number % 200 + 1}.{number // 200 + 1}.1", 0))
        clients.append(client)
    server = ("127.0.0.1", flooded.relay_port)
    large = dtls.OFFER + bytes(1200)

    def flood(rounds: int) -> None:
        for _ in range(rounds):
            for client in clients:
                nonce = dtls.new_nonce()
                client.sendto(dtls.fragments(dtls.hello(nonce), 1000, 0)[0], server)
                for part in dtls.fragments(dtls.hello(nonce, more=large), 400, 0):
                    client.sendto(part, server)
                client.sendto(dtls.fragments(dtls.hello(nonce, bytes(20)), 1000, 1)[0], server)
            # Not faster than the server reads: the kernel's buffers would drop the rest.
            client = clients[0]
            client.settimeout(TIMEOUT)
            client.recv(2000)

    def handled() -> int:
        return sum(
            metric(flooded, "relay_rejected_total", reason=reason)
            for reason in ("dtls_cookie", "rate_limited", "dtls_stray")
        ) + metric(flooded, "relay_dtls_hello_verify_requests_total")

    flood(2)
    assert waits_for(lambda: handled() > 4000)
    before = resident_kilobytes(flooded.pid)
    flood(10)
    assert waits_for(lambda: handled() > 30_000), handled()
    growth = resident_kilobytes(flooded.pid) - before
    assert growth < 2048, f"memory grew by {growth} KB"
    assert metric(flooded, "relay_dtls_sessions") == 0
    process = openssl(flooded.relay_port)
    binding(process)
    end(process)
    for client in clients:
        client.close()
    flooded.stop()
