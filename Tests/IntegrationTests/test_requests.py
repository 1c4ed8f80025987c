"""Every response has the id of its request, which the log has too, and tells the rate limit that it was counted
against."""

from __future__ import annotations

import json
import re
import socket
import uuid

import pytest
from switchboard_tests.audio_files import encode, tone
from switchboard_tests.rawsocket import RawSocket
from switchboard_tests.server import HTTP
from switchboard_tests.voice_messages import fetch, sent
from switchboard_tests.waiting import TIMEOUT, eventually

ORIGIN = "https://app.example.com"
TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
RATE_LIMIT = re.compile(r'"([a-zA-Z]+)";r=(\d+);t=(\d+)')
POLICY = re.compile(r'"([a-zA-Z]+)";q=(\d+);w=(\d+)')


@pytest.fixture(scope="module")
def server(make_server):
    server = make_server({"http": {"allowedOrigins": [ORIGIN]}, "log": {"format": "json"}})
    yield server
    server.stop()


def request_id(response) -> str:
    [value] = response.headers.get_list("Switchboard-Request")
    assert re.fullmatch("[0-9a-f]{32}", value), value
    return value


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/server", 200), ("GET", "/v1/me", 401), ("GET", "/v1/nothing", 404), ("PUT", "/v1/server", 405),
        ("GET", "/", 200), ("HEAD", "/", 200), ("GET", "/openapi.json", 200), ("GET", "/livez", 200),
        ("OPTIONS", "/v1/me", 204), ("GET", "/v1/realtime", 426), ("POST", "/v1/realtime/sse", 400),
        ("POST", "/v1/accounts", 400), ("GET", "/v1/media/00000000-0000-4000-8000-000000000000", 400),
    ],
)
def test_every_response_has_an_id(server, method, path, status):
    responses = [HTTP.request(method, server.url + path) for _ in range(2)]
    assert [response.status_code for response in responses] == [status] * 2
    first, second = (request_id(response) for response in responses)
    assert first != second
    if responses[0].headers.get("Content-Type") == "application/problem+json":
        assert [response.json()["request"] for response in responses] == [first, second]
    traced = HTTP.request(method, server.url + path, headers={"traceparent": f"00-{TRACE}-{PARENT}-01"})
    assert traced.status_code == status and request_id(traced) == TRACE


def test_the_operators_pages_have_it_too(server):
    assert request_id(HTTP.get(server.admin_url + "/metrics"))


@pytest.mark.parametrize(
    "header",
    [
        "", "x", f"00-{TRACE}-{PARENT}", f"00-{'0' * 32}-{PARENT}-01", f"00-{TRACE.upper()}-{PARENT}-01",
        f"ff-{TRACE}-{PARENT}-01", f"00-{TRACE}-{'0' * 16}-01", f"00-{TRACE}-{PARENT}-01-more", "0" * 4000,
        f"00-{TRACE[:-1]}\t-{PARENT}-01",
    ],
)
def test_an_invalid_traceparent_is_ignored(server, header):
    response = HTTP.get(server.url + "/v1/server", headers={"traceparent": header})
    assert response.status_code == 200 and request_id(response) != TRACE


def test_two_traceparents_are_none(server):
    header = f"00-{TRACE}-{PARENT}-01"
    response = HTTP.get(server.url + "/v1/server", headers=[("traceparent", header), ("traceparent", header)])
    assert response.status_code == 200 and request_id(response) != TRACE


