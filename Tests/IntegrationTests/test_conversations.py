"""Conversations, members and messages over REST and realtime."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from switchboard_tests.conversations import befriend, create, direct, group, inbox, members_of, send, texts
from switchboard_tests.endpoint import Endpoint, RequestError, client_id, listening
from switchboard_tests.metrics import metric
from switchboard_tests.rawsocket import RawSocket
from switchboard_tests.server import Server
from switchboard_tests.transports import hello


@pytest.fixture(scope="module")
def server(make_server) -> Server:
    return make_server({"limits": {"friendRequestsPerHour": 1000, "conversationsPerHour": 10_000}})


# Conversations.


def test_two_people_have_one_conversation(server):
    ann, ben = befriend(*server.users(2))
    made = create(ann, "direct", [ben])
    assert made.status_code == 201, made.text
    body = made.json()
    assert body["conversation"]["kind"] == "direct" and body["conversation"]["members"] == 2
    assert [one["id"] for one in body["people"]] == [ben.id]
    again = create(ben, "direct", [ann])
    assert again.status_code == 200 and again.json()["conversation"] == body["conversation"]
    assert [one["id"] for one in again.json()["people"]] == [ann.id]


def test_notes_exist_once(server):
    ann = server.user()
    first, second = create(ann, "self"), create(ann, "self")
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["conversation"]["id"] == second.json()["conversation"]["id"]


def test_a_group_is_created_once_by_its_client_id(server):
    ann, ben = befriend(*server.users(2))
    body = {"clientID": client_id(), "kind": "group", "members": [ben.id], "name": " Team "}
    first = ann.post("/v1/conversations", body)
    assert first.status_code == 201, first.text
    assert first.json()["conversation"]["name"] == "Team" and first.json()["conversation"]["members"] == 2
    again = ann.post("/v1/conversations", body)
    assert again.status_code == 200 and again.json() == first.json()
    other = ann.post("/v1/conversations", body | {"name": "Other"})
    assert other.status_code == 409 and other.json()["type"].endswith("client_id_reused")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "direct"}, "members"),
        ({"kind": "direct", "members": ["{ann}"]}, "members"),
        ({"kind": "direct", "members": ["{ben}", "{cleo}"]}, "members"),
        ({"kind": "direct", "members": ["{ben}"], "name": "x"}, "name"),
        ({"kind": "self", "members": ["{ben}"]}, "members"),
        ({"kind": "group", "name": "a\u202eb"}, "name"),
        ({"kind": "group", "name": "x" * 81}, "name"),
        ({"kind": "group", "members": ["nobody"]}, "members[0]"),
        ({"kind": "group", "members": ["{ben}"] * 101}, "members"),
        ({"kind": "room"}, "kind"),
        ({}, "kind"),
    ],
)
def test_what_cannot_be_created_is_named(server, body: dict[str, Any], field: str):
    ann, ben, cleo = server.users(3)
    names = {"{ann}": ann.id, "{ben}": ben.id, "{cleo}": cleo.id}
    if "members" in body:
        body = body | {"members": [names.get(one, one) for one in body["members"]]}
    refused = ann.post("/v1/conversations", {"clientID": client_id()} | body)
    assert refused.status_code == 400 and refused.json()["field"] == field, refused.text


def test_three_messages_ask_whether_one_may_write(server):
    ann, ben = server.users(2)
    here = direct(ann, ben)
    for text in ("one", "two", "three"):
        assert send(ann, here, text).status_code == 201
    refused = send(ann, here, "four")
    assert refused.status_code == 403 and "3 messages" in refused.json()["detail"], refused.text
    assert texts(ben, here) == ["one", "two", "three"]
    assert send(ben, here, "no").status_code == 403
    for _ in range(2):
        accepted = ben.post(f"/v1/conversations/{here}/members/me/accept")
        assert accepted.status_code == 200 and accepted.json()["membership"]["state"] == "member"
    assert send(ann, here, "four").status_code == send(ben, here, "five").status_code == 201


def test_declining_is_silent(server):
    ann, ben = server.users(2)
    here = direct(ann, ben)
    send(ann, here, "may I?")
    path = f"/v1/conversations/{here}"
    before = [ann.get(path).json(), ann.get(f"{path}/members").json(), ann.get("/v1/inbox").json()]
    for _ in range(2):
        assert ben.post(f"{path}/members/me/decline").status_code == 204
    assert ben.get(path).status_code == 404 and ben.get("/v1/inbox").json()["conversations"] == []
    assert [ann.get(path).json(), ann.get(f"{path}/members").json()] == before[:2]
    assert ann.get("/v1/inbox").json()["conversations"] == before[2]["conversations"]
    assert [send(ann, here, "hello?").status_code for _ in range(3)] == [201, 201, 403]
    # Who writes after all has accepted, and does not see what was declined.
    assert direct(ben, ann) == here
    assert texts(ben, here) == []
    assert send(ben, here, "hi").status_code == send(ann, here, "oh").status_code == 201
    assert texts(ben, here) == ["hi", "oh"]


def test_who_has_declined_is_notified_of_nothing_more(server):
    ann, ben, cleo = server.users(3)
    here = direct(ann, ben)
    assert send(ann, here, "may I?").status_code == 201

    async def run() -> None:
        name = f"inbox:{ben.id}"
        async with listening(ben, name) as endpoint:
            def rows() -> list[dict[str, Any]]:
                return [row for row in endpoint.streams[name].rows if row["id"] == here]

            # His members are known from now on.
            assert send(ann, here, "please").status_code == 201
            await endpoint.until("the second message", rows)
            assert ben.post(f"/v1/conversations/{here}/members/me/decline").status_code == 204
            await endpoint.until("that it is gone", lambda: rows()[-1].get("gone"))
            before = len(rows())
            assert send(ann, here, "why?").status_code == 201
            # What comes later has come.
            there = direct(cleo, ben)
            assert send(cleo, there, "hello").status_code == 201
            await endpoint.until("the other", lambda: any(row["id"] == there for row in endpoint.streams[name].rows))
            assert len(rows()) == before, rows()

    asyncio.run(run())


def test_a_request_is_not_changed_before_it_is_accepted(server):
    ann, ben = server.users(2)
    here = direct(ann, ben)
    path = f"/v1/conversations/{here}"
    sent = send(ann, here, "may I?").json()["message"]
    edit = {"text": "read more", "textVersion": sent["textVersion"]}
    assert ann.request("PATCH", f"{path}/messages/1", edit).status_code == 403
    assert ann.request("PATCH", path, {"disappearAfter": 60}).status_code == 403
    assert texts(ben, here) == ["may I?"]
    assert ben.post(f"{path}/members/me/accept").status_code == 200
    assert ann.request("PATCH", f"{path}/messages/1", edit).status_code == 200


def test_a_friend_answers_a_request_that_waited(server):
    ann, ben = server.users(2)
    here = direct(ann, ben)
    assert send(ann, here, "may I?").status_code == 201
    assert send(ben, here, "yes").status_code == 403
    befriend(ben, ann)
    assert ben.get(f"/v1/conversations/{here}").json()["membership"]["state"] == "member"
    assert send(ben, here, "of course").status_code == 201
    assert texts(ann, here) == ["may I?", "of course"]


def test_friends_need_no_request(server):
    ann, ben = server.users(2)
    here = direct(ann, ben)
    assert [send(ann, here, "x").status_code for _ in range(4)] == [201, 201, 201, 403]
    befriend(ben, ann)
    assert send(ann, here, "we are friends").status_code == 201
    assert ben.get(f"/v1/conversations/{here}").json()["membership"]["state"] == "member"
    assert send(ben, here, "indeed").status_code == 201


def test_in_groups_the_blocked_are_not_counted(server):
    ann, ben, cleo = server.users(3)
    for other in (ben, cleo):
        befriend(ann, other)
    here = group(ann, [ben, cleo])
    assert send(ann, here, f"before <@{ben.id}>").status_code == 201

    def totals() -> tuple[int, int]:
        found = ben.get("/v1/inbox").json()["totals"]
        return found["unread"], found["mentions"]

    async def run() -> None:
        name = f"inbox:{ben.id}"
        async with listening(ben, name) as endpoint:
            async def counts(unread: int, mentions: int) -> None:
                def is_right() -> bool:
                    stream = endpoint.streams[name]
                    row = inbox(stream)[here]
                    return (row["unread"], row["mentions"]) == (unread, mentions)

                await endpoint.until(f"{unread} and {mentions}", is_right)
                row = next(one for one in ben.get("/v1/inbox").json()["conversations"] if one["id"] == here)
                assert (row["unread"], row["mentions"]) == (unread, mentions)
                assert totals() == (min(unread, 1), min(mentions, 1))

            await counts(1, 1)
            # The row moves though nobody has written.
            assert ben.request("PUT", f"/v1/blocks/{ann.id}").status_code == 204
            await counts(0, 0)
            assert send(ann, here, "<@all> again").status_code == 201
            assert send(cleo, here, "from somebody else").status_code == 201
            await counts(1, 0)
            assert ben.request("DELETE", f"/v1/blocks/{ann.id}").status_code == 204
            await counts(3, 2)

    asyncio.run(run())


# Members.


def test_an_invitation_shows_nothing_until_it_is_accepted(server):
    ann, ben = server.users(2)
    here = group(ann, [ben], name="Secret")
    send(ann, here, "before")
    invited = ben.get(f"/v1/conversations/{here}").json()
    assert invited["membership"]["state"] == "invited" and "lastNumber" not in invited["conversation"]
    assert texts(ben, here) == []
    assert ben.get(f"/v1/conversations/{here}/members").status_code == 403
    assert ben.post(f"/v1/conversations/{here}/members/me/accept").status_code == 200
    send(ann, here, "after")
    assert texts(ben, here) == ["after"]
    assert members_of(ann, here) == {ann.id: "owner", ben.id: "member"}


def test_who_is_invited_back_keeps_what_was_seen(server):
    ann, ben = server.users(2)
    here = group(ann, [ben])
    path = f"/v1/conversations/{here}"
    assert ben.post(f"{path}/members/me/accept").status_code == 200
    send(ann, here, "seen")
    assert ben.request("DELETE", f"{path}/members/me").status_code == 204
    before = ben.get(f"{path}/messages").json()
    send(ann, here, "unseen")
    assert ann.post(f"{path}/members", {"members": [ben.id]}).status_code == 200
    assert ben.get(path).json()["membership"]["state"] == "invited"
    assert ben.get(f"{path}/messages").json() == before and texts(ben, here) == ["seen"]
    found = ben.get("/v1/search", params={"query": "seen"}).json()["results"]
    assert [one["message"]["text"] for one in found] == ["seen"]


def test_who_leaves_keeps_what_was_seen(server):
    ann, ben = befriend(*server.users(2))
    here = group(ann, [ben], name="Before")
    send(ann, here, "seen")
    assert ben.request("DELETE", f"/v1/conversations/{here}/members/me").status_code == 204
    assert ben.request("DELETE", f"/v1/conversations/{here}/members/me").status_code == 204
    send(ann, here, "unseen")
    ann.request("PATCH", f"/v1/conversations/{here}", {"name": "After"})
    assert texts(ben, here) == ["seen"]
    left = ben.get(f"/v1/conversations/{here}").json()
    assert left["conversation"]["name"] == "Before" and left["conversation"]["lastNumber"] == 1
    assert left["membership"]["state"] == "left"
    assert send(ben, here, "no").status_code == 403
    ann.post(f"/v1/conversations/{here}/members", {"members": [ben.id]})
    send(ann, here, "again")
    assert texts(ben, here) == ["seen", "again"]
    assert ben.get(f"/v1/conversations/{here}").json()["conversation"]["name"] == "After"


def test_roles_and_the_next_owner(server):
    ann, ben = befriend(*server.users(2))
    cleo, _ = befriend(server.user(), ann)
    here = group(ann, [ben, cleo])
    path = f"/v1/conversations/{here}"
    assert ben.request("DELETE", f"{path}/members/{cleo.id}").status_code == 403
    admin = ann.request("PATCH", f"{path}/members/{ben.id}", {"role": "admin"})
    assert admin.status_code == 200 and admin.json()["member"]["role"] == "admin", admin.text
    stale = ann.request("PATCH", f"{path}/members/{ben.id}", {"role": "member", "version": 1})
    assert stale.status_code == 409 and stale.json()["field"] == "version"
    settings = ben.request("PATCH", path, {"settings": {"write": "admins"}})
    assert settings.json()["conversation"]["settings"] == {
        "write": "admins", "add": "members", "rename": "members", "keepDays": 0,
    }
    assert send(cleo, here, "no").status_code == 403
    assert ann.post(f"{path}/owner", {"user": ben.id}).status_code == 200
    assert members_of(cleo, here) == {ann.id: "admin", ben.id: "owner", cleo.id: "member"}
    assert ben.request("DELETE", f"{path}/members/me").status_code == 204
    assert members_of(cleo, here)[ann.id] == "owner"


def test_nobody_else_sees_a_conversation(server):
    ann, ben = befriend(*server.users(2))
    cleo = server.user()
    here = direct(ann, ben)
    send(ann, here, "secret")
    requests = [
        ("GET", "", None), ("PATCH", "", {"name": "x"}), ("GET", "/members", None),
        ("POST", "/members", {"members": [cleo.id]}), ("POST", "/messages", {"clientID": client_id(), "text": "x"}),
        ("GET", "/messages", None), ("GET", "/messages/1", None), ("GET", "/messages/1/edits", None),
        ("PATCH", "/messages/1", {"text": "x", "textVersion": 2}), ("DELETE", "/messages/1?for=all", None),
        ("POST", "/owner", {"user": cleo.id}), ("POST", "/members/me/accept", None),
        ("POST", "/members/me/decline", None), ("DELETE", "/members/me", None),
        ("PATCH", f"/members/{ann.id}", {"role": "admin"}),
    ]
    for method, path, body in requests:
        refused = cleo.request(method, f"/v1/conversations/{here}{path}", body)
        assert refused.status_code == 404, (method, path, refused.text)
        assert refused.json()["field"] == "conversation", (method, path, refused.text)
    assert cleo.get("/v1/conversations").json()["conversations"] == []


# Messages.


def test_a_message_is_stored_once(server):
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    body = {"clientID": client_id(), "text": f"Hi <@{ben.id}>, see https://example.org/ \U0001f44d"}
    first = ann.post(f"/v1/conversations/{here}/messages", body)
    message = first.json()["message"]
    assert first.status_code == 201 and message["number"] == 1 and message["author"] == ann.id
    assert [one["kind"] for one in message["ranges"]] == ["mention", "link", "emoji"]
    again = ann.post(f"/v1/conversations/{here}/messages", body)
    assert again.status_code == 200 and again.json() == {"message": message, "duplicate": True}
    other = ann.post(f"/v1/conversations/{here}/messages", body | {"text": "else"})
    assert other.status_code == 409 and other.json()["type"].endswith("client_id_reused")
    elsewhere = group(ann, [ben])
    assert ann.post(f"/v1/conversations/{elsewhere}/messages", body).status_code == 409
    assert ben.get(f"/v1/conversations/{here}/messages/1").json() == {"message": message}


def test_responses_are_what_their_reader_sees(server):
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    path = f"/v1/conversations/{here}/messages/1"
    sent = send(ann, here, "one").json()["message"]
    assert ben.request("PUT", f"/v1/blocks/{ann.id}").status_code == 204
    # Her own, which nobody else sees.
    assert ann.request("PUT", f"{path}/reactions/%F0%9F%91%8D").status_code == 200
    assert send(ann, here, "in the thread", thread=1).status_code == 201
    edited = ann.request("PATCH", path, {"text": "two", "textVersion": sent["textVersion"]}).json()
    assert edited == ann.get(path).json() and edited["message"]["reactions"] and edited["message"]["replies"] == 1
    for _ in range(2):
        deleted = ann.request("DELETE", f"{path}?for=all").json()
        assert deleted == ann.get(path).json() and deleted["message"]["replies"] == 1


def test_a_repetition_tells_nothing_to_who_is_gone(server):
    ann, ben = befriend(*server.users(2))
    here = group(ann, [ben])
    body = {"clientID": client_id(), "text": "as it was"}
    first = ben.post(f"/v1/conversations/{here}/messages", body).json()["message"]
    path = f"/v1/conversations/{here}"
    assert ann.request("DELETE", f"{path}/members/{ben.id}").status_code == 204
    number = first["number"]
    assert ann.request("PUT", f"{path}/messages/{number}/reactions/%F0%9F%91%8D").status_code == 200
    assert send(ann, here, "in the thread", thread=number).status_code == 201
    again = ben.post(f"{path}/messages", body)
    assert again.status_code == 200 and again.json() == {"message": first, "duplicate": True}
    # Who sees it no more learns that it was stored, not what became of it.
    assert ben.post(f"{path}/clear").status_code == 204
    assert ann.request("DELETE", f"{path}/messages/{number}?for=all").status_code == 200
    again = ben.post(f"{path}/messages", body)
    known = {name: first[name] for name in ("conversation", "number", "clientID", "author", "sentAt", "kind")}
    nothing = {"version": 0, "textVersion": 0, "ranges": [], "reactions": {}}
    assert again.status_code == 200 and again.json() == {"message": known | nothing, "duplicate": True}


def test_pages_go_both_ways_and_around(server):
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    for index in range(1, 31):
        assert send(ann if index % 2 else ben, here, f"m{index}").status_code == 201
    path = f"/v1/conversations/{here}/messages"

    def page(**parameters: int | str) -> tuple[list[int], list[int] | None, bool, bool]:
        body = ann.get(path, params=parameters).json()
        numbers = [one["number"] for one in body["messages"]]
        return numbers, body.get("range"), body["hasEarlier"], body["hasLater"]

    assert page(limit=5) == ([26, 27, 28, 29, 30], [26, 30], True, False)
    assert page(before=6, limit=10) == ([1, 2, 3, 4, 5], [1, 5], False, True)
    assert page(after=27, limit=10) == ([28, 29, 30], [28, 30], True, False)
    assert page(around=10, limit=4) == ([9, 10, 11, 12], [9, 12], True, True)
    tenth, eleventh = (one["sentAt"] for one in ann.get(path, params={"after": 9, "limit": 2}).json()["messages"])
    first = page(**{"from": tenth})[0][0]
    # Two may be of the same millisecond.
    assert first <= 10 and page(**{"from": eleventh})[0][0] in (first, 11)
    assert page(**{"from": "2999-01-01T00:00:00Z"}) == ([], None, True, False)
    for params, field in (({"from": "today"}, "from"), ({"from": tenth, "around": 3}, "from")):
        refused = ann.get(path, params=params)
        assert refused.status_code == 400 and refused.json()["field"] == field
    both = ann.get(path, params={"before": 3, "after": 1})
    assert both.status_code == 400 and both.json()["field"] == "after"


def test_an_edit_keeps_the_former_text(server):
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    sent = send(ann, here, "frist").json()["message"]
    path = f"/v1/conversations/{here}/messages/1"
    assert ben.request("PATCH", path, {"text": "x", "textVersion": sent["textVersion"]}).status_code == 403
    edited = ann.request("PATCH", path, {"text": "first", "textVersion": sent["textVersion"]})
    assert edited.status_code == 200 and edited.json()["message"]["text"] == "first"
    stale = ann.request("PATCH", path, {"text": "third", "textVersion": sent["textVersion"]})
    assert stale.status_code == 409, stale.text
    assert stale.json()["textVersion"] == edited.json()["message"]["textVersion"]
    assert [one["text"] for one in ben.get(f"{path}/edits").json()["edits"]] == ["frist"]
    deleted = ann.request("DELETE", f"{path}?for=all")
    assert "text" not in deleted.json()["message"] and "deletedAt" in deleted.json()["message"]
    assert ben.get(f"{path}/edits").json() == {"edits": []}


def test_the_pages_of_former_texts(server):
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    # So that a page ends where its bytes are reached.
    written = [f"{number:02} " + "x" * 35_000 for number in range(31)]
    message = send(ann, here, written[0]).json()["message"]
    path = f"/v1/conversations/{here}/messages/{message['number']}"
    for text in written[1:]:
        edited = ann.request("PATCH", path, {"text": text, "textVersion": message["textVersion"]})
        assert edited.status_code == 200, edited.text
        message = edited.json()["message"]

    def pages(limit: int) -> list[list[str]]:
        found: list[list[str]] = []
        cursor: dict[str, str] = {}
        while True:
            page = ben.get(f"{path}/edits", params={"limit": limit} | cursor).json()
            found.append([one["text"] for one in page["edits"]])
            if "nextCursor" not in page:
                return found
            cursor = {"cursor": page["nextCursor"]}

    assert [text for page in pages(100) for text in page] == written[:-1]
    assert [len(page) for page in pages(100)] == [7, 7, 7, 7, 2]
    assert [len(page) for page in pages(4)] == [4, 4, 4, 4, 4, 4, 4, 2]
    wrong = ben.get(f"{path}/edits?cursor=x")
    assert wrong.status_code == 400 and wrong.json()["field"] == "cursor"


def test_who_asks_for_many_large_pages_and_reads_slowly_gets_them_all(server):
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    for _ in range(4):
        send(ann, here, "x" * 60_000)
    with RawSocket(server.port, receive_buffer=4096) as client:
        client.send({"id": 1, "hello": hello(ben)})
        client.response(1)
        asked = range(2, 42)
        for id in asked:
            client.send({"id": id, "request": "messages.list", "params": {"conversation": here}})
        waiting = set(asked)
        while waiting:
            message = client.message()
            assert "bye" not in message, (message, waiting)
            if "id" in message:
                assert len(message["result"]["messages"]) == 4
                waiting.remove(message["id"])


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"text": ""}, "text"), ({"text": " \n "}, "text"), ({"text": "a\u0000b"}, "text"),
        ({"text": "x" * 65_537}, "text"), ({"text": "\u20ac" * 21_846}, "text"), ({}, "text"),
        ({"text": 3}, "text"), ({"text": "x", "replyTo": 99}, "replyTo"), ({"text": "x", "clientID": "x"}, "clientID"),
    ],
)
def test_what_cannot_be_sent_is_named(server, body: dict[str, Any], field: str):
    ann = server.user()
    here = create(ann, "self").json()["conversation"]["id"]
    refused = ann.post(f"/v1/conversations/{here}/messages", {"clientID": client_id()} | body)
    assert refused.status_code in (400, 404) and refused.json()["field"] == field, refused.text


@pytest.mark.parametrize(
    "text",
    [
        "x" * 65_536, "\U0001f469\u200d\U0001f680" * 5_000, "\u202egnp.exe", "a\u200bb", "<b>&amp;</b>",
        "e\u0301" * 9_000,
    ],
)
def test_a_text_comes_back_as_it_is(server, text: str):
    ann = server.user()
    here = create(ann, "self").json()["conversation"]["id"]
    assert send(ann, here, text).json()["message"]["text"] == text
    assert texts(ann, here) == [text]


def test_requests_over_realtime(server):
    ann, ben = befriend(*server.users(2))

    async def run() -> None:
        endpoint = Endpoint(server.realtime_url, ann.id, ann.token)
        await endpoint.open()
        made = await endpoint.ask("conversations.create", clientID=client_id(), kind="direct", members=[ben.id])
        here = made["conversation"]["id"]
        sent = await endpoint.ask("messages.send", conversation=here, clientID=client_id(), text="over the socket")
        assert sent["message"]["number"] == 1
        page = await endpoint.ask("messages.list", conversation=here, limit=10)
        assert [one["text"] for one in page["messages"]] == ["over the socket"]
        with pytest.raises(RequestError) as refused:
            await endpoint.ask("messages.get", conversation=here, number=2)
        assert refused.value.problem["field"] == "number"
        await endpoint.close()

    asyncio.run(run())


def test_who_has_written_as_many_bytes_as_one_may_in_a_day_waits(make_server):
    server = make_server({"limits": {"textBytesPerDay": 65_536}})
    ann, ben = server.users(2)
    here, there = (create(one, "self").json()["conversation"]["id"] for one in (ann, ben))
    # Short and long ones count alike.
    number = send(ann, here, "a" * 2_000).json()["message"]["number"]
    for text in ("b" * 3_000, "c" * 50_000):
        assert send(ann, here, text).status_code == 201
    draft = {"draft": {"text": "d" * 9_000, "revision": 1}}
    assert ann.request("PATCH", f"/v1/conversations/{here}/members/me", draft).status_code == 200
    message = f"/v1/conversations/{here}/messages/{number}"
    version = ann.get(message).json()["message"]["textVersion"]
    draft = {"draft": {"text": "g" * 3_000, "revision": 2}}
    for response in (
        send(ann, here, "e" * 3_000),
        ann.request("PATCH", message, {"text": "f" * 3_000, "textVersion": version}),
        ann.request("PATCH", f"/v1/conversations/{here}/members/me", draft),
    ):
        assert response.status_code == 429 and "bytes" in response.json()["detail"], response.text
        assert 600 < int(response.headers["Retry-After"]) < 86_400
    # A smaller one has room, and so has everybody else.
    assert send(ann, here, "h").status_code == 201
    assert send(ben, there, "i" * 50_000).status_code == 201
    assert metric(server, "text_refusals_total") == 3
    assert 110_000 < metric(server, "text_bytes_total") < 130_000


def test_who_writes_too_much_waits(make_server):
    server = make_server({"limits": {"messagesPerMinute": 5, "conversationsPerHour": 3}})
    ann, ben = server.users(2)
    here = create(ann, "self").json()["conversation"]["id"]
    results: list[httpx.Response] = [send(ann, here, str(index)) for index in range(6)]
    assert [one.status_code for one in results] == [201] * 5 + [429]
    assert int(results[-1].headers["Retry-After"]) > 0
    # Others do not wait.
    assert send(ben, create(ben, "self").json()["conversation"]["id"], "x").status_code == 201
    assert [create(ann, "group").status_code for _ in range(3)] == [201, 201, 429]
