"""The attacks of a hostile member of conversations: as much of everything as one account may ask for, and more."""

from __future__ import annotations

import asyncio
import random
import string
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from switchboard_tests.endpoint import Endpoint, RequestError, client_id

if TYPE_CHECKING:
    from hostile_clients import Target

# The goal names these: a thousand of each a second, from as many requests in flight as a session may have.
PER_SECOND, WORKERS = 1_000, 50
LONGEST = "🙂 " * 12_000
EMOJI = ["👍", "❤️", "😂", "🎉", "😮"]


async def member(target: Target) -> tuple[Endpoint, str]:
    """A person with a group of their own, in which a message is."""
    person = target.people.pop()
    endpoint = Endpoint(target.realtime_url, person["id"], person["token"])
    await endpoint.open()
    made = await endpoint.ask("conversations.create", clientID=client_id(), kind="group", members=[], name="Hostile")
    conversation = made["conversation"]["id"]
    await endpoint.ask("messages.send", conversation=conversation, clientID=client_id(), text="first")
    return endpoint, conversation


async def flood(target: Target, name: str, work: Callable[[], Awaitable[Any]], per_second: float = PER_SECOND) -> None:
    async def one() -> None:
        try:
            await work()
            target.did[name] += 1
        except RequestError as refused:
            target.did[f"{name}: {refused.type}"] += 1

    await asyncio.gather(*(target.paced(per_second / WORKERS, one) for _ in range(WORKERS)))


async def sends(target: Target) -> None:
    endpoint, conversation = await member(target)

    async def work() -> None:
        await endpoint.ask("messages.send", conversation=conversation, clientID=client_id(), text="again")

    await flood(target, "sends", work)


async def long_sends(target: Target) -> None:
    """Texts of almost the longest size, all emoji, and replies and mentions to work out."""
    endpoint, conversation = await member(target)

    async def work() -> None:
        await endpoint.ask(
            "messages.send", conversation=conversation, clientID=client_id(), text="@all " + LONGEST, replyTo=1)

    await flood(target, "long sends", work, 50)


async def edits(target: Target) -> None:
    endpoint, conversation = await member(target)
    version = 0

    async def work() -> None:
        nonlocal version
        try:
            found = await endpoint.ask(
                "messages.edit", conversation=conversation, number=1, text="edit " + client_id(), textVersion=version)
            version = found["message"]["textVersion"]
        except RequestError as refused:
            if refused.type == "conflict":
                found = await endpoint.ask("messages.get", conversation=conversation, number=1)
                version = found["message"]["textVersion"]
            raise

    await flood(target, "edits", work)


async def reactions(target: Target) -> None:
    endpoint, conversation = await member(target)

    async def work() -> None:
        name = random.choice(["messages.react", "messages.removeReaction"])
        await endpoint.ask(name, conversation=conversation, number=1, emoji=random.choice(EMOJI))

    await flood(target, "reactions", work)


async def marks(target: Target) -> None:
    endpoint, conversation = await member(target)

    async def work() -> None:
        await endpoint.ask("conversations.mark", conversation=conversation, read=1)

    await flood(target, "marks", work)


async def typing(target: Target) -> None:
    endpoint, conversation = await member(target)

    async def work() -> None:
        await endpoint.ask("typing.note", conversation=conversation)

    await flood(target, "typing", work)


async def groups(target: Target) -> None:
    """A thousand of them, as fast as they are made."""
    endpoint, _ = await member(target)

    async def work() -> None:
        await endpoint.ask("conversations.create", clientID=client_id(), kind="group", members=[], name="Hostile")

    await flood(target, "groups", work, 100)


async def search_words(target: Target) -> None:
    """Words that are in many messages, that are in none, and as many as a query may have."""
    endpoint, conversation = await member(target)
    for _ in range(50):
        text = " ".join("".join(random.choices(string.ascii_lowercase, k=3)) for _ in range(500))
        try:
            await endpoint.ask("messages.send", conversation=conversation, clientID=client_id(), text=text)
        except RequestError:
            break

    async def work() -> None:
        words = ["".join(random.choices(string.ascii_lowercase, k=random.randint(1, 3))) for _ in range(8)]
        await endpoint.ask("messages.search", query=" ".join(words[: random.randint(1, 8)]), limit=50)

    await flood(target, "search words", work, 200)


ATTACKS = [sends, long_sends, edits, reactions, marks, typing, groups, search_words]
