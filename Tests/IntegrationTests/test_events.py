"""Events as an app's own back end reads them: what happened, in order, as /openapi.json describes it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import uuid

import numpy
import pytest
from switchboard_tests.audio_files import encode, voice
from switchboard_tests.calls import GENEROUS
from switchboard_tests.conversations import send
from switchboard_tests.endpoint import Endpoint, client_id
from switchboard_tests.events import EventReader
from switchboard_tests.gateway import RATE, Participant, speaking_call
from switchboard_tests.recordings import ended, is_recorded
from switchboard_tests.server import HTTP, Server, refused, tool
from switchboard_tests.server_keys import ServerKey, audit, create
from switchboard_tests.voice_messages import sent
from switchboard_tests.waiting import TIMEOUT

EVENTS = (
    "user.created, user.disabled, user.deleted, call.ringing, call.answered, call.missed, call.ended, "
    "friend.requested, friend.accepted, friend.removed, conversation.created, conversation.updated, "
    "conversation.member, message.created, message.edited, message.deleted, recording.ready, transcript.ready"
)
PROGRAM = ["/bin/sh", "-c", "cat > /dev/null; echo hello"]


@pytest.fixture(scope="module")
def server(make_server) -> Server:
    transcription = {"provider": "command", "command": PROGRAM, "recordings": True}
    return make_server(GENEROUS | {"transcription": transcription})


@pytest.fixture(scope="module")
def key(server) -> ServerKey:
    key = create(server)
    refused(key.get("/v1/server/events"), 409, "conflict")
    server.command("webhook", "add", "--name", "laptop")
    return key


@pytest.fixture
def reader(key) -> EventReader:
    return EventReader(key)


def test_users_are_created_and_disabled(server, key, reader):
    ext = f"shop|{uuid.uuid4()}"
    user = key.put_user(ext)["id"]
    key.put_user(ext, "Another name")
    address = f"{uuid.uuid4()}@example.com"
    profile = {"email": address, "password": "correct horse battery staple", "displayName": "Olga"}
    signed_up = HTTP.post(f"{server.url}/v1/accounts", json=profile)
    assert signed_up.status_code == 201, signed_up.text
    virtual = server.user().id
    for _ in range(2):
        assert key.post(f"/v1/server/users/{user}/disable").status_code == 200
    server.command("account", "disable", "--email", address)
    events = reader.until("user.created", "user.disabled")
    while len([event for event in events if event["type"] == "user.disabled"]) < 2:
        events += reader.until("user.disabled")
    created = [event["data"] for event in events if event["type"] == "user.created"]
    assert {"user": user, "externalID": ext} in created and len(created) == 3
    assert {signed_up.json()["user"]["id"], virtual} <= {data["user"] for data in created}
    assert [event["data"]["user"] for event in events if event["type"] == "user.disabled"] == [
        user, signed_up.json()["user"]["id"],
    ]
    text = str(events)
    assert address not in text and "Olga" not in text and "Another name" not in text


def test_a_call_rings_the_devices_of_its_callee(server, key, reader):
    ann, ben = key.user(f"ann-{uuid.uuid4()}"), key.put_user(f"ben-{uuid.uuid4()}", "Ben")
    connected, asleep = str(uuid.uuid4()), str(uuid.uuid4())
    token = key.token(ben["id"], connected)["accessToken"]
    key.token(ben["id"], asleep)

    async def run() -> None:
        endpoint = Endpoint(server.realtime_url, ben["id"], token)
        await endpoint.open()
        body = {"clientID": client_id(), "callees": [ben["id"]], "kind": "audio"}
        made = await asyncio.to_thread(ann.post, "/v1/calls", body)
        assert made.status_code == 201, made.text
        (ring,) = await asyncio.to_thread(reader.until, "call.ringing")
        data = ring["data"]
        assert (data["user"], data["externalID"]) == (ben["id"], ben["ext"])
        assert data["caller"]["user"] == ann.id and data["caller"]["displayName"].startswith("User ann-")
        assert 0 < data["remainingMs"] <= 60_000
        devices = {device["id"]: device for device in data["devices"]}
        assert set(devices) == {connected, asleep}
        assert devices[connected]["isConnected"] and devices[connected]["endpoints"] == [endpoint.id]
        assert not devices[asleep]["isConnected"] and devices[asleep]["endpoints"] == []
        path = f"/v1/calls/{made.json()['call']['id']}/end"
        assert (await asyncio.to_thread(ann.post, path)).status_code == 200
        missed, over = await asyncio.to_thread(reader.until, "call.missed", "call.ended")
        assert missed["data"]["user"] == ben["id"] and over["data"]["reason"] == "cancelled"
        assert {one["user"]: one["state"] for one in over["data"]["participants"]}[ben["id"]] == "missed"
        assert over["data"]["version"] >= missed["data"]["version"] > data["version"]
        await endpoint.close()

    asyncio.run(run())


def test_a_recorded_call_is_answered_recorded_and_transcribed(server, reader):
    async def run() -> None:
        async with speaking_call(server, 2) as (everybody, tracks):
            ann: Participant = everybody[0]
            begun = await ann.endpoint.ask("calls.record", call=ann.call)
            await is_recorded(everybody[-1], ann)
            await tracks[0].say(numpy.full(RATE, 8_000, numpy.int16))
            await ann.endpoint.ask("calls.stopRecording", call=ann.call)
            await ended(server, ann, ann.call)
            found = await asyncio.to_thread(
                reader.until, "call.ringing", "call.answered", "recording.ready", "transcript.ready"
            )
            ready = next(event["data"] for event in found if event["type"] == "recording.ready")
            assert ready["recording"] == begun["call"]["recording"]["id"] and ready["call"] == ann.call
            assert ready["user"] == ann.endpoint.user and ready["status"] == "complete"
            answered = next(event["data"] for event in found if event["type"] == "call.answered")
            assert answered["user"] == everybody[1].endpoint.user
            done = next(event["data"] for event in found if event["type"] == "transcript.ready")
            assert done["recording"] == ready["recording"] and done["status"] == "complete" and ready["tracks"] > 0

    asyncio.run(run())


def test_a_voice_message_is_transcribed(server, reader):
    ann, ben = server.users(2)
    message = sent(ann, ben, encode(voice(2)))["message"]
    here, number = message["conversation"], message["number"]
    ready = next(event["data"] for event in reader.until("transcript.ready"))
    assert ready == {
        "user": ann.id, "number": number, "status": "complete", "conversation": here, "kind": "direct",
        "version": ready["version"],
    }
    assert ready["version"] > message["version"]
    # It is no edit.
    text = send(ann, here, "helo").json()["message"]
    path = f"/v1/conversations/{here}/messages/{text['number']}"
    edited = ann.request("PATCH", path, {"text": "hello", "textVersion": text["textVersion"]})
    assert edited.status_code == 200, edited.text
    [edit] = reader.until("message.edited")
    assert edit["data"]["number"] == text["number"]


def test_a_request_waits_for_the_next_event(key, reader):
    assert reader.read(wait=0) == []
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        waiting = [pool.submit(key.get, f"/v1/server/events?after={reader.after}&wait=30") for _ in range(12)]
        # Those beyond the limit are refused at once, and the others wait. All four must have been refused before
        # anything happens: a request that comes after the event finds it, and is no longer one too many.
        refused = list(itertools.islice(concurrent.futures.as_completed(waiting, timeout=TIMEOUT), 4))
        assert [one.result().status_code for one in refused] == [429] * 4
        user = key.put_user(uuid.uuid4().hex)["id"]
        pages = [one.result() for one in waiting if one not in refused]
        assert [page.status_code for page in pages] == [200] * 8
        for page in pages:
            assert user in [event["data"].get("user") for event in page.json()["events"]]


def test_positions(key, reader):
    users = [key.put_user(uuid.uuid4().hex)["id"] for _ in range(5)]
    seen: list[str] = []
    after, more = reader.after, True
    while more:
        page = reader.page(f"?after={after}&limit=2")
        seen += [event["data"]["user"] for event in page["events"]]
        after, more = page["next"], page["more"]
    assert seen == users
    assert reader.page(f"?after={reader.after}")["events"] == reader.page(f"?after={reader.after}")["events"]
    everything = reader.page("?since=2020-01-01T00:00:00Z")
    assert everything["events"]
    assert reader.page("?since=2100-01-01T00:00:00Z")["events"] == []
    events = "/v1/server/events"
    epoch = after.split(".")[0]
    gone = refused(key.get(f"{events}?after=other.1"), 410, "gone", "after")
    assert gone["next"].startswith(f"{epoch}.")
    refused(key.get(f"{events}?after={epoch}.999999999"), 410, "gone", "after")
    for wrong in ("x", "", f"{epoch}.-1", "a" * 100):
        refused(key.get(f"{events}?after={wrong}"), 400, "invalid_request", "after")
    refused(key.get(f"{events}?since=yesterday"), 400, "invalid_request", "since")
    refused(key.get(f"{events}?since=2026-01-01T00:00:00Z&after={after}"), 400, "invalid_request", "since")
    refused(key.get(f"{events}?wait=31"), 400, "invalid_request", "wait")
    refused(key.get(f"{events}?limit=101"), 400, "invalid_request", "limit")


def test_a_reader_goes_on_after_a_crash(make_server):
    server = make_server()
    key = create(server)
    server.command("webhook", "add")
    reader = EventReader(key)
    users = [key.put_user(uuid.uuid4().hex)["id"]]
    server.kill()
    server.start()
    users.append(key.put_user(uuid.uuid4().hex)["id"])
    assert [event["data"]["user"] for event in reader.page(f"?after={reader.after}")["events"]] == users
    server.stop()


def test_commands_say_what_is_wrong_and_are_audited(server, key):
    def fails(words: str, *arguments: str) -> None:
        done = tool(server, "webhook", *arguments)
        assert done.returncode != 0 and words in done.stderr, (arguments, done.stderr)

    fails(f"The events are {EVENTS}", "add", "--event", "call.rang")
    fails("Expected https://", "add", "--url", "http://example.com/hook")
    fails("webhooks.allow", "add", "--url", "https://10.0.0.1/hook")
    fails("Expected an https:// URL", "add", "--url", "gopher://example.com")
    fails("The id of a webhook is a UUID", "remove", "everything")
    fails("There is no such webhook", "rotate", str(uuid.uuid4()))
    fails("--since is a time", "replay", str(uuid.uuid4()), "--since", "yesterday")

    puller = server.command("webhook", "add", "--event", "call.ended,call.missed", "--event", "user.created").split()
    assert len(puller) == 1
    fails("has no secret", "rotate", puller[0])
    fails("has no deliveries", "replay", puller[0], "--since", "1h")
    made = server.command("webhook", "add", "--url", "https://example.com/hook", "--name", "shop").split()
    identifier, secret = made
    assert secret.startswith("whsec_") and len(secret) > 40
    rotated = server.command("webhook", "rotate", identifier).strip()
    assert rotated.startswith("whsec_") and rotated != secret
    rows = {row.split("\t")[0]: row.split("\t") for row in server.command("webhook", "list").splitlines()}
    assert rows[identifier][1:5] == ["shop", "https://example.com/hook", "enabled", "all"]
    assert rows[puller[0]][2:5] == ["pulled", "enabled", "call.ended,call.missed,user.created"]
    for webhook in (identifier, puller[0]):
        server.command("webhook", "remove", webhook)
    fails("There is no such webhook", "remove", identifier)
    entries = [(entry["action"], entry["subject"]) for entry in audit(server) if entry["action"].startswith("webhook.")]
    for action in ("webhook.add", "webhook.rotate", "webhook.remove"):
        assert (action, identifier) in entries
    text = str(audit(server)) + server.log.read_text() + server.command("webhook", "list")
    assert secret not in text and rotated not in text
