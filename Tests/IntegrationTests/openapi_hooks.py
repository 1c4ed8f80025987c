"""What schemathesis cannot guess: people and calls that are there. Half of the ids that it makes up are replaced, so that
operations are tried on things that exist and on things that do not. Loaded by test_openapi through SCHEMATHESIS_HOOKS.
"""

from __future__ import annotations

import json
import os
import uuid
import zlib

import httpx
import schemathesis

SERVER = os.environ["SWITCHBOARD_URL"]
ME, FRIEND = (json.loads(os.environ[name]) for name in ("SWITCHBOARD_ME", "SWITCHBOARD_FRIEND"))
HTTP = httpx.Client(base_url=SERVER, timeout=20)


def one_of(count: int, *values: object) -> int:
    """A choice that follows from the values, so that a run can be repeated."""
    return zlib.crc32(repr(values).encode()) % count


def post(person: dict, path: str, body: dict) -> dict:
    answer = HTTP.post(path, json=body, headers=person["headers"])
    assert answer.status_code < 500, answer.text
    return answer.json()


def live_call(choice: int) -> str:
    """A call that rings for me, that I ring with, or that goes on."""
    caller, callee = (ME, FRIEND) if choice % 2 else (FRIEND, ME)
    body = {"clientID": str(uuid.uuid4()), "callees": [callee["user"]], "kind": "audio", "other": "end"}
    call = post(caller, "/v1/calls", body | {"offer": {"sdp": "v=0"}})["call"]["id"]
    if choice >= 2:
        post(callee, f"/v1/calls/{call}/accept", {"clientID": str(uuid.uuid4()), "other": "end"})
    return call


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    if not path_parameters:
        return path_parameters
    choice = one_of(8, sorted(path_parameters.items(), key=repr), context.operation.label)
    if choice < 4:
        if "call" in path_parameters:
            path_parameters["call"] = live_call(choice)
        if "user" in path_parameters:
            path_parameters["user"] = FRIEND["user"]
    return path_parameters


@schemathesis.hook
def map_body(context, body):
    if isinstance(body, dict) and one_of(2, repr(body)):
        for name in ("callees", "users"):
            if name in body:
                body[name] = [FRIEND["user"]]
    return body


# SDP is text like any other here; what is in it is for test_doors.
for media_type in ("application/sdp", "application/trickle-ice-sdpfrag"):
    schemathesis.serializer(media_type)(lambda context, value: value.encode() if isinstance(value, str) else b"")
