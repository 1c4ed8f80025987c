"""Firebase Cloud Messaging (HTTP v1) with its token endpoint, and the Android devices that it tells.

It checks every request as Google does: the assertion of the service account (RFC 7523), the access token, and the
message by the schema of its reference. What is wrong with a request is refused, and fails the test in the end.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
import secrets
import time
import urllib.parse
from contextlib import AbstractContextManager
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from switchboard_tests import app_push_service
from switchboard_tests.app_push_service import AppPushService, Refused, decode
from switchboard_tests.http2_server import Request, Response

PROJECT = "switchboard-tests"
EMAIL = f"firebase-adminsdk@{PROJECT}.iam.gserviceaccount.com"
SCOPE = "https://www.googleapis.com/auth/firebase.messaging"
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
MAX_DATA = 4_096
MAX_SECONDS = 28 * 86_400
TOKEN_SECONDS = 3_599
# Words that FCM keeps for itself.
RESERVED = re.compile(r"from|message_type|collapse_key|notification|(google|gcm).*")


def failure(status: int, name: str, message: str, *details: dict[str, Any], **headers: str) -> Response:
    """An error as Google's APIs write it."""
    error: dict[str, Any] = {"code": status, "message": message, "status": name}
    if details:
        error["details"] = list(details)
    named = {header.replace("_", "-"): value for header, value in headers.items()}
    return Response(status, json.dumps({"error": error}).encode(), {"content-type": "application/json"} | named)


def code(name: str) -> dict[str, str]:
    return {"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": name}


def violation(field: str) -> dict[str, Any]:
    return {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        "fieldViolations": [{"field": field, "description": f"Invalid value at '{field}'"}],
    }


def document(status: int, body: dict[str, Any]) -> Response:
    return Response(status, json.dumps(body).encode(), {"content-type": "application/json"})


