"""A push service of browsers (RFC 8030), with browsers that subscribe to it.

It checks every request as real ones do (RFC 8292), decrypts it as the browser would (RFC 8291, by http-ece), and keeps
it. What is wrong with a request is refused, and fails the test in the end.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import dataclasses
import json
import re
import secrets
import threading
import time
from collections.abc import Iterator
from typing import Any

import http_ece
from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from switchboard_tests.waiting import until, wait_until

# Settings of a server whose push services may be on the loopback.
ALLOWED = {"push": {"allow": ["127.0.0.0/8"]}}

MAX_BODY = 4_096
MAX_TOKEN_SECONDS = 24 * 60 * 60
URGENCIES = {"very-low", "low", "normal", "high"}


def encode(data: bytes) -> str:
    """Base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars="-_", validate=True)


@dataclasses.dataclass(frozen=True)
class Response:
    """How a push is responded to."""

    status: int = 201
    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    body: bytes = b""


CREATED = Response()
NOT_FOUND = Response(404)
GONE = Response(410)
FAILED = Response(500)
# None, and the connection stays open.
HANG = Response(0)
# A gigabyte, unless the connection is closed before.
FLOOD = Response(201, {"Content-Length": str(1 << 30)})


def too_many(retry_after: str) -> Response:
    """With seconds, or a date."""
    return Response(429, {"Retry-After": retry_after})


@dataclasses.dataclass(frozen=True)
class Push:
    """One request, decrypted. The names of headers are in lower case."""

    headers: dict[str, str]
    # As it came.
    body: bytes
    plaintext: bytes
    # Of the VAPID token.
    claims: dict[str, Any]
    response: Response
    # Seconds of time.monotonic().
    at: float

    @property
    def payload(self) -> Any:
        return json.loads(self.plaintext)

    @property
    def kind(self) -> str:
        return str(self.payload["kind"])

    @property
    def seconds_to_live(self) -> int:
        return int(self.headers["ttl"])

    @property
    def urgency(self) -> str:
        return self.headers.get("urgency", "normal")

    @property
    def topic(self) -> str | None:
        return self.headers.get("topic")


class Subscription:
    """A browser's: its keys, and what was pushed to it."""

    def __init__(self, endpoint: str, server_key: str | None) -> None:
        self.endpoint = endpoint
        # If the browser has subscribed for one server, others are refused (RFC 8292 section 4.2).
        self.server_key = server_key
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.auth = secrets.token_bytes(16)
        # The next responses, and the one after those.
        self.script: list[Response] = []
        self.response = CREATED
        # All requests, in order, whatever their response was.
        self.pushes: list[Push] = []
        self._stored: list[Push] = []

    @property
    def keys(self) -> dict[str, str]:
        point = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return {"p256dh": encode(point), "auth": encode(self.auth)}

    def registration(self, **members: Any) -> dict[str, Any]:
        """The body of `PUT /v1/me/device/push`."""
        return {"kind": "web", "endpoint": self.endpoint, "keys": self.keys} | members

    @property
    def delivered(self) -> list[Push]:
        """What had a response of success."""
        return [push for push in list(self.pushes) if 200 <= push.response.status < 300]

    @property
    def payloads(self) -> list[Any]:
        return [push.payload for push in self.delivered]

    def collect(self) -> list[Push]:
        """What a browser gets that has been offline since it last asked: of one topic the last push (RFC 8030 section
        5.4), as long as it lives."""
        stored, self._stored = self._stored, []
        return [push for push in stored if time.monotonic() < push.at + push.seconds_to_live]

    def decrypt(self, body: bytes) -> bytes:
        """As the browser does."""
        try:
            return bytes(http_ece.decrypt(body, private_key=self.key, auth_secret=self.auth))
        except (http_ece.ECEException, InvalidTag, ValueError, IndexError, TypeError) as error:
            raise Refused(400, f"the push cannot be decrypted: {error!r}") from error

    def add(self, push: Push) -> None:
        self.pushes.append(push)
        if 200 <= push.response.status < 300:
            kept = [one for one in self._stored if push.topic is None or one.topic != push.topic]
            self._stored = [*kept, push]


