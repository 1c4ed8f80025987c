"""A blocked user cannot find out: every response is the same as that to a user who is not blocked."""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from switchboard_tests.audio_files import encode, tone
from switchboard_tests.conversations import Conversation, befriend, direct, group, messages, sent
from switchboard_tests.endpoint import Endpoint
from switchboard_tests.rawsocket import RawSocket
from switchboard_tests.server import Server, User
from switchboard_tests.voice_messages import send_file, upload

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT[0-9:.]+Z")
SIGNED = re.compile(r"(expires|signature)=[^&\"]+")
REMAINING = re.compile(r'"remainingMs": ?\d+')
EPOCH = re.compile(r'\["[^"]+", ?(\d+)\]')
SHORT = encode(tone(1))
LATER = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")


# Its id, in problems.
REQUEST = re.compile(r'"request": "[0-9a-f]{32}"')


def shape(responses: list, own: dict[str, str]) -> str:
    """Responses without the parts that differ between requests: ids are numbered in order, those of `own` get names."""
    names = dict(own)

    def named(match: re.Match) -> str:
        return names.setdefault(match[0], f"id {len(names)}")

    text = UUID.sub(named, json.dumps(responses, sort_keys=True, indent=1))
    text = REQUEST.sub('"request": ""', text)
    text = REMAINING.sub('"remainingMs": 0', TIME.sub("time", text))
    return EPOCH.sub(r"position \1", SIGNED.sub(r"\1=", text))


def read(response: httpx.Response) -> list:
    """The parts of a response that a client sees."""
    headers = {
        name: response.headers[name] for name in ("content-type", "etag", "location") if name in response.headers
    }
    return [response.status_code, headers, response.json() if response.content else None]


def everything(asker, other) -> list:
    """The responses to `asker` for every request that unrelated users can make about `other`."""
    name = asker.get(f"/v1/users/{other.id}").json()["displayName"]
    responses = [
        asker.get(f"/v1/users/{other.id}"),
        asker.get("/v1/users", params={"query": name}),
        asker.get("/v1/users", params={"query": name[:-2].lower()}),
    ]
    for _ in range(2):
        made = asker.post("/v1/calls", {"clientID": str(uuid.uuid4()), "callees": [other.id], "kind": "audio"})
        call = made.json()["call"]["id"]
        path = f"/v1/calls/{call}"
        signal = {"clientID": str(uuid.uuid4()), "kind": "offer", "generation": 0, "payload": {"sdp": "v=0"}}
        responses += [
            made, asker.get(path), asker.get("/v1/calls"), asker.post(f"{path}/signals", signal),
            asker.post(f"{path}/invite", {"clientID": str(uuid.uuid4()), "users": [other.id]}),
            asker.post(f"{path}/cancel"), asker.get(path),
        ]
    # A voice message is not for a request, whoever asks.
    request = asker.post("/v1/conversations", {"clientID": str(uuid.uuid4()), "kind": "direct", "members": [other.id]})
    file = upload(asker, SHORT)
    sent = send_file(asker, request.json()["conversation"]["id"], file.json()["file"]["id"])
    assert sent.status_code == 403
    responses += [file, sent, asker.get(f"/v1/conversations/{request.json()['conversation']['id']}/messages/9")]
    # A group, whose members are asked, when it is made and later.
    for members in ([other.id], []):
        body = {"clientID": str(uuid.uuid4()), "kind": "group", "name": "Team", "members": members}
        made = asker.post("/v1/conversations", body)
        path = f"/v1/conversations/{made.json()['conversation']['id']}"
        responses += [
            made, asker.post(f"{path}/members", {"members": [other.id]}), asker.get(f"{path}/members"),
            asker.get(path), asker.get(f"{path}/messages"),
        ]
    seen = [
        read(response) if "audio" not in response.headers.get("content-type", "") else response.status_code
        for response in responses
    ]
    with RawSocket(asker.server.port) as socket:
        socket.hello(asker)
        socket.send({"id": 2, "listen": {"stream": f"presence:{other.id}"}})
        seen += [socket.message(), socket.response(2)]
    return seen


def ordered_users(server: Server) -> list[User]:
    """Two who ask and one who is asked about, in the order of their ids, which is that of lists."""
    return sorted(server.users(3), key=lambda user: user.id)


