"""A server whose machine gets and loses addresses while it runs, as with DHCP and IPv6 renumbering.

The server and its clients are in two network namespaces with a link between them.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Iterator

import httpx
import pytest
from switchboard_tests import stun
from switchboard_tests.calls import create_group_call
from switchboard_tests.namespaces import Namespace, require
from switchboard_tests.server import Server
from switchboard_tests.waiting import until, wait_until
from switchboard_tests.whip import WHIPSession

# Of the server, each in a network of its own: the kernel removes an address with the first one of its network.
FIRST, SECOND, THIRD = "20.0.1.1", "20.0.2.1", "2001:db8:1::1"
HTTP_PORT, RELAY_PORT = 8080, 3478


class Home:
    """The two namespaces, and the server."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.own, self.clients = Namespace(), Namespace()
        self.own.run(
            f"ip link add eth0 type veth peer name eth0 netns {self.clients.path}",
            f"ip address add {FIRST}/24 dev eth0", "ip link set eth0 up",
        )  # fmt: skip
        self.clients.run(
            "ip address add 20.0.1.2/24 dev eth0", "ip address add 20.0.2.2/24 dev eth0", "ip link set eth0 up"
        )
        self.moves_to(FIRST)
        with self.own.inside():
            server.start()

    def moves_to(self, address: str) -> None:
        """The clients use this address for HTTP."""
        self.server.url = f"http://{address}:{HTTP_PORT}"

    def log(self) -> list[str]:
        return [line for line in self.server.log.read_text().splitlines() if "the addresses of this machine" in line]

    def close(self) -> None:
        if self.server.process is not None:
            self.server.kill()
        self.clients.close()
        self.own.close()


@pytest.fixture
def home(make_server) -> Iterator[Home]:
    require()
    made = Home(
        make_server(
            {
                "http": {"host": "0.0.0.0", "port": HTTP_PORT},
                "relay": {"listen": [], "port": RELAY_PORT, "peers": {"allow": []}},
            },
            started=False,
        )
    )
    yield made
    made.close()


def offered(answer: httpx.Response) -> set[str]:
    """The addresses of the candidates."""
    return {line.split()[4] for line in answer.text.splitlines() if line.startswith("a=candidate:")}


def test_calls_go_on_while_addresses_come_and_go(home):
    with home.clients.inside():
        asyncio.run(calls_go_on(home))


async def calls_go_on(home: Home) -> None:
    anna, ben, cleo, dora = home.server.users(4)
    call = create_group_call(anna, [ben, cleo, dora])
    async with contextlib.AsyncExitStack() as sessions:

        async def opened(person, kind):
            session = await sessions.enter_async_context(WHIPSession(person, call, kind))
            return session, await session.open()

        _, answer = await opened(ben, "whip")
        assert offered(answer) == {FIRST}
        player, _ = await opened(cleo, "whep")
        await until("Ben's tone and picture", player.plays)

        home.own.run(f"ip address add {SECOND}/24 dev eth0")
        await until("the line in the log", lambda: any(f"added={SECOND}" in line for line in home.log()))
        home.moves_to(SECOND)
        later, answer = await opened(dora, "whep")
        assert offered(answer) == {FIRST, SECOND}
        await until("Ben's tone and picture at the new address", later.plays)
        frames = player.received["audio"].frames
        await until("more of it at the old one", lambda: player.received["audio"].frames > frames + 25)

        home.own.run(f"ip address del {FIRST}/24 dev eth0")
        await until("the line in the log", lambda: any(f"removed={FIRST}" in line for line in home.log()))
        successor, answer = await opened(anna, "whip")
        assert offered(answer) == {SECOND}
        # For a second there is no address at all, and then it is there again.
        viewer, answer = await opened(dora.another_endpoint(), "whep")
        assert offered(answer) == {SECOND}
        await until("Anna's tone and picture", viewer.plays)
        home.own.run(f"ip address del {SECOND}/24 dev eth0")
        await until("the line in the log", lambda: any(f"removed={SECOND}" in line for line in home.log()))
        home.own.run(f"ip address add {SECOND}/24 dev eth0")
        frames = viewer.received["audio"].frames
        await until("more of Anna's tone", lambda: viewer.received["audio"].frames > frames + 25)
        assert successor.connection.connectionState == "connected"


