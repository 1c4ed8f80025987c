"""`/asyncapi.json` is AsyncAPI 3.0, its references resolve, its requests are those of `/openapi.json`, and its schemas
say the same in both drafts that they are written for. Every other test checks its frames against them.
"""

from __future__ import annotations

import copy
import re
import subprocess
import uuid
import warnings

import jsonschema_rs
import pytest
from switchboard_tests import asyncapi, seen
from switchboard_tests.rawsocket import RawSocket
from switchboard_tests.server import HTTP, ROOT

DRAFTS = (jsonschema_rs.Draft7Validator, jsonschema_rs.Draft202012Validator)


@pytest.fixture(scope="module")
def document(server) -> dict:
    response = HTTP.get(server.url + "/asyncapi.json")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("application/json")
    return response.json()


@pytest.fixture(scope="module")
def frames(document) -> asyncapi.Frames:
    return asyncapi.Frames(document)


@pytest.fixture(scope="module")
def rest(server) -> dict:
    return HTTP.get(server.url + "/openapi.json").json()


def model():
    """The root model of the package `asyncapi3`, whose fields shadow some of pydantic's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from asyncapi3.models.asyncapi import AsyncAPI3
    return AsyncAPI3


def references(value, path="#"):
    if isinstance(value, list):
        for index, element in enumerate(value):
            yield from references(element, f"{path}/{index}")
    elif isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield path, value["$ref"]
        for name, member in value.items():
            yield from references(member, f"{path}/{name}")


def test_the_document_is_asyncapi(document):
    made = model().model_validate(document)
    assert made.asyncapi == "3.0.0"
    assert set(made.channels) == {"realtime", "eventStream", "eventStreamFrames"}


@pytest.mark.parametrize(
    "path", ["info/title", "operations/hello/action", "operations/hello/channel", "components/messages/hello/payload"]
)
def test_a_wrong_document_is_found(document, path):
    broken = copy.deepcopy(document)
    *parents, last = path.split("/")
    target = broken
    for part in parents:
        target = target[part]
    target[last] = 7
    with pytest.raises(ValueError):
        model().model_validate(broken)


def test_every_reference_resolves(document):
    found = list(references(document))
    assert len(found) > 200
    for path, reference in found:
        assert reference.startswith("#/"), (path, reference)
        target = document
        for part in reference.split("/")[1:]:
            assert part in target, (path, reference)
            target = target[part]


def test_requests_are_those_of_the_routes(document, rest):
    """Every operation that is not only over HTTP is a request, with all parameters of its path and query."""
    schemas = document["components"]["schemas"]
    requests = {request["name"]: request for request in document["x-requests"]}
    expected = set()
    for path, methods in rest["paths"].items():
        for operation in methods.values():
            name = operation["operationId"]
            if operation.get("description") == "Only over HTTP.":
                assert name not in requests
                continue
            expected.add(name)
            declared = {
                parameter["name"] for parameter in operation.get("parameters", [])
                # The endpoint's header, which a session has in its hello.
                if "$ref" not in parameter
            }
            assert set(re.findall(r"\{(\w+)\}", path)) <= declared, f"{name} reads a parameter that it does not declare"
            params = schemas[requests[name]["frame"]["$ref"].rpartition("/")[2]]["properties"]["params"]
            parts = params.get("allOf", [params])
            listed = {member for part in parts for member in part.get("properties", {})}
            assert declared <= listed, name
    assert set(requests) == expected


def test_the_extensions_are_complete(document):
    assert {stream["name"] for stream in document["x-streams"]} == {
        "user:{user}", "call:{call}", "signals:{call}:{endpoint}", "presence:{user}", "captions:{call}",
        "captions:{call}:{language}", "conversation:{conversation}", "inbox:{user}", "marks:{conversation}",
        "translations:{conversation}", "typing:{conversation}", "run:{run}",
    }
    assert {reset["reason"] for reset in document["x-resets"]} == {"gap", "epoch", "access"}
    codes = {entry["code"] for entry in document["x-closeCodes"]}
    assert {4000, 4001, 4002, 4003, 4004, 4008, 4009, 4010, 4029, 1011, 1002, 1009} <= codes
    assert all(entry["meaning"] and entry["action"] for entry in document["x-closeCodes"])
    limits = {limit["name"]: limit["value"] for limit in document["x-limits"]}
    assert limits["helloTimeout"] == 3000 and limits["listens"] == 256


def samples(call: str, user: str) -> list[tuple[str, dict, list[str]]]:
    """Frames of both sides, and the messages that each is."""
    return [
        ("client", {"id": 1, "hello": {"token": "t", "resume": {f"user:{user}": ["e1", 904]}}}, ["hello"]),
        ("client", {"id": 1, "hello": {"token": "t", "resume": {"x": ["e1", 904]}}}, []),
        ("client", {"id": 1, "hello": {}}, []),
        ("client", {"id": 2, "listen": {"stream": f"call:{call}", "after": ["e1", 12]}}, ["listen"]),
        ("client", {"id": 2, "listen": {"stream": "call:7"}}, []),
        ("client", {"id": -1, "unlisten": {"stream": f"call:{call}"}}, []),
        ("client", {"id": 3, "request": "calls.get", "params": {"call": call}}, ["request"]),
        ("client", {"id": 3, "request": "calls.get", "params": {}}, []),
        ("client", {"id": 3, "request": "calls.nothing"}, []),
        ("client", {"id": 3, "request": "calls.nothing", "params": {"call": call}}, []),
        ("client", {"heartbeat": {}}, ["clientHeartbeat"]),
        ("server", {"heartbeat": {"serverTime": "2026-01-01T00:00:00.000Z"}}, ["serverHeartbeat"]),
        (
            "server",
            {"stream": f"user:{user}", "changes": [{"seq": 1, "type": "signOut", "data": {"session": call}}]},
            ["changes"],
        ),
        # A type of another stream, data of another type, and no sequence.
        ("server", {"stream": f"user:{user}", "changes": [{"seq": 1, "type": "slots", "data": {}}]}, []),
        ("server", {"stream": f"user:{user}", "changes": [{"seq": 1, "type": "block", "data": {}}]}, []),
        ("server", {"stream": f"user:{user}", "changes": [{"type": "signOut", "data": {"session": user}}]}, []),
        ("server", {"stream": f"presence:{user}", "snapshot": {"online": True}}, ["snapshot"]),
        ("server", {"stream": f"presence:{user}", "event": {"online": "yes"}}, []),
        ("server", {"stream": f"call:{call}", "reset": {"reason": "gap"}}, ["reset"]),
        ("server", {"stream": f"call:{call}", "reset": {"reason": "whim"}}, []),
        ("server", {"bye": {"code": 4008, "reason": "slow", "retryAfter": 1500}}, ["bye"]),
        ("server", {"bye": {"code": 4008, "reason": "bored"}}, []),
        ("server", {"id": 3, "result": {}}, ["result"]),
        ("server", {"id": 3, "error": {"type": "conflict", "title": "t", "status": 409, "detail": "d"}}, ["error"]),
        ("server", {"id": 3, "error": {"type": "bored", "title": "t", "status": 409, "detail": "d"}}, []),
    ]


@pytest.mark.parametrize("draft", DRAFTS)
def test_each_frame_is_one_message(document, draft):
    frames = asyncapi.Frames(document, draft)
    sides = {"client": frames.client, "server": frames.server}
    for side, frame, expected in samples(str(uuid.uuid4()), str(uuid.uuid4())):
        assert frames.kinds(frame, sides[side]) == expected, frame
        # No frame of one side is a frame of the other.
        other = "server" if side == "client" else "client"
        assert frames.kinds(frame, sides[other]) == [], frame
    for name, message in document["components"]["messages"].items():
        for example in message.get("examples", []):
            assert frames.kinds(example["payload"], frames.client) == [name]


def test_wrong_frames_are_reported(server):
    """The check that all other tests rely on: it finds what it should, and nothing in a session without errors."""
    person = server.user()
    with RawSocket(server.port) as socket:
        socket.hello(person)
        socket.send({"id": 2, "request": "me.get"})
        response = socket.response(2)
        asyncapi.answered({"id": 2, "request": "me.get"}, response)
        assert asyncapi.take_violations() == []
        asyncapi.answered({"id": 2, "request": "me.get"}, {"id": 2, "result": {"id": person.id}})
        asyncapi.answered({"id": 2, "listen": {}}, {"id": 2, "result": {}})
        # The server may reject what the schemas reject.
        asyncapi.answered({"id": 2, "listen": {}}, {"id": 2, "error": {}})
        asyncapi.received({"stream": f"user:{person.id}", "changes": [{"seq": 1, "type": "none", "data": {}}]})
    assert len(asyncapi.take_violations()) == 3


@pytest.mark.parametrize("version", ["1.0", None, "", "x" * 65, "1.0é", 1])
def test_a_hello_is_as_described(server, document, frames, version):
    """The client's name is accepted in what the schema has, and refused otherwise; the result has nothing else."""
    person = server.user()
    client = {"name": "Test"} if version is None else {"name": "Test", "version": version}
    frame = {"id": 1, "hello": {"token": person.token, "client": client}}
    is_described = frames.kinds(frame, frames.client) == ["hello"]
    with RawSocket(server.port) as socket:
        socket.send(frame)
        response = socket.response(1)
    if version == "1.0":
        listed = document["components"]["schemas"]["HelloResult"]["properties"]
        assert set(response["result"]) <= set(listed)
        assert set(response["result"]["server"]) == {"name", "version", "build"}
    else:
        assert response["error"]["field"].startswith("hello.client.version")
        # JSON Schema counts characters, so that the alphabet is in the description alone.
        assert is_described == (version == "1.0é")


