"""Friends, requests, contact links and reports: over REST, WebSocket and server-sent events; and what nobody sees."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sqlite3
import time
import uuid
from typing import Any

import httpx
import pytest
from switchboard_tests import asyncapi, conversations
from switchboard_tests.conversations import direct, send
from switchboard_tests.endpoint import Endpoint, RequestError, client_id
from switchboard_tests.operators import Operator, sign_in
from switchboard_tests.rawsocket import RawSocket
from switchboard_tests.server import HTTP, Server, User, refused
from switchboard_tests.server_keys import audit, create
from switchboard_tests.waiting import wait_until

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
MASKED = [
    (re.compile(r'"(createdAt|expiresAt|since)": ?"[^"]+"'), r'"\1":""'),
    (re.compile(r'"request": ?"[0-9a-f]{32}"'), '"request":""'),
    (re.compile(r'\["[^"]+", ?(\d+)\]'), r"position \1"),
    (re.compile(r'"epoch": ?"[^"]+"'), '"epoch":""'),
    (re.compile(r'"email": ?"[^"]+"'), '"email":""'),
]


@pytest.fixture(scope="module")
def server(make_server) -> Server:
    return make_server({"limits": {"friendRequestsPerHour": 1000}})


def ask(asker: User, other: User | str, **more: Any) -> httpx.Response:
    user = other if isinstance(other, str) else other.id
    return asker.post("/v1/friends", {"clientID": client_id(), "user": user} | more)


def befriend(one: User, other: User) -> None:
    assert ask(one, other).status_code == 201
    assert other.post(f"/v1/friends/{one.id}/accept").status_code == 200


def states(user: User) -> dict[str, str]:
    page = user.get("/v1/friends", params={"limit": 100}).json()
    return {friend["user"]["id"]: friend["state"] for friend in page["friends"]}


def friends_in(endpoint: Endpoint) -> dict[str, Any]:
    """Friends and requests from the user's stream: the snapshot with the changes since."""
    stream = endpoint.streams[f"user:{endpoint.user}"]
    found = {friend["user"]["id"]: friend for friend in stream.snapshot["friends"]}
    for _, (kind, data) in sorted(stream.entries.items()):
        if kind == "friend":
            found[data["user"]["id"]] = data
        elif kind == "friend.removed":
            found.pop(data["user"], None)
    return found


async def has_no_friends(endpoint: Endpoint) -> None:
    await endpoint.until("the friend to be gone", lambda: not friends_in(endpoint))


def snapshot(user: User) -> dict[str, Any]:
    """Friends and requests in a new snapshot."""
    with RawSocket(user.server.port) as socket:
        socket.hello(user)
        socket.send({"id": 2, "listen": {"stream": f"user:{user.id}"}})
        while True:
            frame = socket.message()
            if frame.get("stream") == f"user:{user.id}" and "snapshot" in frame:
                return {friend["user"]["id"]: friend for friend in frame["snapshot"]["friends"]}


def named(user: User, name: str) -> User:
    assert user.request("PATCH", "/v1/me", {"displayName": name}).status_code == 200
    return user


# Flows.


def test_a_request_is_made_and_accepted(server):
    ann, ben = server.users(2)
    made = ask(ann, ben, note="  It is me ")
    assert made.status_code == 201, made.text
    friend = made.json()["friend"]
    assert (friend["state"], friend["note"], friend["user"]["id"]) == ("requested", "It is me", ben.id)
    assert set(made.json()["positions"]) == {f"user:{ann.id}"}
    again = ask(ann, ben)
    assert again.status_code == 200 and again.json() == {"friend": friend, "duplicate": True}
    [received] = ben.get("/v1/friends?state=received").json()["friends"]
    assert received["note"] == "It is me" and received["expiresAt"] == friend["expiresAt"]
    for _ in range(2):
        accepted = ben.post(f"/v1/friends/{ann.id}/accept")
        assert accepted.status_code == 200 and accepted.json()["friend"]["state"] == "friend", accepted.text
    assert states(ann) == {ben.id: "friend"} and states(ben) == {ann.id: "friend"}
    for _ in range(2):
        assert ann.request("DELETE", f"/v1/friends/{ben.id}").status_code == 204
    assert states(ann) == states(ben) == {}


