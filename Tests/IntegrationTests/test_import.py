"""An app comes over: users, conversations and messages of another system."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import subprocess

from switchboard_tests import conversations as here
from switchboard_tests.endpoint import Endpoint
from switchboard_tests.server import HTTP
from switchboard_tests.transfers import (
    PASSWORD,
    at,
    command,
    direct,
    group,
    imported,
    inbox,
    message,
    pages,
    run,
    signed_in,
    user,
    write,
)

COUNT = 10_000


def rows(server, query: str) -> list[tuple]:
    """What the database has; while the server runs too."""
    with sqlite3.connect(f"file:{server.data}/switchboard.sqlite?mode=ro", uri=True) as database:
        return database.execute(query).fetchall()


def many(count: int, seed: int = 7):
    """Two users and a conversation of theirs, in any order of lines; several messages have the same time."""
    lines = [user("ann"), user("ben"), direct("c", "ann", "ben")]
    lines += [message(f"m{n:05}", "c", ("ann", "ben")[n % 2], n // 3) for n in range(count)]
    random.Random(seed).shuffle(lines)
    return lines


def check_many(server, count: int) -> None:
    """All of `many` is there, once, in order."""
    ann = signed_in(server, "ann")
    (row,) = inbox(ann)
    found = list(pages(ann, row["id"]))
    assert [one["number"] for one in found] == list(range(1, count + 1))
    assert [one["text"] for one in found] == [f"text of m{n:05}" for n in range(count)]
    assert [one["sentAt"] for one in found] == [at(n // 3) for n in range(count)]


def test_an_app_comes_over(make_server, tmp_path):
    server = make_server()
    file = write(tmp_path / "old.jsonl", many(COUNT))
    assert f"{COUNT + 3} new, 0 skipped, 0 refused; 1 conversations" in imported(server, file)
    check_many(server, COUNT)
    # It is found like what was written here.
    ann = signed_in(server, "ann")
    found = ann.get("/v1/search", params={"query": "m04242"}).json()["results"]
    assert [one["message"]["number"] for one in found] == [4243]
    # Again: nothing changes.
    assert f"0 new, {COUNT + 3} skipped, 0 refused" in imported(server, file)
    check_many(server, COUNT)
    # The command is in the audit log.
    audit = run(server, "audit", "--since", "1h").stdout
    assert "import.begin\told" in audit
    assert "import.end\told" in audit


def test_passwords_of_firebase_are_replaced(make_server, tmp_path):
    server = make_server()
    imported(server, write(tmp_path / "users.jsonl", [user("ann", ext="u-1", languages=["de"]), user("ben")]))
    wrong = HTTP.post(f"{server.url}/v1/sessions", json={"email": "ann@old.example", "password": PASSWORD + "x"})
    assert wrong.status_code == 401
    unknown = HTTP.post(f"{server.url}/v1/sessions", json={"email": "eve@old.example", "password": PASSWORD})
    assert unknown.status_code == 401
    assert unknown.json()["detail"] == wrong.json()["detail"]
    hashes = "SELECT email, substr(password_hash, 1, 10) FROM users ORDER BY email"
    assert rows(server, hashes) == [("ann@old.example", "$fbscrypt$"), ("ben@old.example", "$fbscrypt$")]
    me = signed_in(server, "ann").get("/v1/me").json()
    assert (me["displayName"], me["languages"]) == ("Ann", ["de"])
    assert rows(server, hashes) == [("ann@old.example", "$argon2id$"), ("ben@old.example", "$fbscrypt$")]
    signed_in(server, "ann")
    # After a restart too.
    server.stop()
    server.start()
    signed_in(server, "ben")


def test_what_a_message_has_comes_with_it(make_server, tmp_path):
    server = make_server()
    lines = [
        user("ann"), user("ben"), user("cem"), *group("team", ["ann", "ben"], name="Team"),
        {
            "type": "member", "conversation": "team", "user": "cem", "state": "left",
            "spans": [{"after": "m1", "until": "m2"}],
        },
        message("m1", "team", "ann", 1, text="hello <@ben>"),
        message("m2", "team", "ben", 2, replyTo="m1", editedAt=at(9), edits=[{"text": "typo", "writtenAt": at(2)}]),
        message("m3", "team", "ann", 3, deletedAt=at(4)),
        message("m4", "team", "ann", 3, reactions=[{"user": "ben", "emoji": "👍", "at": at(5)}], pinned=True),
        message("m5", "team", "cem", 4, replyTo="nothing"),
        {"type": "own", "conversation": "team", "user": "ben", "message": "m4", "hidden": True},
    ]
    lines[4]["read"] = "m2"
    done = run(server, "import", write(tmp_path / "team.jsonl", lines), "--source", "old")
    assert done.returncode == 0, done.stderr
    assert "team.jsonl:12: imported, but replyTo: nothing is not before it" in done.stderr
    ann, ben, cem = (signed_in(server, name) for name in ("ann", "ben", "cem"))
    (row,) = inbox(ann)
    assert row["conversation"]["name"] == "Team"
    # Who has no mark in the file has read everything.
    assert [row["unread"], inbox(ben)[0]["unread"]] == [1, 0]
    assert rows(server, "SELECT user_id, read FROM marks ORDER BY read") == [(ann.id, 2), (ben.id, 5)]
    found = list(pages(ann, row["id"]))
    assert [one.get("text") for one in found] == [
        f"hello <@{ben.id}>", "text of m2", None, "text of m4", "text of m5"]
    assert found[0]["ranges"][0] == {"kind": "mention", "start": 6, "length": 39, "user": ben.id}
    assert found[1]["replyTo"] == 1
    assert found[1]["editedAt"] == at(9)
    assert found[2]["deletedAt"] == at(4)
    edits = ann.get(f"/v1/conversations/{row['id']}/messages/2/edits").json()["edits"]
    assert [(edit["text"], edit["writtenAt"]) for edit in edits] == [("typo", at(2))]
    assert rows(server, "SELECT number, emoji, user_id FROM reactions") == [(4, "👍", ben.id)]
    # What a reader has hidden stays hidden, and who has left sees their span.
    assert [one["number"] for one in pages(ben, row["id"])] == [1, 2, 3, 5]
    assert [one["number"] for one in pages(cem, row["id"])] == [2]
    assert here.members_of(ann, row["id"]) == {ann.id: "owner", ben.id: "member"}
    # It goes on like any other.
    sent = here.send(ben, row["id"], "here now")
    assert (sent.status_code, sent.json()["message"]["number"]) == (201, 6)


def test_a_killed_import_goes_on(make_server, tmp_path):
    """The server, and then the command, are killed in the middle."""
    server = make_server()
    file = write(tmp_path / "old.jsonl", many(COUNT))
    for kill_server in (True, False):
        begun = subprocess.Popen(
            command(server, "import", file, "--source", "old"), stderr=subprocess.PIPE, text=True, cwd=server.directory)
        assert begun.stderr is not None
        assert " lines …" in begun.stderr.readline()
        if kill_server:
            server.kill()
            assert begun.wait(timeout=60) == 1
            assert "Run the import again" in begun.stderr.read()
            server.start()
        else:
            begun.kill()
            begun.wait()
        # Nobody sees a part of a conversation.
        assert inbox(signed_in(server, "ann")) == []
    report = imported(server, file)
    assert "1 conversations are complete" in report
    assert int(report.split(" skipped")[0].split()[-1]) >= 5000
    check_many(server, COUNT)


def test_an_import_works_without_a_server(make_server, tmp_path):
    server = make_server()
    server.stop()
    imported(server, write(tmp_path / "old.jsonl", many(300)))
    server.start()
    check_many(server, 300)


def test_wrong_lines_are_named(make_server, tmp_path):
    server = make_server()
    good = [user("ann"), user("ben"), direct("c", "ann", "ben"), message("m1", "c", "ann", 1)]
    file = write(
        tmp_path / "old.jsonl",
        [*good, "{", message("m2", "c", "ann", 2, txt="x"), "", message("m3", "c", "eve", 3), "x" * (2 << 20)])
    dry = run(server, "import", file, "--source", "old", "--dry-run")
    assert dry.returncode == 1
    assert "2 users, 1 conversations and 2 messages in 5 lines can be read; 3 lines are wrong." in dry.stdout
    first = run(server, "import", file, "--source", "old")
    assert first.returncode == 1
    for problem in (":5: This is not a JSON object", ":6: A message has no member txt.", ":9: A line has at most"):
        assert f"old.jsonl{problem}" in first.stderr
    assert "Nothing was imported" in first.stderr
    assert rows(server, "SELECT COUNT(*) FROM imported") == [(0,)]
    rest = run(server, "import", file, "--source", "old", "--skip-invalid")
    assert rest.returncode == 1
    assert "old.jsonl:8: author: the user eve was not imported." in rest.stderr
    assert "4 new, 0 skipped, 4 refused; 1 conversations are complete." in rest.stdout
    assert len(list(pages(signed_in(server, "ann"), inbox(signed_in(server, "ann"))[0]["id"]))) == 1
    # Without a source.
    nameless = run(server, "import", file)
    assert "old.jsonl:1: source is missing" in nameless.stderr
    missing = run(server, "import", tmp_path / "none.jsonl", "--source", "old")
    assert (missing.returncode, "cannot be read" in missing.stderr) == (1, True)


def test_a_refused_line_stops_its_conversation_alone(make_server, tmp_path):
    server = make_server()
    lines = [
        user("ann"), user("ben"), direct("c", "ann", "ben"), *group("g", ["ann", "ben"]),
        message("m1", "c", "ann", 1), message("m2", "c", "eve", 2), message("m3", "c", "ann", 3),
        message("m4", "g", "ann", 1),
    ]
    done = run(server, "import", write(tmp_path / "old.jsonl", lines), "--source", "old")
    assert done.returncode == 1
    assert "old.jsonl:8: author: the user eve was not imported." in done.stderr
    assert "8 new, 0 skipped, 1 refused; 1 conversations are complete." in done.stdout
    assert "1 lines were not tried" in done.stdout
    ann = signed_in(server, "ann")
    assert [row["conversation"]["kind"] for row in inbox(ann)] == ["group"]
    # Corrected, it goes on.
    lines[7]["author"] = "ben"
    report = imported(server, write(tmp_path / "new.jsonl", lines))
    assert "2 new, 8 skipped, 0 refused; 1 conversations are complete." in report
    (row,) = [row for row in inbox(ann) if row["conversation"]["kind"] == "direct"]
    assert [one["text"] for one in pages(ann, row["id"])] == ["text of m1", "text of m2", "text of m3"]


def test_the_same_id_with_another_content_is_a_conflict(make_server, tmp_path):
    server = make_server()
    lines = [user("ann"), user("ben"), direct("c", "ann", "ben"), message("m1", "c", "ann", 1)]
    imported(server, write(tmp_path / "old.jsonl", lines))
    changed = [
        user("ann", name="Anna"), user("ben"), direct("c", "ben", "ann"), message("m1", "c", "ann", 1, text="other")]
    done = run(server, "import", write(tmp_path / "new.jsonl", changed), "--source", "old", "--skip-invalid")
    assert done.returncode == 1
    assert "new.jsonl:1: Conflict: the user ann was imported before with another content." in done.stderr
    assert "new.jsonl:3: Conflict: the conversation c was" in done.stderr
    assert "new.jsonl:4: Conflict: the message m1 was" in done.stderr
    assert "0 new, 1 skipped, 3 refused" in done.stdout
    # Of another source it is another; but the address is taken, by the one of the first.
    other = run(server, "import", write(tmp_path / "other.jsonl", [user("ann")]), "--source", "other")
    assert "There is an account with this e-mail address already" in other.stderr
    # Twice in one file, the same and another.
    twice = [message("m2", "c", "ann", 2), message("m2", "c", "ann", 2), message("m2", "c", "ben", 2)]
    done = run(server, "import", write(tmp_path / "twice.jsonl", twice), "--source", "old")
    assert "1 new, 1 skipped, 1 refused" in done.stdout


def test_a_conversation_with_messages_of_its_own_refuses(make_server, tmp_path):
    server = make_server()
    imported(server, write(tmp_path / "users.jsonl", [user("ann"), user("ben"), user("cem"), user("dan")]))
    ann, ben, cem, dan = (signed_in(server, name) for name in ("ann", "ben", "cem", "dan"))
    here.befriend(ann, ben)
    here.befriend(cem, dan)
    written = here.direct(ann, ben)
    assert here.send(ann, written, "own").status_code == 201
    empty = here.direct(cem, dan)
    lines = [
        direct("a", "ann", "ben"), message("a1", "a", "ann", 1),
        direct("c", "cem", "dan"), message("c1", "c", "cem", 1),
    ]
    done = run(server, "import", write(tmp_path / "old.jsonl", lines), "--source", "old")
    assert done.returncode == 1
    assert "old.jsonl:1: The conversation of these members here has messages of its own." in done.stderr
    assert [row["id"] for row in inbox(ann)] == [written]
    assert here.texts(ann, written) == ["own"]
    # One that was empty gives way to the imported one.
    (row,) = inbox(dan)
    assert row["id"] != empty
    assert here.texts(dan, row["id"]) == ["text of c1"]
    assert here.direct(cem, dan) == row["id"]
    assert cem.get(f"/v1/conversations/{empty}").status_code == 404
    # What is newer is added, until somebody has written.
    imported(server, write(tmp_path / "later.jsonl", [message("c2", "c", "dan", 2)]))
    assert here.texts(dan, row["id"]) == ["text of c1", "text of c2"]
    older = run(server, "import", write(tmp_path / "older.jsonl", [message("c0", "c", "dan", 0)]), "--source", "old")
    assert "sentAt: the message is older than the last one" in older.stderr
    assert here.send(cem, row["id"], "now").status_code == 201
    late = run(server, "import", write(tmp_path / "late.jsonl", [message("c3", "c", "dan", 3)]), "--source", "old")
    assert "This conversation has messages of its own" in late.stderr
    assert here.texts(dan, row["id"]) == ["text of c1", "text of c2", "now"]


def test_an_import_tells_inboxes_once_and_webhooks_nothing(make_server, tmp_path):
    server = make_server()
    key = run(server, "webhook", "add", "--name", "puller")
    assert key.returncode == 0, key.stderr
    imported(server, write(tmp_path / "users.jsonl", [user("ann"), user("ben")]))
    ann = signed_in(server, "ann")
    ben = signed_in(server, "ben")
    here.befriend(ann, ben)
    group_here = here.group(ann, [ben], "New")
    assert here.send(ann, group_here, "written here").status_code == 201

    async def listen() -> None:
        end = Endpoint(server.realtime_url, ann.id, ann.token)
        await end.open()
        stream = await end.listen(f"inbox:{ann.id}")
        before = len(stream.rows)
        lines = [
            direct("c", "ann", "ben"), *[message(f"c{n}", "c", "ben", n) for n in range(500)],
            *group("g", ["ben", "ann"]), *[message(f"g{n}", "g", "ben", 1000 + n) for n in range(500)],
        ]
        await asyncio.to_thread(imported, server, write(tmp_path / "old.jsonl", lines))
        await end.until("the imported conversations", lambda: len(here.inbox(stream)) == 3)
        assert len(stream.rows) - before == 2
        held = here.inbox(stream)
        # Below what was written here, and in the order of the last messages.
        names = [held[id]["lastMessage"]["text"] for id in here.inbox_order(held)]
        assert names == ["written here", "text of g499", "text of c499"]
        await end.close()

    asyncio.run(listen())
    assert [row["lastMessage"]["text"] for row in inbox(ann)] == ["written here", "text of g499", "text of c499"]
    events = {type for (type,) in rows(server, "SELECT DISTINCT type FROM events")}
    assert "user.created" not in events
    assert rows(server, "SELECT COUNT(*) FROM events WHERE type = 'message.created'") == [(1,)]
