"""Presence: friends and members of shared conversations see it, except of users who hide it or have blocked the
watcher; when somebody was last there; and sessions that are ended by somebody else."""

from __future__ import annotations

import uuid

import pytest
from switchboard_tests.conversations import befriend, direct, group
from switchboard_tests.rawsocket import RawSocket


def watch(server, watcher, person) -> tuple[RawSocket, dict]:
    """A session of `watcher` that listens to the presence of `person`, and its initial state."""
    client = RawSocket(server.port)
    client.hello(watcher)
    client.send({"id": 2, "listen": {"stream": f"presence:{person.id}"}})
    snapshot = client.message()["snapshot"]
    assert client.response(2)["result"]["position"] == ["", 0]
    return client, snapshot


def says_nothing(client: RawSocket) -> None:
    """The response to a request is the next message."""
    client.send({"id": 77, "request": "me.get"})
    message = client.message()
    while "heartbeat" in message:
        message = client.message()
    assert message.get("id") == 77, message


def next_event(client: RawSocket) -> dict:
    message = client.message()
    while "heartbeat" in message:
        message = client.message()
    return message["event"]


def leave(server, user) -> None:
    """A session of the user that has ended."""
    with RawSocket(server.port) as client:
        client.hello(user)


def test_presence_follows_sessions(server):
    ann, ben = befriend(*server.users(2))
    watcher, snapshot = watch(server, ann, ben)
    assert snapshot["online"] is False
    with RawSocket(server.port) as one, RawSocket(server.port) as two:
        one.hello(ben)
        assert watcher.message()["event"]["online"] is True
        two.hello(ben)
        assert watch(server, ann, ben)[1]["online"] is True
    # Both are offline: after the grace period others are notified.
    gone = watcher.message()["event"]
    assert gone["online"] is False and gone["lastSeenAt"]


def test_who_hides_is_never_there(server):
    ann, ben = befriend(*server.users(2))
    watcher, _ = watch(server, ann, ben)
    assert ben.request("PATCH", "/v1/me", {"presence": "nobody"}).status_code == 200
    with RawSocket(server.port) as client:
        client.hello(ben)
        says_nothing(watcher)
        assert ben.request("PATCH", "/v1/me", {"presence": "everybody"}).status_code == 200
        assert watcher.message()["event"]["online"] is True
        assert ben.request("PATCH", "/v1/me", {"presence": "nobody"}).status_code == 200
        assert watcher.message()["event"] == {"online": False}


def test_others_see_nobody_until_they_share_something(server):
    """A stranger, one whose request waits or was declined, and the blocked get the same."""
    ann, ben = server.users(2)
    watcher, snapshot = watch(server, ann, ben)
    assert snapshot == {"online": False}
    direct(ann, ben)
    with RawSocket(server.port) as client:
        client.hello(ben)
        says_nothing(watcher)
        assert watch(server, ann, ben)[1] == {"online": False}
        befriend(ann, ben)
        assert next_event(watcher) == {"online": True}
        # That has accepted the request: they share a conversation, whether they are friends or not.
        assert ben.request("DELETE", f"/v1/friends/{ann.id}").status_code == 204
        says_nothing(watcher)


def test_others_see_whom_they_share_something_with(server):
    ann, ben, cleo = server.users(3)
    watcher, _ = watch(server, ann, ben)
    with RawSocket(server.port) as client:
        client.hello(ben)
        befriend(ann, ben)
        assert next_event(watcher) == {"online": True}
        assert ben.request("DELETE", f"/v1/friends/{ann.id}").status_code == 204
        assert next_event(watcher) == {"online": False}
        befriend(cleo, ann)
        befriend(cleo, ben)
        group(cleo, [ann, ben])
        assert next_event(watcher) == {"online": True}


def test_last_seen_is_kept(make_server):
    server = make_server()
    ann, ben = befriend(*server.users(2))
    watcher, snapshot = watch(server, ann, ben)
    assert snapshot == {"online": False}
    with RawSocket(server.port) as client:
        client.hello(ben)
        assert next_event(watcher) == {"online": True}
    gone = next_event(watcher)
    assert gone["online"] is False and gone["lastSeenAt"]
    assert watch(server, ann, ben)[1] == gone
    server.stop()
    server.start()
    assert watch(server, ann, ben)[1] == gone


