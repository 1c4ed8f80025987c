"""A client of Marionette."""

from __future__ import annotations

import json
import socket
import time
from typing import Any


class Marionette:
    """Firefox's own remote control: a length, a colon and JSON over TCP. Debian has no geckodriver."""

    def __init__(self, port: int) -> None:
        deadline = time.monotonic() + 60
        while True:
            try:
                self.socket = socket.create_connection(("127.0.0.1", port), timeout=120)
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        self.number = 0
        self.receive()

    def receive(self) -> Any:
        size = b""
        while (byte := self.socket.recv(1)) != b":":
            size += byte
        text = b""
        while len(text) < int(size):
            text += self.socket.recv(int(size) - len(text))
        return json.loads(text)

    def say(self, command: str, **parameters: Any) -> Any:
        self.number += 1
        text = json.dumps([0, self.number, command, parameters])
        self.socket.sendall(f"{len(text.encode())}:{text}".encode())
        _, _, error, result = self.receive()
        if error:
            raise RuntimeError(f"{command}: {error.get('message', error)}")
        return result
