"""The real binary with ports and a data directory of its own."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import time
import urllib.request
from typing import ClassVar, Self

from switchboard_tests import asyncapi
from switchboard_tests.ports import free_port
from switchboard_tests.reaper import ends_with_tests
from switchboard_tests.waiting import TIMEOUT

ROOT = pathlib.Path(__file__).resolve().parents[4]


class Server:
    """`switchboard serve`, which can be killed and started again on the same data.

    `settings` are extra lines for the configuration's `relay`, `gateway` for its `gateway`.
    """

    # Those that were started and not stopped.
    living: ClassVar[list[Server]] = []

    def __init__(
        self, binary: str | pathlib.Path, directory: str | pathlib.Path, settings: str = "", gateway: str = ""
    ) -> None:
        self.binary = pathlib.Path(binary)
        self.directory = pathlib.Path(directory)
        self.port, self.admin_port, self.relay_port = free_port(), free_port(), free_port()
        self.process: subprocess.Popen[bytes] | None = None
        self.log = self.directory / "server.log"
        self.config = self.directory / "switchboard.yaml"
        self.config.write_text(
            f"""http:
  host: 127.0.0.1
  port: {self.port}
admin:
  host: 127.0.0.1
  port: {self.admin_port}
storage:
  path: {self.directory / "data"}
shutdown:
  drainSeconds: 0
accounts:
  signUpsPerHour: 100000
webhooks:
  allow: [127.0.0.0/8]
transcription:
  provider: command
gateway:
  port: 0
{gateway}relay:
  listen: [127.0.0.1]
  port: {self.relay_port}
  peers:
    allow: [127.0.0.0/8]
{settings}"""
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self, timeout: float = TIMEOUT) -> Self:
        """Starts and waits until the server says that it is ready."""
        if self not in Server.living:
            Server.living.append(self)
        with open(self.log, "ab") as log:
            process = self.process = subprocess.Popen(
                [self.binary, "serve", "--config", self.config], cwd=self.directory, stdout=log, stderr=log
            )
        ends_with_tests(process.pid)
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if process.poll() is not None:
                raise RuntimeError(f"the server ended with {process.returncode}:\n{self.tail()}")
            if self.is_ready():
                if asyncapi.loaded is None:
                    asyncapi.load(json.loads(self.read("/asyncapi.json")))
                return self
            time.sleep(0.05)
        raise RuntimeError(f"the server was not ready within {timeout} s:\n{self.tail()}")

    def command(self, *arguments: str) -> None:
        """Runs another command of the binary on the same configuration."""
        command = [str(self.binary), *arguments, "--config", str(self.config)]
        done = subprocess.run(command, cwd=self.directory, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def read(self, path: str, timeout: float = TIMEOUT) -> bytes:
        """The body of the response to a GET; an OSError unless that succeeds."""
        with urllib.request.urlopen(self.url + path, timeout=timeout) as response:
            return response.read()

    def is_ready(self) -> bool:
        try:
            self.read("/readyz", timeout=5)
        except OSError:
            return False
        return True

    def kill(self) -> None:
        """Kills it with SIGKILL, like a crash or a power failure."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        if self in Server.living:
            Server.living.remove(self)
        if self.process is None or self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            self.kill()

    def metric(self, name: str) -> float:
        """The value of a metric, named as in /metrics with its labels."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.admin_port}/metrics", timeout=TIMEOUT) as response:
            lines = dict(line.rsplit(" ", 1) for line in response.read().decode().splitlines() if line[:1] != "#")
        return float(lines[name])

    def tail(self, lines: int = 40) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


def default_binary() -> str | pathlib.Path:
    return os.environ.get("DEV_SWITCHBOARD_BINARY", ROOT / ".build" / "debug" / "switchboard")
