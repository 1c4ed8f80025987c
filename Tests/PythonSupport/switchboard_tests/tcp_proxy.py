"""A TCP proxy between a client and the server, whose connections can be broken, as by a lost network; or what the
server sends is held back, as by a slow reader, or lost."""

from __future__ import annotations

import contextlib
import socket
import threading


class Proxy:
    def __init__(self, port: int) -> None:
        self.target = port
        self.is_open = True
        self.swallows = False
        self.flows = threading.Event()
        self.flows.set()
        self.pairs: set[tuple[socket.socket, socket.socket]] = set()
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Closes every connection and rejects new ones."""
        self.is_open = False
        with self.lock:
            pairs, self.pairs = self.pairs, set()
        self.flows.set()
        for pair in pairs:
            for one in pair:
                _close(one)

    def restore(self) -> None:
        self.is_open = True
        self.swallows = False

    def swallow(self) -> None:
        """What the server sends is lost, until the connection is cut and restored."""
        self.swallows = True

    def pause(self) -> None:
        """What the server sends is not read, until `resume()`."""
        self.flows.clear()

    def resume(self) -> None:
        self.flows.set()

    def close(self) -> None:
        self.cut()
        _close(self.listener)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            if not self.is_open:
                client.close()
                continue
            try:
                upstream = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                client.close()
                continue
            with self.lock:
                self.pairs.add((client, upstream))
            threading.Thread(target=self._pump, args=(client, upstream), daemon=True).start()
            threading.Thread(target=self._pump, args=(upstream, client, True), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, is_of_server: bool = False) -> None:
        try:
            while data := source.recv(65536):
                if is_of_server:
                    self.flows.wait()
                    if self.swallows:
                        continue
                sink.sendall(data)
        except OSError:
            pass
        _close(source)
        _close(sink)


def _close(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