def test_server_sent_events_are_as_described(server, document, frames):
    """A session as the document says: hello by POST, frames in the response, further frames by POST."""
    person = server.user()
    opened, posted = (document["channels"][name]["address"] for name in ("eventStream", "eventStreamFrames"))
    hello = {"token": person.token}
    assert frames.message("openEventStream").is_valid(hello)
    with HTTP.stream("POST", server.url + opened, json=hello) as response:
        assert response.status_code == 200
        assert response.headers["content-type"] == "text/event-stream"
        events = asyncapi.server_sent(response.iter_lines())
        greeting = next(events)
        assert frames.kinds(greeting, frames.server) == ["result"] and greeting["id"] == 0
        session = greeting["result"]["session"]
        accepted = HTTP.post(
            server.url + posted.replace("{session}", session), json={"id": 7, "request": "me.get"},
            headers={"Authorization": f"Bearer {person.token}"},
        )
        assert accepted.status_code == 202
        result = next(events)
        assert result["id"] == 7 and frames.result("me.get").is_valid(result["result"])


def test_what_no_test_saw_is_named(document, tmp_path, monkeypatch):
    """The check at the end of a whole run, on the sum of two processes."""
    monkeypatch.setenv(seen.FOLDER, str(tmp_path))

    def check() -> tuple[int, str]:
        done = subprocess.run([ROOT / "Scripts/check-seen", tmp_path], capture_output=True, text=True)
        return done.returncode, done.stdout

    everything = seen.listed(document)
    assert {"call:{call} participant", "presence:{user} event", "captions:{call} snapshot"} <= everything
    assert {"reset gap", "close 4008", "close 1002"} <= everything
    monkeypatch.setattr(seen, "skipped", [])
    monkeypatch.setattr(seen, "things", everything - {"reset gap", "close 4008"})
    seen.save(document)
    code, text = check()
    assert code == 1 and "“reset gap”" in text and "“close 4008”" in text and text.count("\n") == 2
    # A test that was skipped may be the one.
    monkeypatch.setattr(seen, "skipped", ["test_x"])
    monkeypatch.setattr(seen, "things", {"reset gap"})
    seen.save(document)
    code, text = check()
    assert code == 0 and "“reset gap”" not in text and "“close 4008”" in text and "not whole" in text
    monkeypatch.setattr(seen, "things", set())
    seen.note({"bye": {"code": 4008, "reason": "slow"}}, {})
    seen.save(document)
    assert check() == (0, "")
