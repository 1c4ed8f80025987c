"""A server whose wall clock jumps."""

from __future__ import annotations

import pathlib
import subprocess

from switchboard_tests.server import Server

SHIM = pathlib.Path(__file__).with_name("clock_shim.c")


class Clock:
    """The wall clock of one server; make it before the server starts."""

    def __init__(self, server: Server) -> None:
        self.file = server.directory / "clock"
        self.set(0)
        library = server.directory / "clock_shim.so"
        subprocess.run(["clang", "-shared", "-fPIC", "-O1", "-o", str(library), str(SHIM), "-ldl"], check=True)
        server.environment |= {"LD_PRELOAD": str(library), "DEV_SWITCHBOARD_CLOCK": str(self.file)}

    def set(self, seconds: int) -> None:
        """From now on the clock is so many seconds ahead of the true time."""
        other = self.file.with_suffix(".new")
        other.write_text(str(seconds))
        other.rename(self.file)
