"""A small HTTP server of this process, for what responds as a test says."""

from __future__ import annotations

import contextlib
import email.parser
import http.server
import threading
from collections.abc import Iterator
from typing import Any


class Handler(http.server.BaseHTTPRequestHandler):
    """It logs nothing, and whoever has gone is not responded to."""

    def respond(self, status: int, body: bytes, **headers: str) -> None:
        """With headers whose names are written with `_`."""
        with contextlib.suppress(OSError):
            self.send_response(status)
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            for name, value in ({"Content-Length": str(len(body))} | named).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def serving(handler: type[http.server.BaseHTTPRequestHandler]) -> Iterator[str]:
    """The server's address, such as http://127.0.0.1:4711."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def form(request: http.server.BaseHTTPRequestHandler) -> dict[str, Any]:
    """The fields of a request of `multipart/form-data`, as bytes."""
    body = request.rfile.read(int(request.headers["Content-Length"]))
    head = b"Content-Type: " + request.headers["Content-Type"].encode() + b"\r\n\r\n"
    parsed: Any = email.parser.BytesParser().parsebytes(head + body)
    return {
        part.get_param("name", header="content-disposition"): part.get_payload(decode=True)
        for part in parsed.get_payload()
    }
