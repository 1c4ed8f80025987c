"""The attacks of a hostile member of conversations: as much of everything as one account may ask for, and more."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import random
import string
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from switchboard_tests.endpoint import Endpoint, RequestError, client_id
from websockets import WebSocketException

if TYPE_CHECKING:
    from hostile_clients import Target

# The goal names these: a thousand of each a second, from as many requests in flight as a session may have.
PER_SECOND, WORKERS = 1_000, 50
LONGEST = "🙂 " * 12_000
# What looks like one character, with as many marks as fit into a text, and characters with as many as each may have.
MARKED = ["a" + "\u0301" * 32_000, ("a" + "\u0301" * 64) * 500]
EMOJI = ["👍", "❤️", "😂", "🎉", "😮"]


async def connected(target: Target) -> Endpoint:
    """Somebody new, who connects again as soon as the server has closed the connection of one that asks too much."""
    person = target.people.pop()
    endpoint = Endpoint(target.realtime_url, person["id"], person["token"])
    await endpoint.open()

    async def reconnect() -> None:
        while target.left > 0 and endpoint.reader is not None:
            await endpoint.reader
            target.did["connections that were closed"] += 1
            with contextlib.suppress(OSError, RequestError, TimeoutError, WebSocketException):
                await endpoint.open()
            await asyncio.sleep(0.1)

    target.background.add(asyncio.create_task(reconnect()))
    return endpoint


async def member(target: Target) -> tuple[Endpoint, str]:
    """A person with a group of their own, in which a message is."""
    endpoint = await connected(target)
    made = await endpoint.ask("conversations.create", clientID=client_id(), kind="group", members=[], name="Hostile")
    conversation = made["conversation"]["id"]
    await endpoint.ask("messages.send", conversation=conversation, clientID=client_id(), text="first")
    return endpoint, conversation


async def flood(
    target: Target, name: str, work: Callable[[], Awaitable[Any]], per_second: float = PER_SECOND,
    workers: int = WORKERS,
) -> None:  # fmt: skip
    """With one worker where many at once would get in each other's way."""

    async def one() -> None:
        try:
            await work()
            target.did[name] += 1
        except RequestError as refused:
            target.did[f"{name}: {refused.type}"] += 1

    await asyncio.gather(*(target.paced(per_second / workers, one) for _ in range(workers)))


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


async def marked_sends(target: Target) -> None:
    """Texts of marks, of which the inboxes of those who read them have the beginning."""
    endpoint, reader, conversation = await readers(target)

    async def work() -> None:
        await endpoint.ask(
            "messages.send", conversation=conversation, clientID=client_id(), text=random.choice(MARKED))

    await reader.listen(f"inbox:{reader.user}")
    await flood(target, "marked sends", work, 50)


class Edited:
    """A message that is edited again and again, each time as it was last known."""

    def __init__(self, endpoint: Endpoint, conversation: str):
        self.endpoint, self.named = endpoint, {"conversation": conversation, "number": 1}
        self.version = self.count = 0

    async def edit(self, text: str) -> None:
        # A message has a hundred versions at most: with these it is deleted, and another one takes its place.
        if self.count >= 90:
            await self.endpoint.ask("messages.delete", **self.named, **{"for": "all"})
            sent = await self.endpoint.ask(
                "messages.send", conversation=self.named["conversation"], clientID=client_id(), text="again")
            self.named["number"], self.version = (sent["message"][name] for name in ("number", "textVersion"))
            self.count = 0
        try:
            found = await self.endpoint.ask("messages.edit", **self.named, text=text, textVersion=self.version)
        except RequestError as refused:
            if refused.type == "conflict":
                found = await self.endpoint.ask("messages.get", **self.named)
                self.version = found["message"]["textVersion"]
            raise
        self.version = found["message"]["textVersion"]
        self.count += 1


async def edits(target: Target) -> None:
    endpoint, conversation = await member(target)
    edited = Edited(endpoint, conversation)

    async def work() -> None:
        await edited.edit("edit " + client_id())

    await flood(target, "edits", work, workers=1)


