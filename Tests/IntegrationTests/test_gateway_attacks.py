"""Unusual, broken and hostile clients at the media gateway's port: ClientHellos in fragments, in any order and
duplicated complete their handshake; forged, replayed, truncated and oversized packets are counted without effect;
invalid offers are rejected with the reason; idle connections are closed. The server survives all of it."""

from __future__ import annotations

import concurrent.futures
import os
import random
import socket
import struct
from collections.abc import Iterator

import pylibsrtp
import pytest
from switchboard_tests import dtls, legs, stun
from switchboard_tests.metrics import families, value
from switchboard_tests.waiting import TIMEOUT, wait_until


@pytest.fixture(scope="module")
def identity(tmp_path_factory) -> legs.Identity:
    return legs.Identity(tmp_path_factory.mktemp("identity"))


@pytest.fixture
def people(server):
    return server.users(2)


@pytest.fixture
def call(server, people):
    """A call that Anna is in. It is ended after the test, so that no leg ends during another test."""
    anna, ben = people
    made = legs.call(anna, ben)
    yield made
    anna.post(f"/v1/calls/{made}/end")
    wait_until(lambda: value(server, "gateway_legs") == 0, "no leg is left")


@pytest.fixture
def leg(server, people, call, identity) -> Iterator[legs.Leg]:
    made = legs.Leg(people[0], call, identity, ssrc=11)
    made.check()
    yield made
    made.socket.close()


def dropped(server, reason: str) -> float:
    return value(server, "gateway_dropped_total", reason=reason)


STATE = [
    "gateway_legs",
    "gateway_connected_legs",
    "gateway_calls",
    "gateway_tracks",
    "gateway_flows",
    "gateway_connections",
]


def state(server) -> dict[str, float]:
    """The gateway's metrics, except the datagram counters."""
    samples = {name: value(server, name) for name in STATE}
    samples["handshakes"] = value(server, "gateway_handshakes_total")
    samples["forwarded"] = value(server, "gateway_packets_forwarded_total")
    for family in families(server).values():
        if family.name == "switchboard_gateway_legs_ended":
            samples |= {sample.labels["reason"]: sample.value for sample in family.samples}
    return samples


# Hellos.


def connected(server, before: float) -> None:
    wait_until(lambda: value(server, "gateway_handshakes_total") == before + 1, "the handshake is counted")


@pytest.mark.parametrize(
    "options",
    [[], ["-mtu", "256"], ["-mtu", "256", "-alpn", ",".join(["x" * 200] * 12)]],
    ids=["plain", "fragmented", "large"],
)
def test_a_hello_from_the_checked_port(server, leg, identity, options):
    """The client's port is taken over by openssl after the check. A ClientHello with two extra kilobytes is as large as
    one with an ML-KEM-768 key share, and spans ten datagrams."""
    before = value(server, "gateway_handshakes_total")
    port = leg.socket.getsockname()[1]
    leg.socket.close()
    with legs.openssl(identity, leg.server[1], "-bind", f"127.0.0.1:{port}", *options):
        connected(server, before)


@pytest.mark.parametrize("seed", range(1, 5))
def test_a_hello_in_any_order_and_twice(server, leg, identity, seed):
    before = value(server, "gateway_handshakes_total")
    proxy = legs.DatagramProxy(leg, legs.shuffled(seed))
    with legs.openssl(identity, proxy.port, "-mtu", "256", "-alpn", ",".join(["x" * 200] * 5)):
        connected(server, before)
    proxy.close()
    assert len(proxy.sent) > 6


@pytest.mark.parametrize("seed", range(1, 4))
def test_a_handshake_among_junk_and_replays(server, leg, identity, seed):
    before = value(server, "gateway_handshakes_total")
    junk = dtls.JunkAndReplays(seed)
    proxy = legs.DatagramProxy(leg, lambda burst: [one for data in burst for one in junk(data, 1)])
    with legs.openssl(identity, proxy.port, "-mtu", "256"):
        connected(server, before)
    proxy.close()


