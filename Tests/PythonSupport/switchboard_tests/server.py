"""A real server of the tests, and its users over REST."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import signal
import ssl
import subprocess
import time
import uuid
from typing import Any

import httpx
import yaml

from switchboard_tests import asyncapi
from switchboard_tests.ports import free_port
from switchboard_tests.reaper import ends_with_tests
from switchboard_tests.waiting import TIMEOUT

ROOT = pathlib.Path(__file__).resolve().parents[3]
BINARY = pathlib.Path(os.environ.get("DEV_SWITCHBOARD_BINARY", ROOT / ".build/debug/switchboard"))
LOAD = pathlib.Path(os.environ.get("DEV_SWITCHBOARD_LOAD_BINARY", BINARY.parent / "switchboard-load"))
# Reading the certificates of the system takes 30 ms.
TLS = ssl.create_default_context()
# One client for all, without keep-alive, since servers are restarted here.
HTTP = httpx.Client(limits=httpx.Limits(max_keepalive_connections=0), timeout=TIMEOUT, verify=TLS)
# Settings of a relay that lets everybody reach the loopback.
OPEN_RELAY = {"listen": ["127.0.0.1"], "peers": {"allow": ["127.0.0.0/8"]}}
NO_APERTIUM = {"languages": {"apertium": False}}


def merged(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
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

    def __init__(
        self, directory: pathlib.Path, settings: dict[str, Any] | None = None, role: str | None = None
    ) -> None:
        self.directory = directory
        self.roles = ["--role", role] if role else []
        self.has_api = role is None or "api" in role.split(",")
        self.port = free_port()
        self.admin_port = free_port()
        self.relay_port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.realtime_url = f"ws://127.0.0.1:{self.port}/v1/realtime"
        self.admin_url = f"http://127.0.0.1:{self.admin_port}"
        self.config = directory / "switchboard.yaml"
        self.log = directory / "switchboard.log"
        self.data = directory / "data"
        self.process: subprocess.Popen[Any] | None = None
        # Beside that of the tests.
        self.environment: dict[str, str] = {}
        # The descriptor to which it writes instead of its log.
        self.output: int | None = None
        self.closes_output = False
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
                [str(BINARY), "serve", "--config", str(self.config), *self.roles],
                stdout=log,
                stderr=log if self.output is None else self.output,
                cwd=self.directory,
                env=os.environ | self.environment,
                preexec_fn=(lambda: os.close(2)) if self.closes_output else None,
            )
        ends_with_tests(self.process.pid)
        deadline = time.monotonic() + TIMEOUT
        while not self.is_ready():
            if self.process.poll() is not None:
                raise AssertionError(f"the server ended with {self.process.returncode}:\n{self.log_tail()}")
            if time.monotonic() > deadline:
                self.kill()
                raise AssertionError(f"the server was not ready after {TIMEOUT} s:\n{self.log_tail()}")
            time.sleep(0.02)
        # Some tests give it another address, which only they can reach.
        if asyncapi.loaded is None and self.has_api and self.url == f"http://127.0.0.1:{self.port}":
            response = HTTP.get(self.url + "/asyncapi.json")
            assert response.status_code == 200, response.text
            asyncapi.load(response.json())

    def is_ready(self) -> bool:
        with contextlib.suppress(httpx.TransportError):
            return HTTP.get(self.url + "/readyz", timeout=2).status_code == 200
        return False

    def stop(self) -> int:
        """Stops the server with SIGTERM and returns its exit code."""
        process, self.process = self.process, None
        assert process is not None, "the server is not running"
        process.send_signal(signal.SIGTERM)
        try:
            return process.wait(timeout=TIMEOUT)
        except subprocess.TimeoutExpired as error:
            process.kill()
            process.wait()
            raise AssertionError(f"the server did not end within {TIMEOUT} s of SIGTERM:\n{self.log_tail()}") from error

    def kill(self) -> None:
        """Kills the server with SIGKILL, like a power failure."""
        process, self.process = self.process, None
        assert process is not None, "the server is not running"
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

    def users(self, count: int) -> list[User]:
        """So many new users with access tokens, created by `switchboard token` instead of signing up."""
        lines = self.command("token", "--count", str(count), "--prefix", "t" + uuid.uuid4().hex[:12]).splitlines()
        people = [json.loads(line) for line in lines if line.strip()]
        assert len(people) == count, lines
        return [User(self, person["user"], person["token"]) for person in people]

    def user(self) -> User:
        return self.users(1)[0]


class User:
    """A user with an access token and one endpoint, over REST."""

    def __init__(self, server: Server, id: str, token: str) -> None:
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

    def another_endpoint(self) -> User:
        """The same user in another client, such as a second browser tab."""
        return User(self.server, self.id, self.token)

    def request(self, method: str, path: str, body: dict[str, Any] | None = None, **options: Any) -> httpx.Response:
        return HTTP.request(method, self.server.url + path, json=body, headers=self.headers, **options)

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, body: dict[str, Any] | None = None, **options: Any) -> httpx.Response:
        return self.request("POST", path, {} if body is None else body, **options)


def refused(response: httpx.Response, status: int, kind: str, field: str | None = None) -> dict[str, Any]:
    problem = response.json()
    assert (response.status_code, problem["type"], problem.get("field")) == (status, kind, field), problem
    return problem


def change(server: Server, *path: str, to: Any = None) -> None:
    """Writes another value into the server's configuration file; None removes the key."""
    settings = server.settings
    for key in path[:-1]:
        settings = settings.setdefault(key, {})
    if to is None:
        settings.pop(path[-1], None)
    else:
        settings[path[-1]] = to
    server.config.write_text(yaml.safe_dump(server.settings))


def tool(server: Server, *arguments: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(BINARY), *arguments, "--config", str(server.config)], capture_output=True, text=True, timeout=timeout,
        cwd=server.directory,
    )
