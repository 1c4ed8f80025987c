"""Who is writing, and whether somebody is there: told to members, at once, and never stored."""

from __future__ import annotations

import asyncio
import functools
from typing import Any

import pytest
from switchboard_tests.conversations import befriend, direct, group, send
from switchboard_tests.endpoint import Endpoint, RequestError, listening
from switchboard_tests.server import Server, User


@pytest.fixture(scope="module")
def server(make_server) -> Server:
    return make_server({"limits": {"friendRequestsPerHour": 1000}})


def note(user: User, here: str, state: str | None = None) -> int:
    return user.post(f"/v1/conversations/{here}/typing", {} if state is None else {"state": state}).status_code


def has_events(endpoint: Endpoint, stream: str, count: int) -> bool:
    return len(endpoint.events.get(stream, [])) == count


def test_members_are_notified_once_a_second_and_of_every_change(server):
    ann, ben = befriend(*server.users(2))
    cleo, _ = befriend(server.user(), ann)
    here = group(ann, [ben, cleo])
    name = f"typing:{here}"

    async def run() -> None:
        async with listening(ann, name) as endpoint:
            for state in (None, "typing", "typing", "recording", "stopped", "stopped"):
                assert note(ben, here, state) == 204
            assert note(cleo, here, "stopped") == 204
            assert note(cleo, here) == 204
            want: list[dict[str, Any]] = [
                {"user": ben.id, "state": "typing"}, {"user": ben.id, "state": "recording"},
                {"user": ben.id, "state": "stopped"}, {"user": cleo.id, "state": "typing"},
            ]
            await endpoint.until("the events", lambda: endpoint.events.get(name) == want)

    asyncio.run(run())


def test_what_nobody_receives(server):
    """Before a request is accepted, while one has blocked the other, and of oneself: the answers are the same."""
    ann, ben = server.users(2)
    here = direct(ann, ben)
    name = f"typing:{here}"
    assert note(ann, here) == 204 and note(ben, here) == 403

    async def run() -> None:
        async with listening(ben) as asked:
            with pytest.raises(RequestError) as refused:
                await asked.exchange({"listen": {"stream": name}})
            assert refused.value.type == "forbidden"
        ben.post(f"/v1/conversations/{here}/members/me/accept")
        async with listening(ben, name) as other, listening(ann, name) as author:
            ben.request("PUT", f"/v1/blocks/{ann.id}")
            assert note(ann, here) == note(ben, here) == 204
            ben.request("DELETE", f"/v1/blocks/{ann.id}")
            assert note(ann, here, "recording") == note(ben, here, "recording") == 204
            for endpoint, writer in ((other, ann), (author, ben)):
                await endpoint.until("the event", functools.partial(has_events, endpoint, name, 1))
                assert endpoint.events[name] == [{"user": writer.id, "state": "recording"}]

    asyncio.run(run())


def test_who_is_removed_receives_nothing(server):
    ann, ben = befriend(*server.users(2))
    cleo, _ = befriend(server.user(), ann)
    here = group(ann, [ben, cleo])
    assert send(ann, here, "hello").status_code == 201
    name = f"typing:{here}"

    async def run() -> None:
        async with listening(ben, name) as removed, listening(ann, name) as stays:
            assert ann.request("DELETE", f"/v1/conversations/{here}/members/{ben.id}").status_code == 204
            await removed.until("the reset", lambda: f"{name}: access" in removed.resets)
            assert note(ben, here) == 403 and note(cleo, here) == 204
            await stays.until("the event", lambda: stays.events.get(name))
            assert name not in removed.events

    asyncio.run(run())


@pytest.mark.parametrize("state", ["asleep", "", 3])
def test_another_state_is_refused(server, state):
    ann, ben = befriend(*server.users(2))
    refused = ann.post(f"/v1/conversations/{direct(ann, ben)}/typing", {"state": state})
    assert refused.status_code == 400 and refused.json()["field"] == "state"


def test_who_is_not_at_a_client_is_offline(server):
    ann, ben = befriend(*server.users(2))
    name = f"presence:{ann.id}"

    async def run() -> None:
        async with listening(ben, name) as watcher, listening(ann) as first:
            second = Endpoint(server.realtime_url, ann.id, ann.token)
            await second.open()
            await watcher.until("online", lambda: watcher.events.get(name, [{}])[-1].get("online") is True)
            await first.ask("presence.set", active=False)
            await second.ask("presence.set", active=False)
            await second.ask("presence.set", active=False)
            await watcher.until("offline", lambda: watcher.events[name][-1]["online"] is False)
            await first.ask("presence.set", active=True)
            await watcher.until("online again", lambda: watcher.events[name][-1]["online"] is True)
            # One that was not there does not take the other away by ending.
            await second.close()
            assert [event["online"] for event in watcher.events[name]] == [True, False, True]

    asyncio.run(run())
    none = ann.request("PUT", "/v1/presence", {"active": True})
    assert none.status_code in (400, 409), none.text


def test_members_of_a_new_group_see_each_other_online(server):
    """They listened before, when they shared nothing."""
    ann, ben = befriend(*server.users(2))
    cleo, _ = befriend(server.user(), ann)
    name = f"presence:{ben.id}"

    async def run() -> None:
        async with listening(ben), listening(cleo, name) as watcher:
            group(ann, [ben, cleo])
            await watcher.until("online", lambda: [event["online"] for event in watcher.events.get(name, [])] == [True])

    asyncio.run(run())