async def rewrites(target: Target) -> None:
    """A long text that is written anew as often as it goes."""
    endpoint, conversation = await member(target)
    texts = ["".join(random.choices(string.ascii_lowercase + " ", k=32_000)) for _ in range(4)]
    edited = Edited(endpoint, conversation)

    async def work() -> None:
        await edited.edit(random.choice(texts))

    await flood(target, "texts written anew", work, 50, workers=1)


async def former_texts(target: Target) -> None:
    """Pages of the former texts of a message that has as many as its author could write at once."""
    endpoint, conversation = await member(target)
    edited = Edited(endpoint, conversation)
    for index in range(90):
        try:
            await edited.edit(f"{index} " + "word " * 3_000)
            target.did["former texts"] += 1
        except RequestError as refused:
            if refused.type != "conflict":
                break

    async def work() -> None:
        await endpoint.ask("messages.edits", conversation=conversation, number=1)

    await flood(target, "pages of former texts", work, 200)


async def small_bodies(target: Target) -> None:
    """Drafts and edits of just as much as counts as one request."""
    endpoint, conversation = await member(target)
    edited, revision = Edited(endpoint, conversation), 0

    async def work() -> None:
        nonlocal revision
        revision += 1
        draft = {"text": "x" * 3_000, "revision": revision}
        await endpoint.ask("members.updateMe", conversation=conversation, draft=draft)
        target.did["drafts"] += 1
        await edited.edit(client_id() * 80)

    await flood(target, "small bodies", work, 100, workers=1)


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


async def typing_in_turn(target: Target) -> None:
    """Typing and recording in turn, each of which is another state."""
    endpoint, reader, conversation = await readers(target)
    await reader.listen(f"typing:{conversation}")
    states = itertools.cycle(["typing", "recording", "stopped"])

    async def work() -> None:
        await endpoint.ask("typing.note", conversation=conversation, state=next(states))

    # As many frames as a session may send.
    await flood(target, "typing in turn", work, 400)


async def invitations(target: Target) -> None:
    """Groups to which a stranger is invited, without end."""
    endpoint, _ = await member(target)
    other = target.people.pop()["id"]

    async def work() -> None:
        await endpoint.ask(
            "conversations.create", clientID=client_id(), kind="group", members=[other], name="Hostile")

    await flood(target, "invitations", work, 100)


async def slow_exports(target: Target) -> None:
    """Exports of a long conversation that are read a little at a time, to hold what is there for them."""
    endpoint, conversation = await member(target)
    for _ in range(100):
        try:
            await endpoint.ask("messages.send", conversation=conversation, clientID=client_id(), text="x" * 30_000)
        except RequestError:
            break

    async def work() -> None:
        reader, writer = await target.connect()
        try:
            writer.write(
                f"GET /v1/conversations/{conversation}/export HTTP/1.1\r\nHost: switchboard\r\n"
                f"Authorization: Bearer {endpoint.token}\r\n\r\n".encode())
            line = await asyncio.wait_for(reader.readline(), 20)
            target.did[f"exports: {line.decode().strip()}"] += 1
            while target.left > 0 and await asyncio.wait_for(reader.read(1_000), 20):
                await asyncio.sleep(0.25)
        finally:
            writer.close()

    await asyncio.gather(*(target.paced(1, work) for _ in range(16)))


async def listens(target: Target) -> None:
    """Listening and ceasing in turn, on sixteen sessions."""
    endpoint, conversation = await member(target)
    sessions = [endpoint]
    for _ in range(15):
        other = Endpoint(target.realtime_url, endpoint.user, endpoint.token)
        await other.open()
        sessions.append(other)

    async def one(session: Endpoint) -> None:
        for name in ("listen", "unlisten"):
            try:
                await session.exchange({name: {"stream": f"conversation:{conversation}"}})
                target.did[name] += 1
            except RequestError as refused:
                target.did[f"{name}: {refused.type}"] += 1

    await asyncio.gather(*(target.paced(200, functools.partial(one, session)) for session in sessions))


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


