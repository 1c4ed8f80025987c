"""Access to a call's resources: one table of roles and resources, tested over REST, WebSocket and server-sent events.

All roles are real: the call rings, is declined, missed, joined, left, recorded and captioned. A new resource needs a
row in `REACHED` and a function that requests it.
"""

from __future__ import annotations

import asyncio
import uuid

import httpx
import pytest
from switchboard_tests.endpoint import client_id
from switchboard_tests.gateway import Participant
from switchboard_tests.operators import sign_in
from switchboard_tests.recordings import ended, person, signed_up
from switchboard_tests.server import HTTP, Server, User
from switchboard_tests.server_keys import SCOPES, ServerKey, create
from switchboard_tests.transports import event_stream, web_socket
from switchboard_tests.waiting import wait_until

# Each role's relation to a call that was recorded for a while and has captions now.
ROLES = {
    "anonymous": "has no token",
    "outsider": "is not a participant of the call",
    "blocked": "was invited, but has blocked the caller and is never notified",
    "ringing": "was invited after the recording, and has not accepted",
    "declined": "declined the call before it was recorded",
    "missed": "never accepted",
    "joined": "was in the call all the time",
    "left before": "left before the recording started",
    "left after": "was in the call during the recording, and left",
    "joined later": "joined after the recording had ended",
    "disabled": "was in the call during the recording; the account was disabled afterwards",
    "revoked": "was in the call during the recording; the session was revoked afterwards",
    "deleted": "was in the call during the recording; the account was deleted afterwards",
}
NAMED = {"ringing", "declined", "missed", "joined", "left before", "left after", "joined later"}
LISTENABLE = {"joined", "left after"}
INSIDE = {"joined", "joined later"}
REACHED = {
    "document": NAMED,
    "captions": INSIDE,
    "captions in another language": INSIDE,
    "recording": LISTENABLE,
    "transcript": LISTENABLE,
    "mix": LISTENABLE,
    "leg": INSIDE,
    "slots": INSIDE,
    "signals": INSIDE,
    "media address": LISTENABLE,
}
# What a server key reaches, and the scope that it needs.
KEY_REACHED = {
    "/v1/server/users": "users",
    "/v1/server/users/{joined}": "users",
    "/v1/server/calls": "calls:read",
    "/v1/server/calls?user={joined}": "calls:read",
    "/v1/server/calls/{call}": "calls:read",
    "/v1/server/calls/{call}/recordings": "recordings",
    "/v1/server/events": "events",
}
# What an operator reaches, on the operator's port, after signing in with a key of the scope `operator`.
OPERATOR_REACHED = [
    "/admin/figures", "/admin/v1/audit", "/admin/v1/calls", "/admin/v1/keys", "/admin/v1/push", "/admin/v1/reports",
    "/admin/v1/server", "/admin/v1/sessions/current", "/admin/v1/settings", "/admin/v1/users",
    "/admin/v1/users/{joined}",
]
# What no server key reaches: the API of users.
KEY_NEVER = [
    ("GET", "/v1/me"), ("GET", "/v1/me/push"), ("PUT", "/v1/me/device/push"),
    ("DELETE", "/v1/me/device/push?kind=web"), ("POST", "/v1/me/delete"),
    ("GET", "/v1/friends"), ("POST", "/v1/friends"),
    ("POST", "/v1/friends/{joined}/accept"), ("POST", "/v1/friends/{joined}/decline"),
    ("DELETE", "/v1/friends/{joined}"), ("POST", "/v1/me/link"), ("DELETE", "/v1/me/link"),
    ("GET", "/v1/links/x"), ("POST", "/v1/reports"), ("GET", "/v1/conversations"), ("POST", "/v1/conversations"),
    ("GET", "/v1/inbox"), ("GET", "/v1/search?query=x"), ("GET", "/v1/conversations/{call}"),
    ("GET", "/v1/search?query=x&mode=meaning"), ("GET", "/v1/priority"), ("POST", "/v1/dictation"),
    ("POST", "/v1/voice-files/{call}/dictation"), ("POST", "/v1/assistant"), ("POST", "/v1/assistant/batch"),
    ("GET", "/v1/assistant/threads"), ("GET", "/v1/assistant/runs/{call}"),
    ("GET", "/v1/conversations/{call}/messages"),
    ("POST", "/v1/conversations/{call}/messages"), ("GET", "/v1/calls/{call}"),
    ("GET", "/v1/calls/{call}/recordings"), ("GET", "/v1/recordings/{recording}"),
    ("GET", "/v1/recordings/{recording}/transcript"), ("GET", "/v1/recordings/{recording}/transcript/vtt"),
    ("POST", "/v1/recordings/{recording}/mix"),
    ("POST", "/v1/calls/{call}/leg"), ("POST", "/v1/calls/{call}/whep"), ("POST", "/v1/calls/{call}/end"),
]
COMMAND = ["/bin/sh", "-c", "cat > /dev/null; echo hello"]


