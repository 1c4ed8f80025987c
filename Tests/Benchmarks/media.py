"""Runs switchboard-load media alternately against Janus and our gateway, and prints the cost of forwarding."""

from __future__ import annotations

import argparse
import os
import statistics

from media_servers import Servers
from media_shares import Shares

KINDS = ["janus", "switchboard"]
LOADS = {
    "audio, 100 calls of two": ["--calls", "100", "--participants", "2"],
    "audio, 10 calls of ten": ["--calls", "10", "--participants", "10", "--publishers", "5"],
    "video, 5 calls of four at 1 Mbit/s": ["--calls", "5", "--participants", "4", "--video", "--bitrate", "1000"],
}
# About half of the capacity of a processor that the server has for itself: the residence time of packets without
# waiting for the CPU.
APART = {
    "residence, 20 calls of ten": ["--calls", "20", "--participants", "10", "--publishers", "5"],
    "residence, video, 20 calls of four at 1 Mbit/s": [
        "--calls",
        "20",
        "--participants",
        "4",
        "--video",
        "--bitrate",
        "1000",
    ],
}


def people(load: list[str]) -> int:
    return int(load[1]) * int(load[3])


def median(runs: list[dict], key) -> float:
    return statistics.median(key(run) for run in runs)


def by_turns(servers: Servers, load: list[str], options) -> dict[str, list[dict]]:
    """Alternates, so that other work on the machine affects each kind alike."""
    results: dict[str, list[dict]] = {kind: [] for kind in KINDS}
    for _ in range(options.rounds):
        for kind in KINDS:
            with servers.start(kind, people(load)) as (process, reach):
                more = [*reach, *load, "--seconds", str(options.seconds), "--profile", options.profile]
                results[kind].append(servers.load(process, more))
    return results


def residence(runs: list[dict], load: list[str]) -> str:
    streams = "videoStreams" if "--video" in load else "audioStreams"
    p50, p99 = (median(runs, lambda run: run[streams]["residenceMicroseconds"][point]) for point in ("p50", "p99"))
    return f"in the server p50 {p50:.0f} us, p99 {p99:.0f} us"


def show_residence(name: str, results: dict[str, list[dict]], load: list[str]) -> None:
    print(f"\n{name}")
    for kind, runs in results.items():
        share = median(runs, lambda run: run["serverShareOfCore"])
        print(f"  {kind:12} {residence(runs, load)}, with {share:.0%} of its processor")


def show(name: str, results: dict[str, list[dict]], load: list[str]) -> None:
    cost = lambda run: run["serverMicrosecondsPerPacket"]
    print(f"\n{name}")
    for kind, runs in results.items():
        lost = sum(run["audioStreams"]["lost"] + run["videoStreams"]["lost"] for run in runs)
        print(
            f"  {kind:12} {median(runs, cost):6.2f} us/packet "
            f"({median(runs, lambda run: run['serverUserMicrosecondsPerPacket']):.2f} user), "
            f"{1e6 / median(runs, cost):8.0f} packets for each second of a core, "
            f"{median(runs, lambda run: run['forwardedPerSecond']):7.0f} packets/s, {lost} lost"
        )
        print(
            f"  {'':12} {residence(runs, load)}; offer to media p50 "
            f"{median(runs, lambda run: run['firstPacketMicroseconds']['p50']) / 1000:.0f} ms; "
            f"{median(runs, lambda run: run['serverMemoryPerParticipant']) / 1024:.0f} KiB for each participant"
            + (f"; {int(load[1]) / median(runs, lambda run: run['serverShareOfCore']):.0f} calls for a core"
               if int(load[3]) == 2 else ""))
    pairs = [cost(ours) / cost(theirs) for ours, theirs in zip(results["switchboard"], results["janus"])]
    print(
        f"  switchboard / janus: {statistics.median(pairs):.2f} ({min(pairs):.2f} to {max(pairs):.2f}), goal: at "
        "most 0.5"
    )


def show_shares(servers: Servers, load: list[str], options) -> None:
    shares = Shares()
    with servers.start("switchboard", people(load)) as (process, reach), shares.sampling(process):
        run = servers.load(process, [*reach, *load, "--seconds", str(options.seconds), "--profile", options.profile])
    kinds, functions = shares.read(run, "gateway")
    print(
        "  switchboard  "
        + ", ".join(f"{share:.0%} {kind}" for kind, share in sorted(kinds.items(), key=lambda pair: -pair[1]))
    )
    if options.functions:
        for share, symbol in functions:
            print(f"    {share:6.1%} {symbol[:150]}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--binaries", required=True, help="where switchboard and switchboard-load are")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--profile", default="AEAD-AES-128-GCM")
    parser.add_argument("--only", help="a part of the names of the loads to run")
    parser.add_argument("--shares", action="store_true", help="what the time goes to, too, by perf")
    parser.add_argument("--functions", action="store_true", help="and the functions that took most")
    options = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, {options.profile}")
    servers = Servers(options.binaries)
    for name, load in LOADS.items():
        if not options.only or options.only in name:
            show(name, by_turns(servers, load, options), load)
            if options.shares or options.functions:
                show_shares(servers, load, options)
    with servers.apart():
        for name, load in APART.items():
            if not options.only or options.only in name:
                show_residence(name, by_turns(servers, load, options), load)


if __name__ == "__main__":
    main()
