"""No byte is left of what was derived from messages when they are gone, or when machines may not read them any more:
translations, hints, summaries, questions to the assistant and its answers, and phrases. The model is scripted, and each
of its results has a word that is nowhere else.
"""

from __future__ import annotations

import contextlib
import dataclasses
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from switchboard_tests import voice_messages
from switchboard_tests.assistants import Call, Reply, ScriptedModel, Task, Turn, modelling
from switchboard_tests.audio_files import encode, tone
from switchboard_tests.conversations import befriend, group, sent, summary
from switchboard_tests.deletions import bytes_left, delete, erased, rows
from switchboard_tests.server import Server, User, tool
from switchboard_tests.transcription import transcript
from switchboard_tests.translators import outcomes
from switchboard_tests.waiting import TIMEOUT, eventually, wait_until

LIMITS = {
    "friendRequestsPerHour": 1000, "conversationsPerHour": 10_000, "messagesPerMinute": 100_000,
    "requestsPerMinute": 100_000, "translationsPerMinute": 100_000, "hintsPerMinute": 100_000,
    "questionsPerMinute": 100_000, "searchesPerMinute": 100_000, "writingPerMinute": 100_000,
}  # fmt: skip
# Numbers of a conversation whose summary is stored.
BLOCK = 64
# How a text is erased.
WAYS = "deleted", "spoken", "edited", "lowered", "removed", "expired", "outdated", "ended", "late", "kept"
# The first part of each word of the model; the second is the way.
KINDS = ("traducido", "explicado", "resumido", "respondido", "rematado")
PHRASE = "Please come to the station tomorrow"
DAY = 86_400_000


def text_of(way: str) -> str:
    return f"Please bring the ladder to the {way} garden tomorrow"


def words_of(*ways: str, kinds: tuple[str, ...] = KINDS) -> list[str]:
    return [kind + way for way in ways for kind in kinds]


class Writer:
    """What the model writes."""

    def __init__(self) -> None:
        self.goes_on = threading.Event()
        # How often it has translated the phrase.
        self.phrases = 0

    def document(self, task: Task) -> dict[str, Any]:
        if task.name == "translations":
            return {key: self.translation(text) for key, text in task.data["texts"].items()}
        if task.name == "hints":
            return {"hints": [self.hint(task.data["text"])]}
        if task.name == "summary":
            found = [one for one in task.data["messages"] if way_of(one["text"])]
            return {"items": [
                {"kind": "point", "text": f"resumido{way_of(one['text'])}", "owner": None, "due": None,
                 "messages": [one["id"]]} for one in found
            ]}  # fmt: skip
        # What is stored nowhere.
        return {
            "text": "reescrito", "tone": "neutral", "replies": ["contestado"],
            "findings": [{"quote": "ladder", "advice": "aconsejado", "suggestion": "sugerido"}],
        }  # fmt: skip

    def translation(self, text: str) -> str:
        if text == PHRASE:
            self.phrases += 1
            return f"Frase traducidofrase{'abc'[self.phrases - 1]}"
        if way_of(text) == "late":
            assert self.goes_on.wait(120), "it was never let go on"
        return f"Lleva la escalera traducido{way_of(text)}"

    def hint(self, text: str) -> dict[str, Any]:
        meaning = f"explicado{way_of(text)}"
        return {"quote": "ladder", "kind": "idiom", "meaning": meaning, "equivalent": None, "relevance": "high"}

    def answer(self, turn: Turn) -> Reply:
        """To a question that ends with a way."""
        if not turn.results:
            return [Call("search", {"query": "ladder"})]
        way = turn.question["question"].split()[-1]
        [handle] = [one["id"] for one in turn.messages_seen if way_of(one["text"])]
        return [f"Se ha respondido{way} [{handle}]. Y rematado{way} sin nada."]


def way_of(text: str) -> str | None:
    return next((way for way in WAYS if f"the {way} garden" in text), None)


@pytest.fixture
def writer() -> Writer:
    return Writer()


@pytest.fixture
def model(writer) -> Iterator[ScriptedModel]:
    with modelling() as model:
        model.script, model.document = writer.answer, writer.document
        yield model
        writer.goes_on.set()


@pytest.fixture
def server(make_server, model) -> Server:
    service = {"provider": "openai", "url": model.url, "apiKey": "sk-test"}
    command = ["/bin/sh", "-c", f"cat > /dev/null; echo {text_of('spoken')}"]
    return make_server(
        {
            "limits": LIMITS,
            "transcription": {"provider": "command", "command": command},
            "languages": {
                "apertium": False, "defaultLevel": "full", "model": service | {"name": "scripted"},
                "translation": service | {"model": "scripted", "concurrency": 1},
            },
        }
    )  # fmt: skip


