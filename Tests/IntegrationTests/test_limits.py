"""Limits apply before any work: too many requests cause no database access, signature check or decoding, over any
transport."""

from __future__ import annotations

import contextlib
import json
import socket
import sqlite3
import ssl
import struct
import uuid

import pytest
from switchboard_tests.certificates import self_signed
from switchboard_tests.endpoint import client_id
from switchboard_tests.rawsocket import RawSocket
from switchboard_tests.server import HTTP
from switchboard_tests.waiting import TIMEOUT

PER_MINUTE = 6
PER_ADDRESS = 20 * PER_MINUTE


@pytest.fixture
def strict(make_server):
    server = make_server({"limits": {"requestsPerMinute": PER_MINUTE}})
    yield server
    server.stop()


def rows(server, query: str) -> int:
    with sqlite3.connect(server.data / "switchboard.sqlite") as database:
        return database.execute(query).fetchone()[0]


def test_endpoints_are_made_only_for_requests_that_are_admitted(strict):
    user = strict.user()
    statuses = []
    for _ in range(30):
        user.endpoint = str(uuid.uuid4())
        statuses.append(user.get("/v1/me").status_code)
    assert statuses.count(200) <= PER_MINUTE + 1
    assert rows(strict, "SELECT count(*) FROM endpoints") == statuses.count(200)


def test_a_user_has_sixty_four_endpoints(make_server):
    server = make_server()
    user = server.user()
    for _ in range(70):
        user.endpoint = str(uuid.uuid4())
        assert user.get("/v1/me").status_code == 200
    assert rows(server, "SELECT count(*) FROM endpoints") == 64
    server.stop()


def rest(server, token):
    return HTTP.get(server.url + "/v1/me", headers={"Authorization": f"Bearer {token}"}).status_code


def media(server, token):
    query = {"user": str(uuid.uuid4()), "expires": 1, "signature": token}
    return HTTP.get(f"{server.url}/v1/media/{uuid.uuid4()}", params=query).status_code


def events(server, token):
    return HTTP.post(server.url + "/v1/realtime/sse", json={"token": token}).status_code


def post(server, token):
    return HTTP.post(
        f"{server.url}/v1/realtime/sse/{uuid.uuid4()}", json={}, headers={"Authorization": f"Bearer {token}"}
    ).status_code


def hello(server, token):
    with RawSocket(server.port) as client:
        client.send({"id": 1, "hello": {"token": token}})
        return client.response(1)["error"]["status"]


@pytest.mark.parametrize("attempt", [rest, media, events, post, hello])
def test_wrong_credentials_are_checked_only_so_often_for_an_address(strict, attempt):
    wrong = 403 if attempt is media else 401
    statuses = [attempt(strict, "wrong") for _ in range(PER_ADDRESS - 1)]
    assert statuses == [wrong] * (PER_ADDRESS - 1)
    # The bucket fills again meanwhile, two a second, which is slower than any machine asks.
    for _ in range(2 * PER_ADDRESS):
        if attempt(strict, "wrong") == 429:
            return
    pytest.fail("never limited")


def test_rest_and_realtime_share_the_bucket_of_their_user(strict):
    user = strict.user()
    while user.get("/v1/me").status_code != 429:
        pass
    refused = HTTP.post(strict.url + "/v1/realtime/sse", json={"token": user.token})
    assert refused.status_code == 429 and int(refused.headers["Retry-After"]) >= 1
    assert post(strict, user.token) == 429
    with RawSocket(strict.port) as client:
        client.send({"id": 1, "hello": {"token": user.token}})
        assert client.response(1)["error"]["type"] == "rate_limited"
        assert client.message()["bye"]["code"] == 4029
        assert client.close_code() == 4029


def test_requests_of_a_session_are_counted_before_they_are_decoded(strict):
    user = strict.user()
    with RawSocket(strict.port) as client:
        client.hello(user)
        kinds = []
        for number in range(2, 22):
            client.send({"id": number, "request": "me.get", "params": {"call": ["no text"], "filler": "x" * 100_000}})
            kinds.append(client.response(number).get("error", {}).get("type"))
    assert kinds[-1] == "rate_limited"


