"""Operating a running server: reload, drain, stop and check."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import threading

import pytest
import yaml
from switchboard_tests import stun
from switchboard_tests.certificates import self_signed
from switchboard_tests.endpoint import client_id
from switchboard_tests.operators import server_stats
from switchboard_tests.ports import free_port
from switchboard_tests.relay_clients import allocated, ask, claim, connect, ends, over, tls
from switchboard_tests.server import BINARY, HTTP, NO_APERTIUM, OPEN_RELAY, Server, User, change, merged, tool
from switchboard_tests.waiting import TIMEOUT, wait_until

SECRET = "a secret of the tests, long enough"


@pytest.fixture(scope="module")
def make_server(make_server):
    """Servers without Apertium, of which a check would try every direction."""
    return lambda settings=None, **options: make_server(merged(NO_APERTIUM, settings or {}), **options)


def tool_input(server: Server, text: str, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(BINARY), *arguments, "--config", str(server.config)], capture_output=True, text=True, timeout=60,
        cwd=server.directory, input=text,
    )


@pytest.fixture
def client():
    with contextlib.ExitStack() as stack:
        def make(server: Server, user: str = "alice", password: str = "wonderland") -> stun.Client:
            made = stun.Client("127.0.0.1", server.relay_port, user, password)
            stack.callback(made.close)
            return made
        yield make


@pytest.fixture
def echo():
    """The address of an echoing peer."""
    peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    peer.bind(("127.0.0.1", 0))
    running = True

    def serve():
        while running:
            with contextlib.suppress(OSError):
                data, source = peer.recvfrom(2000)
                peer.sendto(data, source)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield peer.getsockname()
    running = False
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
        last.sendto(b"", peer.getsockname())
    thread.join(5)
    peer.close()


# For how long nothing has to come.
SILENCE = 0.5


def relays(made: stun.Client, payload: bytes = b"still there?", seconds: float = TIMEOUT) -> bool:
    """Whether a packet on channel 0x4000 comes back from the echoing peer."""
    made.socket.settimeout(seconds)
    made.send_channel(0x4000, payload)
    with contextlib.suppress(TimeoutError):
        while True:
            if made.socket.recv(2000)[4 : 4 + len(payload)] == payload:
                made.socket.settimeout(TIMEOUT)
                return True
    made.socket.settimeout(TIMEOUT)
    return False


# Reload ---------------------------------------------------------------------------------------------------------------


def test_a_reload_applies_users_and_logs_no_secrets(make_server, client):
    server = make_server({"relay": OPEN_RELAY})
    assert (
        client(server, "bob", "builder of houses").request(
            stun.ALLOCATE, stun.attribute(stun.TRANSPORT, b"\x11\0\0\0")
        )[0]
        == 401
    )
    change(server, "relay", "users", to={"alice": "another password", "bob": "builder of houses"})
    change(server, "relay", "secrets", to=["a newer secret, long enough", SECRET])
    change(server, "log", "level", to="debug")
    change(server, "http", "port", to=free_port())
    done = tool(server, "reload")
    assert done.returncode == 0, done.stderr
    for words in [
        "relay.users (added bob; changed alice)", "relay.secrets (1 before, 2 now, 1 new)",
        "log.level (info before, debug now)", f"needs a restart: http.port ({server.port} before",
    ]:
        assert words in done.stdout
        assert words in server.log_tail()
    for secret in ("another password", "builder of houses", "a newer secret", SECRET):
        assert secret not in done.stdout and secret not in server.log_tail()
    client(server, "bob", "builder of houses").allocate()
    client(server, *stun.ephemeral("a newer secret, long enough", "carol")).allocate()
    client(server, *stun.ephemeral(SECRET, "carol")).allocate()
    assert client(server).request(stun.ALLOCATE, stun.attribute(stun.TRANSPORT, b"\x11\0\0\0"))[0] == 401
    # Changes that need a restart are still pending; the others are in effect.
    again = tool(server, "reload").stdout
    assert "nothing changed" in again and "http.port" in again


@pytest.mark.parametrize(
    "path, value, words",
    [
        (("relay", "peers", "allow"), ["10.0.0.0/99"], "relay.peers.allow: 10.0.0.0/99 is not a range"),
        (("relay", "secrets"), ["short"], "relay.secrets: a secret has only 5 bytes"),
        (("relay", "limits", "allocations"), 0, "relay.limits.allocations must be a whole number"),
        (("relay", "minPort"), 65535, "relay.minPort"),
        (("http", "certificate"), "nowhere.pem", "http.certificate and http.privateKey go together"),
        (("log", "loudness"), 11, "unknown setting log.loudness"),
    ],
    ids=lambda value: ".".join(value) if isinstance(value, tuple) else None,
)
def test_a_wrong_configuration_changes_nothing(make_server, client, path, value, words):
    server = make_server({"relay": {**OPEN_RELAY, "maxPort": 65534}})
    change(server, "relay", "users", to={"alice": "wonderland", "bob": "builder"})
    change(server, *path, to=value)
    lines = server.config.read_text().splitlines()
    done = tool(server, "reload")
    assert done.returncode != 0 and words in done.stdout + done.stderr
    # The command fails on an unreadable file; the server logs the error too, with the line.
    os.kill(server.pid, signal.SIGHUP)
    wait_until(lambda: "nothing was reloaded" in server.log_tail(), "the error in the log")
    line = re.search(re.escape(server.config.name) + r":(\d+): ", server.log_tail())
    assert line and path[-1] in lines[int(line.group(1)) - 1]
    assert words in server.log_tail()
    assert (
        client(server, "bob", "builder").request(stun.ALLOCATE, stun.attribute(stun.TRANSPORT, b"\x11\0\0\0"))[0] == 401
    )
    client(server).allocate()


def test_a_closed_range_is_closed_at_once_and_opens_again(make_server, client, echo):
    server = make_server({"relay": OPEN_RELAY})
    made = client(server)
    made.allocate()
    assert made.bind(0x4000, *echo) == 0 and relays(made)
    change(server, "relay", "peers", "allow", to=[])
    assert "removed 127.0.0.0/8" in tool(server, "reload").stdout
    wait_until(lambda: not relays(made, seconds=SILENCE), "the channel ends")
    assert made.bind(0x4000, *echo) == 403
    change(server, "relay", "peers", "allow", to=["127.0.0.0/8"])
    tool(server, "reload")
    wait_until(lambda: made.bind(0x4001, *echo) == 0, "the range is open again")


def test_a_denied_peer_is_cut_off_at_once(make_server, client, echo):
    """Channels, permissions and RFC 6062 connections to newly denied peers (`relay.peers.deny`) end with the reload."""
    server = make_server({"relay": OPEN_RELAY})
    made = client(server)
    relayed = made.allocate()
    assert made.bind(0x4000, *echo) == 0 and relays(made)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other, contextlib.ExitStack() as stack:
        other.bind(("127.0.0.2", 0))
        other.settimeout(TIMEOUT)
        assert made.bind(0x4001, *other.getsockname()) == 0
        control, _ = allocated(server, connect(server))
        streams = []
        for address in ("127.0.0.1", "127.0.0.2"):
            listener = stack.enter_context(socket.create_server((address, 0)))
            error, number = ask(control, *listener.getsockname())
            assert error == 0
            peer = stack.enter_context(listener.accept()[0])
            data = stack.enter_context(connect(server))
            assert claim(server, data, number) == 0
            streams.append((data, peer))
        change(server, "relay", "peers", "deny", to=["127.0.0.1/32"])
        assert "relay.peers.deny (added 127.0.0.1/32)" in tool(server, "reload").stdout
        wait_until(lambda: not relays(made, seconds=SILENCE), "the channel ends")
        assert made.permit("127.0.0.1") == 403
        (denied, denied_peer), (data, peer) = streams
        for closed in (denied, denied_peer):
            assert ends(closed)
        data.sendall(b"hello")
        assert peer.recv(10) == b"hello"
        other.sendto(b"hello", relayed)
        while made.socket.recv(2000) != b"\x40\x01\x00\x05hello":
            pass


def test_limits_change_while_running(make_server, client):
    server = make_server({"relay": OPEN_RELAY, "limits": {"requestsPerMinute": 5}})
    client(server).allocate()
    change(server, "relay", "limits", to={"allocationsPerUser": 1})
    change(server, "limits", "requestsPerMinute", to=1000)
    user = server.user()
    assert 429 in [user.get("/v1/me").status_code for _ in range(10)]
    assert tool(server, "reload").returncode == 0
    assert client(server).request(stun.ALLOCATE, stun.attribute(stun.TRANSPORT, b"\x11\0\0\0"))[0] == 486
    assert {user.get("/v1/me").status_code for _ in range(20)} == {200}
    refused = lambda: server_stats(server)["reasons"]["connections_refused"]
    with contextlib.ExitStack() as stack:
        connect = lambda: stack.enter_context(socket.create_connection(("127.0.0.1", server.relay_port), 5))
        for _ in range(8):
            connect()
        assert refused() == 0
        change(server, "relay", "limits", "connections", to=1)
        assert "relay.limits.connections (15000 before, 1 now)" in tool(server, "reload").stdout

        def is_refused() -> bool:
            # Those of before may have been closed meanwhile, since they have sent nothing.
            connect()
            connect()
            return refused() >= 1

        wait_until(is_refused, "one connection too many")


def served_certificate(port: int) -> bytes:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", port), 5) as plain, context.wrap_socket(plain) as secure:
        return secure.getpeercert(binary_form=True)


def test_a_renewed_certificate_is_served_after_a_reload(make_server, tmp_path):
    certificate, key = self_signed(tmp_path, "before")
    server = make_server({"http": {"certificate": str(certificate), "privateKey": str(key)}}, started=False)
    server.url = server.url.replace("http://", "https://")
    server.is_ready = lambda: "is ready" in server.log_tail()
    server.start()
    first = served_certificate(server.port)
    assert first == ssl.PEM_cert_to_DER_cert(certificate.read_text())
    other, other_key = self_signed(tmp_path, "other", "other")
    # A key that does not match the certificate changes nothing.
    key.write_text(other_key.read_text())
    assert "is not the key of the certificate" in tool(server, "reload").stderr
    assert served_certificate(server.port) == first
    certificate.write_text(other.read_text())
    assert "http.certificate (new content)" in tool(server, "reload").stdout
    assert served_certificate(server.port) == ssl.PEM_cert_to_DER_cert(other.read_text())


def test_the_relays_certificate_is_renewed_too(make_server, tmp_path):
    """On its TLS port, for new connections."""
    certificate, key = self_signed(tmp_path, "before")
    port = free_port()
    server = make_server(
        {"relay": {**OPEN_RELAY, "certificate": str(certificate), "privateKey": str(key), "tlsPorts": [port]}}
    )
    assert served_certificate(port) == ssl.PEM_cert_to_DER_cert(certificate.read_text())
    self_signed(tmp_path, "after")
    assert "relay.certificate (new content)" in tool(server, "reload").stdout
    after = ssl.PEM_cert_to_DER_cert(certificate.read_text())
    wait_until(lambda: served_certificate(port) == after, "the new certificate")
    assert tool(server, "check", "--authorities", str(certificate)).returncode == 0


def test_ports_of_tls_open_and_close_with_a_reload(make_server, client, tmp_path):
    """With the first certificate, with another list of ports, and with the loss of the last certificate."""
    certificate, key = self_signed(tmp_path)
    first, second = free_port(), free_port()
    server = make_server({"relay": {**OPEN_RELAY, "tlsPorts": [first]}})
    urls = lambda: [url for one in server.user().get("/v1/ice-servers").json()["iceServers"] for url in one["urls"]]

    def is_open(port: int) -> bool:
        with contextlib.suppress(ConnectionError):
            return served_certificate(port) == ssl.PEM_cert_to_DER_cert(certificate.read_text())
        return False

    assert not is_open(first) and not any(url.startswith("turns:") for url in urls())
    change(server, "relay", "certificate", to=str(certificate))
    change(server, "relay", "privateKey", to=str(key))
    response = tool(server, "reload").stdout
    assert "relay.certificate" in response and "restart" not in response
    assert is_open(first) and is_open(server.relay_port)
    assert f"turns:127.0.0.1:{first}?transport=tcp" in urls()
    secure = over(tls(connect(server, port=first), {"certificate": str(certificate)}), server)
    secure.allocate()
    # All or nothing: a port in use by another program leaves everything as it was.
    with socket.create_server(("127.0.0.1", second)):
        change(server, "relay", "tlsPorts", to=[second])
        change(server, "relay", "users", to={"alice": "wonderland", "bob": "builder"})
        refused = tool(server, "reload")
        assert refused.returncode != 0 and f"relay.tlsPorts: TCP port {second} on 127.0.0.1 is taken" in refused.stderr
    assert is_open(first) and not is_open(second)
    assert client(server, "bob", "builder").request(stun.ALLOCATE, ASK)[0] == 401
    # Datagrams to a closed port are lost, so its allocations end.
    datagrams = stun.Client("127.0.0.1", first, "alice", "wonderland")
    datagrams.allocate()
    allocations = lambda: server_stats(server)["allocations"]
    wait_until(lambda: allocations() == 2, "two allocations")
    assert f"relay.tlsPorts ({first} before, {second} now)" in tool(server, "reload").stdout
    wait_until(lambda: is_open(second) and not is_open(first), "the other port")
    wait_until(lambda: allocations() == 1, "one allocation less")
    assert tool(server, "check", "--authorities", str(certificate)).returncode == 0
    # Connections through a closed port continue.
    assert secure.request(stun.REFRESH)[0] == 0
    # An open port is not allowed as a peer, and a closed one is like any other.
    control, _ = allocated(server, connect(server))
    assert ask(control, "127.0.0.1", second)[0] == 403
    assert ask(control, "127.0.0.1", first)[0] == 447
    for _ in range(5):
        change(server, "relay", "tlsPorts", to=[first, second])
        tool(server, "reload")
        wait_until(lambda: is_open(first) and is_open(second), "both")
        change(server, "relay", "tlsPorts", to=[first])
        tool(server, "reload")
        wait_until(lambda: is_open(first) and not is_open(second), "one")
    change(server, "relay", "certificate")
    change(server, "relay", "privateKey")
    assert "restart" not in tool(server, "reload").stdout
    wait_until(lambda: not is_open(first), "no port of TLS")
    assert not any(url.startswith("turns:") for url in urls())
    assert secure.request(stun.REFRESH)[0] == 0
    datagrams.close()


@pytest.mark.parametrize("transport", ["udp", "tcp", "tls", "dtls"])
def test_no_packet_is_lost_while_reloading(make_server, tmp_path, transport):
    """uclient continues through dozens of reloads that replace its own password, secrets, ranges, limits and
    certificate."""
    if not shutil.which("turnutils_uclient"):
        pytest.skip("coturn's tools are not installed (apt-get install coturn)")
    certificate, key = self_signed(tmp_path, "first")
    server = make_server(
        {"relay": {**OPEN_RELAY, "certificate": str(certificate), "privateKey": str(key), "tlsPorts": [free_port()]}})
    flags = {"udp": [], "tcp": ["-t"], "tls": ["-t", "-S"], "dtls": ["-S"]}[transport]
    port_of_server = server.settings["relay"]["tlsPorts"][0] if "-S" in flags else server.relay_port
    port = free_port()
    peer = subprocess.Popen(
        ["turnutils_peer", "-L", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    process = subprocess.Popen(
        [
            "turnutils_uclient",
            *flags,
            "-p",
            str(port_of_server),
            "-u",
            "alice",
            "-w",
            "wonderland",
            "-c",
            "-n",
            "300",
            "-m",
            "4",
            "-l",
            "170",
            "-z",
            "15",
            "-r",
            str(port),
            "-e",
            "127.0.0.1",
            "-X",
            "127.0.0.1",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        # The clients have their allocations; from now on their credentials and settings are replaced.
        stats = lambda: server_stats(server)
        wait_until(lambda: stats()["allocations"] >= 4 and stats()["packets"] > 100, "four allocations that relay")
        reloads = 0
        while process.poll() is None:
            change(server, "relay", "users", to={"alice": f"password {reloads}"})
            change(server, "relay", "secrets", to=[f"secret number {reloads}"])
            change(server, "relay", "limits", to={"allocationsPerUser": 1 + reloads % 3})
            change(server, "relay", "peers", "allow", to=["127.0.0.0/8", f"10.{reloads % 256}.0.0/16"])
            self_signed(tmp_path, f"number{reloads}")
            os.kill(server.pid, signal.SIGHUP)
            wait_until(lambda: server.log.read_text().count("reloaded: ") > reloads, "a reload")
            reloads += 1
        output = process.stdout.read()
    finally:
        for one in (process, peer):
            one.kill()
            one.wait()
    assert reloads > 10
    assert re.search(r"Total lost packets 0 ", output), output[-1000:]


# Drain ----------------------------------------------------------------------------------------------------------------


ASK = stun.attribute(stun.TRANSPORT, b"\x11\0\0\0")


def test_drain_and_back_without_ending(make_server, client, echo):
    server = make_server({"relay": OPEN_RELAY})
    made = client(server)
    made.allocate()
    assert made.bind(0x4000, *echo) == 0
    assert "1 allocations are left" in tool(server, "drain").stdout
    for url in (server.url, server.admin_url):
        assert HTTP.get(url + "/readyz").status_code == 503
        assert HTTP.get(url + "/livez").status_code == 200
    assert client(server).request(stun.ALLOCATE, ASK)[0] == 508
    assert relays(made) and made.request(stun.REFRESH)[0] == 0
    assert server.user().get("/v1/me").status_code == 200
    assert tool(server, "drain", "--off").returncode == 0
    assert HTTP.get(server.url + "/readyz").status_code == 200
    client(server).allocate()


def test_relayed_calls_survive_sigterm_until_they_end(make_server, client, echo):
    server = make_server({"relay": OPEN_RELAY, "shutdown": {"drainSeconds": 600}})
    user = server.user()
    made = client(server)
    made.allocate()
    assert made.bind(0x4000, *echo) == 0
    os.kill(server.pid, signal.SIGTERM)
    wait_until(lambda: HTTP.get(server.url + "/readyz").status_code == 503, "not ready")
    assert client(server).request(stun.ALLOCATE, ASK)[0] == 508
    for _ in range(20):
        assert relays(made)
    # Hanging up needs the API.
    assert user.get("/v1/me").status_code == 200
    assert "waiting for allocations to end allocations=1" in server.log_tail()
    assert server.process.poll() is None
    assert made.request(stun.REFRESH, stun.attribute(stun.LIFETIME, bytes(4)))[0] == 0
    process, server.process = server.process, None
    assert process.wait(20) == 0


@pytest.mark.parametrize("flags", [[], ["-t"]], ids=["udp", "tcp"])
def test_no_packet_is_lost_while_draining(make_server, flags):
    """uclient completes its run after SIGTERM, and the server ends when it is done."""
    if not shutil.which("turnutils_uclient"):
        pytest.skip("coturn's tools are not installed (apt-get install coturn)")
    server = make_server({"relay": OPEN_RELAY, "shutdown": {"drainSeconds": 600}})
    port = free_port()
    peer = subprocess.Popen(
        ["turnutils_peer", "-L", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    process = subprocess.Popen(
        [
            "turnutils_uclient",
            *flags,
            "-p",
            str(server.relay_port),
            "-u",
            "alice",
            "-w",
            "wonderland",
            "-c",
            "-n",
            "150",
            "-m",
            "4",
            "-l",
            "170",
            "-z",
            "15",
            "-r",
            str(port),
            "-e",
            "127.0.0.1",
            "-X",
            "127.0.0.1",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        stats = lambda: server_stats(server)
        wait_until(lambda: stats()["allocations"] >= 4 and stats()["packets"] > 100, "four allocations that relay")
        os.kill(server.pid, signal.SIGTERM)
        output, _ = process.communicate(timeout=60)
    finally:
        for one in (process, peer):
            one.kill()
            one.wait()
    assert re.search(r"Total lost packets 0 ", output), output[-1000:]
    ended, server.process = server.process, None
    # The end of a connection ends its allocation; over UDP uclient leaves some to expire.
    if not flags:
        ended.send_signal(signal.SIGTERM)
    assert ended.wait(30) == 0


def test_draining_ends_at_its_deadline(make_server, client):
    server = make_server({"relay": OPEN_RELAY, "shutdown": {"drainSeconds": 1}})
    client(server).allocate()
    assert server.stop() == 0
    assert "the time to drain is over allocations=1" in server.log_tail()


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_does_not_wait(make_server, client, second):
    server = make_server({"relay": OPEN_RELAY, "shutdown": {"drainSeconds": 600}})
    client(server).allocate()
    os.kill(server.pid, signal.SIGTERM)
    wait_until(lambda: "waiting for allocations to end" in server.log_tail(), "draining")
    os.kill(server.pid, second)
    process, server.process = server.process, None
    assert process.wait(20) == 0


def test_reload_and_drain_need_a_server(make_server):
    server = make_server(started=False)
    server.directory.mkdir(parents=True, exist_ok=True)
    server.config.write_text(yaml.safe_dump(server.settings))
    for command in ("reload", "drain"):
        done = tool(server, command)
        assert done.returncode == 1 and "No server is running" in done.stderr
    assert not server.data.exists()


def test_clients_are_sent_elsewhere_while_draining(make_server, client):
    server = make_server({"relay": {**OPEN_RELAY, "alternateServer": ["127.0.0.1:3999"]}})
    client(server).allocate()
    tool(server, "drain")
    refused = client(server)
    error, response = refused.request(stun.ALLOCATE, ASK)
    # ALTERNATE-SERVER is not XORed (RFC 8489 section 14.15).
    assert (error, response[0x8023]) == (300, b"\x00\x01" + (3999).to_bytes(2, "big") + bytes([127, 0, 0, 1]))
    tool(server, "drain", "--off")
    client(server).allocate()


# Revocation -----------------------------------------------------------------------------------------------------------


def credentials(person, call: str | None = None) -> tuple[str, str]:
    response = person.get("/v1/ice-servers" + (f"?call={call}" if call else ""))
    assert response.status_code == 200, response.text
    return next((one["username"], one["credential"]) for one in response.json()["iceServers"] if "username" in one)


def live_allocations(server: Server) -> int:
    return server_stats(server)["allocations"]


def test_a_disabled_account_relays_nothing_from_then_on(make_server, client, echo):
    server = make_server({"relay": OPEN_RELAY})
    created = tool_input(server, "a password\n", "account", "create", "--email", "eve@example.org")
    assert created.returncode == 0, created.stderr
    signed_in = HTTP.post(server.url + "/v1/sessions", json={"email": "eve@example.org", "password": "a password"})
    eve = User(server, created.stdout.strip(), signed_in.json()["accessToken"])
    mine, yours = client(server, *credentials(eve)), client(server, *credentials(server.user()))
    for one in (mine, yours):
        one.allocate()
        assert one.bind(0x4000, *echo) == 0 and relays(one)
    held = credentials(eve)
    assert tool(server, "account", "disable", "--email", "eve@example.org").returncode == 0
    wait_until(lambda: live_allocations(server) == 1, "one allocation is left")
    assert not relays(mine, seconds=SILENCE) and mine.request(stun.REFRESH)[0] == 437
    # Unexpired credentials from before do not work either.
    assert client(server, *held).request(stun.ALLOCATE, ASK)[0] == 403
    assert relays(yours) and yours.request(stun.REFRESH)[0] == 0


def test_allocations_of_a_call_end_with_it(make_server, client, echo):
    server = make_server({"relay": OPEN_RELAY})
    calls = []
    for _ in range(2):
        ann, ben = server.users(2)
        created = ann.post(
            "/v1/calls", {"clientID": client_id(), "callees": [ben.id], "kind": "audio", "offer": {"sdp": "v=0"}}
        )
        assert created.status_code == 201, created.text
        calls.append((ann, created.json()["call"]["id"]))
    made = [client(server, *credentials(person, call)) for person, call in calls]
    for one in made:
        one.allocate()
        assert one.bind(0x4000, *echo) == 0 and relays(one)
    person, call = calls[0]
    held = credentials(person, call)
    ended = person.post(f"/v1/calls/{call}/cancel")
    assert ended.status_code == 200, ended.text
    wait_until(lambda: live_allocations(server) == 1, "the other call's allocation is left")
    assert not relays(made[0], seconds=SILENCE)
    assert client(server, *held).request(stun.ALLOCATE, ASK)[0] == 403
    assert relays(made[1]) and made[1].request(stun.REFRESH)[0] == 0


def test_uclient_is_cut_off_in_the_middle(make_server, echo):
    """A relaying client whose account is disabled receives nothing more."""
    if not shutil.which("turnutils_uclient"):
        pytest.skip("coturn's tools are not installed (apt-get install coturn)")
    server = make_server({"relay": {**OPEN_RELAY, "credentials": "open"}})
    created = tool_input(server, "a password\n", "account", "create", "--email", "eve@example.org")
    eve = User(server, created.stdout.strip(), "")
    signed_in = HTTP.post(server.url + "/v1/sessions", json={"email": "eve@example.org", "password": "a password"})
    eve.token = signed_in.json()["accessToken"]
    name, password = credentials(eve)
    process = subprocess.Popen(
        [
            "turnutils_uclient",
            "-p",
            str(server.relay_port),
            "-u",
            name,
            "-w",
            password,
            "-c",
            "-n",
            "2000",
            "-m",
            "2",
            "-l",
            "170",
            "-z",
            "20",
            "-r",
            str(echo[1]),
            "-e",
            "127.0.0.1",
            "-X",
            "127.0.0.1",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        stats = lambda: server_stats(server)
        wait_until(lambda: stats()["allocations"] >= 2 and stats()["packets"] > 100, "uclient relays")
        assert tool(server, "account", "disable", "--email", "eve@example.org").returncode == 0
        wait_until(lambda: stats()["allocations"] == 0, "its allocations end")
        relayed = stats()["packets"]
        before = stats()["reasons"]["client_without_permission"]
        wait_until(lambda: stats()["reasons"]["client_without_permission"] > before + 50, "it goes on sending")
        assert stats()["packets"] == relayed and stats()["allocations"] == 0
    finally:
        process.kill()
        process.wait()


# Check ----------------------------------------------------------------------------------------------------------------


def test_check_finds_nothing_wrong_with_a_server_that_works(make_server):
    server = make_server({"relay": {**OPEN_RELAY, "listen": ["127.0.0.1", "::1"]}})
    done = tool(server, "check")
    assert done.returncode == 0, done.stdout
    for transport in ("UDP", "TCP"):
        for host in ("127.0.0.1", "[::1]"):
            assert re.search(
                re.escape(f"{transport} {host}:{server.relay_port}: works, ") + r"\d+\.\d\d ms", done.stdout
            )
    assert "Everything works." in done.stdout
    # It released its allocations.
    wait_until(lambda: server_stats(server)["allocations"] == 0, "no allocations")


def test_check_uses_the_secret_that_the_server_made(make_server):
    server = make_server({"relay": {**OPEN_RELAY, "secrets": []}})
    assert tool(server, "check").returncode == 0


@pytest.mark.parametrize(
    "options, words",
    [
        (
            ["--relay-secrets", "another secret, long enough"],
            "refuses credentials that were signed with this configuration's secret",
        ),
        (["--relay-port", "9"], "nothing listens there. Is the server running"),
        (["--relay-listen", "127.0.0.77"], "nothing listens there"),
        (
            ["--relay-external-address", "127.0.0.99"],
            "Is relay.externalAddress (127.0.0.99) really this machine's public address",
        ),
    ],
    ids=["secret", "port", "listen", "external"],
)
def test_check_reports_errors(make_server, options, words):
    server = make_server({"relay": OPEN_RELAY})
    done = tool(server, "check", *options)
    assert done.returncode == 1
    assert words in done.stdout and "checks failed" in done.stdout


def test_check_names_a_limit_of_connections_that_is_too_low(make_server):
    server = make_server({"relay": {**OPEN_RELAY, "workers": 1, "limits": {"connections": 1}}})
    done = tool(server, "check")
    assert done.returncode == 1
    assert (
        f"TCP 127.0.0.1:{server.relay_port}: FAILS: the relay closes the connection, since relay.limits.connections (1)"
        in done.stdout
    )
    assert "Raise it to at least 2" in done.stdout
    # Connections with allocations use up the limit; silent ones are replaced.
    change(server, "relay", "limits", to={"connections": 4})
    assert tool(server, "reload").returncode == 0
    assert tool(server, "check").returncode == 0
    with contextlib.ExitStack() as stack:
        for _ in range(4):
            over(stack.enter_context(connect(server)), server).allocate()
        done = tool(server, "check")
        assert done.returncode == 1 and "relay.limits.connections (4) is reached" in done.stdout


@pytest.fixture
def secured(make_server, tmp_path):
    """Makes a server whose relay has a certificate, for TLS and DTLS on a port of their own."""
    def make(**options) -> Server:
        certificate, key = self_signed(tmp_path, "turn.example.org", **options)
        server = make_server(
            {
                "relay": {
                    **OPEN_RELAY,
                    "certificate": str(certificate),
                    "privateKey": str(key),
                    "tlsPorts": [free_port()],
                }
            }
        )
        server.certificate = str(certificate)
        return server
    return make


def test_check_goes_over_all_four_transports(secured):
    server = secured()
    done = tool(server, "check", "--authorities", server.certificate, "--name", "turn.example.org")
    assert done.returncode == 0, done.stdout
    port = server.settings["relay"]["tlsPorts"][0]
    for transport, number in (("UDP", server.relay_port), ("TCP", server.relay_port), ("TLS", port), ("DTLS", port)):
        assert f"{transport} 127.0.0.1:{number}: works, " in done.stdout


@pytest.mark.parametrize(
    "days, options, words",
    [
        ((-30, -3.5), [], "the certificate expired 3 days ago. Renew it, then `switchboard reload`"),
        ((5.5, 30), [], "the certificate is valid only in 5 days. Is the clock right?"),
        ((-1, 30), ["--name", "calls.example.org"], "is not for calls.example.org but for turn.example.org, 127.0.0.1"),
    ],
    ids=["expired", "early", "name"],
)
def test_check_reports_certificate_errors(secured, days, options, words):
    server = secured(days=days)
    done = tool(server, "check", "--authorities", server.certificate, *options)
    assert done.returncode == 1
    for transport in ("TLS", "DTLS"):
        assert re.search(rf"^{transport} \S+: FAILS: .*{re.escape(words)}", done.stdout, re.M), done.stdout
    assert re.search(r"^TCP \S+: works", done.stdout, re.M)


def test_check_warns_of_a_certificate_that_expires_soon_or_is_untrusted(secured):
    server = secured(days=(-1, 5.5))
    assert "expires in 5 days" in tool(server, "check", "--authorities", server.certificate).stdout
    untrusted = tool(server, "check")
    assert (
        untrusted.returncode == 1
        and "clients do not trust the certificate (self-signed certificate)" in untrusted.stdout
    )


def test_check_compares_the_external_address_with_the_mapped_one(make_server):
    server = make_server({"relay": OPEN_RELAY})
    done = tool(server, "check", "--stun", f"127.0.0.1:{server.relay_port}", "--relay-external-address", "127.0.0.99")
    assert done.returncode == 1
    assert "this machine is seen as 127.0.0.1, but relay.externalAddress is 127.0.0.99" in done.stdout


def test_check_while_draining_and_at_the_limit(make_server):
    server = make_server({"relay": {**OPEN_RELAY, "limits": {"allocationsPerUser": 1}}})
    assert "has too many allocations (486)" in tool(server, "check").stdout
    tool(server, "drain")
    assert "no capacity for an allocation (508): it is draining" in tool(server, "check").stdout


def test_check_tells_a_relay_that_forbids_itself(tmp_path):
    """coturn, which forbids loopback peers by default."""
    secret = "a secret of coturn"
    port = free_port()
    coturn = shutil.which("turnserver")
    if not coturn:
        pytest.skip("coturn is not installed (apt-get install coturn)")
    process = subprocess.Popen(
        [
            coturn,
            "-n",
            "--listening-ip",
            "127.0.0.1",
            "--relay-ip",
            "127.0.0.1",
            "-p",
            str(port),
            "--use-auth-secret",
            "--static-auth-secret",
            secret,
            "--realm",
            "test",
            "--no-tls",
            "--no-dtls",
            "--no-cli",
            "--log-file",
            "stdout",
        ],
        stdout=subprocess.DEVNULL,
        cwd=tmp_path,
    )
    try:
        file = tmp_path / "coturn.yaml"
        file.write_text(yaml.safe_dump({"relay": {"listen": ["127.0.0.1"], "port": port, "secrets": [secret]}}))
        check = lambda: subprocess.run(
            [str(BINARY), "check", "--config", str(file)], capture_output=True, text=True, timeout=60
        )
        wait_until(lambda: "nothing listens there" not in check().stdout, "coturn runs")
        done = check()
    finally:
        process.kill()
        process.wait()
    assert done.returncode == 1 and "forbids its own relay as a peer (403)" in done.stdout


def test_check_reports_insufficient_system_limits(make_server):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if not 0 < hard <= 1_000_000:
        pytest.skip("this system allows more descriptors than can be configured")
    server = make_server({"relay": {**OPEN_RELAY, "limits": {"allocations": hard}}})
    done = tool(server, "check")
    assert done.returncode == 0
    assert f"The system allows {hard} file descriptors" in done.stdout and "LimitNOFILE" in done.stdout
