"""The server is killed at random moments, during ringing and active calls. Acknowledged requests persist, others are
retried and executed once, streams have no gaps, ring deadlines fire, and calls continue.

DEV_SWITCHBOARD_SEED repeats a run's random moments; DEV_SWITCHBOARD_CRASHES sets the number of crashes.
"""

from __future__ import annotations

import asyncio
import os
import random

from switchboard_tests.calls import GENEROUS, Pair, history, whole_stream
from switchboard_tests.endpoint import Endpoint, client_id
from switchboard_tests.seeds import seed

CRASHES = int(os.environ.get("DEV_SWITCHBOARD_CRASHES", "50"))
PAIRS = 4
RING_SECONDS = 10
FINAL = {"ended"}


async def leave_ringing(server, ann, ben) -> str:
    """A ringing call that nobody accepts: its deadline has to fire despite crashes."""
    end = Endpoint(server.realtime_url, ann.id, ann.token)
    await end.open()
    created = await end.ask(
        "calls.create", clientID=client_id(), callees=[ben.id], kind="audio", ringSeconds=RING_SECONDS
    )
    await end.close()
    return created["call"]["id"]


def test_a_killed_server_loses_nothing(make_server):
    rng = random.Random(seed())
    server = make_server(GENEROUS)
    people = server.users(2 * PAIRS)
    lonely = server.users(2 * CRASHES)
    met = {"ringing": 0, "active": 0, "idle": 0}

    async def run() -> None:
        pairs = [Pair(server, people[2 * n], people[2 * n + 1], rng) for n in range(PAIRS)]
        for pair in pairs:
            for end in pair.ends:
                await end.open()
                await end.listen(f"user:{end.user}")
        left: dict[str, int] = {}
        running = [asyncio.create_task(pair.run()) for pair in pairs]
        for crash in range(CRASHES):
            left[await leave_ringing(server, lonely[2 * crash], lonely[2 * crash + 1])] = 2 * crash
            await asyncio.sleep(0.05 + rng.random() * 0.6)
            for task in running:
                if task.done():
                    await task
            for pair in pairs:
                met[pair.phase] += 1
            await asyncio.to_thread(server.kill)
            for pair in pairs:
                for end in pair.ends:
                    end.connected.clear()
                    await end.reader
            await asyncio.to_thread(server.start)
            for pair in pairs:
                for end in pair.ends:
                    greeting = await end.open()
                    resumed = {
                        name: word for name, word in greeting["resumed"].items() if not name.startswith("signals:")
                    }
                    assert set(resumed.values()) <= {"ok"}, f"crash {crash}: not resumed: {resumed}"
        for pair in pairs:
            pair.stopping = True
        for task in running:
            await task

        for pair in pairs:
            for end in pair.ends:
                assert not end.violations, end.violations
                # Exactly the acknowledged calls, each once.
                assert await history(end) == pair.calls[::-1]
                await whole_stream(end)
                await end.close()
        await rings_that_ended(server, lonely, left)
        print(
            f"{CRASHES} crashes met {met['ringing']} ringing, {met['active']} active and {met['idle']} other pairs; "
            f"{sum(len(pair.calls) for pair in pairs)} calls, {sum(pair.repeats for pair in pairs)} answers lost and "
            "repeated"
        )

    asyncio.run(run())
    server.stop()


async def rings_that_ended(server, lonely, left: dict[str, int]) -> None:
    """Waits until every call that was left ringing has been missed."""
    for call, index in left.items():
        end = Endpoint(server.realtime_url, lonely[index].id, lonely[index].token)
        await end.open()
        await end.listen(f"call:{call}")
        await end.until(f"{call} to be missed", lambda: end.call(call)["status"] == "ended")
        document = end.call(call)
        assert document["endReason"] == "missed", document
        assert [part["state"] for part in document["participants"]][1] == "missed", document
        assert not end.violations
        await end.close()
