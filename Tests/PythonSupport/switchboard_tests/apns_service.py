"""Apple's push service (APNs), and the devices that it tells.

It checks every request as Apple does: the token of the provider, headers, sizes, and what a push of PushKit may be.
What is wrong with a request is refused, and fails the test in the end.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
import secrets
import time
from contextlib import AbstractContextManager
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from switchboard_tests import app_push_service
from switchboard_tests.app_push_service import AppPushService, Refused, decode
from switchboard_tests.http2_server import Request, Response

KEY_ID = "ABC123DEFG"
TEAM = "DEF123GHIJ"
TOPIC = "org.example.switchboard"
TOKEN_SECONDS = 3_600
NAMES = {
    "authorization", "apns-topic", "apns-push-type", "apns-priority", "apns-expiration", "apns-collapse-id",
    "content-type", "content-length", "user-agent", ":scheme", ":authority",
}  # fmt: skip


def failure(status: int, reason: str, **members: Any) -> Response:
    return Response(status, json.dumps({"reason": reason} | members).encode(), {"content-type": "application/json"})


TAKEN = Response(200)
BAD_TOKEN = failure(400, "BadDeviceToken")
UNREGISTERED = failure(410, "Unregistered", timestamp=1_700_000_000_000)
EXPIRED_TOKEN = failure(410, "ExpiredToken", timestamp=1_700_000_000_000)
OTHER_TOPIC = failure(400, "DeviceTokenNotForTopic")
EXPIRED_PROVIDER = failure(403, "ExpiredProviderToken")
INVALID_PROVIDER = failure(403, "InvalidProviderToken")
TOO_MANY = failure(429, "TooManyRequests")
INTERNAL = failure(500, "InternalServerError")
UNAVAILABLE = failure(503, "ServiceUnavailable")


@dataclasses.dataclass(frozen=True)
class Push:
    is_sandbox: bool
    headers: dict[str, str]
    payload: dict[str, Any]
    response: Response
    connection: int
    # Seconds of time.monotonic().
    at: float

    @property
    def aps(self) -> dict[str, Any]:
        found: dict[str, Any] = self.payload["aps"]
        return found


class Device(app_push_service.Device[Push]):
    def __init__(self, kind: str) -> None:
        super().__init__(kind, secrets.token_hex(32))

    def has_taken(self, push: Push) -> bool:
        return push.response == TAKEN


class APNsService(AppPushService[Device]):
    def __init__(self, directory: pathlib.Path) -> None:
        # Apple permits one stream until it knows who sends.
        super().__init__(directory, first_streams=1)
        # The provider's tokens that were seen.
        self.tokens: set[str] = set()
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.key_file = directory / f"AuthKey_{KEY_ID}.p8"
        self.key_file.write_bytes(self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "push": {
                "authorities": self.authorities,
                "apns": {
                    "key": str(self.key_file), "keyID": KEY_ID, "team": TEAM, "topic": TOPIC, "url": self.server.url,
                    "sandboxURL": f"{self.server.url}/sandbox",
                },
            }
        }  # fmt: skip

    def device(self, kind: str = "apns") -> Device:
        return self.add(Device(kind))

    def respond(self, request: Request) -> Response:
        match = re.fullmatch(r"(/sandbox)?/3/device/([0-9a-f]{2,200})", request.path)
        if match is None or request.method != "POST":
            raise Refused(failure(404, "BadPath"), f"the request is {request.method} {request.path}")
        self._verify(request.headers.get("authorization", ""))
        device = self.devices.get(match[2])
        payload = self._payload(request, is_voip=device is not None and device.kind == "apnsVoIP")
        if self.script:
            return self.script.pop(0)
        if device is None:
            self.dry_runs += 1
            return BAD_TOKEN
        response = device.script.pop(0) if device.script else device.response or TAKEN
        is_sandbox = match[1] is not None
        push = Push(is_sandbox, request.headers, payload, response, request.connection, time.monotonic())
        device.pushes.append(push)
        return response

    def _verify(self, authorization: str) -> None:
        try:
            scheme, token = authorization.split(" ")
            signed, signature = token.rsplit(".", 1)
            header, claims = (json.loads(decode(part)) for part in signed.split("."))
            raw = decode(signature)
            halves = (int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
            self._key.public_key().verify(encode_dss_signature(*halves), signed.encode(), ec.ECDSA(hashes.SHA256()))
            age = time.time() - claims["iat"]
        except (ValueError, KeyError, InvalidSignature) as error:
            raise Refused(INVALID_PROVIDER, f"the authorization is {authorization!r}: {error!r}") from error
        if (scheme.lower(), header, claims["iss"], len(raw)) != ("bearer", {"alg": "ES256", "kid": KEY_ID}, TEAM, 64):
            raise Refused(INVALID_PROVIDER, f"the token is {header} {claims}")
        if not -60 < age < TOKEN_SECONDS:
            raise Refused(EXPIRED_PROVIDER, f"the token is {age} s old")
        self.tokens.add(token)

    def _payload(self, request: Request, is_voip: bool) -> dict[str, Any]:
        headers, limit = request.headers, 5_120 if is_voip else 4_096
        topic = f"{TOPIC}.voip" if is_voip else TOPIC
        try:
            payload: dict[str, Any] = json.loads(request.body)
            aps = payload["aps"]
        except (ValueError, KeyError) as error:
            raise Refused(failure(400, "BadPayload"), f"the payload: {error!r}") from error
        left = int(headers.get("apns-expiration", "-1")) - time.time()
        for is_right, reason, what in [
            (set(headers) <= NAMES, "BadHeader", str(set(headers) - NAMES)),
            (headers.get("apns-topic") == topic, "BadTopic", headers.get("apns-topic")),
            (headers.get("apns-push-type") == ("voip" if is_voip else "alert"), "InvalidPushType", str(headers)),
            (headers.get("apns-priority") in ("5", "10"), "BadPriority", headers.get("apns-priority")),
            (-60 < left <= 30 * 86_400, "BadExpirationDate", f"{left} s"),
            (len(headers.get("apns-collapse-id", "").encode()) <= 64, "BadCollapseId", headers.get("apns-collapse-id")),
            (len(request.body) <= limit, "PayloadTooLarge", f"{len(request.body)} bytes"),
            # iOS ends an app that does not ring.
            (not is_voip or payload["kind"] == "ring", "BadPayload", f"PushKit got {payload.get('kind')}"),
            (is_voip or set(aps["alert"]) <= {"title", "body"}, "BadPayload", str(aps)),
        ]:
            if not is_right:
                raise Refused(failure(413 if reason == "PayloadTooLarge" else 400, reason), f"{reason}: {what}")
        return payload


def serving(directory: pathlib.Path) -> AbstractContextManager[APNsService]:
    return app_push_service.serving(APNsService(directory))
