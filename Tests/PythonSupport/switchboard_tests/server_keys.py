"""Server keys, as an app's own back end has them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from typing import Any

import httpx

from switchboard_tests.server import HTTP, Server, User

SCOPES = (
    "users", "tokens", "calls:read", "calls:write", "conversations:read", "conversations:write", "recordings", "events",
    "operator",
)


class ServerKey:
    def __init__(self, server: Server, text: str) -> None:
        self.server = server
        self.text = text
        self.id = text.split("_")[1]

    def request(
        self, method: str, path: str, body: dict[str, Any] | None = None, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        everything = {"Authorization": f"Bearer {self.text}"} | (headers or {})
        return HTTP.request(method, self.server.url + path, json=body, headers=everything)

    def get(self, path: str) -> httpx.Response:
        return self.request("GET", path)

    def post(self, path: str, body: dict[str, Any] | None = None) -> httpx.Response:
        return self.request("POST", path, body)

    def put_user(self, ext: str, name: str = "Somebody") -> dict[str, Any]:
        response = self.request("PUT", f"/v1/server/users/ext:{ext}", {"displayName": name})
        assert response.status_code in (200, 201), response.text
        return response.json()["user"]

    def token(self, user: str, device: str | None = None, **options: Any) -> dict[str, Any]:
        claim = {"id": device or str(uuid.uuid4()), "name": "Phone", "platform": "test"}
        response = self.post(f"/v1/server/users/{user}/tokens", {"device": claim, **options})
        assert response.status_code == 201, response.text
        return response.json()

    def user(self, ext: str) -> User:
        """A user of the app, with a token that this key issued."""
        made = self.put_user(ext, f"User {ext}")
        return User(self.server, made["id"], self.token(f"ext:{ext}")["accessToken"])


def create(
    server: Server, *scopes: str, expires: str | None = None, addresses: Sequence[str] = (), name: str = "back end"
) -> ServerKey:
    """Creates a key with `switchboard key create`; with every scope by default."""
    options = [word for scope in scopes or SCOPES for word in ("--scope", scope)]
    options += [word for address in addresses for word in ("--address", address)]
    if expires:
        options += ["--expires", expires]
    return ServerKey(server, server.command("key", "create", "--name", name, *options).strip())


def audit(server: Server) -> list[dict[str, Any]]:
    """The audit log of the last day, the oldest entry first."""
    lines = server.command("audit", "--json", "--since", "1d").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def listed(server: Server) -> dict[str, list[str]]:
    """The columns of `switchboard key list`, by id."""
    rows = [line.split("\t") for line in server.command("key", "list").splitlines()]
    return {row[0]: row for row in rows}
