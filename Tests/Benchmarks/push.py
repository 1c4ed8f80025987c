"""Pushes to devices that sleep: out of the outbox, of calls, what they cost, and what they add to a message."""

from __future__ import annotations

import argparse
import asyncio
import functools
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
        self.open: set[asyncio.Transport] = set()
        self.loop = asyncio.new_event_loop()
        self.server: asyncio.Server | None = None
        self.start()
        self.up()

    def run(self) -> None:
        self.loop.run_forever()

    def up(self) -> None:
        """Listens, on the port that it had before."""
        listening = self.loop.create_server(lambda: Connection(self), "127.0.0.1", self.port)
        self.server = asyncio.run_coroutine_threadsafe(listening, self.loop).result()
        self.port = self.server.sockets[0].getsockname()[1]

    def down(self) -> None:
        """Refuses connections, and closes those that are open."""

        async def close() -> None:
            assert self.server is not None
            self.server.close()
            for transport in list(self.open):
                transport.abort()

        asyncio.run_coroutine_threadsafe(close(), self.loop).result()

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
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.sink.open.add(transport)

    def connection_lost(self, _: Exception | None) -> None:
        self.sink.open.discard(self.transport)

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

    def crowd(self, members: int, ports: list[int], count: int = 1) -> list[tuple[User, str]]:
        """The same of large groups of the same people, with devices at these ports by turns."""
        people = self.server.users(members)
        for index, one in enumerate(people[1:]):
            path = f"http://127.0.0.1:{ports[index % len(ports)]}/{uuid.uuid4().hex}"
            response = one.request("PUT", "/v1/me/device/push", {"kind": "web", "endpoint": path, "keys": KEYS})
            assert response.status_code == 200, response.text
        made = []
        for _ in range(count):
            here = self.group(people[:100])
            for first in range(100, members, 100):
                more = [one.id for one in people[first : first + 100]]
                added = self.key.post(f"/v1/server/conversations/{here}/members", {"members": more})
                assert added.status_code == 200, added.text
            made.append((people[0], here))
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


class Hostile(threading.Thread):
    """Push services that hang, redirect, or respond with a gigabyte, by path."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.ports: list[int] = []
        self.ready = threading.Event()
        self.start()
        self.ready.wait(10)

    def run(self) -> None:
        asyncio.run(self.serve())

    async def serve(self) -> None:
        loop = asyncio.get_running_loop()
        servers = [
            await loop.create_server(functools.partial(HostileConnection, kind), "127.0.0.1", 0)
            for kind in HostileConnection.KINDS
        ]
        self.ports = [server.sockets[0].getsockname()[1] for server in servers]
        self.ready.set()
        await asyncio.gather(*(server.serve_forever() for server in servers))


class HostileConnection(asyncio.Protocol):
    KINDS = ("hang", "redirect", "flood")

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        assert isinstance(self.transport, asyncio.Transport)
        if self.kind == "redirect":
            self.transport.write(b"HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")
        elif self.kind == "flood" and b"HTTP/1.1" in data:
            self.transport.write(b"HTTP/1.1 201 Created\r\nContent-Length: 1000000000\r\n\r\n" + b"x" * 1_000_000)


def others(bench: Bench, friends: list[tuple[User, str]], seconds: float) -> list[float]:
    """How long messages of others take, in ms, a hundred a second at most."""
    times: list[float] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        author, here = friends[len(times) % len(friends)]
        began = time.monotonic()
        times.append(send(author, here) * 1_000)
        time.sleep(max(0, began + 0.01 - time.monotonic()))
    return sorted(times)


def attack(targets: list[tuple[User, str]], stop: threading.Event) -> None:
    """A message to each of them every second."""
    while not stop.wait(1):
        for author, there in targets:
            send(author, there)


def hostile(bench: Bench, rounds: int, seconds: int, members: int) -> None:
    """What devices of hostile addresses, and a crowd of sleeping ones, do to the messages and pushes of others."""
    friends, devices = bench.groups(5, True), Hostile()
    bad: list[tuple[User, str]] = []
    for _ in range(15):
        people = bench.server.users(GROUP + 1)
        for index, one in enumerate(people[1:]):
            port = devices.ports[index % len(devices.ports)]
            body = {"kind": "web", "endpoint": f"http://127.0.0.1:{port}/{uuid.uuid4().hex}", "keys": KEYS}
            assert one.request("PUT", "/v1/me/device/push", body).status_code == 200
        bad.append((people[0], bench.group(people)))
    crowd = bench.crowd(members, [bench.sink.port])
    mob = bench.crowd(members, devices.ports)
    print(f"\nothers' messages beside 150 devices at hostile addresses, a group of {members:,} devices, and")
    print("one at hostile addresses, each told every second:")

    for number in range(rounds):
        line = []
        for name, targets in (("alone", []), ("hostile", bad), ("crowd", crowd), ("hostile crowd", mob)):
            stop = threading.Event()
            thread = threading.Thread(target=attack, args=(targets, stop))
            thread.start()
            before, cpu, pushed = time.monotonic(), bench.cpu(), bench.sink.count
            times = others(bench, friends, seconds)
            took = time.monotonic() - before
            busy, rate = (bench.cpu() - cpu) / took, (bench.sink.count - pushed) / took
            stop.set()
            thread.join()
            p50, p99 = (times[int(len(times) * share)] for share in (0.5, 0.99))
            line.append(f"{name} p50 {p50:.1f}, p99 {p99:.1f} ms, {busy:.2f} cores, {rate:.0f} pushes a second")
        print(f"  round {number + 1}: " + "; ".join(line))


def large(bench: Bench, count: int, members: int, seconds: int) -> None:
    """How long others' pushes take while many large groups have messages."""
    friends = []
    for _ in range(10):
        people = bench.server.users(2)
        friends.append((people[0], bench.group(people), bench.register(people[1])))
    crowds = bench.crowd(members, [bench.sink.port], count)
    print(f"\nothers' pushes beside {count} groups of {members:,} devices, a message a second to each:")
    for name, targets in (("alone", []), ("beside", crowds)):
        stop = threading.Event()
        thread = threading.Thread(target=attack, args=(targets, stop))
        thread.start()
        times: list[float] = []
        missing = 0
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(INTERVAL)
            began = {}
            for author, here, path in friends:
                bench.sink.arrivals.pop(path, None)
                began[path] = time.monotonic()
                send(author, here)
            latest = time.monotonic() + 60
            while not began.keys() <= bench.sink.arrivals.keys() and time.monotonic() < latest:
                time.sleep(0.005)
            came = began.keys() & bench.sink.arrivals.keys()
            times += [(bench.sink.arrivals[path] - began[path]) * 1_000 for path in came]
            missing += len(began) - len(came)
        stop.set()
        thread.join()
        times.sort()
        p50, p95 = (times[int(len(times) * share)] for share in (0.5, 0.95))
        print(f"  {name}: p50 {p50:.0f}, p95 {p95:.0f} ms of {len(times)}; {missing} did not come within a minute")


