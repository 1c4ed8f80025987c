"""Access to conversations by server key: one table of operations, of conversations and of who asks.

Every operation under `/v1/server/conversations` has to be in the table: `test_the_table_is_complete` reads
`/openapi.json`. A new one needs a row in `OPERATIONS`.
"""

from __future__ import annotations

from typing import Any

import pytest
from switchboard_tests.calls import GENEROUS
from switchboard_tests.conversation_roles import INSIDE, LIMITS, ROLES, Harness, group_of_roles
from switchboard_tests.conversations import direct
from switchboard_tests.endpoint import client_id
from switchboard_tests.server import refused
from switchboard_tests.server_keys import SCOPES, ServerKey, create
from switchboard_tests.transports import event_stream, web_socket
from switchboard_tests.waiting import wait_until

PATH = "/v1/server/conversations"
READ, WRITE = "conversations:read", "conversations:write"
# The conversations that are named: a group, that of two people, and one that does not exist.
GROUP, DIRECT, MISSING = "group", "direct", "missing"
TYPES = {401: "unauthenticated", 403: "forbidden"}


def statuses(group: int, direct: int, missing: int = 404) -> dict[str, int]:
    return {GROUP: group, DIRECT: direct, MISSING: missing}


# Operation, the scope that it needs, parameters and body, and the status with a key of that scope. A key is no member:
# it reaches every conversation, but changes the members of groups alone. What it does here changes nothing, or adds
# what nobody counts.
OPERATIONS: list[tuple[str, str, dict[str, Any], dict[str, int]]] = [
    ("server.conversations.get", READ, {}, statuses(200, 200)),
    ("server.members.list", READ, {}, statuses(200, 200)),
    ("server.messages.list", READ, {"limit": 100}, statuses(200, 200)),
    ("server.conversations.update", WRITE, {"disappearAfter": None}, statuses(200, 200)),
    ("server.members.add", WRITE, {"members": ["{owner}"]}, statuses(200, 409)),
    # Who has left is kept out, which nobody is told.
    ("server.members.remove", WRITE, {"user": "{former}"}, statuses(204, 409)),
    ("server.members.remove", WRITE, {"user": "{outsider}"}, statuses(404, 409)),
    (
        "server.messages.send", WRITE, {"clientID": "{new}", "author": "{owner}", "text": "hello"},
        statuses(201, 201),
    ),
    # In a conversation that the body names by its members.
    (
        "server.conversations.create", WRITE,
        {"clientID": "{new}", "kind": "direct", "members": ["{owner}", "{friend}"]}, statuses(200, 200, 200),
    ),
    (
        "server.conversations.create", WRITE, {"clientID": "{new}", "kind": "group", "members": ["{owner}"]},
        statuses(201, 201, 201),
    ),
]
# Whoever may write there themselves: see `messages.send` of `test_conversation_access.py`. A person is allowed to,
# whatever tokens they have.
AUTHORS = dict.fromkeys(sorted(INSIDE | {"expired", "revoked"}), 201) | {
    "former": 403, "invited": 403, "disabled": 403, "deleted": 404,
    "declined": 404, "outsider": 404, "friend": 404, "requested": 404,
}


@pytest.fixture(scope="module")
def harness(make_server) -> Harness:
    limits = GENEROUS["limits"] | LIMITS
    return group_of_roles(make_server({"limits": limits, "languages": {"apertium": False}}))


@pytest.fixture(scope="module")
def conversations(harness) -> dict[str, str]:
    return {
        GROUP: harness.here, DIRECT: direct(harness.people["owner"], harness.people["friend"]), MISSING: client_id(),
    }


@pytest.fixture(scope="module")
def key(harness) -> ServerKey:
    key = create(harness.server, READ, WRITE)
    deleted = harness.people["deleted"].id

    def has_left() -> bool:
        members = key.get(f"{PATH}/{harness.here}/members").json()["members"]
        return [one["state"] for one in members if one["user"] == deleted] == ["left"]

    wait_until(has_left, "whose account is deleted to have left")
    return key


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


def named(values: dict[str, Any], conversation: str, operation: str) -> dict[str, Any]:
    """With the conversation that the path names."""
    return values if operation == "server.conversations.create" else values | {"conversation": conversation}