def test_requests_that_cross_make_friends(server):
    ann, ben = server.users(2)
    assert ask(ann, ben).json()["friend"]["state"] == "requested"
    crossed = ask(ben, ann)
    assert crossed.status_code == 201 and crossed.json()["friend"]["state"] == "friend", crossed.text
    assert states(ann) == {ben.id: "friend"}


def test_a_client_id_is_executed_once(server):
    ann, ben, cleo = server.users(3)
    body = {"clientID": client_id(), "user": ben.id, "note": "Hi"}
    first = ann.post("/v1/friends", body)
    assert ann.request("DELETE", f"/v1/friends/{ben.id}").status_code == 204
    again = ann.post("/v1/friends", body)
    assert again.status_code == 200 and again.json() == {"friend": first.json()["friend"], "duplicate": True}
    assert states(ann) == states(ben) == {}, "a repetition does not ask again"
    refused(ann.post("/v1/friends", body | {"user": cleo.id}), 409, "client_id_reused", "clientID")


def test_what_is_wrong_is_named(server):
    ann, ben = server.users(2)
    nobody = str(uuid.uuid4())
    refused(ask(ann, ann), 400, "invalid_request", "user")
    refused(ask(ann, nobody), 404, "not_found", "user")
    refused(ask(ann, "somebody"), 400, "invalid_request", "user")
    refused(ann.post("/v1/friends", {"user": ben.id}), 400, "invalid_request", "clientID")
    for note in ("x" * 301, "a\u202eb", "a\u0000b", 7):
        refused(ask(ann, ben, note=note), 400, "invalid_request", "note")
    for verb in ("accept", "decline"):
        refused(ann.post(f"/v1/friends/{ben.id}/{verb}"), 404, "not_found", "user")
        refused(ann.post(f"/v1/friends/x/{verb}"), 400, "invalid_request", "user")
    for query, field in (("state=declined", "state"), ("limit=0", "limit"), ("cursor=x", "cursor")):
        refused(ann.get(f"/v1/friends?{query}"), 400, "invalid_request", field)
    assert ask(ben, ann).status_code == 201
    refused(ann.request("DELETE", f"/v1/friends/{ben.id}"), 409, "conflict", "user")
    assert ann.request("PUT", f"/v1/blocks/{ben.id}").status_code == 204
    refused(ask(ann, ben), 409, "conflict", "user")
    refused(ann.request("PATCH", "/v1/me", {"reach": "nobody"}), 400, "invalid_request", "reach")


def test_a_disabled_user_is_not_asked(server):
    ann = server.user()
    address = f"{uuid.uuid4()}@example.org"
    body = {"email": address, "password": "correct horse battery", "displayName": "Dan"}
    dan = HTTP.post(f"{server.url}/v1/accounts", json=body).json()["user"]["id"]
    server.command("account", "disable", "--email", address)
    missing, disabled = ask(ann, str(uuid.uuid4())), ask(ann, dan)
    assert masked([disabled.json()], {}) == masked([missing.json()], {})
    assert disabled.status_code == 404


def test_lists_have_pages(server):
    ann, *others = server.users(6)
    for other in others:
        assert ask(other, ann).status_code == 201
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = ann.get("/v1/friends", params={"limit": "2", "state": "received"} | cursor).json()
        seen += [friend["user"]["id"] for friend in page["friends"]]
        if "nextCursor" not in page:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert seen == sorted(other.id for other in others)


# Streams.


async def opened(user: User) -> Endpoint:
    endpoint = Endpoint(user.server.realtime_url, user.id, user.token)
    await endpoint.open()
    await endpoint.listen(f"user:{user.id}")
    return endpoint