def test_a_post_quantum_hello_is_answered(leg):
    """The ClientHello of a DTLS 1.3 client with an X25519MLKEM768 key share, in three datagrams: DTLS 1.2 is
    negotiated."""
    shares = struct.pack("!HHHH", 0x33, 1220 + 2, 1220, 0x11EC) + struct.pack("!H", 1216) + os.urandom(1216)
    groups = struct.pack("!HHHHHH", 0x0A, 8, 6, 0x11EC, 0x1D, 0x17)
    extensions = (
        shares
        + groups
        + bytes.fromhex("000b00020100 000d00060004 0403 0804 00170000 000e0005 0002 0007 00".replace(" ", ""))
    )
    extensions += bytes.fromhex("002b0005 04 fefc fefd".replace(" ", ""))
    hello = b"\xfe\xfd" + os.urandom(32) + b"\0\0" + bytes.fromhex("0006 1301 c02b c02f 0100".replace(" ", ""))
    hello += struct.pack("!H", len(extensions)) + extensions
    parts = dtls.fragments(hello, 500, 0)
    assert len(parts) >= 3
    for part in reversed(parts):
        leg.send(part)
    leg.socket.settimeout(TIMEOUT)
    while True:
        response = leg.socket.recv(9000)
        if response[0] == dtls.HANDSHAKE:
            break
    assert response[13] == 2, "no ServerHello"
    assert response[25:27] == b"\xfe\xfd", "not DTLS 1.2"


# Unauthentic packets.


@pytest.fixture
def connected_leg(server, leg, identity):
    """A connected leg, its SRTP session, and everything that it sent."""
    before = value(server, "gateway_handshakes_total")
    proxy = legs.DatagramProxy(leg)
    with legs.openssl(identity, proxy.port) as (_, material):
        connected(server, before)
        policy = pylibsrtp.Policy(
            key=legs.sender_keys(material), ssrc_type=pylibsrtp.Policy.SSRC_ANY_OUTBOUND,
            srtp_profile=pylibsrtp.Policy.SRTP_PROFILE_AEAD_AES_128_GCM,
        )
        yield leg, pylibsrtp.Session(policy), proxy
    proxy.close()


def speech(session, sequence: int) -> bytes:
    return session.protect(struct.pack("!BBHII", 0x80, 111, sequence, 960 * sequence, 11) + b"\x78 words")


def test_media_that_is_not_authentic_changes_nothing(server, connected_leg):
    leg, session, _ = connected_leg
    packet = speech(session, 1)
    report = session.protect_rtcp(struct.pack("!BBHI", 0x80, 201, 1, 11))
    counted = dropped(server, "srtp")
    leg.send(packet)
    leg.send(report)
    wait_until(lambda: value(server, "gateway_connected_legs") >= 1, "it is connected")
    before = state(server)
    rng = random.Random(3)
    sent = 0
    for original in (packet, report):
        bad = [original] * 3
        bad += [original[:count] for count in range(12, len(original))]
        bad += [original + bytes(rng.choice([1, 4, 1400, 8000])) for _ in range(5)]
        for _ in range(100):
            changed = bytearray(original)
            changed[rng.randrange(2, len(changed))] ^= 1 << rng.randrange(8)
            bad.append(bytes(changed))
        for one in bad:
            leg.send(one)
        sent += len(bad)
    wait_until(lambda: dropped(server, "srtp") == counted + sent, "each of them is counted")
    assert state(server) == before
    # From an unknown address, even authentic packets are dropped.
    unknown = dropped(server, "unknown_flow")
    with stun.fresh_socket("127.0.0.1") as outsider:
        for one in (packet, report, speech(session, 2)):
            outsider.sendto(one, leg.server)
    wait_until(lambda: dropped(server, "unknown_flow") == unknown + 3, "packets of unknown flows are counted")
    assert state(server) == before
    # A datagram larger than any buffer, and one of an unknown protocol.
    kinds = dropped(server, "unknown_kind")
    leg.send(b"\x80" + bytes(20_000))
    leg.send(b"\xff\x00")
    wait_until(lambda: dropped(server, "unknown_kind") == kinds + 2, "what is none of these is counted")
    assert state(server) == before


