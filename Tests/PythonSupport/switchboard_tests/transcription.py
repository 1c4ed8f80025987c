"""Transcription providers, and transcripts of voice messages."""

from __future__ import annotations

import base64
import contextlib
import hmac
import http.server
import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from typing import Any

from switchboard_tests import scripted_recogniser
from switchboard_tests.scripted_http import form
from switchboard_tests.server import Server, User

SPEECH = [(0, "one two three four five"), (1, "six seven eight nine ten"), (0, "one two three")]
WORDS = "one two three four five"
# By pocketsphinx.
COMMAND = {"transcription": {"provider": "command"}}


def transcript(user: User, message: dict[str, Any], *statuses: str) -> dict[str, Any]:
    """A message's transcript, once it has one of these statuses."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        response = user.get(message["path"] + "/transcript")
        found = response.json()["transcript"] if response.status_code == 200 else {}
        if found.get("status") in statuses:
            return found
        time.sleep(0.05)
    raise AssertionError(f"it is never {statuses}: {found}")


class Listener(http.server.BaseHTTPRequestHandler):
    """The scripted recogniser behind an endpoint like OpenAI's. Its server keeps the texts."""

    # A server with what `serving` adds.
    server: Any

    def do_POST(self) -> None:
        fields = form(self)
        assert self.path == "/v1/audio/transcriptions" and fields["model"] == b"tiny", fields.keys()
        audio = fields["file"][44:]
        text = scripted_recogniser.recognised_text(audio)
        self.server.texts.append(text)
        seconds = len(audio) / 32_000
        response = {
            "text": text,
            "language": "english",
            "segments": [{"start": 0, "end": seconds, "text": text}] if text else [],
        }
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(response).encode())

    def log_message(self, *_: Any) -> None:
        pass


class Liar(http.server.BaseHTTPRequestHandler):
    """An endpoint like OpenAI's that behaves as its server's `mode` says."""

    # A server with `mode` and what `serving` adds.
    server: Any

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        mode = self.server.mode
        if mode == "hang":
            self.server.release.wait()
            return
        body = {
            "json": b'{"text": "one two',
            "huge": b'{"text": "' + b"a" * 20_000_000 + b'"}',
            "refuse": b'{"error": {"message": "no"}}',
            "well": json.dumps({"text": "hello there", "language": "english", "segments": [
                {"start": 0.5, "end": 1.5, "text": "hello there"}]}).encode(),
        }[mode]
        self.send_response(401 if mode == "refuse" else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


class Webhook(http.server.BaseHTTPRequestHandler):
    """A webhook that verifies both signatures of each request, rejects wrong ones, and is busy at the first.
    Its server has the `secret`, and keeps ids and client ports."""

    # A server with `secret`, `ids`, `ports` and what `serving` adds.
    server: Any
    # Connections are kept.
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.ids.append(self.headers["webhook-id"])
        self.server.ports.append(self.client_address[1])
        accepted = 503 if len(self.server.ids) == 1 else 200
        response = b'{"text": "hello there"}'
        self.send_response(accepted if self.is_signed(body) else 400)
        self.send_header("Content-Length", str(len(response)))
        self.end_headers()
        self.wfile.write(response)

    def is_signed(self, body: bytes) -> bool:
        """By Standard Webhooks 1.0, whose own library takes text alone, and by the two older headers."""
        timestamp = self.headers["webhook-timestamp"]
        key = base64.b64decode(self.server.secret.removeprefix("whsec_"))
        signed = f"{self.headers['webhook-id']}.{timestamp}.".encode() + body
        standard = base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
        older = hmac.digest(self.server.secret.encode(), f"{timestamp}.".encode() + body, "sha256").hex()
        return (
            self.headers["webhook-signature"] == f"v1,{standard}"
            and self.headers["Switchboard-Signature"] == f"v1={older}"
            and self.headers["Switchboard-Timestamp"] == timestamp
            and abs(time.time() - int(timestamp)) < 300
        )

    def log_message(self, *_: Any) -> None:
        pass


class Picky(Liar):
    """Succeeds `successes_left` times, and then behaves as its server's `mode` says."""

    def do_POST(self) -> None:
        with self.server.lock:
            self.server.requests += 1
            self.server.successes_left -= 1
            succeeds = self.server.successes_left >= 0
        if not succeeds:
            super().do_POST()
            return
        body = json.dumps({"text": "well", "segments": [{"start": 0, "end": 1, "text": "well"}]}).encode()
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def provider_calls(server: Server) -> list[tuple[Any, ...]]:
    """What hosted services were given of speech: by whom, for what, how it ended, and how many milliseconds."""
    columns = "payer, purpose, outcome, milliseconds"
    with contextlib.closing(sqlite3.connect(f"file:{server.data}/switchboard.sqlite?mode=ro", uri=True)) as database:
        return list(database.execute(f"SELECT {columns} FROM provider_calls WHERE milliseconds > 0 ORDER BY id"))


@contextlib.contextmanager
def serving(handler: type[http.server.BaseHTTPRequestHandler]) -> Iterator[Any]:
    server: Any = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.release, server.lock = threading.Event(), threading.Lock()
    server.requests, server.successes_left, server.texts = 0, 0, []
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.release.set()
        server.shutdown()


def endpoint_of(server: Any) -> dict[str, Any]:
    url = f"http://127.0.0.1:{server.server_port}/v1"
    # It is the operator's own, so nobody has to allow it.
    settings = {"provider": "openai", "url": url, "model": "tiny", "timeoutSeconds": 2, "hosted": "false"}
    return {"transcription": settings}
