"""Exports: of everything, of a conversation, of what a user sees, and by a member."""

from __future__ import annotations

import json
import stat

from switchboard_tests import conversations as here
from switchboard_tests.push_service import ALLOWED, serving
from switchboard_tests.server import HTTP
from switchboard_tests.transfers import (
    at,
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

# What another server numbers anew.
OWN = ("conversation", "clientID", "author", "version", "textVersion", "user")


def exported(server, path, *arguments: str) -> list[dict]:
    done = run(server, "export", path, *arguments)
    assert done.returncode == 0, done.stderr
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert done.stdout == f"Exported {len(lines)} lines to {path}.\n"
    assert {line.pop("source") for line in lines} == {"switchboard"}
    return lines


def filled(server, tmp_path) -> None:
    """A group in which somebody has left and somebody has hidden something, two who write to each other, and notes."""
    imported(server, write(tmp_path / "old.jsonl", [
        user("ann", ext="a-1"), user("ben"), user("cem"), *group("team", ["ann", "ben"], name="Team"),
        {"type": "member", "conversation": "team", "user": "cem", "state": "left", "spans": [{"until": "m5"}]},
        *[message(f"m{n}", "team", ("ann", "ben")[n % 2], n, replyTo=f"m{n - 1}") for n in range(250) if n],
        message("m250", "team", "ben", 250, deletedAt=at(251)),
        message("m251", "team", "ann", 251, text="hello <@ben>", thread="m7", pinned=True),
        message("m252", "team", "ann", 252, editedAt=at(260), edits=[{"text": "typo", "writtenAt": at(252)}]),
        message("m253", "team", "ben", 253, reactions=[{"user": "ann", "emoji": "👍", "at": at(254)}]),
        {"type": "own", "conversation": "team", "user": "ben", "message": "m3", "hidden": True},
        {"type": "own", "conversation": "team", "user": "ann", "message": "m3", "starredAt": at(255)},
        direct("c", "ann", "ben"), message("c1", "c", "ann", 5), message("c2", "c", "ben", 5, withheld=True),
        {"type": "message", "id": "c3", "conversation": "c", "author": "ann", "sentAt": at(6), "kind": "call", "call": {
            "kind": "video", "answeredAt": at(7), "endedAt": at(70), "reason": "hung_up", "endedBy": "ben",
            "participants": [{"user": "ann", "state": "left"}, {"user": "ben", "state": "left"}],
        }},
        {"type": "conversation", "id": "n", "kind": "self", "members": ["cem"], "createdAt": at(0)},
        message("n1", "n", "cem", 9),
    ]))


def seen(server, name: str) -> dict[str, list[dict]]:
    """The pages of all conversations of a user, without what another server numbers anew."""
    who = signed_in(server, name)
    names = {one.id: one_name for one_name, one in ((n, signed_in(server, n)) for n in ("ann", "ben", "cem"))}
    found: dict[str, list[dict]] = {}
    for row in inbox(who):
        text = json.dumps(list(pages(who, row["id"])))
        for id, one_name in names.items():
            text = text.replace(id, one_name)
        messages = json.loads(text)
        for one in messages:
            one["by"] = one["author"]
            one["ranges"] = [range | {"length": 0} for range in one.get("ranges", [])]
            if "call" in one:
                assert one["call"]["duration"] == 63 and one["call"].pop("id")
            for member in OWN:
                one.pop(member, None)
        found[row["conversation"].get("name", row["conversation"]["kind"])] = messages
    return found


def test_an_export_is_imported_into_an_empty_server(make_server, tmp_path):
    first, second = make_server(), make_server()
    filled(first, tmp_path)
    lines = exported(first, tmp_path / "all.jsonl")
    assert [line["type"] for line in lines].count("message") == 257
    (ann,) = [line for line in lines if line.get("ext") == "a-1"]
    assert ann["email"] == "ann@old.example"
    done = run(second, "import", tmp_path / "all.jsonl")
    assert done.returncode == 0, done.stderr
    assert "3 conversations are complete" in done.stdout
    for name in ("ann", "ben", "cem"):
        before, after = seen(first, name), seen(second, name)
        assert before == after
        assert list(before) == list(after)
    # And once more, it is the same but for the ids.
    again = exported(second, tmp_path / "again.jsonl")
    assert sorted(line["type"] for line in again) == sorted(line["type"] for line in lines)
    # The hash of who has signed in is another by now, and the others' is as it was.
    assert all(line["passwordHash"].startswith("$argon2id$") for line in again if line["type"] == "user")
    # A file is not overwritten.
    done = run(first, "export", tmp_path / "all.jsonl")
    assert (done.returncode, "exists already" in done.stderr) == (1, True)
    assert "\texport\t" in run(first, "audit", "--since", "1h").stdout


def test_settings_of_notifications_and_registrations_for_pushes(make_server, tmp_path):
    quiet = {"from": "22:00", "to": "07:00", "zone": "Europe/Berlin"}
    settings = {"notifications": "none", "quietHours": quiet}
    with serving() as browsers:
        first, second = make_server(ALLOWED), make_server()
        filled(first, tmp_path)
        ann = signed_in(first, "ann")
        assert ann.request("PATCH", "/v1/me", settings).status_code == 200
        key = HTTP.get(f"{first.url}/v1/server").json()["push"]["web"]["publicKey"]
        browser = browsers.subscribe(key).registration(shared=True)
        registered = ann.request("PUT", "/v1/me/device/push", browser).json()
    # Whose data it is gets all of it, but for the address; every line of hers is the same.
    lines = exported(first, tmp_path / "ann.jsonl", "--user", "ext:a-1")
    [line] = {json.dumps(line) for line in lines if line["type"] == "user" and line["id"] == ann.id}
    assert lines[0] == json.loads(line) == {
        "type": "user", "id": ann.id, "name": "Ann", "pushes": [registered | {"shared": True}],
    } | settings
    text = (tmp_path / "ann.jsonl").read_text()
    assert not any(secret in text for secret in (browser["endpoint"], *browser["keys"].values()))
    # Others see nothing of it, and who moves takes the settings along.
    for name, arguments in (("ben", ["--user", "ben@old.example"]), ("all", [])):
        lines = exported(first, tmp_path / f"{name}.jsonl", *arguments)
        assert not any("pushes" in line for line in lines)
        found = [line for line in lines if line["type"] == "user" and line["id"] == ann.id]
        assert {settings.keys() <= line.keys() for line in found} == {name == "all"}
        assert name == "all" or not any(settings.keys() & line.keys() for line in found)
    own = ann.get(f"/v1/conversations/{inbox(ann)[0]['conversation']['id']}/export").text
    assert ann.id in own and not any(name in own for name in ("pushes", "quietHours", "notifications"))
    done = run(second, "import", tmp_path / "all.jsonl")
    assert done.returncode == 0, done.stderr
    assert signed_in(second, "ann").get("/v1/me").json().items() >= settings.items()
    assert signed_in(second, "ann").get("/v1/me/push").json() == {"registrations": []}
    assert "quietHours" not in signed_in(second, "ben").get("/v1/me").json()


def test_one_conversation_and_one_user_are_exported(make_server, tmp_path):
    server = make_server()
    filled(server, tmp_path)
    ann, ben = signed_in(server, "ann"), signed_in(server, "ben")
    (team,) = [row["id"] for row in inbox(ann) if row["conversation"]["kind"] == "group"]
    lines = exported(server, tmp_path / "team.jsonl", "--conversation", team)
    assert {line["id"] for line in lines if line["type"] == "conversation"} == {team}
    assert sum(line["type"] == "user" for line in lines) == 3
    assert sum(line["type"] == "message" for line in lines) == 253
    # As Ben sees it: no withheld message of another, but his own; not what he has hidden; no addresses.
    lines = exported(server, tmp_path / "ben.jsonl", "--user", "ben@old.example")
    assert not any("email" in line or "passwordHash" in line for line in lines)
    texts = [line.get("text") for line in lines if line["type"] == "message"]
    assert "text of m3" not in texts
    assert "text of c2" in texts
    lines = exported(server, tmp_path / "ann.jsonl", "--user", "ext:a-1")
    texts = [line.get("text") for line in lines if line["type"] == "message"]
    assert "text of m3" in texts
    assert "text of c2" not in texts
    for wrong in (["--conversation", "x"], ["--conversation", ben.id], ["--user", "nobody@old.example"]):
        done = run(server, "export", tmp_path / "wrong.jsonl", *wrong)
        assert done.returncode == 1, wrong
        assert not (tmp_path / "wrong.jsonl").exists()


def test_a_member_exports_what_they_see(make_server, tmp_path):
    server = make_server({"limits": {"exportsPerHour": 3}})
    filled(server, tmp_path)
    ann, ben, cem = (signed_in(server, name) for name in ("ann", "ben", "cem"))
    (team,) = [row["id"] for row in inbox(ann) if row["conversation"]["kind"] == "group"]
    outsider = server.user()
    path = f"/v1/conversations/{team}/export"

    def export(who) -> list[dict]:
        response = who.get(path)
        assert response.status_code == 200, response.text
        assert response.headers["content-type"] == "application/jsonl"
        assert team in response.headers["content-disposition"]
        return [json.loads(line) for line in response.text.splitlines()]

    lines = export(ben)
    numbers = [int(line["id"].split("/")[1]) for line in lines if line["type"] == "message"]
    assert numbers == [one["number"] for one in pages(ben, team)]
    assert 3 not in numbers
    assert [line["name"] for line in lines if line["type"] == "user"].count("Ann") == 1
    assert not any("email" in line or "passwordHash" in line or "ext" in line for line in lines)
    # Who has left has their span, and neither the members nor what came later.
    lines = export(cem)
    assert [line["id"].split("/")[1] for line in lines if line["type"] == "message"] == ["1", "2", "3", "4", "5"]
    assert [line["user"] for line in lines if line["type"] == "member"] == [cem.id]
    assert outsider.get(path).status_code == 404
    assert HTTP.get(server.url + path).status_code == 401
    assert here.send(ann, team, "after").status_code == 201
    assert export(ann)[-1]["type"] == "own"
    for _ in range(2):
        assert len(export(ann)) > 250
    limited = ann.get(path)
    assert limited.status_code == 429
    assert limited.json()["type"].endswith("rate_limited")
