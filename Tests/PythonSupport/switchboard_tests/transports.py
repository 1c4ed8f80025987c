"""Sessions over both transports, to exchange one frame at a time: for tests of who may do what."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any

from websockets.sync.client import connect

from switchboard_tests import asyncapi
from switchboard_tests.server import HTTP, Server, User

Exchange = Callable[[int, dict[str, Any]], dict[str, Any] | None]


def hello(who: User | None) -> dict[str, Any]:
    if who is None:
        return {"token": "none"}
    return {"token": who.token, "endpoint": who.endpoint, "secret": who.secret}


@contextlib.contextmanager
def web_socket(server: Server, who: User | None) -> Iterator[Exchange | None]:
    """Sends a frame and returns its response; None without a session."""
    with connect(server.realtime_url) as socket:

        def exchange(id: int, body: dict[str, Any]) -> dict[str, Any] | None:
            socket.send(json.dumps({"id": id, **body}))
            for text in socket:
                frame = json.loads(text)
                if frame.get("id") == id or "bye" in frame:
                    return frame
            return None

        greeting = exchange(1, {"hello": hello(who)})
        yield exchange if greeting is not None and "result" in greeting else None


@contextlib.contextmanager
def event_stream(server: Server, who: User | None) -> Iterator[Exchange | None]:
    """The same over server-sent events."""
    url = server.url + "/v1/realtime/sse"
    with HTTP.stream("POST", url, json=hello(who)) as response:
        if response.status_code != 200 or who is None:
            yield None
            return
        frames = asyncapi.server_sent(response.iter_lines())

        def until(id: int) -> dict[str, Any] | None:
            return next((frame for frame in frames if frame.get("id") == id or "bye" in frame), None)

        greeting = until(0)
        if greeting is None or "result" not in greeting:
            yield None
            return

        def exchange(id: int, body: dict[str, Any]) -> dict[str, Any] | None:
            sent = HTTP.post(
                f"{url}/{greeting['result']['session']}", json={"id": id, **body},
                headers={"Authorization": f"Bearer {who.token}"},
            )
            assert sent.status_code == 202, sent.text
            return until(id)

        yield exchange
