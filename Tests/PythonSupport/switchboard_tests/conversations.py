"""Conversations and messages over REST."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from switchboard_tests.endpoint import Stream, client_id
from switchboard_tests.server import Server, User


def befriend(one: User, other: User) -> tuple[User, User]:
    """Makes two users friends, so that one can write to the other and add them to groups."""
    asked = one.post("/v1/friends", {"clientID": client_id(), "user": other.id})
    assert asked.status_code == 201, asked.text
    accepted = other.post(f"/v1/friends/{one.id}/accept")
    assert accepted.status_code == 200, accepted.text
    return one, other


def create(user: User, kind: str, members: Sequence[User] = (), name: str | None = None) -> httpx.Response:
    body: dict[str, Any] = {"clientID": client_id(), "kind": kind, "members": [one.id for one in members]}
    return user.post("/v1/conversations", body if name is None else body | {"name": name})


def direct(user: User, other: User) -> str:
    """The id of the conversation of two users."""
    made = create(user, "direct", [other])
    assert made.status_code in (200, 201), made.text
    return made.json()["conversation"]["id"]


def pair(server: Server) -> tuple[User, User, str]:
    """Two friends, and their conversation."""
    one, other = befriend(*server.users(2))
    return one, other, direct(one, other)


def group(user: User, members: Sequence[User] = (), name: str | None = None) -> str:
    """The id of a new group of the user."""
    made = create(user, "group", members, name)
    assert made.status_code == 201, made.text
    return made.json()["conversation"]["id"]


def send(user: User, conversation: str, text: str, **more: Any) -> httpx.Response:
    body = {"clientID": client_id(), "text": text} | more
    return user.post(f"/v1/conversations/{conversation}/messages", body)


def sent(user: User, conversation: str, text: str, **more: Any) -> int:
    """The number of a message that is sent."""
    response = send(user, conversation, text, **more)
    assert response.status_code == 201, response.text
    number: int = response.json()["message"]["number"]
    return number


def summary(user: User, conversation: str, **scope: Any) -> dict[str, Any]:
    response = user.post(f"/v1/conversations/{conversation}/summaries", scope)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def messages(user: User, conversation: str, **parameters: Any) -> list[dict[str, Any]]:
    """What people wrote, without notices."""
    return [one for one in everything(user, conversation, **parameters) if one["kind"] != "notice"]


def notices(user: User, conversation: str) -> list[dict[str, Any]]:
    return [one["notice"] for one in everything(user, conversation) if one["kind"] == "notice"]


def everything(user: User, conversation: str, **parameters: Any) -> list[dict[str, Any]]:
    page = user.get(f"/v1/conversations/{conversation}/messages", params={"limit": 100} | parameters)
    assert page.status_code == 200, page.text
    return page.json()["messages"]


def texts(user: User, conversation: str) -> list[str | None]:
    """The texts of the newest messages that the user sees; None for deleted ones."""
    return [message.get("text") for message in messages(user, conversation)]


def members_of(user: User, conversation: str) -> dict[str, str]:
    """The role of everybody who is in the conversation."""
    page = user.get(f"/v1/conversations/{conversation}/members")
    assert page.status_code == 200, page.text
    return {one["user"]: one["role"] for one in page.json()["members"] if one["state"] == "member"}


@dataclass
class Conversation:
    """What a client holds of a conversation: the snapshot of its stream with the rows since."""

    document: dict[str, Any]
    members: dict[str, dict[str, Any]] = field(default_factory=dict)
    messages: dict[int, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, stream: Stream) -> Conversation:
        snapshot = stream.snapshot
        held = cls(snapshot["conversation"])
        for member in snapshot["members"]:
            held.add({"member": member})
        for message in snapshot["messages"]:
            held.add({"message": message})
        for row in stream.rows:
            held.add(row)
        return held

    def add(self, row: dict[str, Any]) -> None:
        """Keeps the copy with the higher version."""
        if "conversation" in row and row["conversation"]["version"] >= self.document["version"]:
            self.document = row["conversation"]
        if "member" in row:
            known = self.members.get(row["member"]["user"])
            if known is None or known["version"] <= row["member"]["version"]:
                self.members[row["member"]["user"]] = row["member"]
        if "message" in row:
            message = self.messages.get(row["message"]["number"])
            if message is None or message["version"] <= row["message"]["version"]:
                self.messages[row["message"]["number"]] = row["message"]


def inbox(stream: Stream) -> dict[str, dict[str, Any]]:
    """The rows of an inbox, without those that are gone."""
    rows: dict[str, dict[str, Any]] = {}
    for row in stream.snapshot["conversations"] + stream.rows:
        if row["id"] not in rows or rows[row["id"]]["counter"] <= row["counter"]:
            rows[row["id"]] = row
    return {id: row for id, row in rows.items() if not row.get("gone")}


def inbox_order(rows: dict[str, dict[str, Any]]) -> list[str]:
    return sorted(rows, key=lambda id: (rows[id]["activity"], id), reverse=True)
