"""Many clients write while the server is killed, connections and responses are lost, clients are slow, tokens expire,
the clock jumps and the disk is full: nothing is lost, doubled or reordered. `Scripts/soak chat` does it for long.

DEV_SWITCHBOARD_SEED repeats a run's random choices; DEV_SWITCHBOARD_FAULTS sets the number of faults.
"""

from __future__ import annotations

import asyncio
import copy
import os
import random
from collections.abc import Callable

import pytest
from switchboard_tests.chat.clock import Clock
from switchboard_tests.chat.device import Device
from switchboard_tests.chat.faults import KINDS, data_on_a_small_disk
from switchboard_tests.chat.history import Held, History, Reader, Sent, check
from switchboard_tests.chat.run import SETTINGS, Run
from switchboard_tests.conversations import befriend, group
from switchboard_tests.endpoint import client_id
from switchboard_tests.seeds import seed
from switchboard_tests.waiting import until

# Every kind of fault once, and the server is killed three times.
FAULTS = int(os.environ.get("DEV_SWITCHBOARD_FAULTS", str(len(KINDS) + 2)))


def test_nothing_is_lost_doubled_or_reordered(make_server):
    rng = random.Random(seed())
    server = make_server(SETTINGS, started=False)

    async def run(has_small_disk: bool) -> None:
        everything = Run(server, clock, rng, has_small_disk)
        await everything.write(FAULTS)
        found = await everything.violations()
        print(everything.summary())
        assert found == []
        await everything.stop()

    with data_on_a_small_disk(server, "64m") as has_small_disk:
        clock = Clock(server)
        server.start()
        try:
            asyncio.run(run(has_small_disk))
            server.stop()
        finally:
            if server.process is not None:
                server.kill()


def test_a_device_that_was_away_receives_changes_after_what_was_sent_before_them(server):
    """What it missed comes in frames of 256 KiB, in the order of the last changes."""
    ann, ben = server.users(2)
    befriend(ann, ben)
    conversation = group(ann, [ben])

    async def run() -> None:
        writer, away = (Device(server, user, user.id, [conversation]) for user in (ann, ben))
        writer.start()
        away.start()
        held = away.held[conversation]
        await writer.ask("messages.send", conversation=conversation, clientID=client_id(), text="first")
        await until("the first message", lambda: held.last > 0)
        away.is_closing = True
        await away.close()
        assert away.supervisor is not None
        await away.supervisor
        messages = []
        for _ in range(60):
            sent = await writer.ask(
                "messages.send", conversation=conversation, clientID=client_id(), text="x" * 18_000)
            messages.append(sent["message"])
        deleted, edited = messages[20]["number"], messages[21]["number"]
        await writer.ask("messages.delete", conversation=conversation, number=deleted, **{"for": "all"})
        await writer.ask(
            "messages.edit", conversation=conversation, number=edited, text="another",
            textVersion=messages[21]["textVersion"],
        )  # fmt: skip
        away.is_closing = False
        away.start()
        await until("the last change", lambda: edited in held.messages)
        assert "deletedAt" in held.messages[deleted] and held.last == messages[-1]["number"]
        assert held.violations == [] and held.missing == set() and away.violations == []
        for one in (writer, away):
            await one.stop()

    asyncio.run(run())


# The check itself: it finds what is wrong with a history that is right but for one thing.


def message(number: int, **more: object) -> dict:
    return {
        "number": number, "version": number, "textVersion": number, "clientID": f"c{number}", "kind": "text",
        "author": "ann" if number % 2 else "ben", "sentAt": f"2026-11-25T03:00:0{number}.000Z", "text": f"t{number}",
    } | more  # fmt: skip


def held(messages: list[dict]) -> Held:
    made = Held()
    made.snapshot([])
    for one in messages:
        made.rows([one])
    return made


def right() -> History:
    """Six messages of two members, of whom both have a device."""
    history = History()
    for number in range(1, 7):
        one = message(number)
        history.sent[one["clientID"]] = Sent("C", one["author"], number, one["text"])
    for user in ("ann", "ben"):
        row = {
            "id": "C", "counter": 9, "unread": 2, "lastMessage": message(6),
            "membership": {"state": "member", "read": 2},
        }  # fmt: skip
        messages = [message(number) for number in range(1, 7)]
        history.readers.setdefault("C", []).append(Reader(user, messages, [{"from": 0}], row))
        history.held.append((f"{user} 1", "C", held(copy.deepcopy(messages)), copy.deepcopy(row)))
    return history


def pages(history: History) -> list[list[dict]]:
    return [reader.messages for reader in history.readers["C"]]


def lose(history: History) -> None:
    for messages in pages(history):
        messages.pop()


def lose_for_one(history: History) -> None:
    pages(history)[1].pop(2)


def double(history: History) -> None:
    for messages in pages(history):
        messages.append(message(7, clientID="c6"))


def leave_a_hole(history: History) -> None:
    for messages in pages(history):
        messages[5]["number"] = 7


def swap(history: History) -> None:
    for messages in pages(history):
        messages[2], messages[3] = messages[3], messages[2]


def swap_for_one(history: History) -> None:
    mine = pages(history)[1]
    mine[2]["clientID"], mine[3]["clientID"] = "c4", "c3"


def turn_back_time(history: History) -> None:
    for messages in pages(history):
        messages[3]["sentAt"] = "2026-11-25T02:00:00.000Z"


def lose_an_edit(history: History) -> None:
    history.sent["c3"].text = "edited"


def lose_a_deletion(history: History) -> None:
    history.sent["c3"].text = None


def store_a_refused_one(history: History) -> None:
    del history.sent["c6"]
    history.refused.add("c6")


def invent(history: History) -> None:
    for messages in pages(history):
        messages.append(message(7))


def miscount(history: History) -> None:
    for row in (history.readers["C"][0].row, history.held[0][3]):
        assert row is not None
        row["unread"] = 3


def miscount_on_one_device(history: History) -> None:
    row = history.held[0][3]
    assert row is not None
    row["unread"] = 3


def miss_one_at_a_device(history: History) -> None:
    history.held[0] = ("ann 1", "C", held([message(one) for one in (1, 2, 4, 5, 6)]), None)


def miss_the_last_at_a_device(history: History) -> None:
    history.held[0] = ("ann 1", "C", held([message(one) for one in range(1, 6)]), None)


def reorder_at_a_device(history: History) -> None:
    history.held[0] = ("ann 1", "C", held([message(one) for one in (1, 2, 4, 3, 5, 6)]), None)


def keep_an_older_version(history: History) -> None:
    for messages in pages(history):
        messages[2]["version"] = 8


def change_one_into_another(history: History) -> None:
    history.held[0][2].rows([message(3, clientID="other")])


BREAKS: list[Callable[[History], None]] = [
    lose, lose_for_one, double, leave_a_hole, swap, swap_for_one, turn_back_time, lose_an_edit, lose_a_deletion,
    store_a_refused_one, invent, miscount, miscount_on_one_device, miss_one_at_a_device, miss_the_last_at_a_device,
    reorder_at_a_device, keep_an_older_version, change_one_into_another,
]  # fmt: skip


def test_the_check_finds_nothing_in_a_history_that_is_right():
    assert check(right()) == []


@pytest.mark.parametrize("break_one", BREAKS, ids=lambda one: one.__name__)
def test_the_check_finds_what_is_wrong(break_one: Callable[[History], None]):
    history = right()
    break_one(history)
    assert check(history) != []