class Refused(Exception):
    """A request that is wrong."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.response = Response(status, body=json.dumps({"code": status, "message": reason}).encode())


class PushService:
    """Its requests are served by a thread, so that a test may block."""

    def __init__(self) -> None:
        self.subscriptions: dict[str, Subscription] = {}
        # What was wrong with requests.
        self.faults: list[str] = []
        # So many were opened.
        self.connections = 0
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def url(self) -> str:
        """Its origin."""
        return f"http://127.0.0.1:{self.port}"

    def subscribe(self, server_key: str | None = None) -> Subscription:
        """A browser subscribes, for the server of a public key if there is one (`push.web.publicKey`)."""
        path = f"/wpush/v2/{secrets.token_urlsafe(48)}"
        subscription = Subscription(self.url + path, server_key)
        self.subscriptions[path] = subscription
        return subscription

    def redirect(self) -> Response:
        """To where nobody may go."""
        return Response(307, {"Location": f"{self.url}/redirected"})

    async def wait_for(self, count: int, subscription: Subscription) -> list[Push]:
        """The first so many pushes to a subscription, once they have come."""
        await until(f"{count} pushes", lambda: self._has(count, subscription))
        return subscription.pushes[:count]

    def wait(self, count: int, subscription: Subscription) -> list[Push]:
        """As `wait_for`, for tests that block."""
        wait_until(lambda: self._has(count, subscription), f"{count} pushes")
        return subscription.pushes[:count]

    def _has(self, count: int, subscription: Subscription) -> bool:
        assert not self.faults, self.faults
        return len(subscription.pushes) >= count

    def start(self) -> None:
        """On the port that it had before, if any."""
        if not self._thread.is_alive():
            self._thread.start()
        self._server = self._run(asyncio.start_server(self._serve, "127.0.0.1", self.port))
        self.port = self._server.sockets[0].getsockname()[1]

    def stop(self) -> None:
        """Refuses connections, and closes those that are open."""
        self._run(self._stop())

    def close(self) -> None:
        self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _stop(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            while (request := await _request(reader)) is not None:
                await _respond(writer, self._response(*request))
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            # A client that has gone, or the end of the service.
            pass
        except (ValueError, asyncio.LimitOverrunError) as error:
            self.faults.append(f"what came is no request: {error!r}")
        finally:
            self._tasks.discard(task)
            writer.close()

    def _response(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Response:
        subscription = self.subscriptions.get(path)
        try:
            if method != "POST" or subscription is None:
                raise Refused(404, f"{method} {path} is no request to a subscription")
            claims = self._verify(headers.get("authorization", ""), subscription)
            _check(headers, body)
            plaintext = subscription.decrypt(body)
        except Refused as refusal:
            self.faults.append(str(refusal))
            return refusal.response
        response = subscription.script.pop(0) if subscription.script else subscription.response
        subscription.add(Push(headers, body, plaintext, claims, response, time.monotonic()))
        return response

    def _verify(self, authorization: str, subscription: Subscription) -> dict[str, Any]:
        """Returns the claims of a VAPID token (RFC 8292 sections 2 to 4)."""
        match = re.fullmatch(r"vapid t=([\w-]+)\.([\w-]+)\.([\w-]+), ?k=([\w-]+)", authorization)
        if match is None:
            raise Refused(401, f"the authorization is {authorization!r}")
        header, claims, signature, key = match.groups()
        try:
            public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decode(key))
            raw = decode(signature)
            halves = (int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
            public.verify(encode_dss_signature(*halves), f"{header}.{claims}".encode(), ec.ECDSA(hashes.SHA256()))
            algorithm = json.loads(decode(header))["alg"]
            found: dict[str, Any] = json.loads(decode(claims))
        except (InvalidSignature, ValueError, KeyError) as error:
            raise Refused(403, f"the token is not valid: {error!r}") from error
        left = found.get("exp", 0) - time.time()
        subject = found.get("sub")
        for is_right, reason in [
            (len(raw) == 64 and algorithm == "ES256", f"the signature has {len(raw)} bytes, by {algorithm}"),
            (found.get("aud") == self.url, f"the audience is {found.get('aud')}"),
            (0 < left <= MAX_TOKEN_SECONDS, f"the token expires in {left} s"),
            (subject is None or re.match(r"mailto:.+@|https://", subject), f"the subject is {subject}"),
            (subscription.server_key in (None, key), "the subscription is for another server"),
        ]:
            if not is_right:
                raise Refused(403, reason)
        return found


async def _request(reader: asyncio.StreamReader) -> tuple[str, str, dict[str, str], bytes] | None:
    """Method, path, headers and body; None if the client has closed the connection."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode().rstrip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.strip().lower(): value.strip() for name, value in (line.split(":", 1) for line in lines)}
    return method, path, headers, await reader.readexactly(int(headers.get("content-length", 0)))


async def _respond(writer: asyncio.StreamWriter, response: Response) -> None:
    if response is HANG:
        await asyncio.Event().wait()
    headers = {"Content-Length": str(len(response.body))} | response.headers
    if response.status == 201:
        headers = {"Location": f"/message/{secrets.token_urlsafe(16)}"} | headers
    lines = [f"HTTP/1.1 {response.status} -", *(f"{name}: {value}" for name, value in headers.items())]
    writer.write("\r\n".join([*lines, "", ""]).encode() + response.body)
    if response is FLOOD:
        for _ in range(1 << 10):
            writer.write(bytes(1 << 20))
            await writer.drain()
    await writer.drain()


def _check(headers: dict[str, str], body: bytes) -> None:
    """RFC 8030 sections 5.2 to 5.4 and 7.2, RFC 8291 section 4."""
    (ttl, urgency, topic) = (headers.get(name) for name in ("ttl", "urgency", "topic"))
    record_size = int.from_bytes(body[16:20], "big")
    for is_right, status, reason in [
        (ttl is not None and re.fullmatch(r"\d{1,9}", ttl), 400, f"the TTL is {ttl}"),
        (urgency is None or urgency in URGENCIES, 400, f"the urgency is {urgency}"),
        (topic is None or re.fullmatch(r"[\w-]{1,32}", topic, re.ASCII), 400, f"the topic is {topic}"),
        (headers.get("content-encoding") == "aes128gcm", 400, f"the encoding is {headers.get('content-encoding')}"),
        (len(body) <= MAX_BODY, 413, f"the body has {len(body)} bytes"),
        (len(body) - 86 < record_size, 400, f"more than one record: {len(body)} bytes in records of {record_size}"),
    ]:
        if not is_right:
            raise Refused(status, reason)


@contextlib.contextmanager
def serving() -> Iterator[PushService]:
    """Fails in the end if a request was wrong. Who expects one clears `faults`."""
    service = PushService()
    service.start()
    try:
        yield service
        assert not service.faults, service.faults
    finally:
        service.close()
