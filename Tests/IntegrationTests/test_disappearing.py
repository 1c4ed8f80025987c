"""Messages that disappear: hidden from every read when they are due, and then in no byte, whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import time
from typing import Any

import pytest
from switchboard_tests.conversations import Conversation, befriend, create, direct, group, inbox, messages, send, texts
from switchboard_tests.deletions import bytes_left
from switchboard_tests.endpoint import Endpoint, client_id
from switchboard_tests.server import Server, User
from switchboard_tests.waiting import wait_until

LIMITS = {"limits": {"conversationsPerHour": 10_000, "messagesPerMinute": 100_000, "requestsPerMinute": 100_000}}


@pytest.fixture(scope="module")
def server(make_server) -> Server:
    return make_server(LIMITS)


@pytest.fixture
def pair(server: Server) -> tuple[User, User]:
    ann, ben = server.users(2)
    return befriend(ann, ben)


def disappear(user: User, here: str, seconds: int | None) -> dict[str, Any]:
    changed = user.request("PATCH", f"/v1/conversations/{here}", {"disappearAfter": seconds})
    assert changed.status_code == 200, changed.text
    return changed.json()["conversation"]


def make_due(server: Server) -> None:
    """Lets everything that disappears be due, in the database of a stopped server."""
    with contextlib.closing(sqlite3.connect(server.data / "switchboard.sqlite")) as database, database:
        database.execute("UPDATE messages SET expires_at = ? WHERE expires_at IS NOT NULL", (int(time.time() * 1000),))


def test_it_is_set_and_checked(pair):
    ann, ben = pair
    made = ann.post(
        "/v1/conversations",
        {"clientID": client_id(), "kind": "group", "members": [ben.id], "disappearAfter": 3600},
    )
    assert made.status_code == 201 and made.json()["conversation"]["disappearAfter"] == 3600
    here = made.json()["conversation"]["id"]
    for value in (9, 0, -1, 31_536_001, 2**63 - 1):
        refused = ann.request("PATCH", f"/v1/conversations/{here}", {"disappearAfter": value})
        assert refused.status_code == 400 and refused.json()["field"] == "disappearAfter", refused.text
        body = {"clientID": client_id(), "kind": "group", "disappearAfter": value}
        assert ann.post("/v1/conversations", body).status_code == 400
    for wrong in ("60", 1.5, True, [60], 2**70):
        refused = ann.request("PATCH", f"/v1/conversations/{here}", {"disappearAfter": wrong})
        assert refused.status_code == 400, refused.text
    assert ben.request("PATCH", f"/v1/conversations/{here}", {"disappearAfter": None}).status_code == 403
    # What is absent stays.
    named = ann.request("PATCH", f"/v1/conversations/{here}", {"name": "Named"})
    assert named.json()["conversation"]["disappearAfter"] == 3600
    message = send(ann, here, "hello").json()["message"]
    assert message["expiresAt"] > message["sentAt"]
    assert "disappearAfter" not in disappear(ann, here, None)
    assert "expiresAt" not in send(ann, here, "stays").json()["message"]
    assert messages(ben, here)[0]["expiresAt"] == message["expiresAt"]

    two = direct(ann, ben)
    assert disappear(ben, two, 10)["disappearAfter"] == 10
    # One that exists is returned as it is.
    again = create(ann, "direct", [ben])
    assert again.status_code == 200 and again.json()["conversation"]["disappearAfter"] == 10


def test_listeners_inboxes_and_counts_follow(server, pair):
    ann, ben = pair
    here = direct(ann, ben)
    disappear(ann, here, 10)

    async def run() -> None:
        end = Endpoint(server.realtime_url, ben.id, ben.token)
        await end.open()
        stream = await end.listen(f"conversation:{here}")
        await end.listen(f"inbox:{ben.id}")
        sent = await asyncio.to_thread(send, ann, here, f"gone soon <@{ben.id}>")
        message = sent.json()["message"]
        await end.until("the message arrives", lambda: 2 in Conversation.of(end.streams[stream_name]).messages)
        row = await end.until("it is unread", lambda: unread(end, 1))
        assert row["mentions"] == 1 and row["lastMessage"]["text"].startswith("gone soon")
        row = await end.until("it is not", lambda: unread(end, 0))
        assert row["mentions"] == 0 and "text" not in row["lastMessage"]
        held = await end.until("a tombstone", lambda: tombstone(end))
        assert held["deletedAt"] == message["expiresAt"] == held["expiresAt"] and held["version"] > message["version"]
        assert stream is not None
        await end.close()

    stream_name = f"conversation:{here}"

    def unread(end: Endpoint, count: int) -> dict[str, Any] | None:
        row = inbox(end.streams[f"inbox:{ben.id}"]).get(here)
        return row if row is not None and row.get("unread") == count and row.get("lastMessage") else None

    def tombstone(end: Endpoint) -> dict[str, Any] | None:
        message = Conversation.of(end.streams[stream_name]).messages[2]
        return message if "deletedAt" in message else None

    asyncio.run(run())
    assert texts(ann, here) == [None]
    assert ann.get(f"/v1/conversations/{here}/messages/2/edits").json()["edits"] == []
    assert ann.get("/v1/search", params={"query": "gone"}).json()["results"] == []


def test_nothing_is_left_after_kill_9(make_server):
    """The server is killed before they are due, they are due while it is down, and it is killed again as it starts."""
    server = make_server(LIMITS)
    ann, ben = befriend(*server.users(2))
    here = group(ann, [ben])
    kept = send(ann, here, "keepsake").json()["message"]
    disappear(ann, here, 3600)
    repeated = {"clientID": client_id(), "text": "quicksilver one"}
    path = f"/v1/conversations/{here}/messages"
    assert ann.post(path, repeated).status_code == 201
    for index in range(250):
        assert send(ben, here, f"quicksilver {index} <@{ann.id}>", thread=kept["number"]).status_code == 201
    second = messages(ann, here, around=3, limit=1)[0]
    body = {"text": "mercury", "textVersion": second["textVersion"]}
    assert ann.request("PATCH", f"{path}/3", body).status_code == 200
    assert ben.request("PUT", f"{path}/3/reactions/👍").status_code == 200
    assert ann.request("PUT", f"{path}/3/pin").status_code == 200
    wait_until(lambda: ben.get("/v1/search", params={"query": "mercury"}).json()["results"], "it is indexed")
    assert bytes_left(server, ["quicksilver", "mercury"])
    server.kill()
    make_due(server)
    server.start()
    # Nobody sees anything, from the first request on.
    assert {message.get("text") for message in messages(ben, here)} <= {None, "keepsake"}
    server.kill()
    server.start()

    def expired() -> bool:
        with contextlib.closing(sqlite3.connect(f"file:{server.data}/switchboard.sqlite?mode=ro", uri=True)) as one:
            return one.execute("SELECT COUNT(*) FROM messages WHERE deleted_at IS NOT NULL").fetchone()[0] == 253

    wait_until(expired, "all have disappeared")
    page = messages(ben, here, before=10)
    assert [message.get("text") for message in page] == ["keepsake"] + [None] * 7
    assert "replies" not in page[0] and page[1]["deletedAt"] == page[1]["expiresAt"] and "reactions" not in page[1]
    got = ben.get(f"/v1/conversations/{here}").json()["conversation"]
    assert got["pins"] == [] and got["lastNumber"] == 254
    assert ben.get("/v1/search", params={"query": "quicksilver"}).json()["results"] == []
    row = ann.get("/v1/inbox").json()["conversations"][0]
    assert row["unread"] == 0 and row["mentions"] == 0 and "text" not in row["lastMessage"]
    export = ben.get(f"/v1/conversations/{here}/export")
    lines = [json.loads(line) for line in export.text.splitlines()]
    exported = [line for line in lines if line["type"] == "message"]
    assert len(exported) == 254 and [line.get("text") for line in exported[:3]] == ["keepsake", None, None]
    again = ann.post(path, repeated)
    assert again.status_code == 200 and again.json()["duplicate"] and "text" not in again.json()["message"]
    wait_until(lambda: bytes_left(server, ["quicksilver", "mercury"]) == [], "the log is emptied", seconds=90)
    assert bytes_left(server, ["keepsake"])
    assert send(ann, here, "goes on").json()["message"]["number"] == 255


def test_what_a_blocked_user_sets_is_for_their_own_messages(server):
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    disappear(ben, here, 3600)
    assert ben.request("PUT", f"/v1/blocks/{ann.id}").status_code in (200, 204)

    async def run() -> None:
        of_ann, of_ben = [Endpoint(server.realtime_url, one.id, one.token) for one in (ann, ben)]
        stream = f"conversation:{here}"
        for endpoint in (of_ann, of_ben):
            await endpoint.open()
            await endpoint.listen(stream)

        def shown(endpoint: Endpoint) -> int | None:
            return Conversation.of(endpoint.streams[stream]).document.get("disappearAfter")

        changed = await of_ann.ask("conversations.update", conversation=here, disappearAfter=60)
        assert changed["conversation"]["disappearAfter"] == 60
        await of_ann.until("the author sees it", lambda: shown(of_ann) == 60)
        # The next change of both comes after it, if anything does.
        sent = (await of_ben.ask("messages.send", conversation=here, clientID=client_id(), text="x"))["message"]
        await of_ben.until("the message", lambda: 1 in Conversation.of(of_ben.streams[stream]).messages)
        assert shown(of_ben) == 3600 and sent["expiresAt"] > sent["sentAt"]
        await of_ann.close()
        await of_ben.close()

    asyncio.run(run())
    for user, seconds in ((ann, 60), (ben, 3600)):
        assert user.get(f"/v1/conversations/{here}").json()["conversation"]["disappearAfter"] == seconds
        row = user.get("/v1/inbox").json()["conversations"][0]
        assert row["conversation"]["disappearAfter"] == seconds, row
    # What the other one sets is for both again.
    assert disappear(ben, here, 120)["disappearAfter"] == 120
    assert ann.get(f"/v1/conversations/{here}").json()["conversation"]["disappearAfter"] == 120
