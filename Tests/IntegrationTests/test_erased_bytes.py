"""No byte of a deleted user is left: in the unused parts of the database's pages, in what is written later, in a
backup, or after crashes.
"""

from __future__ import annotations

import contextlib
import random
import shutil
import sqlite3
import time

from switchboard_tests import histories
from switchboard_tests.audio_files import encode, tone
from switchboard_tests.conversations import direct, send
from switchboard_tests.deletions import SECONDS, bytes_left, delete, erased, sign_up, user
from switchboard_tests.endpoint import client_id
from switchboard_tests.seeds import seed
from switchboard_tests.server import Server, User
from switchboard_tests.voice_messages import sent

LIMITS = {"limits": {"friendRequestsPerHour": 10_000, "requestsPerMinute": 100_000, "callsPerMinute": 10_000}}


def add_messages(server: Server, rng: random.Random, authors: list[tuple[User, str]], count: int) -> None:
    """Writes messages of the authors, whose texts consist of their words, into the database of a stopped server, and
    has it written anew, as a database of an earlier version.
    """
    database = server.data / "switchboard.sqlite"
    chosen = [rng.choice(authors) for _ in range(count)]
    histories.add_messages(
        database, [(author.id, f"{word} " * rng.choice((1, 2, 5, 20, 60, 400))) for author, word in chosen]
    )
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("PRAGMA user_version = 0")
    assert "Rewrote the database file" in server.command("migrate")


def befriend(one: User, other: User, note: str) -> None:
    asked = one.post("/v1/friends", {"clientID": client_id(), "user": other.id, "note": note})
    assert asked.status_code == 201, asked.text


def talk(rng: random.Random, here: str, authors: list[tuple[User, str]], count: int) -> None:
    for _ in range(count):
        author, word = rng.choice(authors)
        sent = send(author, here, f"{word} " * rng.choice((1, 5, 20, 200)))
        assert sent.status_code == 201, sent.text
        if rng.random() < 0.3:
            message = sent.json()["message"]
            body = {"text": f"{word} edited", "textVersion": message["textVersion"]}
            edited = author.request("PATCH", f"/v1/conversations/{here}/messages/{message['number']}", body)
            assert edited.status_code == 200, edited.text


def integrity(server: Server) -> str:
    """Of a copy, since opening the files changes them."""
    copy = server.directory / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for path in server.data.glob("switchboard.sqlite*"):
        shutil.copy(path, copy)
    with contextlib.closing(sqlite3.connect(copy / "switchboard.sqlite")) as database:
        return database.execute("PRAGMA integrity_check").fetchone()[0]


def test_nothing_is_left_of_a_long_life(make_server, tmp_path):
    rng = random.Random(seed())
    server = make_server(LIMITS)
    ann = user(server, sign_up(server, "Quendolin", device="Quendolinphone"))
    ben = user(server, sign_up(server, "Benedict"))
    others = server.users(80)
    server.stop()
    add_messages(server, rng, [(ann, "annswords"), (ben, "benswords"), (others[0], "others")], 3000)
    server.start()
    for other in others:
        befriend(ann, other, "annsnote " * rng.randrange(1, 30))
        befriend(other, ben, "othersnote " * rng.randrange(1, 20))
        accepted = rng.random() < 0.5
        if accepted:
            assert other.post(f"/v1/friends/{ann.id}/accept").status_code == 200
        call = ann.post("/v1/calls", {"clientID": client_id(), "callees": [other.id], "kind": "audio"})
        assert call.status_code == 201, call.text
        ended = ann.post(f"/v1/calls/{call.json()['call']['id']}/cancel", {"clientID": client_id()})
        assert ended.status_code == 200, ended.text
        if accepted:
            talk(rng, direct(ann, other), [(ann, "annswords"), (other, "others")], 8)
    for _ in range(3):
        sent(ann, ben, encode(tone(0.3)))

    names = ["Quendolin", "quendolin", "annswords", "annsnote"]
    assert len(bytes_left(server, names)) >= len(names)
    delete(ann)
    erased(server)
    assert bytes_left(server, names) == []
    assert bytes_left(server, ["benswords", "othersnote"])

    # The pages that are written later were in the caches before.
    for other in others:
        assert other.request("DELETE", f"/v1/friends/{ben.id}").status_code == 204
        assert other.request("PATCH", "/v1/me", {"displayName": "Somebody"}).status_code == 200
    assert bytes_left(server, names) == []
    server.command("backup", str(tmp_path / "backup"))
    server.stop()
    assert bytes_left(server, names) == []
    backup = Server(tmp_path)
    backup.data, backup.log = tmp_path / "backup", server.log
    assert bytes_left(backup, names) == []
    assert integrity(server) == "ok"


def test_a_checkpoint_goes_on_after_kill_9(make_server):
    """The server is killed as soon as the database file changes: when the checkpoint after an erasure begins."""
    rng = random.Random(seed())
    server = make_server()
    people = [user(server, sign_up(server, f"Zenobia{number}")) for number in range(2)]
    server.stop()
    add_messages(server, rng, [(one, f"words{number}") for number, one in enumerate(people)], 1500)
    server.start()
    database = server.data / "switchboard.sqlite"
    broken_off = 0
    for number, one in enumerate(people):
        before = database.stat().st_mtime_ns
        delete(one)
        deadline = time.monotonic() + SECONDS
        while database.stat().st_mtime_ns == before:
            assert time.monotonic() < deadline, "no checkpoint"
        server.kill()
        broken_off += (server.data / "switchboard.sqlite-wal").stat().st_size > 0
        assert integrity(server) == "ok"
        server.start()
        erased(server, number + 1)
        assert bytes_left(server, [f"words{number}", f"Zenobia{number}"]) == []
    assert broken_off > 0
