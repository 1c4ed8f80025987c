"""Presence: everybody sees it, except of users who hide it or have blocked the watcher; and sessions that are ended by
somebody else."""

from __future__ import annotations

import uuid

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


def test_presence_follows_sessions(server):
    ann, ben = server.users(2)
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
    ann, ben = server.users(2)
    watcher, _ = watch(server, ann, ben)
    assert ben.request("PATCH", "/v1/me", {"presence": "nobody"}).status_code == 200
    with RawSocket(server.port) as client:
        client.hello(ben)
        says_nothing(watcher)
        assert ben.request("PATCH", "/v1/me", {"presence": "everyone"}).status_code == 200
        assert watcher.message()["event"]["online"] is True
        assert ben.request("PATCH", "/v1/me", {"presence": "nobody"}).status_code == 200
        assert watcher.message()["event"] == {"online": False}


def test_who_is_blocked_sees_nobody(server):
    ann, ben = server.users(2)
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
