"""What a server at rest holds, and whether it came back to that.

The pages that the database keeps in memory are told and judged apart: they grow with the history of calls, which is not
given back, until the caches are full, which takes hours of a soak. What they may hold is known; everything else has
to return.
"""

from __future__ import annotations

import collections
import contextlib
import os
import pathlib
import re
import subprocess

import conftest

MEMORY_SLACK = 1.10
# One connection that writes and four that read, with 16 MiB each, and what SQLite needs beside each page.
CACHE_LIMIT = 5 * 16_384 * 1.1


def opened(pid: int) -> list[str]:
    """What each descriptor of the process is: a path, or a kind."""
    found = []
    for descriptor in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.append(os.readlink(descriptor).partition(":[")[0])
    return found


class Rest:
    """What a server holds that has nothing to do."""

    def __init__(self, server: conftest.Server):
        pid = server.pid
        # Before anything is asked: the connection of that is the server's for as long as it takes to close it.
        self.open = collections.Counter(opened(pid))
        self.descriptors = self.open.total()
        self.cached = int(metrics(server)["switchboard_storage_cache_bytes"] / 1024)
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        self.kilobytes = int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) - self.cached
        listed = subprocess.run(["ss", "-Huapn"], capture_output=True, text=True, check=True).stdout
        self.ports = sum(f"pid={pid}," in line for line in listed.splitlines())

    def __str__(self) -> str:
        return (
            f"{self.kilobytes / 1024:.1f} MB and {self.cached / 1024:.1f} MB of the database's pages, "
            f"{self.descriptors} descriptors, {self.ports} UDP sockets"
        )

    def problems(self, before: Rest) -> list[str]:
        """What was not given back since `before`."""
        found = []
        if self.descriptors > before.descriptors:
            more = ", ".join(f"{count} {what}" for what, count in (self.open - before.open).items())
            found.append(f"{self.descriptors - before.descriptors} descriptors were not given back: {more}")
        if self.ports > before.ports:
            found.append(f"{self.ports - before.ports} UDP sockets were not given back")
        if self.kilobytes > before.kilobytes * MEMORY_SLACK:
            found.append(f"memory beside the database's pages grew from {before.kilobytes} to {self.kilobytes} KB")
        if self.cached > CACHE_LIMIT:
            found.append(f"the database keeps {self.cached} KB of pages, which is more than it may")
        return found


def metrics(server: conftest.Server) -> dict[str, float]:
    """Every number that the server tells of itself, by its name and labels."""
    lines = conftest.HTTP.get(server.admin_url + "/metrics").text.splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line and line[0] != "#")}
