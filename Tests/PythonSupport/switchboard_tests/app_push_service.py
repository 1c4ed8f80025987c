"""What the push services of apps (`apns_service`, `fcm_service`) have in common, and the devices that they push to."""

from __future__ import annotations

import base64
import contextlib
import pathlib
from collections.abc import Iterator
from typing import Any, Generic, Protocol, TypeVar

from switchboard_tests.certificates import Authority
from switchboard_tests.http2_server import HTTP2Server, Request, Response
from switchboard_tests.waiting import wait_until


def decode(text: str) -> bytes:
    """Base64url without padding."""
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars="-_", validate=True)


class Push(Protocol):
    @property
    def response(self) -> Response: ...


AnyPush = TypeVar("AnyPush", bound=Push)
AnyDevice = TypeVar("AnyDevice", bound="Device[Any]")


class Device(Generic[AnyPush]):
    """An app on a phone: its token, and what was pushed to it."""

    def __init__(self, kind: str, token: str) -> None:
        self.kind = kind
        self.token = token
        # The next responses, and the one after those; None: that it was taken.
        self.script: list[Response] = []
        self.response: Response | None = None
        # All requests, in order, whatever their response was.
        self.pushes: list[AnyPush] = []

    def registration(self, **members: Any) -> dict[str, Any]:
        """The body of `PUT /v1/me/device/push`."""
        return {"kind": self.kind, "token": self.token} | members

    @property
    def delivered(self) -> list[AnyPush]:
        return [push for push in list(self.pushes) if self.has_taken(push)]

    def has_taken(self, push: AnyPush) -> bool:
        return push.response.status == 200


class Refused(Exception):
    """A request that is wrong."""

    def __init__(self, response: Response, reason: str) -> None:
        super().__init__(reason)
        self.response = response


class AppPushService(Generic[AnyDevice]):
    """Serves HTTP/2 with TLS; `respond` is the service."""

    def __init__(self, directory: pathlib.Path, **options: Any) -> None:
        authority = Authority(directory)
        self.authorities = str(authority.file)
        self.devices: dict[str, AnyDevice] = {}
        # What was wrong with requests.
        self.faults: list[str] = []
        # The next responses, whatever the device.
        self.script: list[Response] = []
        # Requests that check credentials, and tell nobody.
        self.dry_runs = 0
        self.server = HTTP2Server(authority.issue("127.0.0.1"), self.handle, **options)
        self.server.start()

    def add(self, device: AnyDevice) -> AnyDevice:
        self.devices[device.token] = device
        return device

    def wait(self, count: int, device: Device[AnyPush]) -> list[AnyPush]:
        """The first so many pushes to a device, once they have come."""

        def has_come() -> bool:
            self.check()
            return len(device.pushes) >= count

        wait_until(has_come, f"{count} pushes")
        return device.pushes[:count]

    def check(self) -> None:
        assert not self.faults + self.server.faults, self.faults + self.server.faults

    def handle(self, request: Request) -> Response:
        try:
            return self.respond(request)
        except Refused as refusal:
            self.faults.append(str(refusal))
            return refusal.response

    def respond(self, request: Request) -> Response:
        """May raise `Refused`."""
        raise NotImplementedError


AnyService = TypeVar("AnyService", bound=AppPushService[Any])


@contextlib.contextmanager
def serving(service: AnyService) -> Iterator[AnyService]:
    """Fails in the end if a request was wrong. Who expects one clears `faults`."""
    try:
        yield service
        service.check()
    finally:
        service.server.close()
