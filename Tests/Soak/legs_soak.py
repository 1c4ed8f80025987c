"""A soak of media gateway legs: calls of two to six, by `switchboard-load media`.

Each turn is a process whose participants publish audio and video over every SRTP profile, reload their page or leave
and rejoin their call all the while, some among forged and replayed packets, and leave in the end. Every fourth process
is killed in the middle: no leg is closed, and the server has to detect that.
"""

from __future__ import annotations

import json
import math
import pathlib
import random
import re
import subprocess
import tempfile
import threading
import time

import switchboard_tests.server
from rest import MODEST, Rest, metrics
from switchboard_tests.server import Server

PROFILES = ["AEAD-AES-128-GCM", "AEAD-AES-256-GCM", "AES128-CM-SHA1-80"]
KILLED_OF = 4
# Enough users that nobody is invited while an earlier call, whose process was killed, has not expired.
USERS = 300
# Access tokens last 15 minutes.
TOKEN_SECONDS = 300
# A leg is dropped 30 seconds after its last packet, and so is its participant.
LAPSE_SECONDS = 120
# Metrics that are above zero while somebody is in a call.
OCCUPIED = re.compile(
    r"switchboard_(gateway_(legs|connected_legs|calls|tracks|flows|connections)|calls_(joined_participants|deadlines))"
    r"(\{|$)"
)
LIMITS = {"callsPerMinute": 1_000_000, "signalsPerMinute": 1_000_000, "requestsPerMinute": 10_000_000}


def kernel_drops() -> int:
    """Datagrams dropped by full socket buffers, on the whole machine since it booted."""
    lines = pathlib.Path("/proc/net/snmp").read_text().splitlines()
    names, values = (line.split() for line in lines if line.startswith("Udp:"))
    return int(values[names.index("RcvbufErrors")])


class Watch:
    """Detects an overloaded machine: losses under overload prove nothing about the server."""

    # The share of the time in which some process waited for a core.
    BUSY = 0.8

    def __init__(self):
        self.began, self.drops, self.waited = time.monotonic(), kernel_drops(), self.waiting()

    @staticmethod
    def waiting() -> float:
        """Seconds that processes waited for a core, since the machine booted."""
        pressure = pathlib.Path("/proc/pressure/cpu")
        if not pressure.exists():
            return 0
        return int(pressure.read_text().splitlines()[0].rpartition("total=")[2]) / 1e6

    def starved(self) -> bool:
        share = (self.waiting() - self.waited) / max(0.001, time.monotonic() - self.began)
        return kernel_drops() > self.drops or share > self.BUSY


class LegSoak:
    def __init__(self, directory: pathlib.Path, rng: random.Random):
        self.rng = rng
        self.load = switchboard_tests.server.BINARY.with_name("switchboard-load")
        self.server = Server(directory, MODEST | {"limits": LIMITS, "log": {"level": "warning"}})
        self.lock = threading.Lock()
        self.people: list[str] = []
        self.next = 0
        self.made = -math.inf
        self.finished, self.killed, self.starved, self.joined, self.left, self.forwarded = 0, 0, 0, 0, 0, 0
        self.problems: list[str] = []

    def __enter__(self):
        self.server.start()
        return self

    def __exit__(self, *_):
        if self.server.process.poll() is None:
            self.server.stop()

    def crowd(self, count: int) -> list[str]:
        """The users whose last call was the longest ago, as lines with their tokens."""
        if time.monotonic() > self.made + TOKEN_SECONDS:
            self.people = self.server.command("token", "--count", str(USERS), "--prefix", "soak").splitlines()
            self.made = time.monotonic()
        first, self.next = self.next, (self.next + count) % USERS
        return (self.people[first:] + self.people)[:count]

    def turn(self) -> None:
        """One run of the load, to its end or until it is killed."""
        with self.lock:
            pick = self.rng
            calls, participants = pick.randint(1, 2), pick.randint(2, 6)
            options = [
                "--calls", str(calls), "--participants", str(participants),
                # All published tracks have a slot, so that a gap is a loss and not a change of speakers.
                "--publishers", str(pick.randint(2, min(participants, 5))),
                "--seconds", str(pick.randint(3, 15)), "--join-leave", f"{pick.uniform(0.2, 2):.1f}",
                "--profile", pick.choice(PROFILES),
            ]  # fmt: skip
            if pick.randrange(4) > 0:
                options += ["--video", "--bitrate", str(pick.choice([100, 200, 300]))]
            if pick.randrange(4) == 0:
                options += ["--junk", str(pick.randint(1, 50))]
            is_killed = pick.randrange(KILLED_OF) == 0
            moment = pick.uniform(0.1, 10)
            crowd = self.crowd(calls * participants)
        with tempfile.TemporaryDirectory() as name:
            users, report_path = pathlib.Path(name, "users"), pathlib.Path(name, "figures")
            users.write_text("\n".join(crowd) + "\n")
            watch = Watch()
            process = subprocess.Popen(
                [str(self.load), "media", "--server", self.server.url, "--tokens", str(users), *options,
                 "--json", str(report_path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            )  # fmt: skip
            if is_killed:
                try:
                    process.wait(moment)
                except subprocess.TimeoutExpired:
                    process.kill()
                process.communicate()
                self.killed += 1
                return
            output = process.communicate()[0]
            self.finished += 1
            if process.returncode != 0 or not report_path.exists():
                self.report_problem(f"{' '.join(options)}: ended with {process.returncode}: {output[-600:]}", watch)
                return
            found = json.loads(report_path.read_text())
        with self.lock:
            self.joined += found["joined"]
            self.left += found["left"]
            self.forwarded += found["forwarded"]
        lost = {kind: found[kind]["lost"] for kind in ("audioStreams", "videoStreams") if found[kind]["lost"] > 0}
        if lost:
            self.report_problem(f"{' '.join(options)}: lost {lost} of {found['forwarded']} packets", watch)

    def report_problem(self, what: str, watch: Watch) -> None:
        if watch.starved():
            self.starved += 1
            print(f"  ignored, since the machine was overloaded: {what}", flush=True)
            return
        print(f"  {what}", flush=True)
        self.problems.append(what)

    def rest(self) -> Rest:
        deadline = time.monotonic() + LAPSE_SECONDS
        while True:
            metric_values = metrics(self.server).items()
            left = {name: int(value) for name, value in metric_values if value > 0 and OCCUPIED.match(name)}
            if not left:
                # Wait until connections of killed clients are closed.
                time.sleep(5)
                return Rest(self.server)
            if time.monotonic() > deadline:
                raise SystemExit(f"soak: state is left without participants: {left}")
            time.sleep(1)

    def summary(self) -> str:
        text = (
            f"{self.finished} programs finished, {self.killed} were killed, {self.starved} starved; "
            f"{self.joined} legs joined and {self.left} left in those that finished, {self.forwarded} packets forwarded"
        )
        metric_values = metrics(self.server)
        for start in ("switchboard_gateway_legs_ended_total", "switchboard_gateway_dropped_total"):
            some = {name: int(value) for name, value in metric_values.items() if name.startswith(start) and value > 0}
            reasons = {name.split('"')[1]: value for name, value in some.items()}
            text += f"\n  {start}: {reasons}"
        return text