def test_both_follow_it_over_web_socket(server):
    async def scenario() -> None:
        ann, ben, cleo = server.users(3)
        one, two = await opened(ann), await opened(ben)
        try:
            made = await one.ask("friends.request", clientID=client_id(), user=ben.id, note="Hi")
            assert friends_in(one)[ben.id] == made["friend"], "a result follows the changes"
            received = await two.until("the request", lambda: friends_in(two).get(ann.id))
            assert received["state"] == "received" and received["note"] == "Hi"
            assert await asyncio.to_thread(snapshot, ann) == friends_in(one)
            assert await asyncio.to_thread(snapshot, ben) == friends_in(two)
            # One endpoint is away meanwhile, and resumes.
            await one.close()
            accepted = await two.ask("friends.accept", user=ann.id)
            assert accepted["friend"]["state"] == "friend"
            await one.open()
            await one.until("the friend", lambda: friends_in(one)[ben.id]["state"] == "friend")
            listed = await two.ask("friends.list")
            assert [friend["user"]["id"] for friend in listed["friends"]] == [ann.id]
            # Another request, declined; then the friendship ends by a block.
            await asyncio.to_thread(ask, cleo, ben)
            await two.until("another request", lambda: cleo.id in friends_in(two))
            await two.ask("friends.decline", user=cleo.id)
            await two.until("it to be gone", lambda: cleo.id not in friends_in(two))
            await two.ask("blocks.add", user=ann.id)
            await one.until("the friend to be gone", lambda: not friends_in(one))
            assert friends_in(two) == {} == await asyncio.to_thread(snapshot, ben)
            assert await asyncio.to_thread(snapshot, ann) == {}
            await one.ask("friends.request", clientID=client_id(), user=ben.id)
            await one.ask("friends.remove", user=ben.id)
            assert friends_in(one) == {} == friends_in(two)
            with pytest.raises(RequestError, match="not_found"):
                await two.ask("friends.accept", user=ann.id)
            assert one.violations == two.violations == [] == one.resets == two.resets
        finally:
            await one.close()
            await two.close()

    asyncio.run(scenario())


def test_it_arrives_over_server_sent_events(server):
    ann, ben = server.users(2)
    hello = {"token": ben.token, "endpoint": ben.endpoint, "secret": ben.secret}
    with HTTP.stream("POST", server.url + "/v1/realtime/sse", json=hello) as response:
        assert response.status_code == 200
        frames = asyncapi.server_sent(response.iter_lines())
        session = next(frame for frame in frames if frame.get("id") == 0)["result"]["session"]
        listen = {"id": 2, "listen": {"stream": f"user:{ben.id}"}}
        bearer = {"Authorization": f"Bearer {ben.token}"}
        sent = HTTP.post(f"{server.url}/v1/realtime/sse/{session}", json=listen, headers=bearer)
        assert sent.status_code == 202, sent.text
        first = next(frame for frame in frames if "snapshot" in frame)
        assert first["stream"] == f"user:{ben.id}" and first["snapshot"]["friends"] == []
        assert ask(ann, ben).status_code == 201
        [change] = next(frame["changes"] for frame in frames if "changes" in frame)
        assert change["type"] == "friend" and change["data"]["user"]["id"] == ann.id
        assert ann.request("DELETE", f"/v1/friends/{ben.id}").status_code == 204
        [change] = next(frame["changes"] for frame in frames if "changes" in frame)
        assert (change["type"], change["data"]) == ("friend.removed", {"user": ann.id})


def test_a_snapshot_is_bounded(server):
    ann = server.user()
    now = int(time.time() * 1000)
    others = server.users(202)
    server.stop()
    with contextlib.closing(sqlite3.connect(server.data / "switchboard.sqlite")) as database, database:
        for number, other in enumerate(others):
            for owner, user in ((ann.id, other.id), (other.id, ann.id)):
                database.execute(
                    "INSERT INTO friends (owner, user_id, state, at) VALUES (?, ?, 'friend', ?)",
                    (owner, user, now + number),
                )
    server.start()
    assert list(snapshot(ann)) == [other.id for other in reversed(others[2:])]


