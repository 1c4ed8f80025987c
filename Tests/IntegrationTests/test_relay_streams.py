"""The relay over TCP and TLS: coturn's clients, and everything that goes wrong with connections."""

from __future__ import annotations

import pytest

from conftest import Server
from test_relay import EPHEMERAL, OPEN, STATIC, echo_port, uclient  # noqa: F401


@pytest.fixture(scope="module")
def relay(make_server) -> Server:
    """A server that relays to loopback, over IPv4 and IPv6."""
    return make_server({"relay": {"listen": ["127.0.0.1", "::1"], **OPEN}})


# coturn's clients -----------------------------------------------------------------------------------------------------


MODES = [[], ["-c"], ["-s"], ["-c", "-s"], ["-D"], ["-c", "-D"], ["-c", "-G"]]


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: " ".join(mode) or "plain")
@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_uclient_loses_nothing_over_tcp(relay, echo_port, mode, family):  # noqa: F811
    target = ["-e", "127.0.0.1", "-X", "127.0.0.1"] if family == "ipv4" else ["-x", "-e", "::1", "::1"]
    assert uclient(relay, ["-t", "-r", str(echo_port), *STATIC, *mode, *target]) == 0


@pytest.mark.parametrize("mode", [["-y"], ["-y", "-c"], ["-y", "-s", "-c"]], ids=" ".join)
def test_uclient_loses_nothing_between_tcp_clients(relay, mode):
    assert uclient(relay, ["-t", *STATIC, *mode, "127.0.0.1"]) == 0


def test_uclient_with_ephemeral_credentials_over_tcp(relay, echo_port):  # noqa: F811
    target = ["-r", str(echo_port), "-e", "127.0.0.1", "-X", "127.0.0.1"]
    assert uclient(relay, ["-t", "-c", *EPHEMERAL, *target]) == 0
