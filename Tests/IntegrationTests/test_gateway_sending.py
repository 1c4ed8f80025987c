"""Sending over a slow link: bursts wait in the socket's buffer and the link's queue, and nothing is lost."""

from __future__ import annotations

import json
import re
import subprocess

import pytest
from switchboard_tests import namespaces
from switchboard_tests.metrics import value
from switchboard_tests.server import LOAD

VIEWERS = 12
KILOBITS = 1_500
# The limit of the link's queue: the gateway's buffers, which Linux counts double, are smaller.
QUEUE = "16mb"


def dropped_by(space: namespaces.Namespace) -> int:
    with space.inside():
        result = subprocess.run(["tc", "-s", "qdisc", "show", "dev", "lo"], capture_output=True, text=True, check=True)
    return int(re.search(r"dropped (\d+)", result.stdout).group(1))


@pytest.mark.parametrize("rate", ["100mbit", "1gbit"])
def test_bursts_below_the_link_s_average_lose_nothing(make_server, tmp_path, rate):
    namespaces.require()
    space = namespaces.Namespace()
    try:
        space.run(f"tc qdisc add dev lo root tbf rate {rate} burst 128kb limit {QUEUE}")
        with space.inside():
            server = make_server()
            users = tmp_path / "users"
            users.write_text(server.command("token", "--count", str(VIEWERS), "--prefix", "burst"))
            report_path = tmp_path / "figures.json"
            done = subprocess.run(
                [str(LOAD), "media", "--server", server.url, "--tokens", str(users), "--calls", "1",
                 "--participants", str(VIEWERS), "--publishers", "1", "--video", "--bitrate", str(KILOBITS),
                 "--seconds", "5", "--warm-up", "1", "--json", str(report_path)],
                capture_output=True, text=True, timeout=120,
            )
            assert done.returncode == 0, done.stderr + done.stdout + server.log_tail()
            lost = value(server, "gateway_dropped_total", reason="not_sent")
            waiting = value(server, "gateway_unsent_bytes")
            forwarded = value(server, "gateway_packets_forwarded_total")
            server.stop()
        found = json.loads(report_path.read_text())
        assert found["videoStreams"]["streams"] == VIEWERS - 1
        assert forwarded > 1_000
        assert (lost, waiting, dropped_by(space)) == (0, 0, 0)
        assert found["videoStreams"]["lost"] == found["audioStreams"]["lost"] == 0
    finally:
        space.close()
