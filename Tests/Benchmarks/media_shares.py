"""The CPU time of a server's media threads by purpose: the kernel, cryptography, and the rest, from perf."""

from __future__ import annotations

import collections
import contextlib
import pathlib
import shutil
import signal
import subprocess
import tempfile

KERNEL, CRYPTO, RUNTIME, OWN = "kernel", "cryptography", "C and Swift libraries", "our own code"


def purpose(library: str) -> str:
    if library.startswith("["):
        return KERNEL
    if "libcrypto" in library:
        return CRYPTO
    return OWN if pathlib.Path(library).name == "switchboard" else RUNTIME


class Shares:
    """Samples a process while a load runs; only the load's measuring period counts."""

    def __init__(self) -> None:
        if not shutil.which("perf"):
            raise SystemExit("perf is missing: apt-get install linux-perf")
        self.directory = tempfile.TemporaryDirectory()
        self.file = str(pathlib.Path(self.directory.name) / "perf.data")

    @contextlib.contextmanager
    def sampling(self, process: subprocess.Popen):
        command = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "1999", "-k", "CLOCK_MONOTONIC", "-o", self.file]
        sampler = subprocess.Popen([*command, "-p", str(process.pid)], stderr=subprocess.PIPE)
        try:
            yield
        finally:
            sampler.send_signal(signal.SIGINT)
            errors = sampler.communicate(timeout=60)[1].decode(errors="replace")
            if not pathlib.Path(self.file).exists():
                raise SystemExit(f"perf took no samples: {errors}")

    def read(self, run: dict, threads: str) -> tuple[dict[str, float], list[tuple[float, str]]]:
        """The shares of the threads with this name by purpose in the run's measuring period, and the most expensive
        functions."""
        begin = run["began"] / 1e9
        text = subprocess.run(
            ["perf", "script", "-i", self.file, "--time", f"{begin:.6f},{begin + run['seconds']:.6f}", "-F",
             "comm,ip,sym,dso"], check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        kinds: collections.Counter[str] = collections.Counter()
        functions: collections.Counter[str] = collections.Counter()
        for line in text.splitlines():
            name, _, rest = line.strip().partition(" ")
            if not name.startswith(threads) or "(" not in rest:
                continue
            symbol, _, library = rest.strip().partition(" ")[2].rpartition(" (")
            kinds[purpose(library.rstrip(")"))] += 1
            functions[symbol] += 1
        total = sum(kinds.values())
        if total == 0:
            raise SystemExit("perf saw nothing of the threads: is it allowed to (kernel.perf_event_paranoid)?")
        return {kind: count / total for kind, count in kinds.items()}, [
            (count / total, symbol) for symbol, count in functions.most_common(30)
        ]
