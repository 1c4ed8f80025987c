"""A real nginx in front, as people configure it, and clients that speak HTTP/1.0, as load balancers do."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator

import httpx
import pytest
from switchboard_tests import asyncapi
from switchboard_tests.ports import free_port
from switchboard_tests.reaper import ends_with_tests
from switchboard_tests.server import HTTP, Server
from switchboard_tests.waiting import TIMEOUT, wait_until

# Without these nginx asks with HTTP/1.0, and holds responses back.
GUIDE = "proxy_http_version 1.1; proxy_buffering off;"
GZIP = "gzip on; gzip_types *; gzip_min_length 1; gzip_proxied any;"
CONFIGURATIONS = {"defaults": "", "gzip": GZIP, "1.1": "proxy_http_version 1.1;", "guide": GUIDE, "all": GUIDE + GZIP}


@contextlib.contextmanager
def nginx(server: Server, directory, options: str) -> Iterator[str]:
    """The address of an nginx in front of the server."""
    port = free_port()
    directory.mkdir()
    configuration = directory / "nginx.conf"
    user = "user root;" if os.getuid() == 0 else ""
    temporary = " ".join(
        f"{name}_temp_path {directory}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    configuration.write_text(
        f"""{user} daemon off; worker_processes 1; pid {directory}/pid; error_log stderr;
        events {{ worker_connections 64; }}
        http {{
            access_log off; {temporary}
            server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass {server.url}; {options} }} }}
        }}
        """)
    binary = shutil.which("nginx") or "/usr/sbin/nginx"
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen([binary, "-p", str(directory), "-c", str(configuration)], stdout=log, stderr=log)
    ends_with_tests(process.pid)

    def responds() -> bool:
        assert process.poll() is None, (directory / "log").read_text()
        with contextlib.suppress(httpx.TransportError):
            return HTTP.get(f"http://127.0.0.1:{port}/readyz").status_code == 200
        return False

    try:
        wait_until(responds, "nginx")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(TIMEOUT)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_events_come_at_once_through_nginx(server, tmp_path, name):
    ann = server.user()
    with nginx(server, tmp_path / "nginx", CONFIGURATIONS[name]) as url:
        with HTTP.stream(
            "POST", url + "/v1/realtime/sse", json={"token": ann.token}, headers={"Accept-Encoding": "gzip"}
        ) as response:
            assert response.status_code == 200
            assert response.headers["Content-Type"] == "text/event-stream"
            assert "no-transform" in response.headers["Cache-Control"]
            events = asyncapi.server_sent(response.iter_lines())
            session = next(events)["result"]["session"]
            # Each response comes while the stream stays open.
            for number in range(1, 4):
                posted = HTTP.post(
                    f"{url}/v1/realtime/sse/{session}", json={"id": number, "request": "calls.list"},
                    headers={"Authorization": f"Bearer {ann.token}"})
                assert posted.status_code == 202, posted.text
                assert "calls" in next(event for event in events if event.get("id") == number)["result"]
        # Others go through whole, compressed or not.
        for path in ("/docs/", "/openapi.json"):
            assert HTTP.get(url + path).content == HTTP.get(server.url + path).content


def exchanged(port: int, *requests: str) -> bytes:
    """All that a server sends until it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT) as connection:
        connection.sendall("".join(request.replace("\n", "\r\n") for request in requests).encode())
        return b"".join(iter(lambda: connection.recv(1 << 16), b""))


def parts(response: bytes) -> tuple[bytes, dict[str, str], bytes]:
    head, body = response.split(b"\r\n\r\n", 1)
    status, *lines = head.split(b"\r\n")
    headers = dict(line.decode().split(": ", 1) for line in lines)
    return status, {name.lower(): value for name, value in headers.items()}, body


def test_http_1_0(server):
    for port, path in [(server.port, "/docs/"), (server.admin_port, "/metrics"), (server.port, "/nothing")]:
        for more in ("", "Connection: keep-alive\n", "Host: example.org\n"):
            status, headers, body = parts(exchanged(port, f"GET {path} HTTP/1.0\n{more}\n"))
            assert status.split()[1] == (b"404" if path == "/nothing" else b"200"), (status, body)
            assert "transfer-encoding" not in headers
            assert headers["connection"] == "close"
            assert len(body) == int(headers["content-length"]) > 0
    # What was asked before it is answered as usual.
    both = exchanged(
        server.port, "GET /docs/ HTTP/1.1\nHost: example.org\n\n", "GET /docs/ HTTP/1.0\n\n")
    assert both.count(b"HTTP/1.1 200") == 1 and both.count(b"HTTP/1.0 200") == 1, both
    assert both.index(b"HTTP/1.1 200") < both.index(b"HTTP/1.0 200")


def test_a_stream_over_http_1_0_has_no_chunks(server):
    ann = server.user()
    body = f'{{"token": "{ann.token}"}}'
    request = f"POST /v1/realtime/sse HTTP/1.0\nContent-Length: {len(body)}\n\n{body}"
    with socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT) as connection:
        connection.sendall(request.replace("\n", "\r\n").encode())
        received = b""
        while received.count(b"\n\n") < 1 or b'"result"' not in received:
            more = connection.recv(1 << 16)
            assert more, received
            received += more
    status, headers, stream = parts(received)
    assert status.split()[1] == b"200" and headers["connection"] == "close"
    assert "transfer-encoding" not in headers and "content-length" not in headers
    assert all(
        not line or line.split(b":")[0] in (b"data", b"event", b"id", b"retry", b"") for line in stream.split(b"\n")
    ), stream
