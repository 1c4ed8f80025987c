"""Files of JSON Lines that are imported, and the commands that import and export them."""

from __future__ import annotations

import json
import pathlib
import subprocess
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from switchboard_tests import server as servers
from switchboard_tests.server import HTTP, Server, User

# The example of github.com/firebase/scrypt.
PASSWORD = "user1password"
FIREBASE_HASH = (
    "$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,"
    "sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$"
    "42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=="
)
BEGINNING = datetime(2020, 1, 1, tzinfo=UTC)
Line = dict[str, Any]


def at(seconds: float) -> str:
    """A time of the old system."""
    return (BEGINNING + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def user(id: str, **more: Any) -> Line:
    """A user who signs in with `PASSWORD`."""
    line = {"type": "user", "id": id, "name": id.title(), "email": f"{id}@old.example"}
    return line | {"passwordHash": FIREBASE_HASH} | more


def direct(id: str, one: str, other: str) -> Line:
    return {"type": "conversation", "id": id, "kind": "direct", "members": [one, other], "createdAt": at(0)}


def group(id: str, members: Iterable[str], **more: Any) -> list[Line]:
    """A group, whose first member owns it."""
    names = list(members)
    conversation = {"type": "conversation", "id": id, "kind": "group", "name": id, "createdAt": at(0)} | more
    lines = [{"type": "member", "conversation": id, "user": name, "joinedAt": at(0)} for name in names]
    lines[0]["role"] = "owner"
    return [conversation, *lines]


def message(id: str, conversation: str, author: str, seconds: float, **more: Any) -> Line:
    line = {"type": "message", "id": id, "conversation": conversation, "author": author, "sentAt": at(seconds)}
    return line | ({} if "deletedAt" in more else {"text": f"text of {id}"}) | more


def write(path: pathlib.Path, lines: Iterable[Line | str]) -> pathlib.Path:
    with path.open("w") as file:
        for line in lines:
            file.write((line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)) + "\n")
    return path


def command(server: Server, *arguments: str | pathlib.Path) -> list[str]:
    return [str(servers.BINARY), *map(str, arguments), "--config", str(server.config)]


def run(server: Server, *arguments: str | pathlib.Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(server, *arguments), capture_output=True, text=True, timeout=900, cwd=server.directory)


def imported(server: Server, *files: pathlib.Path) -> str:
    """Imports files of the source `old`. Returns the report."""
    done = run(server, "import", *files, "--source", "old")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def signed_in(server: Server, name: str, password: str = PASSWORD) -> User:
    body = {"email": f"{name}@old.example", "password": password}
    response = HTTP.post(f"{server.url}/v1/sessions", json=body)
    assert response.status_code == 201, response.text
    return User(server, response.json()["user"]["id"], response.json()["accessToken"])


def inbox(user: User) -> list[dict[str, Any]]:
    response = user.get("/v1/inbox")
    assert response.status_code == 200, response.text
    return response.json()["conversations"]


def pages(user: User, conversation: str) -> Iterator[dict[str, Any]]:
    """All messages that the user sees, in order."""
    last, more = 0, True
    while more:
        response = user.get(
            f"/v1/conversations/{conversation}/messages", params={"after": last, "limit": 100})
        assert response.status_code == 200, response.text
        page = response.json()
        yield from page["messages"]
        more = page["hasLater"]
        last = page["range"][1] if "range" in page else last
