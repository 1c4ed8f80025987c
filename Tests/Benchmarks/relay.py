"""Runs turnutils_uclient alternately against coturn, our relay and a bare forwarder, and prints the CPU time per
relayed packet, over UDP, TCP and TLS; then the residence time of packets, and the cost of an allocation in time and
memory.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import tempfile

import relay_servers
from relay_loads import allocating, load, residence, unauthenticated

# 100 clients send every 20 ms; 10 send as fast as they can.
GENTLE, FULL = (100, 20), (10, 0)
ROUNDS_OF_SATURATION = 5_000


def median(runs: list[dict[str, float]], key: str) -> float:
    return statistics.median(run[key] for run in runs)


def by_turns(kinds: list[str], rounds: int, run) -> dict[str, list[dict[str, float]]]:
    """Alternates, so that other work on the machine affects each kind alike."""
    results: dict[str, list[dict[str, float]]] = {kind: [] for kind in kinds}
    for _ in range(rounds):
        for kind in kinds:
            results[kind].append(run(kind))
    return results


def ratios(results: dict[str, list[dict[str, float]]], kind: str, other: str) -> str:
    """The median of the ratios of consecutive runs, with its range."""
    pairs = [a["microseconds"] / b["microseconds"] for a, b in zip(results[kind], results[other])]
    return f"{statistics.median(pairs):.2f} ({min(pairs):.2f} to {max(pairs):.2f})"


def processor_time(servers, name, kinds, transport, shape, packets, rounds, goals) -> None:
    def run(kind: str) -> dict[str, float]:
        with servers.start(kind) as process:
            clients, interval = shape
            return load(servers.network, process.pid, transport, clients, interval, packets)

    results = by_turns(kinds, rounds, run)
    print(f"\n{name}")
    for kind, runs in results.items():
        cost = median(runs, "microseconds")
        user = sum(run["user"] for run in runs) / max(1, sum(run["ticks"] for run in runs))
        print(f"  {kind:14} {cost:6.2f} us/packet ({user:.0%} user), {median(runs, 'pps'):8.0f} packets/s, "
              f"{1e6 / cost:8.0f} for each second of a worker, {median(runs, 'lost'):.3f} % lost")
    for (kind, other), goal in goals.items():
        if kind in results and other in results:
            print(f"  {kind} / {other}: {ratios(results, kind, other)}" + (f", goal: at most {goal}" if goal else ""))


def residences(servers, options) -> None:
    def saturated() -> float:
        with servers.start("coturn") as process:
            return load(servers.network, process.pid, [], *FULL, ROUNDS_OF_SATURATION * 5)["pps"]

    # Each of these clients sends every millisecond, and each packet is relayed twice.
    half = max(1, round(saturated() / 2 / 2 / 1000))
    for name, shape, packets in (
        ("100 allocations x 50/s", GENTLE, 50 * options.seconds),
        ("half of what saturates coturn", (half, 1), 1000 * options.seconds),
    ):
        def run(kind: str) -> dict[str, float]:
            return residence(servers, kind, *shape, packets)

        results = by_turns(["coturn", "bare", "switchboard"], options.rounds, run)
        print(f"\nresidence, UDP, {name}")
        for kind, runs in results.items():
            print(f"  {kind:14} p50 {median(runs, 'p50'):6.1f} us, p99 {median(runs, 'p99'):7.1f} us, "
                  f"{median(runs, 'pps'):8.0f} packets/s; {sum(run['packets'] for run in runs)} packets matched, "
                  f"{sum(run['unmatched'] + run['missed'] for run in runs)} not")


def allocations(servers, options) -> None:
    def run(kind: str) -> dict[str, float]:
        with servers.start(kind) as process:
            return allocating(servers, process.pid, 400) | {"leaked": unauthenticated(servers, process.pid, 5_000)}

    results = by_turns(["coturn", "switchboard"], options.rounds, run)
    print("\nallocating (goals: at most 50 us, at most 4096 bytes, 0 bytes)")
    for kind, runs in results.items():
        print(f"  {kind:14} {median(runs, 'microseconds'):6.1f} us for 401, Allocate and Refresh(0), "
              f"{median(runs, 'bytes'):.0f} bytes for an idle allocation, "
              f"{median(runs, 'leaked'):.0f} for a source without credentials")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--binaries", required=True, help="where relay-alone, bare-forwarder and residence are")
    parser.add_argument("--turnserver", required=True)
    parser.add_argument("--network", choices=relay_servers.NETWORKS, default="loopback")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--only", help="a part of the names of the loads to run")
    options = parser.parse_args()
    wants = lambda name: not options.only or options.only in name
    gentle, full = (GENTLE, 50 * options.seconds), (FULL, ROUNDS_OF_SATURATION * options.seconds)
    udp, streams = ["coturn", "bare", "switchboard"], ["coturn", "switchboard"]
    loads = {
        "UDP, 100 allocations x 50/s": (udp, [], *gentle, {
            ("switchboard", "coturn"): 0.5, ("switchboard", "bare"): 1.15, ("bare", "coturn"): None}),
        "UDP, saturation": ([*udp, "each by itself"], [], *full, {
            ("switchboard", "coturn"): 0.9, ("each by itself", "coturn"): 0.9, ("switchboard", "bare"): 1.15,
            ("each by itself", "bare"): 1.15, ("bare", "coturn"): None}),
        "TCP, 100 allocations x 50/s": (streams, ["-t"], *gentle, {("switchboard", "coturn"): None}),
        "TCP, saturation": (streams, ["-t"], *full, {("switchboard", "coturn"): None}),
        "TLS, 100 allocations x 50/s": (streams, ["-t", "-S"], *gentle, {("switchboard", "coturn"): None}),
    }
    print(f"{options.network}, load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    network = relay_servers.NETWORKS[options.network]()
    with contextlib.closing(network), tempfile.TemporaryDirectory() as directory:
        pem = relay_servers.certificate(directory)
        servers = relay_servers.Servers(network, options.binaries, options.turnserver, pem)
        with servers.peer():
            for name, (kinds, transport, shape, packets, goals) in loads.items():
                if wants(name):
                    processor_time(servers, name, kinds, transport, shape, packets, options.rounds, goals)
            if wants("residence"):
                residences(servers, options)
            if wants("allocating"):
                allocations(servers, options)


if __name__ == "__main__":
    main()
