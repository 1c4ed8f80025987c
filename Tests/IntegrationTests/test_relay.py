"""The relay under a flood, and what the tests of its clients share."""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import socket
import subprocess
import time

import pytest
from switchboard_tests import coturn
from switchboard_tests.coturn import EPHEMERAL, SECRET, STATIC  # noqa: F401
from switchboard_tests.processes import resident_kilobytes
from switchboard_tests.relay_clients import OPEN
from switchboard_tests.server import ROOT, Server
from switchboard_tests.waiting import TIMEOUT

LOAD = pathlib.Path(os.environ.get("DEV_SWITCHBOARD_LOAD_BINARY", ROOT / ".build/debug/switchboard-load"))


@pytest.fixture(scope="module")
def relay(make_server) -> Server:
    """A server that relays to loopback, over IPv4 and IPv6."""
    return make_server({"relay": {"listen": ["127.0.0.1", "::1"], **OPEN}})


# coturn's clients -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_stunclient_gets_its_address(relay, host):
    coturn.require("turnutils_stunclient")
    done = subprocess.run(
        ["turnutils_stunclient", "-p", str(relay.relay_port), host], capture_output=True, text=True, timeout=20
    )
    assert host in done.stdout + done.stderr
    assert "reflexive addr" in done.stdout + done.stderr


def worker_processors(server: Server) -> list[str]:
    """The CPU affinity of each of the relay's threads, from the kernel."""
    allowed = []
    for task in sorted(pathlib.Path(f"/proc/{server.pid}/task").iterdir()):
        if re.fullmatch(r"relay-\d+\n", (task / "comm").read_text()):
            allowed.append(re.search(r"Cpus_allowed_list:\s+(\S+)", (task / "status").read_text()).group(1))
    return allowed


def test_threads_are_bound_to_cores_when_asked_for(relay, make_server):
    everywhere = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    ours = worker_processors(relay)
    assert ours and len(set(ours)) == 1, "not asked for: they run where the process may"
    pinned = worker_processors(make_server({"relay": {"pinThreads": True, "workers": len(os.sched_getaffinity(0))}}))
    assert sorted(pinned, key=int) == everywhere.split(",")


# Junk -----------------------------------------------------------------------------------------------------------------


def test_a_flood_leaves_memory_flat_and_calls_working(relay, client):
    """A million malformed and unauthenticated packets from a thousand addresses, while an allocation relays."""
    made = client(relay)
    relayed = made.allocate()
    peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    peer.bind(("127.0.0.1", 0))
    peer.settimeout(1)
    assert made.bind(0x4000, *peer.getsockname()) == 0

    def flood(packets: int) -> subprocess.Popen:
        return subprocess.Popen(
            [
                str(LOAD),
                "relay",
                "--server",
                f"127.0.0.1:{relay.relay_port}",
                "--flood",
                str(packets),
                "--sources",
                "1000",
            ],
            stdout=subprocess.PIPE,
            text=True,
        )

    # The first packets warm up buffers and pages that stay the same from then on.
    assert flood(20_000).wait(timeout=120) == 0
    before = resident_kilobytes(relay.pid)
    process = flood(1_000_000)
    sent = received = 0
    while process.poll() is None:
        payload = f"packet {sent}".encode()
        made.send_channel(0x4000, payload)
        sent += 1
        # The receive buffers of server and peer may overflow; the allocation must go on working.
        with contextlib.suppress(TimeoutError):
            received += peer.recv(100) == payload
    assert process.returncode == 0
    assert received > 0
    made.send_channel(0x4000, b"after")
    deadline = time.monotonic() + TIMEOUT
    while peer.recv(100) != b"after":
        assert time.monotonic() < deadline
    peer.sendto(b"back", relayed)
    assert made.socket.recv(100) == b"\x40\x00\x00\x04back"
    assert client(relay).allocate()
    growth = resident_kilobytes(relay.pid) - before
    assert growth < 4096, f"memory grew by {growth} KB"
    peer.close()
