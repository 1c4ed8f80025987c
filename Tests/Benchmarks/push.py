"""Pushes to devices that sleep: out of the outbox, of calls, what they cost, and what they add to a message."""

from __future__ import annotations

import argparse
import asyncio
import os
import pathlib
import statistics
import sys
import tempfile
import threading
import time
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Tests" / "PythonSupport"))

import httpx
import switchboard_tests.server
from switchboard_tests import server_keys
from switchboard_tests.endpoint import client_id
from switchboard_tests.server import Server, User

GOAL_RATE, GOAL_RING, GOAL_COMMIT, GOAL_CPU = 1_000, 100, 1.10, 400
# A point of P-256 and a secret, as good as any: nothing is decrypted here.
POINT = "BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU"
KEYS = {"p256dh": POINT, "auth": "A" * 22}
LIMITS = {
    "friendRequestsPerHour": 1_000_000, "conversationsPerHour": 1_000_000, "messagesPerMinute": 10_000_000,
    "requestsPerMinute": 10_000_000, "callsPerMinute": 1_000_000,
}
GROUP = 10
# A device is told of a conversation again after so many seconds.
INTERVAL = 2.5


class Sink(threading.Thread):
    """A push service that takes everything, and notes when each path had a push."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.port = 0
        self.count = 0
        self.last = 0.0
        self.arrivals: dict[str, float] = {}
        self.ready = threading.Event()
        self.start()
        self.ready.wait(10)

    def run(self) -> None:
        asyncio.run(self.serve())

    async def serve(self) -> None:
        server = await asyncio.get_running_loop().create_server(lambda: Connection(self), "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self.ready.set()
        await server.serve_forever()

    def wait(self, count: int, seconds: float = 60) -> bool:
        deadline = time.monotonic() + seconds
        while self.count < count and time.monotonic() < deadline:
            time.sleep(0.005)
        return self.count >= count


class Connection(asyncio.Protocol):
    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        self.data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.data += data
        while (end := self.data.find(b"\r\n\r\n")) >= 0:
            head = self.data[:end].decode("latin-1")
            length = next(
                int(line.split(":")[1]) for line in head.split("\r\n") if line.lower().startswith("content-length:")
            )
            if len(self.data) < end + 4 + length:
                return
            self.data = self.data[end + 4 + length :]
            self.sink.last = time.monotonic()
            self.sink.count += 1
            self.sink.arrivals.setdefault(head.split(" ", 2)[1], self.sink.last)
            assert isinstance(self.transport, asyncio.Transport)
            self.transport.write(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")


class Bench:
    def __init__(self, server: Server, sink: Sink) -> None:
        self.server = server
        self.sink = sink
        self.key = server_keys.create(server)

    def register(self, user: User) -> str:
        path = f"/{uuid.uuid4().hex}"
        body = {"kind": "web", "endpoint": f"http://127.0.0.1:{self.sink.port}{path}", "keys": KEYS}
        response = user.request("PUT", "/v1/me/device/push", body)
        assert response.status_code == 200, response.text
        return path

    def group(self, people: list[User]) -> str:
        body = {"clientID": client_id(), "kind": "group", "members": [one.id for one in people], "name": "bench"}
        response = self.key.post("/v1/server/conversations", body)
        assert response.status_code == 201, response.text
        return str(response.json()["conversation"]["id"])

    def groups(self, count: int, with_devices: bool) -> list[tuple[User, str]]:
        """An author and the group, whose other members have a device each."""
        made = []
        for _ in range(count):
            people = self.server.users(GROUP + 1)
            for one in people[1:] if with_devices else []:
                self.register(one)
            made.append((people[0], self.group(people)))
        return made

    def cpu(self) -> float:
        fields = pathlib.Path(f"/proc/{self.server.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def send(user: User, here: str) -> float:
    began = time.perf_counter()
    body = {"clientID": client_id(), "text": "See you at eight, at the usual place"}
    response = user.post(f"/v1/conversations/{here}/messages", body)
    assert response.status_code == 201, response.text
    return time.perf_counter() - began


def outbox(bench: Bench, groups: int, rounds: int) -> None:
    told, silent = bench.groups(groups, True), bench.groups(groups, False)
    print(f"\na message to each of {groups} groups with {GROUP} devices that sleep, and to {groups} without any:")
    for number in range(rounds):
        time.sleep(INTERVAL)
        before = bench.cpu()
        for author, here in silent:
            send(author, here)
        alone = bench.cpu() - before
        bench.sink.count = 0
        before, began = bench.cpu(), time.monotonic()
        for author, here in told:
            send(author, here)
        sent = time.monotonic() - began
        complete = bench.sink.wait(groups * GROUP)
        seconds, count = bench.sink.last - began, bench.sink.count
        cost = (bench.cpu() - before - alone) / max(1, count) * 1e6
        print(
            f"  round {number + 1}: {count} pushes in {seconds:.2f} s ({sent:.2f} s of sending), "
            f"{count / seconds:,.0f} a second (goal {GOAL_RATE:,}), {cost:.0f} µs of CPU each (goal {GOAL_CPU})"
            + ("" if complete else "; some did not come")
        )


def commit(bench: Bench, rounds: int, messages: int) -> None:
    (told, here), (silent, there) = bench.groups(1, True)[0], bench.groups(1, False)[0]
    print(f"\na message to a group with {GROUP} devices that sleep, against one without, {messages} by turns:")
    for number in range(rounds):
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(messages):
            times[0].append(send(told, here))
            times[1].append(send(silent, there))
        ours, plain = (statistics.median(one) * 1_000 for one in times)
        print(f"  round {number + 1}: p50 {ours:.2f} and {plain:.2f} ms: {ours / plain:.2f} (goal {GOAL_COMMIT})")


def rings(bench: Bench, rate: int, seconds: int) -> None:
    count = rate * seconds
    people = bench.server.users(2 * count)
    paths = [bench.register(one) for one in people[count:]]
    began: list[float] = [0.0] * count

    async def run() -> None:
        limits = httpx.Limits(max_connections=64, max_keepalive_connections=64)
        async with httpx.AsyncClient(base_url=bench.server.url, limits=limits, timeout=30) as client:

            async def ring(index: int) -> None:
                body = {"clientID": client_id(), "callees": [people[count + index].id], "kind": "audio"}
                began[index] = time.monotonic()
                response = await client.post("/v1/calls", json=body, headers=people[index].headers)
                assert response.status_code == 201, response.text

            start = time.monotonic()
            tasks = []
            for index in range(count):
                await asyncio.sleep(max(0, start + index / rate - time.monotonic()))
                tasks.append(asyncio.create_task(ring(index)))
            await asyncio.gather(*tasks)

    bench.sink.arrivals.clear()
    asyncio.run(run())
    deadline = time.monotonic() + 20
    while not all(path in bench.sink.arrivals for path in paths) and time.monotonic() < deadline:
        time.sleep(0.05)
    delays = sorted(
        (bench.sink.arrivals[path] - began[index]) * 1_000
        for index, path in enumerate(paths)
        if path in bench.sink.arrivals
    )
    p50, p95 = (delays[int(len(delays) * share)] for share in (0.5, 0.95))
    print(f"\n{rate} calls a second for {seconds} s, from the request to the push service:")
    print(f"  {len(delays)} of {count} came: p50 {p50:.1f} ms, p95 {p95:.1f} ms (goal {GOAL_RING} ms)")


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench/push")
    parser.add_argument("--binaries", type=pathlib.Path, required=True)
    parser.add_argument("--only", choices=["outbox", "commit", "rings"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--groups", type=int, default=150)
    parser.add_argument("--messages", type=int, default=400)
    parser.add_argument("--rate", type=int, default=50)
    parser.add_argument("--seconds", type=int, default=10)
    options = parser.parse_args()
    switchboard_tests.server.BINARY = (options.binaries / "switchboard").resolve()
    with tempfile.TemporaryDirectory() as path:
        settings = {
            "limits": LIMITS, "log": {"level": "error"},
            "push": {"allow": ["127.0.0.0/8"], "web": {"contact": "mailto:ops@example.org"}},
        }
        server = Server(pathlib.Path(path), settings)
        server.start()
        try:
            bench = Bench(server, Sink())
            if options.only in (None, "outbox"):
                outbox(bench, options.groups, options.rounds)
            if options.only in (None, "commit"):
                commit(bench, options.rounds, options.messages)
            if options.only in (None, "rings"):
                rings(bench, options.rate, options.seconds)
        finally:
            server.kill()


if __name__ == "__main__":
    main()
