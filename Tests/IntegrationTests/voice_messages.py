"""Sending and fetching voice messages over REST."""

from __future__ import annotations

import uuid

import httpx

from conftest import HTTP, User


def send(
    sender: User, recipient: User | str, file: bytes, type: str = "audio/ogg", client_id: str | None = None, **headers: str
) -> httpx.Response:
    to = recipient if isinstance(recipient, str) else recipient.id
    return HTTP.post(
        f"{sender.server.url}/v1/voice-messages",
        params={"to": to, "clientID": client_id or str(uuid.uuid4())}, content=file,
        headers={"Authorization": f"Bearer {sender.token}", "Content-Type": type} | headers,
    )


def sent(sender: User, recipient: User, file: bytes, type: str = "audio/ogg") -> dict:
    answer = send(sender, recipient, file, type)
    assert answer.status_code == 201, answer.text
    return answer.json()["message"]


def fetch(user: User, url: str, method: str = "GET", **headers: str) -> httpx.Response:
    """As a player does it, without a token."""
    return HTTP.request(method, user.server.url + url, headers=headers)


def listed(user: User, other: User) -> list[dict]:
    answer = user.get(f"/v1/voice-messages?with={other.id}")
    assert answer.status_code == 200, answer.text
    return answer.json()["messages"]
