"""The compared relays, each restarted for a run, and the networks between clients, relay and peers."""

from __future__ import annotations

import contextlib
import os
import pathlib
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "PythonSupport"))

from switchboard_tests import namespaces

PORT, PEER_PORT = 34781, 34791
USER, PASSWORD, REALM = "bench", "benchmark", "bench"
WORKERS = 2


class Loopback:
    """Everything on 127.0.0.1, in the current namespace."""

    client = server = peer = "127.0.0.1"

    def at_clients(self):
        return contextlib.nullcontext()

    at_server = at_peers = at_clients

    def close(self) -> None:
        pass


class Veth:
    """Three namespaces: clients and peers each have a pair of veth devices to the relay, which has one address.

        clients 10.77.1.2 ── 10.77.1.1 relay 10.77.2.1 ── 10.77.2.2 peers
    """

    client, server, peer = "10.77.1.2", "10.77.1.1", "10.77.2.2"

    def __init__(self):
        clients, server, peers = (namespaces.Namespace() for _ in range(3))
        self.all = clients, server, peers
        self.at_clients, self.at_server, self.at_peers = clients.inside, server.inside, peers.inside
        for number, side in (1, clients), (2, peers):
            server.run(
                f"ip link add side{number} type veth peer name eth0 netns {side.path}",
                f"ip address add 10.77.{number}.1/24 dev side{number}", f"ip link set side{number} up",
            )
            side.run(
                f"ip address add 10.77.{number}.2/24 dev eth0", "ip link set eth0 up",
                f"ip route add default via 10.77.{number}.1",
            )

    def close(self) -> None:
        for one in self.all:
            one.close()


NETWORKS: dict[str, type[Loopback | Veth]] = {"loopback": Loopback, "veth": Veth}


def wait_until_ready(address: str, port: int) -> None:
    """Waits until a STUN Binding gets a response, or turnutils_peer echoes."""
    request = bytes.fromhex("000100002112a442") + os.urandom(12)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.settimeout(0.1)
        for _ in range(200):
            with contextlib.suppress(OSError):
                probe.sendto(request, (address, port))
                probe.recv(1500)
                return
    raise SystemExit(f"nothing responds on {address}, UDP port {port}")


@contextlib.contextmanager
def running(inside, arguments: list[str], address: str, port: int, **options):
    """A process in one of the network's namespaces, once it responds."""
    with inside():
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    try:
        with inside():
            wait_until_ready(address, port)
        yield process
    finally:
        process.kill()
        process.wait()


def certificate(directory: str) -> str:
    """A PEM file with a certificate and its key."""
    both = f"{directory}/both.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-keyout", f"{directory}/key.pem", "-out", both], check=True, capture_output=True,
    )
    with open(both, "a") as file:
        file.write(pathlib.Path(f"{directory}/key.pem").read_text())
    return both


class Servers:
    """Starts relays by name, all on the same port and with as many threads."""

    def __init__(self, network, binaries: str, turnserver: str, pem: str):
        self.network, self.binaries, self.turnserver, self.pem = network, binaries, turnserver, pem

    def start(self, kind: str):
        arguments, options = {
            "coturn": self.coturn, "bare": self.bare, "switchboard": self.ours,
            "each by itself": self.ours_without_joining,
        }[kind]()
        return running(self.network.at_server, arguments, self.network.server, PORT, **options)

    def ours(self, *more: str):
        arguments = [f"{self.binaries}/relay-alone", f"listen={self.network.server}", f"port={PORT}",
                     f"user={USER}:{PASSWORD}", "allow=127.0.0.0/8", "allow=10.0.0.0/8", "perUser=100000", "answers=0",
                     f"workers={WORKERS}", f"certificate={self.pem}", *more]
        return arguments, {"stdin": subprocess.PIPE}

    def ours_without_joining(self):
        return self.ours("joins=0")

    def bare(self):
        return [f"{self.binaries}/bare-forwarder", self.network.server, str(PORT), str(WORKERS)], {}

    def coturn(self):
        # It detects TLS on its plain port too.
        return [self.turnserver, "-n", "--no-cli", "-L", self.network.server, "-p", str(PORT), "--user",
                f"{USER}:{PASSWORD}", "-r", REALM, "-a", "--allow-loopback-peers", "--log-file=/dev/null",
                "--simple-log", "-m", str(WORKERS), "--pidfile", f"/tmp/bench-turnserver-{os.getpid()}.pid", "--cert",
                self.pem, "--pkey", self.pem], {}

    def peer(self):
        arguments = ["turnutils_peer", "-L", self.network.peer, "-p", str(PEER_PORT)]
        return running(self.network.at_peers, arguments, self.network.peer, PEER_PORT)
