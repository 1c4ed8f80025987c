"""5,000 idle sessions, of which 1,000 are closed at once: the others are not affected. None of them is closed, and each
gets every change of its user's stream, in order, during and after the closing.

Prints its measurements (with pytest -s): memory per session, and the latency of changes during the closing.
"""

from __future__ import annotations

import asyncio
import random
import resource
import time

import pytest
from switchboard_tests.idle_session import CONNECTING_AT_ONCE, IdleSession
from switchboard_tests.processes import memory
from switchboard_tests.seeds import seed
from switchboard_tests.server import HTTP
from switchboard_tests.waiting import TIMEOUT

USERS = 250
ENDPOINTS = 20
CLOSED = 1000
CHANGES = 3


async def change_everybody(people) -> None:
    """Changes the profile of each user, over REST, several times."""
    for number in range(CHANGES):
        for person in people:
            response = await asyncio.to_thread(person.request, "PATCH", "/v1/me", {"displayName": f"Number {number}"})
            assert response.status_code == 200, response.text


async def scenario(server) -> None:
    rng = random.Random(seed())
    people = server.users(USERS)
    at_rest = memory(server.pid)
    sessions = [IdleSession(person) for person in people for _ in range(ENDPOINTS)]
    semaphore = asyncio.Semaphore(CONNECTING_AT_ONCE)

    async def open_one(session: IdleSession) -> None:
        async with semaphore:
            await session.open(server.port)

    began = time.monotonic()
    await asyncio.gather(*(open_one(session) for session in sessions))
    opened = time.monotonic() - began
    per_session = (memory(server.pid) - at_rest) / len(sessions)

    closed = rng.sample(sessions, CLOSED)
    kept = [session for session in sessions if session not in set(closed)]
    changing = asyncio.create_task(change_everybody(people))
    await kept[0].has(1)
    cut_at = time.monotonic()
    for session in closed:
        session.abort()
    await changing
    await asyncio.wait_for(asyncio.gather(*(session.has(CHANGES) for session in kept)), TIMEOUT)

    errors = [error for session in kept for error in session.errors]
    assert not errors, (len(errors), errors[:5])
    assert all(len(session.changes) == CHANGES for session in kept)
    # The closed sessions are gone on the server too, and no others.
    deadline = time.monotonic() + TIMEOUT
    while live_sessions(server) != len(kept):
        assert time.monotonic() < deadline, live_sessions(server)
        await asyncio.sleep(0.1)
    print(
        f"\n{len(sessions)} sessions opened in {opened:.1f} s, {per_session / 1024:.1f} KiB of server memory each; "
        f"{CLOSED} cut at once; the {len(kept)} others had all of {CHANGES * len(kept)} changes "
        f"{time.monotonic() - cut_at:.1f} s later"
    )
    for session in kept:
        session.abort()


def live_sessions(server) -> int:
    for line in HTTP.get(server.admin_url + "/metrics").text.splitlines():
        if line.startswith("switchboard_realtime_sessions "):
            return int(float(line.split()[1]))
    raise AssertionError("the metrics do not count sessions")


@pytest.fixture(scope="module")
def roomy_server(make_server):
    """A descriptor limit for both ends, and no rate limits."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * USERS * ENDPOINTS + 2000
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.fail(f"this test needs {wanted} file descriptors, and the hard limit is {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    server = make_server(
        {"limits": {"requestsPerMinute": 10_000_000}, "http": {"limits": {"connectionsPerAddress": 20_000}}}
    )
    yield server
    server.stop()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_thousand_of_five_thousand_sessions_closed_at_once_disturb_no_other(roomy_server):
    asyncio.run(scenario(roomy_server))
