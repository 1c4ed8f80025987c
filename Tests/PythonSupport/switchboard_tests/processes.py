"""The memory of processes."""

from __future__ import annotations

import pathlib


def memory(pid: int) -> int:
    """The resident memory of a process in bytes."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("the server has no memory")


def resident_kilobytes(pid: int) -> int:
    return memory(pid) // 1024
