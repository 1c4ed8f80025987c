"""Checks the realtime frames of Chromium's pages against `/asyncapi.json`. They come from DevTools, whose events
chromedriver logs.
"""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Iterable
from typing import Any

from switchboard_tests import asyncapi

# The browser's capability: events of the domain Network, of every page.
LOGGING = {"enableNetwork": True, "enablePage": False}


class PageFrames:
    """The realtime sockets of a browser's pages: what was sent on each and waits for its response, by id."""

    def __init__(self) -> None:
        self.sockets: dict[tuple[str, str], dict[int, dict[str, Any]]] = {}

    def read(self, entries: Iterable[dict[str, Any]]) -> None:
        """Takes the next entries of the log."""
        for entry in entries:
            logged = json.loads(entry["message"])
            method, parameters = logged["message"]["method"], logged["message"]["params"]
            socket = (logged["webview"], parameters.get("requestId", ""))
            if method == "Network.webSocketCreated":
                if urllib.parse.urlsplit(parameters["url"]).path == "/v1/realtime":
                    self.sockets[socket] = {}
            elif method == "Network.webSocketClosed":
                self.sockets.pop(socket, None)
            elif socket in self.sockets and method.startswith("Network.webSocketFrame"):
                self._frame(method.rpartition(".")[2], parameters, self.sockets[socket])

    def _frame(self, method: str, parameters: dict[str, Any], waiting: dict[int, dict[str, Any]]) -> None:
        if parameters.get("response", {}).get("opcode") != 1:
            return
        frame = json.loads(parameters["response"]["payloadData"])
        if method == "webSocketFrameSent":
            asyncapi.sent_by_page(frame)
            if "id" in frame:
                waiting[frame["id"]] = frame
        elif method == "webSocketFrameReceived":
            asyncapi.received(frame)
            request = waiting.pop(frame.get("id"), None)
            if request is not None:
                asyncapi.answered(request, frame)