# What a requester may not see.


def masked(seen: list[Any], names: dict[str, str]) -> str:
    text = json.dumps(seen, sort_keys=True)
    for pattern, replacement in MASKED:
        text = pattern.sub(replacement, text)
    known = dict(names)
    return UUID.sub(lambda match: known.setdefault(match[0], f"id {len(known)}"), text)


def read(response: httpx.Response) -> list[Any]:
    hidden = {"date", "switchboard-request", "ratelimit"}
    headers = {name: value for name, value in response.headers.items() if name not in hidden}
    return [response.status_code, headers, response.json() if response.content else None]


@pytest.mark.parametrize("transport", ["rest", "realtime"])
def test_pending_declined_and_blocked_look_alike(server, transport):
    seen = []
    for what in ("pending", "declined", "blocked before", "blocked after", "blocked and unblocked"):
        ann, ben = server.users(2)
        named(ann, "Ann")
        named(ben, "Ben")
        if what == "blocked before":
            assert ben.request("PUT", f"/v1/blocks/{ann.id}").status_code == 204
        results: list[Any] = [read(ask(ann, ben, note="Hi"))]
        if what == "declined":
            assert ben.post(f"/v1/friends/{ann.id}/decline").status_code == 204
        elif what.startswith("blocked"):
            assert ben.request("PUT", f"/v1/blocks/{ann.id}").status_code == 204
        if what == "blocked and unblocked":
            assert ben.request("DELETE", f"/v1/blocks/{ann.id}").status_code == 204
        with RawSocket(server.port) as socket:
            socket.hello(ann)
            socket.send({"id": 2, "listen": {"stream": f"user:{ann.id}"}})
            results += [socket.message(), socket.response(2)]

            def perform(method: str, path: str, name: str, body: dict[str, Any], socket=socket, ann=ann) -> Any:
                if transport == "rest":
                    return read(ann.request(method, path, body))
                params = body | ({"user": path.split("/")[3]} if path.count("/") > 2 else {})
                socket.send({"id": (number := len(results) + 9), "request": name, "params": params})
                return socket.response(number)

            again = {"clientID": client_id(), "user": ben.id}
            results += [
                perform("GET", "/v1/friends", "friends.list", {}),
                perform("POST", "/v1/friends", "friends.request", again | {"clientID": client_id()}),
                perform("POST", f"/v1/friends/{ben.id}/accept", "friends.accept", {}),
                perform("POST", f"/v1/friends/{ben.id}/decline", "friends.decline", {}),
                perform("DELETE", f"/v1/friends/{ben.id}", "friends.remove", {}),
                perform("GET", "/v1/friends", "friends.list", {}),
                perform("POST", "/v1/friends", "friends.request", again),
                perform("POST", "/v1/friends", "friends.request", again),
                perform("GET", "/v1/friends", "friends.list", {}),
            ]
        results.append(list(snapshot(ann).values()))
        seen.append(masked(results, {ann.id: "ann", ben.id: "ben"}))
        if what not in ("pending", "blocked and unblocked"):
            assert states(ben) == {}, what
    for other in seen[1:]:
        assert other == seen[0]
    assert "requested" in seen[0] and "declined" not in seen[0]


def test_declining_hides_later_requests(server):
    ann, ben = server.users(2)
    assert ask(ann, ben).status_code == 201
    assert ben.post(f"/v1/friends/{ann.id}/decline").status_code == 204
    for _ in range(3):
        assert ann.request("DELETE", f"/v1/friends/{ben.id}").status_code == 204
        assert ask(ann, ben).status_code == 201
    assert states(ben) == {} and states(ann) == {ben.id: "requested"}
    # Who declined may still ask.
    assert ask(ben, ann).json()["friend"]["state"] == "friend"


# Time, and restarts.


