"""The API's documents only grow: nothing that a released version promised is removed, renamed or narrowed.

Fixtures has the documents of each release. Before 1.0 something may go if the guide of changes says so.
"""

from __future__ import annotations

import copy
import json
import pathlib
import re
from typing import Any

import pytest
from switchboard_tests.documents import breaking_changes
from switchboard_tests.server import HTTP, ROOT

FIXTURES = pathlib.Path(__file__).parent / "Fixtures"
GUIDE = ROOT / "Sources/WebAPI/Web/docs/guides/changes.md"
Json = dict[str, Any]
TEXT: Json = {"type": "string"}


# The documents of the server


def newest_fixture() -> pathlib.Path:
    return max((one for one in FIXTURES.iterdir() if one.is_dir()), key=lambda one: order(one.name))


def order(version: str) -> tuple[Any, ...]:
    """A key that sorts versions as SemVer does; a beta comes before its release."""
    core, _, suffix = version.partition("-")
    parts = [(0, int(one), "") if one.isdigit() else (1, 0, one) for one in suffix.split(".")]
    return tuple(map(int, core.split("."))), not suffix, parts


def announced(guide: str, after: str) -> set[str]:
    """What stands in backticks under `### Removed` of the versions after one and before 1.0."""
    found: set[str] = set()
    for section in re.split(r"^## ", guide, flags=re.M)[1:]:
        heading, _, text = section.partition("\n")
        version = heading.removesuffix(", unreleased")
        if not order(after) < order(version) or int(version.split(".")[0]) > 0:
            continue
        for part in re.split(r"^### ", text, flags=re.M)[1:]:
            kind, _, lines = part.partition("\n")
            if kind.strip() == "Removed":
                found |= set(re.findall(r"`([^`\n]+)`", lines))
    return found


@pytest.mark.parametrize("name", ["openapi.json", "asyncapi.json"])
def test_documents_only_grow(server, name):
    fixture = newest_fixture()
    known = announced(GUIDE.read_text(), after=fixture.name)
    changes = breaking_changes(json.loads((fixture / name).read_text()), HTTP.get(f"{server.url}/{name}").json())
    assert [change for change in changes if change not in known] == [], (
        f"Clients of {fixture.name} break. Keep what they use; before 1.0, name each line in backticks under "
        f"`### Removed` of the next version in {GUIDE.name}."
    )


def test_the_documents_of_this_version_are_kept(server):
    version = HTTP.get(f"{server.url}/v1/server").json()["version"]
    assert all((FIXTURES / version / name).exists() for name in ("openapi.json", "asyncapi.json")), (
        "Scripts/release prints how to save them."
    )


def test_documents_break_nothing_of_themselves():
    for path in FIXTURES.glob("*/*.json"):
        document = json.loads(path.read_text())
        assert breaking_changes(document, copy.deepcopy(document)) == []


def test_optional_members_may_be_added_everywhere():
    def add(node: Any) -> None:
        for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else []:
            add(inner)
        if isinstance(node, dict) and isinstance(node.get("properties"), dict):
            node["properties"]["added"] = TEXT

    for path in FIXTURES.glob("*/*.json"):
        old = json.loads(path.read_text())
        new = copy.deepcopy(old)
        add(new)
        assert breaking_changes(old, new) == []
        assert len(breaking_changes(new, old)) > 50


def test_removing_a_component_s_member_is_noticed():
    for path in FIXTURES.glob("*/*.json"):
        old = json.loads(path.read_text())
        new = copy.deepcopy(old)
        del new["components"]["schemas"]["Call"]["properties"]["id"]
        assert breaking_changes(old, new) == ["Call: response member id was removed"]


def test_versions_are_ordered():
    versions = ["0.9.0", "0.10.0-beta.2", "0.10.0-beta.10", "0.10.0-rc", "0.10.0", "1.0.0"]
    assert sorted(reversed(versions), key=order) == versions


