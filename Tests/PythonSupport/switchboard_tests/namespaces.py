"""An internet of network namespaces: a public network, and local networks behind NATs of nftables.

The public network is 20.0.0.0/24, a bridge in the namespace where the server runs as 20.0.0.1: addresses outside of
special ranges, so that the relay's default rule for peers allows them. Each local network is two namespaces, the NAT
with the links `wan` and `lan`, and the host with `eth0`. A namespace lives as long as its descriptor is open, or a
process in it. The host's downlink can be throttled, and the link between the two can be impaired (`impaired_link.py`).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterator

from switchboard_tests.impaired_link import ImpairedLink

NEW_NET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)

# NAT mappings: the first keeps the port (and allows incoming packets only from destinations of its host:
# port-restricted), the second uses another random port for each destination (symmetric).
PORT_RESTRICTED, SYMMETRIC = "masquerade", "masquerade fully-random"
# The outgoing traffic that a NAT allows.
EVERYTHING, NO_UDP, ONLY_443 = "accept", "meta l4proto udp drop; accept", "tcp dport 443 accept"


def check(result: int) -> None:
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def require() -> None:
    """Skips the test if namespaces cannot be created."""
    # Imported here, since benchmarks use namespaces too, without pytest.
    import pytest

    for tool, package in (("ip", "iproute2"), ("nft", "nftables"), ("sysctl", "procps")):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed (apt-get install {package})")
    try:
        Namespace().close()
    except PermissionError:
        pytest.skip("network namespaces need root with CAP_SYS_ADMIN and CAP_NET_ADMIN")


class Namespace:
    """A network namespace with a loopback."""

    def __init__(self) -> None:
        with own_namespace() as own:
            check(LIBC.unshare(NEW_NET))
            try:
                self.descriptor = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
            finally:
                check(LIBC.setns(own, NEW_NET))
        self.path = f"/proc/{os.getpid()}/fd/{self.descriptor}"
        self.run("ip link set lo up")

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """Sockets and processes that this thread creates meanwhile are in this network."""
        with own_namespace() as own:
            check(LIBC.setns(self.descriptor, NEW_NET))
            try:
                yield
            finally:
                check(LIBC.setns(own, NEW_NET))

    def run(self, *commands: str) -> None:
        with self.inside():
            for command in commands:
                done = subprocess.run(command.split(), capture_output=True, text=True)
                assert done.returncode == 0, f"{command}: {done.stderr}"

    def output(self, command: str) -> str:
        with self.inside():
            return subprocess.run(command.split(), capture_output=True, text=True, check=True).stdout

    def rules(self, text: str) -> None:
        with self.inside():
            done = subprocess.run(["nft", "-f", "-"], input=text, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def close(self) -> None:
        os.close(self.descriptor)


@contextlib.contextmanager
def own_namespace() -> Iterator[int]:
    descriptor = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


class LocalNetwork:
    """A host behind a NAT. With a seed there is a `link` between them that can be impaired."""

    def __init__(self, internet: Internet, number: int, kind: str, lets_out: str, seed: int | None) -> None:
        self.nat, self.host = Namespace(), Namespace()
        self.number, self.moves = number, 0
        self.public = f"20.0.0.{10 + number}"
        inner = f"192.168.{number}"
        self.private = f"{inner}.2"
        internet.namespace.run(
            f"ip link add port{number} type veth peer name wan netns {self.nat.path}",
            f"ip link set port{number} master wide up",
        )
        self.link = None
        if seed is None:
            self.nat.run(f"ip link add lan type veth peer name eth0 netns {self.host.path}")
        else:
            self.link = ImpairedLink(self.nat, "lan", self.host, "eth0", seed)
        self.nat.run(
            f"ip address add {self.public}/24 dev wan", "ip link set wan up",
            f"ip address add {inner}.1/24 dev lan", "ip link set lan up", "sysctl -qw net.ipv4.ip_forward=1",
        )
        self.host.run(
            # Without a link-local IPv6 address, which would appear seconds later: to a browser that is another network.
            "ip link set eth0 addrgenmode none",
            f"ip address add {self.private}/24 dev eth0", "ip link set eth0 up", f"ip route add default via {inner}.1"
        )
        # Unsolicited packets are dropped before they create a conntrack entry; otherwise the hole that the host punches
        # a moment later would get another port.
        self.nat.rules(
            f"""
            table ip translation {{
                chain out {{ type nat hook postrouting priority srcnat; oifname "wan" {kind}; }}
            }}
            table ip firewall {{
                chain own {{ type filter hook input priority filter; policy drop; iifname "lan" accept; }}
                chain through {{
                    type filter hook forward priority filter; policy drop;
                    iifname "wan" ct state established,related accept
                    iifname "lan" jump lets_out
                }}
                chain lets_out {{ {lets_out}; }}
            }}
            """
        )

    def expose(self) -> None:
        """Makes it a one-to-one NAT, as in clouds: everything to the public address is forwarded to the host."""
        self.nat.rules(
            f"""
            table ip exposure {{
                chain in {{ type nat hook prerouting priority dstnat; iifname "wan" dnat to {self.private}; }}
            }}
            add rule ip firewall through iifname "wan" accept
            """
        )

    def move(self) -> None:
        """Changes the public address, as home routers do overnight: the kernel drops all translations."""
        self.moves += 1
        before, self.public = self.public, f"20.0.0.{10 + self.number + 80 * (self.moves % 3)}"
        self.nat.run(f"ip address del {before}/24 dev wan", f"ip address add {self.public}/24 dev wan")

    def throttle(self, rate: str) -> None:
        """Limits the host's downlink to a rate such as `300kbit`, with a queue of at most 200 ms."""
        self.nat.run(f"tc qdisc replace dev lan root tbf rate {rate} burst 4kb latency 200ms")

    def unthrottle(self) -> None:
        self.nat.run("tc qdisc del dev lan root")

    def close(self) -> None:
        if self.link:
            self.link.close()
        self.host.close()
        self.nat.close()


class Internet:
    """The public network, with the server's addresses 20.0.0.1 and 20.0.0.2."""

    def __init__(self) -> None:
        self.namespace = Namespace()
        self.networks: list[LocalNetwork] = []
        # With a fixed MAC address: otherwise a bridge uses the lowest of its ports', which a network that is added
        # later may change, while neighbours have the old one cached for half a minute.
        self.namespace.run(
            "ip link add wide address 02:00:00:00:00:01 type bridge",
            "ip address add 20.0.0.1/24 dev wide", "ip address add 20.0.0.2/24 dev wide", "ip link set wide up",
        )

    def network(self, kind: str, lets_out: str = EVERYTHING, seed: int | None = None) -> LocalNetwork:
        made = LocalNetwork(self, len(self.networks) + 1, kind, lets_out, seed)
        self.networks.append(made)
        return made

    def close(self) -> None:
        for network in self.networks:
            network.close()
        self.namespace.close()