def test_it_survives_a_crash_and_expires(server):
    ann, ben, cleo = server.users(3)
    befriend(ann, cleo)
    assert ask(ann, ben).status_code == 201
    assert cleo.post("/v1/me/link").status_code == 201
    server.kill()
    server.start()
    assert states(ann) == {ben.id: "requested", cleo.id: "friend"} and states(ben) == {ann.id: "received"}

    async def scenario() -> None:
        one, two = await opened(ann), await opened(ben)
        try:
            await one.close()
            await two.close()
            server.stop()
            with contextlib.closing(sqlite3.connect(server.data / "switchboard.sqlite")) as database, database:
                changed = database.execute(
                    "UPDATE friends SET expires_at = 1 WHERE expires_at IS NOT NULL AND owner IN (?, ?)",
                    (ann.id, ben.id),
                )
                assert changed.rowcount == 2
            server.start()
            await one.open()
            await two.open()
            await one.until("the request to expire", lambda: set(friends_in(one)) == {cleo.id})
            await two.until("the request to expire", lambda: not friends_in(two))
            assert one.violations == two.violations == []
        finally:
            await one.close()
            await two.close()

    asyncio.run(scenario())
    assert states(ann) == {cleo.id: "friend"}
    assert ask(ann, ben).status_code == 201, "and can be made again"


# Limits.


def test_requests_are_limited(make_server):
    server = make_server({"limits": {"friendRequestsPerHour": 3}})
    ann, *others = server.users(5)
    answers = [ask(ann, other) for other in others]
    assert [answer.status_code for answer in answers] == [201, 201, 201, 429]
    assert answers[0].headers["RateLimit-Policy"] == '"friendRequests";q=3;w=3600'
    refused(answers[3], 429, "rate_limited")
    assert int(answers[3].headers["Retry-After"]) > 0
    with RawSocket(server.port) as socket:
        socket.hello(ann)
        body = {"clientID": client_id(), "user": others[3].id}
        socket.send({"id": 2, "request": "friends.request", "params": body})
        assert socket.response(2)["error"]["type"] == "rate_limited"


def test_so_many_requests_may_wait(server):
    ann, *others = server.users(202)
    for other in others[:200]:
        assert ask(ann, other).status_code == 201
    refused(ask(ann, others[200]), 409, "conflict", "user")
    assert ann.request("DELETE", f"/v1/friends/{others[0].id}").status_code == 204
    assert ask(ann, others[200]).status_code == 201


# Reach and links.


def found(reader: User, query: str) -> list[str]:
    response = reader.get("/v1/users", params={"query": query})
    assert response.status_code == 200, response.text
    return [user["id"] for user in response.json()["users"]]


def test_reach_hides_from_names(server):
    ann, ben, cleo = server.users(3)
    word = "q" + uuid.uuid4().hex
    named(ann, f"Ann {word}")
    assert ann.get("/v1/me").json()["reach"] == "everybody"
    assert found(ben, word) == [ann.id]
    changed = ann.request("PATCH", "/v1/me", {"reach": "exact"})
    assert changed.status_code == 200 and changed.json()["reach"] == "exact"
    assert found(ben, word) == found(cleo, word) == []
    assert found(ben, ann.id) == [ann.id] == found(ben, ann.id.upper())
    befriend(ann, cleo)
    assert found(cleo, word) == [ann.id] and found(ben, word) == []
    assert ann.request("DELETE", f"/v1/friends/{cleo.id}").status_code == 204
    assert found(cleo, word) == []
    address = f"{uuid.uuid4()}@example.org"
    body = {"email": address, "password": "correct horse battery", "displayName": f"Dan {word}"}
    signed_up = HTTP.post(f"{server.url}/v1/accounts", json=body).json()
    dan = User(server, signed_up["user"]["id"], signed_up["accessToken"])
    assert dan.request("PATCH", "/v1/me", {"reach": "exact"}).status_code == 200
    assert found(ben, word) == [] and found(ben, address) == [dan.id]


def test_friends_come_first(server):
    ann, *others = server.users(4)
    word = "q" + uuid.uuid4().hex
    for other in others:
        named(other, f"Somebody {word}")
    last = max(others, key=lambda other: other.id)
    befriend(ann, last)
    assert found(ann, word)[0] == last.id and set(found(ann, word)) == {other.id for other in others}