class Harness:
    """The call and its users."""

    def __init__(self, server: Server):
        self.server = server
        self.call = self.recording = ""
        self.people: dict[str, User | None] = {}
        # The URL of a track, as each user with access got it; for all others, the URL of one of those.
        self.addresses: dict[str, str] = {}
        self.keys: dict[str, ServerKey] = {}

    def take_address(self, role: str) -> None:
        manifest = self.people[role].get(f"/v1/recordings/{self.recording}").json()["recording"]
        self.addresses[role] = manifest["tracks"][0]["audio"]["url"]


def state(harness: Harness, who: User, by: User) -> str:
    call = by.get(f"/v1/calls/{harness.call}").json()["call"]
    return next(one["state"] for one in call["participants"] if one["user"] == who.id)


@pytest.fixture(scope="module")
def harness(make_server):
    server = make_server(
        {"transcription": {"provider": "command", "command": COMMAND}, "calls": {"leaseSeconds": 300}}
    )
    harness = Harness(server)
    people = harness.people
    for role in ROLES:
        people[role] = None if role == "anonymous" else server.user()
    for role in ("disabled", "deleted"):
        people[role] = signed_up(server, role)
    harness.keys = {scope: create(server, scope) for scope in SCOPES}
    server.command("webhook", "add")
    asyncio.run(connect_everybody(harness))
    yield harness
    server.stop()


async def connect_everybody(harness: Harness) -> None:
    server, people = harness.server, harness.people
    ann, ben = (Participant(server, one, pitch=400 + 200 * number) for number, one in enumerate(server.users(2)))
    caller = person(server, ann)

    def accept(role: str) -> None:
        assert people[role].post(f"/v1/calls/{harness.call}/accept").status_code == 200
        assert people[role].post(f"/v1/calls/{harness.call}/connected").status_code == 200

    def begin() -> None:
        assert people["blocked"].request("PUT", f"/v1/blocks/{caller.id}").status_code == 204
        for role in ("joined", "left before", "left after", "disabled", "revoked", "deleted"):
            accept(role)
        assert people["left before"].post(f"/v1/calls/{harness.call}/leave").status_code == 200
        assert people["declined"].post(f"/v1/calls/{harness.call}/decline").status_code == 200

    def close() -> None:
        # The mix and the transcript, requested by somebody with access.
        path = f"/v1/recordings/{harness.recording}"
        participant_user = people["left after"]
        assert (
            participant_user.post(path + "/transcript").status_code
            == participant_user.post(path + "/mix").status_code
            == 200
        )
        wait_until(
            lambda: participant_user.get(path + "/transcript").json()["transcript"]["status"] == "complete", "words", 30
        )
        for role in ("joined", "left after", "disabled", "revoked", "deleted"):
            harness.take_address(role)
            assert HTTP.get(server.url + harness.addresses[role]).status_code == 200
        server.command("account", "disable", "--email", "disabled@example.org")
        assert people["revoked"].request("DELETE", "/v1/sessions/current").status_code == 204
        server.command("account", "delete", "deleted@example.org", "--yes")
        for role in ("disabled", "revoked", "deleted"):
            # A participation ends with the sign-in by which it was joined.
            wait_until(
                lambda: state(harness, people[role], people["joined"]) == "left", f"{role} to be out", 5
            )
        accept("joined later")
        wait_until(lambda: state(harness, people["missed"], people["joined"]) == "missed", "the ring to end", 30)

    named = ("joined", "left before", "left after", "disabled", "revoked", "deleted", "declined", "missed", "blocked")
    try:
        await ann.open()
        await ben.open()
        await asyncio.to_thread(people["blocked"].request, "PUT", f"/v1/blocks/{caller.id}")
        made = await ann.endpoint.ask(
            "calls.create", clientID=client_id(), callees=[people[role].id for role in named] + [ben.endpoint.user],
            kind="audio", mode="gateway", ringSeconds=10,
        )
        harness.call = ann.call = made["call"]["id"]
        await asyncio.to_thread(begin)
        await ben.accept(harness.call)
        await ann.endpoint.listen(f"call:{harness.call}")
        for one in (ann, ben):
            await one.join(slots=1, video=False)
        recorded = await ann.endpoint.ask("calls.record", call=harness.call)
        harness.recording = recorded["call"]["recording"]["id"]
        await ann.until("the recording to have tracks", lambda: tracks(harness, caller))
        await asyncio.to_thread(people["left after"].post, f"/v1/calls/{harness.call}/leave")
        await ann.endpoint.ask("calls.stopRecording", call=harness.call)
        await ended(server, ann, harness.call)
        await ann.endpoint.ask("calls.caption", call=harness.call)
        await ann.endpoint.ask(
            "calls.invite", call=harness.call, clientID=client_id(),
            users=[people["ringing"].id, people["joined later"].id],
        )
        await asyncio.to_thread(close)
    finally:
        for one in (ann, ben):
            await one.close()


