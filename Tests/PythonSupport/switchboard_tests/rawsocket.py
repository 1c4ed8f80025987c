"""A hand-written WebSocket client, for frames that no library sends."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
from typing import TYPE_CHECKING, Any

from switchboard_tests import asyncapi, seen
from switchboard_tests.waiting import TIMEOUT

if TYPE_CHECKING:
    from switchboard_tests.server import User


MASK = b"\x37\xfa\x21\x3d"


def frame(
    payload: bytes = b"", opcode: int = 1, final: bool = True, reserved: int = 0, masked: bool = True,
    length_bytes: int | None = None, claimed: int | None = None,
) -> bytes:
    """One frame of a client (RFC 6455 section 5.2); `claimed` is the length in its header."""
    length = len(payload) if claimed is None else claimed
    if length_bytes is None:
        length_bytes = 0 if length < 126 else 2 if length < 65536 else 8
    bit = 0x80 if masked else 0
    head = bytes([(0x80 if final else 0) | (reserved << 4) | opcode])
    if length_bytes == 0:
        head += bytes([bit | (length & 0x7F)])
    elif length_bytes == 2:
        head += bytes([bit | 126]) + struct.pack(">H", length & 0xFFFF)
    else:
        head += bytes([bit | 127]) + struct.pack(">Q", length & 0xFFFF_FFFF_FFFF_FFFF)
    if not masked:
        return head + payload
    return head + MASK + bytes(byte ^ MASK[index % 4] for index, byte in enumerate(payload))


class RawSocket:
    """An upgraded connection. `read` returns the opcode and payload of the next frame, or None at the end.

    `receive_buffer` is how many bytes the kernel keeps for a client that does not read.
    """

    def __init__(self, port: int, timeout: float = TIMEOUT, receive_buffer: int | None = None) -> None:
        self.socket = socket.socket()
        self.socket.settimeout(timeout)
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(("127.0.0.1", port))
        self.buffer = b""
        # The beginning of the last frame.
        self.last = b""
        self.socket.sendall(

                b"GET /v1/realtime HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

        )
        while b"\r\n\r\n" not in self.buffer:
            assert self.more(), "the connection ended before the upgrade"
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        assert head.startswith(b"HTTP/1.1 101"), head
        assert b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in head, head
        assert b"extensions" not in head.lower(), head

    def __enter__(self) -> RawSocket:
        return self

    def __exit__(self, *_: Any) -> None:
        self.socket.close()

    def more(self) -> bool:
        try:
            data = self.socket.recv(65536)
        except ConnectionError:
            return False
        except TimeoutError as error:
            waited = self.socket.gettimeout()
            raise TimeoutError(f"nothing came for {waited} s after {self.last!r} and {self.buffer[:100]!r}") from error
        self.buffer += data
        return bool(data)

    def write(self, data: bytes) -> None:
        """Sends the data, unless the server has closed the connection."""
        with contextlib.suppress(ConnectionError):
            self.socket.sendall(data)

    def send(self, message: dict[str, Any] | str) -> None:
        text = message if isinstance(message, str) else json.dumps(message)
        self.write(frame(text.encode()))

    def read(self) -> tuple[int, bytes] | None:
        while True:
            parsed = self.parse()
            if parsed is not None:
                return parsed
            if not self.more():
                return None

    def parse(self) -> tuple[int, bytes] | None:
        data = self.buffer
        if len(data) < 2:
            return None
        first, short = data[0], data[1]
        assert first & 0x70 == 0 and first & 0x80 and not short & 0x80, data[:16]
        start, length = 2, short
        if short == 126:
            start = 4
            length = struct.unpack(">H", data[2:4])[0] if len(data) >= 4 else 1 << 62
        elif short == 127:
            start = 10
            length = struct.unpack(">Q", data[2:10])[0] if len(data) >= 10 else 1 << 62
        if len(data) < start + length:
            return None
        self.buffer = data[start + length :]
        self.last = data[start : start + min(length, 300)]
        return first & 0x0F, data[start : start + length]

    def message(self) -> dict[str, Any]:
        """The next JSON message."""
        while True:
            got = self.read()
            assert got is not None, "the connection ended"
            opcode, payload = got
            if opcode == 1:
                message = json.loads(payload)
                asyncapi.received(message)
                return message
            assert opcode == 10, (opcode, payload)

    def response(self, id: int) -> dict[str, Any]:
        while True:
            message = self.message()
            if message.get("id") == id:
                return message

    def hello(self, user: User, **more: Any) -> dict[str, Any]:
        self.send({"id": 1, "hello": {"token": user.token, **more}})
        return self.response(1)["result"]

    def close_code(self) -> int | None:
        """The code of the server's close frame, or None when the connection ended without one."""
        while True:
            got = self.read()
            if got is None:
                return None
            opcode, payload = got
            if opcode == 8:
                code = struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else 1005
                seen.closed(code)
                return code