def test_records_that_are_not_authentic_change_nothing(server, connected_leg):
    leg, _, proxy = connected_leg
    counted, before = dropped(server, "dtls"), state(server)
    rng = random.Random(4)
    bad = [dtls.record(rng.randbytes(40), kind, epoch) for kind in (20, 21, 22, 23) for epoch in (0, 1, 2)]
    bad += [
        dtls.record(b"\x02\x28", 21),
        dtls.record(b"\x01\x00", 21),
        b"\x16",
        b"\x16\xfe\xfd" + bytes(20),
        bytes([63]) * 9000,
    ]
    for one in bad:
        leg.send(one)
    # Replays everything that openssl sent: OpenSSL may answer a Finished, and nothing else.
    for one in proxy.sent:
        leg.send(one)
    wait_until(lambda: dropped(server, "dtls") >= counted + len(bad), "records are counted")
    assert state(server) == before


def test_checks_that_are_not_authentic_change_nothing(server, leg):
    good = leg.check_bytes()
    leg.send(good)
    wait_until(lambda: value(server, "gateway_flows") >= 1, "it has a flow")
    before, counted = state(server), dropped(server, "stun")
    bad = [good[:count] for count in range(1, len(good), 7)] + [good + bytes(4), leg.check_bytes(password="x" * 32)]
    for index in range(2, len(good), 3):
        changed = bytearray(good)
        changed[index] ^= 0x10
        bad.append(bytes(changed))
    for one in bad:
        leg.send(one)
    with stun.fresh_socket("127.0.0.1") as outsider:
        # A replayed check from another address does not redirect the media.
        outsider.sendto(good, leg.server)
        outsider.settimeout(0.5)
        wait_until(lambda: dropped(server, "stun") == counted + len(bad) + 1, "each of them is counted")
        with pytest.raises(TimeoutError):
            outsider.recv(9000)
    assert state(server) == before
    leg.check()


# Offers.


def offers(fingerprint: str) -> dict[str, str]:
    one = lambda mid="0", *more: legs.section(mid, "sendonly", fingerprint, *more)
    good = legs.description([one()])
    return {
        "nothing": "v=0\r\n",
        "binary": "".join(chr(index % 256) for index in range(5000)),
        "no text": "\0" * 1000,
        "one endless line": "a=" + "x" * 200_000,
        "thousands of sections": legs.description([one(str(index)) for index in range(600)]),
        "thousands of short sections": "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n"
        + "m=audio 9 RTP 0\r\n" * 14_000,
        "repeated mids": legs.description([one(), one()]),
        "no fingerprint": good.replace("a=fingerprint", "a=footprint"),
        "bad fingerprint": good.replace(fingerprint, "AA:BB"),
        "no bundle": legs.description([one(), one("1")]).replace("a=group:BUNDLE 0 1\r\n", ""),
        "no mux": good.replace("a=rtcp-mux\r\n", ""),
        "no password": good.replace("a=ice-pwd", "a=ice-pw"),
        "holdconn": good.replace("actpass", "holdconn"),
        "bad payload type": good.replace("111", "99999"),
        "no codec": good.replace("opus", "opium"),
    }


# Of these an answer needs nothing.
NEEDLESS = [
    "a=candidate:", "a=candidate:1 1 udp 1 127.0.0.1 70000 typ host",
    "a=candidate:1 1 udp 4294967296 127.0.0.1 9 typ host x", "a=fmtp:106 ", "a=rtcp-fb:106", "b=AS:undefined",
    "a=ssrc:-1190912345 cname:c", "a=msid:",
]  # fmt: skip


@pytest.mark.parametrize("line", NEEDLESS)
def test_a_line_that_no_answer_needs_refuses_no_offer(people, call, identity, line):
    section = legs.section("0", "sendonly", identity.fingerprint, line)
    response = people[0].post(f"/v1/calls/{call}/leg", {"offer": {"sdp": legs.description([section])}})
    assert response.status_code == 200, response.text
    assert "m=audio 0" not in response.json()["answer"]["sdp"]


