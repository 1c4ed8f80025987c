"""A hand-written client of the media gateway: an offer, connectivity checks, and openssl for DTLS behind a proxy that
may impair. RTP and RTCP are protected with libsrtp."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import hmac
import os
import pathlib
import random
import re
import select
import struct
import subprocess
import threading
import time
import uuid
import zlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from switchboard_tests import stun
from switchboard_tests.waiting import TIMEOUT

if TYPE_CHECKING:
    from switchboard_tests.server import User

PRIORITY, USE_CANDIDATE, FINGERPRINT, ICE_CONTROLLING = 0x24, 0x25, 0x8028, 0x802A
CODECS = {"audio": ("111", "a=rtpmap:111 opus/48000/2"), "video": ("96", "a=rtpmap:96 VP8/90000")}


class Identity:
    """A key and a self-signed certificate."""

    def __init__(self, directory: pathlib.Path) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a client")])
        now = datetime.datetime.now(datetime.UTC)
        certificate = (
            x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
            .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=30)).sign(key, hashes.SHA256())
        )
        self.key, self.certificate = directory / "leg.key", directory / "leg.crt"
        self.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        self.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        digest = hashlib.sha256(certificate.public_bytes(serialization.Encoding.DER)).hexdigest().upper()
        self.fingerprint = ":".join(digest[index : index + 2] for index in range(0, 64, 2))


def section(
    mid: str, direction: str, fingerprint: str, *more: str, ufrag: str = "peer", kind: str = "audio"
) -> list[str]:
    number, codec = CODECS[kind]
    return [
        f"m={kind} 9 UDP/TLS/RTP/SAVPF {number}",
        "c=IN IP4 0.0.0.0",
        f"a=mid:{mid}",
        f"a={direction}",
        "a=rtcp-mux",
        codec,
        f"a=ice-ufrag:{ufrag}",
        "a=ice-pwd:abcdabcdabcdabcdabcdabcd",
        "a=setup:actpass",
        f"a=fingerprint:sha-256 {fingerprint}",
        *more,
    ]


def description(sections: list[list[str]], bundle: str | None = None) -> str:
    mids = " ".join(line[6:] for lines in sections for line in lines if line.startswith("a=mid:"))
    head = ["v=0", "o=- 1 1 IN IP4 0.0.0.0", "s=-", "t=0 0", bundle or f"a=group:BUNDLE {mids}"]
    return "\r\n".join(head + [line for lines in sections for line in lines]) + "\r\n"


def call(caller: User, callee: User) -> str:
    body = {"clientID": str(uuid.uuid4()), "callees": [callee.id], "kind": "audio", "mode": "gateway"}
    response = caller.post("/v1/calls", body)
    assert response.status_code == 201, response.text
    return response.json()["call"]["id"]


def checked(kind: int, transaction: bytes, body: bytes, password: str) -> bytes:
    """A message with integrity and fingerprint."""
    covered = stun.message(kind, transaction, body + bytes(24))[: 20 + len(body)]
    body += stun.attribute(stun.INTEGRITY, hmac.digest(password.encode(), covered, "sha1"))
    covered = stun.message(kind, transaction, body + bytes(8))[: 20 + len(body)]
    return stun.message(
        kind, transaction, body + stun.attribute(FINGERPRINT, struct.pack("!I", zlib.crc32(covered) ^ 0x5354554E))
    )


class Leg:
    """A leg, created by an offer, on a UDP socket of its own."""

    def __init__(self, user: User, call: str, identity: Identity, ssrc: int, fingerprint: str | None = None) -> None:
        self.identity, self.ssrc = identity, ssrc
        shown = fingerprint or identity.fingerprint
        sdp = description([section("0", "sendonly", shown, f"a=ssrc:{ssrc} cname:c"), section("1", "recvonly", shown)])
        response = user.post(f"/v1/calls/{call}/leg", {"offer": {"sdp": sdp}})
        assert response.status_code == 200, response.text
        self.answer = response.json()["answer"]["sdp"]
        self.ufrag = re.findall(r"a=ice-ufrag:(\S+)", self.answer)[0]
        self.password = re.findall(r"a=ice-pwd:(\S+)", self.answer)[0]
        ports = dict(re.findall(r"a=candidate:\S+ 1 (udp|tcp) \d+ 127\.0\.0\.1 (\d+)", self.answer))
        self.server = ("127.0.0.1", int(ports["udp"]))
        self.tcp_server = ("127.0.0.1", int(ports["tcp"]))
        self.socket = stun.fresh_socket("127.0.0.1")
        self.socket.settimeout(TIMEOUT)

    def check_bytes(self, nominates: bool = True, password: str | None = None) -> bytes:
        body = stun.attribute(stun.USERNAME, f"{self.ufrag}:peer".encode())
        body += stun.attribute(PRIORITY, struct.pack("!I", 1)) + stun.attribute(ICE_CONTROLLING, os.urandom(8))
        if nominates:
            body += stun.attribute(USE_CANDIDATE, b"")
        return checked(stun.BINDING, os.urandom(12), body, password or self.password)

    def check(self) -> None:
        """Sends checks until one gets a response."""
        packet = self.check_bytes()
        self.socket.settimeout(0.5)
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            self.socket.sendto(packet, self.server)
            with contextlib.suppress(TimeoutError):
                while True:
                    data = self.socket.recv(9000)
                    if data[8:20] == packet[8:20]:
                        assert data[:2] == b"\x01\x01", "the check was rejected"
                        self.socket.settimeout(TIMEOUT)
                        return
        raise AssertionError(f"no check got a response in {TIMEOUT} s")

    def send(self, data: bytes) -> None:
        self.socket.sendto(data, self.server)


class DatagramProxy:
    """A proxy between openssl and a leg's socket. `change` gets bursts of datagrams to the server as lists, and returns
    the datagrams to deliver. `received` has everything from the server except STUN."""

    def __init__(self, leg: Leg, change: Callable[[list[bytes]], list[bytes]] = lambda burst: burst) -> None:
        self.leg, self.change = leg, change
        self.front = stun.fresh_socket("127.0.0.1")
        self.port = self.front.getsockname()[1]
        self.client: tuple[Any, ...] | None = None
        self.sent: list[bytes] = []
        self.received: list[bytes] = []
        self.is_open = True
        leg.socket.settimeout(None)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        burst: list[bytes] = []
        while self.is_open:
            ready, _, _ = select.select([self.front, self.leg.socket], [], [], 0.02)
            for one in ready:
                data, source = one.recvfrom(65536)
                if one is self.front:
                    self.client = source
                    burst.append(data)
                elif 20 <= data[0] < 64 and self.client:
                    self.front.sendto(data, self.client)
                    self.received.append(data)
                elif data[0] >= 64:
                    self.received.append(data)
            if burst and not ready:
                for data in self.change(burst):
                    self.sent.append(data)
                    self.leg.send(data)
                burst = []

    def close(self) -> None:
        self.is_open = False
        self.thread.join()
        self.front.close()
        self.leg.socket.settimeout(TIMEOUT)


def shuffled(seed: int) -> Callable[[list[bytes]], list[bytes]]:
    """Shuffles bursts, and duplicates some datagrams."""
    rng = random.Random(seed)

    def change(burst: list[bytes]) -> list[bytes]:
        doubled = burst + [data for data in burst if rng.random() < 0.5]
        rng.shuffle(doubled)
        return doubled

    return change


@contextlib.contextmanager
def openssl(
    identity: Identity, port: int, *options: str, profile: str = "SRTP_AEAD_AES_128_GCM"
) -> Iterator[tuple[subprocess.Popen[bytes], bytes]]:
    """openssl's client against a port; yields the process and its keying material once the handshake is complete."""
    process = subprocess.Popen(
        [
            "openssl",
            "s_client",
            "-dtls1_2",
            "-connect",
            f"127.0.0.1:{port}",
            "-cert",
            str(identity.certificate),
            "-key",
            str(identity.key),
            "-use_srtp",
            profile,
            "-keymatexport",
            "EXTRACTOR-dtls_srtp",
            "-keymatexportlen",
            "56",
            *options,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        text = b""
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), True)
        watchdog = threading.Timer(30, process.kill)
        watchdog.start()
        for line in process.stdout:
            text += line
            if match := re.search(rb"Keying material: ([0-9A-F]+)", line):
                break
        else:
            raise AssertionError(f"no handshake:\n{text.decode(errors='replace')}")
        watchdog.cancel()
        assert b"SRTP Extension negotiated, profile=" + profile.encode() in text, text.decode(errors="replace")
        yield process, bytes.fromhex(match[1].decode())
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()


def sender_keys(material: bytes) -> bytes:
    """The client's key and salt for AEAD_AES_128_GCM, as libsrtp expects them."""
    return material[:16] + material[32:44]
