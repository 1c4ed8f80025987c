"""Impaired links between namespaces have the requested impairments, and lose nothing by themselves."""

import socket
import threading
import time

import pytest
from switchboard_tests import namespaces
from switchboard_tests.impaired_link import Impairments
from switchboard_tests.namespaces import PORT_RESTRICTED, Internet

# Of Linux; Python has no name for it.
SO_RCVBUFFORCE = 33


@pytest.fixture
def internet():
    namespaces.require()
    made = Internet()
    yield made
    made.close()


@pytest.fixture
def sent(internet):
    """Sends numbered datagrams from a host to the public network, and returns the numbers in order of arrival."""
    with internet.namespace.inside():
        target = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        # Room for all of them while this process waits for the CPU: its own socket loses nothing.
        target.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
        target.bind(("20.0.0.1", 0))
    target.settimeout(1)

    def send(network, count, rate):
        numbers = []
        reach(network, internet)
        # The first may take its time; when all are sent, what does not come within a second does not come.
        is_over = threading.Event()

        def receive():
            while True:
                was_over = is_over.is_set()
                try:
                    numbers.append(int.from_bytes(target.recv(2000)[:4]))
                except TimeoutError:
                    if was_over:
                        return

        receiver = threading.Thread(target=receive)
        receiver.start()
        try:
            with network.host.inside(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as source:
                for number in range(count):
                    source.sendto(number.to_bytes(4) + bytes(1100), target.getsockname())
                    time.sleep(1 / rate)
        finally:
            is_over.set()
        receiver.join()
        return numbers

    yield send
    target.close()


def reach(network, internet):
    """Connects over TCP, which is neither impaired nor counted, so that every hop knows its neighbour's hardware
    address. What waits for that is dropped, the oldest first, once it is more than some hundred datagrams."""
    with internet.namespace.inside():
        listener = socket.create_server(("20.0.0.1", 0))
    with listener, network.host.inside(), socket.create_connection(listener.getsockname(), timeout=30):
        pass


def test_a_good_wire_loses_nothing(internet, sent):
    network = internet.network(PORT_RESTRICTED, seed=1)
    # Far more than a group call sends.
    assert sent(network, 5000, rate=10_000) == list(range(5000))
    assert network.link.counts()["up"] == {"datagrams": 5000, "lost": 0, "reordered": 0, "dropped": 0}


def test_a_seed_decides_about_each_datagram(internet, sent):
    impairments = Impairments(loss=0.1, jitter=0.03)
    networks = [internet.network(PORT_RESTRICTED, seed=seed) for seed in (1, 1, 2)]
    for network in networks:
        network.link.impair(up=impairments)
    one, same, other = (sent(network, 1000, rate=1000) for network in networks)
    assert one == same != other
    assert 850 < len(one) < 950
    assert one == sorted(one), "jitter alone overtakes nobody"
    assert networks[0].link.counts()["up"] == {"datagrams": 1000, "lost": 1000 - len(one), "reordered": 0, "dropped": 0}


def test_a_wire_reorders_until_it_is_good_again(internet, sent):
    network = internet.network(PORT_RESTRICTED, seed=1)
    network.link.impair(up=Impairments(reordered=0.05, late=0.02))
    numbers = sent(network, 1000, rate=1000)
    assert numbers != sorted(numbers) == list(range(1000))
    network.link.impair()
    assert sent(network, 100, rate=1000) == list(range(100))