@pytest.mark.parametrize("name", list(offers("AA")))
def test_hostile_offers_are_rejected_with_the_reason(server, people, call, identity, name):
    anna, path = people[0], f"/v1/calls/{call}/leg"
    before = value(server, "gateway_legs")
    response = anna.post(path, {"offer": {"sdp": offers(identity.fingerprint)[name]}})
    assert 400 <= response.status_code < 500, response.text
    problem = response.json()
    assert problem["field"] == "offer.sdp" and problem["type"] and len(problem["detail"]) in range(10, 1000), problem
    assert value(server, "gateway_legs") == before
    # A valid offer is still accepted afterwards.
    made = legs.Leg(anna, call, identity, ssrc=11)
    made.check()
    made.socket.close()


def test_many_sections_and_candidates_are_answered_in_time(people, call, identity):
    anna, path = people[0], f"/v1/calls/{call}/leg"
    candidates = [f"a=candidate:{index} 1 udp {index} 127.0.0.1 {index + 1} typ host" for index in range(2000)]
    sections = [legs.section("0", "sendonly", identity.fingerprint, *candidates)]
    sections += [legs.section(str(index), "recvonly", identity.fingerprint) for index in range(1, 64)]
    bundle = "a=group:BUNDLE " + " ".join(str(index) for index in range(10_000))
    response = anna.post(path, {"offer": {"sdp": legs.description(sections, bundle)}}, timeout=10)
    assert response.status_code == 200, response.text
    assert len(response.json()["slots"]) == 5, "as many as a leg may have"


# Connections.


def closed(connection: socket.socket, seconds: float) -> bool:
    connection.settimeout(seconds)
    try:
        while connection.recv(65536):
            pass
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True


def framed(packet: bytes) -> bytes:
    return struct.pack("!H", len(packet)) + packet


def test_idle_connections_are_closed(server, leg):
    connect = lambda: socket.create_connection(leg.tcp_server)
    with connect() as browser, connect() as silent, connect() as slow, connect() as outsider, connect() as good:
        browser.sendall(b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n")
        assert closed(browser, 5), "a connection with garbage is closed at once"
        outsider.sendall(framed(leg.check_bytes(password="x" * 32)) * 3)
        good.sendall(framed(leg.check_bytes(nominates=False)))
        assert good.recv(9000)[2:4] == b"\x01\x01"
        # A byte at a time: after ten seconds the connection is closed.
        packet = framed(leg.check_bytes())
        slow.settimeout(0.25)
        is_closed = False
        for byte in packet[:80]:
            try:
                slow.sendall(bytes([byte]))
                is_closed = slow.recv(10) == b""
            except TimeoutError:
                continue
            except ConnectionError:
                is_closed = True
            if is_closed:
                break
        assert is_closed, "a slow connection is closed"
        assert closed(silent, 15) and closed(outsider, 15)
        leg.check()
        good.sendall(framed(leg.check_bytes(nominates=False)))
        assert good.recv(9000)[2:4] == b"\x01\x01", "an authenticated connection stays open"


def test_a_connection_that_never_reads_harms_nobody(server, leg):
    with socket.create_connection(leg.tcp_server) as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.settimeout(TIMEOUT)
        before = value(server, "gateway_dropped_total", reason="not_sent")
        batch = b"".join(framed(leg.check_bytes(nominates=False)) for _ in range(500))
        for _ in range(60):
            deaf.sendall(batch)
            leg.send(leg.check_bytes())
        wait_until(lambda: dropped(server, "not_sent") > before, "what it does not read is dropped")
        leg.check()


def test_the_server_survived(server):
    assert server.process.poll() is None
    assert "error" not in server.log_tail().lower()


# Parallel offers.


def test_parallel_offers_of_one_endpoint_are_one_leg(server, people, call, tmp_path_factory):
    """The last of several PeerConnections has the leg; the others leave no state."""
    anna = people[0]
    made = [legs.Identity(tmp_path_factory.mktemp("parallel")) for _ in range(4)]
    before = value(server, "gateway_legs")

    def offer(number: int) -> int:
        shown = made[number % len(made)].fingerprint
        sdp = legs.description([legs.section("0", "sendonly", shown, f"a=ssrc:{number + 1} cname:c")])
        return anna.post(f"/v1/calls/{call}/leg", {"offer": {"sdp": sdp}}).status_code

    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        assert set(pool.map(offer, range(20))) == {200}
    wait_until(lambda: value(server, "gateway_legs") == before + 1, "one leg is left")
