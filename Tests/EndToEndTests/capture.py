"""Captures DTLS handshake datagrams on the loopback, with a packet socket."""

import contextlib
import socket
import struct
import threading

import pytest

ALL = 0x0003
CLIENT_HELLO = b"\x01"
KEY_SHARE, X25519_MLKEM768 = 0x33, 0x11EC


class Hello:
    """A ClientHello from one datagram or several."""

    def __init__(self):
        self.body = b""
        self.datagrams = 0

    @property
    def key_shares(self):
        """The lengths of its key shares, by group (RFC 8446 section 4.2.8)."""
        offset = 34
        offset += 1 + self.body[offset]
        offset += 1 + self.body[offset]
        offset += 2 + int.from_bytes(self.body[offset : offset + 2], "big")
        offset += 1 + self.body[offset]
        offset += 2
        shares = {}
        while offset + 4 <= len(self.body):
            kind, length = struct.unpack_from("!HH", self.body, offset)
            if kind == KEY_SHARE:
                share, end = offset + 6, offset + 4 + length
                while share + 4 <= end:
                    group, size = struct.unpack_from("!HH", self.body, share)
                    shares[group] = size
                    share += 4 + size
            offset += 4 + length
        return shares


class Capture(threading.Thread):
    """Keeps the DTLS datagrams on the loopback, by source port."""

    def __init__(self):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ALL))
        self.socket.bind(("lo", ALL))
        self.socket.settimeout(0.2)
        self.datagrams = {}
        self.is_closed = False

    def run(self):
        while not self.is_closed:
            with contextlib.suppress(TimeoutError):
                packet, (_, protocol, kind, *_) = self.socket.recvfrom(65535)
                # On the loopback every packet is seen twice: as outgoing and as incoming.
                if protocol == 0x0800 and kind != socket.PACKET_OUTGOING and packet[9] == socket.IPPROTO_UDP:
                    self.keep(packet[(packet[0] & 15) * 4 :])
        self.socket.close()

    def keep(self, datagram):
        port, data = int.from_bytes(datagram[:2], "big"), datagram[8:]
        # RFC 6347 section 4.1: a handshake record, not encrypted.
        if data[:1] == b"\x16":
            self.datagrams.setdefault(port, []).append(data)

    def hellos(self):
        """The first complete ClientHello from each port (RFC 6347 section 4.2.2), without retransmissions."""
        return [hello for port in self.datagrams if (hello := self.hello(port))]

    def hello(self, port):
        hello, length = Hello(), None
        for data in self.datagrams.get(port, []):
            had = len(hello.body)
            offset = 0
            while offset + 25 <= len(data):
                size = int.from_bytes(data[offset + 11 : offset + 13], "big")
                message = data[offset + 13 : offset + 13 + size]
                whole, start = int.from_bytes(message[1:4], "big"), int.from_bytes(message[6:9], "big")
                if message[:1] == CLIENT_HELLO and start == len(hello.body) and length in (None, whole):
                    length = whole
                    hello.body += message[12:]
                offset += 13 + size
            hello.datagrams += len(hello.body) > had
            if length is not None and len(hello.body) >= length:
                return hello
        return None


@contextlib.contextmanager
def capture():
    """Skips the test without the permission for packet sockets."""
    try:
        one = Capture()
    except PermissionError:
        pytest.skip("packet sockets need root with CAP_NET_RAW")
    one.start()
    try:
        yield one
    finally:
        one.is_closed = True
        one.join()
