"""Values that schemathesis cannot guess: existing users, calls and voice messages. Half of its generated ids are
replaced, so that operations are tested with ids that exist and ids that do not. test_openapi loads it by
SCHEMATHESIS_HOOKS.
"""

from __future__ import annotations

import json
import os
import uuid
import zlib

import httpx
import schemathesis
from switchboard_tests.audio_files import encode, tone

SERVER = os.environ["DEV_SWITCHBOARD_URL"]
ME, FRIEND = (json.loads(os.environ[name]) for name in ("DEV_SWITCHBOARD_ME", "DEV_SWITCHBOARD_FRIEND"))
HTTP = httpx.Client(base_url=SERVER, timeout=60)


def one_of(count: int, *values: object) -> int:
    """A choice derived from the values, so that a run can be repeated."""
    return zlib.crc32(repr(values).encode()) % count


def post(person: dict, path: str, body: dict) -> dict:
    response = HTTP.post(path, json=body, headers=person["headers"])
    assert response.status_code < 500, response.text
    return response.json()


def live_call(choice: int) -> str:
    """An incoming or outgoing ringing call, or an active one."""
    caller, callee = (ME, FRIEND) if choice % 2 else (FRIEND, ME)
    body = {"clientID": str(uuid.uuid4()), "callees": [callee["user"]], "kind": "audio", "other": "end"}
    call = post(caller, "/v1/calls", body | {"offer": {"sdp": "v=0"}})["call"]["id"]
    if choice >= 2:
        post(callee, f"/v1/calls/{call}/accept", {"clientID": str(uuid.uuid4()), "other": "end"})
    return call


AUDIO = encode(tone(0.1))


def voice_file() -> str:
    """A voice file that is not sent."""
    response = HTTP.post(
        "/v1/voice-files", params={"clientID": str(uuid.uuid4())}, content=AUDIO,
        headers=ME["headers"] | {"Content-Type": "audio/ogg"},
    )
    # Twenty of them may wait.
    return response.json()["file"]["id"] if response.status_code == 201 else str(uuid.uuid4())


def voice_audio() -> str | None:
    """A link to the audio of a voice message in the user's notes, unless too many requests were made."""
    notes = post(ME, "/v1/conversations", {"clientID": str(uuid.uuid4()), "kind": "self"})
    if "conversation" not in notes:
        return None
    path = f"/v1/conversations/{notes['conversation']['id']}/messages"
    sent = post(ME, path, {"clientID": str(uuid.uuid4()), "kind": "voice", "file": voice_file()})
    if "message" not in sent:
        return None
    audio = HTTP.get(f"{path}/{sent['message']['number']}/audio", headers=ME["headers"])
    return audio.json()["audio"]["url"]


OFFER = "\r\n".join([
    "v=0", "o=- 1 1 IN IP4 0.0.0.0", "s=-", "t=0 0", "a=group:BUNDLE 0", "m=audio 9 UDP/TLS/RTP/SAVPF 111",
    "c=IN IP4 0.0.0.0", "a=mid:0", "a=sendonly", "a=rtcp-mux", "a=rtpmap:111 opus/48000/2", "a=ice-ufrag:peer",
    "a=ice-pwd:abcdabcdabcdabcdabcdabcd", "a=setup:actpass", "a=fingerprint:sha-256 " + ":".join(["AB"] * 32), "",
])


def voice_recording() -> str:
    """A voice recording in progress; it replaces the previous one."""
    return post(ME, "/v1/voice-recordings", {"offer": {"sdp": OFFER}})["recording"]


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
        if "/voice-files/" in context.operation.path:
            path_parameters["file"] = voice_file()
        if "/voice-recordings/" in context.operation.path:
            path_parameters["recording"] = voice_recording()
    return path_parameters


@schemathesis.hook
def map_query(context, query):
    if query and one_of(2, sorted(query.items(), key=repr), context.operation.label):
        for name in ("to", "with"):
            if name in query:
                query[name] = FRIEND["user"]
    return query


@schemathesis.hook
def map_headers(context, headers):
    """Half of the endpoints are registered ones; with others, few requests would get further than that."""
    name = "Switchboard-Endpoint"
    if headers and name in headers and one_of(2, repr(headers[name]), context.operation.label):
        headers[name] = ME["headers"][name]
    return headers


@schemathesis.hook
def before_call(context, case, **kwargs):
    """Half of the requested files exist, with a URL from the server."""
    if case.operation.path == "/v1/media/{file}" and one_of(2, repr(case.query), repr(case.path_parameters)):
        audio = voice_audio()
        if audio is None:
            return
        url = httpx.URL(audio)
        case.path_parameters["file"] = url.path.rpartition("/")[2]
        case.query = dict(url.params)


@schemathesis.hook
def map_body(context, body):
    if isinstance(body, dict) and one_of(2, repr(body)):
        for name in ("callees", "users"):
            if name in body:
                body[name] = [FRIEND["user"]]
        if set(body) == {"offer"}:
            body |= {"offer": {"sdp": OFFER}}
    return body


def as_bytes(value: object) -> bytes:
    """A body that is not JSON: schemathesis wraps the bytes of the format `binary`."""
    data = getattr(value, "data", value)
    return data if isinstance(data, bytes) else str(data).encode()


# SDP is arbitrary bytes here; test_whip tests its content.
for media_type in ("application/sdp", "application/trickle-ice-sdpfrag"):
    schemathesis.serializer(media_type)(lambda context, value: as_bytes(value))


# Half of the bodies are valid audio.
for media_type in ("audio/ogg", "audio/webm"):
    schemathesis.serializer(media_type)(
        lambda context, value: AUDIO if one_of(2, repr(value)) else repr(value).encode()
    )
