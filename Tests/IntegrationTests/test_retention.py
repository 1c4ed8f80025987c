"""Messages that are erased when they are older than the server or their group keeps them."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3

import pytest
from switchboard_tests.conversations import Conversation, befriend, direct, group, messages, send, texts
from switchboard_tests.endpoint import Endpoint
from switchboard_tests.server import HTTP, Server, change, refused
from switchboard_tests.waiting import wait_until

DAY = 86_400_000


def age(server: Server, conversation: str, days: int, up_to: int) -> None:
    """Has the messages up to a number been sent some days earlier. The server is stopped."""
    with contextlib.closing(sqlite3.connect(server.data / "switchboard.sqlite")) as database, database:
        database.execute(
            "UPDATE messages SET sent_at = sent_at - ? WHERE conversation_id = ? AND number <= ?",
            (days * DAY, conversation, up_to),
        )
        database.execute(
            "UPDATE conversations SET kept_since = kept_since - ? WHERE id = ?", (days * DAY, conversation)
        )


def test_the_server_and_a_group_erase_what_is_old(make_server):
    server = make_server()
    one, other = befriend(*server.users(2))
    plain, short, pair = group(one, [other]), group(one, [other]), direct(one, other)
    changed = one.request("PATCH", f"/v1/conversations/{short}", {"settings": {"keepDays": 2}})
    assert changed.status_code == 200 and changed.json()["conversation"]["settings"]["keepDays"] == 2
    for here in plain, short, pair:
        for word in "old", "older", "new":
            assert send(one, here, word).status_code == 201
    assert HTTP.get(f"{server.url}/v1/server").json()["messages"] == {"keepDays": 0}
    server.stop()
    for here in plain, short, pair:
        age(server, here, 5, up_to=3 if here == short else 2)
    server.start()
    # The group's days count by themselves.
    wait_until(lambda: texts(one, short) == [None, None, "new"], "the group's old messages to be erased")
    assert texts(one, plain) == texts(one, pair) == ["old", "older", "new"]

    server.stop()
    change(server, "messages", "keepDays", to=4)
    server.start()
    assert HTTP.get(f"{server.url}/v1/server").json()["messages"] == {"keepDays": 4}
    wait_until(lambda: texts(one, plain) == texts(one, pair) == [None, None, "new"], "the server's days to count")
    found = messages(other, plain)
    assert [message["number"] for message in found] == [1, 2, 3]
    assert ["deletedAt" in message for message in found] == [True, True, False]
    assert one.get("/v1/search", params={"query": "old"}).json()["results"] == []
    assert [result["message"]["text"] for result in one.get("/v1/search", params={"query": "new"}).json()["results"]]

    # Streams begin with the tombstones, and the next number follows.
    async def listen() -> None:
        endpoint = Endpoint(server.realtime_url, other.id, other.token)
        await endpoint.open()
        state = Conversation.of(await endpoint.listen(f"conversation:{plain}"))
        assert {number: "text" in message for number, message in state.messages.items()} == {
            1: False, 2: False, 3: True,
        }
        await endpoint.close()

    asyncio.run(listen())
    assert send(one, plain, "next").json()["message"]["number"] == 4


@pytest.mark.parametrize("days", [-1, 36_501, 10**18, "long"])
def test_bad_days_are_named(server, days):
    one = server.user()
    answer = one.request("PATCH", f"/v1/conversations/{group(one)}", {"settings": {"keepDays": days}})
    refused(answer, 400, "invalid_request", "settings.keepDays")


def test_members_may_not_set_them_and_pairs_have_none(server):
    one, other = server.users(2)
    here, pair = group(one, [other]), direct(one, other)
    assert other.post(f"/v1/conversations/{here}/members/me/accept").status_code == 200
    body = {"settings": {"keepDays": 1}}
    assert other.request("PATCH", f"/v1/conversations/{here}", body).status_code == 403
    assert one.request("PATCH", f"/v1/conversations/{pair}", body).status_code == 409
    assert one.request("PATCH", f"/v1/conversations/{here}", {"settings": {"keepDays": 0}}).status_code == 200
