"""Why a refresh token is refused: a client erases what it holds of a session that was ended, and keeps it after one
that has only expired."""

from __future__ import annotations

import contextlib
import sqlite3

import httpx
import pytest
from switchboard_tests.deletions import credentials, delete, sign_up, user
from switchboard_tests.server import HTTP, Server, refused

PASSWORDS = {"currentPassword": credentials("Pia")["password"], "newPassword": "another long password"}


@pytest.fixture(scope="module")
def server(make_server) -> Server:
    return make_server()


def refresh(server: Server, signed_in: dict) -> httpx.Response:
    return HTTP.post(f"{server.url}/v1/sessions/refresh", json={"refreshToken": signed_in["refreshToken"]})


def reason(server: Server, signed_in: dict, field: str | None = None) -> str:
    response = refresh(server, signed_in)
    refused(response, 401, "unauthenticated", field)
    return response.json()["reason"]


def signed_in_again(server: Server, name: str) -> dict:
    response = HTTP.post(f"{server.url}/v1/sessions", json=credentials(name))
    assert response.status_code == 201, response.text
    return response.json()


def test_who_ended_the_session(server):
    first = sign_up(server, "Pia")
    ann = user(server, first)
    second, third = signed_in_again(server, "Pia"), signed_in_again(server, "Pia")
    assert ann.request("DELETE", f"/v1/sessions/{second['session']['id']}").status_code == 204
    assert reason(server, second) == "revoked"
    assert ann.post("/v1/me/password", PASSWORDS).status_code == 204
    assert reason(server, third) == "password_changed"
    # A token that was used twice: the response to the first use has arrived, since its token was used.
    latest = refresh(server, refresh(server, first).json()).json()
    assert [reason(server, one) for one in (first, latest)] == ["reused", "reused"]


def test_signing_out_and_deletion(server):
    one, other = sign_up(server, "Quentin"), sign_up(server, "Rosa")
    assert user(server, one).request("DELETE", "/v1/sessions/current").status_code == 204
    assert reason(server, one) == "signed_out"
    delete(user(server, other))
    assert reason(server, other) == "deleted"
    assert reason(server, {"refreshToken": "made up"}, "refreshToken") == "unknown"


def test_time(server):
    one = sign_up(server, "Selma")
    server.stop()
    with contextlib.closing(sqlite3.connect(server.data / "switchboard.sqlite")) as database, database:
        database.execute("update sign_ins set expires_at = 1")
    server.start()
    assert reason(server, one) == "expired"
