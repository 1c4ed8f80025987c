"""A log that nobody reads, or that is closed: whoever started the server may have forgotten its standard error, and
calls, requests and media go on."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import re
import signal
import socket
import threading
import time

from switchboard_tests import stun
from switchboard_tests.gateway import speaking_call
from switchboard_tests.metrics import value
from switchboard_tests.server import HTTP
from switchboard_tests.waiting import TIMEOUT, wait_until

LOST = re.compile(rb" WARNING log: (\d+) lines? lost lines=\1$")


def relayed(server) -> None:
    """Something passes the relay, there and back."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.settimeout(TIMEOUT)
        peer.bind(("127.0.0.1", 0))
        client = stun.Client("127.0.0.1", server.relay_port, "alice", "wonderland")
        with contextlib.closing(client):
            client.allocate()
            assert client.bind(0x4000, *peer.getsockname()) == 0
            client.send_channel(0x4000, b"there")
            payload, relay = peer.recvfrom(100)
            assert payload == b"there"
            peer.sendto(b"back", relay)
            assert client.socket.recv(100)[4:8] == b"back"


def test_nobody_waits_for_who_reads_the_log(make_server):
    server = make_server({"log": {"level": "debug"}}, started=False)
    reader, server.output = os.pipe()
    fcntl.fcntl(server.output, fcntl.F_SETPIPE_SZ, 4096)
    server.start()
    os.close(server.output)
    read: list[bytes] = []
    thread = threading.Thread(target=lambda: read.extend(iter(lambda: os.read(reader, 1 << 16), b"")))

    async def talk() -> None:
        async with speaking_call(server) as (everybody, _):
            assert len(everybody) == 2
            relayed(server)
            # Each attempt to reload it is a line of a kilobyte.
            server.config.write_text("x" * 900 + ": 1\n")
            wait_until(lines_are_lost, "lost lines")
            # The same once more, now that the pipe is full and so is the queue.
            relayed(server)
            assert HTTP.get(server.url + "/readyz").status_code == 200
            assert HTTP.get(server.url + "/v1/me").status_code == 401
            mid = everybody[0].slot_of(everybody[1], "audio")
            await everybody[0].receives_more(mid)

    def lines_are_lost() -> float:
        for _ in range(20):
            os.kill(server.pid, signal.SIGHUP)
            # Two signals at once are one.
            time.sleep(0.005)
        return value(server, "log_lines_lost_total")

    asyncio.run(talk())
    # Now somebody reads: what came first is there, and how much is missing.
    thread.start()
    assert server.stop() == 0
    thread.join(TIMEOUT)
    os.close(reader)
    lines = b"".join(read).splitlines()
    assert any(b"Starting service" in line for line in lines[:200]), lines[:20]
    assert any(LOST.search(line) for line in lines), lines[-20:]
    assert lines[-1].endswith(b"stopped"), lines[-20:]


def test_a_closed_log_ends_nothing(make_server):
    server = make_server({"log": {"level": "debug"}}, started=False)
    reader, server.output = os.pipe()
    server.start()
    os.close(server.output)
    os.close(reader)
    relayed(server)
    server.config.write_text("x: 1\n")
    os.kill(server.pid, signal.SIGHUP)
    wait_until(lambda: value(server, "log_lines_lost_total") > 0, "lost lines")
    assert server.stop() == 0


def test_standard_error_that_is_closed_becomes_no_file_of_the_server(make_server):
    server = make_server(started=False)
    server.closes_output = True
    server.start()
    assert os.readlink(f"/proc/{server.pid}/fd/2") == "/dev/null"
    relayed(server)
    assert HTTP.get(server.url + "/v1/me").status_code == 401
    assert server.stop() == 0
