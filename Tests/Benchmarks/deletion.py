"""Runs the same load of calls without and with the deletion of a user with a long history, and prints its cost for the
others."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Tests" / "PythonSupport"))

import switchboard_tests.server
from switchboard_tests import histories
from switchboard_tests.server import Server

USERS = 200
GOAL_TIMES, GOAL_SECONDS = 2, 60
# The deletion begins when the load is steady.
LEAD = 3
UNLIMITED = {"callsPerMinute": 1_000_000, "signalsPerMinute": 1_000_000, "requestsPerMinute": 10_000_000}


def erase(server: Server, user: str, taken: list[float]) -> None:
    time.sleep(LEAD)
    server.command("account", "delete", user, "--yes")
    start = time.monotonic()
    while "a deleted account was erased" not in server.log_tail():
        time.sleep(0.05)
        if time.monotonic() - start > 2 * GOAL_SECONDS:
            return
    taken.append(time.monotonic() - start)


def measured(options: argparse.Namespace, load: pathlib.Path, is_deleted: bool) -> tuple[dict[str, float], list[float]]:
    """The p99 of each step in milliseconds, and how long the erasure took."""
    with tempfile.TemporaryDirectory() as path:
        directory = pathlib.Path(path)
        server = Server(directory, {"limits": UNLIMITED, "log": {"level": "notice"}})
        server.start()
        try:
            deleted, other = server.users(2)
            server.stop()
            people = [(deleted.id, "Zenobia Wintergreen"), (other.id, "Benedict Wintergreen")]
            histories.add_calls(server.data / "switchboard.sqlite", people, options.calls)
            server.start()
            (directory / "users").write_text(server.command("token", "--count", str(USERS)))
            taken: list[float] = []
            thread = threading.Thread(target=erase, args=(server, deleted.id, taken))
            if is_deleted:
                thread.start()
            report = directory / "report.json"
            subprocess.run(
                [str(load), "calls", "--server", server.url, "--users", str(USERS), "--tokens",
                 str(directory / "users"), "--duration", str(options.seconds), "--rate", str(options.rate), "--json",
                 str(report)], check=True, stdout=subprocess.DEVNULL,
            )  # fmt: skip
            if is_deleted:
                thread.join()
        finally:
            if server.process is not None:
                server.kill()
        document = json.loads(report.read_text())
        if document["errors"]:
            print(f"errors: {document['errors']}", file=sys.stderr)
        return {name: step["p99"] for name, step in document["milliseconds"].items() if step["count"]}, taken


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--binaries", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--rate", type=int, default=30)
    parser.add_argument("--calls", type=int, default=10_000)
    options = parser.parse_args()
    switchboard_tests.server.BINARY = (options.binaries / "switchboard").resolve()
    load = (options.binaries / "switchboard-load").resolve()
    print(f"{os.uname().machine}, {os.cpu_count()} cores, load before: {os.getloadavg()[0]:.1f}")
    results: dict[bool, list[dict[str, float]]] = {False: [], True: []}
    seconds: list[float] = []
    for _ in range(options.rounds):
        for is_deleted in (False, True):
            times, erased = measured(options, load, is_deleted)
            results[is_deleted].append(times)
            seconds += erased
    print(f"\n{'p99 in ms':16}{'without':>10}{'with':>10}{'ratio':>8}")
    ratios = []
    for step in results[False][0]:
        without, with_deletion = (
            statistics.median(times[step] for times in results[which] if step in times) for which in (False, True)
        )
        ratios.append(with_deletion / without)
        print(f"{step:16}{without:10.2f}{with_deletion:10.2f}{ratios[-1]:8.2f}")
    median = statistics.median(ratios)
    taken = max(seconds, default=float("inf"))
    print(f"\nmedian ratio {median:.2f} (goal: at most {GOAL_TIMES})")
    print(f"erased {options.calls} calls in {taken:.1f} s at most (goal: less than {GOAL_SECONDS})")
    if median > GOAL_TIMES or taken > GOAL_SECONDS:
        sys.exit("bench/deletion: a goal is missed")


if __name__ == "__main__":
    main()