def test_a_link_finds_its_owner(server):
    ann, ben, cleo = server.users(3)
    assert ann.request("PATCH", "/v1/me", {"reach": "exact"}).status_code == 200
    first = ann.post("/v1/me/link").json()["token"]
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", first)
    profile = ben.get(f"/v1/links/{first}")
    assert profile.json() == {"kind": "contact", "user": ben.get(f"/v1/users/{ann.id}").json()}
    second = ann.post("/v1/me/link").json()["token"]
    assert second != first and cleo.get(f"/v1/links/{second}").status_code == 200
    assert ann.request("PUT", f"/v1/blocks/{ben.id}").status_code == 204
    rejections = [ben.get(f"/v1/links/{token}") for token in (first, second, "x", "x" * 43, "x" * 1000)]
    for _ in range(2):
        assert ann.request("DELETE", "/v1/me/link").status_code == 204
    rejections += [cleo.get(f"/v1/links/{second}"), ann.get(f"/v1/links/{second}")]
    for rejection in rejections:
        refused(rejection, 404, "not_found", "token")
    assert len({masked([read(rejection)], {}) for rejection in rejections}) == 1
    assert HTTP.get(f"{server.url}/v1/links/{first}").status_code == 401
    content = b"".join(path.read_bytes() for path in server.data.glob("switchboard.sqlite*"))
    assert first.encode() not in content and second.encode() not in content, "only digests are stored"


# Reports.


def test_reports_reach_the_operator(server):
    ann, ben = server.users(2)
    body = {"clientID": client_id(), "user": ben.id, "reason": "spam", "text": "One\ntwo"}
    made = ann.post("/v1/reports", body)
    assert made.status_code == 201 and made.json() == {}, made.text
    again = ann.post("/v1/reports", body)
    assert again.status_code == 200 and again.json() == {"duplicate": True}
    refused(ann.post("/v1/reports", body | {"reason": "abuse"}), 409, "client_id_reused", "clientID")
    for field, value in (("reason", "boredom"), ("text", "x" * 2001), ("text", "a\u202eb"), ("user", ann.id)):
        refused(ann.post("/v1/reports", body | {field: value}), 400, "invalid_request", field)
    unknown = {"clientID": client_id(), "user": str(uuid.uuid4())}
    refused(ann.post("/v1/reports", body | unknown), 404, "not_found", "user")
    for number in range(1, 20):
        more = {"clientID": client_id(), "user": ben.id, "reason": "other", "text": f"Number {number}"}
        assert ann.post("/v1/reports", more).status_code == 201
    limited = ann.post("/v1/reports", body | {"clientID": client_id()})
    refused(limited, 429, "rate_limited")
    assert int(limited.headers["Retry-After"]) > 80_000

    lines = [line.split("\t") for line in server.command("report", "list").splitlines()]
    own = [line for line in lines if line[2] == ann.id]
    assert len(own) == 20 and own[0][3:] == [ben.id, "other", "Number 19"] and own[-1][4:] == ["spam", "One two"]
    token = sign_in(server, create(server, "operator").text).json()["token"]
    bearer = {"Authorization": f"Bearer {token}"}
    url = server.admin_url + "/admin/v1/reports"
    page = HTTP.get(url, params={"limit": 3}, headers=bearer).json()
    assert [report["text"] for report in page["reports"]] == ["Number 19", "Number 18", "Number 17"]
    rest = HTTP.get(url, params={"limit": 100, "cursor": page["nextCursor"]}, headers=bearer).json()
    assert len(rest["reports"]) >= 17 and rest["reports"][0]["text"] == "Number 16"


