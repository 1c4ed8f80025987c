"""Starting: errors that name their cause, commands beside a running server, and a clean shutdown."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess

import pytest
import yaml
from switchboard_tests.operators import server_stats
from switchboard_tests.server import BINARY, HTTP, tool
from switchboard_tests.waiting import wait_until


def run(server, *arguments: str, input: str = "") -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(BINARY), *arguments, "--config", str(server.config)],
        capture_output=True, text=True, timeout=30, cwd=server.directory, input=input,
    )


def refused(settings: dict, tmp_path, arguments: list[str] | None = None, environment: dict | None = None) -> str:
    """The error of `serve` when it does not start with `settings`."""
    file = tmp_path / "other.yaml"
    file.write_text(yaml.safe_dump(settings))
    done = subprocess.run(
        [str(BINARY), "serve", "--config", str(file), *(arguments or [])], capture_output=True, text=True, timeout=30,
        cwd=tmp_path, env=os.environ | (environment or {}),
    )
    assert done.returncode != 0
    assert "is ready" not in done.stdout
    return done.stderr


def free_settings(tmp_path) -> dict:
    return {
        "http": {"host": "127.0.0.1", "port": 0},
        "admin": {"port": 0},
        "storage": {"path": str(tmp_path / "data")},
        "relay": {"listen": ["127.0.0.1"], "port": 0},
        "gateway": {"port": 0},
    }


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"http": {"prot": 1}}, "unknown setting http.prot"),
        ({"relay": {"port": "many"}}, "relay.port must be a whole number"),
        ({"relay": {"listen": ["nowhere"]}}, "relay.listen: nowhere is not an IP address"),
        ({"relay": {"peers": {"allow": ["10.0.0.0/99"]}}}, "relay.peers.allow"),
        ({"languages": {"identification": "eldc"}}, "languages.eldcLibrary: cannot open a library without a path"),
        (
            {"languages": {"identification": "eldc", "eldcLibrary": "/nonexistent/libeldc.so"}},
            "languages.eldcLibrary: cannot open /nonexistent/libeldc.so",
        ),
        ({"http": {"certificate": "x.pem"}}, "http.certificate and http.privateKey go together"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path, changes, words):
    settings = free_settings(tmp_path)
    for group, values in changes.items():
        settings[group] = settings.get(group, {}) | values
    assert words in refused(settings, tmp_path)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--role", "relay,gateway"], "use --role api,relay,gateway"),
        (["--log-level", "debug", "--log-level", "info"], "--log-level is given twice"),
        (["--role", "api", "--role", "relay"], "--role is given twice"),
        (["--htp-port", "1"], "Did you mean --http-port?"),
    ],
)
def test_a_wrong_argument_is_named(tmp_path, arguments, words):
    assert words in refused(free_settings(tmp_path), tmp_path, arguments)


def test_a_variable_that_is_no_setting_is_named(tmp_path):
    error = refused(free_settings(tmp_path), tmp_path, environment={"SWITCHBOARD_HTP_PORT": "1"})
    assert "SWITCHBOARD_HTP_PORT" in error and "SWITCHBOARD_HTTP_PORT" in error


@pytest.mark.parametrize("setting", ["http.port", "admin.port", "relay.port"])
def test_a_port_in_use_is_reported(tmp_path, setting):
    kind = socket.SOCK_DGRAM if setting == "relay.port" else socket.SOCK_STREAM
    with socket.socket(socket.AF_INET, kind) as taken:
        taken.bind(("127.0.0.1", 0))
        if kind == socket.SOCK_STREAM:
            taken.listen()
        port = taken.getsockname()[1]
        settings = free_settings(tmp_path)
        group, key = setting.split(".")
        settings[group][key] = port
        error = refused(settings, tmp_path)
    assert setting in error and str(port) in error


def test_a_relay_alone_says_that_it_is_ready(make_server):
    server = make_server(started=False, role="relay")
    # Without the api, the operator's port alone says so.
    server.url = server.admin_url
    server.start()
    wait_until(lambda: "is ready." in server.log_tail(), "the line on standard output")
    assert HTTP.get(server.admin_url + "/readyz").text == "ok\n"
    assert tool(server, "drain").returncode == 0
    drained = HTTP.get(server.admin_url + "/readyz")
    assert (drained.status_code, drained.text) == (503, "draining\n")


def test_an_unwritable_directory_is_reported(tmp_path):
    (tmp_path / "file").write_text("in the way")
    settings = free_settings(tmp_path)
    settings["storage"]["path"] = str(tmp_path / "file" / "data")
    error = refused(settings, tmp_path)
    assert "storage.path" in error and "file/data" in error


def test_a_directory_that_is_a_file_is_reported(tmp_path):
    (tmp_path / "data").write_text("in the way")
    error = refused(free_settings(tmp_path), tmp_path)
    assert f"storage.path is {tmp_path / 'data'}, which is a file" in error


@pytest.mark.parametrize(
    "command",
    [
        ["account", "list"], ["token"], ["migrate"], ["account", "create", "--email", "a@example.org"],
        ["backup", "copy"],
    ],
    ids=" ".join,
)
def test_a_mistyped_directory_is_not_made(tmp_path, command):
    file = tmp_path / "switchboard.yaml"
    file.write_text(yaml.safe_dump(free_settings(tmp_path)))
    done = subprocess.run(
        [str(BINARY), *command, "--config", str(file), "--storage-path", str(tmp_path / "mistyped")],
        capture_output=True, text=True, timeout=30, cwd=tmp_path, input="a password\n",
    )
    assert done.returncode == 1
    assert f"There is no data directory at {tmp_path / 'mistyped'}: check storage.path" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_a_new_directory_is_closed_to_other_users(tmp_path):
    file = tmp_path / "switchboard.yaml"
    file.write_text(yaml.safe_dump(free_settings(tmp_path)))

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(BINARY), *command, "--config", str(file)], capture_output=True, text=True, timeout=30, cwd=tmp_path,
            umask=0,
        )

    def modes() -> dict[str, int]:
        data = tmp_path / "data"
        return {path.name: stat.S_IMODE(path.stat().st_mode) for path in [data, *data.iterdir()]}

    made = run("migrate", "--new")
    assert made.returncode == 0 and "Ran migration" in made.stdout, made.stderr
    assert run("token").returncode == 0
    assert {"data", "switchboard.sqlite", "signing-key.pem"} <= set(modes())
    assert all(mode & 0o077 == 0 for mode in modes().values()), modes()
    # What an earlier version left open is closed by the next command that opens the directory.
    (tmp_path / "data").chmod(0o755)
    (tmp_path / "data" / "switchboard.sqlite").chmod(0o644)
    assert run("migrate").returncode == 0
    assert modes()["data"] == 0o700 and modes()["switchboard.sqlite"] == 0o600


def test_migrating_beside_a_running_server_is_refused(server):
    done = run(server, "migrate")
    assert done.returncode == 1 and "Another server is running on the data directory" in done.stderr
    files = [path for path in server.data.iterdir() if path.is_file() or path.is_socket()]
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files), files


def test_two_servers_do_not_share_a_directory(server, tmp_path):
    settings = free_settings(tmp_path)
    settings["storage"]["path"] = str(server.data)
    assert "Another server is running" in refused(settings, tmp_path)


def test_commands_work_beside_the_running_server(server):
    assert (
        run(server, "account", "create", "--email", "op@example.org", "--name", "Op", input="a password\n").returncode
        == 0
    )
    assert "op@example.org" in run(server, "account", "list").stdout
    line = json.loads(run(server, "token", "--count", "1", "--prefix", "beside").stdout)
    me = HTTP.get(server.url + "/v1/me", headers={"Authorization": f"Bearer {line['token']}"})
    assert me.status_code == 200 and me.json()["id"] == line["user"]
    signed_in = HTTP.post(server.url + "/v1/sessions", json={"email": "op@example.org", "password": "a password"})
    assert signed_in.status_code == 201
    assert run(server, "account", "disable", "--email", "op@example.org").returncode == 0
    bearer = {"Authorization": f"Bearer {signed_in.json()['accessToken']}"}
    assert HTTP.get(server.url + "/v1/me", headers=bearer).status_code in (401, 403)
    assert run(server, "account", "disable", "--email", "nobody@example.org").returncode == 1


def test_a_server_that_is_asked_to_stop_stops(make_server):
    server = make_server()
    assert HTTP.get(server.admin_url + "/metrics").text.count("switchboard_") > 10
    assert HTTP.get(server.admin_url + "/admin").status_code == 200
    assert server_stats(server)["sessions"] == 0
    assert HTTP.get(server.url + "/metrics").status_code == 404
    assert server.stop() == 0
    migrated = run(server, "migrate")
    assert migrated.returncode == 0 and "up to date" in migrated.stdout


def test_unknown_paths_and_methods_are_problems(server):
    missing = HTTP.get(server.url + "/v1/nothing")
    assert missing.status_code == 404 and missing.headers["content-type"] == "application/problem+json"
    wrong = HTTP.delete(server.url + "/v1/calls")
    assert wrong.status_code == 405 and "POST" in wrong.headers["allow"]
    assert HTTP.get(server.url + "/v1/realtime").status_code == 426
    assert HTTP.get(server.url + "/v1/me").json()["type"] == "unauthenticated"
