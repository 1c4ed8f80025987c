"""Runs the same calls without and with a webhook, empties an outbox to one address, and adds hostile addresses."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Tests" / "PythonSupport"))

import switchboard_tests.server
from switchboard_tests.server import Server

TIMESTAMP = re.compile(rb'"timestamp":"([^"]+)"')
GOAL_CPU, GOAL_RING, GOAL_RATE, GOAL_HOSTILE = 0.05, 100, 2_000, 2


class App(threading.Thread):
    """An app's server that responds at once: counts messages, and how old rings are when they arrive."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.port = 0
        self.count = 0
        self.first = self.last = 0.0
        self.rings: list[float] = []
        self.ready = threading.Event()
        self.start()
        self.ready.wait(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hooks"

    def reset(self) -> None:
        self.count, self.rings = 0, []

    def run(self) -> None:
        asyncio.run(self.serve())

    async def serve(self) -> None:
        server = await asyncio.get_running_loop().create_server(lambda: Connection(self), "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self.ready.set()
        await server.serve_forever()

    def receive(self, body: bytes) -> None:
        self.last = time.monotonic()
        self.first = self.first if self.count else self.last
        self.count += 1
        if b'"call.ringing"' in body[:40] and (found := TIMESTAMP.search(body)):
            created = datetime.datetime.fromisoformat(found[1].decode()).timestamp()
            self.rings.append((time.time() - created) * 1_000)


class Connection(asyncio.Protocol):
    def __init__(self, app: App) -> None:
        self.app = app
        self.input = b""

    def connection_made(self, transport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.input += data
        while (end := self.input.find(b"\r\n\r\n")) >= 0:
            length = re.search(rb"(?i)content-length: *(\d+)", self.input[:end])
            total = end + 4 + (int(length[1]) if length else 0)
            if len(self.input) < total:
                return
            body, self.input = self.input[end + 4 : total], self.input[total:]
            self.app.receive(body)
            self.transport.write(b"HTTP/1.1 204 No Content\r\n\r\n")


class HostileAddresses(threading.Thread):
    """A server whose paths respond as no webhook should; `urls` has one that nobody listens at, too."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.urls: list[str] = []
        self.tasks: set[asyncio.Task[None]] = set()
        self.ready = threading.Event()
        self.start()
        self.ready.wait(10)

    def run(self) -> None:
        asyncio.run(self.serve())

    async def serve(self) -> None:
        server = await asyncio.start_server(self.respond, "127.0.0.1", 0, backlog=1_024)
        port = server.sockets[0].getsockname()[1]
        paths = ("silent", "gigabyte", "redirect", "trickle", "gone")
        self.urls = [f"http://127.0.0.1:{port}/{path}" for path in paths] + ["http://127.0.0.1:9/refused"]
        self.ready.set()
        await server.serve_forever()

    async def respond(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = re.search(rb"(?i)content-length: *(\d+)", head)
                await reader.readexactly(int(length[1]) if length else 0)
                await self.misbehave(head.split()[1].decode(), writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def misbehave(self, path: str, writer: asyncio.StreamWriter) -> None:
        match path:
            case "/gone":
                writer.write(b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n")
            case "/redirect":
                writer.write(b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n")
            case "/gigabyte":
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
                for _ in range(16_384):
                    writer.write(bytes(65_536))
                    await writer.drain()
            case "/trickle":
                for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"a" * 100_000:
                    writer.write(bytes([byte]))
                    await writer.drain()
                    await asyncio.sleep(1)
            case _:
                await asyncio.sleep(3_600)


@dataclasses.dataclass
class Run:
    cpu: float
    """Server milliseconds for a life cycle."""
    rate: float
    rings: list[float]
    errors: dict[str, int]


def make_server(directory: str) -> Server:
    server = Server(
        pathlib.Path(directory),
        {
            "log": {"level": "error"},
            "webhooks": {"allow": ["127.0.0.0/8"]},
            # A few users call all the time, which the default limits would prevent.
            "limits": {"callsPerMinute": 1_000_000, "signalsPerMinute": 1_000_000, "requestsPerMinute": 10_000_000},
        },
    )
    server.start()
    return server


def add(server: Server, url: str) -> str:
    return server.command("webhook", "add", "--url", url).split()[0]


def calls(options, server: Server, rate: int | None = None) -> Run:
    tokens, result = server.directory / "users", server.directory / "calls.json"
    tokens.write_text(server.command("token", "--count", str(options.users)))
    done = subprocess.run(
        [f"{options.binaries}/switchboard-load", "calls", "--server", server.url, "--users", str(options.users),
         "--tokens", str(tokens), "--rate", str(rate or options.rate), "--duration", str(options.seconds), "--pid",
         str(server.pid), "--json", str(result)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"bench/webhooks: the load ended with {done.returncode}: {done.stderr[-2000:]}")
    report = json.loads(result.read_text())
    return Run(
        report["serverMillisecondsPerLifeCycle"], report["lifeCyclesPerSecond"], [], report["errors"])


def measure(options, app: App | None) -> Run:
    with tempfile.TemporaryDirectory() as directory:
        server = make_server(directory)
        try:
            if app is not None:
                app.reset()
                add(server, app.url)
            run = calls(options, server)
            run.rings = list(app.rings) if app is not None else []
            return run
        finally:
            server.kill()


def outbox(options, app: App) -> tuple[int, float]:
    """Deliveries, and how many a second: of what calls left, sent again until there are enough."""
    with tempfile.TemporaryDirectory() as directory:
        server = make_server(directory)
        try:
            app.reset()
            webhook = add(server, app.url)
            run = calls(options, server)
            settled(app)
            if not run.rate or not app.count:
                raise SystemExit(f"bench/webhooks: there were no calls: {run.errors}")
            # Replays write faster than is sent, and what is sent meanwhile counts too.
            wanted, app.count = options.outbox, 0
            begin, total = time.monotonic(), 0
            while total < wanted:
                total += int(server.command("webhook", "replay", webhook, "--since", "1d").split()[0])
            deadline = begin + 300
            while app.count < total and time.monotonic() < deadline:
                time.sleep(0.05)
            return app.count, app.count / (app.last - app.first)
        finally:
            server.kill()


def beside(options, app: App, urls: list[str]) -> list[float]:
    """How old rings were at the app, while these addresses had the same events."""
    with tempfile.TemporaryDirectory() as directory:
        server = make_server(directory)
        try:
            app.reset()
            for url in [app.url, *urls]:
                add(server, url)
            calls(options, server, options.hostile_rate)
            return list(app.rings)
        finally:
            server.kill()


def settled(app: App) -> None:
    """Waits until nothing more arrives."""
    count = -1
    while count != app.count:
        count = app.count
        time.sleep(1)


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else float("nan")


def verdict(passes: bool) -> str:
    return "passes" if passes else "FAILS"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--binaries", required=True, help="where switchboard and switchboard-load are")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--rate", type=int, default=200, help="calls a second")
    parser.add_argument("--users", type=int, default=400)
    parser.add_argument("--outbox", type=int, default=20_000, help="deliveries")
    parser.add_argument("--hostile-rate", type=int, default=50, help="calls a second beside hostile addresses")
    parser.add_argument("--only", choices=("cost", "outbox", "hostile"))
    options = parser.parse_args()
    switchboard_tests.server.BINARY = pathlib.Path(options.binaries).resolve() / "switchboard"
    print(
        f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, {options.rounds} rounds of "
        f"{options.seconds} s at {options.rate} calls a second")
    app = App()
    for name, part in (("cost", report_cost), ("outbox", report_outbox), ("hostile", report_hostile)):
        if options.only in (None, name):
            part(options, app)


def report_cost(options, app: App) -> None:
    plain: list[Run] = []
    hooked: list[Run] = []
    for _ in range(options.rounds):
        plain.append(measure(options, None))
        hooked.append(measure(options, app))
    ratios = [one.cpu / other.cpu for one, other in zip(hooked, plain, strict=True)]
    added = statistics.median(ratios) - 1
    print(
        f"  server CPU for a life cycle: {statistics.median(run.cpu for run in plain):.2f} ms without, "
        f"{statistics.median(run.cpu for run in hooked):.2f} ms with a webhook; by pairs "
        f"{', '.join(f'{ratio - 1:+.1%}' for ratio in ratios)}: {verdict(added <= GOAL_CPU)}")
    rings = [ring for run in hooked for ring in run.rings]
    p95 = percentile(rings, 0.95)
    print(
        f"  call created to call.ringing at the app: p50 {percentile(rings, 0.5):.1f} ms, p95 {p95:.1f} ms, "
        f"p99 {percentile(rings, 0.99):.1f} ms of {len(rings)}: {verdict(p95 <= GOAL_RING)}")
    for name, runs in (("without", plain), ("with", hooked)):
        print(f"  {name}: {', '.join(f'{run.rate:.0f}' for run in runs)} life cycles a second")
        for what, number in {what: number for run in runs for what, number in run.errors.items()}.items():
            print(f"    {number} times: {what}")


def report_outbox(options, app: App) -> None:
    count, rate = outbox(options, app)
    print(f"  outbox: {count} deliveries, {rate:.0f} a second: {verdict(rate >= GOAL_RATE)}")


def report_hostile(options, app: App) -> None:
    """Hostile addresses against as many that respond: both have the same events to write."""
    hostile = HostileAddresses().urls
    good = [App().url for _ in hostile]
    ratios: list[float] = []
    for _ in range(options.rounds):
        alone, good_ones, hostile_ones = (beside(options, app, urls) for urls in ([], good, hostile))
        p95 = [percentile(rings, 0.95) for rings in (alone, good_ones, hostile_ones)]
        ratios.append(p95[2] / p95[0])
        print(
            f"  p95 of call.ringing at {options.hostile_rate} calls a second: alone {p95[0]:.1f} ms, beside "
            f"{len(good)} others {p95[1]:.1f} ms, beside {len(hostile)} hostile addresses {p95[2]:.1f} ms")
    print(
        f"  hostile addresses: by rounds {', '.join(f'{ratio:.2f}' for ratio in ratios)} times the p95: "
        f"{verdict(statistics.median(ratios) <= GOAL_HOSTILE)}")


if __name__ == "__main__":
    main()