def test_ipv6_addresses_are_offered_only_while_they_are_preferred(home):
    def offer() -> set[str]:
        async def run() -> set[str]:
            async with WHIPSession(ben, create_group_call(anna, [ben]), "whip") as session:
                answer = await session.open()
                await session.end()
                return offered(answer)

        with home.clients.inside():
            return asyncio.run(run())

    with home.clients.inside():
        anna, ben = home.server.users(2)
    # A second one with the same address is on the link: the server's must not be used.
    home.clients.run(f"ip address add {THIRD}/64 dev eth0 nodad")
    home.own.run(f"ip address add {THIRD}/64 dev eth0")
    wait_until(lambda: "dadfailed" in home.own.output("ip address show dev eth0"), "the duplicate to be found")
    home.own.run(f"ip address add {SECOND}/24 dev eth0")
    wait_until(lambda: any(SECOND in line for line in home.log()), "the line in the log")
    assert offer() == {FIRST, SECOND}
    home.own.run(f"ip address del {THIRD}/64 dev eth0")
    home.clients.run(f"ip address del {THIRD}/64 dev eth0")

    home.own.run(f"ip address add {THIRD}/64 dev eth0")
    wait_until(lambda: any(f"added={THIRD}" in line for line in home.log()), "the line in the log")
    assert offer() == {FIRST, SECOND, THIRD}
    home.own.run(f"ip address change {THIRD}/64 dev eth0 preferred_lft 0 valid_lft 3600")
    wait_until(lambda: any(f"removed={THIRD}" in line for line in home.log()), "the line in the log")
    assert offer() == {FIRST, SECOND}


def test_the_relay_follows_too(home):
    def client(host: str, user: str, password: str) -> stun.Client:
        with home.clients.inside():
            return stun.Client(host, RELAY_PORT, user, password, {FIRST: "20.0.1.2", SECOND: "20.0.2.2"}[host])

    old = client(FIRST, "alice", "wonderland")
    relayed = old.allocate()
    assert relayed[0] == FIRST
    assert old.bind(0x4000, "20.0.2.2", 9) == 0
    home.own.run(f"ip address add {SECOND}/24 dev eth0")
    wait_until(lambda: any(f"added={SECOND}" in line for line in home.log()), "the line in the log")
    new = client(SECOND, "alice", "wonderland")
    host, port = new.allocate()
    assert host == SECOND
    # It is the server's own address now, on which only relays are peers.
    assert old.bind(0x4001, SECOND, HTTP_PORT) == 403
    assert old.bind(0x4001, host, port) == 0
    assert new.bind(0x4000, *relayed) == 0
    payload = os.urandom(100)
    old.send_channel(0x4001, payload)
    assert new.socket.recv(9000)[4:104] == payload
    old.close()
    new.close()


def test_an_address_whose_port_is_taken_is_tried_again(home):
    with home.own.inside():
        other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        # Also before the address is there (ip(7): IP_FREEBIND).
        other.setsockopt(socket.IPPROTO_IP, 15, 1)
        other.bind((SECOND, RELAY_PORT))
    home.own.run(f"ip address add {SECOND}/24 dev eth0")
    warning = f"relay.port: UDP port {RELAY_PORT} on {SECOND} is taken by another program"
    wait_until(lambda: warning in home.server.log.read_text(), "the warning")
    # The gateway has it.
    wait_until(lambda: any(f"added={SECOND}" in line for line in home.log()), "the line in the log")
    other.close()
    with home.clients.inside():
        client = stun.Client(SECOND, RELAY_PORT, "alice", "wonderland", "20.0.2.2")
    assert client.allocate()[0] == SECOND
    client.close()
    assert home.server.log.read_text().count(warning) == 1