def outage(bench: Bench, seconds: int) -> None:
    """What a push service that is down does to the messages of others, and whether anything is lost."""
    friends, told = bench.groups(5, True), bench.groups(100, True)
    up = min(seconds, 60)
    print(f"\nothers' messages while a push service is up ({up} s) and down ({seconds} s), with 10 a second to groups:")
    line = []
    for name, duration in (("up", up), ("down", seconds)):
        bench.sink.arrivals.clear()
        if name == "down":
            bench.sink.down()
        stop = threading.Event()

        def write(stop: threading.Event = stop) -> None:
            index = 0
            while not stop.wait(0.1):
                send(*told[index % len(told)])
                index += 1

        thread = threading.Thread(target=write)
        thread.start()
        times = others(bench, friends, duration)
        stop.set()
        thread.join()
        p50, p99 = (times[int(len(times) * share)] for share in (0.5, 0.99))
        line.append(f"{name} p50 {p50:.1f}, p99 {p99:.1f} ms")
    print("  " + "; ".join(line))
    bench.sink.arrivals.clear()
    bench.sink.up()
    # Each of the groups has had messages meanwhile.
    began, devices = time.monotonic(), GROUP * (len(friends) + len(told))
    while len(bench.sink.arrivals) < devices and time.monotonic() < began + 4 * seconds + 120:
        time.sleep(0.1)
    took = time.monotonic() - began
    print(f"  up again: {len(bench.sink.arrivals)} of {devices} devices were pushed to within {took:.0f} s")


def quiet(bench: Bench, count: int, seconds: int) -> None:
    """What the end of quiet hours, which many have at the same minute, does to the messages of others."""
    friends = bench.groups(5, True)
    teams = [bench.server.users(GROUP + 1) for _ in range(count // GROUP)]
    sleepers = [one for team in teams for one in team[1:]]
    paths = {bench.register(one) for one in sleepers}
    targets = [(team[0], bench.group(team)) for team in teams]
    # Time for the requests below.
    end = (int(time.time() + 20 + len(sleepers) / 100) // 60 + 1) * 60
    clock = [time.strftime("%H:%M", time.gmtime(one)) for one in (end - 6 * 3_600, end)]
    for one in sleepers:
        changed = one.request("PATCH", "/v1/me", {"quietHours": {"from": clock[0], "to": clock[1], "zone": "UTC"}})
        assert changed.status_code == 200, changed.text
    for author, here in targets:
        send(author, here)
    before = others(bench, friends, seconds)
    assert time.time() < end and paths.isdisjoint(bench.sink.arrivals), "the quiet hours were too short"
    time.sleep(max(0, end - 1 - time.time()))
    over = time.monotonic() + 1
    after = others(bench, friends, seconds)
    while not paths <= bench.sink.arrivals.keys() and time.monotonic() < over + 60:
        time.sleep(0.05)
    came = sorted(bench.sink.arrivals[path] - over for path in paths if path in bench.sink.arrivals)
    p99 = [times[int(len(times) * 0.99)] for times in (before, after)]
    print(f"\nothers' messages when the quiet hours of {len(sleepers):,} devices end, each with a message that waits:")
    print(f"  p99 {p99[1]:.1f} ms, {p99[0]:.1f} ms before; {len(came)} pushes came, the last after {came[-1]:.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench/push")
    parser.add_argument("--binaries", type=pathlib.Path, required=True)
    parser.add_argument("--only", choices=["outbox", "commit", "rings", "hostile", "large", "outage", "quiet"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--groups", type=int, default=150)
    parser.add_argument("--messages", type=int, default=400)
    parser.add_argument("--members", type=int, default=10_000)
    parser.add_argument("--crowds", type=int, default=40, help="large groups, each of a tenth of the members")
    parser.add_argument("--sleepers", type=int, default=2_000, help="whose quiet hours end at the same time")
    parser.add_argument("--rate", type=int, default=50)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--down", type=int, default=60, help="seconds for which the push service is down")
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
            if options.only in (None, "hostile"):
                hostile(bench, options.rounds, options.seconds, options.members)
            if options.only in (None, "large"):
                large(bench, options.crowds, options.members // 10, options.seconds)
            if options.only in (None, "outage"):
                outage(bench, options.down)
            if options.only in (None, "quiet"):
                quiet(bench, options.sleepers, options.seconds)
        finally:
            server.kill()


if __name__ == "__main__":
    main()
