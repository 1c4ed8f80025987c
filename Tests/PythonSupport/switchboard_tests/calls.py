"""Calls over REST, and pairs of users who call each other."""

from __future__ import annotations

import asyncio
import random
import uuid
from collections.abc import Sequence
from typing import Any

from switchboard_tests.endpoint import Endpoint, client_id
from switchboard_tests.server import Server, User

# Here a few users call a thousand times, which the default limits would prevent.
GENEROUS = {
    "limits": {
        "callsPerMinute": 1_000_000,
        "signalsPerMinute": 1_000_000,
        "requestsPerMinute": 10_000_000,
        "keyRequestsPerMinute": 1_000_000,
        "credentialsPerMinute": 1_000_000,
        "voiceMessagesPerMinute": 1_000_000,
    }
}


def create_group_call(caller: User, others: Sequence[User], mode: str = "gateway") -> str:
    """Calls several users, and returns the call's id."""
    body = {"clientID": client_id(), "callees": [other.id for other in others], "kind": "video", "mode": mode}
    response = caller.post("/v1/calls", body)
    assert response.status_code == 201, response.text
    return response.json()["call"]["id"]


class Pair:
    """Two users who call each other repeatedly, across crashes of the server, and check their streams."""

    def __init__(self, server: Server, ann: User, ben: User, rng: random.Random) -> None:
        self.caller = Endpoint(server.realtime_url, ann.id, ann.token)
        self.callee = Endpoint(server.realtime_url, ben.id, ben.token)
        self.rng = rng
        self.calls: list[str] = []
        self.phase = "idle"
        self.repeats = 0
        self.stopping = False

    @property
    def ends(self) -> tuple[Endpoint, Endpoint]:
        return self.caller, self.callee

    async def run(self) -> None:
        while not self.stopping:
            await self.life_cycle()

    async def pause(self) -> None:
        """Waits, so that crashes hit ringing and active calls as often as requests."""
        await asyncio.sleep(self.rng.random() * 0.15)

    async def life_cycle(self) -> None:
        caller, callee = self.ends
        offer, answer = f"v=0 offer {client_id()}", f"v=0 answer {client_id()}"
        created = await caller.ask(
            "calls.create", clientID=client_id(), callees=[callee.user], kind="audio", offer={"sdp": offer},
            ringSeconds=60,
        )
        self.repeats += bool(created.get("duplicate"))
        call = created["call"]["id"]
        self.calls.append(call)
        self.phase = "ringing"
        await callee.until("the ring", lambda: call in callee.ringing_calls())
        await callee.ask("calls.ringing", call=call)
        await self.pause()
        accepted = await callee.ask("calls.accept", call=call, clientID=client_id())
        self.repeats += bool(accepted.get("duplicate"))
        self.phase = "active"
        # An attachment lost in a crash is repeated by a request.
        for end in self.ends:
            await end.listen(f"call:{call}")
            await end.listen(f"signals:{call}:{end.id}")
        await callee.until("the offer", lambda: callee.signals(call))
        expected: dict[Endpoint, list[Any]] = {caller: [("answer", answer)], callee: [("offer", offer)]}
        await self.signal(callee, call, "answer", {"sdp": answer})
        for sender, receiver in ((callee, caller), (caller, callee)):
            for batch in range(2):
                candidates = [{"candidate": f"candidate:{client_id()} 1 udp 1 192.0.2.1 9 typ host", "sdpMid": "0"}]
                await self.signal(sender, call, "candidates", {"candidates": candidates, "end": batch == 1})
                expected[receiver].append(("candidates", candidates[0]["candidate"]))
        for end in self.ends:
            await end.ask("calls.connected", call=call)
        await self.pause()
        for audio in (False, True):
            await callee.ask("calls.media", call=call, audio=audio)

        for end in self.ends:
            await end.until("every signal", lambda: len(end.signals(call)) >= len(expected[end]))
            got = [(signal["kind"], self.content(signal)) for signal in end.signals(call)]
            assert got == expected[end], f"{call}: {got} instead of {expected[end]}"
        document = (await caller.ask("calls.get", call=call))["call"]
        assert document["status"] == "active", document
        assert all(part["connected"] for part in document["participants"]), document
        await caller.ask("calls.end", call=call)
        self.phase = "idle"
        for end in self.ends:
            await end.until("the end", lambda: self.has_ended(end, call))
        for end in self.ends:
            end.forget(call)

    async def signal(self, end: Endpoint, call: str, kind: str, payload: dict[str, Any]) -> None:
        receipt = await end.ask(
            "calls.signals", call=call, clientID=client_id(), kind=kind, generation=1, payload=payload
        )
        assert receipt["status"] in ("delivered", "pending"), receipt
        self.repeats += bool(receipt.get("duplicate"))

    @staticmethod
    def content(signal: dict[str, Any]) -> str:
        payload = signal["payload"]
        return payload["sdp"] if "sdp" in payload else payload["candidates"][0]["candidate"]

    @staticmethod
    def has_ended(end: Endpoint, call: str) -> bool:
        """The user's stream has the end; it lives as long as the user and must have every change."""
        entries = end.streams[f"user:{end.user}"].entries.values()
        snapshot = end.streams[f"user:{end.user}"].snapshot["calls"]
        documents = [*snapshot, *(data for kind, data in entries if kind == "call")]
        ends = [document for document in documents if document["id"] == call and document["status"] == "ended"]
        assert len(ends) <= 1, f"{call} ended {len(ends)} times"
        return bool(ends) and ends[0]["endReason"] == "hung_up"


async def whole_stream(end: Endpoint) -> None:
    """Reads the user's stream again from its first position: the same entries, without a gap."""
    seen = end.streams[f"user:{end.user}"]
    first = min(seen.entries) - 1
    again = Endpoint(end.url, end.user, end.token)
    again.streams[f"user:{end.user}"] = type(seen)(seen.epoch, first, seen.snapshot)
    await again.open()
    await again.until("the stream's end", lambda: again.streams[f"user:{end.user}"].seq >= seen.seq)
    assert not again.violations, again.violations
    assert again.streams[f"user:{end.user}"].entries == seen.entries
    await again.close()


def call(caller: User, callees: Sequence[User], mode: str | None = None) -> str:
    body = {"clientID": str(uuid.uuid4()), "callees": [callee.id for callee in callees], "kind": "audio"}
    response = caller.post("/v1/calls", body | ({"mode": mode} if mode else {}))
    assert response.status_code == 201, response.text
    return response.json()["call"]["id"]


async def history(end: Endpoint) -> list[str]:
    """The ids of all calls, the newest first."""
    ids, cursor = [], None
    while True:
        page = await end.ask("calls.list", limit=100, **({"cursor": cursor} if cursor else {}))
        ids += [call["id"] for call in page["calls"]]
        cursor = page.get("nextCursor")
        if cursor is None:
            return ids


def participant(call: str, viewer: User, person: User) -> dict[str, Any]:
    document = viewer.get(f"/v1/calls/{call}").json()["call"]
    return next(participant for participant in document["participants"] if participant["user"] == person.id)