UNREGISTERED = failure(404, "NOT_FOUND", "Requested entity was not found.", code("UNREGISTERED"))
# As the reference has it, and with the field.
NO_TOKEN = failure(
    400, "INVALID_ARGUMENT", "The registration token is not a valid FCM registration token", code("INVALID_ARGUMENT")
)
NO_TOKEN_FIELD = failure(400, "INVALID_ARGUMENT", "Invalid value", violation("message.token"))
OTHER_SENDER = failure(403, "PERMISSION_DENIED", "SenderId mismatch", code("SENDER_ID_MISMATCH"))
FORBIDDEN = failure(403, "PERMISSION_DENIED", "Permission 'cloudmessaging.messages.create' denied on resource")
INTERNAL = failure(500, "INTERNAL", "Internal error encountered.", code("INTERNAL"))
UNAVAILABLE = failure(503, "UNAVAILABLE", "The service is currently unavailable.", code("UNAVAILABLE"))
UNAUTHENTICATED = failure(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
# Of a proxy: it says nothing of the device.
NOT_FOUND = Response(404, b"<html>Not Found</html>", {"content-type": "text/html"})


def quota(**headers: str) -> Response:
    return failure(429, "RESOURCE_EXHAUSTED", "Quota exceeded", code("QUOTA_EXCEEDED"), **headers)


@dataclasses.dataclass(frozen=True)
class Push:
    """One message to a device."""

    message: dict[str, Any]
    response: Response
    connection: int
    # Seconds of time.monotonic().
    at: float

    @property
    def payload(self) -> dict[str, str]:
        data: dict[str, str] = self.message["data"]
        return data

    @property
    def android(self) -> dict[str, str]:
        found: dict[str, str] = self.message["android"]
        return found

    @property
    def seconds_to_live(self) -> float:
        return float(self.android["ttl"].rstrip("s"))

    @property
    def collapse_key(self) -> str | None:
        return self.android.get("collapse_key")


class Device(app_push_service.Device[Push]):
    def __init__(self) -> None:
        super().__init__("fcm", f"{secrets.token_urlsafe(16)}:{secrets.token_urlsafe(100)}")

    @property
    def payloads(self) -> list[dict[str, str]]:
        return [push.payload for push in self.delivered]


class FCMService(AppPushService[Device]):
    def __init__(self, directory: pathlib.Path) -> None:
        super().__init__(directory)
        # The next responses of the token endpoint.
        self.token_script: list[Response] = []
        self.token_seconds = TOKEN_SECONDS
        # The access tokens that were given, and when they expire.
        self.tokens: dict[str, float] = {}
        self.token_requests = 0
        # Of messages, of which FCM only checks some.
        self.requests = 0
        self._key = rsa.generate_private_key(65_537, 2_048)
        self._key_id = secrets.token_hex(20)
        self.credentials = directory / "service-account.json"
        self.write_credentials()

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "push": {
                "authorities": self.authorities,
                "fcm": {"credentials": str(self.credentials), "url": self.server.url},
            }
        }

    @property
    def token_url(self) -> str:
        return f"{self.server.url}/token"

    def write_credentials(self, **changes: Any) -> None:
        pem = self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        account = {
            "type": "service_account", "project_id": PROJECT, "private_key_id": self._key_id, "private_key": pem,
            "client_email": EMAIL, "client_id": "1", "token_uri": self.token_url,
        } | changes  # fmt: skip
        self.credentials.write_text(json.dumps(account))

    def device(self) -> Device:
        return self.add(Device())

    def revoke_tokens(self) -> None:
        self.tokens.clear()

    def respond(self, request: Request) -> Response:
        if request.method != "POST":
            raise Refused(Response(405), f"the method is {request.method}")
        if request.path == "/token":
            self.token_requests += 1
            return self.token_script.pop(0) if self.token_script else self._token(request)
        if request.path == f"/v1/projects/{PROJECT}/messages:send":
            self.requests += 1
            return self._send(request)
        raise Refused(NOT_FOUND, f"the path is {request.path}")

    # The token endpoint.

    def _token(self, request: Request) -> Response:
        try:
            claims = self._claims(request)
        except (KeyError, ValueError, InvalidSignature) as error:
            body = {"error": "invalid_grant", "error_description": "Invalid JWT Signature."}
            raise Refused(document(400, body), f"the assertion: {error!r}") from error
        now = time.time()
        for is_right, reason in [
            (claims.get("iss") == EMAIL, f"the issuer is {claims.get('iss')}"),
            (claims.get("scope") == SCOPE, f"the scope is {claims.get('scope')}"),
            (claims.get("aud") == self.token_url, f"the audience is {claims.get('aud')}"),
            (abs(claims.get("iat", 0) - now) < 300, f"it was issued at {claims.get('iat')}"),
            (claims.get("exp", 0) > now, "it has expired"),
            (claims.get("exp", 0) - claims.get("iat", 0) <= 3_600, "it lives too long"),
        ]:
            if not is_right:
                body = {"error": "invalid_grant", "error_description": reason}
                raise Refused(document(400, body), f"the assertion: {reason}")
        token = f"ya29.{secrets.token_urlsafe(64)}"
        self.tokens[token] = now + self.token_seconds
        return document(200, {"access_token": token, "expires_in": self.token_seconds, "token_type": "Bearer"})

    def _claims(self, request: Request) -> dict[str, Any]:
        if request.headers.get("content-type") != "application/x-www-form-urlencoded":
            raise ValueError(f"the type is {request.headers.get('content-type')}")
        form = urllib.parse.parse_qs(request.body.decode(), strict_parsing=True)
        if form["grant_type"] != [GRANT]:
            raise ValueError(f"the grant is {form['grant_type']}")
        [assertion] = form["assertion"]
        signed, signature = assertion.rsplit(".", 1)
        header, claims = (json.loads(decode(part)) for part in signed.split("."))
        if (header["alg"], header["kid"]) != ("RS256", self._key_id):
            raise ValueError(f"the header is {header}")
        self._key.public_key().verify(decode(signature), signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        found: dict[str, Any] = claims
        return found

    # Messages.

    def _send(self, request: Request) -> Response:
        if self.script:
            return self.script.pop(0)
        match = re.fullmatch("Bearer ([!-~]+)", request.headers.get("authorization", ""))
        if match is None:
            raise Refused(UNAUTHENTICATED, "there is no access token")
        if self.tokens.get(match[1], 0) <= time.time():
            # It may have been revoked: no fault of who sends it.
            return UNAUTHENTICATED
        body = self._body(request)
        if body.get("validate_only"):
            self.dry_runs += 1
        device = self.devices.get(body["message"]["token"])
        if device is None:
            return NO_TOKEN
        response = device.script.pop(0) if device.script else device.response
        if response is None:
            response = document(200, {"name": f"projects/{PROJECT}/messages/{secrets.token_hex(8)}"})
        if not body.get("validate_only"):
            device.pushes.append(Push(body["message"], response, request.connection, time.monotonic()))
        return response

    def _body(self, request: Request) -> dict[str, Any]:
        """Of `projects.messages.send`, as far as the server sends it."""
        try:
            body: dict[str, Any] = json.loads(request.body)
            message = body["message"]
            data, android = message["data"], message["android"]
            seconds = re.fullmatch(r"(\d+(?:\.\d{1,9})?)s", android["ttl"])
            size = sum(len(name.encode()) + len(value.encode()) for name, value in data.items())
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Refused(failure(400, "INVALID_ARGUMENT", "Invalid JSON"), f"the message: {error!r}") from error
        for is_right, field, reason in [
            (request.headers.get("content-type") == "application/json", "", "the type is not JSON"),
            (set(body) <= {"message", "validate_only"}, "", f"it has {set(body)}"),
            (set(message) == {"token", "data", "android"}, "message", f"it has {set(message)}"),
            (isinstance(message["token"], str), "message.token", "the token is no string"),
            (all(isinstance(value, str) for value in data.values()), "message.data", "it is not of strings"),
            (not any(RESERVED.fullmatch(name) for name in data), "message.data", f"a name is reserved: {set(data)}"),
            (size <= MAX_DATA, "message.data", f"it has {size} bytes"),
            (set(android) <= {"priority", "ttl", "collapse_key"}, "message.android", f"it has {set(android)}"),
            (android.get("priority") in ("HIGH", "NORMAL"), "message.android.priority", str(android)),
            (seconds and float(seconds[1]) <= MAX_SECONDS, "message.android.ttl", str(android)),
        ]:
            if not is_right:
                refusal = failure(400, "INVALID_ARGUMENT", f"Invalid value at '{field}'", violation(field))
                raise Refused(refusal, f"the message: {field}: {reason}")
        return body


def serving(directory: pathlib.Path) -> AbstractContextManager[FCMService]:
    return app_push_service.serving(FCMService(directory))