def test_reports_have_the_messages_and_are_resolved(server):
    ann, ben = conversations.befriend(*server.users(2))
    operator = Operator(server)
    here = direct(ann, ben)
    for text in ("before", "x" * 4000, "the worst"):
        send(ben, here, text)
        send(ann, here, "an answer")
    body = {"clientID": client_id(), "user": ben.id, "reason": "abuse", "conversation": here, "number": 5}
    assert ann.post("/v1/reports", body).status_code == 201
    assert ann.post("/v1/reports", body).status_code == 200
    for wrong, status, field in (
        ({"number": None}, 400, "number"), ({"conversation": None}, 400, "conversation"),
        ({"number": 2}, 404, "number"), ({"number": 99}, 404, "number"),
        ({"conversation": str(uuid.uuid4())}, 404, "conversation"),
    ):
        filled = body | {"clientID": client_id()} | wrong
        response = ann.post("/v1/reports", {name: value for name, value in filled.items() if value is not None})
        assert response.status_code == status and response.json()["field"] == field, response.text
    outsider = server.user()
    assert outsider.post("/v1/reports", body | {"clientID": client_id()}).status_code == 404
    # It stays when the message goes.
    assert ben.request("DELETE", f"/v1/conversations/{here}/messages/5?for=all").status_code == 200

    def report() -> dict[str, Any]:
        found = operator.read("/admin/v1/reports?state=open")["reports"]
        return next(one for one in found if one["user"] == ben.id)

    made = report()
    mine = made["id"]
    assert [one["number"] for one in made["messages"]] == [1, 3, 5] and made["conversation"] == here
    assert [len(one["text"]) for one in made["messages"]] == [6, 2048, 9] and "resolution" not in made
    path = f"/admin/v1/reports/{made['id']}/resolve"
    for outcome in ("acted", "acted", "dismissed"):
        resolved = operator.post(path, {"outcome": outcome})
        assert resolved.status_code == 200 and resolved.json()["report"]["resolution"]["outcome"] == outcome
    refused(operator.post(path, {"outcome": "ignored"}), 400, "invalid_request", "outcome")
    assert operator.post(f"/admin/v1/reports/{uuid.uuid4()}/resolve", {"outcome": "acted"}).status_code == 404
    assert operator.get("/admin/v1/reports?state=other").status_code == 400
    assert [one["action"] for one in audit(server) if one.get("subject") == made["id"]] == ["admin.reports.resolve"] * 2
    assert made["id"] not in {one["id"] for one in operator.read("/admin/v1/reports?state=open")["reports"]}
    closed = next(one for one in operator.read("/admin/v1/reports?state=resolved")["reports"] if one["id"] == mine)
    assert closed["resolution"]["by"] == f"key:{operator.key.id}"
    # What a deleted user wrote is erased here too.
    assert ben.post("/v1/me/delete", {}).status_code in (200, 202, 204)

    def is_erased() -> bool:
        return any(
            one["id"] == mine and one["messages"] == [] for one in operator.read("/admin/v1/reports")["reports"])

    wait_until(is_erased, "the copies are erased")


# Events.


def test_events_have_ids_only(make_server):
    server = make_server()
    key = create(server)
    server.command("webhook", "add", "--event", "friend.requested,friend.accepted,friend.removed")
    start = key.get("/v1/server/events").json()["next"]
    ann, ben = key.user("ann"), key.user("ben")
    assert ask(ann, ben, note="a secret note").status_code == 201
    assert ben.post(f"/v1/friends/{ann.id}/accept").status_code == 200
    assert ben.request("PUT", f"/v1/blocks/{ann.id}").status_code == 204
    assert ask(ann, ben).status_code == 201, "which is withheld"
    events = key.get(f"/v1/server/events?after={start}").json()["events"]
    one, two = {"user": ann.id, "externalID": "ann"}, {"user": ben.id, "externalID": "ben"}
    assert [(event["type"], event["data"]) for event in events] == [
        ("friend.requested", two | {"by": one}),
        ("friend.accepted", one | {"by": two}),
        ("friend.removed", one | {"by": two}),
    ]


# Deletion.


