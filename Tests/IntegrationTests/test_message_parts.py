"""What hangs on messages and members over REST and realtime: reactions, pins, stars, marks, drafts, threads."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import quote

import pytest
from switchboard_tests.conversations import Conversation, befriend, direct, group, inbox, messages, send, texts
from switchboard_tests.endpoint import Endpoint, client_id
from switchboard_tests.server import Server, User


@pytest.fixture(scope="module")
def server(make_server) -> Server:
    return make_server({"limits": {"friendRequestsPerHour": 10_000, "conversationsPerHour": 10_000}})


def friends(server: Server, count: int) -> list[User]:
    users = server.users(count)
    for other in users[1:]:
        befriend(users[0], other)
    return users


def path(here: str, number: int, part: str = "") -> str:
    return f"/v1/conversations/{here}/messages/{number}{part}"


def react(user: User, here: str, number: int, emoji: str, method: str = "PUT") -> dict[str, Any]:
    response = user.request(method, path(here, number, f"/reactions/{quote(emoji)}"))
    assert response.status_code == 200, response.text
    return response.json()["message"]


def membership(user: User, here: str, change: dict[str, Any]) -> dict[str, Any]:
    response = user.request("PATCH", f"/v1/conversations/{here}/members/me", change)
    assert response.status_code == 200, response.text
    return response.json()["membership"]


def mark(user: User, here: str, **marks: int) -> dict[str, Any]:
    response = user.post(f"/v1/conversations/{here}/marks", marks)
    assert response.status_code == 200, response.text
    return response.json()


def row(user: User, here: str, archived: bool = False) -> dict[str, Any] | None:
    listed = user.get("/v1/inbox", params={"archived": "true"} if archived else {}).json()["conversations"]
    return next((one for one in listed if one["id"] == here), None)


# Reactions and pins.


def test_reactions(server):
    ann, ben = friends(server, 2)
    here = group(ann, [ben])
    sent = send(ann, here, "one").json()["message"]
    assert sent["reactions"] == {}
    reacted = react(ben, here, 1, "\u2764")
    heart = "\u2764\ufe0f"
    assert reacted["reactions"] == {heart: {"count": 1, "users": [ben.id]}}
    assert reacted["version"] > sent["version"] and reacted["textVersion"] == sent["textVersion"]
    assert react(ben, here, 1, heart) == reacted
    react(ann, here, 1, heart)
    react(ann, here, 1, "👩‍👩‍👧")
    listed = ann.get(path(here, 1, "/reactions"), params={"limit": 2}).json()
    assert [(one["emoji"], one["user"]) for one in listed["reactions"]] == [(heart, ben.id), (heart, ann.id)]
    rest = ann.get(path(here, 1, "/reactions"), params={"cursor": listed["nextCursor"]}).json()
    assert [one["emoji"] for one in rest["reactions"]] == ["👩‍👩‍👧"] and "nextCursor" not in rest
    hearts = ben.get(path(here, 1, "/reactions"), params={"emoji": heart}).json()["reactions"]
    assert len(hearts) == 2
    page = ben.get(f"/v1/conversations/{here}/messages").json()
    assert [(one["number"], one["starred"], one["reacted"]) for one in page["own"]] == [(1, False, [heart])]
    assert react(ben, here, 1, heart, "DELETE")["reactions"][heart]["users"] == [ann.id]
    # It does not fail an edit.
    edited = ann.request("PATCH", path(here, 1), {"text": "two", "textVersion": sent["textVersion"]})
    assert edited.status_code == 200 and len(edited.json()["message"]["reactions"]) == 2


@pytest.mark.parametrize("emoji", ["x", "👍👍", "%", "%FF", "1", " ", "a" * 100])
def test_what_is_no_emoji_is_refused(server, emoji: str):
    ann = server.user()
    here = group(ann)
    send(ann, here, "one")
    refused = ann.request("PUT", path(here, 1, f"/reactions/{quote(emoji)}"))
    assert refused.status_code == 400 and refused.json()["field"] == "emoji", refused.text


def test_listeners_receive_reactions_and_pins(server):
    ann, ben, cleo = friends(server, 3)
    here = group(ann, [ben])
    for text in ("one", "two"):
        send(ann, here, text)
    assert ann.post(f"/v1/conversations/{here}/members", {"members": [cleo.id]}).status_code == 200
    send(ann, here, "three")

    async def listen() -> None:
        listeners = {user.id: Endpoint(server.realtime_url, user.id, user.token) for user in (ben, cleo)}
        for endpoint in listeners.values():
            await endpoint.open()
            await endpoint.listen(f"conversation:{here}")
        result = await listeners[ben.id].ask("messages.react", conversation=here, number=4, emoji="👍")
        assert result["message"]["reactions"] == {"👍": {"count": 1, "users": [ben.id]}}
        for number in (1, 4, 2):
            pinned = await asyncio.to_thread(ann.request, "PUT", path(here, number, "/pin"))
            assert pinned.status_code == 200, pinned.text
        assert pinned.json()["conversation"]["pins"] == [2, 4, 1]
        expected = {ben.id: [2, 4, 1], cleo.id: [4]}
        for id, endpoint in listeners.items():
            def has(endpoint: Endpoint = endpoint, id: str = id) -> bool:
                held = Conversation.of(endpoint.streams[f"conversation:{here}"])
                return held.document["pins"] == expected[id] and "👍" in held.messages[4]["reactions"]
            await endpoint.until("reactions and pins", has)
            await endpoint.close()

    asyncio.run(listen())
    for user, pins in ((ben, [2, 4, 1]), (cleo, [4])):
        assert user.get(f"/v1/conversations/{here}").json()["conversation"]["pins"] == pins
    assert ben.request("DELETE", path(here, 2, "/pin")).json()["conversation"]["pins"] == [4, 1]


def test_who_is_blocked_cannot_find_out(server):
    """Their reactions and pins are their own, on all of their devices, and the other hears nothing."""
    ann, ben = friends(server, 2)
    here = direct(ann, ben)
    send(ben, here, "one")
    assert ben.request("PUT", f"/v1/blocks/{ann.id}").status_code in (200, 204)

    async def listen() -> None:
        listeners = {user.id: Endpoint(server.realtime_url, user.id, user.token) for user in (ann, ben)}
        for endpoint in listeners.values():
            await endpoint.open()
            await endpoint.listen(f"conversation:{here}")
        await asyncio.to_thread(react, ann, here, 1, "👍")
        pinned = await asyncio.to_thread(ann.request, "PUT", path(here, 1, "/pin"))
        assert pinned.json()["conversation"]["pins"] == [1]
        await asyncio.to_thread(react, ben, here, 1, "🎉")
        stream = f"conversation:{here}"
        seen: dict[str, list[str]] = {ann.id: ["👍", "🎉"], ben.id: ["🎉"]}
        for id, endpoint in listeners.items():
            def has(endpoint: Endpoint = endpoint, id: str = id) -> bool:
                return list(Conversation.of(endpoint.streams[stream]).messages[1]["reactions"]) == seen[id]
            await endpoint.until("the reactions that one sees", has)
        assert Conversation.of(listeners[ann.id].streams[stream]).document["pins"] == [1]
        rows = listeners[ben.id].streams[stream].rows
        assert all("👍" not in one["message"]["reactions"] for one in rows if "message" in one)
        assert all(one["conversation"]["pins"] == [] for one in rows if "conversation" in one)
        for endpoint in listeners.values():
            await endpoint.close()

    asyncio.run(listen())
    assert messages(ben, here)[0]["reactions"].keys() == {"🎉"}
    assert ben.get(f"/v1/conversations/{here}").json()["conversation"]["pins"] == []


# What is one's own.


def test_stars_and_hidden_messages(server):
    ann, ben = friends(server, 2)
    first, second = group(ann, [ben]), group(ann, [ben])
    for here in (first, second):
        for text in ("one", "two"):
            send(ann, here, text)
    for here, number in ((first, 1), (second, 2), (first, 2)):
        starred = ben.request("PUT", path(here, number, "/star"))
        assert starred.status_code == 200 and starred.json()["own"]["starred"], starred.text
    found, cursor = [], None
    while True:
        page = ben.get("/v1/starred", params={"limit": 1} | ({"cursor": cursor} if cursor else {})).json()
        found += [(one["conversation"], one["number"]) for one in page["messages"]]
        cursor = page.get("nextCursor")
        if cursor is None:
            break
    assert sorted(found) == sorted([(first, 2), (second, 2), (first, 1)])
    assert ben.request("DELETE", path(first, 1, "/star")).json()["own"]["starred"] is False
    hidden = ben.request("DELETE", path(first, 2) + "?for=me")
    assert hidden.status_code == 200 and hidden.json()["own"]["hidden"] is True
    assert texts(ben, first) == ["one"] and texts(ann, first) == ["one", "two"]
    assert ben.get(path(first, 2)).status_code == 404
    assert [one["number"] for one in ben.get("/v1/starred").json()["messages"]] == [2]
    assert row(ben, first)["lastMessage"]["number"] == 1
    assert ben.get("/v1/starred", params={"cursor": "x"}).json()["field"] == "cursor"


def test_a_hidden_message_does_not_come_back(server):
    """A listener begins anew without it, and is not sent its changes."""
    ann, ben = friends(server, 2)
    here = group(ann, [ben])
    for text in ("one", "two"):
        send(ann, here, text)

    async def listen() -> None:
        endpoint = Endpoint(server.realtime_url, ben.id, ben.token)
        await endpoint.open()
        await endpoint.listen(f"conversation:{here}")

        def held() -> dict[int, dict[str, Any]]:
            return Conversation.of(endpoint.streams[f"conversation:{here}"]).messages

        assert sorted(held()) == [1, 2]
        await endpoint.ask("messages.delete", conversation=here, number=1, **{"for": "me"})
        await endpoint.until("the message is gone", lambda: sorted(held()) == [2])
        await asyncio.to_thread(react, ann, here, 1, "👍")
        await asyncio.to_thread(react, ann, here, 2, "👍")
        await endpoint.until("the other reaction", lambda: held()[2]["reactions"] != {})
        assert sorted(held()) == [2]
        await endpoint.close()

    asyncio.run(listen())


def test_clearing_and_deleting_for_oneself(server):
    ann, ben = friends(server, 2)
    here = direct(ann, ben)
    send(ann, here, "one")
    assert ben.post(f"/v1/conversations/{here}/clear").status_code == 204
    assert texts(ben, here) == [] and texts(ann, here) == ["one"]
    assert row(ben, here)["unread"] == 0
    assert ben.request("DELETE", f"/v1/conversations/{here}").json()["field"] == "for"
    assert ben.request("DELETE", f"/v1/conversations/{here}?for=me").status_code == 204
    assert row(ben, here) is None and row(ann, here) is not None
    send(ann, here, "two")
    assert row(ben, here)["unread"] == 1 and texts(ben, here) == ["two"]


def test_a_parameter_in_the_body_is_not_ignored(server):
    """With it would be ignored what the request was to be limited to."""
    ann, ben = friends(server, 2)
    here = direct(ann, ben)
    send(ann, here, "one")
    path = f"/v1/conversations/{here}"
    for method, rest, name in (("DELETE", "?for=me", "delete"), ("POST", "/clear", "clear")):
        refused = ben.request(method, path + rest, {"upTo": 0})
        assert (refused.status_code, refused.json()["field"]) == (400, "upTo")
        assert refused.json()["detail"] == f"upTo belongs in the query: conversations.{name} takes no body."
    assert texts(ben, here) == ["one"]
    # What else is in it means nothing, like members that the server does not know.
    assert ben.request("PUT", f"{path}/messages/1/star", {"clientID": client_id()}).status_code == 200
    assert ben.request("DELETE", f"{path}?for=me", {"clientID": client_id()}).status_code == 204


def test_what_was_not_seen_is_not_cleared(server):
    ann, ben = friends(server, 2)
    here = direct(ann, ben)
    for text in ("one", "two", "three"):
        send(ann, here, text)
    path = f"/v1/conversations/{here}"
    for wrong in ("-1", "x"):
        refused = ben.post(f"{path}/clear?upTo={wrong}")
        assert refused.status_code == 400 and refused.json()["field"] == "upTo"
    assert ben.post(f"{path}/clear?upTo=1").status_code == 204
    assert texts(ben, here) == ["two", "three"] and texts(ann, here) == ["one", "two", "three"]
    assert ben.request("DELETE", f"{path}?for=me&upTo=2").status_code == 204
    assert texts(ben, here) == ["three"] and row(ben, here)["unread"] == 1
    assert ben.request("DELETE", f"{path}?for=me&upTo=99").status_code == 204
    assert texts(ben, here) == [] and row(ben, here) is None


def test_memberships_and_drafts(server):
    ann, ben = friends(server, 2)
    one, other = group(ann, [ben]), group(ann, [ben])
    for here in (one, other):
        send(ann, here, "x")
    assert membership(ben, one, {"pinned": True, "muted": {"mentions": True}})["muted"] == {"mentions": True}
    assert [entry["id"] for entry in ben.get("/v1/inbox").json()["conversations"]][:2] == [one, other]
    kept = membership(ben, one, {"muted": None, "receipts": False})
    assert "muted" not in kept and kept["receipts"] is False and kept["pinned"]
    assert "receipts" not in membership(ben, one, {"receipts": None})
    membership(ben, other, {"archived": True})
    assert row(ben, other) is None and row(ben, other, archived=True)["membership"]["archived"]
    draft = {"text": "half", "revision": 4}
    assert membership(ben, one, {"draft": draft})["draft"] == draft
    assert membership(ben, one, {"draft": {"text": "late", "revision": 3}})["draft"] == draft
    assert send(ben, one, "half", draft=4, readUpTo=1).status_code == 201
    after = ben.get(f"/v1/conversations/{one}").json()["membership"]
    assert after["draft"] == {"text": "", "revision": 4} and after["read"] == 1
    refused = ben.request("PATCH", f"/v1/conversations/{one}/members/me", {"draft": {"text": "x", "revision": 0}})
    assert refused.status_code == 400 and refused.json()["field"] == "draft.revision"
    assert "draft" not in ann.get(f"/v1/conversations/{one}").json()["membership"]


def test_marks_receipts_and_unread(server):
    ann, ben, cleo = friends(server, 3)
    here = group(ann, [ben, cleo])
    for text in ("one", f"<@{ben.id}> two", "<@all> three"):
        send(ann, here, text)
    assert (row(ben, here)["unread"], row(ben, here)["mentions"]) == (3, 2)
    assert (row(cleo, here)["unread"], row(cleo, here)["mentions"]) == (3, 1)
    assert mark(ben, here, delivered=3) == {"read": 0, "delivered": 3}
    assert mark(ben, here, read=2) == {"read": 2, "delivered": 3}
    assert mark(ben, here, read=1)["read"] == 2
    assert (row(ben, here)["unread"], row(ben, here)["mentions"]) == (1, 1)
    totals = ben.get("/v1/inbox").json()["totals"]
    assert totals == {"unread": 1, "mentions": 1}
    receipts = ann.get(path(here, 2, "/receipts")).json()["receipts"]
    assert [(one["user"], one["read"]) for one in receipts] == [(ben.id, True)] and "readAt" in receipts[0]
    assert ann.get(path(here, 3, "/receipts")).json()["receipts"][0]["read"] is False
    assert cleo.request("PATCH", "/v1/me", {"receipts": False}).json()["receipts"] is False
    mark(cleo, here, read=3)
    assert cleo.get(path(here, 2, "/receipts")).json()["receipts"] == []
    assert [one["user"] for one in ann.get(path(here, 2, "/receipts")).json()["receipts"]] == [ben.id]
    assert ben.post(f"/v1/conversations/{here}/marks", {}).json()["field"] == "read"
    assert ben.post(f"/v1/conversations/{here}/marks", {"read": -1}).status_code == 400
    assert membership(ben, here, {"markedUnread": True})["markedUnread"]
    mark(ben, here, read=3)
    assert row(ben, here)["membership"]["markedUnread"] is False and row(ben, here)["unread"] == 0


def test_marks_move_the_inbox(server):
    ann, ben = friends(server, 2)
    here = group(ann, [ben])
    send(ann, here, "one")

    async def listen() -> None:
        endpoint = Endpoint(server.realtime_url, ben.id, ben.token)
        await endpoint.open()
        await endpoint.listen(f"inbox:{ben.id}")
        assert inbox(endpoint.streams[f"inbox:{ben.id}"])[here]["unread"] == 1
        await endpoint.ask("conversations.mark", conversation=here, read=1)
        await endpoint.until(
            "the row is read", lambda: inbox(endpoint.streams[f"inbox:{ben.id}"])[here]["unread"] == 0)
        await endpoint.close()

    asyncio.run(listen())


# Threads and forwarding.


def test_threads_and_forwarding(server):
    ann, ben, cleo = friends(server, 3)
    here, other = group(ann, [ben]), group(ann, [cleo])
    send(ann, here, "root")
    for text in ("a", "b"):
        assert send(ben, here, text, thread=1).json()["message"]["thread"] == 1
    assert messages(ann, here)[0]["replies"] == 2
    assert [one["text"] for one in messages(ann, here, thread=1)] == ["a", "b"]
    refused = send(ann, here, "x", thread=2)
    assert refused.status_code == 400 and refused.json()["field"] == "thread"
    body = {"clientID": client_id(), "forward": {"conversation": here, "number": 2}}
    sent = ann.post(f"/v1/conversations/{other}/messages", body)
    assert sent.status_code == 201, sent.text
    assert sent.json()["message"]["text"] == "a" and sent.json()["message"]["forwardedFrom"] == ben.id
    again = ann.post(f"/v1/conversations/{other}/messages", body)
    assert again.status_code == 200 and again.json()["duplicate"] is True
    refused = cleo.post(f"/v1/conversations/{other}/messages", body | {"clientID": client_id()})
    assert refused.status_code == 404 and refused.json()["field"] == "forward"
    for wrong in ({}, {"text": "x", "forward": body["forward"]}):
        refused = ann.post(f"/v1/conversations/{here}/messages", {"clientID": client_id()} | wrong)
        assert refused.status_code == 400 and refused.json()["field"] == "text", refused.text