def test_listening_and_ceasing_are_requests(strict):
    user = strict.user()
    with RawSocket(strict.port) as client:
        client.hello(user)
        kinds = {"listen": [], "unlisten": []}
        for number in range(2, 22):
            name = "unlisten" if number % 2 else "listen"
            client.send({"id": number, name: {"stream": f"inbox:{user.id}"}})
            kinds[name].append(client.response(number).get("error", {}).get("type"))
    assert kinds["listen"][0] is None and kinds["listen"][-1] == "rate_limited"
    # Ceasing is cheap, and is always done.
    assert kinds["unlisten"] == [None] * 10
    assert user.get("/v1/me").status_code == 429


def test_a_hello_counts_for_what_it_resumes(strict):
    for resumed, status in (0, 200), (8 * PER_MINUTE, 429):
        user = strict.user()
        with RawSocket(strict.port) as client:
            streams = {f"call:{uuid.uuid4()}": ["e", 1] for _ in range(resumed)}
            assert client.hello(user, resume=streams)["session"]
        assert user.get("/v1/me").status_code == status, resumed


def test_a_glossary_counts_as_three_translations(make_server):
    """Over REST and in a session; and once where fewer than three are allowed."""
    for per_minute, allowed in (12, 4), (2, 1):
        server = make_server({"limits": {"translationsPerMinute": per_minute}})
        user = server.user()
        here = user.post("/v1/conversations", {"clientID": client_id(), "kind": "group", "name": "x", "members": []})
        conversation = here.json()["conversation"]["id"]
        with RawSocket(server.port) as client:
            client.hello(user)
            kinds = []
            for number in range(2, 3 + allowed):
                params = {"conversation": conversation, "terms": []}
                client.send({"id": number, "request": "glossary.set", "params": params})
                kinds.append(client.response(number).get("error", {}).get("type"))
        assert kinds == [None] * allowed + ["rate_limited"]
        refused = user.request("PUT", f"/v1/conversations/{conversation}/glossary", {"terms": []})
        assert refused.status_code == 429 and int(refused.headers["Retry-After"]) >= 1
        server.stop()


def test_so_many_sign_ups_an_hour_and_no_more(make_server):
    server = make_server({"accounts": {"signUpsPerHour": 5}})
    statuses = []
    for _ in range(12):
        account = {"email": f"{uuid.uuid4()}@example.org", "password": "correct horse battery", "displayName": "Ann"}
        statuses.append(
            HTTP.post(
                server.url + "/v1/accounts", content=json.dumps(account), headers={"Content-Type": "application/json"}
            ).status_code
        )
    assert statuses == [201] * 5 + [429] * 7
    server.stop()


def from_proxy(client: str) -> dict[str, str]:
    return {"X-Forwarded-For": f"6.6.6.6, {client}"}


def sign_in(server, email: str, password: str, client: str) -> int:
    body = {"email": email, "password": password}
    return HTTP.post(server.url + "/v1/sessions", json=body, headers=from_proxy(client)).status_code


def account(server, client: str) -> tuple[int, str]:
    body = {"email": f"{uuid.uuid4()}@example.org", "password": "correct horse battery", "displayName": "Ann"}
    response = HTTP.post(server.url + "/v1/accounts", json=body, headers=from_proxy(client))
    return response.status_code, body["email"]


