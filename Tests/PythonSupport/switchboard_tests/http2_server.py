"""HTTP/2 over TLS (RFC 9113), for services that respond as a test says."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import ssl
import threading
from collections.abc import Callable
from typing import Any

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
from h2.settings import SettingCodes, Settings


@dataclasses.dataclass(frozen=True)
class Request:
    method: str
    path: str
    # With names in lower case.
    headers: dict[str, str]
    body: bytes
    # Which connection it came on, from 1.
    connection: int


@dataclasses.dataclass(frozen=True)
class Response:
    status: int
    body: bytes = b""
    headers: dict[str, str] = dataclasses.field(default_factory=dict)


# That a connection may have at a time.
STREAMS = 1_000
# None, and the stream stays open.
HANG = Response(0)
# The connection ends instead, saying so (GOAWAY) or not.
GO_AWAY = Response(-1)
LOST = Response(-2)


class HTTP2Server:
    """Requests are handled by a thread, so that a test may block."""

    def __init__(
        self, certificate: dict[str, str], handle: Callable[[Request], Response], first_streams: int = STREAMS
    ) -> None:
        self.handle = handle
        # Streams of a connection before its first response, with which there are more.
        self.first_streams = first_streams
        # What was wrong with connections.
        self.faults: list[str] = []
        # So many were opened.
        self.connections = 0
        self.port = 0
        self.open: set[_Connection] = set()
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate["certificate"], certificate["privateKey"])
        self._context.set_alpn_protocols(["h2", "http/1.1"])
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def start(self) -> None:
        """On the port that it had before, if any."""
        if not self._thread.is_alive():
            self._thread.start()
        self._server = self._run(
            self._loop.create_server(lambda: _Connection(self), "127.0.0.1", self.port, ssl=self._context)
        )
        self.port = self._server.sockets[0].getsockname()[1]

    def stop(self) -> None:
        """Refuses connections, and closes those that are open."""
        self._run(self._stop())

    def close(self) -> None:
        self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Any) -> Any:
        async def run() -> Any:
            return await work

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result()

    async def _stop(self) -> None:
        if self._server is not None:
            self._server.close()
        for connection in list(self.open):
            connection.abort()


class _Connection(asyncio.Protocol):
    def __init__(self, server: HTTP2Server) -> None:
        self.server = server
        self.number = 0
        self.transport: Any = None
        self.state = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.heads: dict[int, dict[str, str]] = {}
        self.bodies: dict[int, bytes] = {}
        self.responds = False

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.server.connections += 1
        self.number = self.server.connections
        self.server.open.add(self)
        protocol = transport.get_extra_info("ssl_object").selected_alpn_protocol()
        if protocol != "h2":
            self.server.faults.append(f"the protocol is {protocol}")
            self.abort()
        else:
            limits = {SettingCodes.MAX_CONCURRENT_STREAMS: self.server.first_streams}
            self.state.local_settings = Settings(client=False, initial_values=limits)
            self.state.initiate_connection()
            self._flush()

    def connection_lost(self, _: Exception | None) -> None:
        self.server.open.discard(self)

    def abort(self) -> None:
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        try:
            for event in self.state.receive_data(data):
                self._receive(event)
        except h2.exceptions.ProtocolError as error:
            self.server.faults.append(f"the protocol was violated: {error!r}")
        self._flush()

    def _receive(self, event: h2.events.Event) -> None:
        match event:
            case h2.events.RequestReceived(stream_id=stream):
                self.heads[stream] = {str(name): str(value) for name, value in event.headers or []}
                self.bodies[stream] = b""
            case h2.events.DataReceived(stream_id=stream):
                self.bodies[stream] += event.data or b""
                self.state.acknowledge_received_data(event.flow_controlled_length or 0, stream)
            case h2.events.StreamEnded(stream_id=stream):
                headers = self.heads.pop(stream)
                request = Request(
                    headers.pop(":method"), headers.pop(":path"), headers, self.bodies.pop(stream), self.number
                )
                self._respond(stream, self.server.handle(request))
            case h2.events.StreamReset(stream_id=stream):
                self.heads.pop(stream, None)
                self.bodies.pop(stream, None)

    def _respond(self, stream: int, response: Response) -> None:
        if response is LOST:
            self.abort()
        elif response is GO_AWAY:
            self.state.close_connection(h2.errors.ErrorCodes.NO_ERROR, last_stream_id=max(0, stream - 2))
            self._flush()
            self.transport.close()
        elif response is not HANG:
            self._send(stream, response)

    def _send(self, stream: int, response: Response) -> None:
        if not self.responds:
            self.responds = True
            self.state.update_settings({SettingCodes.MAX_CONCURRENT_STREAMS: STREAMS})
        headers = {":status": str(response.status), "content-length": str(len(response.body))} | response.headers
        with contextlib.suppress(h2.exceptions.StreamClosedError):
            self.state.send_headers(stream, list(headers.items()))
            self.state.send_data(stream, response.body, end_stream=True)

    def _flush(self) -> None:
        if data := self.state.data_to_send():
            self.transport.write(data)
