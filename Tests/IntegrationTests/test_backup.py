"""Backups of a running server, and restoring them."""

from __future__ import annotations

import asyncio
import stat
import subprocess
import uuid

import httpx
import yaml
from switchboard_tests.audio_files import encode, tone
from switchboard_tests.endpoint import Endpoint
from switchboard_tests.server import BINARY, HTTP, User
from switchboard_tests.voice_messages import fetch, listed, sent

PASSWORD = "correct horse battery"
SHORT = encode(tone(0.3))


def signed_up(server, name: str) -> dict:
    device = {"id": str(uuid.uuid4()), "name": "test", "platform": "test"}
    body = {"email": f"{name}@example.org", "password": PASSWORD, "displayName": name, "device": device}
    response = HTTP.post(f"{server.url}/v1/accounts", json=body)
    assert response.status_code == 201, response.text
    return response.json()


def user(server, signed_in: dict) -> User:
    return User(server, signed_in["user"]["id"], signed_in["accessToken"])


def refresh(server, token: str) -> httpx.Response:
    return HTTP.post(f"{server.url}/v1/sessions/refresh", json={"refreshToken": token})


def run(server, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(BINARY), *arguments, "--config", str(server.config)], capture_output=True, text=True, timeout=60,
        cwd=server.directory,
    )


def moved(server, name: str) -> None:
    """Replaces the server's data directory."""
    server.data = server.directory / name
    server.settings["storage"]["path"] = str(server.data)
    server.config.write_text(yaml.safe_dump(server.settings))


def test_a_backup_is_restored_and_clients_recover(make_server, tmp_path):
    server = make_server()
    ann, ben = signed_up(server, "ann"), signed_up(server, "ben")
    message = sent(user(server, ann), user(server, ben), SHORT)
    backup = tmp_path / "backup"

    async def connected(endpoint: Endpoint):
        await endpoint.open()
        await endpoint.listen(f"user:{endpoint.user}")

    async def before():
        endpoint = Endpoint(server.realtime_url, ben["user"]["id"], ben["accessToken"])
        await connected(endpoint)
        result = run(server, "backup", str(backup))
        assert result.returncode == 0 and "1 media files" in result.stdout, result
        await endpoint.close()
        return endpoint

    endpoint = asyncio.run(before())
    assert stat.S_IMODE(backup.stat().st_mode) == 0o700
    assert {path.name for path in backup.iterdir()} == {"switchboard.sqlite", "media"}, "no keys"
    assert [path.name for path in (backup / "media").iterdir()] == [
        path.name for path in (server.data / "media").iterdir()
    ]
    again = run(server, "backup", str(backup))
    assert again.returncode == 1 and "not empty" in again.stderr

    # Changes after the backup.
    ahead = refresh(server, ann["refreshToken"]).json()
    assert user(server, ann).request("PUT", f"/v1/blocks/{ben['user']['id']}").status_code == 204
    assert user(server, ann).request("DELETE", message["path"] + "?for=all").status_code == 200
    signed_up(server, "cleo")
    held = run(server, "restore", str(backup))
    assert held.returncode == 1 and "Another server is running" in held.stderr
    server.stop()

    assert "not empty" in run(server, "restore", str(backup)).stderr
    moved(server, "restored")
    assert "is not a backup" in run(server, "restore", str(tmp_path)).stderr
    result = run(server, "restore", str(backup))
    assert result.returncode == 0 and "undone" in result.stdout and "1 media files" in result.stdout, result
    server.start()

    # Ann's client has a token that the backup does not have: it must not count as reuse. Ben's session continues.
    refused = refresh(server, ahead["refreshToken"])
    assert refused.status_code == 401 and refused.json()["type"] == "sign_in_again", refused.text
    assert (
        HTTP.get(server.url + "/v1/me", headers={"Authorization": f"Bearer {ben['accessToken']}"}).status_code == 401
    )
    ben |= refresh(server, ben["refreshToken"]).json()
    ann = HTTP.post(f"{server.url}/v1/sessions", json={"email": "ann@example.org", "password": PASSWORD}).json()
    assert HTTP.post(
        f"{server.url}/v1/sessions", json={"email": "cleo@example.org", "password": PASSWORD}
    ).status_code == 401
    assert user(server, ann).get("/v1/blocks").json()["users"] == []
    [back] = listed(user(server, ben), user(server, ann))
    assert (
        back["path"] == message["path"]
        and len(fetch(user(server, ben), back["audio"]["url"]).content) == message["byteCount"]
    )

    async def after():
        endpoint.token = ben["accessToken"]
        greeting = await endpoint.open()
        stream = f"user:{endpoint.user}"
        assert greeting["resumed"][stream] == "reset"
        await endpoint.until("the stream to come as a whole", lambda: endpoint.streams[stream].snapshots == 2)
        assert endpoint.resets == [f"{stream}: epoch"] and not endpoint.violations
        await endpoint.close()

    asyncio.run(after())
    server.stop()


def test_a_stopped_server_is_backed_up_too(make_server, tmp_path):
    server = make_server()
    signed_up(server, "dora")
    server.stop()
    result = run(server, "backup", str(tmp_path / "backup"))
    assert result.returncode == 0 and "0 media files" in result.stdout, result
    assert (tmp_path / "backup" / "switchboard.sqlite").exists()
    # A damaged backup is rejected without changes.
    file = tmp_path / "backup" / "switchboard.sqlite"
    file.write_bytes(b"no database at all" * 1000)
    moved(server, "empty")
    refused = run(server, "restore", str(tmp_path / "backup"))
    assert refused.returncode == 1 and "damaged" in refused.stderr, refused
    assert {path.name for path in server.data.iterdir()} == {"switchboard.lock"}


def test_a_disabled_account_is_let_in_again(server):
    signed_up(server, "emil")
    signing_in = {"email": "emil@example.org", "password": PASSWORD}
    server.command("account", "disable", "--email", "emil@example.org")
    assert HTTP.post(f"{server.url}/v1/sessions", json=signing_in).status_code == 403
    server.command("account", "enable", "--email", "emil@example.org")
    assert HTTP.post(f"{server.url}/v1/sessions", json=signing_in).status_code == 201
