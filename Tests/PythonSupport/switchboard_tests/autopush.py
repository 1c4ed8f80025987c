"""Autopush, the push service of Firefox: browsers connect to it by WebSocket, and servers push to it over HTTP.

Requests are checked as `push_service` does. Only the browser can decrypt them, and acknowledges each.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import uuid
from collections.abc import Iterator
from typing import Any

import websockets.asyncio.server
from websockets.asyncio.server import ServerConnection

from switchboard_tests.push_service import GONE, Push, PushService, Subscription, encode

# The code of an acknowledgement: the worker has the push. Other codes are failures.
DELIVERED = 100


class Browser:
    """A Firefox, with or without a connection."""

    def __init__(self) -> None:
        self.channels: dict[str, FirefoxSubscription] = {}
        self.connection: ServerConnection | None = None
        # What was sent and not acknowledged, by version: it is sent once more over the next connection.
        self.sent: dict[str, dict[str, Any]] = {}
        # What is to be sent over the connection.
        self.outbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    def connect(self, connection: ServerConnection) -> None:
        self.connection = connection
        self.outbox = asyncio.Queue()

    def resume(self) -> None:
        """Sends what has come meanwhile."""
        for message in self.sent.values():
            self.outbox.put_nowait(message)
        for subscription in self.channels.values():
            subscription.deliver()


class FirefoxSubscription(Subscription):
    """One of a real browser."""

    def __init__(self, endpoint: str, server_key: str | None, channel: str, browser: Browser) -> None:
        super().__init__(endpoint, server_key)
        self.channel = channel
        self.browser = browser
        self._versions = itertools.count(1)

    def decrypt(self, body: bytes) -> bytes:
        """The browser has the key."""
        return b""

    def add(self, push: Push) -> None:
        super().add(push)
        self.deliver()

    def deliver(self) -> None:
        """To the browser, if it is connected."""
        if self.browser.connection is None:
            return
        for push in self.collect():
            version = f"{self.channel}-{next(self._versions)}"
            message = {
                "messageType": "notification", "channelID": self.channel, "version": version,
                "data": encode(push.body), "headers": {"encoding": push.headers["content-encoding"]},
            }  # fmt: skip
            self.browser.sent[version] = message
            self.browser.outbox.put_nowait(message)


class Autopush(PushService):
    """Beside browsers that the tests make up it has real ones."""

    def __init__(self) -> None:
        super().__init__()
        # By uaid, which the service makes.
        self.browsers: dict[str, Browser] = {}
        self.socket_port = 0
        self._sockets: websockets.asyncio.server.Server | None = None

    @property
    def preferences(self) -> dict[str, Any]:
        """Of a Firefox that connects to it, once `browsers.notifications.Notifications` has allowed that."""
        return {
            "dom.push.serverURL": f"ws://127.0.0.1:{self.socket_port}/",
            "dom.push.testing.allowInsecureServerURL": True,
            "dom.push.retryBaseInterval": 200,
        }

    @property
    def channels(self) -> list[FirefoxSubscription]:
        """The subscriptions of real browsers, also those that have ended; the newest last."""
        return [one for one in list(self.subscriptions.values()) if isinstance(one, FirefoxSubscription)]

    def forget_browsers(self) -> None:
        """As if the service had lost them: they connect anew, and their subscriptions have ended."""
        self._run(self._forget())

    async def _forget(self) -> None:
        known, self.browsers = self.browsers, {}
        for browser in known.values():
            for subscription in browser.channels.values():
                subscription.response = GONE
            if browser.connection is not None:
                await browser.connection.close()

    def start(self) -> None:
        super().start()
        self._sockets = self._run(self._listen())
        self.socket_port = next(iter(self._sockets.sockets)).getsockname()[1]

    async def _listen(self) -> websockets.asyncio.server.Server:
        return await websockets.asyncio.server.serve(
            self._converse, "127.0.0.1", self.socket_port, subprotocols=["push-notification"]  # type: ignore[list-item]
        )

    async def _stop(self) -> None:
        if self._sockets is not None:
            self._sockets.close()
            await self._sockets.wait_closed()
        await super()._stop()

    async def _converse(self, connection: ServerConnection) -> None:
        browser: Browser | None = None
        sender: asyncio.Task[None] | None = None
        try:
            async for text in connection:
                message = json.loads(text)
                if message.get("messageType") == "hello":
                    browser, response = self._greet(message)
                    browser.connect(connection)
                    browser.outbox.put_nowait(response)
                    browser.resume()
                    sender = asyncio.ensure_future(_send(browser.outbox, connection))
                elif browser is None:
                    self.faults.append(f"a browser began with {message}")
                elif (answer := self._handle(message, browser)) is not None:
                    browser.outbox.put_nowait(answer)
        except websockets.ConnectionClosed:
            # The browser has ended.
            pass
        except (ValueError, KeyError, TypeError) as error:
            self.faults.append(f"what a browser sent is no message: {error!r}")
        finally:
            if sender is not None:
                sender.cancel()
            if browser is not None and browser.connection is connection:
                browser.connection = None

    def _greet(self, message: dict[str, Any]) -> tuple[Browser, dict[str, Any]]:
        """Who is not known is somebody new, and drops the subscriptions that it has."""
        uaid = message.get("uaid")
        if uaid not in self.browsers:
            uaid = uuid.uuid4().hex
            self.browsers[uaid] = Browser()
        response = {"messageType": "hello", "uaid": uaid, "status": 200, "use_webpush": True}
        return self.browsers[uaid], response | {"broadcasts": {}}

    def _handle(self, message: dict[str, Any], browser: Browser) -> dict[str, Any] | None:
        """Returns the response, if there is one. A ping is an empty message."""
        kind = message.get("messageType", "ping")
        if kind == "ping":
            return {}
        if kind == "register":
            return self._register(message["channelID"], message.get("key"), browser)
        if kind == "unregister":
            channel = message["channelID"]
            if (ended := browser.channels.pop(channel, None)) is not None:
                ended.response = GONE
            return {"messageType": "unregister", "channelID": channel, "status": 200}
        if kind == "ack":
            for update in message["updates"]:
                self._acknowledge(update, browser)
        elif kind == "nack":
            self.faults.append(f"the worker failed: {message}")
        return None

    def _register(self, channel: str, key: str | None, browser: Browser) -> dict[str, Any]:
        # Firefox pads it.
        server_key = key and key.rstrip("=")
        path = f"/wpush/v2/{uuid.uuid4().hex}"
        subscription = FirefoxSubscription(self.url + path, server_key, channel, browser)
        self.subscriptions[path] = browser.channels[channel] = subscription
        return {
            "messageType": "register", "channelID": channel, "status": 200, "pushEndpoint": subscription.endpoint,
        }  # fmt: skip

    def _acknowledge(self, update: dict[str, Any], browser: Browser) -> None:
        browser.sent.pop(update["version"], None)
        if update["code"] != DELIVERED:
            self.faults.append(f"the browser could not take a push: {update}")


async def _send(outbox: asyncio.Queue[dict[str, Any]], connection: ServerConnection) -> None:
    with contextlib.suppress(websockets.ConnectionClosed):
        while True:
            await connection.send(json.dumps(await outbox.get()))


@contextlib.contextmanager
def serving() -> Iterator[Autopush]:
    """As `push_service.serving`, with real browsers."""
    service = Autopush()
    service.start()
    try:
        yield service
        assert not service.faults, service.faults
    finally:
        service.close()
