"""`switchboard-load relay` against the real server: its counters and measurements over every transport, and its error
messages."""

from __future__ import annotations

import json
import pathlib
import socket
import subprocess

import pytest
from switchboard_tests.certificates import Authority
from switchboard_tests.ports import free_port
from switchboard_tests.server import LOAD, Server

TRANSPORTS = ["udp", "tcp", "tls", "dtls"]
USER = ["--user", "alice", "--password", "wonderland"]


@pytest.fixture(scope="module")
def relay(make_server, tmp_path_factory) -> Server:
    """A relay on IPv4 and IPv6, with a certificate, whose users may have several allocations."""
    certificate = Authority(tmp_path_factory.mktemp("authority")).issue("127.0.0.1")
    return make_server({
        "relay": {
            "listen": ["127.0.0.1", "::1"], "tlsPorts": [], "peers": {"allow": ["127.0.0.0/8", "::1/128"]},
            **certificate,
            "limits": {"allocationsPerUser": 8},
        }
    })  # fmt: skip


def load(server: str, *options: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(LOAD), "relay", "--server", server, *options], capture_output=True, text=True, timeout=120)  # fmt: skip


def run_load(tmp_path: pathlib.Path, server: str, *options: str) -> dict:
    """Runs a load that has to succeed, and returns its JSON report."""
    path = tmp_path / "figures.json"
    done = load(server, *options, "--json", str(path))
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(path.read_text()) | {"table": done.stdout}


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"], ids=["ipv4", "ipv6"])
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_low_rate_loses_nothing(relay, tmp_path, transport, host):
    found = run_load(
        tmp_path, f"{host}:{relay.relay_port}", *USER, "--transport", transport, "--allocations", "4", "--rate", "50",
        "--duration", "1", "--pid", str(relay.pid),
    )  # fmt: skip
    assert found["transport"] == transport
    assert found["allocations"] == 4
    # 4 clients, 50 packets a second, 1 second; the first is due after its interval.
    assert 190 <= found["sent"] <= 200
    assert found["received"] == found["sent"]
    assert found["lost"] == found["held"] == 0
    for times in (found["oneWayMicroseconds"], found["roundTripMicroseconds"]):
        assert 0 < times["p50"] <= times["p90"] <= times["p99"] <= times["max"]
    assert found["oneWayMicroseconds"]["p50"] <= found["roundTripMicroseconds"]["p50"]
    assert 0 <= found["serverUserMicrosecondsPerPacket"] <= found["serverMicrosecondsPerPacket"]
    assert found["ownMicrosecondsPerPacket"] >= 0
    assert f"over {transport.upper()}" in found["table"]
    assert "0 lost" in found["table"]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_as_fast_as_it_goes(relay, tmp_path, transport):
    """Without a rate the relay is saturated, and a stream loses only packets that the relay's limits drop."""
    found = run_load(
        tmp_path, f"127.0.0.1:{relay.relay_port}", *USER, "--transport", transport, "--allocations", "2", "--rate", "0",
        "--duration", "1",
    )  # fmt: skip
    assert found["rate"] == 0
    # Far above what any paced run here sends, far below what the slowest machine relays.
    assert found["received"] > 500
    assert found["received"] <= found["sent"]
    assert found["relayedPerSecond"] > 1000


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_allocations_are_released(relay, tmp_path, transport):
    """Eight fit at a time: a second run of eight needs those of the first."""
    for _ in range(2):
        found = run_load(
            tmp_path, f"127.0.0.1:{relay.relay_port}", *USER, "--transport", transport, "--allocations", "8", "--rate",
            "20", "--duration", "0.2",
        )  # fmt: skip
        assert found["lost"] == 0


@pytest.mark.parametrize("transport", ["udp", "tls"])
def test_quota_is_reported(relay, transport):
    done = load(f"127.0.0.1:{relay.relay_port}", *USER, "--transport", transport, "--allocations", "9")
    assert done.returncode != 0
    assert "486" in done.stderr
    assert "relay.limits.allocationsPerUser" in done.stderr


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_wrong_password_is_reported(relay, transport):
    done = load(
        f"127.0.0.1:{relay.relay_port}", "--user", "alice", "--password", "wrong", "--transport", transport,
        "--allocations", "1",
    )  # fmt: skip
    assert done.returncode != 0
    assert "refuses the credentials" in done.stderr
    assert "relay.users" in done.stderr


@pytest.mark.parametrize("transport", ["tcp", "tls"])
def test_closed_port_is_reported(transport):
    port = free_port()
    done = load(f"127.0.0.1:{port}", *USER, "--transport", transport, "--allocations", "1")
    assert done.returncode != 0
    assert f"nothing listens on TCP port {port}" in done.stderr


@pytest.mark.parametrize("transport", ["udp", "dtls"])
def test_silence_is_reported(transport):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]
        done = load(f"127.0.0.1:{port}", *USER, "--transport", transport, "--allocations", "1")
    assert done.returncode != 0
    assert f"127.0.0.1:{port} does not respond over {transport.upper()}" in done.stderr


def test_missing_certificate_is_reported(server):
    done = load(f"127.0.0.1:{server.relay_port}", *USER, "--transport", "tls", "--allocations", "1")
    assert done.returncode != 0
    assert "relay.certificate" in done.stderr


def test_forbidden_peer_is_reported(make_server):
    strict = make_server({"relay": {"peers": {"allow": []}}})
    done = load(f"127.0.0.1:{strict.relay_port}", *USER, "--allocations", "1")
    assert done.returncode != 0
    assert "relay.peers.allow" in done.stderr


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--transport", "sctp"], "--transport"),
        (["--rate", "-1"], "--rate"),
        (["--payload", "8"], "--payload"),
        (["--flood", "10", "--transport", "tcp"], "--flood"),
    ],
)
def test_wrong_options_are_reported(options, word):
    done = load("127.0.0.1:3478", *USER, *options)
    assert done.returncode == 64
    assert word in done.stderr


def test_flood_leaves_the_relay_standing(relay, tmp_path):
    done = load(f"127.0.0.1:{relay.relay_port}", "--flood", "5000", "--sources", "50")
    assert done.returncode == 0, done.stderr
    assert "packets sent from 50 sources" in done.stdout
    found = run_load(
        tmp_path, f"127.0.0.1:{relay.relay_port}", *USER, "--allocations", "2", "--rate", "20", "--duration", "0.5"
    )
    assert found["lost"] == 0