def test_a_deleted_user_is_nobodys_friend(make_server):
    server = make_server()
    ben, cleo, dan = server.users(3)
    body = {"email": "ann@mail.example", "password": "correct horse battery", "displayName": "Ann Wintergreen"}
    signed_up = HTTP.post(f"{server.url}/v1/accounts", json=body).json()
    ann = User(server, signed_up["user"]["id"], signed_up["accessToken"])
    befriend(ann, ben)
    assert ask(ann, cleo, note="a note of Ann").status_code == 201
    assert ask(dan, ann, note="a note to Ann").status_code == 201
    token = ann.post("/v1/me/link").json()["token"]
    for reporter, user, text in ((ann, ben, "words of Ann"), (ben, ann, "words of Ben")):
        report = {"clientID": client_id(), "user": user.id, "reason": "abuse", "text": text}
        assert reporter.post("/v1/reports", report).status_code == 201

    async def scenario() -> None:
        endpoints = [await opened(user) for user in (ben, cleo, dan)]
        try:
            deleted = await asyncio.to_thread(ann.post, "/v1/me/delete", {"password": body["password"]})
            assert deleted.status_code == 204
            for user in (ben, cleo, dan):
                assert await asyncio.to_thread(states, user) == {}, "at once"
            for endpoint in endpoints:
                await has_no_friends(endpoint)
        finally:
            for endpoint in endpoints:
                await endpoint.close()

    asyncio.run(scenario())
    refused(ask(ben, ann), 404, "not_found", "user")
    refused(ben.get(f"/v1/links/{token}"), 404, "not_found", "token")
    wait_until(lambda: "a deleted account was erased" in server.log_tail(100_000), "the erasure")
    content = b"".join(path.read_bytes() for path in server.data.glob("switchboard.sqlite*"))
    for text in ("a note of Ann", "a note to Ann", "words of Ann", "Wintergreen"):
        assert text.encode() not in content, text
    lines = [line.split("\t") for line in server.command("report", "list").splitlines()]
    assert [line[2:] for line in lines] == [[ben.id, ann.id, "abuse", "words of Ben"], [ann.id, ben.id, "abuse", "-"]]


# Who may what: each relation to another user, and what it allows.

RELATIONS = ("nobody", "requester", "recipient", "declined", "blocked", "friend")


@pytest.mark.parametrize("relation", RELATIONS)
def test_relations(server, relation):
    """What a user in this relation to Ben may do."""
    ann, ben = server.users(2)
    word = "q" + uuid.uuid4().hex
    named(ben, f"Ben {word}")
    assert ben.request("PATCH", "/v1/me", {"reach": "exact"}).status_code == 200
    link = ben.post("/v1/me/link").json()["token"]
    if relation in ("requester", "declined"):
        assert ask(ann, ben).status_code == 201
    if relation == "declined":
        assert ben.post(f"/v1/friends/{ann.id}/decline").status_code == 204
    if relation == "recipient":
        assert ask(ben, ann).status_code == 201
    if relation == "friend":
        befriend(ann, ben)
    if relation == "blocked":
        assert ben.request("PUT", f"/v1/blocks/{ann.id}").status_code == 204
    assert (found(ann, word) == [ben.id]) == (relation == "friend")
    assert (ann.get(f"/v1/links/{link}").status_code == 200) == (relation != "blocked")
    assert ann.get(f"/v1/users/{ben.id}").status_code == 200
    assert set(states(ann).values()) == {
        "nobody": set(), "requester": {"requested"}, "recipient": {"received"}, "declined": {"requested"},
        "blocked": set(), "friend": {"friend"},
    }[relation]
    declined = {"recipient": 204}.get(relation, 404)
    accepted = {"recipient": 200, "friend": 200}.get(relation, 404)
    assert ann.post(f"/v1/friends/{ben.id}/accept").status_code == accepted
    if relation != "recipient":
        assert ann.post(f"/v1/friends/{ben.id}/decline").status_code == declined
    outsider = server.user()
    assert states(outsider) == {} and HTTP.get(f"{server.url}/v1/friends").status_code == 401
    assert ann.request("DELETE", f"/v1/friends/{ben.id}").status_code == 204
    assert states(ann) == {} and ann.id not in states(ben)