@dataclasses.dataclass
class Original:
    """A group with a message, of which all that can be was derived for a reader."""

    id: str
    number: int
    author: User
    run: dict[str, Any]

    @property
    def path(self) -> str:
        return f"/v1/conversations/{self.id}/messages/{self.number}"


def answered(user: User, question: str, **more: Any) -> dict[str, Any]:
    """The run of a question, when it is done."""
    response = user.post("/v1/assistant", {"clientID": str(uuid.uuid4()), "question": question} | more)
    assert response.status_code == 202, response.text
    path = f"/v1/assistant/runs/{response.json()['run']['id']}"
    run = eventually(lambda: one if (one := user.get(path).json()["run"])["status"] != "running" else None)
    assert run is not None and run["status"] == "done", run
    return run


def asked(user: User, here: str, way: str, word: str | None = None) -> dict[str, Any]:
    """The run of a question that has a word, of which the words of the answer go with the way."""
    run = answered(user, f"{word or 'preguntado' + way} about {way}", conversation=here)
    assert [len(one["citations"]) for one in run["sentences"]] == [1, 0]
    return run


def said(author: User, here: str) -> int:
    """The number of a voice message with a transcript."""
    file = voice_messages.uploaded(author, encode(tone(0.3)))["id"]
    message = voice_messages.send_file(author, here, file).json()["message"]
    path = voice_messages.path_of(message)
    assert author.post(f"{path}/transcript").status_code in (200, 202)
    assert transcript(author, {"path": path}, "complete")["text"].strip() == text_of("spoken")
    number: int = message["number"]
    return number


def explained(user: User, path: str) -> dict[str, Any]:
    hints = eventually(lambda: one if (one := user.post(path, {}).json()["hints"])["status"] != "queued" else None)
    assert hints is not None
    return hints


def derived(reader: User, owner: User, author: User, way: str, **settings: Any) -> Original:
    here = group(owner, [one for one in (reader, author) if one is not owner])
    if settings:
        assert owner.request("PATCH", f"/v1/conversations/{here}", settings).status_code == 200
    number = said(author, here) if way == "spoken" else sent(author, here, text_of(way))
    for _ in range(BLOCK):
        sent(owner, here, "fine")
    assert outcomes(reader, here, [number])[number]["status"] == "done"
    path = f"/v1/conversations/{here}/messages/{number}/hints"
    assert explained(reader, path)["items"][0]["meaning"] == f"explicado{way}"
    assert summary(reader, here, to=BLOCK)["items"][0]["text"] == f"resumido{way}"
    return Original(here, number, author, asked(reader, here, way))


def befriended(server: Server, count: int) -> list[User]:
    """They write English; the second reads Spanish."""
    users = server.users(count)
    for one in users[1:]:
        befriend(users[0], one)
    reading = {"translation": {"mode": "onRequest", "into": "es"}}
    assert users[1].request("PATCH", "/v1/me", reading).status_code == 200
    return users


def assert_left(server: Server, texts: list[str]) -> None:
    """Each of them."""
    missing = [text for text in texts if not bytes_left(server, [text])]
    assert missing == []


def wait_for_rows(server: Server, *originals: Original) -> None:
    """Waits until no text that was derived from their messages is in any row."""
    of_message = (
        "SELECT text FROM translations WHERE text IS NOT NULL", "SELECT items FROM hints WHERE items IS NOT NULL",
        "SELECT id FROM jobs WHERE true",
    )  # fmt: skip
    wanted = "conversation_id = ? AND number = ?"

    def left(one: Original) -> Iterator[list[Any]]:
        for query in of_message:
            yield rows(server, f"{query} AND {wanted}", one.id, one.number)
        yield rows(server, "SELECT items FROM summary_blocks WHERE conversation_id = ?", one.id)
        yield rows(server, "SELECT text FROM assistant_sentences WHERE text <> '' AND run_id = ?", one.run.get("id"))

    wait_until(lambda: not any(any(left(one)) for one in originals), "they are removed")