async def search_phrases(target: Target) -> None:
    """One word again and again in one message, and phrases of it, the most relevant first."""
    endpoint, conversation = await member(target)
    for _ in range(50):
        try:
            await endpoint.ask(
                "messages.send", conversation=conversation, clientID=client_id(), text="ab ac " * 5_000)
        except RequestError:
            break

    async def work() -> None:
        query = random.choice(['"ab ac" ' * 8, '"ab ac ab" "ac ab ac" "ab ac ab ac"', '"ab ab" "ac ac"']).strip()
        await endpoint.ask("messages.search", query=query, order="relevance", limit=50)

    await flood(target, "search phrases", work, 200)


# As much as a text may be that is looked at: idioms, abbreviations and capitals alone, and forms of address.
WORDY = ("KICK THE BUCKET brb idk señor usted " * 200)[:4_000]


async def hints(target: Target) -> None:
    """Explanations of a message that is full of what lexicons know."""
    endpoint, conversation = await member(target)
    sent = await endpoint.ask("messages.send", conversation=conversation, clientID=client_id(), text=WORDY)
    number = sent["message"]["number"]

    async def work() -> None:
        await endpoint.ask("hints.request", conversation=conversation, number=number)

    await flood(target, "hints", work)


async def drafts(target: Target) -> None:
    """Drafts of the longest size, each of which rules look through."""
    endpoint, conversation = await member(target)

    async def work() -> None:
        await endpoint.ask("drafts.check", conversation=conversation, text=WORDY)

    await flood(target, "drafts", work)


async def replies(target: Target) -> None:
    """Replies to one's own message, each of which turns a text into a vector where something does."""
    endpoint, conversation = await member(target)

    async def work() -> None:
        await endpoint.ask("replies.suggest", conversation=conversation, number=1)

    await flood(target, "replies", work)


async def summaries(target: Target) -> None:
    """Of as many messages as an account may send at once, all of them requests and questions."""
    endpoint, conversation = await member(target)
    for index in range(500):
        try:
            await endpoint.ask(
                "messages.send", conversation=conversation, clientID=client_id(),
                text=f"Could you please send me file number {index} by Friday at 5 pm?",
            )
        except RequestError:
            break

    async def work() -> None:
        await endpoint.ask("summaries.create", conversation=conversation)
        await endpoint.ask("priority.list", limit=50)

    await flood(target, "summaries", work, 200)


async def search_meaning(target: Target) -> None:
    """Queries of the longest size, each of which becomes a vector."""
    endpoint, _ = await member(target)

    async def work() -> None:
        query = " ".join(random.choices(["house", "lake", "boat", "where", "key", "flat"], k=30))
        await endpoint.ask("messages.search", query=query, mode=random.choice(["meaning", "both"]), limit=50)

    await flood(target, "search by meaning", work, 200)


# Nobody and no engine here knows them.
UNKNOWN_LANGUAGES = ["ain", "liv", "vot", "xcl", "sux", "akk", "got", "uga"]


async def readers(target: Target) -> tuple[Endpoint, Endpoint, str]:
    """Two people and a group of both, in which one writes and the other reads."""
    endpoint, conversation = await member(target)
    reader = await connected(target)
    members = await endpoint.ask("members.add", conversation=conversation, members=[reader.user])
    assert members
    await reader.ask("members.accept", conversation=conversation)
    return endpoint, reader, conversation


async def languages(target: Target) -> None:
    """Translations of as many messages as a request may name, into languages that nobody knows; and into one that is
    translated by rules, of texts that are new each time."""
    endpoint, reader, conversation = await readers(target)
    number = 0

    async def work() -> None:
        nonlocal number
        language = random.choice([*UNKNOWN_LANGUAGES, "pt"])
        if random.random() < 0.05:
            text = f"La casa de mi hermano es muy grande y tiene {client_id()} ventanas. " * 10
            sent = await endpoint.ask("messages.send", conversation=conversation, clientID=client_id(), text=text)
            number = sent["message"]["number"]
        first = max(1, number - 49)
        await reader.ask(
            "translations.request", conversation=conversation, numbers=list(range(first, max(first, number) + 1)),
            language=language)

    await flood(target, "languages", work)


