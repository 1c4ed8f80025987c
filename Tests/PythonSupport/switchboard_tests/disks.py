"""Disks that are soon full."""

from __future__ import annotations

import contextlib
import os
import pathlib
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from switchboard_tests.server import Server


needs_mount = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a small disk")


@contextlib.contextmanager
def small_disk(server: Server, size: str) -> Iterator[pathlib.Path]:
    """The disk of a server's media has so much room, such as `16k`, and is another one afterwards."""
    directory: pathlib.Path = server.data / "media"
    directory.mkdir(parents=True, mode=0o700, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(directory)], check=True)
    try:
        yield directory
    finally:
        # Lazily: a server that runs may have a file of it open.
        subprocess.run(["umount", "--lazy", str(directory)], check=True)