def upgrade(server, headers: str) -> str:
    """The head of the response to a handshake."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT) as connection:
        connection.sendall(
            f"GET /v1/realtime HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            f"traceparent: 00-{TRACE}-{PARENT}-01\r\n{headers}\r\n".encode()
        )
        head = b""
        while b"\r\n\r\n" not in head:
            part = connection.recv(4096)
            assert part, head
            head += part
    return head.decode()


def test_handshakes_have_it_too(server):
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    for headers, status in ((key + "Sec-WebSocket-Version: 13\r\n", 101), (key + "Sec-WebSocket-Version: 8\r\n", 426)):
        head = upgrade(server, headers)
        assert head.startswith(f"HTTP/1.1 {status} "), head
        assert f"switchboard-request: {TRACE}\r\n" in head.lower()


def test_a_realtime_error_has_an_id(server):
    user = server.user()
    with RawSocket(server.port) as client:
        client.hello(user)
        ids = []
        unknown = {"request": "calls.get", "params": {"call": str(uuid.uuid4())}}
        for number, frame in enumerate([unknown, unknown, {"listen": {"stream": "no stream"}}], 2):
            client.send({"id": number} | frame)
            ids.append(client.response(number)["error"]["request"])
    assert all(re.fullmatch("[0-9a-f]{32}", id) for id in ids)
    assert len(set(ids)) == 3


def test_log_lines_have_it(server):
    """A file that was removed from the disk is an error in the log."""
    ann, ben = server.users(2)
    before = set((server.data / "media").glob("*"))
    message = sent(ann, ben, encode(tone(0.2)))
    [file] = set((server.data / "media").glob("*")) - before
    file.unlink()
    trace = uuid.uuid4().hex
    response = fetch(ben, message["audio"]["url"], traceparent=f"00-{trace}-{PARENT}-01")
    assert response.status_code == 404 and response.json()["request"] == trace
    lines = eventually(lambda: [line for line in server.log.read_text().splitlines() if trace in line])
    line = json.loads(lines[0])
    assert (line["request"], line["message"]) == (trace, "a media file failed")


def limits(response) -> tuple[str, int, int, int, int]:
    """The policy's name, its quota and window, what remains, and the seconds until all is back."""
    limit = RATE_LIMIT.fullmatch(response.headers["RateLimit"])
    policy = POLICY.fullmatch(response.headers["RateLimit-Policy"])
    assert limit and policy and limit[1] == policy[1], response.headers
    return limit[1], int(policy[2]), int(policy[3]), int(limit[2]), int(limit[3])


def test_rate_limits_are_advertised(make_server):
    server = make_server(
        {"limits": {"requestsPerMinute": 6, "searchesPerMinute": 3}, "accounts": {"signUpsPerHour": 2}}
    )
    user = server.user()
    first = user.get("/v1/me")
    assert first.status_code == 200
    name, quota, window, remaining, reset = limits(first)
    assert (name, quota, window, remaining) == ("requests", 6, 60, 5)
    assert 1 <= reset <= 10
    responses = [user.get("/v1/me") for _ in range(8)]
    assert responses[-1].status_code == 429
    name, quota, window, remaining, reset = limits(responses[-1])
    assert (name, quota, window, remaining) == ("requests", 6, 60, 0)
    wait = int(responses[-1].headers["Retry-After"])
    assert 1 <= wait <= 10 and wait <= reset <= 60
    assert responses[-1].json()["retryAfter"] <= wait * 1000
    # Each operation has the policy that counts it; without a user it is the address's.
    assert limits(user.get("/v1/users?query=ann"))[:4] == ("searches", 3, 60, 2)
    assert limits(HTTP.get(server.url + "/v1/me"))[:3] == ("address", 120, 60)
    body = {"email": f"{uuid.uuid4()}@example.org", "password": "correct horse battery", "displayName": "Ann"}
    signed_up = HTTP.post(server.url + "/v1/accounts", json=body)
    assert signed_up.status_code == 201
    assert limits(signed_up)[:4] == ("signUps", 2, 3600, 1)
    # A page is not counted.
    assert "RateLimit" not in HTTP.get(server.url + "/").headers
    server.stop()


def test_pages_of_other_origins_may_read_the_headers(server):
    response = HTTP.get(server.url + "/v1/server", headers={"Origin": ORIGIN})
    exposed = {name.strip() for name in response.headers["Access-Control-Expose-Headers"].split(",")}
    assert {"Switchboard-Request", "Retry-After", "RateLimit", "RateLimit-Policy", "Location", "ETag"} <= exposed
    preflight = HTTP.options(server.url + "/v1/me", headers={"Origin": ORIGIN})
    allowed = {name.strip() for name in preflight.headers["Access-Control-Allow-Headers"].split(",")}
    assert {"Authorization", "Switchboard-Endpoint", "traceparent"} <= allowed
