"""NAT behaviour discovery (RFC 5780) on two addresses of the loopback: by coturn's clients, and by hand."""

from __future__ import annotations

import ipaddress
import itertools
import os
import re
import shutil
import socket
import struct
import subprocess

import pytest
from switchboard_tests import stun
from switchboard_tests.ports import free_port
from switchboard_tests.server import Server

CHANGE_REQUEST, PADDING, RESPONSE_PORT, RESPONSE_ORIGIN, OTHER_ADDRESS = 0x03, 0x26, 0x27, 0x802B, 0x802C
ADDRESSES = ["127.0.0.1", "127.0.0.2"]


@pytest.fixture(scope="module")
def discovery(make_server) -> Server:
    port = free_port(2)
    server = make_server({"relay": {"listen": ADDRESSES, "port": port, "natDiscovery": True}}, started=False)
    server.relay_port = port
    server.start()
    return server


def plain(value: bytes) -> tuple[str, int]:
    return str(ipaddress.ip_address(value[4:])), struct.unpack_from("!H", value, 2)[0]


def ask(target: tuple[str, int], *attributes: bytes, answered_at: socket.socket | None = None):
    """The response to a Binding request and its source address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.bind(("127.0.0.1", 0))
        listening = answered_at or asking
        listening.settimeout(1)
        transaction = os.urandom(12)
        for _ in range(10):
            asking.sendto(stun.message(stun.BINDING, transaction, b"".join(attributes)), target)
            try:
                data, source = listening.recvfrom(9000)
            except TimeoutError:
                continue
            kind, answered, values = stun.parse(data)
            assert answered == transaction
            return kind, values, source, data
    raise AssertionError("no answer")


def test_every_socket_responds_from_every_other(discovery):
    """All workers have all four sockets: whichever the kernel picks for the request, the response's source is right."""
    ports = [discovery.relay_port, discovery.relay_port + 1]
    corners = list(itertools.product(ADDRESSES, ports))
    for address, port in corners:
        for change_address, change_port in itertools.product((0, 1), repeat=2):
            for _ in range(8):
                flags = struct.pack("!I", change_address * 4 + change_port * 2)
                _kind, values, source, _ = ask((address, port), stun.attribute(CHANGE_REQUEST, flags))
                expected = (
                    ADDRESSES[ADDRESSES.index(address) ^ change_address], ports[ports.index(port) ^ change_port]
                )
                assert source == expected
                assert plain(values[RESPONSE_ORIGIN]) == expected
                opposite = (ADDRESSES[1 - ADDRESSES.index(address)], ports[1 - ports.index(port)])
                assert plain(values[OTHER_ADDRESS]) == opposite


def test_a_response_port_is_of_the_source_itself(discovery):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        port = struct.pack("!HH", other.getsockname()[1], 0)
        kind, _, source, _ = ask(
            ("127.0.0.1", discovery.relay_port), stun.attribute(RESPONSE_PORT, port), answered_at=other
        )
    assert kind & 0x110 == stun.SUCCESS
    assert source == ("127.0.0.1", discovery.relay_port)


@pytest.mark.parametrize("size", [0, 4, 500, 1500, 8000])
def test_no_response_is_larger_than_its_request(discovery, size):
    """Except for the addresses in every response: PADDING cannot be used for reflection."""
    _, _, _, bare = ask(("127.0.0.1", discovery.relay_port))
    _, values, _, data = ask(("127.0.0.1", discovery.relay_port), stun.attribute(PADDING, bytes(size)))
    assert len(data) <= len(bare) + 4 + size
    assert len(values.get(PADDING, b"")) == min(size, 1500)


def test_without_the_setting_its_attributes_are_unknown(server):
    kind, values, _, _ = ask(("127.0.0.1", server.relay_port), stun.attribute(CHANGE_REQUEST, bytes([0, 0, 0, 6])))
    assert kind & 0x110 == stun.FAILURE
    assert values[stun.ERROR_CODE][2:4] == bytes([4, 20])
    _, values, _, _ = ask(("127.0.0.1", server.relay_port))
    assert OTHER_ADDRESS not in values


def run(*command: str) -> str:
    if not shutil.which(command[0]):
        pytest.skip("coturn's tools are not installed (apt-get install coturn)")
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


def test_turnutils_stunclient_sees_both_addresses(discovery):
    output = run("turnutils_stunclient", "-f", "-p", str(discovery.relay_port), "127.0.0.1")
    assert f"127.0.0.2:{discovery.relay_port + 1}" in output, output
    origins = re.findall(r"Response origin: : (\S+)", output)
    assert f"127.0.0.1:{discovery.relay_port}" in origins, output
    assert f"127.0.0.2:{discovery.relay_port + 1}" in origins, output


def test_turnutils_natdiscovery_finds_no_nat(discovery):
    output = run("turnutils_natdiscovery", "-m", "-f", "-H", "-p", str(discovery.relay_port), "127.0.0.1")
    assert "NAT with Endpoint Independent Filtering!" in output or "Endpoint-Independent Filtering" in output, output
