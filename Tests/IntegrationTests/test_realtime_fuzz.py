"""Whatever a client sends over its WebSocket, the server survives, responds with an error, and other sessions are not
affected.

Every test runs beside a bystander: a session that listens to its user's stream from before the first test to after the
last one, and must receive each change, in order, on the same connection.
"""

from __future__ import annotations

import collections
import contextlib
import json
import os
import queue
import socket
import struct
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from switchboard_tests import fuzzing
from switchboard_tests.calls import GENEROUS
from switchboard_tests.fuzzing import json_values, mostly, positions
from switchboard_tests.rawsocket import RawSocket, frame
from switchboard_tests.server import merged
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
# Of new ones nobody knows what they meet.
ALWAYS_SAME = "DEV_SWITCHBOARD_EXAMPLES" not in os.environ
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


LIMITS = {
    name: 1_000_000 for name in (
        "translationsPerMinute", "hintsPerMinute", "writingPerMinute", "searchesPerMinute", "friendRequestsPerHour",
        "conversationsPerHour", "messagesPerMinute",
    )
}  # fmt: skip


@pytest.fixture(scope="module")
def server(make_server):
    server = make_server(merged(GENEROUS, {"limits": LIMITS}))
    yield server
    assert server.process.poll() is None, f"the server died:\n{server.log_tail()}"
    server.stop()


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


# Set before the first test, since only the server's document has the names.
frames_of: fuzzing.Frames


@pytest.fixture(scope="module", autouse=True)
def described(server) -> None:
    global frames_of  # noqa: PLW0603
    frames_of = fuzzing.Frames(server.url)


@pytest.fixture(scope="module")
def known(server) -> fuzzing.Known:
    return fuzzing.Known(server)


streams = mostly(
    st.deferred(lambda: frames_of.names_of_streams),
    st.builds("{}:{}".format, st.sampled_from(["user", "x", "run", ""]), st.text(max_size=20)) | json_values,
    4,
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
nonsense = st.one_of(
    st.fixed_dictionaries(
        {"request": st.sampled_from(["calls.create", "no.such", ""]) | json_values}, optional={"params": params}
    ),
    st.builds(lambda value: {"token": value}, json_values),
    st.builds(lambda value: {"hello": value}, json_values),
    st.builds(lambda value: {"heartbeat": value}, json_values),
    st.dictionaries(st.text(max_size=12), json_values, max_size=4),
)
listens = st.builds(
    lambda verb, stream, after: {verb: {"stream": stream} | ({} if after is None else {"after": after})},
    st.sampled_from(["listen", "listen", "unlisten"]),
    streams,
    st.none() | positions,
)
requests = st.deferred(lambda: frames_of.requests)
others = st.lists(mostly(listens, nonsense, 2), min_size=1, max_size=5)


class Results:
    """How often frames were successful, by their request or kind of stream."""

    def __init__(self) -> None:
        self.examples = 0
        self.counts: collections.Counter[str] = collections.Counter()

    def add(self, frame: dict[str, Any], response: dict[str, Any]) -> None:
        if "result" in response:
            listened = frame["listen"]["stream"] if "listen" in frame else None
            self.counts[frame["request"] if "request" in frame else str(listened).partition(":")[0]] += 1


@pytest.fixture(scope="module")
def results(described) -> Iterator[Results]:
    """The frames have to be valid often enough to test more than that ids are unknown."""
    results = Results()
    yield results
    if not ALWAYS_SAME:
        return
    unsuccessful = [name for name in frames_of.of_conversations if not results.counts[name]]
    assert len(unsuccessful) < len(frames_of.of_conversations) / 2, unsuccessful
    kinds = {name.partition(":")[0] for name in frames_of.streams_of_conversations}
    assert kinds <= set(results.counts), results.counts


@EXAMPLES
@given(requests=requests, others=others, extra=json_values)
def test_frames_of_any_content_get_one_response_each(server, known, results, requests, others, extra):
    """Frames with an id get one response each, a result or a problem with a 4xx; heartbeats get none."""
    if results.examples % 5 == 0:
        known.renew()
    results.examples += 1
    frames = known.filled([*others[::2], *requests, *others[1::2]])
    with RawSocket(server.port) as client:
        client.hello(known.user)
        for index, verb in enumerate(frames):
            client.send({**verb, "id": 100 + index, "extra": extra})
        client.send({"id": 99, "request": "me.get"})
        expected = {100 + index for index, verb in enumerate(frames) if "heartbeat" not in verb} | {99}
        expected |= {100 + i for i, verb in enumerate(frames) if verb.get("heartbeat", 0) is None}
        seen: list[int] = []
        while set(seen) != expected:
            message = client.message()
            assert "bye" not in message, message
            if "id" not in message:
                assert "stream" in message or "error" in message, message
                continue
            seen.append(message["id"])
            if message["id"] >= 100:
                results.add(frames[message["id"] - 100], message)
            if "error" in message:
                # Here are no engines and no model.
                assert 400 <= message["error"]["status"] < 500 or (
                    message["error"]["type"] == "provider_not_configured"
                ), message
                assert message["error"]["type"] and message["error"]["detail"], message
        assert len(seen) == len(expected)


named_positions = mostly(
    st.deferred(lambda: frames_of.resumed),
    st.dictionaries(st.deferred(lambda: frames_of.names_of_streams) | st.text(max_size=20), positions, max_size=4),
    2,
)
hellos = mostly(
    st.fixed_dictionaries({"token": st.just("good"), "resume": named_positions}),
    st.fixed_dictionaries(
        {"token": mostly(st.just("good"), json_values)},
        optional={
            "endpoint": mostly(st.uuids().map(str), json_values),
            "secret": mostly(st.text("abcdefgh0123", min_size=16, max_size=40), json_values),
            "resume": mostly(named_positions, json_values),
        },
    ),
    1,
)


@pytest.fixture(scope="module")
def resumed(described) -> Iterator[set[str]]:
    """The kinds of streams that hellos resumed without a reset, which those get too that may not listen."""
    kinds: set[str] = set()
    yield kinds
    assert not ALWAYS_SAME or frames_of.keyed <= kinds, frames_of.keyed - kinds


@EXAMPLES
@given(hello=mostly(hellos, json_values))
def test_hellos_of_any_content_get_a_response(server, known, resumed, hello):
    if not known.values:
        known.renew()
    if isinstance(hello, dict):
        hello = known.filled(hello)
        if hello.get("token") == "good":
            hello["token"] = known.user.token
    with RawSocket(server.port) as client:
        client.send({"id": 1, "hello": hello})
        client.send({"id": 2, "heartbeat": {}})
        response = client.response(1)
        assert "result" in response or 400 <= response["error"]["status"] < 500, response
        how = response.get("result", {}).get("resumed", {})
        resumed |= {name.partition(":")[0] for name in how if how[name] == "ok"}


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
