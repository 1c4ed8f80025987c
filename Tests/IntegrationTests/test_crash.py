"""The server is killed at random moments, during ringing and active calls. Acknowledged requests persist, others are
retried and executed once, streams have no gaps, ring deadlines fire, and calls continue.

SWITCHBOARD_SEED repeats a run's random moments; SWITCHBOARD_CRASHES sets the number of crashes.
"""

from __future__ import annotations

import asyncio
import os
import random

from endpoint import Endpoint, client_id
from test_races import GENEROUS, history

CRASHES = int(os.environ.get("SWITCHBOARD_CRASHES", "50"))
PAIRS = 4
RING_SECONDS = 10
FINAL = {"ended"}


class Pair:
    """Two users who call each other repeatedly, across crashes of the server, and check their streams."""

    def __init__(self, server, ann, ben, rng: random.Random):
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
        expected: dict[Endpoint, list] = {caller: [("answer", answer)], callee: [("offer", offer)]}
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
            await end.until("every signal", lambda end=end: len(end.signals(call)) >= len(expected[end]))
            got = [(signal["kind"], self.content(signal)) for signal in end.signals(call)]
            assert got == expected[end], f"{call}: {got} instead of {expected[end]}"
        document = (await caller.ask("calls.get", call=call))["call"]
        assert document["status"] == "active", document
        assert all(part["connected"] for part in document["participants"]), document
        await caller.ask("calls.end", call=call)
        self.phase = "idle"
        for end in self.ends:
            await end.until("the end", lambda end=end: self.has_ended(end, call))
        for end in self.ends:
            end.forget(call)

    async def signal(self, end: Endpoint, call: str, kind: str, payload: dict) -> None:
        receipt = await end.ask(
            "calls.signals", call=call, clientID=client_id(), kind=kind, generation=1, payload=payload
        )
        assert receipt["status"] in ("delivered", "pending"), receipt
        self.repeats += bool(receipt.get("duplicate"))

    @staticmethod
    def content(signal: dict) -> str:
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


async def leave_ringing(server, ann, ben) -> str:
    """A ringing call that nobody accepts: its deadline has to fire despite crashes."""
    end = Endpoint(server.realtime_url, ann.id, ann.token)
    await end.open()
    created = await end.ask(
        "calls.create", clientID=client_id(), callees=[ben.id], kind="audio", ringSeconds=RING_SECONDS
    )
    await end.close()
    return created["call"]["id"]


def test_a_killed_server_loses_nothing(make_server):
    seed = int(os.environ.get("SWITCHBOARD_SEED", random.randrange(1 << 32)))
    print(f"SWITCHBOARD_SEED={seed}")
    rng = random.Random(seed)
    server = make_server(GENEROUS)
    people = server.users(2 * PAIRS)
    lonely = server.users(2 * CRASHES)
    met = {"ringing": 0, "active": 0, "idle": 0}

    async def run() -> None:
        pairs = [Pair(server, people[2 * n], people[2 * n + 1], rng) for n in range(PAIRS)]
        for pair in pairs:
            for end in pair.ends:
                await end.open()
                await end.listen(f"user:{end.user}")
        left: dict[str, int] = {}
        running = [asyncio.create_task(pair.run()) for pair in pairs]
        for crash in range(CRASHES):
            left[await leave_ringing(server, lonely[2 * crash], lonely[2 * crash + 1])] = 2 * crash
            await asyncio.sleep(0.05 + rng.random() * 0.6)
            for task in running:
                if task.done():
                    await task
            for pair in pairs:
                met[pair.phase] += 1
            await asyncio.to_thread(server.kill)
            for pair in pairs:
                for end in pair.ends:
                    end.connected.clear()
                    await end.reader
            await asyncio.to_thread(server.start)
            for pair in pairs:
                for end in pair.ends:
                    greeting = await end.open()
                    resumed = {name: word for name, word in greeting["resumed"].items() if not name.startswith("signals:")}
                    assert set(resumed.values()) <= {"ok"}, f"crash {crash}: not resumed: {resumed}"
        for pair in pairs:
            pair.stopping = True
        for task in running:
            await task

        for pair in pairs:
            for end in pair.ends:
                assert not end.violations, end.violations
                # Exactly the acknowledged calls, each once.
                assert await history(end) == pair.calls[::-1]
                await whole_stream(end)
                await end.close()
        await rings_that_ended(server, lonely, left)
        print(
            f"{CRASHES} crashes met {met['ringing']} ringing, {met['active']} active and {met['idle']} other pairs; "
            f"{sum(len(pair.calls) for pair in pairs)} calls, {sum(pair.repeats for pair in pairs)} answers lost and repeated"
        )

    asyncio.run(run())
    server.stop()


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


async def rings_that_ended(server, lonely, left: dict[str, int]) -> None:
    """Waits until every call that was left ringing has been missed."""
    for call, index in left.items():
        end = Endpoint(server.realtime_url, lonely[index].id, lonely[index].token)
        await end.open()
        await end.listen(f"call:{call}")
        await end.until(f"{call} to be missed", lambda: end.call(call)["status"] == "ended")
        document = end.call(call)
        assert document["endReason"] == "missed", document
        assert [part["state"] for part in document["participants"]][1] == "missed", document
        assert not end.violations
        await end.close()
