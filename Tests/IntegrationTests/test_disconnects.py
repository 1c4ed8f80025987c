"""Connections are broken at random moments while the server keeps running: streams continue without a gap, and retried
requests are executed once.

DEV_SWITCHBOARD_SEED repeats a run's random moments.
"""

from __future__ import annotations

import asyncio
import os
import random
import socket

from switchboard_tests.calls import GENEROUS, Pair, history, whole_stream
from switchboard_tests.seeds import seed
from switchboard_tests.waiting import TIMEOUT

CUTS = int(os.environ.get("DEV_SWITCHBOARD_CUTS", "200"))
PAIRS = 4


def test_cut_connections_lose_nothing(make_server):
    rng = random.Random(seed())
    server = make_server(GENEROUS)
    people = server.users(2 * PAIRS)

    async def run() -> None:
        pairs = [Pair(server, people[2 * n], people[2 * n + 1], rng) for n in range(PAIRS)]
        ends = [end for pair in pairs for end in pair.ends]
        for end in ends:
            await end.open()
            await end.listen(f"user:{end.user}")
        running = [asyncio.create_task(pair.run()) for pair in pairs]
        for _ in range(CUTS):
            await asyncio.sleep(rng.random() * 0.15)
            for task in running:
                if task.done():
                    await task
            end = rng.choice(ends)
            end.connected.clear()
            end.socket.transport.abort()
            await end.reader
            greeting = await end.open()
            resumed = {name: word for name, word in greeting["resumed"].items() if name.startswith("user:")}
            assert resumed == {f"user:{end.user}": "ok"}, greeting
        for pair in pairs:
            pair.stopping = True
        for task in running:
            await task
        for pair in pairs:
            for end in pair.ends:
                assert not end.violations, end.violations
                assert await history(end) == pair.calls[::-1]
                await whole_stream(end)
                await end.close()
        print(
            f"{CUTS} cuts, {sum(len(pair.calls) for pair in pairs)} calls, "
            f"{sum(pair.repeats for pair in pairs)} answers lost and repeated"
        )

    asyncio.run(run())
    server.stop()


def test_a_body_that_breaks_off_is_no_fault_of_the_server(make_server):
    server = make_server()
    head = b"POST /v1/sessions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT) as client:
        client.sendall(head + b'{"a"')
        client.shutdown(socket.SHUT_WR)
        assert client.recv(100).startswith(b"HTTP/1.1 400 ")
    # Its log is complete by then.
    server.stop()
    assert "ERROR" not in server.log_tail(), server.log_tail()
