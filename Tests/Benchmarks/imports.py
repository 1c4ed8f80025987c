"""Imports a history while messages are sent at a steady rate, and prints how fast it is and what it costs the sends."""

from __future__ import annotations

import argparse
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Tests" / "PythonSupport"))

import httpx
import switchboard_tests.server
from switchboard_tests import transfers
from switchboard_tests.conversations import befriend, direct
from switchboard_tests.endpoint import client_id
from switchboard_tests.server import Server, User

GOAL_SECONDS, GOAL_P99, GOAL_WINDOW = 300, 100, 20
# Of a conversation that was imported.
WINDOWS = 300
# Of sends without an import.
ALONE_SECONDS = 10
UNLIMITED = {"messagesPerMinute": 10_000_000, "requestsPerMinute": 10_000_000}
WORDS = ["one", "two", "three", "four", "hello", "there", "thanks", "tomorrow", "please", "meeting"]


def lines(messages: int, conversations: int) -> Iterator[transfers.Line]:
    """Conversations of two, each with its users, and messages of a few words."""
    rng = random.Random(1)
    for n in range(conversations):
        names = f"a{n}", f"b{n}"
        for name in names:
            yield transfers.user(name)
        yield transfers.direct(f"c{n}", *names)
        for m in range(messages // conversations):
            text = " ".join(rng.choices(WORDS, k=rng.randint(3, 24)))
            yield transfers.message(f"c{n}-{m}", f"c{n}", names[m % 2], m * 60 + n, text=text)


class Sends:
    """Messages at a steady rate over one connection for each of a few threads, until `stop`."""

    THREADS = 8

    def __init__(self, user: User, conversation: str, rate: int) -> None:
        self.user, self.conversation, self.rate = user, conversation, rate
        self.milliseconds: list[float] = []
        self.ended = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(n,)) for n in range(self.THREADS)]
        for thread in self.threads:
            thread.start()

    def run(self, number: int) -> None:
        due = time.monotonic() + number / self.rate
        with httpx.Client(base_url=self.user.server.url, headers=self.user.headers, timeout=60) as client:
            while not self.ended.wait(max(0, due - time.monotonic())):
                body = {"clientID": client_id(), "text": "a live message"}
                response = client.post(f"/v1/conversations/{self.conversation}/messages", json=body)
                assert response.status_code == 201, response.text
                # From when it was due: a stall delays those behind it too.
                self.milliseconds.append(1000 * (time.monotonic() - due))
                due += self.THREADS / self.rate

    def stop(self) -> str:
        self.ended.set()
        for thread in self.threads:
            thread.join()
        cuts = statistics.quantiles(self.milliseconds, n=100)
        return f"{len(self.milliseconds)} sends, p50 {cuts[49]:.1f} ms, p99 {cuts[98]:.1f} ms"


def windows(user: User, messages: int) -> None:
    """The newest window of a conversation, over one connection."""
    (row,) = transfers.inbox(user)
    took = []
    with httpx.Client(base_url=user.server.url, headers=user.headers, timeout=60) as client:
        for _ in range(WINDOWS):
            since = time.monotonic()
            page = client.get(f"/v1/conversations/{row['id']}/messages", params={"limit": 50})
            took.append(1000 * (time.monotonic() - since))
            assert len(page.json()["messages"]) == 50, page.text
    p95 = statistics.quantiles(took, n=20)[18]
    print(
        f"the newest 50 of a conversation of {messages:,} messages: p50 {statistics.median(took):.1f} ms, "
        f"p95 {p95:.1f} ms; the goal is a p95 of {GOAL_WINDOW} ms"
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--binaries", type=pathlib.Path, required=True)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--conversations", type=int, default=1000)
    parser.add_argument("--rate", type=int, default=50)
    options = parser.parse_args()
    switchboard_tests.server.BINARY = (options.binaries / "switchboard").resolve()
    print(f"{os.uname().machine}, {os.cpu_count()} cores, load before: {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as path:
        directory = pathlib.Path(path)
        file = transfers.write(directory / "old.jsonl", lines(options.messages, options.conversations))
        server = Server(directory, {"limits": UNLIMITED, "log": {"level": "notice"}})
        server.start()
        try:
            one, other = befriend(*server.users(2))
            here = direct(one, other)
            alone = Sends(one, here, options.rate)
            time.sleep(ALONE_SECONDS)
            print(f"alone: {alone.stop()}")
            beside = Sends(one, here, options.rate)
            start = time.monotonic()
            command = transfers.command(server, "import", file, "--source", "old")
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL, cwd=directory)
            seconds = time.monotonic() - start
            print(f"beside the import: {beside.stop()}; the goal is a p99 of {GOAL_P99} ms")
            windows(transfers.signed_in(server, "a0"), options.messages // options.conversations)
        finally:
            server.kill()
    rate = options.messages / seconds
    print(f"{options.messages} messages of {options.conversations} conversations in {seconds:.1f} s:")
    print(f"{rate:.0f} a second, a million in {1_000_000 / rate:.0f} s; the goal is {GOAL_SECONDS} s")


if __name__ == "__main__":
    main()