def test_every_response_is_the_same(server):
    blocked, outsider, ben = ordered_users(server)
    # A name with a unique prefix.
    assert ben.request("PATCH", "/v1/me", {"displayName": f"Ben{uuid.uuid4().hex}"}).status_code == 200
    assert ben.request("PUT", f"/v1/blocks/{blocked.id}").status_code == 204
    results = []
    for asker in (blocked, outsider):
        # Without a session of the caller, the time until its call counts as detached would differ.
        with RawSocket(server.port) as session:
            session.hello(asker, endpoint=asker.endpoint, secret=asker.secret)
            results.append(shape(everything(asker, ben), {asker.id: "me", ben.id: "ben"}))
    # The names of the two differ.
    own = [server.command("account", "list").split(f"{asker.id}\t")[1].split("\t")[1] for asker in (blocked, outsider)]
    assert results[0].replace(own[0], "NAME") == results[1].replace(own[1], "NAME")
    assert "not_found" in results[0] and "ben" in results[0]
    # And he received nothing: neither calls nor messages.
    assert [call["caller"] for call in ben.get("/v1/calls").json()["calls"]] == [outsider.id] * 2
    groups = [row for row in ben.get("/v1/inbox").json()["conversations"] if row["conversation"]["kind"] == "group"]
    assert len(groups) == 2, "those of the outsider"


def without_counters(value: Any) -> Any:
    """A document without the counters that all conversations share."""
    if isinstance(value, list):
        return [without_counters(one) for one in value]
    if not isinstance(value, dict):
        return value
    shared = {"counter", "activity"} | ({"position"} if "totals" in value else set())
    return {name: without_counters(one) for name, one in value.items() if name not in shared}


def written(asker: User, other: User, here: str) -> list:
    """The responses to `asker` for every request about their conversation with `other`."""
    path = f"/v1/conversations/{here}"
    body = {"clientID": str(uuid.uuid4()), "text": "hello"}
    sent = asker.post(f"{path}/messages", body)
    number, version = (sent.json()["message"][name] for name in ("number", "textVersion"))
    message = f"{path}/messages/{number}"
    thread = {"clientID": str(uuid.uuid4()), "text": "in the thread", "thread": number, "replyTo": number}
    later = {"clientID": str(uuid.uuid4()), "text": "later", "sendAt": LATER}
    report = {"clientID": str(uuid.uuid4()), "user": other.id, "reason": "spam"}
    call = {"clientID": str(uuid.uuid4()), "conversation": here, "kind": "audio"}
    forward = {"clientID": str(uuid.uuid4()), "forward": {"conversation": here, "number": number}}
    responses = [
        sent, asker.post(f"{path}/messages", body), asker.request("PUT", f"{message}/reactions/%F0%9F%91%8D"),
        asker.post(f"{path}/messages", thread), asker.post(f"{path}/messages", forward),
        asker.request("PATCH", message, {"text": "edited", "textVersion": version}),
        asker.request("PUT", f"{message}/language", {"language": "es"}), asker.request("PUT", f"{message}/pin"),
        asker.request("PUT", f"{message}/star"), asker.get(message), asker.get(f"{message}/edits"),
        asker.get(f"{message}/reactions"), asker.get(f"{message}/receipts"),
        asker.request("PATCH", path, {"disappearAfter": 3600}), asker.post(f"{path}/messages", later),
        asker.post(f"{path}/messages", later), asker.post(f"{path}/typing", {"state": "typing"}),
        asker.post(f"{path}/marks", {"read": number, "delivered": number}), asker.post("/v1/reports", report),
        asker.get("/v1/search", params={"query": "edited"}), asker.get("/v1/starred"), asker.get("/v1/inbox"),
    ]
    started = asker.post("/v1/calls", call)
    responses += [started, asker.get(path), asker.post(f"/v1/calls/{started.json()['call']['id']}/cancel")]
    responses += [asker.request("DELETE", f"{message}?for=all") for _ in range(2)]
    responses += [
        asker.get(path), asker.get(f"{path}/messages"), asker.get(f"{path}/members"), asker.get(f"{path}/scheduled"),
    ]
    assert all(response.status_code < 400 for response in responses), [response.text for response in responses]
    seen = [without_counters(read(response)) for response in responses]
    exported = asker.get(f"{path}/export")
    return [*seen, exported.status_code, exported.text]


def held(asker: User, other: User, here: str) -> list:
    """What `asker` holds of the conversation's stream after all of it, with the responses."""

    async def run() -> list:
        endpoint = Endpoint(asker.server.realtime_url, asker.id, asker.token)
        await endpoint.open()
        try:
            name = f"conversation:{here}"
            await endpoint.listen(name)
            responses = await asyncio.to_thread(written, asker, other, here)
            page = await asyncio.to_thread(lambda: asker.get(f"/v1/conversations/{here}/messages").json())
            await endpoint.until("all of it", lambda: endpoint.streams[name].seq >= page["position"][1])
            kept = Conversation.of(endpoint.streams[name])
            return [responses, kept.document, kept.members, kept.messages, page["messages"]]
        finally:
            await endpoint.close()

    return asyncio.run(run())


