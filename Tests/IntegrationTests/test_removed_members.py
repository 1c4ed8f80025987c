"""Who is removed from a conversation is out of its call at once: the leg at the media gateway ends, and no packet of
the others arrives any more."""

from __future__ import annotations

import asyncio

from switchboard_tests.calls import GENEROUS
from switchboard_tests.conversations import befriend, group
from switchboard_tests.endpoint import client_id
from switchboard_tests.gateway import Participant
from switchboard_tests.metrics import value

# Of audio, in a second.
FRAMES = 50


def frames(one: Participant, other: Participant) -> int:
    """How many frames of another one were received."""
    mid = one.slot_of(other, "audio")
    assert mid is not None
    return one.received[mid].frames


async def packets(one: Participant) -> int:
    """The packets that have reached the connection, but for those of ICE."""
    assert one.connection is not None
    stats = await one.connection.getStats()
    return sum(report.packetsReceived for report in stats.values() if report.type == "transport")


def test_a_removed_member_receives_nothing_any_more(make_server):
    server = make_server({"limits": GENEROUS["limits"] | {"friendRequestsPerHour": 10_000}})
    people = server.users(3)
    for other in people[1:]:
        befriend(people[0], other)
    here = group(people[0], people[1:], name="Three")

    async def legs() -> float:
        return await asyncio.to_thread(value, server, "gateway_legs")

    async def run() -> None:
        everybody = [
            Participant(server, person, pitch=300 + 200 * number) for number, person in enumerate(people)
        ]
        ann, ben, cleo = everybody
        try:
            for one in everybody:
                await one.open()
            made = await ann.endpoint.ask(
                "calls.create", clientID=client_id(), conversation=here, kind="audio", mode="gateway")
            ann.call = made["call"]["id"]
            await ann.endpoint.listen(f"call:{ann.call}")
            for one in (ben, cleo):
                await one.accept(ann.call)
            for one in everybody:
                await one.join(slots=2, video=False)
            for one in everybody:
                for other in everybody:
                    if one is not other:
                        await one.receives_audio(other)
            assert await legs() == 3

            before = frames(cleo, ann)
            path = f"/v1/conversations/{here}/members/{people[1].id}"
            removed = await asyncio.to_thread(people[0].request, "DELETE", path)
            assert removed.status_code == 204, removed.text
            while await legs() > 2:
                # The others' clocks go on: by their media, it takes less than a second.
                assert frames(cleo, ann) - before <= FRAMES, "the leg of who was removed is still there"
            # What was under way by then.
            await cleo.until("more of Ann", lambda: frames(cleo, ann) >= before + 2 * FRAMES)
            arrived = await packets(ben)
            assert arrived > 0
            await cleo.until("more of Ann", lambda: frames(cleo, ann) >= before + 4 * FRAMES)
            assert await packets(ben) == arrived, "packets of others still arrive"
            # Nobody hears him either, and he cannot come back.
            await ann.until("the end of Ben's track", lambda: ann.slot_of(ben, "audio") is None)
            await cleo.until("the end of Ben's track", lambda: cleo.slot_of(ben, "audio") is None)
            again = await asyncio.to_thread(
                people[1].post, f"/v1/calls/{ann.call}/accept", {"clientID": client_id()})
            assert again.status_code == 404
            assert await legs() == 2
        finally:
            for one in everybody:
                await one.close()

    asyncio.run(run())
    server.stop()
