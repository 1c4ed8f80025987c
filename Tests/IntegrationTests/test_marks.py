"""The stream of marks: who has read and received what, and what one has noted on messages, as each may see it."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import random
from typing import Any

import pytest
from switchboard_tests.conversations import befriend, direct, group, inbox, send
from switchboard_tests.endpoint import Endpoint, RequestError, Stream, listening
from switchboard_tests.server import Server, User


@pytest.fixture(scope="module")
def server(make_server) -> Server:
    return make_server({"limits": {"friendRequestsPerHour": 10_000, "messagesPerMinute": 100_000}})


def mark(user: User, here: str, **marks: int) -> None:
    marked = user.post(f"/v1/conversations/{here}/marks", marks)
    assert marked.status_code == 200, marked.text


def held(stream: Stream) -> dict[str, dict[str, Any]]:
    """The marks by user: numbers only rise, and what is shown only grows, or ends."""
    found: dict[str, dict[str, Any]] = {}
    for marks in stream.snapshot["marks"] + [row["marks"] for row in stream.rows if "marks" in row]:
        if marks.get("shown") == [] and marks["delivered"] == 0:
            found.pop(marks["user"], None)
            continue
        known = found.setdefault(marks["user"], dict(marks))
        for name in ("read", "delivered"):
            if name in marks:
                known[name] = max(known[name], marks[name])
        if "shown" in marks:
            known["shown"] = max(known["shown"], marks["shown"], key=lambda shown: shown[-1][1] if shown else 0)
    return found


def notes(stream: Stream) -> dict[int, dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for row in stream.rows:
        if "own" in row and found.get(row["own"]["number"], {"counter": 0})["counter"] <= row["own"]["counter"]:
            found[row["own"]["number"]] = row["own"]
    return found


def has_notes(stream: Stream, count: int) -> bool:
    return len(notes(stream)) == count


def test_an_author_sees_what_was_delivered_and_read(server):
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    for index in range(3):
        send(ann, here, f"m{index}")
    name = f"marks:{here}"

    async def run() -> None:
        async with listening(ann, name) as author, listening(ben, name, f"inbox:{ben.id}") as reader:
            mark(ben, here, delivered=3)
            await author.until("delivered", lambda: held(author.streams[name]).get(ben.id, {}).get("delivered") == 3)
            assert held(author.streams[name])[ben.id]["shown"] == []
            mark(ben, here, read=2)
            await author.until("read", lambda: held(author.streams[name])[ben.id]["shown"] == [[0, 2]])
            # One's own devices know how far one is, and so does the list.
            await reader.until("own", lambda: held(reader.streams[name])[ben.id]["read"] == 2)
            await reader.until("the list", lambda: inbox(reader.streams[f"inbox:{ben.id}"])[here]["unread"] == 1)
            assert "read" not in held(author.streams[name])[ben.id]

    asyncio.run(run())


def test_who_sends_none_sees_none(server):
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    name = f"marks:{here}"
    send(ann, here, "one")

    async def run() -> None:
        async with listening(ann, name) as author, listening(ben, name) as reader:
            assert ben.request("PATCH", "/v1/me", {"receipts": False}).status_code == 200
            mark(ben, here, read=1)
            await reader.until("own", lambda: held(reader.streams[name])[ben.id]["read"] == 1)
            send(ben, here, "two")
            mark(ann, here, read=2)
            await author.until("own", lambda: held(author.streams[name])[ann.id]["read"] == 2)
            assert ben.id not in held(author.streams[name]) or held(author.streams[name])[ben.id]["shown"] == []
            assert ann.id not in held(reader.streams[name])
            # On again: what was read meanwhile stays unknown, and others' are seen again.
            assert ben.request("PATCH", "/v1/me", {"receipts": True}).status_code == 200
            await reader.until("others", lambda: held(reader.streams[name]).get(ann.id, {}).get("shown") == [[0, 2]])
            send(ann, here, "three")
            mark(ben, here, read=3)
            await author.until(
                "the new one", lambda: held(author.streams[name]).get(ben.id, {}).get("shown") in ([[1, 3]], [[2, 3]])
            )

    asyncio.run(run())


def test_a_request_tells_nothing_until_it_is_accepted(server):
    ann, ben = server.users(2)
    here = direct(ann, ben)
    name = f"marks:{here}"
    send(ann, here, "may I?")

    async def run() -> None:
        async with listening(ann, name) as author, listening(ben, name) as asked:
            mark(ben, here, read=1, delivered=1)
            await asked.until("own", lambda: held(asked.streams[name])[ben.id]["read"] == 1)
            assert ben.id not in held(author.streams[name])
            assert ben.post(f"/v1/conversations/{here}/members/me/accept").status_code == 200
            send(ann, here, "thanks")
            mark(ben, here, read=2)
            await author.until("read", lambda: held(author.streams[name]).get(ben.id, {}).get("shown") == [[1, 2]])

    asyncio.run(run())


def test_what_is_noted_reaches_ones_own_devices_alone(server):
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    name = f"marks:{here}"
    for index in range(3):
        send(ben, here, f"m{index}")
    path = f"/v1/conversations/{here}/messages"

    async def run() -> None:
        async with listening(ann, name) as one, listening(ann, name) as another, listening(ben, name) as other:
            assert ann.request("PUT", f"{path}/1/star").status_code == 200
            assert ann.request("DELETE", f"{path}/2?for=me").status_code == 200
            assert ann.request("PUT", f"{path}/3/reactions/\U0001f44d").status_code == 200
            for endpoint in (one, another):
                stream = endpoint.streams[name]
                await endpoint.until("the notes", functools.partial(has_notes, stream, 3))
                found = notes(stream)
                assert found[1]["starred"] is True and found[2]["hidden"] is True
                assert found[3]["reacted"] == ["\U0001f44d"]
            position = one.streams[name].seq
            await one.close()
            assert ann.request("DELETE", f"{path}/1/star").status_code == 200
            await one.open()
            await one.until("what was missed", lambda: notes(one.streams[name])[1]["starred"] is False)
            assert one.streams[name].seq > position and one.resets == []
            mark(ben, here, read=3)
            await other.until("own", lambda: held(other.streams[name])[ben.id]["read"] == 3)
            assert notes(other.streams[name]) == {}

    asyncio.run(run())


@pytest.mark.parametrize("seed", range(3))
def test_held_marks_are_what_a_new_listener_gets(server, seed: int):
    print("seed", seed)
    generator = random.Random(seed)
    ann, ben = befriend(*server.users(2))
    cleo, _ = befriend(server.user(), ann)
    here = group(ann, [ben, cleo])
    name = f"marks:{here}"
    users = [ann, ben, cleo]

    def step() -> None:
        who = generator.choice(users)
        kind = generator.randrange(4)
        if kind == 0:
            send(who, here, "x")
        elif kind == 3 and generator.random() < 0.3:
            who.request("PATCH", "/v1/me", {"receipts": generator.random() < 0.6})
        else:
            mark(who, here, **{generator.choice(["read", "delivered"]): generator.randrange(1, 20)})

    def has(endpoint: Endpoint, want: dict[str, dict[str, Any]]) -> bool:
        return held(endpoint.streams[name]) == want

    async def run() -> None:
        async with contextlib.AsyncExitStack() as stack:
            endpoints = [await stack.enter_async_context(listening(user, name)) for user in users]
            for _ in range(5):
                for _ in range(6):
                    await asyncio.to_thread(step)
                if generator.random() < 0.5:
                    cut = generator.choice(endpoints)
                    await cut.close()
                    await asyncio.to_thread(step)
                    await cut.open()
                for user, endpoint in zip(users, endpoints, strict=True):
                    async with listening(user, name) as new:
                        want = held(new.streams[name])
                    await endpoint.until("the same", functools.partial(has, endpoint, want))

    asyncio.run(run())


def test_nobody_else_listens(server):
    ann, ben = befriend(*server.users(2))
    cleo = server.user()
    here = direct(ann, ben)

    async def run() -> None:
        async with listening(cleo) as endpoint:
            with pytest.raises(RequestError) as refused:
                await endpoint.exchange({"listen": {"stream": f"marks:{here}"}})
            assert refused.value.type == "not_found"

    asyncio.run(run())


def test_marks_of_a_moment_are_written_together(server):
    """Each answer has at least the mark that was asked for, and a read after it has it too."""
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    for index in range(30):
        send(ann, here, str(index))

    async def run() -> None:
        endpoint = Endpoint(server.realtime_url, ben.id, ben.token)
        await endpoint.open()

        async def mark(number: int) -> None:
            marks = await endpoint.ask("conversations.mark", conversation=here, read=number)
            assert number <= marks["read"] <= 30
            inbox = await endpoint.ask("inbox.list")
            assert inbox["conversations"][0]["unread"] <= 30 - number

        await asyncio.gather(*[asyncio.create_task(mark(number)) for number in (7, 30, 12, 1, 29, 2, 18, 5)])
        await endpoint.close()

    asyncio.run(run())
    assert ben.post(f"/v1/conversations/{here}/marks", {"delivered": 0}).json() == {"read": 30, "delivered": 30}
