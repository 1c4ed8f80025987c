"""The streams of conversations and inboxes: what a listener holds is what the server has, after every change."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import random
from collections.abc import AsyncIterator
from typing import Any

import pytest
from switchboard_tests.conversations import (
    Conversation,
    befriend,
    direct,
    group,
    inbox,
    inbox_order,
    messages,
    send,
    sent,
    texts,
)
from switchboard_tests.endpoint import Endpoint, RequestError, client_id
from switchboard_tests.rawsocket import RawSocket
from switchboard_tests.server import Server, User
from switchboard_tests.waiting import SILENCE


@pytest.fixture(scope="module")
def server(make_server) -> Server:
    return make_server(
        {
            "limits": {
                "friendRequestsPerHour": 10_000, "conversationsPerHour": 100_000, "messagesPerMinute": 1_000_000,
                "requestsPerMinute": 1_000_000,
            }
        }
    )


def friends(server: Server, count: int) -> list[User]:
    """Users of whom the first is a friend of all others."""
    users = server.users(count)
    for other in users[1:]:
        befriend(users[0], other)
    return users


def fresh(user: User, stream: str, after: list[Any] | None = None) -> list[dict[str, Any]]:
    """The frames that listening to a stream brings, up to its result."""
    with RawSocket(user.server.port) as socket:
        socket.hello(user)
        socket.send({"id": 2, "listen": {"stream": stream} | ({} if after is None else {"after": after})})
        frames: list[dict[str, Any]] = []
        while True:
            frame = socket.message()
            if frame.get("id") == 2:
                return [*frames, frame]
            if frame.get("stream") == stream:
                frames.append(frame)


async def holds(endpoint: Endpoint, here: str) -> None:
    """Waits until what the endpoint holds is what the server has for its user."""
    name = f"conversation:{here}"
    [*_, snapshot, _] = await asyncio.to_thread(fresh, endpoint_user(endpoint), name)

    def is_same() -> bool:
        held = endpoint.streams.get(name)
        if held is None or held.seq < snapshot["seq"]:
            return False
        state = Conversation.of(held)
        want = snapshot["snapshot"]
        window = {message["number"]: message for message in want["messages"]}
        return (
            {key: value for key, value in state.document.items() if not key.startswith("last")}
            == {key: value for key, value in want["conversation"].items() if not key.startswith("last")}
            and state.members == {member["user"]: member for member in want["members"]}
            and {number: state.messages.get(number) for number in window} == window
            and max(state.messages, default=0) == max(window, default=0)
        )

    await endpoint.until(f"what {name} has", is_same)


USERS: dict[str, User] = {}


def endpoint_user(endpoint: Endpoint) -> User:
    return USERS[endpoint.user]


def listen(user: User) -> Endpoint:
    USERS[user.id] = user
    return Endpoint(user.server.realtime_url, user.id, user.token)


@contextlib.asynccontextmanager
async def listening(user: User) -> AsyncIterator[Endpoint]:
    endpoint = listen(user)
    await endpoint.open()
    try:
        yield endpoint
    finally:
        await endpoint.close()


@pytest.mark.parametrize("seed", range(4))
def test_snapshot_and_rows_are_what_a_new_snapshot_has(server, seed: int):
    """Random commands of a group; everybody who listens, also who joins or returns meanwhile."""
    print("seed", seed)
    generator = random.Random(seed)
    ann, ben, cleo, dan = friends(server, 4)
    here = group(ann, [ben])
    path = f"/v1/conversations/{here}"

    def step() -> None:
        kind = generator.randrange(10)
        author = generator.choice([ann, ben, cleo])
        if kind < 5:
            send(author, here, f"text {generator.random()}")
            return
        # Some of it is refused: to who is not in the group, or is not the author.
        known = messages(ann, here)
        if kind < 7 and known:
            message = generator.choice(known)
            body = {"text": f"edited {generator.random()}", "textVersion": message["textVersion"]}
            author.request("PATCH", f"{path}/messages/{message['number']}", body)
        elif kind == 7 and known:
            author.request("DELETE", f"{path}/messages/{generator.choice(known)['number']}?for=all")
        elif kind == 8:
            ann.request("PATCH", path, {"name": f"Name {generator.randrange(100)}"})
        elif cleo_is_in():
            ann.request("DELETE", f"{path}/members/{cleo.id}")
        else:
            ann.post(f"{path}/members", {"members": [cleo.id]})

    def cleo_is_in() -> bool:
        return cleo.get(path).json().get("membership", {}).get("state") == "member"

    async def run() -> None:
        endpoints = [listen(user) for user in (ann, ben, cleo)]
        for endpoint in endpoints:
            await endpoint.open()
        for _ in range(6):
            for endpoint in endpoints:
                await endpoint.listen(f"conversation:{here}")
            for _ in range(8):
                await asyncio.to_thread(step)
            for endpoint in endpoints:
                is_inside = endpoint.user != cleo.id or await asyncio.to_thread(cleo_is_in)
                if is_inside:
                    await endpoint.listen(f"conversation:{here}")
                    await holds(endpoint, here)
        for endpoint in endpoints:
            assert endpoint.violations == []
            await endpoint.close()

    asyncio.run(run())
    del dan


def test_who_is_removed_receives_nothing_more(server):
    ann, ben = friends(server, 2)
    here = group(ann, [ben])
    name = f"conversation:{here}"

    async def run() -> None:
        removed, stays = listen(ben), listen(ann)
        for endpoint in (removed, stays):
            await endpoint.open()
            await endpoint.listen(name)
            await endpoint.listen(f"inbox:{endpoint.user}")
        send(ann, here, "heard")
        await removed.until("the message", lambda: 1 in Conversation.of(removed.streams[name]).messages)
        assert ann.request("DELETE", f"/v1/conversations/{here}/members/{ben.id}").status_code == 204
        await removed.until("the reset", lambda: f"{name}: access" in removed.resets)
        await removed.until(
            "the row", lambda: (found := inbox(removed.streams[f"inbox:{ben.id}"]).get(here))
            and found["membership"]["state"] == "left"
        )
        # 2 is the notice of the removal.
        assert sent(ann, here, "unheard") == 3
        await stays.until("the third", lambda: 3 in Conversation.of(stays.streams[name]).messages)
        with pytest.raises(RequestError) as refused:
            await removed.exchange({"listen": {"stream": name}})
        assert refused.value.type == "forbidden"
        # Whatever was on its way to the removed has arrived now.
        await asyncio.sleep(SILENCE)
        row = inbox(removed.streams[f"inbox:{ben.id}"])[here]
        assert row["lastMessage"]["text"] == "heard" and name not in removed.streams
        everything = [removed.events, *([stream.snapshot, stream.rows] for stream in removed.streams.values())]
        assert "unheard" not in json.dumps(everything)
        for endpoint in (removed, stays):
            assert endpoint.violations == []
            await endpoint.close()

    asyncio.run(run())


def test_who_joins_later_sees_no_change_of_what_was_before(server):
    ann, ben = friends(server, 2)
    here = group(ann)
    sent = send(ann, here, "before").json()["message"]
    ann.post(f"/v1/conversations/{here}/members", {"members": [ben.id]})

    async def run() -> None:
        name = f"conversation:{here}"
        async with listening(ben) as late:
            await late.listen(name)
            ann.request(
                "PATCH", f"/v1/conversations/{here}/messages/1",
                {"text": "changed", "textVersion": sent["textVersion"]},
            )
            ann.request("DELETE", f"/v1/conversations/{here}/messages/1?for=all")
            send(ann, here, "after")
            await late.until("the new one", lambda: 3 in Conversation.of(late.streams[name]).messages)
            assert list(Conversation.of(late.streams[name]).messages) == [2, 3] and late.violations == []

    asyncio.run(run())


def test_what_a_blocked_one_writes_is_shown_to_them_alone(server):
    ann, ben = friends(server, 2)
    here = direct(ann, ben)
    send(ann, here, "hello")
    assert ben.request("PUT", f"/v1/blocks/{ann.id}").status_code in (200, 204)

    async def run() -> None:
        name = f"conversation:{here}"
        async with listening(ann) as author, listening(ben) as other:
            for endpoint in (author, other):
                await endpoint.listen(name)
                await endpoint.listen(f"inbox:{endpoint.user}")
            send(ann, here, "withheld")
            await author.until("one's own", lambda: 2 in Conversation.of(author.streams[name]).messages)
            await other.until("the position", lambda: other.streams[name].seq == author.streams[name].seq)
            assert list(Conversation.of(other.streams[name]).messages) == [1]
            row = await author.until(
                "the author's row", lambda: (found := inbox(author.streams[f"inbox:{ann.id}"])[here])
                and found["lastMessage"]["number"] == 2 and found
            )
            assert row["lastMessage"]["text"] == "withheld"
            theirs = inbox(other.streams[f"inbox:{ben.id}"])[here]
            assert theirs["lastMessage"]["number"] == 1 and theirs["unread"] == 1

    asyncio.run(run())
    assert texts(ben, here) == ["hello"]


def test_resuming_brings_what_has_changed(server):
    ann, ben = friends(server, 2)
    here = direct(ann, ben)
    name = f"conversation:{here}"
    for index in range(60):
        send(ann, here, f"m{index}")
    [snapshot, _] = fresh(ben, name)
    assert [one["number"] for one in snapshot["snapshot"]["messages"]] == list(range(11, 61))
    assert snapshot["snapshot"]["range"] == [11, 60] and snapshot["snapshot"]["hasEarlier"] is True
    position = [snapshot["epoch"], snapshot["seq"]]
    assert fresh(ben, name, position)[:-1] == []
    old = messages(ann, here, before=11)[4]
    ann.request("PATCH", f"/v1/conversations/{here}/messages/5", {"text": "old", "textVersion": old["textVersion"]})
    ann.request("DELETE", f"/v1/conversations/{here}/messages/60?for=all")
    send(ben, here, "new")
    [rows, _] = fresh(ben, name, position)
    assert [next(iter(row)) for row in rows["rows"]] == ["message"] * 3
    assert [row["message"]["number"] for row in rows["rows"]] == [5, 60, 61]
    assert rows["after"] == position[1] and rows["upTo"] == position[1] + 3
    # Who holds the newest alone does not get changes of others.
    [rows, _] = fresh(ben, name, [*position, 11, 60])
    assert [row["message"]["number"] for row in rows["rows"]] == [60, 61]
    for index in range(70):
        send(ann, here, f"n{index}")
    [rows, _] = fresh(ben, name, [*position, 11, 60])
    assert rows["gap"] == [61, 81]
    assert [row["message"]["number"] for row in rows["rows"]] == [60, *range(82, 132)]
    [reset, again, _] = fresh(ben, name, ["other", 1])
    assert reset["reset"]["reason"] == "epoch" and "snapshot" in again
    [reset, again, _] = fresh(ben, name, [position[0], 10**9])
    assert reset["reset"]["reason"] == "gap" and "snapshot" in again


def test_large_texts_come_in_parts(server):
    ann, ben = friends(server, 2)
    here = direct(ann, ben)
    name = f"conversation:{here}"
    send(ann, here, "first")
    [snapshot, _] = fresh(ben, name)
    for index in range(20):
        send(ann, here, f"{index:2}" + "x" * 65_000)

    async def run() -> None:
        endpoint = listen(ben)
        await endpoint.open()
        await endpoint.listen(name)
        window = Conversation.of(endpoint.streams[name]).messages
        assert 1 <= len(window) < 20 and max(window) == 21
        await endpoint.close()
        endpoint.streams[name].seq = snapshot["seq"]
        endpoint.streams[name].snapshot = snapshot["snapshot"]
        await endpoint.open()
        await endpoint.until("all", lambda: len(Conversation.of(endpoint.streams[name]).messages) == 21)
        assert endpoint.violations == [] and endpoint.resets == []
        await endpoint.close()

    asyncio.run(run())


@pytest.mark.parametrize("seed", range(3))
def test_a_held_inbox_is_what_a_new_one_is(server, seed: int):
    """Random messages, names and members in several conversations; the listener is cut off now and then."""
    print("seed", seed)
    generator = random.Random(seed)
    ann, *others = friends(server, 4)
    conversations = [direct(ann, one) for one in others] + [group(ann, others[:1]), group(ann, others)]
    name = f"inbox:{ann.id}"

    def step() -> None:
        here = generator.choice(conversations)
        kind = generator.randrange(8)
        if kind < 5:
            send(generator.choice([ann, *others]), here, f"text {generator.random()}")
        elif kind == 5:
            ann.request("PATCH", f"/v1/conversations/{here}", {"name": f"N{generator.randrange(100)}"})
        elif kind == 6:
            known = messages(ann, here)
            if known:
                ann.request("DELETE", f"/v1/conversations/{here}/messages/{known[-1]['number']}?for=all")
        else:
            conversations.append(group(ann, others[:2]))

    async def run() -> None:
        endpoint = listen(ann)

        def has(want: dict[str, Any]) -> bool:
            return inbox(endpoint.streams[name]) == want

        await endpoint.open()
        await endpoint.listen(name)
        for _ in range(6):
            for _ in range(6):
                await asyncio.to_thread(step)
            if generator.random() < 0.5:
                await endpoint.close()
                await asyncio.to_thread(step)
                await endpoint.open()
            page = ann.get("/v1/inbox", params={"limit": 100}).json()
            want = {row["id"]: row for row in page["conversations"]}
            await endpoint.until("the inbox", functools.partial(has, want))
            assert inbox_order(inbox(endpoint.streams[name])) == [row["id"] for row in page["conversations"]]
        assert endpoint.violations == []
        await endpoint.close()

    asyncio.run(run())


def test_the_pages_of_an_inbox(server):
    ann, *others = friends(server, 6)
    for other in others:
        send(other, direct(ann, other), "hi")
    pages: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = ann.get("/v1/inbox", params={"limit": 2} | cursor).json()
        assert page["totals"] == {"unread": 5, "mentions": 0}
        pages += [row["person"]["id"] for row in page["conversations"]]
        if "nextCursor" not in page:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert pages == [other.id for other in reversed(others)]
    # The archive counts for itself.
    last = page["conversations"][-1]["id"]
    ann.request("PATCH", f"/v1/conversations/{last}/members/me", {"archived": True})
    assert ann.get("/v1/inbox").json()["totals"] == {"unread": 4, "mentions": 0}
    assert ann.get("/v1/inbox?archived=true").json()["totals"] == {"unread": 1, "mentions": 0}
    refused = ann.get("/v1/inbox?cursor=x")
    assert refused.status_code == 400 and refused.json()["field"] == "cursor"


def test_nobody_else_may_listen(server):
    ann, ben = friends(server, 2)
    cleo = server.user()
    here = direct(ann, ben)

    async def run() -> None:
        async with listening(cleo) as endpoint:
            for stream in (f"conversation:{here}", f"inbox:{ann.id}", f"conversation:{client_id()}"):
                with pytest.raises(RequestError) as refused:
                    await endpoint.exchange({"listen": {"stream": stream}})
                assert refused.value.type == "not_found"

    asyncio.run(run())