@pytest.mark.parametrize(
    ("mine", "theirs", "is_friend", "is_seen"),
    [
        ("everybody", "everybody", False, True), ("friends", "everybody", True, True),
        ("friends", "everybody", False, False), ("everybody", "friends", False, False),
        ("nobody", "everybody", True, False), ("everybody", "nobody", True, False),
    ],
)
def test_who_sees_when_somebody_was_last_there(server, mine, theirs, is_friend, is_seen):
    ann, ben, cleo = server.users(3)
    if is_friend:
        befriend(ann, ben)
    befriend(cleo, ann)
    befriend(cleo, ben)
    group(cleo, [ann, ben])
    assert ben.request("PATCH", "/v1/me", {"lastSeen": mine}).json()["lastSeen"] == mine
    assert ann.request("PATCH", "/v1/me", {"lastSeen": theirs}).status_code == 200
    watcher, _ = watch(server, ann, ben)
    with RawSocket(server.port) as client:
        client.hello(ben)
        assert next_event(watcher) == {"online": True}
    gone = next_event(watcher)
    assert ("lastSeenAt" in gone) == is_seen
    assert ("lastSeenAt" in watch(server, ann, ben)[1]) == is_seen
    # Who changes it later, changes what is seen at once.
    for user in (ann, ben):
        assert user.request("PATCH", "/v1/me", {"lastSeen": "nobody" if is_seen else "everybody"}).status_code == 200
    changed = next_event(watcher)
    assert ("lastSeenAt" in changed) == (not is_seen)


def test_settings_are_checked(server):
    ann = server.user()
    for name in ("lastSeen", "messageRequests", "reach"):
        refused = ann.request("PATCH", "/v1/me", {name: "sometimes"})
        assert refused.status_code == 400 and refused.json()["field"] == name
    changed = ann.request(
        "PATCH", "/v1/me", {"lastSeen": "friends", "messageRequests": "refuse", "reach": "exact", "receipts": False})
    assert changed.status_code == 200
    me = ann.get("/v1/me").json()
    names = ("lastSeen", "messageRequests", "reach", "receipts")
    assert [me[name] for name in names] == ["friends", "refuse", "exact", False]


def test_refused_requests_reach_nobody(server):
    ann, ben, cleo = server.users(3)
    assert ben.request("PATCH", "/v1/me", {"messageRequests": "refuse"}).status_code == 200
    refused, asked = direct(ann, ben), direct(ann, cleo)
    rows = {row["id"] for row in ben.get("/v1/inbox").json()["conversations"]}
    assert refused not in rows
    assert asked in {row["id"] for row in cleo.get("/v1/inbox").json()["conversations"]}
    assert ben.get(f"/v1/conversations/{refused}").status_code == 404
    shown = [ann.get(f"/v1/conversations/{id}/members").json()["members"] for id in (refused, asked)]
    assert [sorted(one["state"] for one in members) for members in shown] == [["invited", "member"]] * 2
    assert ben.request("PATCH", "/v1/me", {"messageRequests": "accept"}).status_code == 200
    dora = server.user()
    assert dora.get(f"/v1/conversations/{direct(dora, ben)}").json()["conversation"]["members"] == 2


def test_who_is_blocked_sees_nobody(server):
    ann, ben = befriend(*server.users(2))
    watcher, _ = watch(server, ann, ben)
    with RawSocket(server.port) as client:
        client.hello(ben)
        assert watcher.message()["event"]["online"] is True
        assert ben.request("PUT", f"/v1/blocks/{ann.id}").status_code == 204
        assert watcher.message()["event"] == {"online": False}
        later, snapshot = watch(server, ann, ben)
        assert snapshot == {"online": False}
        with RawSocket(server.port) as another:
            another.hello(ben)
            for session in (watcher, later):
                says_nothing(session)


def test_an_endpoint_has_one_session_and_proves_itself(server):
    ann = server.user()
    identity = {"endpoint": str(uuid.uuid4()), "secret": "a-secret-of-this-client"}
    with RawSocket(server.port) as older, RawSocket(server.port) as newer, RawSocket(server.port) as thief:
        assert older.hello(ann, **identity)["endpoint"] == identity["endpoint"]
        thief.send({"id": 1, "hello": {"token": ann.token, **identity, "secret": "another-secret-guessed"}})
        assert thief.response(1)["error"]["type"] == "forbidden"
        assert thief.close_code() == 4001
        newer.hello(ann, **identity)
        bye = older.message()["bye"]
        assert bye["code"] == 4003 and "retryAfter" not in bye
        assert older.close_code() == 4003
        says_nothing(newer)


def test_no_hello_no_session(server):
    with RawSocket(server.port) as client:
        assert client.message()["bye"]["reason"] == "hello_timeout"
        assert client.close_code() == 4002


def test_an_orderly_stop_says_bye(make_server):
    server = make_server()
    with RawSocket(server.port) as client:
        client.hello(server.user())
        assert server.stop() == 0
        bye = client.message()["bye"]
        assert bye["code"] == 4000 and bye["retryAfter"] > 0
        assert client.close_code() == 4000
