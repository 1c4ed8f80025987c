"""Conversations by server key, and their events."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from switchboard_tests.conversations import befriend, direct, group, members_of, messages, notices, send, texts
from switchboard_tests.endpoint import client_id
from switchboard_tests.events import EventReader
from switchboard_tests.server import Server
from switchboard_tests.server_keys import ServerKey, audit, create

PATH = "/v1/server/conversations"


@pytest.fixture(scope="module")
def server(make_server) -> Server:
    return make_server({"limits": {"friendRequestsPerHour": 1000}})


@pytest.fixture(scope="module")
def key(server) -> ServerKey:
    return create(server, "users", "conversations:read", "conversations:write", "events")


def test_a_group_is_made_and_written_in(server, key):
    ann, ben, cleo = server.users(3)
    body = {"clientID": client_id(), "kind": "group", "members": [ann.id, ben.id], "name": "Support"}
    made = key.post(PATH, body)
    assert made.status_code == 201, made.text
    here = made.json()["conversation"]["id"]
    again = key.post(PATH, body)
    assert again.status_code == 200 and again.json()["duplicate"] is True
    assert key.post(PATH, body | {"name": "Other"}).status_code == 409
    # Nobody was asked: strangers are in it at once.
    assert members_of(ben, here) == {ann.id: "owner", ben.id: "member"}
    added = key.post(f"{PATH}/{here}/members", {"members": [cleo.id]})
    assert added.json()["conversation"]["members"] == 3, added.text
    message = {"clientID": client_id(), "author": ann.id, "text": f"Hello <@{ben.id}>"}
    sent = key.post(f"{PATH}/{here}/messages", message)
    assert sent.status_code == 201 and sent.json()["message"]["author"] == ann.id, sent.text
    assert key.post(f"{PATH}/{here}/messages", message).json()["duplicate"] is True
    assert texts(cleo, here) == [message["text"]]
    assert key.request("DELETE", f"{PATH}/{here}/members/{cleo.id}").status_code == 204
    assert set(members_of(ann, here)) == {ann.id, ben.id}
    outsider = key.post(f"{PATH}/{here}/messages", {"clientID": client_id(), "author": cleo.id, "text": "x"})
    assert outsider.status_code == 403
    page = key.get(f"{PATH}/{here}/messages").json()
    assert [one.get("text") for one in page["messages"]] == [None, message["text"], None]
    assert notices(ann, here) == [
        {"kind": "added", "users": [cleo.id], "userCount": 1, "server": True},
        {"kind": "removed", "users": [cleo.id], "userCount": 1, "server": True},
    ]
    assert [one["author"] for one in page["messages"]] == [cleo.id, ann.id, cleo.id]
    assert {one["user"]: one["state"] for one in key.get(f"{PATH}/{here}/members").json()["members"]} == {
        ann.id: "member", ben.id: "member", cleo.id: "left",
    }
    # That somebody refuses a request is told to nobody.
    assert ben.request("PATCH", "/v1/me", {"messageRequests": "refuse"}).status_code == 200
    body = {"clientID": client_id(), "kind": "direct", "members": [ben.id]}
    request = ann.post("/v1/conversations", body).json()["conversation"]["id"]
    assert {one["user"]: one["state"] for one in key.get(f"{PATH}/{request}/members").json()["members"]} == {
        ann.id: "member", ben.id: "invited",
    }
    actions = [entry["action"] for entry in audit(server) if entry.get("subject") == here]
    assert actions == [
        "server.conversations.create", "server.members.add", "server.messages.send", "server.members.remove",
    ]


def test_messages_are_scheduled_and_disappear(server, key):
    ann, ben = server.users(2)
    made = key.post(PATH, {"clientID": client_id(), "kind": "group", "members": [ann.id, ben.id], "disappearAfter": 60})
    conversation = made.json()["conversation"]
    assert made.status_code == 201 and conversation["disappearAfter"] == 60
    here = conversation["id"]
    path = f"{PATH}/{here}"
    changed = key.request("PATCH", path, {"disappearAfter": None})
    assert changed.status_code == 200 and "disappearAfter" not in changed.json()["conversation"]
    assert notices(ben, here) == [{"kind": "disappearing", "server": True}]
    for body in ({}, {"disappearAfter": 1}, {"disappearAfter": "x"}):
        refused = key.request("PATCH", path, body)
        assert refused.status_code == 400 and refused.json()["field"] == "disappearAfter", refused.text
    later = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    body = {"clientID": client_id(), "author": ann.id, "text": "Good morning", "sendAt": later}
    for is_duplicate in (None, True):
        waits = key.post(f"{path}/messages", body)
        assert waits.status_code == 202 and waits.json().get("duplicate") == is_duplicate, waits.text
        assert waits.json()["scheduled"]["clientID"] == body["clientID"]
    assert messages(ben, here) == []
    waiting = f"/v1/conversations/{here}/scheduled"
    assert [one["text"] for one in ann.get(waiting).json()["scheduled"]] == ["Good morning"]
    assert ben.get(waiting).json()["scheduled"] == []
    sent = ann.request("PATCH", f"{waiting}/{body['clientID']}", {"sendAt": None})
    assert sent.status_code == 200 and [one["text"] for one in messages(ben, here)] == ["Good morning"]
    assert "message" in key.post(f"{path}/messages", body).json()
    soon = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    refused = key.post(f"{path}/messages", body | {"clientID": client_id(), "sendAt": soon})
    assert refused.status_code == 400 and refused.json()["field"] == "sendAt"
    outsider = key.post(f"{path}/messages", body | {"clientID": client_id(), "author": server.user().id})
    assert outsider.status_code in (403, 404)
    actions = [entry["action"] for entry in audit(server) if entry.get("subject") == here]
    assert actions.count("server.messages.schedule") == 1 and actions.count("server.conversations.update") == 1


def test_two_people_write_at_once(server, key):
    ann, ben = server.users(2)
    here = direct(ann, ben)
    made = key.post(PATH, {"clientID": client_id(), "kind": "direct", "members": [ben.id, ann.id]})
    assert made.status_code == 200 and made.json()["conversation"]["id"] == here
    assert send(ben, here, "accepted").status_code == 201


def test_what_a_block_withholds_is_not_read(server, key):
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    ben.request("PUT", f"/v1/blocks/{ann.id}")
    send(ann, here, "withheld")
    assert key.get(f"{PATH}/{here}/messages").json()["messages"] == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "group", "members": []}, "members"), ({"kind": "direct", "members": ["{ann}"]}, "members"),
        ({"kind": "direct", "members": ["{ann}", "{ann}"]}, "members"),
        ({"kind": "self", "members": ["{ann}"]}, "kind"), ({"kind": "group", "members": ["x"]}, "members[0]"),
        ({"kind": "group", "members": ["{ann}", "ext:nobody"]}, "members[1]"),
        ({"kind": "direct", "members": ["{ann}", "{ben}"], "name": "x"}, "name"),
    ],
)
def test_what_cannot_be_made_is_named(server, key, body, field):
    ann, ben = server.users(2)
    names = {"{ann}": ann.id, "{ben}": ben.id}
    filled = body | {"clientID": client_id(), "members": [names.get(one, one) for one in body["members"]]}
    refused = key.post(PATH, filled)
    assert refused.status_code in (400, 404) and refused.json()["field"] == field, refused.text


def test_events(server, key):
    server.command("webhook", "add", "--event", "conversation.created,conversation.updated,conversation.member")
    server.command("webhook", "add", "--event", "message.created,message.edited,message.deleted")
    ann, ben = befriend(*server.users(2))
    reader = EventReader(key)
    here = group(ann, [ben], name="Secret name")
    ann.request("PATCH", f"/v1/conversations/{here}", {"name": "Another secret"})
    sent = send(ann, here, f"secret text <@{ben.id}>").json()["message"]
    path = f"/v1/conversations/{here}/messages/{sent['number']}"
    ann.request("PATCH", path, {"text": "secret edit", "textVersion": sent["textVersion"]})
    ann.request("DELETE", f"{path}?for=all")
    ben.request("DELETE", f"/v1/conversations/{here}/members/me")
    two = direct(ann, ben)
    send(ann, two, "secret to one")
    ben.request("PUT", f"/v1/blocks/{ann.id}")
    send(ann, two, "secret withheld")
    events = reader.read()
    assert "ecret" not in json.dumps(events)
    assert [event["type"] for event in events] == [
        "conversation.created", "conversation.member", "conversation.member", "conversation.updated",
        "message.created", "message.edited", "message.deleted", "conversation.member", "conversation.created",
        "conversation.member", "conversation.member", "message.created",
    ]
    created = events[4]["data"]
    assert created["user"] == ann.id and created["number"] == 2 and created["mentions"] == [ben.id]
    assert created["conversation"] == here and created["kind"] == "group" and "to" not in created
    assert events[7]["data"]["state"] == "left" and events[7]["data"]["user"] == ben.id
    assert events[-1]["data"]["to"]["user"] == ben.id


