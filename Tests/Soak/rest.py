"""The resources of an idle server, and whether they return to the same level.

The database's page cache is reported and checked separately: it grows with the history of calls until the caches are
full, which takes hours of a soak. Its maximum is known; everything else has to be released.
"""

from __future__ import annotations

import collections
import contextlib
import os
import pathlib
import re
import subprocess

from switchboard_tests.server import HTTP, Server

# Few enough that they fit into the descriptors of any machine: a server that has to lower its limits warns of that.
CONNECTIONS = 2_000
MODEST = {
    "http": {"limits": {"connections": CONNECTIONS}},
    "relay": {"limits": {"connections": CONNECTIONS, "allocations": CONNECTIONS}},
}
# Of what is allocated and not freed.
HEAP_SLACK = 1.10
# Of what the kernel gave: malloc keeps what was freed, in pieces, and the more threads were busy at once the more of
# it.
MEMORY_SLACK = 1.25
# One writing and four reading connections, with 16 MiB each, and SQLite's overhead per page.
DATABASE_CONNECTIONS = 5
CACHE_LIMIT = DATABASE_CONNECTIONS * 16_384 * 1.1
DATABASE = re.compile(r"\.sqlite(-wal|-shm)?$")


def opened(pid: int) -> list[str]:
    """The target of each descriptor of the process: a path, or a kind."""
    found = []
    for descriptor in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.append(os.readlink(descriptor).partition(":[")[0])
    return found


class Rest:
    """The resources of an idle server."""

    def __init__(self, server: Server):
        pid = server.pid
        # Before any request, whose connection would count until the server has closed it.
        self.open = collections.Counter(opened(pid))
        self.descriptors = self.open.total()
        measured = metrics(server)
        self.cached = int(measured["switchboard_storage_cache_bytes"] / 1024)
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        self.heap = int(measured["switchboard_process_heap_bytes"] / 1024) - self.cached
        self.kilobytes = int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) - self.cached
        listed = subprocess.run(["ss", "-Huapn"], capture_output=True, text=True, check=True).stdout
        self.ports = sum(f"pid={pid}," in line for line in listed.splitlines())

    def __str__(self) -> str:
        return (
            f"{self.kilobytes / 1024:.1f} MB, {self.heap / 1024:.1f} of them in use, and {self.cached / 1024:.1f} MB "
            "of page cache, "
            f"{self.descriptors} descriptors, {self.ports} UDP sockets"
        )

    def problems(self, before: Rest) -> list[str]:
        """What was not released since `before`."""
        found = []
        more = self.open - before.open
        for what in [what for what in self.open if DATABASE.search(what)]:
            # The pool opens a connection when all others are busy, and keeps it: it may do so at any time.
            if self.open[what] <= DATABASE_CONNECTIONS:
                del more[what]
        if more.total() > (before.open - self.open).total():
            listed = ", ".join(f"{count} {what}" for what, count in more.items())
            found.append(f"descriptors were not released: {listed}")
        if self.ports > before.ports:
            found.append(f"{self.ports - before.ports} UDP sockets were not released")
        if self.heap > before.heap * HEAP_SLACK:
            found.append(f"the heap beside the database's pages grew from {before.heap} to {self.heap} KB")
        if self.kilobytes > before.kilobytes * MEMORY_SLACK:
            found.append(f"memory without the page cache grew from {before.kilobytes} to {self.kilobytes} KB")
        if self.cached > CACHE_LIMIT:
            found.append(f"the page cache has {self.cached} KB, more than its limit")
        return found


def metrics(server: Server) -> dict[str, float]:
    """All of the server's metrics, by name and labels."""
    lines = HTTP.get(server.admin_url + "/metrics").text.splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line and line[0] != "#")}
