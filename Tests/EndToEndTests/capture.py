"""What goes over the loopback, as a packet socket sees it: the hellos of DTLS among it."""

import contextlib
import socket
import struct
import threading

import pytest

ALL = 0x0003
CLIENT_HELLO = b"\x01"
KEY_SHARE, X25519_MLKEM768 = 0x33, 0x11EC


class Hello:
    """A ClientHello that came in one datagram or in several."""

    def __init__(self):
        self.body = b""
        self.datagrams = 0

    @property
    def key_shares(self):
        """The lengths of the keys in it, by the number of their group (RFC 8446 section 4.2.8)."""
        at = 34
        at += 1 + self.body[at]
        at += 1 + self.body[at]
        at += 2 + int.from_bytes(self.body[at : at + 2], "big")
        at += 1 + self.body[at]
        at += 2
        shares = {}
        while at + 4 <= len(self.body):
            kind, length = struct.unpack_from("!HH", self.body, at)
            if kind == KEY_SHARE:
                share, end = at + 6, at + 4 + length
                while share + 4 <= end:
                    group, size = struct.unpack_from("!HH", self.body, share)
                    shares[group] = size
                    share += 4 + size
            at += 4 + length
        return shares


class Capture(threading.Thread):
    """Keeps the datagrams of DTLS that go over the loopback, by the port that they come from."""

    def __init__(self):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ALL))
        self.socket.bind(("lo", ALL))
        self.socket.settimeout(0.2)
        self.datagrams = {}
        self.over = False

    def run(self):
        while not self.over:
            with contextlib.suppress(TimeoutError):
                packet, (_, protocol, kind, *_) = self.socket.recvfrom(65535)
                # What is sent is seen here once more as what arrives.
                if protocol == 0x0800 and kind != socket.PACKET_OUTGOING and packet[9] == socket.IPPROTO_UDP:
                    self.keep(packet[(packet[0] & 15) * 4 :])
        self.socket.close()

    def keep(self, datagram):
        port, data = int.from_bytes(datagram[:2], "big"), datagram[8:]
        # RFC 6347 section 4.1: a handshake record, not encrypted.
        if data[:1] == b"\x16":
            self.datagrams.setdefault(port, []).append(data)

    def hello(self, port):
        """The first ClientHello from a port (RFC 6347 section 4.2.2), without what was sent again."""
        hello, length = Hello(), None
        for data in self.datagrams.get(port, []):
            had = len(hello.body)
            at = 0
            while at + 25 <= len(data):
                size = int.from_bytes(data[at + 11 : at + 13], "big")
                message = data[at + 13 : at + 13 + size]
                whole, start = int.from_bytes(message[1:4], "big"), int.from_bytes(message[6:9], "big")
                if message[:1] == CLIENT_HELLO and start == len(hello.body) and length in (None, whole):
                    length = whole
                    hello.body += message[12:]
                at += 13 + size
            hello.datagrams += len(hello.body) > had
            if length is not None and len(hello.body) >= length:
                return hello
        raise AssertionError(f"no whole hello from port {port}; there are {({p: len(d) for p, d in self.datagrams.items()})}")


@contextlib.contextmanager
def capture():
    """Skips where packets may not be seen."""
    try:
        one = Capture()
    except PermissionError:
        pytest.skip("packet sockets need root with CAP_NET_RAW")
    one.start()
    try:
        yield one
    finally:
        one.over = True
        one.join()