def test_nothing_derived_is_left_of_what_users_erase(server, model, writer):
    """An account is erased last: the log of the database is emptied then."""
    ann, ben, cem, dan, eve, fay = befriended(server, 6)
    deleted = derived(ben, ann, cem, "deleted")
    spoken = derived(ben, ann, cem, "spoken")
    edited = derived(ben, ann, cem, "edited")
    lowered = derived(ben, ann, eve, "lowered")
    # Its author is erased, who has asked too.
    removed = derived(ben, ann, dan, "removed")
    kept = derived(ben, ann, fay, "kept")
    asked(dan, removed.id, "removed", "preguntadopropio")
    thread = asked(ben, kept.id, "kept", "preguntadohilo")
    run = asked(ben, kept.id, "kept", "preguntadounavez")
    for index, author in enumerate((cem, eve, dan), 1):
        here = group(ann, [ben, author])
        number = sent(author, here, PHRASE)
        assert outcomes(ben, here, [number])[number]["status"] == "done"
        assert rows(server, "SELECT COUNT(*) FROM phrases WHERE text IS NOT NULL") == [(int(index == 3),)]
    # What is stored nowhere: replies, and opinions on drafts.
    for path, body in (
        ("drafts/rewrite", {"text": "a ladder", "style": "formal"}),
        ("drafts/check", {"text": "a ladder", "model": True}),
        (f"messages/{kept.number}/replies", {}),
    ):  # fmt: skip
        assert ben.post(f"/v1/conversations/{kept.id}/{path}", body).status_code == 200
    # What is made when it is gone already.
    number = sent(cem, deleted.id, text_of("late"))
    late = Original(deleted.id, number, cem, {})
    assert ben.post(f"/v1/conversations/{late.id}/translations", {"numbers": [number]}).status_code == 200
    wait_until(lambda: model.observed("late garden"), "it is being translated")
    assert rows(server, "SELECT purpose FROM jobs") == [("translation",)]

    erased_words = words_of("deleted", "spoken", "edited", "lowered", "removed")
    own = ["preguntadopropio", "preguntadohilo", "preguntadounavez"]
    stays = [*words_of("kept"), *(f"preguntado{way}" for way in (*WAYS[:5], "kept"))]
    assert_left(server, [*erased_words, *own, *stays, "traducidofrasea", "traducidofraseb", "traducidofrasec"])
    nowhere = ["reescrito", "contestado", "aconsejado", "sugerido", "traducidolate"]
    assert bytes_left(server, nowhere) == []
    # Neither have the rows that say what was done.
    for table in ("jobs", "provider_calls", "provider_usage", "audit"):
        found = str(rows(server, f"SELECT * FROM {table}"))
        assert not [word for word in [*erased_words, *own, *stays] if word in found], table
    assert len(rows(server, "SELECT 1 FROM provider_calls WHERE outcome = 'done'")) > 20

    for original in (deleted, spoken, late):
        assert cem.request("DELETE", f"{original.path}?for=all").status_code == 200
    version = cem.get(edited.path).json()["message"]["textVersion"]
    assert cem.request("PATCH", edited.path, {"text": "Never mind", "textVersion": version}).status_code == 200
    assert eve.request("PATCH", "/v1/me", {"intelligence": "off"}).status_code == 200
    assert ben.request("DELETE", f"/v1/assistant/threads/{thread['thread']}").status_code == 204
    assert ben.request("DELETE", f"/v1/assistant/runs/{run['id']}").status_code == 204
    writer.goes_on.set()
    number = sent(fay, kept.id, "Please bring the ladder to the kept garden again")
    assert outcomes(ben, kept.id, [number])[number]["status"] == "done"
    wait_for_rows(server, deleted, spoken, edited, lowered, late)
    delete(dan, None)
    erased(server)
    assert bytes_left(server, [*erased_words, *own, *nowhere, "traducidofrasec"]) == []
    # A question is of who asked it.
    assert_left(server, stays)
    assert rows(server, "SELECT text FROM phrases") == [(None,)]
    assert tool(server, "languages", "erase", "--into", "es").returncode == 0
    delete(fay, None)
    erased(server, 2)
    assert bytes_left(server, [*words_of("kept", kinds=("traducido",)), "traducidofrase"]) == []


def test_what_is_made_meanwhile_is_not_stored(server, model, writer):
    """A hint and a block that the model writes while their message is deleted. Who asked is not told it either."""
    ann, ben, cem, dan = befriended(server, 4)
    here = group(ann, [ben, cem])
    number = sent(cem, here, text_of("late"))
    for _ in range(BLOCK):
        sent(ann, here, "fine")
    begun: list[str] = []

    def document(task: Task) -> dict[str, Any]:
        if "late garden" in str(task.data):
            begun.append(task.name)
            assert writer.goes_on.wait(120), "it was never let go on"
        return writer.document(task)

    model.document = document
    path = f"/v1/conversations/{here}/messages/{number}"
    ben.post(f"{path}/hints")
    returned: list[dict[str, Any]] = []
    asking = threading.Thread(target=lambda: returned.append(summary(ben, here, to=BLOCK)))
    asking.start()
    wait_until(lambda: sorted(begun) == ["hints", "summary"], "both are being made")
    assert cem.request("DELETE", f"{path}?for=all").status_code == 200
    writer.goes_on.set()
    asking.join(TIMEOUT)
    wait_until(lambda: len(rows(server, "SELECT 1 FROM provider_calls WHERE outcome = 'done'")) == 2, "both are made")
    assert [one["items"] for one in returned] == [[]]
    delete(dan, None)
    erased(server)
    assert bytes_left(server, words_of("late")) == []


