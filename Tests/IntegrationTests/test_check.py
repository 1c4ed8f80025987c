"""`switchboard check` of HTTP, its certificate, realtime, the gateway, keys and the disk.

test_operation.py has the relay.
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator

import pytest
from switchboard_tests import metrics, namespaces
from switchboard_tests.certificates import Authority, self_signed
from switchboard_tests.ports import free_port
from switchboard_tests.server import NO_APERTIUM, Server, merged, tool
from switchboard_tests.server_keys import create
from switchboard_tests.transcription import Liar, Listener, endpoint_of
from switchboard_tests.transcription import serving as recognising
from switchboard_tests.waiting import wait_until


@pytest.fixture(scope="module")
def make_server(make_server):
    """Servers without Apertium, of which a check would try every direction."""
    return lambda settings=None, **options: make_server(merged(NO_APERTIUM, settings or {}), **options)


@pytest.fixture(scope="module")
def whole(make_server):
    server = make_server()
    yield server
    server.stop()


def check(server: Server, *options: str, code: int) -> str:
    """The lines of a check that ends with this code."""
    done = tool(server, "check", *options, timeout=110)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def line(text: str, name: str) -> str:
    """The only line that begins with a name, a space or a colon."""
    found = re.findall(rf"^{name}[ :].*$", text, re.M)
    assert len(found) == 1, text
    return found[0]


def document(server: Server, *options: str, code: int) -> dict:
    text = check(server, "--json", *options, code=code)
    assert text.count("\n") == 1, text
    return json.loads(text)


def statuses(found: dict) -> dict[str, set[str]]:
    """The statuses of each subject."""
    result: dict[str, set[str]] = {}
    for one in found["checks"]:
        result.setdefault(one["subject"], set()).add(one["status"])
    return result


def rows(server: Server) -> dict[str, list]:
    """Everything in the database."""
    with contextlib.closing(sqlite3.connect(f"file:{server.data}/switchboard.sqlite?mode=ro", uri=True)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {name: sorted(map(repr, database.execute(f'SELECT * FROM "{name}"'))) for name in tables}


# What works -----------------------------------------------------------------------------------------------------------


def test_everything_works(make_server):
    # A program for each of its thirty directions starts and translates a few words.
    server = make_server({"languages": {"apertium": True}})
    text = check(server, code=0)
    assert line(text, "Configuration").endswith(": HTTP, relay over UDP and TCP, gateway")
    assert str(server.config) in line(text, "Configuration")
    assert line(text, "Server") == "Server: works, it runs with the roles api, relay, gateway"
    assert re.fullmatch(rf"HTTP {server.url}: works, version \S+, alive and ready", line(text, "HTTP"))
    assert line(text, "Certificate").startswith("Certificate: not configured: ")
    hello = "works, {}, and a hello of an identity that is nowhere stored"
    assert line(text, "WebSocket").endswith(hello.format("a WebSocket"))
    assert line(text, "Events").endswith(hello.format("server-sent events"))
    assert re.search(
        r"Gateway: works, ICE, DTLS and \S+ with two legs, and a packet from one to the other: "
        r"\d+\.\d\d ms over UDP 127\.0\.0\.1:\d+$",
        line(text, "Gateway"),
    )
    assert f"UDP 127.0.0.1:{server.relay_port}: works, " in text
    assert line(text, "Keys") == "Keys: not configured: there are no server keys."
    assert line(text, "Webhooks") == "Webhooks: not configured: there are no webhooks."
    assert line(text, "Pushes") == "Pushes: works, browsers, of which none has registered yet"
    assert re.match(r"Translation: works, apertium, .*rus-ukr", line(text, "Translation"))
    assert line(text, "Disk").startswith("Disk: works, ")
    assert text.endswith("Everything works.\n")


def test_it_leaves_no_trace(whole):
    """No row, no leg, no allocation and no session is left."""
    server = whole
    server.users(1)
    before = rows(server)
    assert before["users"], "the test looks at the wrong tables"
    check(server, code=0)
    for name in ("gateway_legs", "gateway_calls", "realtime_sessions"):
        wait_until(lambda: metrics.value(server, name) == 0, f"{name} are 0")
    assert rows(server) == before


def test_json_has_every_check(whole):
    found = document(whole, code=0)
    # That of the loopback address that clients are given.
    assert found["status"] == "warning"
    assert statuses(found) == {
        "configuration": {"ok"}, "server": {"ok"}, "http": {"ok"}, "certificate": {"notConfigured"},
        "realtime": {"ok"}, "gateway": {"ok"}, "relay": {"warning"},
        "keys": {"notConfigured"}, "webhooks": {"notConfigured"}, "push": {"ok"},
        "translation": {"notConfigured"}, "meaning": {"notConfigured"}, "explanation": {"ok"},
        "transcription": {"notConfigured"},
        "storage": {"ok"},
    }
    assert all(one["name"] and one["detail"] and one["milliseconds"] >= 0 for one in found["checks"])
    warned = next(one for one in found["checks"] if one["status"] == "warning")
    assert "set relay.externalAddress" in warned["warnings"][0]


def test_keys_that_expire_soon_are_warnings(make_server):
    server = make_server()
    for name, expires in (("Shop", "100d"), ("Reports", "5d"), ("Import", "1h")):
        create(server, "users", expires=expires, name=name)
    gone = create(server, "users", expires="1s", name="Test")
    revoked = create(server, "users", expires="1s", name="Old")
    server.command("key", "revoke", revoked.id)
    wait_until(lambda: gone.get("/v1/server/users").status_code == 401, "an expired key")
    found = next(one for one in document(server, code=0)["checks"] if one["subject"] == "keys")
    assert (found["status"], found["detail"]) == ("warning", "4 keys")
    ends = [re.search(r"key (\w+) \(\w{16}\) (has expired|expires in [^:]+):", text) for text in found["warnings"]]
    assert [end.groups() for end in ends if end] == [
        ("Reports", "expires in 4 days"), ("Import", "expires in less than a day"), ("Test", "has expired"),
    ]
    server.stop()


@pytest.mark.parametrize(
    "role, off",
    [
        ("api,relay", {"gateway"}),
        ("api", {"gateway", "relay"}),
        ("relay", {"http", "realtime", "gateway", "push", "explanation"}),
    ],
)
def test_roles_that_are_off_are_not_configured(make_server, role, off):
    server = make_server(started=False, role=role)
    if "api" not in role:
        server.url = server.admin_url
    server.start()
    found = document(server, code=0)
    assert {subject for subject, status in statuses(found).items() if status == {"notConfigured"}} == {
        *off, "certificate", "keys", "webhooks", "translation", "meaning", "transcription"
    }
    server.stop()


def test_what_transcribes_is_tried(make_server):
    with recognising(Listener) as provider:
        server = make_server(endpoint_of(provider))
        assert line(check(server, code=0), "Transcription") == "Transcription: works, tiny, it listens to a second"
        assert provider.texts == [""]
        assert ["engine", "transcription", "tiny", "own"] in [
            text.split("\t") for text in server.command("languages", "statistics").splitlines()
        ]
        server.stop()
    with recognising(Liar) as liar:
        liar.mode = "refuse"
        server = make_server(endpoint_of(liar))
        found = line(check(server, code=1), "Transcription")
        assert found.startswith("Transcription: FAILS: tiny: The transcription provider returned status 401: "), found
        server.stop()


# What does not --------------------------------------------------------------------------------------------------------


def test_a_server_that_is_stopped(make_server):
    server = make_server()
    server.stop()
    text = check(server, code=1)
    assert "FAILS: no server listens on " in line(text, "Server") and "`switchboard serve`" in line(text, "Server")
    assert f"FAILS: nothing listens on TCP port {server.port} of 127.0.0.1. Is the server running" in text
    assert line(text, "WebSocket").endswith(f": skipped: HTTP {server.url} does not work.")
    assert line(text, "Gateway") == "Gateway: skipped: Server does not work."
    assert line(text, "Keys") == "Keys: skipped: Server does not work."
    assert f"UDP 127.0.0.1:{server.relay_port}: FAILS: " in text
    assert "checks failed. 10 checks were skipped." in text
    found = document(server, code=1)
    assert found["status"] == "failed" and statuses(found)["http"] == {"failed"}
    assert "http.port" in next(one["remedy"] for one in found["checks"] if one["subject"] == "http")


def test_an_api_that_listens_elsewhere(server):
    """The rest is tried all the same."""
    text = check(server, "--http-port", str(free_port()), code=1)
    assert "http.host and http.port" in line(text, "HTTP")
    assert ": works, " in line(text, "Gateway") and f"UDP 127.0.0.1:{server.relay_port}: works, " in text


def test_a_server_that_drains(make_server):
    server = make_server()
    assert tool(server, "drain").returncode == 0
    assert "FAILS: the server is not ready (503), since it is draining. `switchboard drain --off`" in line(
        check(server, code=1), "HTTP"
    )
    assert tool(server, "drain", "--off").returncode == 0
    check(server, code=0)


def test_a_disk_that_is_full(server):
    text = check(server, "--media-min-free-bytes", "1000000000000", code=1)
    assert "media.minFreeBytes is 1000000 MB" in line(text, "Disk") and "storage.path" in line(text, "Disk")


def test_a_firewall_that_drops_the_gateways_udp(make_server):
    namespaces.require()
    namespace = namespaces.Namespace()
    try:
        with namespace.inside():
            server = make_server({"gateway": {"port": 3480, "workers": 1}})
            assert "over UDP 127.0.0.1:3480" in line(check(server, code=0), "Gateway")
            namespace.rules(
                "table inet firewall { chain input { type filter hook input priority filter;\n"
                "udp dport 3480 drop\n}\n}"
            )
            text = check(server, code=1)
            server.stop()
    finally:
        namespace.close()
    assert line(text, "Gateway").startswith("Gateway: FAILS: no response to ICE checks over UDP 127.0.0.1:3480. ")
    assert "Open UDP port 3480 in the firewall" in text and "gateway.port" in text
    assert ": works, " in line(text, "HTTP") and "1 of " in text


# Certificates ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def make_secured(make_server):
    """Makes a server with HTTPS."""
    with contextlib.ExitStack() as stack:
        def make(settings: dict[str, str]) -> Server:
            server = make_server({"http": settings}, started=False)
            server.url = server.url.replace("http://", "https://")
            server.is_ready = lambda: "is ready" in server.log_tail()
            server.start()
            stack.callback(server.stop)
            return server
        yield make


def test_a_certificate_of_an_authority(make_secured, tmp_path):
    authority = Authority(tmp_path)
    server = make_secured(authority.issue("127.0.0.1"))
    text = check(server, "--authorities", str(authority.file), code=0)
    assert re.fullmatch(
        rf"Certificate {server.url}: works, for 127\.0\.0\.1, trusted, good for another (29|30) days",
        line(text, "Certificate"),
    )
    assert ": works, " in line(text, "HTTP") and ": works, " in line(text, "WebSocket")
    assert "FAILS: clients do not trust the certificate" in line(check(server, code=1), "Certificate")


@pytest.mark.parametrize(
    "days, trusted, options, words",
    [
        ((-1, 30), False, [], "clients do not trust the certificate (self-signed certificate). Use one of"),
        ((-30, -3.5), True, [], "the certificate expired 3 days ago. Renew it, then `switchboard reload`."),
        ((5.5, 30), True, [], "the certificate is valid only in 5 days. Is the clock right?"),
        (
            (-1, 30),
            True,
            ["--name", "calls.example.org"],
            "the certificate is not for calls.example.org but for turn.example.org",
        ),
    ],
    ids=["self-signed", "expired", "early", "name"],
)
def test_certificates_that_clients_reject(make_secured, tmp_path, days, trusted, options, words):
    certificate, key = self_signed(tmp_path, "turn.example.org", days=days)
    server = make_secured({"certificate": str(certificate), "privateKey": str(key)})
    authorities = ["--authorities", str(certificate)] if trusted else []
    text = check(server, *options, *authorities, code=1)
    assert f": FAILS: {words}" in line(text, "Certificate")
    # What is wrong with the certificate hides nothing else.
    assert ": works, " in line(text, "HTTP") and ": works, " in line(text, "WebSocket")


def test_a_certificate_that_expires_soon(make_secured, tmp_path):
    certificate, key = self_signed(tmp_path, days=(-1, 5.5))
    server = make_secured({"certificate": str(certificate), "privateKey": str(key)})
    found = document(server, "--authorities", str(certificate), code=0)
    assert found["status"] == "warning"
    one = next(one for one in found["checks"] if one["subject"] == "certificate")
    assert one["status"] == "warning" and "expires in 5 days. Renew it" in one["warnings"][0]


# Through a proxy ------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def listener(serve: Callable[[socket.socket], None]) -> Iterator[str]:
    """The URL of a server on the loopback, which handles each connection in a thread."""
    with socket.create_server(("127.0.0.1", 0)) as accepting:
        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = accepting.accept()
                    threading.Thread(target=handle, args=(connection,), daemon=True).start()

        def handle(connection: socket.socket) -> None:
            with connection, contextlib.suppress(OSError):
                serve(connection)

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{accepting.getsockname()[1]}"
        # Wakes the thread, which closing would not.
        accepting.shutdown(socket.SHUT_RDWR)


def proxy(server: Server, rewrite: Callable[[bytes], bytes] = lambda data: data):
    """A reverse proxy that rewrites what clients send."""
    def serve(client: socket.socket) -> None:
        with socket.create_connection(("127.0.0.1", server.port)) as upstream:
            def back() -> None:
                with contextlib.suppress(OSError):
                    while data := upstream.recv(65_536):
                        client.sendall(data)
                    client.shutdown(socket.SHUT_WR)

            threading.Thread(target=back, daemon=True).start()
            while data := client.recv(65_536):
                upstream.sendall(rewrite(data))
            upstream.shutdown(socket.SHUT_WR)

    return listener(serve)


def constant(response: bytes):
    """A server with the same response to everything."""
    def serve(client: socket.socket) -> None:
        client.recv(65_536)
        client.sendall(response)

    return listener(serve)


def test_a_proxy_that_passes_everything(server):
    with proxy(server) as url:
        text = check(server, "--url", url, code=0)
        assert line(text, "HTTP").startswith(f"HTTP {url}: works, ")
        assert "a hello of an identity that is nowhere stored" in line(text, "WebSocket")
        assert "a hello of an identity that is nowhere stored" in line(text, "Events")


def test_a_proxy_without_websockets(server):
    with proxy(server, lambda data: data.replace(b"Upgrade: websocket\r\n", b"")) as url:
        text = check(server, "--url", url, code=1)
    assert "FAILS: no WebSocket: /v1/realtime responds with 426. " in line(text, "WebSocket")
    assert ": works, " in line(text, "HTTP") and ": works, " in line(text, "Events")
    assert "1 of " in text


def test_a_proxy_that_leads_nowhere(server):
    with constant(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n") as url:
        text = check(server, "--url", url, code=1)
        assert "the proxy responds with 502 to /livez: it does not reach the server" in line(text, "HTTP")
        assert "skipped" in line(text, "WebSocket")
    with constant(b"HTTP/1.1 301 Moved\r\nLocation: https://calls.example.org/\r\nContent-Length: 0\r\n\r\n") as url:
        assert "is redirected to https://calls.example.org/" in line(check(server, "--url", url, code=1), "HTTP")
    with constant(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}") as url:
        text = check(server, "--url", url, code=1)
        assert "/v1/server is not the document of a Switchboard" in line(text, "HTTP")
    with constant(b"SSH-2.0-OpenSSH\r\n") as url:
        assert "the response is not HTTP" in line(check(server, "--url", url, code=1), "HTTP")


def test_a_proxy_that_leads_to_another_server(server, make_server):
    other = make_server()
    text = check(server, "--url", other.url, code=1)
    assert ": works, " in line(text, "HTTP")
    for name in ("WebSocket", "Events"):
        assert "reached another server than that of the data directory" in line(text, name)


# From another machine -------------------------------------------------------------------------------------------------


def test_from_another_machine(server):
    """Without the control socket: the hello is refused for its token, which proves the way there and back."""
    text = check(server, "--address", "127.0.0.1", "--url", server.url, code=0)
    for name in ("WebSocket", "Events"):
        assert ": works, " in line(text, name) and "the refusal of a hello without an account" in line(text, name)
    for name in ("Server", "Gateway", "Disk"):
        assert line(text, name).startswith(f"{name}: skipped: ")
    assert f"UDP 127.0.0.1:{server.relay_port}: works, " in text
    assert text.endswith("Everything that was tried works. 10 checks were skipped.\n")


@pytest.mark.parametrize("option, value", [("--url", "ftp://127.0.0.1"), ("--address", "calls.example.org")])
def test_options_that_are_not_valid(server, option, value):
    done: subprocess.CompletedProcess[str] = tool(server, "check", option, value)
    assert done.returncode == 1 and f"{option} {value} is not an" in done.stderr