def state(key: ServerKey, conversations: dict[str, str]) -> list[Any]:
    """All that a key reads of what exists."""
    rests = ("", "/members", "/messages")
    paths = [f"{PATH}/{conversations[kind]}{rest}" for kind in (GROUP, DIRECT) for rest in rests]
    found = [key.get(path) for path in paths]
    assert {response.status_code for response in found} == {200}
    return [response.json() for response in found]


def is_refused(
    harness: Harness, conversations: dict[str, str], key: ServerKey, headers: dict[str, str], status: int,
    scope: str | None = None,
) -> str:
    """What is said of it: every operation, or each that needs the scope, is refused alike, whether there is such a
    conversation or not, and does nothing."""
    before = state(key, conversations)
    details = set()
    for operation, needed, values, _ in OPERATIONS:
        for conversation in conversations.values() if scope in (None, needed) else []:
            response = harness.request(headers, operation, named(values, conversation, operation))
            problem = response.json()
            assert (response.status_code, problem["type"]) == (status, TYPES[status]), (operation, problem)
            details.add(problem["detail"])
    assert state(key, conversations) == before
    [detail] = details
    return detail


def test_the_table_is_complete(harness):
    found = {name for name, (_, path) in harness.routes.items() if path.startswith(PATH)}
    assert found == {operation for operation, _, _, _ in OPERATIONS}


@pytest.mark.parametrize("kind", [GROUP, DIRECT, MISSING])
def test_with_a_key_of_the_scope(harness, conversations, kind: str):
    keys = {scope: create(harness.server, scope) for scope in (READ, WRITE)}
    for operation, scope, values, expected in OPERATIONS:
        response = harness.request(bearer(keys[scope].text), operation, named(values, conversations[kind], operation))
        assert response.status_code == expected[kind], (operation, kind, response.text)
        if response.status_code == 404:
            refused(response, 404, "not_found", "user" if kind == GROUP else "conversation")


@pytest.mark.parametrize("scope", [READ, WRITE])
def test_with_a_key_of_all_other_scopes(harness, conversations, key, scope: str):
    other = create(harness.server, *(one for one in SCOPES if one not in (scope, "operator")))
    detail = is_refused(harness, conversations, key, bearer(other.text), 403, scope)
    assert f"lacks the scope {scope}" in detail


@pytest.mark.parametrize("role", ROLES)
def test_with_the_token_of_a_user(harness, conversations, key, role: str):
    who = harness.people[role]
    assert "server key" in is_refused(harness, conversations, key, who.headers if who else {}, 401)


def test_with_a_key_that_is_wrong_or_ended(harness, conversations, key):
    server = harness.server
    revoked, expired = create(server, READ, WRITE), create(server, READ, WRITE, expires="1s")
    server.command("key", "revoke", revoked.id)
    wait_until(lambda: expired.get(PATH + "/x").status_code == 401, "the key to expire")
    elsewhere = create(server, READ, WRITE, addresses=["203.0.113.0/24"])
    wrong = key.text[:-1] + ("0" if key.text[-1] != "0" else "1")
    for headers, status, words in (
        (bearer(revoked.text), 401, "was revoked"),
        (bearer(expired.text), 401, "has expired"),
        (bearer(wrong), 401, "checksum"),
        (bearer(key.text + "x"), 401, "71 characters"),
        (bearer(elsewhere.text), 403, "may not be used from your address"),
        (bearer(key.text) | {"Origin": "https://evil.example"}, 403, "browser"),
    ):
        assert words in is_refused(harness, conversations, key, headers, status)


@pytest.mark.parametrize("transport", [web_socket, event_stream])
def test_nobody_reaches_them_by_a_session(harness, conversations, key, transport):
    before = state(key, conversations)
    with transport(harness.server, harness.people["owner"]) as exchange:
        for id, (operation, _, values, _) in enumerate(OPERATIONS, 2):
            response = exchange(id, {"request": operation, "params": harness.filled(values)})
            assert response["error"]["type"] == "invalid_request", (operation, response)
    assert state(key, conversations) == before


@pytest.mark.parametrize("role", AUTHORS)
def test_a_key_writes_for_those_who_may(harness, key, role: str):
    values = {"clientID": "{new}", "author": f"{{{role}}}", "text": "hello"}
    response = harness.request(bearer(key.text), "server.messages.send", values)
    assert response.status_code == AUTHORS[role], (ROLES[role], response.text)