def tracks(harness: Harness, who: User) -> bool:
    recording = who.get(f"/v1/recordings/{harness.recording}").json()["recording"]
    return len(recording["tracks"]) == 2


# REST: each thing is accessible to the roles in the table, and to nobody else.


def ask(harness: Harness, role: str, method: str, path: str, body: dict | None = None) -> httpx.Response:
    who = harness.people[role]
    return HTTP.request(method, harness.server.url + path, json=body, headers=who.headers if who else {})


def has_recording(harness: Harness, role: str) -> bool:
    response = ask(harness, role, "GET", f"/v1/recordings/{harness.recording}")
    listed = ask(harness, role, "GET", f"/v1/calls/{harness.call}/recordings")
    found = listed.status_code == 200 and [one["id"] for one in listed.json()["recordings"]] == [harness.recording]
    assert found == (response.status_code == 200), "both endpoints agree"
    return found


def has_transcript(harness: Harness, role: str) -> bool:
    path = f"/v1/recordings/{harness.recording}/transcript"
    statuses = {ask(harness, role, "GET", path + form).status_code for form in ("", "/text", "/srt", "/vtt")}
    statuses.add(ask(harness, role, "POST", path, {}).status_code)
    statuses.add(ask(harness, role, "POST", path + "/translations", {"language": "es"}).status_code)
    assert len(statuses) == 1, statuses
    return statuses == {200}


def reaches_leg(harness: Harness, role: str) -> bool:
    """Only users who may make an offer get its errors."""
    response = ask(harness, role, "POST", f"/v1/calls/{harness.call}/leg", {"offer": {"sdp": "nonsense"}})
    return response.status_code == 400 and response.json()["field"] == "offer.sdp"


def reaches_slots(harness: Harness, role: str) -> bool:
    response = ask(harness, role, "PATCH", f"/v1/calls/{harness.call}/leg", {"slots": {}})
    return response.status_code == 409 and "no leg" in response.json()["detail"]


def can_fetch_file(harness: Harness, role: str) -> bool:
    address = harness.addresses.get(role)
    if address is None:
        # Another's recording with one's own credentials.
        who = harness.people[role]
        another = {"user": who.id if who else str(uuid.uuid4())}
        address = str(httpx.URL(harness.addresses["joined"]).copy_merge_params(another))
    statuses = {
        HTTP.get(f"{harness.server.url}{address}").status_code,
        HTTP.head(f"{harness.server.url}{address}").status_code,
    }
    assert len(statuses) == 1, statuses
    return statuses == {200}


OVER_REST = {
    "document": lambda harness, role: ask(harness, role, "GET", f"/v1/calls/{harness.call}").status_code == 200,
    "recording": has_recording,
    "transcript": has_transcript,
    "mix": lambda harness, role: (
        ask(harness, role, "POST", f"/v1/recordings/{harness.recording}/mix", {}).status_code == 200
    ),
    "leg": reaches_leg,
    "slots": reaches_slots,
    "media address": can_fetch_file,
}


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("thing", OVER_REST)
def test_over_rest(harness, thing, role):
    assert OVER_REST[thing](harness, role) == (role in REACHED[thing]), f"{role}: {ROLES[role]}"


