"""Sending and fetching voice messages over REST."""

from __future__ import annotations

import uuid
from typing import Any

import httpx

from switchboard_tests.server import HTTP, User


def send(
    sender: User,
    recipient: User | str,
    file: bytes,
    type: str = "audio/ogg",
    client_id: str | None = None,
    **headers: str,
) -> httpx.Response:
    to = recipient if isinstance(recipient, str) else recipient.id
    return HTTP.post(
        f"{sender.server.url}/v1/voice-messages",
        params={"to": to, "clientID": client_id or str(uuid.uuid4())}, content=file,
        headers={"Authorization": f"Bearer {sender.token}", "Content-Type": type} | headers,
    )


def sent(sender: User, recipient: User, file: bytes, type: str = "audio/ogg") -> dict[str, Any]:
    response = send(sender, recipient, file, type)
    assert response.status_code == 201, response.text
    return response.json()["message"]


def fetch(user: User, url: str, method: str = "GET", **headers: str) -> httpx.Response:
    """Fetches audio like a player, without a token."""
    return HTTP.request(method, user.server.url + url, headers=headers)


def listed(user: User, other: User) -> list[dict[str, Any]]:
    response = user.get(f"/v1/voice-messages?with={other.id}")
    assert response.status_code == 200, response.text
    return response.json()["messages"]
