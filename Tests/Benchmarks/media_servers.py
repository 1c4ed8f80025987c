"""The compared media servers, each restarted for a run on 127.0.0.1."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import subprocess
import tempfile
import time
import urllib.request

# The allowed processors: if the two do not share one, the load never delays the server.
SERVER_PROCESSOR, LOAD_PROCESSOR = sorted(os.sched_getaffinity(0))[:1], sorted(os.sched_getaffinity(0))[-1:]
HTTP, ADMIN, RELAY, MEDIA, JANUS = 28080, 28081, 28478, 28500, 28088
# Seconds for a whole run of the load: joining takes longest with Janus, some 0.2 s for each of hundreds of
# participants.
TIMEOUT = 150
LIBRARIES = "/usr/lib/x86_64-linux-gnu/janus"
OTHER_PLUGINS = [
    "audiobridge", "duktape", "echotest", "lua", "nosip",
    "recordplay", "sip", "streaming", "textroom", "videocall", "voicemail",
]  # fmt: skip
OTHER_TRANSPORTS = ["mqtt", "nanomsg", "pfunix", "rabbitmq", "websockets"]


def wait_until_ready(process: subprocess.Popen, url: str, log: pathlib.Path) -> None:
    for _ in range(300):
        if process.poll() is not None:
            raise SystemExit(f"the server ended with {process.returncode}: {log.read_text(errors='replace')[-2000:]}")
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=1) as response:
            if response.status == 200:
                return
        time.sleep(0.1)
    raise SystemExit(f"nothing responds on {url}")


@contextlib.contextmanager
def running(arguments: list[str], url: str, directory: pathlib.Path, before=None):
    log = directory / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(arguments, stdout=output, stderr=output, cwd=directory, preexec_fn=before)
    try:
        wait_until_ready(process, url, log)
        yield process
    finally:
        process.kill()
        process.wait()


def switchboard_configuration(directory: pathlib.Path, more: dict) -> pathlib.Path:
    # A few users call all the time, which the default limits would prevent.
    settings = {
        "http": {"host": "127.0.0.1", "port": HTTP}, "admin": {"host": "127.0.0.1", "port": ADMIN},
        "storage": {"path": str(directory / "data")}, "log": {"level": "warning"},
        "limits": {"callsPerMinute": 1_000_000, "signalsPerMinute": 1_000_000, "requestsPerMinute": 10_000_000},
        "relay": {"listen": ["127.0.0.1"], "port": RELAY}, "gateway": {"port": MEDIA}, **more,
    }  # fmt: skip
    path = directory / "switchboard.yaml"
    # JSON is YAML.
    path.write_text(json.dumps(settings))
    return path


def janus_configuration(directory: pathlib.Path) -> None:
    plugins, transports = (
        ",".join(f"libjanus_{name}.so" for name in names) for names in (OTHER_PLUGINS, OTHER_TRANSPORTS)
    )
    (directory / "janus.jcfg").write_text(f"""
general: {{
  configs_folder = "{directory}"
  plugins_folder = "{LIBRARIES}/plugins"
  transports_folder = "{LIBRARIES}/transports"
  events_folder = "{directory}"
  loggers_folder = "{directory}"
  debug_level = 2
  session_timeout = 0
}}
nat: {{ ice_lite = true
  ice_enforce_list = "lo" }}
media: {{ rtp_port_range = "30000-32000" }}
plugins: {{ disable = "{plugins}" }}
transports: {{ disable = "{transports}" }}
""")
    (directory / "janus.transport.http.jcfg").write_text(f"""
general: {{ json = "compact"
  base_path = "/janus"
  http = true
  port = {JANUS}
  interface = "lo"
  https = false }}
admin: {{ admin_http = false }}
""")
    (directory / "janus.plugin.videoroom.jcfg").write_text("general: { }\n")


class Servers:
    """Starts servers by name, and returns the load's options for them."""

    def __init__(self, binaries: str):
        self.binaries = pathlib.Path(binaries).resolve()
        self.is_apart = False
        # Extra settings of our server.
        self.settings: dict = {}

    @contextlib.contextmanager
    def apart(self):
        """The server has a processor, and the load another one."""
        self.is_apart = True
        yield
        self.is_apart = False

    def on(self, processors: list[int]):
        """A process's preexec_fn."""
        return (lambda: os.sched_setaffinity(0, processors)) if self.is_apart else None

    @contextlib.contextmanager
    def start(self, kind: str, people: int):
        """Yields the process, and the options for the load."""
        with tempfile.TemporaryDirectory() as folder:
            directory = pathlib.Path(folder)
            with {"switchboard": self.switchboard, "janus": self.janus}[kind](directory, people) as started:
                yield started

    @contextlib.contextmanager
    def switchboard(self, directory: pathlib.Path, people: int):
        binary, configuration = self.binaries / "switchboard", switchboard_configuration(directory, self.settings)
        serve = [str(binary), "serve", "--config", str(configuration)]
        with running(serve, f"http://127.0.0.1:{HTTP}/readyz", directory, self.on(SERVER_PROCESSOR)) as process:
            users = directory / "users"
            made = subprocess.run(
                [str(binary), "token", "--count", str(people), "--config", str(configuration)], check=True,
                capture_output=True,
            )  # fmt: skip
            users.write_bytes(made.stdout)
            yield process, ["--server", f"http://127.0.0.1:{HTTP}", "--tokens", str(users)]

    @contextlib.contextmanager
    def janus(self, directory: pathlib.Path, people: int):
        janus_configuration(directory)
        serve = ["janus", "-F", str(directory)]
        with running(serve, f"http://127.0.0.1:{JANUS}/janus/info", directory, self.on(SERVER_PROCESSOR)) as process:
            yield process, ["--door", "janus", "--server", f"http://127.0.0.1:{JANUS}"]

    def load(self, process: subprocess.Popen, more: list[str]) -> dict:
        """Runs the load and returns its report."""
        with tempfile.NamedTemporaryFile(suffix=".json") as results:
            command = [
                str(self.binaries / "switchboard-load"), "media", *more, "--pid", str(process.pid), "--json",
                results.name,
            ]  # fmt: skip
            try:
                done = subprocess.run(
                    command, capture_output=True, text=True, timeout=TIMEOUT, preexec_fn=self.on(LOAD_PROCESSOR))
            except subprocess.TimeoutExpired as late:
                printed = b"".join(part or b"" for part in (late.stdout, late.stderr)).decode(errors="replace")
                state = "runs" if process.poll() is None else f"has ended with {process.returncode}"
                raise SystemExit(
                    f"after {TIMEOUT} s the load was not over; the server {state}: "
                    f"{' '.join(command)}\n{printed[-2000:]}"
                ) from None
            if done.returncode != 0:
                raise SystemExit(f"the load failed:\n{done.stdout}{done.stderr}")
            return json.load(open(results.name))
