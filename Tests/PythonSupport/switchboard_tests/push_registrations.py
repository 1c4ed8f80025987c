"""The registrations of devices for pushes."""

from __future__ import annotations

from typing import Any, Protocol

from switchboard_tests.server import User

PATH = "/v1/me/device/push"


class Device(Protocol):
    def registration(self, **members: Any) -> dict[str, Any]: ...


def register(user: User, device: Device, **members: Any) -> None:
    body = device.registration(**members)
    response = user.request("PUT", PATH, body)
    assert response.status_code == 200, response.text
    assert response.json()["kind"] == body["kind"]


def registrations(user: User) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = user.get("/v1/me/push").json()["registrations"]
    return found


def kinds(user: User) -> list[str]:
    """Of the user's registrations."""
    return sorted(one["kind"] for one in registrations(user))
