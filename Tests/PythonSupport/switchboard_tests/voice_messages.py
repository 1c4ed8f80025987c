"""Sending and fetching voice messages over REST: a file is uploaded, and sent to a conversation."""

from __future__ import annotations

import uuid
from typing import Any

import httpx

from switchboard_tests.server import HTTP, User


def upload(
    user: User, file: Any, type: str = "audio/ogg", client_id: str | None = None, **headers: str
) -> httpx.Response:
    return HTTP.post(
        f"{user.server.url}/v1/voice-files", params={"clientID": client_id or str(uuid.uuid4())}, content=file,
        headers={"Authorization": f"Bearer {user.token}", "Content-Type": type} | headers,
    )


def uploaded(user: User, file: bytes, type: str = "audio/ogg") -> dict[str, Any]:
    response = upload(user, file, type)
    assert response.status_code == 201, response.text
    return response.json()["file"]


def conversation(user: User, other: User) -> str:
    """The conversation of two people, of which both are members."""
    body = {"clientID": str(uuid.uuid4()), "kind": "direct", "members": [other.id]}
    response = user.post("/v1/conversations", body)
    assert response.status_code in (200, 201), response.text
    id = response.json()["conversation"]["id"]
    if response.json()["conversation"]["members"] < 2:
        accepted = other.post(f"/v1/conversations/{id}/members/me/accept", {})
        assert accepted.status_code == 200, accepted.text
    return id


def send_file(
    user: User, conversation: str, file: str, client_id: str | None = None, **members: Any
) -> httpx.Response:
    body = {"clientID": client_id or str(uuid.uuid4()), "kind": "voice", "file": file} | members
    return user.post(f"/v1/conversations/{conversation}/messages", body)


def send(
    sender: User, recipient: User, file: Any, type: str = "audio/ogg", client_id: str | None = None, **headers: str
) -> httpx.Response:
    """Uploads the file and sends it, both with the client id. The response is the first one that is an error."""
    client_id = client_id or str(uuid.uuid4())
    response = upload(sender, file, type, client_id, **headers)
    if response.is_error:
        return response
    return send_file(sender, conversation(sender, recipient), response.json()["file"]["id"], client_id)


def sent(sender: User, recipient: User, file: bytes, type: str = "audio/ogg") -> dict[str, Any]:
    response = send(sender, recipient, file, type)
    assert response.status_code == 201, response.text
    return shown(sender, response.json()["message"])


def path_of(message: dict[str, Any]) -> str:
    return f"/v1/conversations/{message['conversation']}/messages/{message['number']}"


def shown(user: User, message: dict[str, Any]) -> dict[str, Any]:
    """The sound of a message, with its `path` and a link to its `audio`."""
    audio = user.get(path_of(message) + "/audio")
    assert audio.status_code == 200, audio.text
    return message["voice"] | {"path": path_of(message), "message": message} | audio.json()


def fetch(user: User, url: str, method: str = "GET", **headers: str) -> httpx.Response:
    """Fetches audio like a player, without a token."""
    return HTTP.request(method, user.server.url + url, headers=headers)


def listed(user: User, other: User) -> list[dict[str, Any]]:
    """The voice messages with another, the newest first."""
    response = user.get(f"/v1/conversations/{conversation(user, other)}/messages?limit=100")
    assert response.status_code == 200, response.text
    found = [one for one in response.json()["messages"] if one["kind"] == "voice" and "deletedAt" not in one]
    return [shown(user, one) for one in reversed(found)]
