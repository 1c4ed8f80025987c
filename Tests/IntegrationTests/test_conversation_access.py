"""Access to conversations: one table of roles and operations, tested over REST, WebSocket and server-sent events.

All roles are real: they joined, left, returned, cleared, were invited, declined. Every operation of conversations has
to be in the table: `test_the_table_is_complete` reads `/openapi.json`. A new one needs a row in `OPERATIONS`.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from switchboard_tests.conversation_roles import (
    ALL,
    INSIDE,
    LIMITS,
    NOTICE,
    ONE,
    ROLES,
    SEES,
    SIGNED_OUT,
    THREE,
    TWO,
    Harness,
    group_of_roles,
    statuses,
)
from switchboard_tests.conversations import create, send
from switchboard_tests.server import HTTP
from switchboard_tests.transports import event_stream, web_socket

LATER = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
ADMINS = statuses(403, owner=200, admin=200)
EVERYBODY_INSIDE = statuses(200, former=403, invited=403)
READERS_OF_1 = statuses(200, joined_later=404, invited=404)
# 1 is no voice message, which only those are told who see it: see `test_voice.py`.
NO_VOICE = statuses(409, joined_later=404, invited=404)
ACTORS_ON_1 = statuses(200, joined_later=404, returned=403, former=403, invited=403)
NOTICE_ACTORS = statuses(409, joined_later=404, returned=403, former=403, invited=403)
# Operation, parameters and body, and the status that each role gets. They change nothing, or what nobody reads.
OPERATIONS: list[tuple[str, dict[str, Any], dict[str, int]]] = [
    ("conversations.get", {}, statuses(200)),
    ("conversations.update", {"name": "Team"}, ADMINS),
    ("conversations.update", {"settings": {"add": "admins"}}, ADMINS),
    ("conversations.update", {"disappearAfter": None}, ADMINS),
    ("conversations.handOver", {"user": "{owner}"}, ADMINS),
    ("members.list", {}, EVERYBODY_INSIDE),
    ("members.add", {"members": ["{member}"]}, ADMINS),
    ("members.update", {"user": "{member}", "role": "member"}, ADMINS),
    ("members.remove", {"user": "{former}"}, statuses(403, owner=204, admin=204, former=204)),
    ("members.accept", {}, statuses(200, former=403, invited=0)),
    # Who is in it leaves, instead of declining.
    ("members.decline", {}, statuses(409, former=204, invited=0, declined=204)),
    ("members.leave", {}, statuses(0, former=204, declined=204)),
    ("typing.note", {}, statuses(204, former=403, invited=403)),
    # Refused for the field that the row gets wrong, by whoever may call: nobody is rung.
    ("calls.create", {"clientID": "{new}", "kind": "audio", "ringSeconds": 9}, statuses(400, former=403, invited=403)),
    ("messages.list", {}, statuses(200)),
    ("messages.search", {"query": "one"}, statuses(200)),
    ("messages.get", {"number": ONE}, READERS_OF_1),
    ("messages.edits", {"number": ONE}, READERS_OF_1),
    ("messages.send", {"clientID": "{new}", "text": "hello"}, statuses(201, former=403, invited=403)),
    ("messages.send", {"clientID": "{new}", "text": "x", "sendAt": LATER}, statuses(202, former=403, invited=403)),
    (
        "messages.send", {"clientID": "{new}", "kind": "voice", "file": "{new}"},
        statuses(404, former=403, invited=403),
    ),
    ("messages.audio", {"number": 1}, NO_VOICE),
    ("messages.listen", {"number": 1}, NO_VOICE),
    ("messages.transcript", {"number": 1}, NO_VOICE),
    ("messages.transcribe", {"number": 1}, NO_VOICE),
    ("scheduled.list", {}, EVERYBODY_INSIDE),
    ("scheduled.update", {"clientID": "{new}", "text": "x"}, statuses(404, former=403, invited=403)),
    ("scheduled.delete", {"clientID": "{new}"}, statuses(204, former=403, invited=403)),
    (
        "messages.edit", {"number": ONE, "text": "one", "textVersion": 1},
        statuses(403, owner=200, joined_later=404),
    ),
    ("messages.setLanguage", {"number": ONE, "language": "en"}, statuses(403, owner=200, joined_later=404)),
    # This server has no engine, which only those are told who see the message.
    (
        "translations.request", {"numbers": [ONE], "language": "es"},
        statuses(503, joined_later=404, former=403, invited=403),
    ),
    ("summaries.create", {}, statuses(503)),
    ("hints.request", {"number": ONE}, statuses(200, joined_later=404, former=403, invited=403)),
    ("drafts.check", {"text": "hello there"}, statuses(200, former=403, invited=403)),
    # Nor a language model.
    ("drafts.rewrite", {"text": "hello", "style": "formal"}, statuses(503, former=403, invited=403)),
    ("replies.suggest", {"number": ONE}, statuses(503, joined_later=404, former=403, invited=403)),
    ("glossary.get", {}, statuses(200, former=403, invited=403)),
    ("glossary.set", {"terms": []}, ADMINS),
    (
        "messages.delete", {"number": TWO, "for": "all"},
        statuses(403, owner=200, admin=200, member=200, joined_later=404, returned=404),
    ),
    # A notice stays as it is.
    ("messages.get", {"number": NOTICE}, READERS_OF_1),
    ("messages.edit", {"number": NOTICE, "text": "x", "textVersion": 1}, statuses(403, owner=409, joined_later=404)),
    (
        "messages.delete", {"number": NOTICE, "for": "all"},
        NOTICE_ACTORS | {"member": 403, "blocked": 403, "returned": 403},
    ),
    ("messages.react", {"number": NOTICE, "emoji": "👍"}, NOTICE_ACTORS),
    ("messages.pin", {"number": NOTICE}, NOTICE_ACTORS),
    # Nothing is done with messages of a time before one left.
    (
        "messages.delete", {"number": ONE, "for": "all"},
        statuses(403, owner=0, admin=0, joined_later=404),
    ),
    (
        "messages.send", {"clientID": "{new}", "text": "x", "replyTo": ONE},
        statuses(201, joined_later=404, returned=403, former=403, invited=403),
    ),
    (
        "messages.send", {"clientID": "{new}", "text": "x", "thread": ONE},
        statuses(201, joined_later=404, returned=403, former=403, invited=403),
    ),
    (
        "messages.send", {"clientID": "{new}", "text": "x", "replyTo": ONE, "sendAt": LATER},
        statuses(202, joined_later=404, returned=403, former=403, invited=403),
    ),
    ("messages.react", {"number": ONE, "emoji": "👍"}, ACTORS_ON_1),
    ("messages.removeReaction", {"number": ONE, "emoji": "👍"}, ACTORS_ON_1),
    ("messages.reactions", {"number": ONE}, READERS_OF_1),
    ("messages.pin", {"number": ONE}, ACTORS_ON_1),
    ("messages.unpin", {"number": THREE}, EVERYBODY_INSIDE),
    ("messages.receipts", {"number": ONE}, statuses(200, joined_later=404, former=403, invited=403)),
    ("messages.unstar", {"number": ONE}, READERS_OF_1),
    ("messages.star", {"number": ONE}, READERS_OF_1 | {"returned": 403, "former": 403}),
    ("messages.delete", {"number": 9_999, "for": "me"}, statuses(404)),
    ("conversations.mark", {"read": ONE}, EVERYBODY_INSIDE),
    ("conversations.clear", {}, statuses(0, invited=204)),
    ("conversations.delete", {"for": "me"}, statuses(0)),
    ("members.updateMe", {"markedUnread": False}, statuses(200)),
    ("links.create", {}, statuses(403, owner=201, admin=201)),
    ("links.list", {}, ADMINS),
    ("links.remove", {"link": "{new}"}, statuses(403, owner=204, admin=204)),
]
# Over HTTP alone.
DOCUMENTS: list[tuple[str, dict[str, Any], dict[str, int]]] = [
    ("conversations.export", {}, statuses(200)),
    ("messages.transcriptFile", {"number": 1, "format": "text"}, NO_VOICE),
]
# What is found by a token, which proves the right to it: see `test_links.py`.
BY_TOKEN = {"links.get", "links.join"}
# What concerns no conversation in particular.
UNBOUND: dict[str, dict[str, Any]] = {
    "conversations.create": {"clientID": "{new}", "kind": "self"}, "conversations.list": {}, "inbox.list": {},
    "messages.starred": {},
}
# What comes before the point in the names of the operations of these tables.
KINDS = {
    "conversations", "members", "messages", "inbox", "typing", "links", "scheduled", "translations", "glossary",
    "summaries", "hints", "drafts", "replies",
}  # fmt: skip
# Of what engines make: see `test_intelligence_access.py`. Of calls: see `test_access.py` and `test_whip.py`. By server
# key: see `test_server_conversation_access.py` and `test_access.py`. All others are of the user alone, or of nobody.
ELSEWHERE = {
    "assistant", "priority", "voice",
    "calls", "recordings", "media", "whip", "whep",
    "server",
    "accounts", "blocks", "devices", "friends", "iceServers", "me", "photos", "presence", "push", "reports",
    "sessions",
    "users",
}  # fmt: skip
# The same of the names of streams.
STREAMS = {"conversation", "typing", "marks", "translations", "inbox"}
STREAMS_ELSEWHERE = {"run", "user", "call", "signals", "captions", "presence"}
TYPES = {400: "invalid_request", 403: "forbidden", 404: "not_found", 409: "conflict", 503: "provider_not_configured"}


@pytest.fixture(scope="module")
def harness(make_server) -> Harness:
    return group_of_roles(make_server({"limits": LIMITS, "languages": {"apertium": False}}))


def test_the_table_is_complete(harness):
    tested = {operation for operation, _, _ in OPERATIONS + DOCUMENTS} | set(UNBOUND) | BY_TOKEN
    found = {name for name in harness.routes if name.partition(".")[0] in KINDS}
    assert found == tested - {"calls.create"}


def test_every_kind_has_a_table(harness):
    """A new kind of operations or streams has to be tested here, or named with what tests it."""
    assert {name.partition(".")[0] for name in harness.routes} == KINDS | ELSEWHERE
    document = HTTP.get(f"{harness.server.url}/asyncapi.json").json()
    assert {one["name"].partition(":")[0] for one in document["x-streams"]} == STREAMS | STREAMS_ELSEWHERE


@pytest.mark.parametrize("role", ROLES)
def test_over_rest(harness, role: str):
    for operation, values, expected in OPERATIONS + DOCUMENTS:
        wanted = {401, 403} if role in SIGNED_OUT else {expected[role]}
        if wanted == {0}:
            continue
        response = harness.ask(role, operation, values)
        assert response.status_code in wanted, (operation, ROLES[role], response.text)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("transport", [web_socket, event_stream])
def test_by_requests_and_listening(harness, transport, role: str):
    owner = harness.people["owner"]
    with transport(harness.server, harness.people[role]) as exchange:
        if role in SIGNED_OUT:
            assert exchange is None
            return
        for id, (operation, values, expected) in enumerate(OPERATIONS, 2):
            if expected[role] == 0:
                continue
            response = exchange(id, {"request": operation, "params": harness.filled(values)})
            found = "result" if "result" in response else response["error"]["type"]
            assert found == TYPES.get(expected[role], "result"), (operation, ROLES[role], response)
        listening = exchange(100, {"listen": {"stream": f"conversation:{harness.here}"}})
        assert ("result" in listening) == (role in INSIDE), (ROLES[role], listening)
        typing = exchange(102, {"listen": {"stream": f"typing:{harness.here}"}})
        assert ("result" in typing) == (role in INSIDE), (ROLES[role], typing)
        marks = exchange(103, {"listen": {"stream": f"marks:{harness.here}"}})
        assert ("result" in marks) == (role in INSIDE), (ROLES[role], marks)
        translations = exchange(104, {"listen": {"stream": f"translations:{harness.here}"}})
        assert ("result" in translations) == (role in INSIDE), (ROLES[role], translations)
        other = exchange(101, {"listen": {"stream": f"inbox:{owner.id}"}})
        assert ("result" in other) == (role == "owner")


@pytest.mark.parametrize("role", SEES)
def test_what_is_seen(harness, role: str):
    response = harness.ask(role, "messages.list", {"limit": 100})
    seen = SEES[role]
    if seen is None:
        assert response.status_code == 404
        return
    first = [one for one in response.json()["messages"] if one["number"] in ALL]
    assert [one["number"] for one in first] == seen, ROLES[role]
    # Who sees ONE finds it, over all conversations too.
    found = harness.people[role].get("/v1/search", params={"query": "one"}).json()["results"]
    assert {(one["message"]["conversation"], one["message"]["number"]) for one in found} == (
        {(harness.here, ONE)} if ONE in seen else set()
    )
    rows = harness.people[role].get("/v1/inbox").json()["conversations"]
    row = next((one for one in rows if one["id"] == harness.here), None)
    assert row is not None
    assert row.get("lastMessage", {}).get("number", 0) >= max(seen, default=0)
    assert role in INSIDE or row["unread"] == 0


@pytest.mark.parametrize("role", ROLES)
def test_what_is_of_no_conversation(harness, role: str):
    """Everybody who is signed in has these, and finds only their own in them."""
    for operation, values in UNBOUND.items():
        response = harness.ask(role, operation, values)
        expected = {401, 403} if role in SIGNED_OUT else {200, 201}
        assert response.status_code in expected, (operation, response.text)
        if operation == "messages.starred" and response.status_code == 200:
            assert bool(response.json()["messages"]) == (role in INSIDE - {"returned", "joined later", "cleared"})
        if response.status_code == 200 and operation.endswith("list"):
            ids = {one.get("id") or one["conversation"]["id"] for one in response.json()["conversations"]}
            assert (harness.here in ids) == (SEES[role] is not None), operation


def test_a_request_is_read_and_not_answered(harness):
    """Who is asked whether a stranger may write sees the messages, and may do nothing else until they accept."""
    asker, asked, other = harness.server.users(3)
    here = create(asker, "direct", [asked]).json()["conversation"]["id"]
    assert send(asker, here, "may I?").status_code == 201
    harness = Harness(harness.server, here, {"asked": asked, "other": other}, harness.routes)
    expected = {
        "conversations.get": 200, "messages.list": 200, "messages.get": 200, "messages.edits": 200,
        "conversations.export": 200,
        "members.list": 200, "messages.send": 403, "messages.edit": 403, "messages.delete": 403,
        "conversations.update": 403, "members.update": 403,
    }
    for operation, general, _ in OPERATIONS + DOCUMENTS:
        if operation in expected and general.get("for") != "me" and general.get("number") != NOTICE:
            values = dict(general)
            if "number" in values:
                values["number"] = 1
            if operation == "members.update":
                values["user"] = asker.id
            response = harness.ask("asked", operation, values)
            assert response.status_code == expected[operation], (operation, response.text)
            assert harness.ask("other", operation, values).status_code == 404, operation
    with web_socket(harness.server, asked) as exchange:
        assert exchange is not None
        assert "result" in exchange(2, {"listen": {"stream": f"conversation:{here}"}})
    with web_socket(harness.server, other) as exchange:
        assert exchange is not None
        assert "error" in exchange(2, {"listen": {"stream": f"conversation:{here}"}})
