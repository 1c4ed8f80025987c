"""Clients write for long while the server is killed, connections and responses are lost, clients are slow, tokens
expire, the clock jumps, thousands of sockets close at once and the disk is full. Everything is checked after each
round. Beside them people write with the SDK, against servers of their own."""

from __future__ import annotations

import asyncio
import pathlib
import random
import time

from sdk_histories import SDKHistories
from switchboard_tests.chat.clock import Clock
from switchboard_tests.chat.faults import KINDS, data_on_a_small_disk
from switchboard_tests.chat.run import SETTINGS, Run
from switchboard_tests.server import Server, merged

# Each round has new conversations, so that reading all pages stays short.
FAULTS_OF_ROUND = 4 * (len(KINDS) + 2)
CROWD = 250
# What a server keeps of so many fills two fifths of its disk.
ROUNDS_OF_SERVER, DISK = 15, "1g"
CONNECTIONS = {"http": {"limits": {"connections": 20_000, "connectionsPerAddress": 20_000}}}


def soak(directory: pathlib.Path, rng: random.Random, minutes: float) -> list[str]:
    """Returns what was wrong."""
    until = time.monotonic() + minutes * 60
    histories = SDKHistories(directory, rng)
    found: list[str] = []
    try:
        number = 1
        while time.monotonic() < until and not found and not histories.problems:
            folder = directory / f"from-{number}"
            folder.mkdir()
            found = life(folder, rng, range(number, number + ROUNDS_OF_SERVER), until, histories)
            number += ROUNDS_OF_SERVER
    finally:
        histories.stop()
    return found + histories.problems


def life(
    directory: pathlib.Path, rng: random.Random, rounds: range, until: float, histories: SDKHistories
) -> list[str]:
    """Rounds of one server, which end early when the time is over or something is wrong. Returns what was wrong."""
    server = Server(directory, merged(merged(SETTINGS, CONNECTIONS), {"log": {"level": "warning"}}))
    with data_on_a_small_disk(server, DISK) as has_small_disk:
        clock = Clock(server)
        server.start()
        try:
            for number in rounds:
                if time.monotonic() > until or histories.problems:
                    break
                found = asyncio.run(turn(server, clock, rng, has_small_disk, number))
                print(f"  {histories.passed} histories of clients of the SDK", flush=True)
                if found:
                    return found
        finally:
            if server.process is not None:
                server.kill()
    return []


async def turn(server: Server, clock: Clock, rng: random.Random, has_small_disk: bool, number: int) -> list[str]:
    # Long texts fill what is queued for slow readers.
    run = Run(server, clock, rng, has_small_disk, crowd=CROWD, text_bytes=rng.choice([60, 2_000, 20_000]))
    try:
        await run.write(FAULTS_OF_ROUND, between=40)
        found = await run.violations()
    except BaseException:
        print(f"the server's log:\n{server.log_tail()}", flush=True)
        raise
    finally:
        print(f"  round {number}: {run.summary()}", flush=True)
        await run.stop()
    return found
