"""Messages that are sent later: at their time, once, whatever happens to the server and to their author."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from switchboard_tests.conversations import Conversation, befriend, direct, group, messages, send, texts
from switchboard_tests.deletions import bytes_left, delete, erased, rows, sign_up, user
from switchboard_tests.endpoint import Endpoint, RequestError, client_id
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


def at(seconds: float) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def schedule(author: User, here: str, text: str, seconds: float = 3600, **more: Any) -> dict[str, Any]:
    stored = send(author, here, text, sendAt=at(seconds), **more)
    assert stored.status_code == 202, stored.text
    return stored.json()["scheduled"]


def scheduled(author: User, here: str) -> list[dict[str, Any]]:
    response = author.get(f"/v1/conversations/{here}/scheduled")
    assert response.status_code == 200, response.text
    return response.json()["scheduled"]


def change(author: User, here: str, one: dict[str, Any], **values: Any) -> httpx.Response:
    return author.request("PATCH", f"/v1/conversations/{here}/scheduled/{one['clientID']}", values)


def make_due(server: Server) -> None:
    """Lets everything that waits be due, in the database of a stopped server."""
    with contextlib.closing(sqlite3.connect(server.data / "switchboard.sqlite")) as database, database:
        database.execute("UPDATE scheduled SET send_at = 1000")


def test_it_waits_is_changed_and_deleted(pair):
    ann, ben = pair
    here = direct(ann, ben)
    assert send(ann, here, "now").status_code == 201
    first = schedule(ann, here, "later", 3600, replyTo=1)
    second = schedule(ann, here, "sooner", 1800)
    assert scheduled(ann, here) == [second, first] and scheduled(ben, here) == []
    assert first["replyTo"] == 1 and "number" not in first and texts(ann, here) == ["now"]
    changed = change(ann, here, first, text="changed", sendAt=at(60))
    assert changed.status_code == 200, changed.text
    assert [one["text"] for one in scheduled(ann, here)] == ["changed", "sooner"]
    assert change(ben, here, first, text="mine").status_code == 404
    assert change(ann, here, first, text="").json()["field"] == "text"
    path = f"/v1/conversations/{here}/scheduled/{second['clientID']}"
    assert [ann.request("DELETE", path).status_code for _ in range(2)] == [204, 204]
    sent = change(ann, here, first, sendAt=None)
    assert sent.status_code == 200 and sent.json()["message"]["number"] == 2
    assert sent.json()["message"]["clientID"] == first["clientID"]
    assert texts(ben, here) == ["now", "changed"] and scheduled(ann, here) == []
    gone = f"/v1/conversations/{here}/scheduled/{first['clientID']}"
    assert ann.request("DELETE", gone).status_code == 409 and change(ann, here, first, text="x").status_code == 409


def test_what_is_refused(pair):
    ann, ben = pair
    here = group(ann, [ben])
    for wrong in (at(5), at(-60), at(366 * 86_400), "9999-12-31T23:59:59.999Z", "soon", 5, "0000-01-01T00:00:00Z"):
        refused = send(ann, here, "x", sendAt=wrong)
        assert refused.status_code == 400 and refused.json()["field"] == "sendAt", refused.text
    one = schedule(ann, here, "x")
    refused = change(ann, here, one, sendAt=at(1))
    assert refused.status_code == 400 and refused.json()["field"] == "sendAt"
    assert send(ann, here, "y", sendAt=at(60), clientID=one["clientID"]).status_code == 409
    assert send(ann, here, "x", sendAt=at(60), replyTo=7).json()["field"] == "replyTo"
    assert send(ann, here, "first").status_code == 201
    forward = {"clientID": client_id(), "forward": {"conversation": here, "number": 1}, "sendAt": at(60)}
    assert ann.post(f"/v1/conversations/{here}/messages", forward).json()["field"] == "sendAt"
    for _ in range(99):
        schedule(ann, here, "x")
    full = send(ann, here, "x", sendAt=at(60))
    assert full.status_code == 409 and "100" in full.json()["detail"]
    assert len(scheduled(ann, here)) == 100
    # Those of others do not count.
    schedule(ben, here, "x")
    asker, asked = pair[0].server.users(2)
    request = direct(asker, asked)
    assert send(asker, request, "x", sendAt=at(60)).status_code == 403


def test_its_authors_devices_are_notified_and_it_arrives(server, pair):
    ann, ben = pair
    here = direct(ann, ben)
    stream, marks = f"conversation:{here}", f"marks:{here}"

    async def run() -> None:
        phone, desk, other = [Endpoint(server.realtime_url, who.id, who.token) for who in (ann, ann, ben)]
        for end in (phone, desk, other):
            await end.open()
            listened = await end.listen(marks)
            assert listened is not None and listened.snapshot["scheduled"] == {"count": 0, "failed": 0, "counter": 0}
        await other.listen(stream)
        one = (await phone.ask(
            "messages.send", conversation=here, clientID=client_id(), text="over realtime", sendAt=at(11)
        ))["scheduled"]
        summary = {"count": 1, "failed": 0, "counter": one["counter"]}
        await desk.until("the other device is told", lambda: {"scheduled": summary} in desk.streams[marks].rows)
        assert (await desk.ask("scheduled.list", conversation=here))["scheduled"] == [one]
        with pytest.raises(RequestError):
            await other.ask("scheduled.update", conversation=here, clientID=one["clientID"], text="no")
        message = await other.until("it arrives", lambda: Conversation.of(other.streams[stream]).messages.get(1))
        assert message["text"] == "over realtime" and message["sentAt"] >= one["sendAt"]
        assert message["clientID"] == one["clientID"]
        nothing = {"scheduled": {"count": 0, "failed": 0, "counter": 0}}
        await desk.until("it does not wait any more", lambda: desk.streams[marks].rows[-1] == nothing)
        assert not any("scheduled" in row for row in other.streams[marks].rows)
        for end in (phone, desk, other):
            await end.close()

    asyncio.run(run())
    assert ann.get(f"/v1/conversations/{here}").json()["membership"]["read"] == 0


def test_once_over_kill_9(make_server):
    server = make_server(LIMITS)
    ann, ben = befriend(*server.users(2))
    here = group(ann, [ben])
    path = f"/v1/conversations/{here}/messages"
    requests = [{"clientID": client_id(), "text": f"number {index}", "sendAt": at(3600)} for index in range(60)]
    for request in requests:
        assert ann.post(path, request).status_code == 202
    assert [ann.post(path, request).json()["duplicate"] for request in requests[:3]] == [True] * 3
    server.kill()
    make_due(server)
    for _ in range(3):
        server.start()
        # Somewhere among them, or after all.
        wait_until(lambda: len(texts(ben, here)) >= 1, "some are sent")
        server.kill()
    server.start()
    wait_until(lambda: scheduled(ann, here) == [], "all are sent")
    sent = messages(ben, here)
    assert [one["number"] for one in sent] == list(range(1, 61))
    assert {one["clientID"] for one in sent} == {request["clientID"] for request in requests}
    # The device did not hear of it, and repeats its requests.
    for request in requests[:5]:
        again = ann.post(path, request)
        assert again.status_code == 200 and again.json()["duplicate"], again.text
    assert len(messages(ben, here)) == 60


def test_access_is_that_of_the_time_when_it_is_due(make_server):
    server = make_server(LIMITS)
    ann, ben = befriend(*server.users(2))
    here, left = group(ann, [ben]), group(ann, [ben])
    server.command("webhook", "add", "--event", "conversation.created,conversation.updated")
    one = schedule(ben, here, "may not be said")
    schedule(ben, left, "gone with its author")
    assert ann.request("PATCH", f"/v1/conversations/{here}", {"settings": {"write": "admins"}}).status_code == 200
    assert ben.request("DELETE", f"/v1/conversations/{left}/members/me").status_code == 204
    server.stop()
    make_due(server)
    server.start()
    wait_until(lambda: "failure" in scheduled(ben, here)[0], "it failed")
    [failed] = scheduled(ben, here)
    assert failed["failure"]["type"] == "forbidden" and failed["failure"]["detail"] and failed["text"] == one["text"]
    assert texts(ann, here) == [] == texts(ann, left)
    # The settings have changed, and nothing else.
    assert rows(server, "SELECT type FROM events") == [("conversation.updated",)]
    assert change(ben, here, one, sendAt=None).status_code == 403
    assert [each["text"] for each in scheduled(ben, here)] == ["may not be said"]
    assert ann.request("PATCH", f"/v1/conversations/{here}", {"settings": {"write": "members"}}).status_code == 200
    again = change(ben, here, one, sendAt=at(3600))
    assert again.status_code == 200 and "failure" not in again.json()["scheduled"]
    assert change(ben, here, one, sendAt=None).status_code == 200
    assert texts(ann, here) == ["may not be said"]


def test_nothing_is_left_of_who_is_deleted(make_server):
    server = make_server(LIMITS)
    ann, ben = user(server, sign_up(server, "Quendolin")), user(server, sign_up(server, "Benedict"))
    befriend(ann, ben)
    here = direct(ann, ben)
    for index in range(30):
        schedule(ann, here, f"quicksilver {index}")
    schedule(ben, here, "keepsake")
    assert bytes_left(server, ["quicksilver"])
    delete(ann)
    erased(server)
    assert bytes_left(server, ["quicksilver"]) == [] and bytes_left(server, ["keepsake"])


def test_webhooks_receive_it_when_it_is_sent(make_server):
    server = make_server(LIMITS)
    server.command("webhook", "add", "--event", "message.created")
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    one = schedule(ann, here, "hook")
    assert rows(server, "SELECT COUNT(*) FROM events WHERE type = 'message.created'") == [(0,)]
    assert change(ann, here, one, sendAt=None).status_code == 200
    assert rows(server, "SELECT COUNT(*) FROM events WHERE type = 'message.created'") == [(1,)]