def test_nothing_derived_is_left_of_what_grows_old(server):
    """Messages that disappear, those that are older than their group keeps them, and a group that has ended."""
    ann, ben, cem, dan = befriended(server, 4)
    outdated = derived(ben, ann, cem, "outdated")
    ended = derived(ben, ann, cem, "ended")
    derived(ben, ann, cem, "kept")
    changed = ann.request("PATCH", f"/v1/conversations/{outdated.id}", {"settings": {"keepDays": 2}})
    assert changed.status_code == 200, changed.text
    expired = derived(ben, ann, cem, "expired", disappearAfter=3600)
    terms = {"terms": [{"source": "ladder", "target": "glosado", "language": "es"}]}
    assert ann.request("PUT", f"/v1/conversations/{ended.id}/glossary", terms).status_code == 200
    for user in (cem, ben, ann):
        assert user.request("DELETE", f"/v1/conversations/{ended.id}/members/me").status_code in (200, 204)
    goes = [*words_of("outdated", "ended", "expired"), "glosado"]
    server.stop()
    assert_left(server, [*goes, *words_of("kept")])
    make_old(server, outdated, ended)
    server.start()
    wait_for_rows(server, outdated, ended, expired)
    wait_until(lambda: not rows(server, "SELECT 1 FROM glossaries"), "the terms are removed")
    delete(dan, None)
    erased(server)
    assert bytes_left(server, goes) == []
    assert_left(server, words_of("kept"))


def make_old(server: Server, outdated: Original, ended: Original) -> None:
    """In the database of a stopped server, and lets all that disappears be due."""
    with contextlib.closing(sqlite3.connect(server.data / "switchboard.sqlite")) as database, database:
        database.execute("UPDATE messages SET expires_at = ? WHERE expires_at IS NOT NULL", (int(time.time() * 1000),))
        for table, column, original in (
            ("messages", "sent_at", outdated), ("conversations", "kept_since", outdated),
            ("messages", "sent_at", ended), ("conversations", "kept_since", ended),
            ("conversations", "ended_at", ended),
        ):  # fmt: skip
            key = "id" if table == "conversations" else "conversation_id"
            database.execute(f"UPDATE {table} SET {column} = {column} - {8 * DAY} WHERE {key} = ?", (original.id,))


# Two minutes of waiting.
@pytest.mark.timeout(300)
def test_nothing_derived_is_left_a_minute_later(server):
    """Where no account is erased and nothing disappears."""
    ann, ben, cem, dan, eve, fay = befriended(server, 6)
    # The log is emptied a while after a start too.
    log = server.data / "switchboard.sqlite-wal"
    wait_until(lambda: log.stat().st_size == 0, "the log is emptied", 90)
    deleted = derived(ben, ann, cem, "deleted")
    edited = derived(ben, ann, dan, "edited")
    derived(ben, ann, eve, "lowered")
    kept = derived(ben, ann, fay, "kept")
    thread = asked(ben, kept.id, "kept", "preguntadohilo")
    run = asked(ben, kept.id, "kept", "preguntadounavez")
    words = [
        *words_of("deleted", "edited", "lowered"), "preguntadohilo", "preguntadounavez",
        *words_of("kept", kinds=("traducido",)),
    ]  # fmt: skip
    assert_left(server, words)
    assert cem.request("DELETE", f"{deleted.path}?for=all").status_code == 200
    version = dan.get(edited.path).json()["message"]["textVersion"]
    assert dan.request("PATCH", edited.path, {"text": "Never mind", "textVersion": version}).status_code == 200
    assert eve.request("PATCH", "/v1/me", {"intelligence": "off"}).status_code == 200
    assert ben.request("DELETE", f"/v1/assistant/threads/{thread['thread']}").status_code == 204
    assert ben.request("DELETE", f"/v1/assistant/runs/{run['id']}").status_code == 204
    assert tool(server, "languages", "erase", "--into", "es").returncode == 0
    wait_until(lambda: bytes_left(server, words) == [], "the log is emptied again", 90)
    assert_left(server, words_of("kept", kinds=("explicado", "resumido", "respondido")))


