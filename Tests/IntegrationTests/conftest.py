"""Shared fixtures of the integration tests: real servers, and users.

`server` is one server per test module; `make_server` makes more, with other settings. Both run the debug
binary that `Scripts/test` built (SWITCHBOARD_BINARY names another one) on free ports of the loopback and in a
directory of their own, and fail with the end of the server's log if it does not start.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time
import uuid

import httpx
import namespaces
import pytest
import yaml
from ports import free_port

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("SWITCHBOARD_BINARY", ROOT / ".build/debug/switchboard"))
START_SECONDS = 30
# One client for all: creating one takes 30 ms. Without keep-alive, since servers are restarted here.
HTTP = httpx.Client(limits=httpx.Limits(max_keepalive_connections=0), timeout=20)


def merged(base: dict, changes: dict) -> dict:
    """`base`, deeply merged with `changes`."""
    result = dict(base)
    for key, value in changes.items():
        inner = result.get(key)
        result[key] = merged(inner, value) if isinstance(value, dict) and isinstance(inner, dict) else value
    return result


class Server:
    """A `switchboard serve` process: its addresses, its configuration, and its lifecycle.

    The configuration and the data outlive the process, so `kill()` and `start()` are a crash and a restart.
    """

    def __init__(self, directory: pathlib.Path, settings: dict | None = None, role: str | None = None):
        self.directory = directory
        self.roles = ["--role", role] if role else []
        self.port = free_port()
        self.admin_port = free_port()
        self.relay_port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.realtime_url = f"ws://127.0.0.1:{self.port}/v1/realtime"
        self.admin_url = f"http://127.0.0.1:{self.admin_port}"
        self.config = directory / "switchboard.yaml"
        self.log = directory / "switchboard.log"
        self.data = directory / "data"
        self.process: subprocess.Popen | None = None
        self.settings = merged(
            {
                "http": {"host": "127.0.0.1", "port": self.port},
                "admin": {"host": "127.0.0.1", "port": self.admin_port},
                "storage": {"path": str(self.data)},
                "log": {"level": "info"},
                # Tests of draining set this.
                "shutdown": {"drainSeconds": 0},
                "accounts": {"signUp": "open"},
                "relay": {
                    "listen": ["127.0.0.1"],
                    "port": self.relay_port,
                    # Taken by every server with a certificate, also one for HTTPS alone.
                    "tlsPorts": [free_port()],
                    "realm": "switchboard.test",
                    "secrets": ["a secret of the tests, long enough"],
                    "users": {"alice": "wonderland"},
                    "peers": {"allow": ["127.0.0.0/8"]},
                },
                # Ports that are free.
                "gateway": {"port": 0},
            },
            settings or {},
        )

    @property
    def pid(self) -> int:
        assert self.process is not None, "the server is not running"
        return self.process.pid

    def start(self) -> None:
        """Starts the process and returns when it responds to `/readyz` with 200."""
        assert self.process is None, "the server is running already"
        self.directory.mkdir(parents=True, exist_ok=True)
        self.config.write_text(yaml.safe_dump(self.settings))
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [str(BINARY), "serve", "--config", str(self.config), *self.roles], stdout=log, stderr=log, cwd=self.directory
            )
        deadline = time.monotonic() + START_SECONDS
        while not self.is_ready():
            if self.process.poll() is not None:
                raise AssertionError(f"the server ended with {self.process.returncode}:\n{self.log_tail()}")
            if time.monotonic() > deadline:
                self.kill()
                raise AssertionError(f"the server was not ready after {START_SECONDS} s:\n{self.log_tail()}")
            time.sleep(0.02)

    def is_ready(self) -> bool:
        with contextlib.suppress(httpx.TransportError):
            return HTTP.get(self.url + "/readyz", timeout=2).status_code == 200
        return False

    def stop(self) -> int:
        """Stops the server with SIGTERM and returns its exit code."""
        process, self.process = self.process, None
        process.send_signal(signal.SIGTERM)
        try:
            return process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise AssertionError(f"the server did not end within 20 s of SIGTERM:\n{self.log_tail()}")

    def kill(self) -> None:
        """Kills the server with SIGKILL, like a power failure."""
        process, self.process = self.process, None
        process.kill()
        process.wait()

    def restart(self) -> None:
        self.stop()
        self.start()

    def log_tail(self, characters: int = 4000) -> str:
        return self.log.read_text(errors="replace")[-characters:] if self.log.exists() else ""

    def command(self, *arguments: str) -> str:
        """Runs another command of the binary against this server and returns its output."""
        done = subprocess.run(
            [str(BINARY), *arguments, "--config", str(self.config)], capture_output=True, text=True, timeout=60,
            cwd=self.directory,
        )
        assert done.returncode == 0, f"switchboard {' '.join(arguments)} ended with {done.returncode}: {done.stderr}"
        return done.stdout

    def users(self, count: int) -> list["User"]:
        """So many new users with access tokens, created by `switchboard token` instead of signing up."""
        lines = self.command("token", "--count", str(count), "--prefix", "t" + uuid.uuid4().hex[:12]).splitlines()
        people = [json.loads(line) for line in lines if line.strip()]
        assert len(people) == count, lines
        return [User(self, person["user"], person["token"]) for person in people]

    def user(self) -> "User":
        return self.users(1)[0]


class User:
    """A user with an access token and one endpoint, over REST."""

    def __init__(self, server: Server, id: str, token: str):
        self.server = server
        self.id = id
        self.token = token
        self.endpoint = str(uuid.uuid4())
        self.secret = uuid.uuid4().hex

    @property
    def headers(self) -> dict[str, str]:
        return {
            "Authorization": f"Bearer {self.token}",
            "Switchboard-Endpoint": f"{self.endpoint} {self.secret}",
        }

    def another_endpoint(self) -> "User":
        """The same user in another client, such as a second browser tab."""
        return User(self.server, self.id, self.token)

    def request(self, method: str, path: str, body: dict | None = None, **options) -> httpx.Response:
        return HTTP.request(method, self.server.url + path, json=body, headers=self.headers, **options)

    def get(self, path: str, **options) -> httpx.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, body: dict | None = None, **options) -> httpx.Response:
        return self.request("POST", path, {} if body is None else body, **options)


@pytest.fixture(scope="session")
def make_server(tmp_path_factory):
    """Starts servers: `make_server({"calls": {…}})`, with all roles by default. Servers still running after the tests
    are killed."""
    servers: list[Server] = []

    def make(settings: dict | None = None, started: bool = True, role: str | None = None) -> Server:
        server = Server(tmp_path_factory.mktemp("server"), settings, role)
        servers.append(server)
        if started:
            server.start()
        return server

    yield make
    for server in servers:
        if server.process is not None:
            server.kill()


@pytest.fixture(scope="module")
def internet() -> namespaces.Internet:
    """An internet of network namespaces, with servers at 20.0.0.1."""
    namespaces.require()
    made = namespaces.Internet()
    yield made
    made.close()


@pytest.fixture(scope="module")
def server(make_server) -> Server:
    """One server for the tests of a module."""
    server = make_server()
    yield server
    assert server.process is None or server.process.poll() is None, f"the server died:\n{server.log_tail()}"
    if server.process is not None:
        server.stop()