def test_clients_behind_a_trusted_proxy_are_counted_by_their_own_address(make_server):
    server = make_server(
        {
            "http": {"trustedProxies": ["127.0.0.1"], "forwardedHeader": "x-forwarded-for"},
            "accounts": {"signUpsPerHour": 2},
        }
    )
    made = [account(server, f"203.0.113.{number}") for number in range(1, 11)]
    assert [status for status, _ in made] == [201] * 10
    assert [account(server, "203.0.113.1")[0] for _ in range(2)] == [201, 429]
    # An IPv6 client has a whole /64.
    assert [account(server, f"2001:db8::{number}")[0] for number in range(1, 4)] == [201, 201, 429]
    assert account(server, "2001:db8:0:1::1")[0] == 201
    # Guessing passwords from one address does not affect other addresses, nor correct passwords from them.
    for _, email in made:
        for _ in range(3):
            assert sign_in(server, email, "wrong horse", "198.51.100.66") in (401, 429)
    assert [
        sign_in(server, email, "correct horse battery", f"198.51.100.{number}")
        for number, (_, email) in enumerate(made)
    ] == [201] * 10
    server.stop()


def test_untrusted_forwarding_headers_are_ignored(make_server):
    server = make_server(
        {
            "http": {"trustedProxies": ["192.0.2.1"], "forwardedHeader": "x-forwarded-for"},
            "accounts": {"signUpsPerHour": 1},
        }
    )
    assert [account(server, f"203.0.113.{number}")[0] for number in range(3)] == [201, 429, 429]
    server.stop()


def test_connections_of_an_address_are_bounded(make_server):
    server = make_server({"http": {"limits": {"connectionsPerAddress": 4}}})

    def connect(source: str) -> socket.socket:
        return socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT, source_address=(source, 0))

    with contextlib.ExitStack() as stack:
        def is_served(client: socket.socket) -> bool:
            with contextlib.suppress(ConnectionError):
                client.sendall(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
                return client.recv(4096).startswith(b"HTTP/1.1 200")
            return False

        # Simultaneous connections are accepted in any order, so each is served before the next one is opened.
        held = []
        for _ in range(4):
            held.append(stack.enter_context(connect("127.0.0.2")))
            assert is_served(held[-1])
        assert not is_served(stack.enter_context(connect("127.0.0.2")))
        assert is_served(held[0]) and is_served(stack.enter_context(connect("127.0.0.3")))
    server.stop()


@pytest.mark.parametrize("secured", [False, True], ids=["http", "https"])
def test_a_balancer_names_the_client_of_a_connection(make_server, tmp_path, secured):
    """By a PROXY header before TLS, and only from `http.proxyProtocol`: the limit of connections counts that client."""
    certificate, key = self_signed(tmp_path)
    http = {"proxyProtocol": ["127.0.0.7"], "limits": {"connectionsPerAddress": 2}}
    if secured:
        http |= {"certificate": str(certificate), "privateKey": str(key)}
    server = make_server({"http": http}, started=not secured)
    if secured:
        server.url = server.url.replace("http://", "https://")
        server.is_ready = lambda: "is ready" in server.log_tail()
        server.start()

    def is_served(stack: contextlib.ExitStack, client: str | None, source: str = "127.0.0.7") -> bool:
        connection = stack.enter_context(
            socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT, source_address=(source, 0)))
        try:
            if client is not None:
                body = socket.inet_aton(client) + socket.inet_aton("192.0.2.1") + struct.pack("!HH", 50_123, 443)
                connection.sendall(b"\r\n\r\n\0\r\nQUIT\n" + struct.pack("!BBH", 0x21, 0x11, len(body)) + body)
            if secured:
                connection = stack.enter_context(
                    ssl.create_default_context(cafile=str(certificate)).wrap_socket(
                        connection, server_hostname="127.0.0.1"
                    )
                )
            connection.sendall(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
            return connection.recv(4096).startswith(b"HTTP/1.1 200")
        except (OSError, ssl.SSLError):
            return False

    with contextlib.ExitStack() as stack:
        assert [is_served(stack, "203.0.113.9") for _ in range(3)] == [True, True, False]
        assert is_served(stack, "203.0.113.10")
        # Without its header a balancer is not heard, and a header from anywhere else is no HTTP.
        assert not is_served(stack, None)
        assert not is_served(stack, "203.0.113.11", source="127.0.0.8")
    server.stop()
