"""Checks the realtime frames of pages against `/asyncapi.json`. Those of Chromium come from DevTools, whose events
chromedriver logs, and those of Firefox from the service that its DevTools use.
"""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Iterable
from typing import Any

from switchboard_tests import asyncapi

# The browser's capability: events of the domain Network, of every page.
LOGGING = {"enableNetwork": True, "enablePage": False}
# The opcode of a text frame.
TEXT = 1


class SocketFrames:
    """A realtime socket: what was sent on it and waits for its response, by id."""

    def __init__(self) -> None:
        self.waiting: dict[int, dict[str, Any]] = {}

    def sent(self, frame: dict[str, Any]) -> None:
        asyncapi.sent_by_page(frame)
        if "id" in frame:
            self.waiting[frame["id"]] = frame

    def received(self, frame: dict[str, Any]) -> None:
        asyncapi.received(frame)
        request = self.waiting.pop(frame.get("id", 0), None)
        if request is not None:
            asyncapi.answered(request, frame)


class PageFrames:
    """The realtime sockets of Chromium's pages."""

    def __init__(self) -> None:
        self.sockets: dict[tuple[str, str], SocketFrames] = {}

    def read(self, entries: Iterable[dict[str, Any]]) -> None:
        """Takes the next entries of the log."""
        for entry in entries:
            logged = json.loads(entry["message"])
            method, parameters = logged["message"]["method"], logged["message"]["params"]
            socket = (logged["webview"], parameters.get("requestId", ""))
            if method == "Network.webSocketCreated":
                if urllib.parse.urlsplit(parameters["url"]).path == "/v1/realtime":
                    self.sockets[socket] = SocketFrames()
            elif method == "Network.webSocketClosed":
                self.sockets.pop(socket, None)
            elif socket in self.sockets and method.startswith("Network.webSocketFrame"):
                self._frame(method.rpartition(".")[2], parameters, self.sockets[socket])

    @staticmethod
    def _frame(method: str, parameters: dict[str, Any], socket: SocketFrames) -> None:
        if parameters.get("response", {}).get("opcode") != TEXT:
            return
        frame = json.loads(parameters["response"]["payloadData"])
        if method == "webSocketFrameSent":
            socket.sent(frame)
        elif method == "webSocketFrameReceived":
            socket.received(frame)


class FirefoxFrames:
    """The realtime sockets of Firefox's pages, which open no others."""

    # Runs in the browser's own process, before there is a page.
    WATCH = """
        const service = Cc["@mozilla.org/websocketevent/service;1"].getService(Ci.nsIWebSocketEventService);
        const frames = window.switchboardFrames = [];
        const note = (direction) => (socket, { opCode, payload }) => frames.push([direction, socket, opCode, payload]);
        const listener = {
            QueryInterface: ChromeUtils.generateQI(["nsIWebSocketEventListener"]),
            frameReceived: note("received"), frameSent: note("sent"),
            webSocketCreated() {}, webSocketOpened() {}, webSocketMessageAvailable() {}, webSocketClosed() {},
        };
        const watch = ({ innerWindowId }) => service.addListener(innerWindowId, listener);
        Services.obs.addObserver(watch, "window-global-created");
    """
    # Takes what was noted since the last time.
    TAKE = "return window.switchboardFrames.splice(0)"

    def __init__(self) -> None:
        self.sockets: dict[int, SocketFrames] = {}

    def read(self, noted: Iterable[tuple[str, int, int, str]]) -> None:
        for direction, socket, opcode, payload in noted:
            if opcode != TEXT:
                continue
            frames = self.sockets.setdefault(socket, SocketFrames())
            # The payload's bytes as characters.
            frame = json.loads(payload.encode("latin-1"))
            if direction == "sent":
                frames.sent(frame)
            else:
                frames.received(frame)
