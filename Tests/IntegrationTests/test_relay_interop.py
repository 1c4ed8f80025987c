"""The relay against other people's TURN clients: coturn's turnutils_uclient in every mode, and aioice.

Connections (`-t`, `-S`) are tested in test_relay_streams.py and test_relay_dtls.py, mobility, tokens and
DONT-FRAGMENT (`-M`, `-J`, `-g`) in test_relay_protocol.py, browsers are in
Tests/EndToEndTests, NATs and GStreamer in test_nat.py.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import subprocess

import aioice
import pytest
from aioice.ice import TransportPolicy
from switchboard_tests import coturn, stun
from switchboard_tests.certificates import Authority
from switchboard_tests.coturn import EPHEMERAL, STATIC
from switchboard_tests.ports import free_port
from switchboard_tests.server import Server

# Concurrent runs of uclient: each mostly waits.
AT_ONCE = 8


@pytest.fixture(scope="module")
def authority(tmp_path_factory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


def relay_settings(authority: Authority) -> dict:
    """A relay that relays to loopback, over IPv4 and IPv6."""
    return {
        "relay": {
            "listen": ["127.0.0.1", "::1"], "limits": {"allocationsPerUser": 1000},
            "peers": {"allow": ["127.0.0.0/8", "::1/128"]}, "tlsPorts": [free_port()],
            **authority.issue("127.0.0.1", "::1"),
        }
    }


@pytest.fixture(scope="module")
def relay(make_server, authority) -> Server:
    return make_server(relay_settings(authority))


@pytest.fixture(scope="module")
def aioice_relay(make_server, authority) -> Server:
    """A relay for aioice only: aioice gives up on a 437, which it gets on a port where uclient left an allocation."""
    return make_server(relay_settings(authority))


# turnutils_uclient ----------------------------------------------------------------------------------------------------

IPV4, IPV6 = ["-X", "-e", "127.0.0.1", "127.0.0.1"], ["-x", "-e", "::1", "::1"]

# Without -c, uclient asks for an even port and the one above it, and claims that with another allocation.
MODES = {
    **{
        " ".join([name, *mode, family]): [*credentials, *mode, *target]
        for name, credentials in [("static", STATIC), ("ephemeral", EPHEMERAL)]
        for mode in [[], ["-c"], ["-s"], ["-c", "-s"]]
        for family, target in [("-X", IPV4), ("-x", IPV6)]
    },
    **{
        " ".join(mode): [*STATIC, *mode, *IPV4]
        for mode in [["-D"], ["-c", "-D"], ["-G"], ["-c", "-G"], ["-D", "-G", "-s"]]
    },
    # Gives no -X, since both families are asked for; and "-y" has no peer but another client.
    **{" ".join(mode): [*STATIC, *mode, "-e", "127.0.0.1", "127.0.0.1"] for mode in [["-Z", "-c"], ["-Z", "-c", "-s"]]},
    **{
        " ".join(mode): [*STATIC, *mode, "127.0.0.1"]
        for mode in [["-y"], ["-y", "-c"], ["-y", "-s"], ["-y", "-s", "-c"], ["-y", "-c", "-G"]]
    },
    "-y -c -x": [*STATIC, "-y", "-c", "-x", "::1"],
}


@pytest.fixture(scope="module")
def reports(request, relay):
    """The reports of the selected modes, which run concurrently."""
    coturn.require("turnutils_uclient")
    ours = [
        item
        for item in request.session.items
        if item.originalname == "test_uclient_loses_nothing" and item.module is request.module
    ]
    wanted = {item.callspec.params["mode"] for item in ours}
    with coturn.echoing_peer() as peer, concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        yield {
            mode: pool.submit(coturn.uclient, relay.relay_port, ["-r", str(peer), *MODES[mode]])
            for mode in MODES
            if mode in wanted
        }


@pytest.mark.parametrize("mode", MODES)
def test_uclient_loses_nothing(reports, mode):
    report = reports[mode].result()
    assert report.lost == 0 and report.sent >= 160, report.tail


HOSTILE = {
    "negative tests": ["-N", "-R", "-c", *IPV4],
    "negative tests over TCP": ["-t", "-N", "-R", "-c", *IPV4],
    "connect and exit": ["-O", "-c", *IPV4],
    "connect and exit over TCP": ["-t", "-O", "-c", *IPV4],
    # With more than five messages at a time it closes its sockets before the last responses.
    "random disconnects": ["-B", *IPV4],
    "random disconnects over channels": ["-B", "-c", *IPV4],
    "TCP allocations with an active peer": ["-T", "-P", "127.0.0.1"],
}


def test_the_server_survives_uclient(relay):
    """These print no summary, or lose packets against coturn itself: the server must keep working for others."""
    coturn.require("turnutils_uclient")
    processes = []
    with coturn.echoing_peer() as peer:
        command = [
            "turnutils_uclient",
            "-p",
            str(relay.relay_port),
            "-n",
            "20",
            "-m",
            "4",
            "-z",
            "5",
            "-r",
            str(peer),
            *STATIC,
        ]
        try:
            for mode in HOSTILE.values():
                processes.append(
                    subprocess.Popen([*command, *mode], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                )
            # Other clients are not affected at the same time.
            for mode in (["-c"], ["-s", "-c"]):
                report = coturn.uclient(relay.relay_port, ["-r", str(peer), *STATIC, *mode, *IPV4])
                assert report.lost == 0 and report.sent >= 160, report.tail
        finally:
            # Some never end by themselves: they are killed.
            for process in processes:
                process.kill()
                process.wait()
    assert relay.process.poll() is None, relay.log_tail()
    client = stun.Client("127.0.0.1", relay.relay_port, "alice", "wonderland")
    client.allocate()
    client.close()


# aioice ---------------------------------------------------------------------------------------------------------------


async def relayed_pair(server: Server, transports: tuple[str, str]) -> list[bool]:
    """Connects two aioice agents that have nothing but a relayed candidate each, and passes data both ways."""
    pair = []
    for controlling, transport in zip((True, False), transports):
        name, password = stun.ephemeral("a secret of the tests, long enough", f"aioice{controlling}")
        pair.append(
            aioice.Connection(
                ice_controlling=controlling,
                turn_server=("127.0.0.1", server.relay_port),
                turn_username=name,
                turn_password=password,
                turn_transport="udp" if transport == "udp" else "tcp",
                turn_ssl=transport == "tls",
                transport_policy=TransportPolicy.RELAY,
            )
        )
    left, right = pair
    try:
        await asyncio.gather(left.gather_candidates(), right.gather_candidates())
        for one, other in ((left, right), (right, left)):
            assert {candidate.type for candidate in one.local_candidates} == {"relay"}
            other.remote_username, other.remote_password = one.local_username, one.local_password
            for candidate in one.local_candidates:
                await other.add_remote_candidate(candidate)
            await other.add_remote_candidate(None)
        await asyncio.gather(left.connect(), right.connect())
        arrived = []
        for number in range(100):
            payload = os.urandom(1 + number * 11)
            await left.send(payload)
            arrived.append(await right.recv() == payload)
            await right.send(payload[::-1])
            arrived.append(await left.recv() == payload[::-1])
        return arrived
    finally:
        await asyncio.gather(left.close(), right.close())


TRANSPORTS = [("udp", "udp"), ("tcp", "tcp"), ("tls", "tls"), ("udp", "tcp"), ("tcp", "tls"), ("tls", "udp")]


@pytest.mark.parametrize("transports", TRANSPORTS, ids="-".join)
def test_aioice_connects_through_two_relays(aioice_relay, authority, monkeypatch, caplog, transports):
    """Over TLS it verifies the certificate against the tests' own authority."""
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    # Logs the relay's responses, in case aioice has no candidate.
    caplog.set_level("DEBUG", "aioice")
    arrived = asyncio.run(asyncio.wait_for(relayed_pair(aioice_relay, transports), 30))
    assert len(arrived) == 200 and all(arrived)
