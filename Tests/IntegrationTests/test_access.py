"""Who reaches what of a call: one table of people and things, asked over REST, WebSocket and server-sent events.

Everybody in it is really there: the call rings, is declined, missed, joined, left, recorded and captioned. A new resource
adds a row to `REACHED`, a way to ask for it, and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid

import httpx
import pytest
from conftest import HTTP, Server, User
from endpoint import client_id
from gateway import Participant
from test_operation import wait_until
from test_recordings import ended, person, signed_up
from websockets.sync.client import connect

# What each is to a call that was recorded for a while and has captions now.
ROLES = {
    "anonymous": "has no token",
    "stranger": "is not named in the call",
    "blocked": "is named, and never learns of it, having blocked the caller",
    "ringing": "was invited after the recording, and has not answered",
    "declined": "did not want the call, before it was recorded",
    "missed": "never answered",
    "joined": "has been in it all the while",
    "left before": "was in it until before the recording began",
    "left after": "was in it while it was recorded, and went",
    "joined later": "came when it was recorded no more",
    "disabled": "was in it while it was recorded; the account is disabled since",
    "revoked": "was in it while it was recorded; the sign-in has ended since",
}
NAMED = {"ringing", "declined", "missed", "joined", "left before", "left after", "joined later"}
HEARD = {"joined", "left after"}
INSIDE = {"joined", "joined later"}
REACHED = {
    "document": NAMED,
    "captions": INSIDE,
    "recording": HEARD,
    "transcript": HEARD,
    "mix": HEARD,
    "leg": INSIDE,
    "slots": INSIDE,
    "signals": INSIDE,
    "media address": HEARD,
}
COMMAND = ["/bin/sh", "-c", "cat > /dev/null; echo hello"]


class World:
    """The call, and everybody."""

    def __init__(self, server: Server):
        self.server = server
        self.call = self.recording = ""
        self.people: dict[str, User | None] = {}
        # The address of a track as each got it who could; and of one who could, for all others.
        self.addresses: dict[str, str] = {}

    def take_address(self, role: str) -> None:
        manifest = self.people[role].get(f"/v1/recordings/{self.recording}").json()["recording"]
        self.addresses[role] = manifest["tracks"][0]["audio"]["url"]


def state(world: World, who: User, by: User) -> str:
    call = by.get(f"/v1/calls/{world.call}").json()["call"]
    return next(one["state"] for one in call["participants"] if one["user"] == who.id)


@pytest.fixture(scope="module")
def world(make_server):
    server = make_server(
        {"transcription": {"provider": "command", "command": COMMAND}, "calls": {"leaseSeconds": 300}}
    )
    world = World(server)
    people = world.people
    for role in ROLES:
        people[role] = None if role == "anonymous" else server.user()
    people["disabled"] = signed_up(server, "disabled")
    asyncio.run(meet(world))
    yield world
    server.stop()


async def meet(world: World) -> None:
    server, people = world.server, world.people
    ann, ben = (Participant(server, one, pitch=400 + 200 * number) for number, one in enumerate(server.users(2)))
    caller = person(server, ann)

    def accept(role: str) -> None:
        assert people[role].post(f"/v1/calls/{world.call}/accept").status_code == 200
        assert people[role].post(f"/v1/calls/{world.call}/connected").status_code == 200

    def begin() -> None:
        assert people["blocked"].request("PUT", f"/v1/blocks/{caller.id}").status_code == 204
        for role in ("joined", "left before", "left after", "disabled", "revoked"):
            accept(role)
        assert people["left before"].post(f"/v1/calls/{world.call}/leave").status_code == 200
        assert people["declined"].post(f"/v1/calls/{world.call}/decline").status_code == 200

    def close() -> None:
        # What is made of the recording, at the wish of somebody to whom it belongs.
        path = f"/v1/recordings/{world.recording}"
        heard = people["left after"]
        assert heard.post(path + "/transcript").status_code == heard.post(path + "/mix").status_code == 200
        wait_until(lambda: heard.get(path + "/transcript").json()["transcript"]["status"] == "complete", "words", 30)
        for role in ("joined", "left after", "disabled", "revoked"):
            world.take_address(role)
            assert HTTP.get(server.url + world.addresses[role]).status_code == 200
        server.command("account", "disable", "--email", "disabled@example.org")
        assert people["revoked"].request("DELETE", "/v1/sessions/current").status_code == 204
        for role in ("disabled", "revoked"):
            # A participation ends with the sign-in by which it was joined.
            wait_until(lambda role=role: state(world, people[role], people["joined"]) == "left", f"{role} to be out", 5)
        accept("joined later")
        wait_until(lambda: state(world, people["missed"], people["joined"]) == "missed", "the ring to end", 30)

    named = ("joined", "left before", "left after", "disabled", "revoked", "declined", "missed", "blocked")
    try:
        await ann.open()
        await ben.open()
        await asyncio.to_thread(people["blocked"].request, "PUT", f"/v1/blocks/{caller.id}")
        made = await ann.endpoint.ask(
            "calls.create", clientID=client_id(), callees=[people[role].id for role in named] + [ben.endpoint.user],
            kind="audio", mode="gateway", ringSeconds=10,
        )
        world.call = ann.call = made["call"]["id"]
        await asyncio.to_thread(begin)
        await ben.accept(world.call)
        await ann.endpoint.listen(f"call:{world.call}")
        for one in (ann, ben):
            await one.join(slots=1, video=False)
        recorded = await ann.endpoint.ask("calls.record", call=world.call)
        world.recording = recorded["call"]["recording"]["id"]
        await ann.until("the recording to have tracks", lambda: tracks(world, caller))
        await asyncio.to_thread(people["left after"].post, f"/v1/calls/{world.call}/leave")
        await ann.endpoint.ask("calls.stopRecording", call=world.call)
        await ended(server, ann, world.call)
        await ann.endpoint.ask("calls.caption", call=world.call)
        await ann.endpoint.ask(
            "calls.invite", call=world.call, clientID=client_id(),
            users=[people["ringing"].id, people["joined later"].id],
        )
        await asyncio.to_thread(close)
    finally:
        for one in (ann, ben):
            await one.close()


def tracks(world: World, who: User) -> bool:
    recording = who.get(f"/v1/recordings/{world.recording}").json()["recording"]
    return len(recording["tracks"]) == 2


# Asking over REST: what comes of each thing to somebody who may have it, and to nobody else.


def ask(world: World, role: str, method: str, path: str, body: dict | None = None) -> httpx.Response:
    who = world.people[role]
    return HTTP.request(method, world.server.url + path, json=body, headers=who.headers if who else {})


def has_recording(world: World, role: str) -> bool:
    answer = ask(world, role, "GET", f"/v1/recordings/{world.recording}")
    listed = ask(world, role, "GET", f"/v1/calls/{world.call}/recordings")
    found = listed.status_code == 200 and [one["id"] for one in listed.json()["recordings"]] == [world.recording]
    assert found == (answer.status_code == 200), "One says what the other does."
    return found


def has_transcript(world: World, role: str) -> bool:
    path = f"/v1/recordings/{world.recording}/transcript"
    answers = {ask(world, role, "GET", path + form).status_code for form in ("", "/text", "/srt", "/vtt")}
    answers.add(ask(world, role, "POST", path, {}).status_code)
    assert len(answers) == 1, answers
    return answers == {200}


def reaches_leg(world: World, role: str) -> bool:
    """What is wrong with an offer is told to who may make one."""
    answer = ask(world, role, "POST", f"/v1/calls/{world.call}/leg", {"offer": {"sdp": "nonsense"}})
    return answer.status_code == 400 and answer.json()["field"] == "offer.sdp"


def reaches_slots(world: World, role: str) -> bool:
    answer = ask(world, role, "PATCH", f"/v1/calls/{world.call}/leg", {"slots": {}})
    return answer.status_code == 409 and "no leg" in answer.json()["detail"]


def hears_file(world: World, role: str) -> bool:
    address = world.addresses.get(role)
    if address is None:
        # Another's, with one's own name on it.
        who = world.people[role]
        address = httpx.URL(world.addresses["joined"]).copy_merge_params({"user": who.id if who else str(uuid.uuid4())})
    answers = {HTTP.get(f"{world.server.url}{address}").status_code, HTTP.head(f"{world.server.url}{address}").status_code}
    assert len(answers) == 1, answers
    return answers == {200}


OVER_REST = {
    "document": lambda world, role: ask(world, role, "GET", f"/v1/calls/{world.call}").status_code == 200,
    "recording": has_recording,
    "transcript": has_transcript,
    "mix": lambda world, role: ask(world, role, "POST", f"/v1/recordings/{world.recording}/mix", {}).status_code == 200,
    "leg": reaches_leg,
    "slots": reaches_slots,
    "media address": hears_file,
}


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("thing", OVER_REST)
def test_over_rest(world, thing, role):
    assert OVER_REST[thing](world, role) == (role in REACHED[thing]), f"{role}: {ROLES[role]}"


# Listening: the snapshot comes to who may, and to nobody else.


def streams(world: World, role: str) -> dict[str, str]:
    endpoint = world.people[role].endpoint if world.people[role] else str(uuid.uuid4())
    call = world.call
    # What a leg's slots show comes through the mailbox.
    return {"document": f"call:{call}", "captions": f"captions:{call}", "signals": f"signals:{call}:{endpoint}"}


def hello(world: World, role: str) -> dict:
    who = world.people[role]
    if who is None:
        return {"token": "none"}
    return {"token": who.token, "endpoint": who.endpoint, "secret": who.secret}


@contextlib.contextmanager
def web_socket(world: World, role: str):
    """Sends a frame and returns its answer; None where there is no session."""
    with connect(world.server.realtime_url) as socket:

        def exchange(id: int, body: dict) -> dict | None:
            socket.send(json.dumps({"id": id, **body}))
            for text in socket:
                frame = json.loads(text)
                if frame.get("id") == id or "bye" in frame:
                    return frame
            return None

        greeting = exchange(1, {"hello": hello(world, role)})
        yield exchange if "result" in greeting else None


@contextlib.contextmanager
def event_stream(world: World, role: str):
    """The same over server-sent events."""
    url = world.server.url + "/v1/realtime/sse"
    with HTTP.stream("POST", url, json=hello(world, role)) as answer:
        if answer.status_code != 200:
            yield None
            return
        frames = (json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data: "))

        def until(id: int) -> dict | None:
            return next((frame for frame in frames if frame.get("id") == id or "bye" in frame), None)

        greeting = until(0)
        if greeting is None or "result" not in greeting:
            yield None
            return

        def exchange(id: int, body: dict) -> dict | None:
            token = world.people[role].token
            sent = HTTP.post(
                f"{url}/{greeting['result']['session']}", json={"id": id, **body},
                headers={"Authorization": f"Bearer {token}"},
            )
            assert sent.status_code == 202, sent.text
            return until(id)

        yield exchange


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("way", [web_socket, event_stream])
def test_by_listening(world, way, role):
    with way(world, role) as exchange:
        for id, (thing, stream) in enumerate(streams(world, role).items(), 2):
            answer = exchange(id, {"listen": {"stream": stream}}) if exchange else None
            assert (answer is not None and "result" in answer) == (role in REACHED[thing]), (thing, ROLES[role], answer)
        if exchange and role != "joined":
            # Nobody's own stream is another's.
            other = world.people["joined"]
            for stream in (f"user:{other.id}", f"signals:{world.call}:{other.endpoint}"):
                assert "error" in exchange(20, {"listen": {"stream": stream}}), stream
