"""Calls live in conversations: one message follows each call, members join what is on, and who leaves is out of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from switchboard_tests.calls import GENEROUS
from switchboard_tests.conversations import Conversation, befriend, direct, group, inbox, messages, send
from switchboard_tests.endpoint import Endpoint, RequestError, client_id
from switchboard_tests.server import User, refused

LIMITS = GENEROUS["limits"] | {"friendRequestsPerHour": 10_000, "conversationsPerHour": 10_000}


@pytest.fixture(scope="module")
def server(make_server):
    server = make_server({"limits": LIMITS})
    yield server
    server.stop()


def friends(server, count: int) -> list[User]:
    people = server.users(count)
    for index, one in enumerate(people):
        for other in people[:index]:
            befriend(other, one)
    return people


def call(user: User, conversation: str, **more: Any):
    body = {"clientID": client_id(), "conversation": conversation, "kind": "audio"} | more
    return user.post("/v1/calls", body)


def started(user: User, conversation: str, **more: Any) -> str:
    made = call(user, conversation, **more)
    assert made.status_code == 201, made.text
    assert made.json()["call"]["conversationID"] == conversation
    return made.json()["call"]["id"]


def act(user: User, call: str, verb: str, **more: Any):
    body = {"clientID": client_id()} if verb == "accept" else {}
    return user.post(f"/v1/calls/{call}/{verb}", body | more)


def done(user: User, call: str, verb: str) -> None:
    answer = act(user, call, verb)
    assert answer.status_code == 200, answer.text


def records(user: User, conversation: str) -> list[dict[str, Any]]:
    return [message["call"] for message in messages(user, conversation) if message["kind"] == "call"]


def document(user: User, conversation: str) -> dict[str, Any]:
    found = user.get(f"/v1/conversations/{conversation}")
    assert found.status_code == 200, found.text
    return found.json()["conversation"]


def row(user: User, conversation: str) -> dict[str, Any]:
    page = user.get("/v1/inbox").json()["conversations"]
    return next(row for row in page if row["id"] == conversation)


def states(record: dict[str, Any]) -> dict[str, str]:
    return {one["user"]: one["state"] for one in record["participants"]}


def test_a_call_of_two_is_a_message_that_follows_it(server):
    ann, ben = friends(server, 2)
    here = direct(ann, ben)
    send(ann, here, "before")
    id = started(ann, here)
    [ringing] = records(ben, here)
    assert (ringing["id"], ringing["state"], ringing["kind"]) == (id, "ringing", "audio")
    assert states(ringing) == {ann.id: "joined", ben.id: "invited"}
    live = document(ben, here)["liveCall"]
    assert (live["id"], live["number"], live["kind"]) == (id, 2, "audio")
    assert row(ben, here)["lastMessage"]["call"]["id"] == id
    assert row(ben, here)["unread"] == 1, "the text alone"

    done(ben, id, "accept")
    send(ben, here, "meanwhile")
    [active] = records(ann, here)
    assert active["state"] == "active" and "answeredAt" in active and "duration" not in active
    done(ben, id, "end")
    [ended] = records(ann, here)
    assert (ended["state"], ended["reason"], ended["endedBy"]) == ("ended", "hung_up", ben.id)
    assert ended["duration"] >= 0 and states(ended) == {ann.id: "left", ben.id: "left"}
    assert "liveCall" not in document(ann, here)
    assert [message["number"] for message in messages(ann, here)] == [1, 2, 3]
    assert row(ben, here)["unread"] == 1

    # A call that names the callee belongs to the same conversation.
    made = ben.post("/v1/calls", {"clientID": client_id(), "callees": [ann.id], "kind": "video"})
    assert made.json()["call"]["conversationID"] == here
    done(ann, made.json()["call"]["id"], "decline")
    assert [record["reason"] for record in records(ann, here)] == ["hung_up", "declined"]
    assert row(ann, here)["unread"] == 1 and row(ben, here)["unread"] == 1, "declined is not missed"


def test_a_missed_call_is_unread_for_whom_it_rang(server):
    ann, ben = friends(server, 2)
    here = direct(ann, ben)
    for verb, who in (("cancel", ann), ("end", ann)):
        done(who, started(ann, here), verb)
    assert [record["reason"] for record in records(ben, here)] == ["cancelled", "cancelled"]
    assert (row(ann, here)["unread"], row(ben, here)["unread"]) == (0, 2)
    ben.post(f"/v1/conversations/{here}/marks", {"read": 2})
    assert row(ben, here)["unread"] == 0
    refused(ann.request("DELETE", f"/v1/conversations/{here}/messages/1?for=all"), 409, "conflict", "for")
    # What is deleted for oneself is gone from the history of calls too.
    assert len(ben.get("/v1/calls").json()["calls"]) == 2
    assert ben.request("DELETE", f"/v1/conversations/{here}/messages/1?for=me").status_code == 200
    assert len(ben.get("/v1/calls").json()["calls"]) == 1
    assert len(ann.get("/v1/calls").json()["calls"]) == 2
    assert ben.post(f"/v1/conversations/{here}/clear").status_code == 204
    assert ben.get("/v1/calls").json()["calls"] == []
    # It is found as a call, and has no words.
    found = ann.get("/v1/search", params={"kind": "call", "conversation": here}).json()
    assert len(found["results"]) == 2, found


def test_five_members_and_one_who_was_not_invited(server):
    people = friends(server, 5)
    ann, ben, cleo, dan, eve = people
    here = group(ann, [ben, cleo, dan], name="Four")
    id = started(ann, here, mode="direct")
    assert {one["user"] for one in ann.get(f"/v1/calls/{id}").json()["call"]["participants"]} == {
        ann.id, ben.id, cleo.id, dan.id,
    }
    done(ben, id, "accept")
    done(cleo, id, "decline")
    refused(call(eve, here), 404, "not_found", "conversation")
    refused(act(eve, id, "accept"), 404, "not_found")
    refused(
        ann.post(f"/v1/calls/{id}/invite", {"clientID": client_id(), "users": [eve.id]}), 400, "invalid_request",
        "users[0]",
    )
    # Who comes to the conversation after the start joins without having been invited.
    assert ann.post(f"/v1/conversations/{here}/members", {"members": [eve.id]}).status_code == 200
    assert document(eve, here)["liveCall"]["id"] == id
    joined = call(eve, here, mode="direct")
    assert joined.status_code == 200 and joined.json()["joined"] and joined.json()["call"]["id"] == id
    [record] = records(ann, here)
    assert states(record) == {
        ann.id: "joined", ben.id: "joined", cleo.id: "declined", dan.id: "invited", eve.id: "joined",
    }
    assert records(eve, here) == [], "its message is before what she sees"
    assert [one["id"] for one in eve.get("/v1/calls").json()["calls"]] == [id]
    # An administrator who is in it ends it for everybody, others do not.
    refused(act(ben, id, "end"), 403, "forbidden")
    assert ann.request("PATCH", f"/v1/conversations/{here}/members/{ben.id}", {"role": "admin"}).status_code == 200
    done(ben, id, "end")
    [record] = records(dan, here)
    assert states(record)[dan.id] == "missed" and record["state"] == "ended"
    assert [row(one, here)["unread"] for one in people] == [0, 0, 0, 1, 0]


def test_a_large_group_is_shown_and_not_rung(server):
    people = server.users(33)
    owner, member = people[0], people[1]
    for one in people[1:]:
        befriend(owner, one)
    here = group(owner, people[1:], name="Many")
    id = started(owner, here, mode="direct")
    [record] = records(member, here)
    assert record["state"] == "active" and states(record) == {owner.id: "joined"}
    done(member, id, "accept")
    done(owner, id, "leave")
    assert document(member, here)["liveCall"]["id"] == id
    done(member, id, "leave")
    assert "liveCall" not in document(member, here)
    assert row(people[5], here)["unread"] == 0


def test_who_is_removed_leaves_the_call_at_once(server):
    ann, ben, cleo = friends(server, 3)
    here = group(ann, [ben, cleo], name="Three")
    id = started(ann, here, mode="direct")

    async def run() -> None:
        end = Endpoint(server.realtime_url, ben.id, ben.token)
        await end.open()
        await end.listen(f"user:{ben.id}")
        await end.ask("calls.accept", call=id, clientID=client_id())
        assert await end.listen(f"call:{id}")
        removed = await asyncio.to_thread(ann.request, "DELETE", f"/v1/conversations/{here}/members/{ben.id}")
        assert removed.status_code == 204, removed.text
        await end.until("the end of the stream", lambda: f"call:{id}" not in end.streams)
        for name in ("calls.get", "calls.accept", "calls.alive"):
            with pytest.raises(RequestError) as error:
                await end.ask(name, call=id, **({"clientID": client_id()} if name == "calls.accept" else {}))
            assert error.value.type == "not_found"
        await end.close()

    asyncio.run(run())
    [part] = [one for one in ann.get(f"/v1/calls/{id}").json()["call"]["participants"] if one["user"] == ben.id]
    assert (part["state"], part["reason"]) == ("left", "removed")
    refused(call(ben, here), 403, "forbidden")
    done(cleo, id, "accept")
    done(ann, id, "end")
    # What he sees of it is that it was.
    assert ben.get("/v1/calls").json()["calls"] == []
    [seen] = records(ben, here)
    assert seen["participants"] == [] and "endedAt" not in seen
    assert states(records(cleo, here)[0])[ben.id] == "left"


def test_two_callers_at_the_same_instant_share_one_call(server):
    people = friends(server, 4)

    async def run() -> None:
        ends = [Endpoint(server.realtime_url, person.id, person.token) for person in people]
        for end in ends:
            await end.open()
        ann, ben = people[:2]
        two, four = direct(ann, ben), group(ann, people[1:], name="Four")
        for number in range(20):
            for here, callers in ((two, ends[:2]), (four, ends)):
                made = await asyncio.gather(
                    *(
                        end.ask(
                            "calls.create", clientID=client_id(), conversation=here, kind="audio", mode="direct",
                            other="end",
                        )
                        for end in callers
                    )
                )
                calls = {one["call"]["id"] for one in made}
                assert len(calls) == 1, (number, made)
                assert sum(not one.get("joined") for one in made) == 1
                await callers[0].ask("calls.get", call=calls.pop())
                owner = next(end for end, one in zip(callers, made, strict=True) if not one.get("joined"))
                await owner.ask("calls.end", call=made[0]["call"]["id"])
        for here, count in ((two, 20), (four, 20)):
            assert len(records(ann, here)) == count
            assert {record["state"] for record in records(ann, here)} == {"ended"}
        for end in ends:
            await end.close()

    asyncio.run(run())


def test_requests_and_blocks(server):
    ann, ben = server.users(2)
    here = direct(ann, ben)
    send(ann, here, "hello")
    for user in (ann, ben):
        refused(call(user, here), 403, "forbidden")
    # Without a conversation it rings as ever; whoever answers accepts the request.
    made = ann.post("/v1/calls", {"clientID": client_id(), "callees": [ben.id], "kind": "audio"})
    assert made.status_code == 201 and made.json()["call"]["conversationID"] == here
    id = made.json()["call"]["id"]
    assert ben.get(f"/v1/conversations/{here}").json()["membership"]["state"] == "invited"
    done(ben, id, "accept")
    assert ben.get(f"/v1/conversations/{here}").json()["membership"]["state"] == "member"
    done(ann, id, "end")

    assert ben.request("PUT", f"/v1/blocks/{ann.id}").status_code in (200, 204)
    withheld = started(ann, here)
    assert records(ann, here)[-1]["id"] == withheld
    assert withheld not in [record["id"] for record in records(ben, here)]
    # To her it is on, as if he had not blocked her.
    assert "liveCall" not in document(ben, here) and document(ann, here)["liveCall"]["id"] == withheld
    # The other way is free meanwhile.
    other = started(ben, here)
    assert other != withheld and document(ben, here)["liveCall"]["id"] == other
    for user, id in ((ann, withheld), (ben, other)):
        done(user, id, "end")
    assert [record["state"] for record in records(ann, here)] == ["ended"] * 3
    assert row(ben, here)["unread"] == 1, "the text alone"


def test_who_refuses_others_or_has_declined_one_is_not_rung_by_them(server):
    """For the caller it is like a call that nobody answers."""
    ann, ben, cem, dan = server.users(4)

    def calls(user: User) -> list[str]:
        return [one["id"] for one in user.get("/v1/calls").json()["calls"]]

    def ring(caller: User, callees: list[User]) -> dict[str, Any]:
        body = {"clientID": client_id(), "callees": [one.id for one in callees], "kind": "audio"}
        response = caller.post("/v1/calls", body)
        assert response.status_code == 201, response.text
        return response.json()["call"]

    assert ben.request("PATCH", "/v1/me", {"messageRequests": "refuse"}).status_code == 200
    made = ring(ann, [ben])
    assert [one["state"] for one in made["participants"] if one["user"] == ben.id] == ["invited"]
    assert calls(ben) == [] and made["id"] in calls(ann)
    refused(ben.get(f"/v1/calls/{made['id']}"), 404, "not_found")
    done(ann, made["id"], "end")
    # Nor as one of several, nor when asked into a call later.
    both = ring(ann, [ben, cem])
    assert calls(ben) == [] and both["id"] in calls(cem)
    done(cem, both["id"], "accept")
    done(ann, both["id"], "end")
    other = ring(ann, [cem])
    done(cem, other["id"], "accept")
    invited = ann.post(f"/v1/calls/{other['id']}/invite", {"clientID": client_id(), "users": [ben.id]})
    assert invited.status_code == 200 and calls(ben) == []
    done(ann, other["id"], "end")
    # Ben calls, and whoever answers is accepted.
    theirs = ring(ben, [ann])
    done(ann, theirs["id"], "accept")
    done(ann, theirs["id"], "end")
    again = ring(ann, [ben])
    assert again["id"] in calls(ben)
    done(ann, again["id"], "end")

    here = direct(dan, ann)
    send(dan, here, "buy this")
    assert ann.post(f"/v1/conversations/{here}/members/me/decline").status_code == 204
    before = calls(ann)
    done(dan, ring(dan, [ann])["id"], "end")
    assert calls(ann) == before


def test_what_a_call_may_be_created_with(server):
    ann, ben = friends(server, 2)
    here = direct(ann, ben)
    notes = ann.post("/v1/conversations", {"clientID": client_id(), "kind": "self"}).json()["conversation"]["id"]
    refused(call(ann, notes), 409, "conflict")
    refused(call(ann, here, callees=[ben.id]), 400, "invalid_request", "callees")
    refused(ann.post("/v1/calls", {"clientID": client_id(), "kind": "audio"}), 400, "invalid_request", "callees")
    body = {"clientID": client_id(), "conversation": here, "kind": "audio"}
    first, again = ann.post("/v1/calls", body), ann.post("/v1/calls", body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["duplicate"] and len(records(ann, here)) == 1
    refused(ann.post("/v1/calls", body | {"kind": "video"}), 409, "client_id_reused", "clientID")


def test_listeners_see_every_step(server):
    ann, ben = friends(server, 2)
    here = direct(ann, ben)

    async def run() -> None:
        end = Endpoint(server.realtime_url, ben.id, ben.token)
        await end.open()
        stream = await end.listen(f"conversation:{here}")
        list_ = await end.listen(f"inbox:{ben.id}")
        assert stream is not None and list_ is not None
        id = await asyncio.to_thread(started, ann, here)

        def seen() -> dict[str, Any]:
            return Conversation.of(stream).messages.get(1, {}).get("call", {})

        await end.until("the ring", lambda: seen().get("state") == "ringing")
        await end.until("the live call", lambda: (inbox(list_).get(here) or {}).get("conversation", {}).get("liveCall"))
        await asyncio.to_thread(done, ann, id, "cancel")
        await end.until("the end", lambda: seen().get("state") == "ended")
        await end.until("the count", lambda: inbox(list_)[here]["unread"] == 1)
        assert "liveCall" not in Conversation.of(stream).document
        assert end.violations == []
        await end.close()

    asyncio.run(run())


def test_a_killed_server_ends_the_record_right(make_server):
    server = make_server({"limits": LIMITS, "calls": {"leaseSeconds": 5}})
    ann, ben = friends(server, 2)
    here = direct(ann, ben)
    id = started(ann, here)
    done(ben, id, "accept")
    server.kill()
    server.start()
    [record] = records(ben, here)
    assert record["state"] == "active" and document(ann, here)["liveCall"]["id"] == id
    done(ann, id, "end")
    # One that rings while nobody is there to answer.
    missed = started(ann, here, ringSeconds=10)
    server.kill()
    server.start()

    async def run() -> None:
        end = Endpoint(server.realtime_url, ben.id, ben.token)
        await end.open()
        stream = await end.listen(f"conversation:{here}")
        assert stream is not None
        await end.until("the end", lambda: Conversation.of(stream).messages[2]["call"]["state"] == "ended")
        await end.close()

    asyncio.run(run())
    assert [(one["id"], one["state"]) for one in records(ann, here)] == [(id, "ended"), (missed, "ended")]
    assert row(ben, here)["unread"] == 1 and "liveCall" not in document(ben, here)
    server.stop()
