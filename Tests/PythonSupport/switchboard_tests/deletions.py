"""Users who sign up and are deleted, and what is left of them."""

from __future__ import annotations

import contextlib
import sqlite3
import uuid
from typing import Any

from switchboard_tests.server import HTTP, Server, User
from switchboard_tests.waiting import wait_until

PASSWORD = "correct horse battery"
# A deletion is erased within a minute.
SECONDS = 60


def credentials(name: str) -> dict[str, str]:
    return {"email": f"{name.lower()}@mail.example", "password": PASSWORD}


def sign_up(server: Server, name: str, device: str = "Phone") -> dict[str, Any]:
    body = credentials(name) | {
        "displayName": f"{name} Wintergreen", "device": {"id": str(uuid.uuid4()), "name": device, "platform": "test"},
    }
    response = HTTP.post(f"{server.url}/v1/accounts", json=body)
    assert response.status_code == 201, response.text
    return response.json()


def user(server: Server, signed_in: dict[str, Any]) -> User:
    return User(server, signed_in["user"]["id"], signed_in["accessToken"])


def delete(one: User, password: str | None = PASSWORD) -> None:
    response = one.post("/v1/me/delete", {} if password is None else {"password": password})
    assert response.status_code == 204, response.text


def erased(server: Server, count: int = 1) -> None:
    """Waits until so many erasures are done, and their remains are out of the log of the database."""
    wait_until(lambda: server.log_tail(100_000).count("a deleted account was erased") >= count, "the erasure", SECONDS)


def bytes_left(server: Server, texts: list[str]) -> list[str]:
    """Where the texts are in any file of the data directory (database, write-ahead log, media and others), or in the
    server's log.
    """
    paths = [path for path in server.data.rglob("*") if path.is_file()]
    assert any(path.name == "switchboard.sqlite" for path in paths)
    contents = {path: path.read_bytes() for path in [*paths, server.log]}
    return [
        f"{text} in {path.name}" for text in texts for path, content in contents.items() if text.encode() in content
    ]


def rows(server: Server, query: str, *values: object) -> list[tuple[Any, ...]]:
    with contextlib.closing(sqlite3.connect(f"file:{server.data}/switchboard.sqlite?mode=ro", uri=True)) as database:
        return database.execute(query, values).fetchall()
