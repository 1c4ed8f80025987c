"""Runs switchboard-load chat against a server with durable commits, and measures inboxes; prints figures and goals."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Tests" / "PythonSupport"))

import chat_crowds
import chat_peer
import switchboard_tests.server
from chat_search import SearchLag
from switchboard_tests import transfers
from switchboard_tests.conversations import send
from switchboard_tests.rawsocket import RawSocket
from switchboard_tests.server import Server

KINDS = ["throughput", "cost", "peer", "latency", "queue", "crowd", "typing", "inbox", "reconnect"]
GOAL_PER_SECOND, GOAL_P50, GOAL_P99, GOAL_RATIO = 4_000, 5, 50, 3
PAIRS, IN_FLIGHT = 100, 8
QUEUED, GOAL_QUEUE = 500, 2_500
# Of the highest rate.
SHARES = [0.05, 0.5]
# An inbox is opened and resumed so often; in between so many of its rows change.
OPENINGS, CHANGED_ROWS = 30, 10
UNLIMITED = {
    "friendRequestsPerHour": 1_000_000, "conversationsPerHour": 1_000_000, "messagesPerMinute": 10_000_000,
    "requestsPerMinute": 10_000_000,
}  # fmt: skip


class Bench:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.generator = (options.binaries / "switchboard-load").resolve()

    @contextlib.contextmanager
    def server(self, users: int) -> Iterator[tuple[Server, list[str]]]:
        """A new server, and its users as lines for the generator."""
        with tempfile.TemporaryDirectory() as path:
            connections = max(20_000, 2 * users)
            settings = {
                "limits": UNLIMITED,
                "log": {"level": "error"},
                "http": {"limits": {"connections": connections, "connectionsPerAddress": connections}},
            }
            server = Server(pathlib.Path(path), settings)
            server.start()
            try:
                yield server, server.command("token", "--count", str(users)).splitlines() if users else []
            finally:
                server.kill()

    def load(self, server: Server, people: list[str], *more: str) -> dict[str, Any]:
        """The report of a run, which has to be without errors and violations."""
        tokens, report = server.directory / "users", server.directory / "report.json"
        tokens.write_text("\n".join(people) + "\n")
        done = subprocess.run(
            [str(self.generator), "chat", "--server", server.url, "--users", str(len(people)), "--tokens", str(tokens),
             "--pid", str(server.pid), "--json", str(report), *more], capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode != 0:
            sys.exit(f"bench/chat: a run failed:\n{done.stdout}{done.stderr}")
        return json.loads(report.read_text())

    def as_fast_as_possible(self, server: Server, people: list[str], shape: list[str]) -> dict[str, Any]:
        more = ["--senders", "1", "--listeners", "1", "--max", "--in-flight", str(IN_FLIGHT)]
        return self.load(server, people, *shape, *more, "--duration", str(self.options.seconds))

    def peer(self) -> None:
        """The same pairs at Prosody, in alternating rounds."""
        print(f"\n{PAIRS} pairs as fast as possible, {IN_FLIGHT} messages of each waiting for their acknowledgement:")
        ours, theirs = [], []
        for _ in range(self.options.rounds):
            with self.server(2 * PAIRS) as (server, people):
                found = self.as_fast_as_possible(server, people, ["--pairs", str(PAIRS)])
                times = found["milliseconds"]["send to result"]
                ours.append((found["sentPerSecond"], times["p50"], times["p99"]))
            theirs.append(chat_peer.measure(PAIRS, IN_FLIGHT, self.options.seconds))
        for name, rounds in ("Switchboard", ours), ("Prosody", theirs):
            pace, p50, p99 = (statistics.median(one[column] for one in rounds) for column in range(3))
            print(f"  {name:12}{pace:8.0f} a second, acknowledged after ms: p50 {p50:.1f}, p99 {p99:.1f}", flush=True)
        ratio = statistics.median(one[0] / other[0] for one, other in zip(ours, theirs, strict=True))
        print(
            f"  ratio {ratio:.1f} {met(ratio >= GOAL_RATIO)} (goal: {GOAL_RATIO}); Prosody syncs "
            f"{chat_peer.syncs():.1f} times for each message", flush=True,
        )  # fmt: skip

    def throughput(self) -> None:
        """As fast as possible."""
        loads = {
            "pairs": (2 * PAIRS, ["--pairs", str(PAIRS)]),
            "groups of ten": (200, ["--groups", "20", "--group-size", "10"]),
        }
        print(f"\n{'messages':16}{'a second':>10}{'p50 ms':>10}{'p99 ms':>10}{'us of CPU':>11}   one listener each")
        for name, (users, shape) in loads.items():
            found, lags, rests = [], [], []
            for _ in range(self.options.rounds):
                with self.server(users) as (server, people):
                    with SearchLag(server) as lag:
                        found.append(self.as_fast_as_possible(server, people, shape))
                    lags.append(max(lag.seconds))
                    rests.append(lag.caught_up())
            pace = statistics.median(one["sentPerSecond"] for one in found)
            p50, p99 = (
                statistics.median(one["milliseconds"]["send to result"][point] for one in found)
                for point in ("p50", "p99")
            )
            cost = statistics.median(one["serverMicrosecondsPerWrite"] for one in found)
            print(
                f"{name:16}{pace:10.0f}{p50:10.1f}{p99:10.1f}{cost:11.0f}   {met(pace >= GOAL_PER_SECOND)} "
                f"(goal: {GOAL_PER_SECOND:,} a second); search behind by at most {statistics.median(lags):.1f} s, and "
                f"{statistics.median(rests):.1f} s more at the end", flush=True,
            )  # fmt: skip

    def cost(self) -> None:
        """The server's processor time for a message at shares of the highest rate, in pairs."""
        with self.server(2 * PAIRS) as (server, people):
            highest = self.as_fast_as_possible(server, people, ["--pairs", str(PAIRS)])
        costs = {1.0: (highest["sentPerSecond"], highest["serverMicrosecondsPerWrite"])}
        for share in SHARES:
            rate = round(share * highest["sentPerSecond"])
            with self.server(2 * PAIRS) as (server, people):
                more = ["--pairs", str(PAIRS), "--senders", "1", "--listeners", "1", "--rate", str(rate)]
                found = self.load(server, people, *more, "--duration", str(self.options.seconds))
            costs[share] = (found["sentPerSecond"], found["serverMicrosecondsPerWrite"])
        print("\nCPU for a message in pairs, one listener each:")
        for share, (pace, cost) in sorted(costs.items()):
            print(f"  {100 * share:3.0f} %{pace:8.0f} a second{cost:8.0f} us", flush=True)
        ratio = costs[min(SHARES)][1] / costs[1.0][1]
        print(f"  ratio of the lowest to the highest {ratio:.1f} {met(ratio <= 2)} (goal: 2)", flush=True)

    def queue(self) -> None:
        """What the SDK sends from its queue over a slow path."""
        program = self.options.binaries / "queue-benchmark"
        with self.server(0) as (server, _):
            lines = [
                subprocess.run(
                    [str(program), str(server.port), str(QUEUED)], check=True, capture_output=True, text=True
                ).stdout.strip()
                for _ in range(self.options.rounds)
            ]
        worst = max(int(line.split()[0]) for line in lines)
        print(f"\n{QUEUED} queued messages over 200 ms of round trip: {'; '.join(lines)}")
        print(f"  {met(worst <= GOAL_QUEUE)} (goal: {GOAL_QUEUE} ms)", flush=True)

    def crowd(self) -> None:
        with self.server(0) as (server, _):
            chat_crowds.crowd(server, self.options.members, self.options.online)

    def typing(self) -> None:
        with self.server(0) as (server, _):
            chat_crowds.typing(server)

    def latency(self) -> None:
        """At a steady rate, with ten listeners of each message, who mark what they have as read, or do not."""
        for receipts in ([], ["--receipts"]):
            self.latency_with(receipts)

    def latency_with(self, receipts: list[str]) -> None:
        found, lags = [], []
        for _ in range(self.options.rounds):
            with self.server(200) as (server, people), SearchLag(server) as lag:
                shape = ["--groups", "60", "--group-size", "10", "--rate", str(self.options.rate), *receipts]
                found.append(self.load(server, people, *shape, "--duration", str(self.options.seconds)))
            lags.append(max(lag.seconds))
        marked = ", and mark what they have as read once a second and with what they send" if receipts else ""
        print(f"\nat {self.options.rate} messages a second in groups of ten who all listen{marked}, ms:")
        for step in ("send to result", "send to received", *(["mark"] if receipts else [])):
            p50, p95, p99, longest = (
                statistics.median(one["milliseconds"][step][point] for one in found)
                for point in ("p50", "p95", "p99", "max")
            )
            line = f"  {step:18} p50 {p50:.1f}, p95 {p95:.1f}, p99 {p99:.1f}, longest {longest:.1f}"
            if step == "send to received":
                line += f"   {met(p50 <= GOAL_P50 and p99 <= GOAL_P99)} (goal: p50 {GOAL_P50}, p99 {GOAL_P99})"
            print(line, flush=True)
        print(f"  search behind by at most {statistics.median(lags):.1f} s", flush=True)

    def inbox(self) -> None:
        """Of one of two users who share so many groups, which come from another system, with all that is unread."""
        count, unread = self.options.conversations, self.options.unread
        with self.server(2) as (server, _):
            transfers.imported(server, transfers.write(server.directory / "old.jsonl", history(count, unread)))
            reader, writer = transfers.signed_in(server, "reader"), transfers.signed_in(server, "writer")
            stream = f"inbox:{reader.id}"
            opened, resumed, listed = [], [], []
            with RawSocket(server.port) as socket:
                socket.hello(reader)
                for turn in range(OPENINGS):
                    took, frame = listen(socket, stream, 10 * turn + 2)
                    opened.append(took)
                    rows = frame["snapshot"]["conversations"]
                    assert all(row["unread"] >= unread for row in rows), [row["unread"] for row in rows]
                    unlisten(socket, stream, 10 * turn + 3)
                    for row in rows[:CHANGED_ROWS]:
                        assert send(writer, row["id"], "more").status_code == 201
                    took, changes = listen(socket, stream, 10 * turn + 4, [frame["epoch"], frame["seq"]])
                    resumed.append(took)
                    assert len(changes["rows"]) == CHANGED_ROWS, len(changes["rows"])
                    unlisten(socket, stream, 10 * turn + 5)
                    since = time.monotonic()
                    assert reader.get("/v1/inbox", params={"limit": 50}).status_code == 200
                    listed.append(time.monotonic() - since)
        print(f"\nan inbox of {count} conversations with {unread} unread each, ms:")
        for name, times in [
            ("opened: 50 rows", opened), (f"resumed: {CHANGED_ROWS} changed rows", resumed),
            ("GET /v1/inbox, a new connection", listed),
        ]:  # fmt: skip
            print(f"  {name:34} p50 {statistics.median(times) * 1e3:.1f}, longest {max(times) * 1e3:.1f}", flush=True)

    def reconnect(self) -> None:
        """All sessions lose their connections at once and resume, while others write."""
        users = self.options.sessions
        pairs = ["--pairs", str(users // 2), "--listeners", "1"]
        self.storm(f"{users} sessions that lose their connections at once", pairs, "send to received")
        # Each is in a hundred groups of fifty, of which five have new messages from who does not lose the connection.
        groups = ["--groups", str(users * 100 // 50), "--group-size", "50", "--senders", "1", "--listeners", "0"]
        self.storm(
            f"{users - users // 50} of {users} sessions of 100 conversations each, five of which have moved in 5 s "
            "without a connection",
            [*groups, "--inbox-listeners", str(users), "--away", "5"], "send to inbox",
        )  # fmt: skip

    def storm(self, what: str, shape: list[str], arrival: str) -> None:
        with self.server(self.options.sessions) as (server, people):
            found = self.load(server, people, *shape, "--rate", "100", "--duration", "20", "--storm", "5")
        times, received = found["milliseconds"]["resume"], found["milliseconds"][arrival]
        print(
            f"\n{what}, are back after ms: p50 {times['p50']:.0f}, p99 {times['p99']:.0f}, "
            f"the last {times['max']:.0f}\n  meanwhile, 100 messages a second, {arrival}: "
            f"p50 {received['p50']:.1f}, p99 {received['p99']:.1f}, longest {received['max']:.1f}", flush=True,
        )  # fmt: skip


def history(conversations: int, unread: int) -> Iterator[transfers.Line]:
    yield from (transfers.user("reader"), transfers.user("writer"))
    for number in range(conversations):
        name = f"c{number}"
        group = transfers.group(name, ["writer", "reader"])
        yield from [*group[:-1], group[-1] | {"unread": True}]
        for message in range(unread):
            yield transfers.message(f"{name}-{message}", name, "writer", message * 60 + number)


def met(is_met: bool) -> str:
    return "met" if is_met else "missed"


def listen(socket: RawSocket, stream: str, id: int, after: list[Any] | None = None) -> tuple[float, dict[str, Any]]:
    """Seconds until the result, and the frame of the stream before it."""
    since = time.monotonic()
    socket.send({"id": id, "listen": {"stream": stream} | ({} if after is None else {"after": after})})
    found: dict[str, Any] = {}
    while True:
        frame = socket.message()
        if frame.get("stream") == stream:
            found = frame
        if frame.get("id") == id:
            assert "result" in frame, frame
            return time.monotonic() - since, found


def unlisten(socket: RawSocket, stream: str, id: int) -> None:
    socket.send({"id": id, "unlisten": {"stream": stream}})
    while socket.message().get("id") != id:
        pass


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--binaries", type=pathlib.Path, required=True)
    parser.add_argument("--only", choices=KINDS, action="append")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", type=int, default=1_000)
    parser.add_argument("--sessions", type=int, default=5_000)
    parser.add_argument("--conversations", type=int, default=1_000)
    parser.add_argument("--unread", type=int, default=999)
    parser.add_argument("--members", type=int, default=10_000)
    parser.add_argument("--online", type=int, default=1_000)
    options = parser.parse_args()
    switchboard_tests.server.BINARY = (options.binaries / "switchboard").resolve()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    print(f"{os.uname().machine}, {os.cpu_count()} cores, load before: {os.getloadavg()[0]:.1f}")
    bench = Bench(options)
    for kind in options.only or KINDS:
        getattr(bench, kind)()


if __name__ == "__main__":
    main()