def test_whatever_is_written_looks_the_same(server):
    blocked, outsider, ben = ordered_users(server)
    results = []
    for asker in (blocked, outsider):
        here = direct(asker, ben)
        assert ben.post(f"/v1/conversations/{here}/members/me/accept").status_code == 200
        assert sent(asker, here, "before") == 1
        if asker is blocked:
            assert ben.request("PUT", f"/v1/blocks/{blocked.id}").status_code == 204
        # Without a session of the caller, the time until its call counts as detached would differ.
        with RawSocket(server.port) as session:
            session.hello(asker, endpoint=asker.endpoint, secret=asker.secret)
            seen = held(asker, ben, here)
        name = asker.get("/v1/me").json()["displayName"]
        results.append(shape(seen, {asker.id: "me", ben.id: "ben", here: "here"}).replace(name, "NAME"))
    assert results[0] == results[1]
    reached = {one["text"] for one in messages(ben, direct(ben, blocked)) if "text" in one}
    assert reached == {"before"}


def test_what_one_of_two_sees_alone_is_last_for_them_alone(make_server):
    server = make_server()
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)

    def last(user: User) -> tuple[int, str]:
        document = user.get(f"/v1/conversations/{here}").json()["conversation"]
        [row] = user.get("/v1/inbox").json()["conversations"]
        assert row["conversation"] == document
        return document["lastNumber"], document["lastSentAt"]

    def time(user: User, number: int) -> tuple[int, str]:
        return number, user.get(f"/v1/conversations/{here}/messages/{number}").json()["message"]["sentAt"]

    assert ben.request("PUT", f"/v1/blocks/{ann.id}").status_code == 204
    assert sent(ann, here, "before anything that both see") == 1
    nothing = ben.get(f"/v1/conversations/{here}").json()["conversation"]
    assert nothing["lastNumber"] == 0 and "lastSentAt" not in nothing and last(ann) == time(ann, 1)
    assert sent(ben, here, "both see what the blocker writes") == 2
    assert last(ann) == last(ben) == time(ann, 2)
    for number in (3, 4):
        assert sent(ann, here, "unseen") == number
        assert last(ann) == time(ann, number) and last(ben) == time(ben, 2)
    assert ann.request("PUT", f"/v1/blocks/{ben.id}").status_code == 204
    assert sent(ben, here, "unseen, too") == 5
    assert last(ann) == time(ann, 4) and last(ben) == time(ben, 5)
    server.restart()
    assert last(ann) == time(ann, 4) and last(ben) == time(ben, 5)
    for user, other in ((ann, ben), (ben, ann)):
        assert user.request("DELETE", f"/v1/blocks/{other.id}").status_code == 204
    assert last(ann) == time(ann, 4) and last(ben) == time(ben, 5), "what was written stays unseen"
    assert sent(ann, here, "seen by both") == 6
    assert last(ann) == last(ben) == time(ben, 6)


def test_a_silent_invitation_changes_nothing(server):
    """Somebody has left a group and blocked one of its members, who invites them again."""
    ann, ben = befriend(*server.users(2))
    here = group(ann, [ben])
    sent(ann, here, "what was")
    assert ann.request("DELETE", f"/v1/conversations/{here}/members/me").status_code == 204
    assert ann.request("PUT", f"/v1/blocks/{ben.id}").status_code == 204

    def seen() -> list:
        return [ann.get(path).json() for path in ("/v1/inbox", f"/v1/conversations/{here}")]

    before = seen()
    for _ in range(2):
        assert ben.post(f"/v1/conversations/{here}/members", {"members": [ann.id]}).status_code == 200
        members = ben.get(f"/v1/conversations/{here}/members").json()["members"]
        assert [one["state"] for one in members if one["user"] == ann.id] == ["invited"]
        assert without_counters(seen()) == without_counters(before)
    [row] = seen()[0]["conversations"]
    assert row["membership"]["state"] == "left" and row["counter"] == before[0]["conversations"][0]["counter"]


@pytest.mark.parametrize("transport", ["rest", "realtime"])
def test_positions_are_those_of_ones_own_streams(server, transport):
    ann, ben, cleo = server.users(3)
    body = {"clientID": str(uuid.uuid4()), "callees": [ben.id, cleo.id], "kind": "audio", "mode": "gateway"}
    if transport == "rest":
        made = ann.post("/v1/calls", body).json()
        positions, call = made["positions"], made["call"]["id"]
    else:
        with RawSocket(server.port) as socket:
            socket.hello(ann, endpoint=ann.endpoint, secret=ann.secret)
            socket.send({"id": 2, "request": "calls.create", "params": body})
            made = socket.response(2)
        positions, call = made["positions"], made["result"]["call"]["id"]
    assert set(positions) == {f"user:{ann.id}"}
    accepted = ben.post(f"/v1/calls/{call}/accept", {"clientID": str(uuid.uuid4())}).json()
    assert set(accepted["positions"]) == {f"user:{ben.id}", f"call:{call}"}
