"""Messages named by the client ids with which they were sent, and sends that follow each other without waiting."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from switchboard_tests.conversations import befriend, create, direct, group, send, texts
from switchboard_tests.endpoint import Endpoint, RequestError, client_id
from switchboard_tests.server import Server, User


@pytest.fixture(scope="module")
def server(make_server) -> Server:
    return make_server(
        {"limits": {"friendRequestsPerHour": 1000, "conversationsPerHour": 10_000, "requestsPerMinute": 100_000}}
    )


def sent(user: User, conversation: str, text: str, **more: Any) -> str:
    """Sends a message; its client id."""
    id = client_id()
    response = send(user, conversation, text, clientID=id, **more)
    assert response.status_code == 201, response.text
    return id


def missing(response: httpx.Response, field: str) -> None:
    assert response.status_code == 409, response.text
    problem = response.json()
    assert problem["type"].endswith("predecessor_missing") and problem["field"] == field, problem
    assert "stored no message" in problem["detail"]


PATHS: list[tuple[str, str, dict[str, Any] | None]] = [
    ("get", "", None), ("patch", "", {"text": "new"}), ("get", "/edits", None), ("get", "/receipts", None),
    ("put", "/reactions/%F0%9F%91%8D", None), ("get", "/reactions", None), ("delete", "/reactions/%F0%9F%91%8D", None),
    ("put", "/pin", None), ("delete", "/pin", None), ("put", "/star", None), ("delete", "/star", None),
    ("delete", "?for=me", None), ("delete", "?for=all", None),
]


def ask(user: User, method: str, path: str, body: dict[str, Any] | None) -> httpx.Response:
    return user.request(method.upper(), path, body)


@pytest.mark.parametrize(("method", "path", "body"), PATHS)
def test_a_client_id_names_a_message_of_its_author_alone(server, method, path, body):
    ann, ben = befriend(*server.users(2))
    here, there = direct(ann, ben), group(ann, [ben])
    send(ann, here, "first")
    id = sent(ann, here, "second")
    other = sent(ben, here, "of ben")
    base = f"/v1/conversations/{here}/messages/client:"
    answered = ask(ann, method, base + id.upper() + path, body)
    assert answered.status_code == 200, answered.text
    document = answered.json().get("message") or answered.json().get("own")
    if document:
        assert document["number"] == 2
    for unknown in (other, client_id()):
        missing(ask(ann, method, base + unknown + path, body), "number")
    missing(ask(ann, method, f"/v1/conversations/{there}/messages/client:{id}{path}", body), "number")
    elsewhere = ask(ann, method, f"/v1/conversations/{client_id()}/messages/client:{id}{path}", body)
    assert elsewhere.status_code == 404 and elsewhere.json()["field"] == "conversation"
    for bad in ("client:", "client:1", f"Client:{id}", "0", "-1", "x"):
        refused = ask(ann, method, f"/v1/conversations/{here}/messages/{bad}{path}", body)
        assert refused.status_code == 400 and refused.json()["field"] == "number", (bad, refused.text)


def test_edits_by_client_id_need_no_text_version(server):
    ann = server.user()
    here = create(ann, "self").json()["conversation"]["id"]
    id = sent(ann, here, "one")
    path = f"/v1/conversations/{here}/messages"
    for text in ("two", "two", "three"):
        edited = ann.request("PATCH", f"{path}/client:{id}", {"text": text})
        assert edited.status_code == 200 and edited.json()["message"]["text"] == text, edited.text
    former = ann.get(f"{path}/client:{id}/edits").json()["edits"]
    assert [one["text"] for one in former] == ["one", "two"]
    # With one it is checked, and by number it is required.
    stale = ann.request("PATCH", f"{path}/client:{id}", {"text": "four", "textVersion": 1})
    assert stale.status_code == 409 and stale.json()["field"] == "textVersion"
    absent = ann.request("PATCH", f"{path}/1", {"text": "four"})
    assert absent.status_code == 400 and absent.json()["field"] == "textVersion"


def test_bodies_name_messages_by_client_ids(server):
    ann, ben = befriend(*server.users(2))
    here, notes = direct(ann, ben), create(ann, "self").json()["conversation"]["id"]
    send(ben, here, "hello")
    id = sent(ann, here, "root")
    name = f"client:{id}"
    reply = {"clientID": client_id(), "text": "reply", "replyTo": name, "thread": name, "readUpTo": name}
    answered = ann.post(f"/v1/conversations/{here}/messages", reply)
    assert answered.status_code == 201, answered.text
    message = answered.json()["message"]
    assert (message["replyTo"], message["thread"]) == (2, 2)
    # A repetition may know the numbers.
    again = ann.post(f"/v1/conversations/{here}/messages", reply | {"replyTo": 2, "thread": 2})
    assert again.status_code == 200 and again.json() == {"message": message, "duplicate": True}
    forwarded = ann.post(
        f"/v1/conversations/{notes}/messages",
        {"clientID": client_id(), "forward": {"conversation": here, "number": name}},
    )
    assert forwarded.status_code == 201 and forwarded.json()["message"]["text"] == "root"
    marks = ann.post(f"/v1/conversations/{here}/marks", {"read": name, "delivered": f"client:{reply['clientID']}"})
    assert marks.status_code == 200 and marks.json() == {"read": 2, "delivered": 3}, marks.text
    saved = {"draft": {"text": "so", "replyTo": name, "revision": 1}}
    draft = ann.request("PATCH", f"/v1/conversations/{here}/members/me", saved)
    assert draft.status_code == 200 and draft.json()["membership"]["draft"]["replyTo"] == 2, draft.text


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"text": "x", "replyTo": "{}"}, "replyTo"), ({"text": "x", "thread": "{}"}, "thread"),
        ({"text": "x", "readUpTo": "{}"}, "readUpTo"),
        ({"forward": {"conversation": "{here}", "number": "{}"}}, "forward.number"),
    ],
)
def test_bodies_that_name_what_is_not_stored(server, body, field):
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    of_ben = sent(ben, here, "of ben")

    def filled(value: Any, name: str) -> Any:
        if isinstance(value, dict):
            return {key: filled(one, name) for key, one in value.items()}
        return value.replace("{here}", here).replace("{}", name)

    def post(name: str) -> httpx.Response:
        return ann.post(f"/v1/conversations/{here}/messages", {"clientID": client_id()} | filled(body, name))

    missing(post(f"client:{client_id()}"), field)
    missing(post(f"client:{of_ben}"), field)
    bad = post("client:none")
    assert bad.status_code == 400 and bad.json()["field"] == field, bad.text
    assert texts(ann, here) == ["of ben"]


def test_a_send_names_the_one_before_it(server):
    ann, ben = befriend(*server.users(2))
    here, there = direct(ann, ben), group(ann, [ben])
    first = sent(ann, here, "one")
    second = sent(ann, here, "two", afterClientID=first)
    of_ben = sent(ben, here, "of ben")
    for unknown in (client_id(), of_ben):
        missing(send(ann, here, "three", afterClientID=unknown), "afterClientID")
    missing(send(ann, there, "three", afterClientID=first), "afterClientID")
    # Access is refused before: nothing that follows can help.
    outsider = server.user()
    assert send(outsider, here, "three", afterClientID=client_id()).status_code == 404
    # A repetition has the first one's result, whatever it follows now.
    again = send(ann, here, "two", clientID=second, afterClientID=client_id())
    assert again.status_code == 200 and again.json()["message"]["number"] == 2
    assert texts(ann, here) == ["one", "two", "of ben"]


def test_sends_of_a_session_stay_in_order_without_waiting(server):
    """Hundreds on one socket, each after the one before it; one is refused, and those behind it name the one before."""
    ann = server.user()
    here = create(ann, "self").json()["conversation"]["id"]
    ids = [client_id() for _ in range(300)]

    async def run() -> None:
        endpoint = Endpoint(server.realtime_url, ann.id, ann.token)
        await endpoint.open()

        async def ask(index: int, after: str | None) -> int:
            params: dict[str, Any] = {"conversation": here, "clientID": ids[index], "text": str(index)}
            if index == 20:
                params["text"] = ""
            if after:
                params["afterClientID"] = after
            try:
                result = await endpoint.ask("messages.send", **params)
            except RequestError as error:
                if error.problem["type"].endswith("predecessor_missing"):
                    return 0
                raise
            return result["message"]["number"]

        async def window(first: int, count: int) -> list[Any]:
            chain = [
                asyncio.create_task(ask(index, ids[index - 1] if index else None))
                for index in range(first, first + count)
            ]
            return await asyncio.gather(*chain, return_exceptions=True)

        results = await window(0, 60)
        assert results[:20] == list(range(1, 21))
        assert isinstance(results[20], RequestError) and results[20].problem["field"] == "text"
        assert results[21:] == [0] * 39
        # Who was refused for ever names the one before.
        ids[20] = ids[19]
        for first in range(21, 300, 60):
            count = min(60, 300 - first)
            assert await window(first, count) == list(range(first, first + count))
        await endpoint.close()

    asyncio.run(run())
    newest = [str(index) for index in range(200, 300)]
    page = ann.get(f"/v1/conversations/{here}/messages", params={"limit": 100}).json()["messages"]
    assert [one["text"] for one in page] == newest


def test_sockets_name_messages_by_client_ids(server):
    ann = server.user()
    here = create(ann, "self").json()["conversation"]["id"]
    id = client_id()

    async def run() -> None:
        endpoint = Endpoint(server.realtime_url, ann.id, ann.token)
        await endpoint.open()
        # Without waiting for the number.
        asked = [
            endpoint.ask("messages.send", conversation=here, clientID=id, text="one"),
            endpoint.ask("messages.edit", conversation=here, number=f"client:{id}", text="two"),
            endpoint.ask("messages.react", conversation=here, number=f"client:{id}", emoji="👍"),
            endpoint.ask("messages.star", conversation=here, number=f"client:{id}"),
        ]
        results = await asyncio.gather(*[asyncio.create_task(one) for one in asked])
        assert [one.get("message", one.get("own"))["number"] for one in results] == [1] * 4
        assert results[2]["message"]["text"] == "two"
        with pytest.raises(RequestError) as refused:
            await endpoint.ask("messages.pin", conversation=here, number=f"client:{client_id()}")
        assert refused.value.problem["type"].endswith("predecessor_missing")
        await endpoint.close()

    asyncio.run(run())


def test_a_conversation_that_is_full_does_not_keep_the_others(make_server):
    server = make_server({"limits": {"messagesPerMinute": 4}})
    ann = server.user()
    here = [group(ann, name=str(index)) for index in range(7)]
    assert [send(ann, here[0], "x").status_code for _ in range(5)] == [201] * 4 + [429]
    limited = send(ann, here[0].upper(), "x")
    assert limited.status_code == 429 and int(limited.headers["Retry-After"]) > 0
    assert limited.headers["RateLimit-Policy"].startswith('"messages";q=4')

    async def over_a_socket() -> None:
        endpoint = Endpoint(server.realtime_url, ann.id, ann.token)
        await endpoint.open()
        for _ in range(4):
            await endpoint.ask("messages.send", conversation=here[1], clientID=client_id(), text="x")
        with pytest.raises(RequestError) as refused:
            await endpoint.ask("messages.send", conversation=here[1], clientID=client_id(), text="x")
        assert refused.value.problem["type"].endswith("rate_limited")
        await endpoint.close()

    asyncio.run(over_a_socket())
    # In all it is five times as many, of which eleven are counted.
    statuses = [send(ann, one, "x").status_code for one in here[2:] for _ in range(3)]
    assert statuses[:9] == [201] * 9 and 429 in statuses
