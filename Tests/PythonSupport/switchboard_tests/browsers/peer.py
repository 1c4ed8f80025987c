"""A participant in a browser's call whose client is aiortc, on a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import uuid
from collections.abc import Coroutine
from typing import Any, TypeVar

from aiortc import RTCIceServer

from switchboard_tests.browsers.pages import PASSWORD
from switchboard_tests.gateway import Participant
from switchboard_tests.server import HTTP

T = TypeVar("T")

TIMEOUT = 90


class Account:
    """A signed-up account, without a browser."""

    def __init__(self, url: str, name: str) -> None:
        self.url, self.name = url, name
        self.email = f"{name.split(maxsplit=1)[0].lower()}-{uuid.uuid4().hex[:10]}@example.org"
        body = {"displayName": name, "email": self.email, "password": PASSWORD}
        response = HTTP.post(url + "/v1/accounts", json=body)
        response.raise_for_status()
        self.token, self.id = response.json()["accessToken"], response.json()["user"]["id"]
        self.realtime_url = url.replace("http", "ws", 1) + "/v1/realtime"

    def ice_servers(self, call: str) -> list[RTCIceServer]:
        """The ICE servers for a call, as a page gets them."""
        headers = {"Authorization": f"Bearer {self.token}"}
        response = HTTP.get(self.url + "/v1/ice-servers", params={"call": call}, headers=headers)
        response.raise_for_status()
        return [
            RTCIceServer(one["urls"], one.get("username"), one.get("credential"))
            for one in response.json()["iceServers"]
        ]


class Peer:
    """One such participant. Its methods block until the work on the thread is done."""

    def __init__(self, url: str, name: str) -> None:
        self.account = Account(url, name)
        self.name, self.email = name, self.account.email
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.participant = self.run(self._open())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(TIMEOUT)

    async def _open(self) -> Participant:
        participant = Participant(self.account, self.account, pitch=700, brightness=140)
        await participant.open()
        return participant

    def answer(self, slots: int, **options: Any) -> None:
        """Waits for a call, accepts it and joins with media."""

        async def work() -> None:
            one = self.participant
            await one.endpoint.until("a call", one.endpoint.ringing_calls)
            await one.accept(one.endpoint.ringing_calls()[-1])
            await one.join(slots=slots, ice_servers=self.account.ice_servers(one.call), **options)

        self.run(work())

    def receives_everybody(self, count: int) -> None:
        """Waits until audio and video of so many others are decoded."""

        async def work() -> None:
            one = self.participant
            for kind in ("audio", "video"):
                await one.until(f"{count} slots of {kind}", lambda: len(self._filled(kind)) >= count)
                before = {mid: one.received[mid].frames for mid in self._filled(kind)}
                await one.until(
                    f"{kind} of everybody",
                    lambda: all(one.received[mid].frames > frames + 5 for mid, frames in before.items()),
                )

        self.run(work())

    def _filled(self, kind: str) -> list[str]:
        return [slot["mid"] for slot in self.participant.current_slots() if slot["kind"] == kind and slot.get("track")]

    @property
    def protection(self) -> str:
        """The SRTP profile that DTLS agreed on."""
        connection = self.participant.connection
        assert connection is not None
        (transport,) = {one.sender.transport for one in connection.getTransceivers()}
        ssl: Any = transport._ssl
        return ssl.get_selected_srtp_profile().decode()

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self.run(self.participant.close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
