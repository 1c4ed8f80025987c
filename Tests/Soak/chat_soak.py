"""Clients write for long while the server is killed, connections and responses are lost, clients are slow, tokens
expire, the clock jumps, thousands of sockets close at once and the disk is full. Everything is checked after each
round."""

from __future__ import annotations

import asyncio
import pathlib
import random
import time

from switchboard_tests.chat.clock import Clock
from switchboard_tests.chat.faults import KINDS, data_on_a_small_disk
from switchboard_tests.chat.run import SETTINGS, Run
from switchboard_tests.server import Server, merged

# Each round has new conversations, so that reading all pages stays short.
FAULTS_OF_ROUND = 4 * (len(KINDS) + 2)
CROWD = 250
CONNECTIONS = {"http": {"limits": {"connections": 20_000, "connectionsPerAddress": 20_000}}}


def soak(directory: pathlib.Path, rng: random.Random, minutes: float) -> list[str]:
    """Returns what was wrong."""
    until = time.monotonic() + minutes * 60
    rounds = 0
    server = Server(directory, merged(merged(SETTINGS, CONNECTIONS), {"log": {"level": "warning"}}))
    with data_on_a_small_disk(server, "512m") as has_small_disk:
        clock = Clock(server)
        server.start()
        try:
            while time.monotonic() < until:
                rounds += 1
                found = asyncio.run(turn(server, clock, rng, has_small_disk, rounds))
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