# What rests on a message without being made of it alone. How that message is erased:
EXPLAINING = "deleted", "edited", "lowered", "removed"


def erase_each(server: Server, authors: dict[str, User], here: dict[str, tuple[str, int]]) -> None:
    """The messages of each way, given as conversation and number."""
    paths = {way: f"/v1/conversations/{id}/messages/{number}" for way, (id, number) in here.items()}
    assert authors["deleted"].request("DELETE", f"{paths['deleted']}?for=all").status_code == 200
    version = authors["edited"].get(paths["edited"]).json()["message"]["textVersion"]
    body = {"text": "Never mind", "textVersion": version}
    assert authors["edited"].request("PATCH", paths["edited"], body).status_code == 200
    assert authors["lowered"].request("PATCH", "/v1/me", {"intelligence": "off"}).status_code == 200
    wait_until(lambda: not rows(server, "SELECT 1 FROM level_checks"), "the level is enforced")
    delete(authors["removed"], None)
    erased(server)


def test_a_hint_goes_with_the_messages_that_explain_it(server, model):
    """The model is also given the messages before, and says in a hint what they say."""

    def document(task: Task) -> dict[str, Any]:
        earlier = [way_of(one["text"]) for one in task.data["earlier"]]
        meaning = " ".join(f"explicado{way}" for way in earlier)
        return {"hints": [
            {"quote": "there", "kind": "reference", "meaning": meaning, "equivalent": None, "relevance": "high"}
        ]}  # fmt: skip

    model.document = document
    ann, ben, *others = befriended(server, 6)
    authors = dict(zip(EXPLAINING, others, strict=True))
    here = {}
    for way, author in authors.items():
        id = group(ann, [ben, author])
        here[way] = id, sent(author, id, text_of(way))
        path = f"/v1/conversations/{id}/messages/{sent(ann, id, 'I will be there with the rope')}/hints"
        assert [one["meaning"] for one in explained(ben, path)["items"]] == [f"explicado{way}"]
    words = words_of(*EXPLAINING, kinds=("explicado",))
    assert_left(server, words)
    erase_each(server, authors, here)
    assert bytes_left(server, words) == []


def test_an_answer_goes_with_what_earlier_answers_rest_on(server, model):
    """The model is also given the answers before, and repeats them, citing nothing."""

    def script(turn: Turn) -> Reply:
        earlier = [one["content"] for one in turn.messages if one["role"] == "assistant" and one["content"]]
        if "again" in turn.question["question"]:
            return [f"Como dije: {earlier[0].replace('respondido', 'repetido')}"]
        if not turn.results:
            return [Call("search", {"query": "ladder"})]
        [(handle, way)] = [(one["id"], way) for one in turn.messages_seen if (way := way_of(one["text"]))]
        return [f"Se ha respondido{way} [{handle}]."]

    model.script = script
    ann, ben, *others = befriended(server, 6)
    authors = dict(zip(EXPLAINING, others, strict=True))
    here, threads = {}, {}
    for way, author in authors.items():
        id = group(ann, [ben, author])
        here[way] = id, sent(author, id, text_of(way))
        threads[way] = answered(ben, "What about the ladder?", conversation=id)["thread"]
        answered(ben, "Say that again", thread=threads[way])
    words = words_of(*EXPLAINING, kinds=("respondido", "repetido"))
    assert_left(server, words)
    erase_each(server, authors, here)
    assert bytes_left(server, words) == []


def test_a_model_is_not_given_answers_that_rest_on_what_it_may_not_read(server, model):
    ann, ben, cem = befriended(server, 3)
    here = group(ann, [ben, cem])
    sent(cem, here, text_of("lowered"))
    said = "Se ha respondidolowered"

    def script(turn: Turn) -> Reply:
        if "again" in turn.question["question"]:
            return [f"{said}, como dije."]
        return [f"{said} [{turn.handle('ladder')}]."] if turn.results else [Call("search", {"query": "ladder"})]

    model.script = script
    thread = answered(ben, "What about the ladder?", conversation=here)["thread"]
    answered(ben, "Say that again", thread=thread)
    assert model.observed("respondidolowered")
    assert cem.request("PATCH", "/v1/me", {"intelligence": "off"}).status_code == 200
    model.received.clear()
    answered(ben, "And again", thread=thread)
    assert not model.observed("respondidolowered")
