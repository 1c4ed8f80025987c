"""Loads for a relay, measured with the kernel's statistics."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time

from relay_servers import PASSWORD, PEER_PORT, PORT, USER, Servers
from switchboard_tests import stun

PAYLOAD = 160
# Debian's uses the channel numbers of RFC 5766, which newer servers reject.
UCLIENT = os.environ.get("UCLIENT", "turnutils_uclient")


def cpu_seconds(pid: int) -> float:
    """The CPU time of all threads, with nanosecond resolution."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


def ticks(pid: int) -> tuple[int, int]:
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]), int(fields[12])


def resident_kilobytes(pid: int) -> int:
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text()).group(1))


def load(network, pid: int, transport: list[str], allocations: int, interval: int, packets: int) -> dict[str, float]:
    """One uclient run. `interval` is milliseconds between a client's packets; 0 is as fast as it can.

    Counts from the first report of uclient with packets in it to its last, so that making allocations is left out.
    """
    with network.at_clients():
        process = subprocess.Popen(
            ["stdbuf", "-oL", UCLIENT, "-u", USER, "-w", PASSWORD, "-p", str(PORT), "-r", str(PEER_PORT),
             "-e", network.peer, "-X", "-c", *transport, "-m", str(allocations), "-z", str(interval), "-n",
             str(packets), "-l", str(PAYLOAD), network.server],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
    samples, totals, lines = [], (0, 0), []
    for line in process.stdout:
        lines.append(line)
        if found := re.search(r"tot_send_msgs=(\d+), tot_recv_msgs=(\d+)", line):
            totals = int(found.group(1)), int(found.group(2))
            if "msz=" in line and 0 < totals[0] < allocations * packets:
                samples.append((sum(totals), cpu_seconds(pid), ticks(pid), time.monotonic()))
    process.wait()
    if len(samples) < 2:
        raise SystemExit("turnutils_uclient had no two reports, give it more seconds:\n" + "".join(lines[-20:]))
    first, last = samples[0], samples[-1]
    relayed = last[0] - first[0]
    user, system = (b - a for a, b in zip(first[2], last[2]))
    return {
        "microseconds": (last[1] - first[1]) * 1e6 / relayed, "user": user, "ticks": user + system,
        "lost": 100 * (totals[0] - totals[1]) / max(1, totals[0]), "pps": relayed / (last[3] - first[3]),
    }


def residence(servers: Servers, kind: str, allocations: int, interval: int, packets: int) -> dict[str, float]:
    """Microseconds from a packet's arrival to its departure, by the kernel's timestamps, under a load over UDP."""
    with servers.start(kind) as process:
        with servers.network.at_server():
            tap = subprocess.Popen(
                [f"{servers.binaries}/residence", str(PORT), str(PEER_PORT), str(PAYLOAD)], stdout=subprocess.PIPE,
                text=True,
            )
        try:
            if tap.stdout.readline() != "ready\n":
                raise SystemExit("measuring residence needs root for a packet socket")
            under = load(servers.network, process.pid, [], allocations, interval, packets)
            tap.send_signal(signal.SIGTERM)
            found = json.loads(tap.stdout.readline())
        finally:
            tap.kill()
            tap.wait()
    if found["packets"] == 0:
        raise SystemExit(f"no packet was seen to pass {kind}: {found}")
    return found | {"pps": under["pps"]}


def allocating(servers: Servers, pid: int, count: int) -> dict[str, float]:
    """CPU time for an allocation (401, Allocate, Refresh that ends it), and memory for each of `count` idle ones."""
    def client() -> stun.Client:
        return stun.Client(servers.network.server, PORT, USER, PASSWORD, local=servers.network.client)

    with servers.network.at_clients():
        # None is closed before the end: coturn rejects a port that is reused too soon.
        clients = [client() for _ in range(2 * count)]
        spent = cpu_seconds(pid)
        for one in clients[:count]:
            one.allocate()
            one.request(stun.REFRESH, stun.attribute(stun.LIFETIME, bytes(4)))
        spent = cpu_seconds(pid) - spent

        before = resident_kilobytes(pid)
        for one in clients[count:]:
            one.allocate()
        growth = resident_kilobytes(pid) - before
        for one in clients:
            one.close()
    return {"microseconds": spent * 1e6 / count, "bytes": growth * 1024 / count}


def unauthenticated(servers: Servers, pid: int, count: int) -> float:
    """Leaked bytes per source that sent a Binding and an Allocate without credentials, and got the responses."""
    def ask(numbers: range) -> None:
        for _ in numbers:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
                one.settimeout(1)
                for method, body in (1, b""), (stun.ALLOCATE, stun.attribute(stun.TRANSPORT, b"\x11\0\0\0")):
                    one.sendto(stun.message(method, os.urandom(12), body), (servers.network.server, PORT))
                    one.recv(1500)

    with servers.network.at_clients():
        # Shared state and first-time allocations are made before measuring.
        ask(range(count // 10))
        before = resident_kilobytes(pid)
        ask(range(count))
        return (resident_kilobytes(pid) - before) * 1024 / count
