"""Whatever a client sends over its WebSocket, the server survives, responds with an error, and other sessions are not
affected.

Every test runs beside a bystander: a session that listens to its user's stream from before the first test to after the
last one, and must receive each change, in order, on the same connection.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import socket
import struct
import threading
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from switchboard_tests.rawsocket import RawSocket, frame
from switchboard_tests.waiting import TIMEOUT

# The same examples every time, so that failures are due to a change. DEV_SWITCHBOARD_EXAMPLES requests a number of new
# ones.
EXAMPLES = settings(
    max_examples=int(os.environ.get("DEV_SWITCHBOARD_EXAMPLES", "150")),
    derandomize="DEV_SWITCHBOARD_EXAMPLES" not in os.environ,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
MAX_MESSAGE = 512 * 1024
PROTOCOL_ERROR, UNSUPPORTED, INVALID, TOO_BIG = 1002, 1003, 1007, 1009


class Bystander:
    def __init__(self, server, user):
        self.user = user
        self.socket = RawSocket(server.port)
        self.socket.hello(user)
        self.stream = f"user:{user.id}"
        self.socket.send({"id": 2, "listen": {"stream": self.stream}})
        self.position = self.socket.response(2)["result"]["position"][1]
        self.count = 0
        self.messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=self.receive, daemon=True).start()

    def receive(self) -> None:
        """Responds to heartbeats meanwhile, as clients do: a test may take longer than a session may be silent."""
        try:
            while True:
                message = self.socket.message()
                if "heartbeat" in message:
                    self.socket.send({"heartbeat": {}})
                else:
                    self.messages.put(message)
        except (AssertionError, OSError) as error:
            self.messages.put(error)

    def check(self) -> None:
        """A change made now is the next message except heartbeats: nothing was lost, nothing else was sent."""
        self.count += 1
        name = f"Bystander {self.count}"
        response = self.user.request("PATCH", "/v1/me", {"displayName": name})
        assert response.status_code == 200, response.text
        message = self.messages.get(timeout=TIMEOUT)
        assert isinstance(message, dict) and message.get("stream") == self.stream, message
        (change,) = message["changes"]
        self.position += 1
        assert change["seq"] == self.position, message
        assert change["data"]["displayName"] == name, message


@pytest.fixture(scope="module")
def people(server):
    return server.users(2)


@pytest.fixture(scope="module")
def bystander(server, people):
    bystander = Bystander(server, people[0])
    yield bystander
    bystander.check()


@pytest.fixture(autouse=True)
def nobody_notices(server, bystander):
    yield
    assert server.process.poll() is None, server.log_tail()
    bystander.check()


@pytest.mark.parametrize(
    "data, code",
    [
        (frame(b"{}", masked=False), PROTOCOL_ERROR),
        (frame(b"{}", reserved=4), PROTOCOL_ERROR),
        (frame(b"{}", reserved=2), PROTOCOL_ERROR),
        (frame(b"{}", reserved=1), PROTOCOL_ERROR),
        *((frame(b"", opcode=opcode), PROTOCOL_ERROR) for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)),
        (frame(b"x", opcode=0), PROTOCOL_ERROR),
        (frame(b"x", final=False) + frame(b"x"), PROTOCOL_ERROR),
        (frame(b"", opcode=9, final=False), PROTOCOL_ERROR),
        (frame(b"x" * 126, opcode=9), PROTOCOL_ERROR),
        (frame(b"x", length_bytes=2), PROTOCOL_ERROR),
        (frame(b"x" * 200, length_bytes=8), PROTOCOL_ERROR),
        (frame(claimed=(1 << 64) - 1, length_bytes=8), PROTOCOL_ERROR),
        (frame(b"x", opcode=8), PROTOCOL_ERROR),
        *((frame(struct.pack(">H", code), opcode=8), PROTOCOL_ERROR) for code in (0, 999, 1005, 1006, 1015, 2999)),
        (frame(struct.pack(">H", 5000), opcode=8), PROTOCOL_ERROR),
        (frame(b"\x03\xe8\xff", opcode=8), INVALID),
        (frame(b"\x00", opcode=2), UNSUPPORTED),
        (frame(b"\xc3\x28"), INVALID),
        (frame(b"\xed\xa0\x80"), INVALID),
        (frame(b"\xf0\x9f", final=False) + frame(b"\x98", opcode=0), INVALID),
        (frame(claimed=MAX_MESSAGE + 1, length_bytes=8), TOO_BIG),
        (frame(claimed=(1 << 63) - 1, length_bytes=8), TOO_BIG),
        (frame(b" " * (MAX_MESSAGE + 1)), TOO_BIG),
        (frame(b" " * MAX_MESSAGE, final=False) + frame(b" ", opcode=0), TOO_BIG),
    ],
)
@pytest.mark.parametrize("greeted", [False, True])
def test_broken_rules_have_their_code(server, people, data, code, greeted):
    with RawSocket(server.port) as client:
        if greeted:
            client.hello(people[1])
        client.write(data)
        assert client.close_code() == code


def test_the_largest_message_passes_in_any_pieces(server, people):
    with RawSocket(server.port) as client:
        client.hello(people[1])
        text = json.dumps({"id": 7, "request": "me.get", "params": {"padding": ""}}).encode()
        text = text.replace(b'""', b'"' + b"x" * (MAX_MESSAGE - len(text)) + b'"')
        assert len(text) == MAX_MESSAGE
        client.write(frame(text))
        assert client.response(7)["result"]["id"] == people[1].id
        chunks = [text[start : start + 4096] for start in range(0, len(text), 4096)]
        for index, chunk in enumerate(chunks):
            client.write(frame(chunk, opcode=0 if index else 1, final=index == len(chunks) - 1))
            if index % 32 == 0:
                client.write(frame(b"between", opcode=9))
        assert client.response(7)["result"]["id"] == people[1].id


def test_close_frames_are_echoed(server, people):
    for payload, code in [(b"", 1000), (b"\x03\xe8", 1000), (struct.pack(">H", 1001) + b"going", 1001)]:
        with RawSocket(server.port) as client:
            client.hello(people[1])
            client.write(frame(payload, opcode=8))
            assert client.close_code() == code
            assert client.read() is None


raw_frames = st.builds(
    frame,
    st.binary(max_size=200),
    st.integers(0, 15),
    st.booleans(),
    st.sampled_from([0, 0, 0, 0, 1, 2, 4]),
    st.sampled_from([True, True, True, False]),
    st.sampled_from([None, None, None, 0, 2, 8]),
    st.one_of(st.none(), st.none(), st.integers(0, (1 << 64) - 1)),
)


@EXAMPLES
@given(
    chunks=st.lists(st.one_of(raw_frames, st.binary(max_size=64)), min_size=1, max_size=8),
    offsets=st.lists(st.integers(0, 2000), max_size=4),
    greeted=st.booleans(),
)
def test_no_bytes_do_more_than_end_their_session(server, people, chunks, offsets, greeted):
    data = b"".join(chunks)
    with RawSocket(server.port) as client:
        if greeted:
            client.hello(people[1])
        start = 0
        for offset in [*sorted(offsets), len(data)]:
            if offset > start:
                client.write(data[start:offset])
                start = offset
    assert server.process.poll() is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 70), 1 << 70) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
names = [
    "calls.create", "calls.list", "calls.get", "calls.ringing", "calls.accept", "calls.decline", "calls.cancel",
    "calls.end", "calls.leave", "calls.invite", "calls.signals", "calls.connected", "calls.alive", "calls.quality",
    "calls.media", "calls.leg", "calls.slots", "iceServers.get", "me.get", "me.update", "users.search", "users.get",
    "blocks.list", "me.removePhoto", "blocks.add", "blocks.remove", "sessions.list", "devices.list", "no.such", "",
]
positions = st.one_of(st.tuples(st.text(max_size=8), st.integers(-2, 1 << 63)), json_values)
streams = st.one_of(
    st.sampled_from(["user", "call", "signals", "presence", "x"]).flatmap(
        lambda kind: st.builds(lambda one: f"{kind}:{one}", st.one_of(st.uuids().map(str), st.text(max_size=20)))
    ),
    json_values,
)
params = st.one_of(
    st.fixed_dictionaries(
        {},
        optional={
            "call": st.one_of(st.uuids().map(str), json_values),
            "clientID": st.one_of(st.uuids().map(str), json_values),
            "callees": st.one_of(st.lists(st.uuids().map(str), max_size=3), json_values),
            "kind": st.one_of(st.sampled_from(["audio", "video", "offer", "answer", "candidates"]), json_values),
            "offer": json_values,
            "payload": json_values,
            "slots": st.one_of(
                st.dictionaries(st.text(max_size=4), st.sampled_from(["off", "low", "medium", "high"]), max_size=4),
                json_values,
            ),
            "generation": json_values,
            "user": st.one_of(st.uuids().map(str), json_values),
            "query": json_values,
            "limit": json_values,
            "cursor": json_values,
            "displayName": json_values,
            "loss": json_values,
        },
    ),
    json_values,
)
verbs = st.one_of(
    st.fixed_dictionaries({"request": st.one_of(st.sampled_from(names), json_values)}, optional={"params": params}),
    st.builds(
        lambda verb, stream, after: {verb: {"stream": stream} | ({} if after is None else {"after": after})},
        st.sampled_from(["listen", "unlisten"]),
        streams,
        st.none() | positions,
    ),
    st.builds(lambda value: {"token": value}, json_values),
    st.builds(lambda value: {"hello": value}, json_values),
    st.builds(lambda value: {"heartbeat": value}, json_values),
    st.dictionaries(st.text(max_size=12), json_values, max_size=4),
)


@EXAMPLES
@given(frames=st.lists(st.tuples(verbs, json_values), min_size=1, max_size=12))
def test_frames_of_any_content_get_one_response_each(server, people, frames):
    """Frames with an id get one response each, a result or a problem with a 4xx; heartbeats get none."""
    with RawSocket(server.port) as client:
        client.hello(people[1])
        for index, (verb, extra) in enumerate(frames):
            client.send({**verb, "id": 100 + index, "extra": extra})
        client.send({"id": 99, "request": "me.get"})
        expected = {100 + index for index, (verb, _) in enumerate(frames) if "heartbeat" not in verb} | {99}
        expected |= {100 + i for i, (verb, _) in enumerate(frames) if verb.get("heartbeat", 0) is None}
        seen: list[int] = []
        while set(seen) != expected:
            message = client.message()
            assert "bye" not in message, message
            if "id" not in message:
                assert "stream" in message or "error" in message, message
                continue
            seen.append(message["id"])
            if "error" in message:
                assert 400 <= message["error"]["status"] < 500, message
                assert message["error"]["type"] and message["error"]["detail"], message
        assert len(seen) == len(expected)


named_positions = st.dictionaries(streams.filter(lambda name: isinstance(name, str)), positions, max_size=4)
hellos = st.fixed_dictionaries(
    {"token": st.one_of(st.just("good"), json_values)},
    optional={
        "endpoint": st.one_of(st.uuids().map(str), json_values),
        "secret": st.one_of(st.text("abcdefgh0123", min_size=16, max_size=40), json_values),
        "resume": st.one_of(named_positions, json_values),
    },
)


@EXAMPLES
@given(hello=st.one_of(json_values, hellos))
def test_hellos_of_any_content_get_a_response(server, people, hello):
    if isinstance(hello, dict) and hello.get("token") == "good":
        hello = {**hello, "token": people[1].token}
    with RawSocket(server.port) as client:
        client.send({"id": 1, "hello": hello})
        client.send({"id": 2, "heartbeat": {}})
        response = client.response(1)
        assert "result" in response or 400 <= response["error"]["status"] < 500, response


@pytest.mark.parametrize("sequence", [10**6, (1 << 31) - 1, (1 << 53) + 1, (1 << 63) - 2, (1 << 63) - 1])
def test_positions_from_the_future_are_reset(server, people, sequence):
    stream = f"user:{people[1].id}"
    with RawSocket(server.port) as client:
        client.hello(people[1])
        client.send({"id": 2, "listen": {"stream": stream}})
        epoch = client.response(2)["result"]["position"][0]
        client.send({"id": 3, "listen": {"stream": stream, "after": [epoch, sequence]}})
        assert client.message()["reset"]["reason"] == "gap"
        assert "snapshot" in client.message()
        assert client.message()["id"] == 3
    with RawSocket(server.port) as client:
        assert client.hello(people[1], resume={stream: [epoch, sequence]})["resumed"] == {stream: "reset"}
        assert client.message()["reset"]["reason"] == "gap"
        assert "snapshot" in client.message()


def is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


# hypothesis draws from the strings of this file too, in which whole frames stand.
@EXAMPLES
@given(text=st.text(max_size=300).filter(lambda text: not is_object(text)))
def test_texts_that_are_no_frames_get_an_error(server, people, text):
    with RawSocket(server.port) as client:
        client.hello(people[1])
        client.send(text)
        client.send({"id": 99, "request": "me.get"})
        error = client.message()
        assert error["error"]["type"] == "invalid_request", error
        assert "result" in client.response(99)


def test_nesting_costs_nothing(server, people):
    with RawSocket(server.port) as client:
        client.hello(people[1])
        request = '{"id":1,"request":"me.get","params":'
        for text in ["[" * 500_000, '{"id":1,"x":' + '{"a":' * 100_000, request + "[" * 400_000]:
            client.send(text)
            assert client.message()["error"]["type"] == "invalid_request"


def test_a_session_that_only_talks_nonsense_is_let_go(server, people):
    with RawSocket(server.port) as client:
        client.hello(people[1])
        for _ in range(60):
            client.send("nonsense")
        assert client.close_code() == 4010


def test_a_flood_is_cut_off(server, people):
    with RawSocket(server.port) as client:
        client.hello(people[1])
        client.write(frame(b'{"heartbeat":{}}') * 5000)
        assert client.close_code() in (4029, None)


@EXAMPLES
@given(
    line=st.sampled_from(
        ["GET /v1/realtime HTTP/1.1", "GET /v1/realtime HTTP/1.0", "POST /v1/realtime HTTP/1.1", "GET / HTTP/1.1"]
    ),
    headers=st.lists(
        st.sampled_from(
            [
                "Connection: Upgrade", "Connection: keep-alive, upgrade", "Connection: close", "Upgrade: websocket",
                "Upgrade: h2c", "Upgrade: websocket, h2c", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: 8",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Key: short", "Sec-WebSocket-Key: ",
                "Origin: https://evil.example", "Origin: null", "Sec-WebSocket-Extensions: permessage-deflate",
                "Sec-WebSocket-Protocol: chat", "Content-Length: 5", "Transfer-Encoding: chunked", "Host: other",
            ]
        ),
        max_size=9,
    ),
    rest=st.binary(max_size=40),
)
def test_upgrades_of_any_shape_get_a_response(server, line, headers, rest):
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(("\r\n".join([line, "Host: 127.0.0.1", *headers]) + "\r\n\r\n").encode() + rest)
        status = b""
        with contextlib.suppress(ConnectionError, TimeoutError):
            status = connection.recv(64)
        # The server may wait for an announced body that never comes.
        assert status == b"" or status.startswith((b"HTTP/1.1 ", b"HTTP/1.0 ")), status
        assert not status.startswith((b"HTTP/1.1 5", b"HTTP/1.0 5")), status
