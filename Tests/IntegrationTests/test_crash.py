"""The server is killed at random moments, while calls ring and while they are active. What was acknowledged stays, what
was not is made again and not done twice, streams have no holes, ring deadlines fire, and calls go on.

SWITCHBOARD_SEED repeats a run's moments; SWITCHBOARD_CRASHES changes how many there are.
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
    """Two people who call each other over and over, whatever becomes of the server, and check what they were told."""

    def __init__(self, server, ann, ben, chance: random.Random):
        self.caller = Endpoint(server.realtime_url, ann.id, ann.token)
        self.callee = Endpoint(server.realtime_url, ben.id, ben.token)
        self.chance = chance
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
        """So that crashes meet calls that ring, and calls that are active, as often as they meet requests."""
        await asyncio.sleep(self.chance.random() * 0.15)

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
        # An attachment that a crash swallowed is made up for by asking.
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
        """The user's stream tells of the end; it lives as long as the user and has to have every change."""
        entries = end.streams[f"user:{end.user}"].entries.values()
        snapshot = end.streams[f"user:{end.user}"].snapshot["calls"]
        documents = [*snapshot, *(data for kind, data in entries if kind == "call")]
        ends = [document for document in documents if document["id"] == call and document["status"] == "ended"]
        assert len(ends) <= 1, f"{call} ended {len(ends)} times"
        return bool(ends) and ends[0]["endReason"] == "hung_up"


async def leave_ringing(server, ann, ben) -> str:
    """A call that rings and is left alone, whatever happens: its deadline has to fire."""
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
    chance = random.Random(seed)
    server = make_server(GENEROUS)
    people = server.users(2 * PAIRS)
    lonely = server.users(2 * CRASHES)
    met = {"ringing": 0, "active": 0, "idle": 0}

    async def run() -> None:
        pairs = [Pair(server, people[2 * n], people[2 * n + 1], chance) for n in range(PAIRS)]
        for pair in pairs:
            for end in pair.ends:
                await end.open()
                await end.listen(f"user:{end.user}")
        left: dict[str, int] = {}
        running = [asyncio.create_task(pair.run()) for pair in pairs]
        for crash in range(CRASHES):
            left[await leave_ringing(server, lonely[2 * crash], lonely[2 * crash + 1])] = 2 * crash
            await asyncio.sleep(0.05 + chance.random() * 0.6)
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
                assert not end.faults, end.faults
                # Every call that was acknowledged, no other, and none twice.
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
    """Reads the user's stream again from where it was first seen: the same entries, without a hole."""
    seen = end.streams[f"user:{end.user}"]
    first = min(seen.entries) - 1
    again = Endpoint(end.url, end.user, end.token)
    again.streams[f"user:{end.user}"] = type(seen)(seen.epoch, first, seen.snapshot)
    await again.open()
    await again.until("the stream's end", lambda: again.streams[f"user:{end.user}"].seq >= seen.seq)
    assert not again.faults, again.faults
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
        assert not end.faults
        await end.close()
