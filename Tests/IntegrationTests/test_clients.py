"""Clients name themselves in their hello: the name is shown with the session, counted under a bounded number of labels,
and rejected if it is not short printable text.
"""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from switchboard_tests import asyncapi
from switchboard_tests.metrics import families, value
from switchboard_tests.rawsocket import RawSocket
from switchboard_tests.server import HTTP, Server, refused
from switchboard_tests.versions import WEB_CLIENT

WEB = {"name": "Switchboard-Web", "version": WEB_CLIENT}
LABELS = {"Switchboard-Swift", "Switchboard-Web", "other", "none"}


@pytest.fixture
def ann(server) -> dict[str, Any]:
    """Somebody who signed up: unlike tokens of the command line, theirs have a session."""
    email = f"ann-{uuid.uuid4().hex[:12]}@example.org"
    body = {"email": email, "password": "correct horse", "displayName": "Ann"}
    response = HTTP.post(server.url + "/v1/accounts", json=body)
    assert response.status_code == 201, response.text
    return response.json()


def greet(server: Server, token: str, client: Any = None) -> dict[str, Any]:
    """The response to a hello with this client, over a connection of its own; None sends no client."""
    hello = {"token": token} | ({} if client is None else {"client": client})
    with RawSocket(server.port) as socket:
        socket.send({"id": 1, "hello": hello})
        return socket.response(1)


def sessions(server: Server, token: str) -> list[dict[str, Any]]:
    response = HTTP.get(server.url + "/v1/sessions", headers={"Authorization": f"Bearer {token}"})
    assert response.status_code == 200, response.text
    return response.json()["sessions"]


def hellos(server: Server) -> dict[str, float]:
    samples = families(server)["switchboard_realtime_hellos"].samples
    return {sample.labels["client"]: sample.value for sample in samples}


def test_a_session_shows_the_client_that_connected_last(server, ann):
    token = ann["accessToken"]
    assert "client" not in sessions(server, token)[0]
    for client in (WEB, {"name": "Switchboard-Swift", "version": "2.0.0-beta.1+5"}):
        assert "result" in greet(server, token, client)
        assert sessions(server, token)[0]["client"] == client
    # One that does not name itself changes nothing.
    assert "result" in greet(server, token)
    assert sessions(server, token)[0]["client"]["name"] == "Switchboard-Swift"


def test_over_server_sent_events_too(server, ann):
    url = server.url + "/v1/realtime/sse"
    token = ann["accessToken"]
    with HTTP.stream("POST", url, json={"token": token, "client": WEB}) as response:
        assert response.status_code == 200
        assert "result" in next(asyncapi.server_sent(response.iter_lines()))
    assert sessions(server, token)[0]["client"] == WEB
    problem = refused(
        HTTP.post(url, json={"token": token, "client": {"name": "x"}}), 400, "invalid_request", "client.version"
    )
    assert "missing" in problem["detail"]


def test_the_name_outlives_a_restart(make_server):
    server = make_server()
    body = {"email": "ann@example.org", "password": "correct horse", "displayName": "Ann"}
    token = HTTP.post(server.url + "/v1/accounts", json=body).json()["accessToken"]
    assert "result" in greet(server, token, WEB)
    server.stop()
    server.start()
    assert sessions(server, token)[0]["client"] == WEB


@pytest.mark.parametrize(
    ("client", "field"),
    [
        ("Switchboard-Web", "hello.client"),
        ([], "hello.client"),
        ({}, "hello.client.name"),
        ({"name": "x"}, "hello.client.version"),
        ({"name": "", "version": "1"}, "hello.client.name"),
        ({"name": "x" * 65, "version": "1"}, "hello.client.name"),
        ({"name": "x", "version": "1" * 65}, "hello.client.version"),
        ({"name": "é", "version": "1"}, "hello.client.name"),
        ({"name": "x\n", "version": "1"}, "hello.client.name"),
        ({"name": "x", "version": "1\x7f"}, "hello.client.version"),
        ({"name": "x", "version": 1}, "hello.client.version"),
    ],
)
def test_an_invalid_name_is_an_error_that_names_the_field(server, ann, client, field):
    before = sum(hellos(server).values())
    problem = greet(server, ann["accessToken"], client)["error"]
    assert (problem["type"], problem["field"]) == ("invalid_request", field), problem
    assert "client" not in sessions(server, ann["accessToken"])[0]
    assert sum(hellos(server).values()) == before


def test_connections_are_counted_by_client_under_few_labels(server, ann):
    token = ann["accessToken"]
    before = hellos(server)
    assert set(before) == LABELS
    for client in (WEB, WEB, {"name": "Switchboard-Swift", "version": "9"}, None):
        assert "result" in greet(server, token, client)
    for number in range(20):
        assert "result" in greet(server, token, {"name": f'evil"{number}', "version": "1"})
    after = hellos(server)
    assert {label: after[label] - before[label] for label in LABELS} == {
        "Switchboard-Web": 2, "Switchboard-Swift": 1, "none": 1, "other": 20,
    }
    assert set(after) == LABELS
    assert value(server, "realtime_hellos_total", client="other") == after["other"]
    # A hello that is rejected is not counted.
    assert "error" in greet(server, "not a token", WEB)
    assert hellos(server) == after
