"""How sessions and streams end, as the tables of `/asyncapi.json` say: close codes that take their time, and resets."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import httpx
import pytest
from switchboard_tests.calls import GENEROUS, create_group_call
from switchboard_tests.endpoint import Endpoint, client_id
from switchboard_tests.metrics import value
from switchboard_tests.rawsocket import RawSocket
from switchboard_tests.server import HTTP, Server, User
from switchboard_tests.waiting import wait_until

# More than the log sends again: StoreStreams.maxResumedChanges.
MISSED = 1001


def bye(client: RawSocket) -> dict[str, Any]:
    """The server's last frame, whatever comes before it."""
    while True:
        message = client.message()
        if "bye" in message:
            return message["bye"]


def large_mailbox(caller: User, callee: User) -> str:
    """The stream of a mailbox of the callee's endpoint, whose snapshot is some 200 kB long."""
    offer = {"sdp": "v=0\r\n" + "a=x\r\n" * 40_000}
    body = {"clientID": client_id(), "callees": [callee.id], "kind": "audio", "offer": offer}
    made = caller.post("/v1/calls", body)
    assert made.status_code == 201, made.text
    call = made.json()["call"]["id"]
    assert callee.post(f"/v1/calls/{call}/accept", {"clientID": client_id()}).status_code == 200
    return f"signals:{call}:{callee.endpoint}"


def test_who_does_not_read_and_who_says_nothing_are_let_go(server):
    """Both wait for the protocol's own times, 15 and 45 s, together."""
    ann, ben = server.users(2)
    mailbox = large_mailbox(ann, ben)
    with (
        RawSocket(server.port, timeout=60) as silent,
        RawSocket(server.port, timeout=60, receive_buffer=4096) as slow,
    ):
        silent.hello(ann)
        slow.hello(ben, endpoint=ben.endpoint, secret=ben.secret)
        numbers = iter(range(2, 200, 2))

        def is_let_go() -> bool:
            # Until more was sent than the buffers of both ends hold, which stops the server from reading too.
            if (number := next(numbers, None)) is not None:
                slow.send({"id": number, "unlisten": {"stream": mailbox}})
                slow.send({"id": number + 1, "listen": {"stream": mailbox}})
            return value(server, "realtime_byes_total", reason="slow") >= 1

        wait_until(is_let_go, "the end of the session that does not read", seconds=45)
        last = bye(slow)
        assert last["code"] == 4008 and last["retryAfter"] > 0
        assert slow.close_code() == 4008
        # Heartbeats that are not answered.
        last = bye(silent)
        assert last["code"] == 4009 and last["retryAfter"] > 0
        assert silent.close_code() == 4009


@pytest.fixture(scope="module")
def generous(make_server):
    server = make_server(GENEROUS)
    yield server
    server.stop()


def rename_often(user: User) -> None:
    with httpx.Client(base_url=user.server.url, headers=user.headers) as http:
        for number in range(1, MISSED + 1):
            response = http.patch("/v1/me", json={"displayName": f"Number {number}"})
            assert response.status_code == 200, response.text


def test_who_missed_too_much_starts_again(generous):
    """A log sends only so many changes again: then a reset and a snapshot cost less."""
    user = generous.user()

    async def run() -> None:
        watcher = Endpoint(generous.realtime_url, user.id, user.token)
        await watcher.open()
        stream = f"user:{user.id}"
        await watcher.listen(stream)
        await watcher.close()
        await asyncio.to_thread(rename_often, user)
        greeting = await watcher.open()
        assert greeting["resumed"] == {stream: "reset"}
        await watcher.until("the snapshot", lambda: watcher.streams.get(stream))
        assert watcher.resets == [f"{stream}: gap"]
        assert watcher.streams[stream].snapshot["me"]["displayName"] == f"Number {MISSED}"
        assert watcher.violations == []
        await watcher.close()

    asyncio.run(run())


def test_what_may_not_be_seen_any_more_is_reset(server):
    """Ben keeps the position of his mailbox, and loses it to another endpoint with which he joins the call."""
    ann, ben, cem = server.users(3)
    call = create_group_call(ann, [ben, cem])

    def joins(who: User) -> None:
        response = who.post(f"/v1/calls/{call}/accept", {"clientID": client_id()})
        assert response.status_code == 200, response.text

    async def run() -> None:
        first = Endpoint(server.realtime_url, ben.id, ben.token)
        first.id, first.secret = ben.endpoint, ben.secret
        await first.open()
        # The call goes on without him.
        joins(cem)
        joins(ben)
        mailbox = f"signals:{call}:{first.id}"
        await first.listen(mailbox)
        await first.close()
        assert ben.post(f"/v1/calls/{call}/leave").status_code == 200
        joins(ben.another_endpoint())
        greeting = await first.open()
        assert greeting["resumed"][mailbox] == "reset"
        await first.until("the reset", lambda: first.resets)
        assert first.resets == [f"{mailbox}: access"] and mailbox not in first.streams
        await first.close()

    asyncio.run(run())


def account() -> dict[str, Any]:
    return {"email": f"{uuid.uuid4()}@example.org", "password": "correct horse battery", "displayName": "Ann"}


def changes(client: RawSocket, kind: str) -> Any:
    """The data of the next change of a type."""
    while True:
        for change in client.message().get("changes", []):
            if change["type"] == kind:
                return change["data"]


def signed_up(server: Server) -> tuple[dict[str, Any], User]:
    body = account()
    made = HTTP.post(server.url + "/v1/accounts", json=body).json()
    return body, User(server, made["user"]["id"], made["accessToken"])


def test_sign_ins_come_and_go(server):
    body, ann = signed_up(server)
    with RawSocket(server.port) as client:
        client.hello(ann)
        client.send({"id": 2, "listen": {"stream": f"user:{ann.id}"}})
        client.response(2)
        del body["displayName"]
        elsewhere = HTTP.post(server.url + "/v1/sessions", json=body).json()
        session = changes(client, "signIn")["session"]
        with RawSocket(server.port) as other:
            other.hello(User(server, ann.id, elsewhere["accessToken"]))
            assert ann.request("DELETE", f"/v1/sessions/{session}").status_code == 204
            assert changes(client, "signOut") == {"session": session}
            last = bye(other)
            assert last["code"] == 4004 and "retryAfter" not in last
            assert other.close_code() == 4004


def test_who_is_blocked_is_listed(server):
    ann, ben = server.users(2)
    with RawSocket(server.port) as client:
        client.hello(ann)
        client.send({"id": 2, "listen": {"stream": f"user:{ann.id}"}})
        client.response(2)
        for method, blocked in (("PUT", True), ("DELETE", False)):
            assert ann.request(method, f"/v1/blocks/{ben.id}").status_code == 204
            assert changes(client, "block") == {"user": ben.id, "blocked": blocked}