# Friends, links and reports are for everybody who is signed in, and each reaches only their own.
SIGNED_OUT = {"anonymous", "disabled", "revoked", "deleted"}
FRIEND_REQUESTS = [
    ("GET", "/v1/friends", None, 200), ("POST", "/v1/friends", {"user": "{joined}"}, 400),
    ("POST", "/v1/friends/{joined}/accept", {}, 404), ("POST", "/v1/friends/{joined}/decline", {}, 404),
    ("DELETE", "/v1/friends/{joined}", None, 204), ("POST", "/v1/me/link", {}, 201),
    ("DELETE", "/v1/me/link", None, 204), ("GET", "/v1/links/x", None, 404), ("POST", "/v1/reports", {}, 400),
]


@pytest.mark.parametrize("role", ROLES)
def test_friends_over_rest(harness, role):
    for method, path, body, status in FRIEND_REQUESTS:
        response = ask(harness, role, method, filled(harness, path), body)
        expected = (401, 403) if role in SIGNED_OUT else (status,)
        assert response.status_code in expected, (path, response.text)


@pytest.mark.parametrize("role", ROLES)
def test_searches_over_rest(harness, role):
    response = ask(harness, role, "GET", "/v1/search?query=x")
    assert response.status_code in ((401, 403) if role in SIGNED_OUT else (200,)), response.text


# Server keys: each reaches what its scope says, and nothing that is a user's.


def filled(harness: Harness, path: str) -> str:
    return path.format(call=harness.call, recording=harness.recording, joined=harness.people["joined"].id)


@pytest.mark.parametrize("scope", SCOPES)
def test_with_a_server_key(harness, scope):
    key = harness.keys[scope]
    for path, needed in KEY_REACHED.items():
        response = key.get(filled(harness, path))
        assert response.status_code == (200 if scope == needed else 403), (path, response.text)
    for method, path in KEY_NEVER:
        response = key.request(method, filled(harness, path), {} if method == "POST" else None)
        assert response.status_code == 401 and response.json()["field"] == "Authorization", (path, response.text)


@pytest.mark.parametrize("scope", SCOPES)
def test_on_the_operators_port(harness, scope):
    key = harness.keys[scope]
    signed_in = sign_in(harness.server, key.text)
    assert signed_in.status_code == (201 if scope == "operator" else 403), signed_in.text
    bearer = {"Authorization": f"Bearer {signed_in.json().get('token', key.text)}"}
    for path in OPERATOR_REACHED:
        url = harness.server.admin_url + path.format(joined=harness.people["joined"].id)
        assert HTTP.get(url, headers=bearer).status_code == (200 if scope == "operator" else 401), path
    # Neither the key itself nor a user's token is a session.
    for headers in ({"Authorization": f"Bearer {key.text}"}, harness.people["joined"].headers, {}):
        for path in OPERATOR_REACHED:
            assert HTTP.get(harness.server.admin_url + path, headers=headers).status_code == 401, path


def test_a_server_key_reads_the_files_of_recordings(harness):
    path = f"/v1/server/calls/{harness.call}/recordings"
    recordings = harness.keys["recordings"].get(path).json()["recordings"]
    assert [one["id"] for one in recordings] == [harness.recording]
    url = harness.server.url + recordings[0]["tracks"][0]["audio"]["url"]
    assert HTTP.get(url).status_code == 200


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("path", KEY_REACHED)
def test_no_user_is_a_server_key(harness, path, role):
    assert ask(harness, role, "GET", filled(harness, path)).status_code == 401


# Streams: the snapshot goes to the roles in the table, and to nobody else.


def streams(harness: Harness, role: str) -> dict[str, str]:
    endpoint = harness.people[role].endpoint if harness.people[role] else str(uuid.uuid4())
    call = harness.call
    # Slot changes of a leg arrive in the mailbox.
    return {
        "document": f"call:{call}", "captions": f"captions:{call}",
        "captions in another language": f"captions:{call}:pt", "signals": f"signals:{call}:{endpoint}",
    }  # fmt: skip


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("transport", [web_socket, event_stream])
def test_by_listening(harness, transport, role):
    with transport(harness.server, harness.people[role]) as exchange:
        for id, (thing, stream) in enumerate(streams(harness, role).items(), 2):
            response = exchange(id, {"listen": {"stream": stream}}) if exchange else None
            assert (response is not None and "result" in response) == (role in REACHED[thing]), (
                thing,
                ROLES[role],
                response,
            )
        if exchange and role != "joined":
            # A user's own stream is accessible to that user only.
            other = harness.people["joined"]
            for stream in (f"user:{other.id}", f"signals:{harness.call}:{other.endpoint}"):
                assert "error" in exchange(20, {"listen": {"stream": stream}}), stream
