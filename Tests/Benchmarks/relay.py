"""Runs turnutils_uclient against coturn and against our relay by turns, and prints CPU time for each relayed packet."""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import re
import socket
import statistics
import subprocess
import time

PORT, PEER_PORT = 34781, 34791
USER, PASSWORD, REALM = "bench", "benchmark", "bench"


def wait_until_answers(port: int) -> None:
    """Waits until a STUN Binding is answered, or turnutils_peer echoes."""
    request = bytes.fromhex("000100002112a442") + os.urandom(12)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.settimeout(0.1)
        for _ in range(200):
            with contextlib.suppress(OSError):
                probe.sendto(request, ("127.0.0.1", port))
                probe.recv(1500)
                return
    raise SystemExit(f"nothing answers on UDP port {port}")


@contextlib.contextmanager
def running(arguments: list[str], port: int, **options):
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    try:
        wait_until_answers(port)
        yield process
    finally:
        process.kill()
        process.wait()


def ours(server: str):
    arguments = [server, "listen=127.0.0.1", f"port={PORT}", f"user={USER}:{PASSWORD}", "allow=127.0.0.0/8",
                 "perUser=100000", "answers=0", "workers=2"]
    return running(arguments, PORT, stdin=subprocess.PIPE)


def coturn(server: str):
    arguments = [server, "-n", "--no-cli", "--no-tls", "--no-dtls", "-L", "127.0.0.1", "-p", str(PORT), "--user",
                 f"{USER}:{PASSWORD}", "-r", REALM, "-a", "--allow-loopback-peers", "--log-file=/dev/null", "--simple-log",
                 "-m", "2", "--pidfile", f"/tmp/bench-turnserver-{os.getpid()}.pid"]
    return running(arguments, PORT)


def cpu_seconds(pid: int) -> float:
    """Time on a processor, of all threads, in nanosecond steps."""
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


def load(pid: int, allocations: int, interval: int, packets: int) -> dict[str, float]:
    """One uclient run. `interval` is milliseconds between a client's packets; 0 is as fast as it can.

    Counts from the first report of uclient with packets in it to its last, so that making allocations is left out.
    """
    process = subprocess.Popen(
        ["stdbuf", "-oL", "turnutils_uclient", "-u", USER, "-w", PASSWORD, "-p", str(PORT), "-r", str(PEER_PORT), "-e",
         "127.0.0.1", "-X", "-c", "-m", str(allocations), "-z", str(interval), "-n", str(packets), "-l", "160", "127.0.0.1"],
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
        "microseconds": (last[1] - first[1]) * 1e6 / relayed, "user": user / max(1, user + system),
        "lost": 100 * (totals[0] - totals[1]) / max(1, totals[0]), "pps": relayed / (last[3] - first[3]),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--turnserver", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=10)
    options = parser.parse_args()
    loads = {
        "100 allocations x 50/s": (100, 20, 50 * options.seconds, 0.7),
        "saturation": (10, 0, 5_000 * options.seconds, 0.95),
    }
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    with running(["turnutils_peer", "-L", "127.0.0.1", "-p", str(PEER_PORT)], PEER_PORT):
        for name, (allocations, interval, packets, aim) in loads.items():
            results: dict[str, list[dict[str, float]]] = {"coturn": [], "switchboard": []}
            for _ in range(options.rounds):
                for kind, start in (("coturn", lambda: coturn(options.turnserver)), ("switchboard", lambda: ours(options.server))):
                    with start() as process:
                        results[kind].append(load(process.pid, allocations, interval, packets))
            print(f"\n{name}")
            medians = {}
            for kind, runs in results.items():
                medians[kind] = statistics.median(run["microseconds"] for run in runs)
                user, lost, pps = (statistics.median(run[key] for run in runs) for key in ("user", "lost", "pps"))
                print(f"  {kind:12} {medians[kind]:6.2f} us/packet ({user:.0%} user), {pps:8.0f} packets/s, {lost:.3f} % lost")
            print(f"  ratio {medians['switchboard'] / medians['coturn']:.2f} (aim: at most {aim})")


if __name__ == "__main__":
    main()
