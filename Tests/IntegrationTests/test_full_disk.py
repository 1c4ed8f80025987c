"""A full disk: writes are refused with `storage_full`, reads go on, and the server recovers by itself."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import subprocess

import pytest
from switchboard_tests.disks import needs_mount
from switchboard_tests.endpoint import Endpoint, RequestError
from switchboard_tests.rawsocket import RawSocket
from switchboard_tests.server import HTTP, Server, refused
from switchboard_tests.waiting import wait_until

# The database, its log and the index of the log take some of it.
DISK = "24m"


@pytest.fixture
def server_on_a_small_disk(make_server):
    """A server whose data directory is a disk of its own, with the path of a file that fills it."""
    server = make_server({"media": {"minFreeBytes": 0}, "limits": {"requestsPerMinute": 100_000}}, started=False)
    server.data.mkdir(parents=True, mode=0o700)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=700", "tmpfs", str(server.data)], check=True)
    try:
        server.start()
        yield server
        server.stop()
    finally:
        if server.process is not None:
            server.kill()
        subprocess.run(["umount", "--lazy", str(server.data)], check=True)


def fill(server: Server) -> None:
    """Writes until nothing fits any more."""
    file = os.open(server.data / "filler", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        for size in (1 << 20, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while os.write(file, bytes(size)) == size:
                    pass
    finally:
        os.close(file)


def health(server: Server, path: str) -> tuple[int, str]:
    response = HTTP.get(server.url + path)
    return response.status_code, response.text.strip()


@needs_mount
def test_writes_are_refused_until_there_is_room(server_on_a_small_disk):
    server = server_on_a_small_disk
    user, newcomer = server.users(2)
    rename = lambda name: user.request("PATCH", "/v1/me", {"displayName": name})
    assert rename("Before").status_code == 200
    with RawSocket(server.port) as socket:
        socket.hello(user, endpoint=user.endpoint, secret=user.secret)
    fill(server)

    # What is left of the log's last page may take a few more.
    names = (f"Number {number}" for number in itertools.count())

    def is_full() -> bool:
        done = rename(next(names))
        if done.status_code == 200:
            return False
        refused(done, 503, "storage_full")
        return True

    wait_until(is_full, "a refused write", seconds=60)
    problem = refused(rename("During"), 503, "storage_full")
    assert problem["retryAfter"] > 0 and str(server.data) not in problem["detail"]
    assert health(server, "/readyz") == (503, "storage_full")
    assert health(server, "/livez") == (200, "ok")
    assert HTTP.get(server.admin_url + "/readyz").text.strip() == "storage_full"
    # Reads go on, and nothing was half written.
    me = user.get("/v1/me")
    assert me.status_code == 200 and me.json()["displayName"] != "During"

    async def over_realtime() -> None:
        # A client that the server does not know yet cannot be registered.
        endpoint = Endpoint(server.realtime_url, newcomer.id, newcomer.token)
        with pytest.raises(RequestError) as unknown:
            await endpoint.open()
        assert unknown.value.type == "storage_full"
        await endpoint.close()

    # One that is known still connects, also if it has another version, which cannot be stored.
    with RawSocket(server.port) as socket:
        hello = {"token": user.token, "endpoint": user.endpoint, "secret": user.secret}
        socket.send({"id": 1, "hello": hello | {"client": {"name": "Test", "version": "2.0"}}})
        assert "result" in socket.response(1)

    asyncio.run(over_realtime())
    # It is told once, by the probe, and not for each refused write.
    wait_until(lambda: "is full: writes are refused" in server.log_tail(), "a line for the operator")
    lines = server.log.read_text().count("the store failed")
    for _ in range(20):
        refused(rename("During"), 503, "storage_full")
    assert server.log.read_text().count("the store failed") == lines

    (server.data / "filler").unlink()
    wait_until(lambda: health(server, "/readyz") == (200, "ok"), "the probe's write")
    assert rename("After").status_code == 200
    assert user.get("/v1/me").json()["displayName"] == "After"
    assert not list(server.data.glob("*.probe"))


@needs_mount
def test_requests_of_open_sessions_are_refused_too(server_on_a_small_disk):
    server = server_on_a_small_disk
    user = server.user()

    async def run() -> None:
        endpoint = Endpoint(server.realtime_url, user.id, user.token)
        await endpoint.open()
        fill(server)

        with pytest.raises(RequestError) as full:
            for number in range(10_000):
                await endpoint.ask("me.update", displayName=f"Number {number}")
        assert full.value.type == "storage_full"
        # Reads of the same session go on.
        assert (await endpoint.ask("me.get"))["id"] == user.id
        await endpoint.close()

    asyncio.run(run())