def test_only_later_versions_announce_removals():
    guide = "# Changes\n\n## 1.0.0\n\n### Removed\n\n- `e`\n"
    guide += "\n## 0.2.0, unreleased\n\n### Added\n\n- `a`\n\n### Removed\n\n- `b: c`\n"
    guide += "\n## 0.1.0\n\n### Removed\n\n- `d`\n"
    assert announced(guide, after="0.1.0") == {"b: c"}
    assert announced(guide, after="0.0.9") == {"b: c", "d"}
    assert announced(guide, after="0.2.0") == set()


# The comparison of schemas. Each case has two schemas, and the changes from one to the other and back.


def members(required: str = "", **properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": required.split()}


def kind(value: str, **properties: Json) -> Json:
    return members("type", type={"type": "string", "enum": [value]}, **properties)


REQUESTS: dict[str, tuple[Json, Json, list[str], list[str]]] = {
    "member": (members(a=TEXT, b=TEXT), members(a=TEXT), ["member b was removed"], []),
    "required": (members(a=TEXT), members("a", a=TEXT), ["member a is required now"], []),
    "required and new": (members(), members("a", a=TEXT), ["member a is required now"], ["member a was removed"]),
    "type": (
        members(a=TEXT), members(a={"type": "integer"}),
        ["member a is integer now, not string"], ["member a is string now, not integer"],
    ),
    "more types": (
        members(a={"type": ["string", "null"]}), members(a=TEXT), ["member a is string now, not null or string"], [],
    ),
    "any type": (members(a={}), members(a=TEXT), ["member a is string now, not anything"], []),
    "number": (
        members(a={"type": "number"}), members(a={"type": "integer"}), ["member a is integer now, not number"], [],
    ),
    "format": (
        members(a=TEXT), members(a=TEXT | {"format": "uuid"}), ["member a is string (uuid) now, not string"], [],
    ),
    "enum": (members(a={"enum": ["x", "y"]}), members(a={"enum": ["x"]}), ["member a cannot be y now"], []),
    "enum is new": (members(a=TEXT), members(a=TEXT | {"enum": ["x"]}), ["member a must be one of x now"], []),
    "minimum": (
        members(a={"minimum": 1}), members(a={"minimum": 2}), ["member a has minimum 2 now, not 1"], [],
    ),
    "maximum": (members(a={}), members(a={"maximum": 2}), ["member a has maximum 2 now, not none"], []),
    "lengths": (
        members(a={"minLength": 0, "maxLength": 9}), members(a={"minLength": 1, "maxLength": 8}),
        ["member a has minLength 1 now, not 0", "member a has maxLength 8 now, not 9"], [],
    ),
    "items": (
        members(a={"type": "array", "items": TEXT}), members(a={"type": "array", "items": TEXT, "maxItems": 3}),
        ["member a has maxItems 3 now, not none"], [],
    ),
    "unique items": (
        members(a={"type": "array"}), members(a={"type": "array", "uniqueItems": True}),
        ["member a must have unique items now"], [],
    ),
    "pattern": (
        members(a={"pattern": "^a$"}), members(a={"pattern": "^b$"}),
        ["member a has another pattern now"], ["member a has another pattern now"],
    ),
    "pattern is new": (members(a={}), members(a={"pattern": "a"}), ["member a has another pattern now"], []),
    "inner": (
        members(a={"type": "array", "items": members(b=TEXT)}),
        members(a={"type": "array", "items": members("b", b=TEXT)}), ["member a[].b is required now"], [],
    ),
    "additional": (
        {"type": "object", "additionalProperties": members(b=TEXT)},
        {"type": "object", "additionalProperties": members("b", b=TEXT)}, ["member *.b is required now"], [],
    ),
    "additional ones are refused": (
        members(), members() | {"additionalProperties": False}, ["member * is not allowed now"], [],
    ),
    "alternative": (
        {"anyOf": [kind("x"), kind("y")]}, {"anyOf": [kind("x")]}, ["body alternative y was removed"], [],
    ),
    "all of": (
        {"allOf": [members(a=TEXT), members(b=TEXT)]}, {"allOf": [members(a=TEXT), members("b", b=TEXT)]},
        ["member b is required now"], [],
    ),
    "all of is the same as its members": (
        {"allOf": [members(a=TEXT), members("b", b=TEXT)]}, members("b", a=TEXT, b=TEXT), [], [],
    ),
    "words": (members(a=TEXT), members(a=TEXT | {"description": "An a."}), [], []),
}
RESPONSES: dict[str, tuple[Json, Json, list[str], list[str]]] = {
    "member": (members(a=TEXT, b=TEXT), members(a=TEXT), ["member b was removed"], []),
    "required": (members("a", a=TEXT), members(a=TEXT), ["member a may be absent now"], []),
    "type": (
        members(a=TEXT), members(a={"type": "integer"}),
        ["member a is integer now, not string"], ["member a is string now, not integer"],
    ),
    "null": (
        members(a=TEXT), members(a={"type": ["string", "null"]}), ["member a is null or string now, not string"], [],
    ),
    "number": (
        members(a={"type": "integer"}), members(a={"type": "number"}), ["member a is number now, not integer"], [],
    ),
    "enum": (members(a={"enum": ["x"]}), members(a={"enum": ["x", "y"]}), [], []),
    "ranges": (members(a={"maximum": 1}), members(a={"maximum": 2}), [], []),
    "inner": (
        members(a={"type": "array", "items": members("b", b=TEXT)}),
        members(a={"type": "array", "items": members(b=TEXT)}), ["member a[].b may be absent now"], [],
    ),
    "alternative": (
        {"anyOf": [kind("x"), kind("y")]}, {"anyOf": [kind("x")]}, ["body alternative y was removed"], [],
    ),
    "alternative's member": (
        {"anyOf": [kind("x"), kind("y", a=TEXT)]}, {"anyOf": [kind("y"), kind("x")]}, ["member a was removed"], [],
    ),
    "alternative's type": (
        members(a={"anyOf": [TEXT, {"type": "integer"}]}), members(a={"anyOf": [TEXT, {"type": "boolean"}]}),
        ["member a is boolean now, not string"], ["member a is integer now, not string"],
    ),
    "alternative of null": (
        members(a=TEXT), members(a={"anyOf": [TEXT, {"type": "null"}]}), ["member a is null now, not string"], [],
    ),
}


def openapi(**operation: Any) -> Json:
    operation = {"operationId": "calls.create", "responses": {}} | operation
    return {"openapi": "3.1.0", "paths": {"/calls": {"post": operation}}}


def body(schema: Json) -> Json:
    return {"content": {"application/json": {"schema": schema}}}


@pytest.mark.parametrize("case", REQUESTS)
def test_requests(case):
    old, new, there, back = REQUESTS[case]
    documents = [openapi(requestBody=body(schema)) for schema in (old, new)]
    assert breaking_changes(*documents) == [f"calls.create: request {one}" for one in there]
    assert breaking_changes(*reversed(documents)) == [f"calls.create: request {one}" for one in back]


@pytest.mark.parametrize("case", RESPONSES)
def test_responses(case):
    old, new, there, back = RESPONSES[case]
    documents = [openapi(responses={"200": body(schema)}) for schema in (old, new)]
    assert breaking_changes(*documents) == [f"calls.create: response {one}" for one in there]
    assert breaking_changes(*reversed(documents)) == [f"calls.create: response {one}" for one in back]


def test_components_are_the_location_of_their_changes():
    reference = {"$ref": "#/components/schemas/Tree"}

    def document(tree: Json) -> Json:
        trees = {"type": "array", "items": reference}
        used = openapi(responses={"200": body(trees), "201": body(trees)}, requestBody=body(members(tree=reference)))
        return used | {"components": {"schemas": {"Tree": tree}}}

    old = document(members("name", name=TEXT, child=reference))
    new = document(members("name", name={"type": "integer"}, child=reference))
    words = "member name is integer now, not string"
    assert breaking_changes(old, new) == [f"Tree: request {words}", f"Tree: response {words}"]
    assert breaking_changes(old, old) == []


def test_a_renamed_component_with_a_cycle_is_the_same():
    def document(name: str, required: str) -> Json:
        reference = {"$ref": f"#/components/schemas/{name}"}
        tree = {"anyOf": [members(required, name=TEXT, child=reference), TEXT]}
        return openapi(requestBody=body(reference)) | {"components": {"schemas": {name: tree}}}

    assert breaking_changes(document("Tree", ""), document("Node", "")) == []
    changed = breaking_changes(document("Tree", ""), document("Node", "name"))
    assert changed == ["calls.create: request member name is required now"]


# The comparison of documents


def parameter(name: str, where: str = "query", required: bool = False, **schema: Any) -> Json:
    return {"name": name, "in": where, "required": required, "schema": schema}


OPERATIONS: dict[str, tuple[Json, Json, list[str], list[str]]] = {
    "path": (openapi(), {"openapi": "3.1.0", "paths": {}}, ["POST /calls was removed"], []),
    "method": (openapi(), {"openapi": "3.1.0", "paths": {"/calls": {}}}, ["POST /calls was removed"], []),
    "parameter": (openapi(parameters=[parameter("a")]), openapi(), ["query parameter a was removed"], []),
    "parameter is required": (
        openapi(parameters=[parameter("a")]), openapi(parameters=[parameter("a", required=True)]),
        ["query parameter a is required now"], [],
    ),
    "parameter is narrowed": (
        openapi(parameters=[parameter("a", maximum=9)]), openapi(parameters=[parameter("a", maximum=8)]),
        ["query parameter a has maximum 8 now, not 9"], [],
    ),
    "header is required": (
        openapi(), openapi(parameters=[parameter("If-Match", "header", True)]),
        ["header parameter If-Match is required now"], ["header parameter If-Match was removed"],
    ),
    "body": (openapi(requestBody=body(members())), openapi(), ["request body was removed"], []),
    "body is required": (
        openapi(requestBody=body({})), openapi(requestBody=body({}) | {"required": True}),
        ["request body is required now"], [],
    ),
    "type of the body": (
        openapi(requestBody={"content": {"image/png": {}, "image/jpeg": {}}}),
        openapi(requestBody={"content": {"image/png": {}}}), ["request of type image/jpeg was removed"], [],
    ),
    "status": (
        openapi(responses={"200": {}, "201": {}}), openapi(responses={"200": {}}), ["response 201 was removed"], [],
    ),
    "problem": (openapi(responses={"200": {}, "404": {}}), openapi(responses={"200": {}}), [], []),
    "response's header": (
        openapi(responses={"200": {"headers": {"ETag": {}}}}), openapi(responses={"200": {}}),
        ["response header ETag was removed"], [],
    ),
    "response's type": (
        openapi(responses={"200": body({})}), openapi(responses={"200": {}}),
        ["response of type application/json was removed"], [],
    ),
}


@pytest.mark.parametrize("case", OPERATIONS)
def test_operations(case):
    old, new, there, back = OPERATIONS[case]
    assert breaking_changes(old, new) == [f"calls.create: {one}" for one in there]
    assert breaking_changes(new, old) == [f"calls.create: {one}" for one in back]


def test_operation_ids():
    old, new = openapi(), openapi(operationId="calls.make")
    assert breaking_changes(old, new) == ["calls.create: operationId is calls.make now"]


def asyncapi() -> Json:
    frame = members("id", id={"type": "integer"}, note=TEXT)

    def referring(*names: str) -> list[Json]:
        return [{"$ref": f"#/channels/realtime/messages/{one}"} for one in names]

    return {
        "asyncapi": "3.0.0",
        "channels": {"realtime": {"address": "/v1/realtime", "messages": {"hello": {}, "bye": {}}}},
        "operations": {
            "hello": {"action": "receive", "messages": referring("hello")},
            "sendFrames": {"action": "send", "messages": referring("bye")},
        },
        "components": {
            "messages": {"hello": {"payload": frame}, "bye": {"payload": copy.deepcopy(frame)}},
            "schemas": {"HelloResult": copy.deepcopy(frame)},
        },
        "x-streams": [
            {
                "name": "user:{user}", "kind": "log", "changes": [{"type": "call"}, {"type": "block"}],
                "frames": {"changes": copy.deepcopy(frame), "snapshot": {}},
            }
        ],
        "x-resets": [{"reason": "gap"}],
        "x-closeCodes": [{"code": 4000, "reason": "shutting_down"}],
        "x-requests": [{"name": "me.get", "frame": copy.deepcopy(frame), "result": copy.deepcopy(frame)}],
    }


# Where to change the document, to what (nothing removes), and the changes there and back.
REALTIME: list[tuple[list[Any], Any, list[str], list[str]]] = [
    (["channels", "realtime"], None, ["channel realtime: was removed"], []),
    (["channels", "realtime", "messages", "bye"], None, ["channel realtime: message bye was removed"], []),
    (["operations", "hello"], None, ["operation hello: was removed"], []),
    (["components", "messages", "bye"], None, ["message bye: was removed"], []),
    (["components", "messages", "hello", "payload", "required"], ["id", "note"],
     ["message hello: request member note is required now"], []),
    (["components", "messages", "hello", "payload", "properties", "note"], None,
     ["message hello: request member note was removed"], []),
    (["components", "messages", "bye", "payload", "required"], [],
     ["message bye: response member id may be absent now"], []),
    (["components", "messages", "bye", "payload", "properties", "note"], None,
     ["message bye: response member note was removed"], []),
    (["components", "schemas", "HelloResult", "properties", "note"], None,
     ["HelloResult: response member note was removed"], []),
    (["x-streams", 0], None, ["stream user:{user}: was removed"], []),
    (["x-streams", 0, "changes", 1], None, ["stream user:{user}: change block was removed"], []),
    (["x-streams", 0, "frames", "snapshot"], None, ["stream user:{user}: frame snapshot was removed"], []),
    (["x-streams", 0, "frames", "changes", "properties", "note"], None,
     ["stream user:{user}: response member changes.note was removed"], []),
    (["x-resets", 0], None, ["reset gap: was removed"], []),
    (["x-closeCodes", 0], None, ["close code 4000: was removed"], []),
    (["x-requests", 0], None, ["realtime me.get: was removed"], []),
    (["x-requests", 0, "frame", "required"], ["id", "note"],
     ["realtime me.get: request member note is required now"], []),
    (["x-requests", 0, "result", "required"], [], ["realtime me.get: response member id may be absent now"], []),
    (["channels", "realtime", "address"], "/v2", ["channel realtime: address is /v2 now, not /v1/realtime"],
     ["channel realtime: address is /v1/realtime now, not /v2"]),
    (["x-streams", 0, "kind"], "events", ["stream user:{user}: kind is events now, not log"],
     ["stream user:{user}: kind is log now, not events"]),
    (["x-closeCodes", 0, "reason"], "gone", ["close code 4000: reason is gone now, not shutting_down"],
     ["close code 4000: reason is shutting_down now, not gone"]),
]


@pytest.mark.parametrize("path,value,there,back", REALTIME, ids=lambda value: str(value)[:60])
def test_realtime(path, value, there, back):
    old, new = asyncapi(), asyncapi()
    location: Any = new
    for step in path[:-1]:
        location = location[step]
    if value is None:
        del location[path[-1]]
    else:
        location[path[-1]] = value
    assert breaking_changes(old, new) == there
    assert breaking_changes(new, old) == back
