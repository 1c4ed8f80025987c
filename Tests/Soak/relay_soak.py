"""A soak of relay allocations: coturn's client over every transport, every fourth one killed in the middle."""

from __future__ import annotations

import pathlib
import random
import re
import subprocess
import threading
import time

from rest import MODEST, Rest, metrics
from switchboard_tests.certificates import self_signed
from switchboard_tests.ports import free_port
from switchboard_tests.server import Server

USER, PASSWORD = "alice", "wonderland"
TRANSPORTS = {"udp": [], "tcp": ["-t"], "tls": ["-t", "-S"], "dtls": ["-S"]}
MODES = [["-c"], ["-c", "-s"], ["-y", "-c"], ["-y", "-c", "-s"], [], ["-D", "-c"], ["-G", "-c"]]
KILLED_OF = 4
# turnutils_uclient asks for 777 seconds.
EXPIRY_SECONDS = 900


class RelaySoak:
    def __init__(self, directory: pathlib.Path, rng: random.Random):
        self.rng = rng
        self.tls_port = free_port()
        certificate, key = self_signed(directory)
        self.server = Server(
            directory, {
                "http": MODEST["http"],
                "relay": {
                    "tlsPorts": [self.tls_port], "certificate": str(certificate), "privateKey": str(key),
                    "limits": MODEST["relay"]["limits"] | {"allocationsPerUser": 10_000},
                },
                "log": {"level": "warning"},
            },
        )  # fmt: skip
        self.lock = threading.Lock()
        self.finished, self.killed = 0, 0
        self.problems: list[str] = []

    def __enter__(self):
        self.server.start()
        self.echo = free_port()
        self.peer = subprocess.Popen(
            ["turnutils_peer", "-L", "127.0.0.1", "-p", str(self.echo)], stdout=subprocess.DEVNULL
        )
        return self

    def __exit__(self, *_):
        self.peer.kill()
        self.peer.wait()
        self.server.stop()

    def turn(self) -> None:
        """One run of turnutils_uclient, to its end or until it is killed."""
        with self.lock:
            transport = self.rng.choice(list(TRANSPORTS))
            # Between two of its own clients over TLS, this one loses packets against coturn's own server too.
            mode = self.rng.choice([mode for mode in MODES if transport != "tls" or "-y" not in mode])
            clients, packets = self.rng.randint(2, 30) // 2 * 2, self.rng.randint(50, 400)
            is_killed = self.rng.randrange(KILLED_OF) == 0
            moment = self.rng.uniform(0.5, 6)
        port = self.tls_port if "-S" in TRANSPORTS[transport] else self.server.relay_port
        command = [
            "turnutils_uclient", "-u", USER, "-w", PASSWORD, "-p", str(port), "-e", "127.0.0.1", "-r", str(self.echo),
            "-X", *TRANSPORTS[transport], *mode, "-m", str(clients), "-n", str(packets), "-l", "200", "-z", "20",
            "127.0.0.1",
        ]  # fmt: skip
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if is_killed:
            time.sleep(moment)
            process.kill()
            process.communicate()
            self.killed += 1
            return
        output = process.communicate()[0]
        found = re.search(r"Total lost packets (\d+)", output)
        if found is None or int(found.group(1)) > 0:
            self.problems.append(f"{' '.join(command)}: {found.group(0) if found else output[-300:]}")
        self.finished += 1

    def allocations(self) -> int:
        return sum(
            int(value) for name, value in metrics(self.server).items()
            if re.match(r"switchboard_relay_allocations(\{|$)", name)
        )  # fmt: skip

    def rest(self) -> Rest:
        deadline = time.monotonic() + EXPIRY_SECONDS
        while self.allocations() > 0:
            if time.monotonic() > deadline:
                raise SystemExit(f"soak: {self.allocations()} allocations did not expire")
            time.sleep(1)
        # Ports reserved by RESERVATION-TOKENs are released after 30 seconds.
        time.sleep(35)
        return Rest(self.server)

    def summary(self) -> str:
        return f"{self.finished} clients finished, {self.killed} were killed"