# Scripts of languages that nobody writes any more and of those that few do, and one that no language has.
UNKNOWN_SCRIPTS = [
    (0x10330, 0x1034A), (0x10380, 0x1039D), (0x12000, 0x12399), (0x13000, 0x1342E), (0x10A0, 0x10C5), (0x1680, 0x169A),
    (0x16A0, 0x16EA), (0x2C00, 0x2C5F), (0x1700, 0x1711), (0xA500, 0xA60B), (0xE000, 0xF8FF), (0x61, 0x7A),
]  # fmt: skip


def unknown_words() -> list[list[str]]:
    """Words of letters at random, of each script."""
    return [
        ["".join(chr(random.randint(first, last)) for _ in range(random.randint(2, 12))) for _ in range(200)]
        for first, last in UNKNOWN_SCRIPTS
    ]


async def unknown_texts(target: Target) -> None:
    """Texts in languages that nobody knows, short and long, which a reader has translated whatever they are; the author
    corrects what they are in to one that an engine translates."""
    endpoint, reader, conversation = await readers(target)
    await reader.ask("members.updateMe", conversation=conversation, translation={"mode": "automatic", "into": "pt"})
    await reader.listen(f"conversation:{conversation}")
    await reader.listen(f"translations:{conversation}")

    # Made before, since those who attack have processors of their own.
    scripts = unknown_words()

    async def work() -> None:
        words = [word for script in random.sample(scripts, random.choice([1, 1, 3])) for word in script]
        text = " ".join(random.choices(words, k=random.choice([3, 30, 500])))[:4_000]
        sent = await endpoint.ask("messages.send", conversation=conversation, clientID=client_id(), text=text)
        number, language = sent["message"]["number"], sent["message"].get("language", {"confidence": "no language"})
        target.did[f"unknown texts: {language['confidence']}"] += 1
        if random.random() < 0.2:
            await endpoint.ask("messages.setLanguage", conversation=conversation, number=number, language="es")

    await flood(target, "unknown texts", work)


async def glossaries(target: Target) -> None:
    """Glossaries that are as full as they may be and change each time, beside long texts that have all of their terms,
    or the beginnings of many at each word."""
    endpoint, reader, conversation = await readers(target)
    words = ["".join(random.choices(string.ascii_lowercase, k=18)) for _ in range(100)]
    words += ["a " * (index % 45 + 1) + word[:9] for index, word in enumerate(words)]
    texts = ["La casa de mi hermano es muy grande. " + more for more in (" ".join(words)[:3_900], "a " * 1_900)]
    numbers = []
    for index in range(50):
        sent = await endpoint.ask(
            "messages.send", conversation=conversation, clientID=client_id(), text=texts[index % 2])
        numbers.append(sent["message"]["number"])

    async def work() -> None:
        if random.random() < 0.2:
            terms = [{"source": word, "target": client_id(), "language": "pt"} for word in words]
            await endpoint.ask("glossary.set", conversation=conversation, terms=terms)
            target.did["glossaries that were set"] += 1
        else:
            await reader.ask("translations.request", conversation=conversation, numbers=numbers, language="pt")

    await flood(target, "glossaries", work, 200)


async def questions(target: Target) -> None:
    """Questions without end, each of which a model looks up, and batches of ten."""
    endpoint, _ = await member(target)

    async def work() -> None:
        if random.random() < 0.1:
            batch = [{"clientID": client_id(), "question": f"Who pays {index}?"} for index in range(10)]
            await endpoint.ask("assistant.batch", questions=batch)
        else:
            await endpoint.ask("assistant.ask", clientID=client_id(), question="Who pays? " * 300)

    await flood(target, "questions", work, 200)


ATTACKS = [
    sends, long_sends, marked_sends, edits, rewrites, former_texts, small_bodies, reactions, marks, typing,
    typing_in_turn, listens, groups, invitations, slow_exports, search_words, search_phrases, hints, drafts,
    replies, summaries, search_meaning, languages, unknown_texts,
    glossaries, questions,
]
