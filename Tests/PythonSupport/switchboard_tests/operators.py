"""Operators of a server: signed in to the operator's port with a key of the scope `operator`."""

from __future__ import annotations

import functools
import uuid
from typing import Any

import httpx

from switchboard_tests.server import HTTP, Server
from switchboard_tests.server_keys import ServerKey, create


def sign_in(server: Server, key: str, **headers: str) -> httpx.Response:
    return HTTP.post(
        server.admin_url + "/admin/v1/sessions", headers={"Authorization": f"Bearer {key}"} | headers
    )


class Operator:
    """An operator with a key; the token is renewed after a restart of the server."""

    def __init__(self, server: Server, key: ServerKey | None = None) -> None:
        self.server = server
        self.key = key or create(server, "operator", name="Olga Operator")
        self.token = ""
        self.renew()

    def renew(self) -> None:
        response = sign_in(self.server, self.key.text)
        assert response.status_code == 201, response.text
        self.token = response.json()["token"]

    def request(
        self, method: str, path: str, body: dict[str, Any] | None = None, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        everything = {"Authorization": f"Bearer {self.token}"} | (headers or {})
        return HTTP.request(method, self.server.admin_url + path, json=body, headers=everything)

    def get(self, path: str) -> httpx.Response:
        return self.request("GET", path)

    def post(self, path: str, body: dict[str, Any] | None = None) -> httpx.Response:
        return self.request("POST", path, body)

    def read(self, path: str) -> dict[str, Any]:
        response = self.get(path)
        assert response.status_code == 200, response.text
        return response.json()

    def create_key(self, *scopes: str, name: str = "back end", **options: Any) -> httpx.Response:
        body = {"clientID": str(uuid.uuid4()), "name": name, "scopes": list(scopes)} | options
        return self.post("/admin/v1/keys", body)


@functools.lru_cache(maxsize=64)
def operator_of(server: Server) -> Operator:
    return Operator(server)


def server_stats(server: Server) -> dict[str, Any]:
    """What the operator's page draws: figures of the moment, and totals since the start."""
    one = operator_of(server)
    response = one.get("/admin/figures")
    if response.status_code == 401:
        one.renew()
        response = one.get("/admin/figures")
    assert response.status_code == 200, response.text
    return response.json()
