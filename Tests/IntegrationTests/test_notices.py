"""Notices: what happened in a conversation, told by messages, over REST, streams, inboxes and exports."""

from __future__ import annotations

import asyncio
import json

from switchboard_tests.conversations import Conversation, befriend, direct, everything, group, inbox, notices, send
from switchboard_tests.endpoint import Endpoint


def test_listeners_and_inboxes_follow(server):
    ann, ben = befriend(*server.users(2))
    befriend(ann, cleo := server.user())
    here, other = group(ann, [ben]), group(ann, [ben])
    send(ann, here, "hello")
    send(ann, other, "later")
    name = f"conversation:{here}"

    async def run() -> None:
        end = Endpoint(server.realtime_url, ben.id, ben.token)
        await end.open()
        await end.listen(name)
        await end.listen(f"inbox:{ben.id}")
        await asyncio.to_thread(ann.request, "PATCH", f"/v1/conversations/{here}", {"name": "Trip"})
        await asyncio.to_thread(ann.post, f"/v1/conversations/{here}/members", {"members": [cleo.id]})
        await end.until("both", lambda: len(Conversation.of(end.streams[name]).messages) == 3)
        held = Conversation.of(end.streams[name]).messages
        assert [held[number]["notice"]["kind"] for number in (2, 3)] == ["renamed", "added"]
        assert held[3]["notice"] == {"kind": "added", "users": [cleo.id], "userCount": 1}
        rows = inbox(end.streams[f"inbox:{ben.id}"])
        await end.until(
            "the row", lambda: inbox(end.streams[f"inbox:{ben.id}"])[here]["lastMessage"]["number"] == 3)
        rows = inbox(end.streams[f"inbox:{ben.id}"])
        # It is the last message, which was read before it came, and does not bring the conversation up.
        assert rows[here]["unread"] == 1 and rows[here]["activity"] < rows[other]["activity"]
        await end.close()

    asyncio.run(run())
    assert ben.get("/v1/inbox").json()["conversations"][0]["id"] == other
    # Who was added finds the group above what was written before.
    row = cleo.get("/v1/inbox").json()["conversations"][0]
    assert row["id"] == here and row["unread"] == 0 and row["lastMessage"]["notice"]["kind"] == "added"
    assert ben.get("/v1/search", params={"query": "Trip"}).json()["results"] == []
    assert ben.get("/v1/search", params={"kind": "notice"}).status_code == 400


def test_who_leaves_what_they_took_off_their_list_keeps_the_list(server):
    ann, ben = befriend(*server.users(2))
    here = group(ann, [ben])
    assert ben.request("DELETE", f"/v1/conversations/{here}?for=me").status_code == 204
    assert ben.request("DELETE", f"/v1/conversations/{here}/members/me").status_code == 204
    assert [one["kind"] for one in notices(ann, here)] == ["left"]
    assert ben.get("/v1/inbox").json()["conversations"] == []


def test_a_notice_that_names_a_deleted_user(server):
    ann, ben = befriend(*server.users(2))
    here = group(ann)
    ann.post(f"/v1/conversations/{here}/members", {"members": [ben.id]})
    assert ben.post("/v1/me/delete", {}).status_code in (200, 204)
    assert notices(ann, here)[0]["users"] == [ben.id]
    people = ann.get(f"/v1/users/{ben.id}").json()
    assert people["deleted"] is True


def test_an_export_has_them(server):
    ann, ben = befriend(*server.users(2))
    here = group(ann, [ben])
    send(ann, here, "hello")
    assert ann.request("PUT", f"/v1/conversations/{here}/messages/1/pin").status_code == 200
    assert ann.request("PATCH", f"/v1/conversations/{here}", {"settings": {"write": "admins"}}).status_code == 200
    lines = [json.loads(line) for line in ann.get(f"/v1/conversations/{here}/export").text.splitlines()]
    found = [line["notice"] for line in lines if line.get("kind") == "notice"]
    first = next(line for line in lines if line.get("text") == "hello")
    assert found == [
        {"kind": "pinned", "message": first["id"]},
        {"kind": "settings", "settings": {"write": "admins", "add": "members", "rename": "members", "keepDays": 0}},
    ]


def test_what_is_withheld(server):
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    send(ann, here, "hello")
    ben.request("PUT", f"/v1/blocks/{ann.id}")
    ann.request("PATCH", f"/v1/conversations/{here}", {"disappearAfter": 60})
    assert [one["kind"] for one in notices(ann, here)] == ["disappearing"]
    assert notices(ben, here) == [] and len(everything(ben, here)) == 1
