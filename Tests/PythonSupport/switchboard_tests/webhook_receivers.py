"""HTTP servers that receive webhooks, well or badly."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook

from switchboard_tests.ports import free_port
from switchboard_tests.server import Server

# Settings of a server whose webhooks may be on the loopback.
ALLOWED = {"webhooks": {"allow": ["127.0.0.0/8"]}}


class Received:
    """One request."""

    def __init__(self, headers: dict[str, str], body: bytes) -> None:
        self.headers = headers
        self.body = body
        self.id = headers.get("webhook-id", "")
        self.payload: dict[str, Any] = json.loads(body)
        self.type: str = self.payload["type"]
        self.data: dict[str, Any] = self.payload["data"]

    def verify(self, secret: str) -> None:
        """Throws unless the message is signed with the secret, and new."""
        assert Webhook(secret).verify(self.body, self.headers) == self.payload


class Receiver:
    """Keeps what it receives, and responds as `respond` does: with a status, or by itself (None)."""

    def __init__(self, respond: Callable[[BaseHTTPRequestHandler, Received], int | None] | None = None) -> None:
        self.port = free_port()
        self.respond = respond or (lambda handler, received: 204)
        self.received: list[Received] = []
        self.stopped = threading.Event()
        self.lock = threading.Lock()
        self.server: ThreadingHTTPServer | None = None
        self.connections: set[socket.socket] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hooks"

    @property
    def ids(self) -> list[str]:
        with self.lock:
            return [one.id for one in self.received]

    def of(self, type: str) -> list[Received]:
        with self.lock:
            return [one for one in self.received if one.type == type]

    def start(self) -> Receiver:
        receiver = self
        self.stopped.clear()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                with receiver.lock:
                    receiver.connections.add(self.connection)

            def finish(self) -> None:
                with receiver.lock:
                    receiver.connections.discard(self.connection)
                with contextlib.suppress(OSError):
                    super().finish()

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                received = Received({name.lower(): value for name, value in self.headers.items()}, body)
                with receiver.lock:
                    receiver.received.append(received)
                with contextlib.suppress(OSError):
                    status = receiver.respond(self, received)
                    if status is None:
                        self.close_connection = True
                        return
                    self.send_response(status)
                    self.send_header("Content-Length", "0")
                    self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        class Threads(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, request: Any, client_address: Any) -> None:
                # Connections that a killed server leaves.
                pass

        self.server = Threads(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def stop(self) -> None:
        self.stopped.set()
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()
            self.server = None
        with self.lock:
            for connection in self.connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def silence(self, handler: BaseHTTPRequestHandler, received: Received) -> None:
        """Never responds."""
        self.stopped.wait(120)

    def flood(self, handler: BaseHTTPRequestHandler, received: Received) -> None:
        """Responds with a gigabyte, unless the connection is closed before."""
        handler.send_response(200)
        handler.send_header("Content-Length", str(1 << 30))
        handler.end_headers()
        for _ in range(1 << 10):
            handler.wfile.write(bytes(1 << 20))


@contextlib.contextmanager
def receiving(
    respond: Callable[[BaseHTTPRequestHandler, Received], int | None] | None = None,
) -> Iterator[Receiver]:
    receiver = Receiver(respond).start()
    try:
        yield receiver
    finally:
        receiver.stop()


def add(server: Server, url: str | None, *events: str, name: str | None = None) -> tuple[str, str]:
    """Adds a webhook; returns its id and its secret, which a puller has not."""
    options = [word for event in events for word in ("--event", event)]
    options += ["--url", url] if url else []
    options += ["--name", name] if name else []
    lines = server.command("webhook", "add", *options).split()
    return lines[0], lines[1] if url else ""
