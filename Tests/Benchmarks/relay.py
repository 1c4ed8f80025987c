"""Runs turnutils_uclient against coturn and against our relay by turns, and prints CPU time for each relayed packet, over
UDP, TCP and TLS; then what an allocation costs in time and memory.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "IntegrationTests"))

import stun  # noqa: E402

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


def certificate(directory: str) -> str:
    """A PEM file with a certificate and its key."""
    both = f"{directory}/both.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-keyout", f"{directory}/key.pem", "-out", both], check=True, capture_output=True,
    )
    with open(both, "a") as file:
        file.write(pathlib.Path(f"{directory}/key.pem").read_text())
    return both


def ours(server: str, pem: str):
    arguments = [server, "listen=127.0.0.1", f"port={PORT}", f"user={USER}:{PASSWORD}", "allow=127.0.0.0/8",
                 "perUser=100000", "answers=0", "workers=2", f"certificate={pem}"]
    return running(arguments, PORT, stdin=subprocess.PIPE)


def coturn(server: str, pem: str):
    # It tells TLS apart on its plain port too.
    arguments = [server, "-n", "--no-cli", "-L", "127.0.0.1", "-p", str(PORT), "--user",
                 f"{USER}:{PASSWORD}", "-r", REALM, "-a", "--allow-loopback-peers", "--log-file=/dev/null", "--simple-log",
                 "-m", "2", "--pidfile", f"/tmp/bench-turnserver-{os.getpid()}.pid", "--cert", pem, "--pkey", pem]
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


def load(pid: int, transport: list[str], allocations: int, interval: int, packets: int) -> dict[str, float]:
    """One uclient run. `interval` is milliseconds between a client's packets; 0 is as fast as it can.

    Counts from the first report of uclient with packets in it to its last, so that making allocations is left out.
    """
    process = subprocess.Popen(
        ["stdbuf", "-oL", "turnutils_uclient", "-u", USER, "-w", PASSWORD, "-p", str(PORT), "-r", str(PEER_PORT), "-e",
         "127.0.0.1", "-X", "-c", *transport, "-m", str(allocations), "-z", str(interval), "-n", str(packets), "-l", "160", "127.0.0.1"],
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


def allocating(pid: int, count: int) -> dict[str, float]:
    """CPU time for an allocation (401, Allocate, Refresh that ends it), and memory for each of `count` idle allocations."""
    spent = cpu_seconds(pid)
    for _ in range(count):
        client = stun.Client("127.0.0.1", PORT, USER, PASSWORD)
        client.allocate()
        client.request(stun.REFRESH, stun.attribute(stun.LIFETIME, bytes(4)))
        client.close()
    spent = cpu_seconds(pid) - spent

    before = resident_kilobytes(pid)
    clients = [stun.Client("127.0.0.1", PORT, USER, PASSWORD) for _ in range(count)]
    for one in clients:
        one.allocate()
    grown = resident_kilobytes(pid) - before
    for one in clients:
        one.close()
    return {"microseconds": spent * 1e6 / count, "bytes": grown * 1024 / count}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--turnserver", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--only", help="a part of the names of the loads to run")
    options = parser.parse_args()
    # 100 clients send every 20 ms; 10 send as fast as they can.
    gentle, full = (100, 20, 50 * options.seconds), (10, 0, 5_000 * options.seconds)
    loads = {
        "UDP, 100 allocations x 50/s": ([], *gentle, 0.5),
        "UDP, saturation": ([], *full, 0.9),
        "TCP, 100 allocations x 50/s": (["-t"], *gentle, None),
        "TCP, saturation": (["-t"], *full, None),
        "TLS, 100 allocations x 50/s": (["-t", "-S"], *gentle, None),
    }
    kinds = {
        "coturn": lambda: coturn(options.turnserver, pem), "switchboard": lambda: ours(options.server, pem),
    }
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    with tempfile.TemporaryDirectory() as directory, running(
        ["turnutils_peer", "-L", "127.0.0.1", "-p", str(PEER_PORT)], PEER_PORT
    ):
        pem = certificate(directory)
        for name, (transport, allocations, interval, packets, aim) in loads.items():
            if options.only and options.only not in name:
                continue
            results: dict[str, list[dict[str, float]]] = {kind: [] for kind in kinds}
            for _ in range(options.rounds):
                for kind, start in kinds.items():
                    with start() as process:
                        results[kind].append(load(process.pid, transport, allocations, interval, packets))
            print(f"\n{name}")
            medians = {}
            for kind, runs in results.items():
                medians[kind] = statistics.median(run["microseconds"] for run in runs)
                user, lost, pps = (statistics.median(run[key] for run in runs) for key in ("user", "lost", "pps"))
                print(f"  {kind:12} {medians[kind]:6.2f} us/packet ({user:.0%} user), {pps:8.0f} packets/s, {lost:.3f} % lost")
            print(f"  ratio {medians['switchboard'] / medians['coturn']:.2f}" + (f" (aim: at most {aim})" if aim else ""))
        if not options.only or options.only in "allocating":
            with kinds["switchboard"]() as process:
                cost = allocating(process.pid, 400)
            print("\nallocating")
            print(f"  switchboard  {cost['microseconds']:6.1f} us for 401, Allocate and Refresh(0) (aim: at most 50), "
                  f"{cost['bytes']:.0f} bytes for an idle allocation (aim: at most 4096)")


if __name__ == "__main__":
    main()
