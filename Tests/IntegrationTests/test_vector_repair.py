"""Vectors that are wrong, orphaned or missing, and the commands by which an operator has them mended or made anew.

The program that makes vectors is scripted: each text has its own, so that a message is found by its own text.
"""

from __future__ import annotations

import collections
import contextlib
import pathlib
import sqlite3
import sys
from typing import Any

import pytest
from switchboard_tests import engines
from switchboard_tests.conversations import create, sent
from switchboard_tests.meaning import found, search, until_embedded, vectors
from switchboard_tests.server import Server, User, change, tool
from switchboard_tests.waiting import eventually

LIMITS = {
    "conversationsPerHour": 10_000, "searchesPerMinute": 100_000, "requestsPerMinute": 100_000,
    "messagesPerMinute": 100_000,
}  # fmt: skip
PROGRAM = pathlib.Path(engines.__file__).parent / "scripted_embedder.py"
TEXTS = ["apples and pears", "the long way home", "nobody knows", "a red bicycle", "seven past nine", "fresh bread"]
COMPARED = "conversations to be compared with their vectors"


class Embedded:
    """A server whose messages all have vectors, and what its program was given."""

    def __init__(self, make_server: Any, folder: pathlib.Path) -> None:
        self.seen = folder / "seen"
        self.hold = folder / "hold"
        self.embeddings = {
            "provider": "command", "command": [sys.executable, str(PROGRAM), str(self.seen), str(self.hold)],
            "model": "scripted", "timeoutSeconds": 60,
        }  # fmt: skip
        self.server: Server = make_server(
            {"limits": LIMITS, "languages": {"apertium": False, "embeddings": self.embeddings}}
        )
        self.ann: User = self.server.user()
        self.here = create(self.ann, "self").json()["conversation"]["id"]
        for text in TEXTS:
            sent(self.ann, self.here, text)
        until_embedded(self.ann)

    def given(self) -> collections.Counter[str]:
        return collections.Counter(line for line in self.seen.read_text().splitlines() if line in TEXTS)

    def execute(self, *statements: str) -> None:
        with contextlib.closing(sqlite3.connect(f"{self.server.data}/switchboard.sqlite")) as database, database:
            for statement in statements:
                database.execute(statement)

    def damage(self) -> None:
        """The first is of another text, the second no vector, the third missing, the fourth by an unknown model, and
        there is one of no message. The fifth and the sixth are right."""
        assert self.server.process is None
        self.execute(
            "UPDATE vectors SET of_version = of_version - 1 WHERE number = 1",
            "UPDATE vectors SET bytes = x'0102' WHERE number = 2",
            "DELETE FROM vectors WHERE number = 3",
            "UPDATE vectors SET model = 77 WHERE number = 4",
            "INSERT INTO vectors SELECT conversation_id, 1000, chunk, model, of_version, seq, bytes FROM vectors"
            " WHERE number = 5",
        )

    def is_whole(self) -> bool:
        return vectors(self.server, self.here) == dict.fromkeys(range(1, 7), 1)

    def statistics(self) -> list[str]:
        done = tool(self.server, "languages", "statistics")
        assert done.returncode == 0, done.stderr
        return [line for line in done.stdout.splitlines() if line.startswith(("vectors", COMPARED))]

    def counted(self, count: int, *, size: int, waiting: int = 0, compared: int = 0) -> list[str]:
        return [
            f"vectors\tscripted\t{count}\t{size} bytes\t{waiting} messages wait", "vectors to be made anew\t0",
            f"{COMPARED}\t{compared}",
        ]  # fmt: skip

    def run(self, *arguments: str) -> str:
        done = tool(self.server, "languages", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def embedded(make_server, tmp_path_factory) -> Embedded:
    return Embedded(make_server, tmp_path_factory.mktemp("embedder"))


def found_by_its_text(embedded: Embedded) -> list[str]:
    return [text for text in TEXTS if found(embedded.ann, text)[:1] == [text]]


def test_a_repair_of_a_running_server_mends_what_is_damaged_and_nothing_else(embedded):
    whole = embedded.counted(6, size=120)
    assert embedded.statistics() == whole
    embedded.server.stop()
    embedded.damage()
    embedded.server.start()
    assert found_by_its_text(embedded) == TEXTS[4:]
    # One is of two bytes, and one by a model that has no name.
    assert embedded.statistics() == embedded.counted(5, size=82)
    before = embedded.given()
    assert embedded.run("repair") == "1 conversations are compared with their vectors, from now on.\n"
    eventually(embedded.is_whole)
    eventually(lambda: embedded.statistics() == whole)
    made = embedded.given() - before
    assert made == collections.Counter(TEXTS[:4])
    assert found_by_its_text(embedded) == TEXTS
    # There is nothing more to mend.
    before = embedded.given()
    assert embedded.run("repair") == "1 conversations are compared with their vectors, from now on.\n"
    eventually(lambda: embedded.statistics() == whole)
    assert embedded.given() == before and embedded.is_whole()


def test_a_repair_of_a_stopped_server_is_made_when_it_runs(embedded):
    server = embedded.server
    server.stop()
    embedded.damage()
    assert embedded.run("repair") == "1 conversations are compared with their vectors when the server runs.\n"
    assert embedded.statistics() == embedded.counted(5, size=82, compared=1)
    assert not embedded.is_whole()
    server.start()
    eventually(embedded.is_whole)
    eventually(lambda: embedded.statistics() == embedded.counted(6, size=120))
    assert found_by_its_text(embedded) == TEXTS


def test_all_vectors_are_made_anew_while_the_old_ones_are_found(embedded):
    before = embedded.given()
    embedded.hold.touch()
    assert embedded.run("reindex") == "All messages get new vectors; until then the old ones are used.\n"
    assert embedded.statistics() == embedded.counted(6, size=120, waiting=6)
    assert search(embedded.ann, TEXTS[0])["coverage"] == 0
    assert found_by_its_text(embedded) == TEXTS
    embedded.hold.unlink()
    eventually(lambda: embedded.statistics() == embedded.counted(6, size=120))
    # Each query was given to it, too.
    assert embedded.given() - before >= collections.Counter(TEXTS)
    assert embedded.is_whole() and found_by_its_text(embedded) == TEXTS


def test_a_stopped_server_makes_all_vectors_anew_when_it_runs(embedded):
    server = embedded.server
    server.stop()
    # All are right by what they say, but the model has changed.
    embedded.execute("UPDATE vectors SET bytes = (SELECT bytes FROM vectors WHERE number = 5)")
    expected = "All messages get new vectors when the server runs; until then the old ones are used.\n"
    assert embedded.run("reindex") == expected
    assert embedded.statistics() == embedded.counted(6, size=120, waiting=6)
    server.start()
    eventually(lambda: embedded.statistics() == embedded.counted(6, size=120))
    assert found_by_its_text(embedded) == TEXTS


def test_both_are_in_the_audit_log(embedded):
    lines = tool(embedded.server, "audit").stdout
    assert lines.count("vectors.repair") == 3 and lines.count("vectors.reindex") == 2, lines


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (["repair", "all"], "Unexpected argument all"),
        (["repair", "--into", "en"], "Unknown option --into"),
        (["reindex", "scripted"], "Unexpected argument scripted"),
        (["erase", "es"], "Unexpected argument es"),
        (["statistics", "--verbose"], "Unknown option --verbose"),
    ],
)
def test_arguments_that_nobody_knows_are_refused(embedded, arguments, expected):
    before = tool(embedded.server, "audit").stdout
    done = tool(embedded.server, "languages", *arguments)
    assert (done.returncode, done.stdout) == (64, "")
    assert expected in done.stderr, done.stderr
    assert tool(embedded.server, "audit").stdout == before


def test_without_an_engine_nothing_is_promised(embedded):
    server = embedded.server
    change(server, "languages", "embeddings", to={"provider": "none"})
    server.restart()
    expected = (
        "switchboard: Messages have no vectors here: set languages.embeddings.provider, and restart the server.\n"
    )
    for _ in ("running", "stopped"):
        for command in ("repair", "reindex"):
            done = tool(server, "languages", command)
            assert (done.returncode, done.stdout, done.stderr) == (1, "", expected), command
        # What there is still counts, and nothing has changed.
        assert embedded.statistics() == embedded.counted(6, size=120)
        if server.process is not None:
            server.stop()
