"""Simultaneous requests: exactly one wins, and exactly one call exists, every time.

DEV_SWITCHBOARD_RACES sets how many there are.
"""

from __future__ import annotations

import asyncio
import os

import pytest
from switchboard_tests.calls import GENEROUS, history
from switchboard_tests.endpoint import Endpoint, RequestError, client_id

LANES = 5
ROUNDS = int(os.environ.get("DEV_SWITCHBOARD_RACES", "1000")) // LANES * LANES


@pytest.fixture(scope="module")
def generous_server(make_server):
    server = make_server(GENEROUS)
    yield server
    server.stop()


def endpoints(server, people) -> list[Endpoint]:
    return [Endpoint(server.realtime_url, person.id, person.token) for person in people]


async def opened(*ends: Endpoint) -> None:
    for end in ends:
        await end.open()
        await end.listen(f"user:{end.user}")


async def ring(end: Endpoint, call: str) -> None:
    await end.until("the ring", lambda: call in end.ringing_calls())


async def end_of_call(end: Endpoint, call: str) -> None:
    await end.until("the end", lambda: (end.call(call) or {}).get("status") == "ended")


async def attempt(request) -> dict | RequestError:
    """A request's result, or its error as a value."""
    try:
        return await request
    except RequestError as error:
        return error


async def in_lanes(people, lane) -> None:
    """Runs ROUNDS rounds, distributed over LANES independent pairs of users."""
    async with asyncio.TaskGroup() as group:
        for number in range(LANES):
            group.create_task(lane(people[2 * number], people[2 * number + 1], ROUNDS // LANES))


def test_two_endpoints_accept_at_the_same_instant(generous_server):
    people = generous_server.users(2 * LANES)
    wins = {"first": 0, "second": 0}

    async def lane(ann, ben, rounds: int) -> None:
        caller, one, other = endpoints(generous_server, [ann, ben, ben])
        await opened(caller, one, other)
        for _ in range(rounds):
            created = await caller.ask(
                "calls.create", clientID=client_id(), callees=[ben.id], kind="audio", offer={"sdp": "v=0"}
            )
            call = created["call"]["id"]
            await asyncio.gather(*(ring(end, call) for end in (one, other)))
            results = await asyncio.gather(
                *(attempt(end.ask("calls.accept", call=call, clientID=client_id())) for end in (one, other))
            )
            winners = [end for end, result in zip((one, other), results) if not isinstance(result, RequestError)]
            losers = [result for result in results if isinstance(result, RequestError)]
            assert len(winners) == 1, f"{len(winners)} endpoints won call {call}: {results}"
            assert [loser.type for loser in losers] == ["answered_elsewhere"]
            wins["first" if winners[0] is one else "second"] += 1

            document = (await caller.ask("calls.get", call=call))["call"]
            joined = [part for part in document["participants"] if part["state"] == "joined"]
            assert document["status"] == "active"
            assert {part["endpoint"] for part in joined} == {caller.id, winners[0].id}
            # Only the endpoint that accepts gets the caller's endpoint.
            await winners[0].until("the offer", lambda: winners[0].signals(call))
            loser = other if winners[0] is one else one
            assert not loser.signals(call)
            await caller.ask("calls.end", call=call)
            await asyncio.gather(*(end_of_call(end, call) for end in (one, other)))
            forget(call, caller, one, other)
        for end in (caller, one, other):
            assert not end.violations
            await end.close()

    asyncio.run(in_lanes(people, lane))
    print(f"accepts: {wins['first']} won by the first endpoint, {wins['second']} by the second")
    assert sum(wins.values()) == ROUNDS


def test_two_people_call_each_other_at_the_same_instant(generous_server):
    people = generous_server.users(2 * LANES)
    firsts = {"first": 0, "second": 0}

    async def lane(ann, ben, rounds: int) -> None:
        one, other = endpoints(generous_server, [ann, ben])
        await opened(one, other)
        calls = []
        for _ in range(rounds):
            results = await asyncio.gather(
                *(
                    end.ask(
                        "calls.create", clientID=client_id(), callees=[callee], kind="video", offer={"sdp": "v=0"}
                    )
                    for end, callee in ((one, ben.id), (other, ann.id))
                )
            )
            ids = {result["call"]["id"] for result in results}
            assert len(ids) == 1, f"two calls at once: {ids}"
            assert [bool(result.get("joined")) for result in results].count(True) == 1, results
            firsts["second" if results[0].get("joined") else "first"] += 1
            call = ids.pop()
            calls.append(call)
            document = (await one.ask("calls.get", call=call))["call"]
            assert document["status"] == "active"
            assert {part["endpoint"] for part in document["participants"]} == {one.id, other.id}
            await one.ask("calls.end", call=call)
            await other.until("the end", lambda: (other.call(call) or {}).get("status") == "ended")
            forget(call, one, other)
        # There were no other calls, for either of them.
        for end in (one, other):
            assert await history(end) == calls[::-1]
            assert not end.violations
            await end.close()

    asyncio.run(in_lanes(people, lane))
    print(f"glare: {firsts['first']} calls of the first, {firsts['second']} of the second")
    assert sum(firsts.values()) == ROUNDS


def forget(call: str, *ends: Endpoint) -> None:
    for end in ends:
        assert not end.violations
        end.forget(call)
