"""What a participant wants to see in the video slots of its leg: how that is asked for, and refused."""

from __future__ import annotations

import asyncio
import hashlib
import uuid

import pytest
from endpoint import Refused
from gateway import group
from legs import call, description, section
from test_legs import call as call_of
from test_legs import refused


def fingerprint(name: str) -> str:
    """Of a certificate that nobody has to show, since these legs are never connected."""
    digest = hashlib.sha256(name.encode()).hexdigest().upper()
    return ":".join(digest[index : index + 2] for index in range(0, 64, 2))


def offer(slots: int, connection: str = "first") -> dict:
    """A leg with a microphone in section 0, a slot for sound in 1, and so many for pictures from 2 on."""
    print_ = fingerprint(connection)
    sections = [section("0", "sendonly", print_, "a=ssrc:77 cname:c"), section("1", "recvonly", print_)]
    sections += [section(str(mid), "recvonly", print_, kind="video") for mid in range(2, 2 + slots)]
    return {"offer": {"sdp": description(sections)}}


class Viewer:
    """Somebody with a leg."""

    def __init__(self, user, made: str, slots: int = 2):
        self.user, self.path = user, f"/v1/calls/{made}/leg"
        self.offers(slots)

    def offers(self, slots: int, connection: str = "first") -> None:
        answer = self.user.post(self.path, offer(slots, connection))
        assert answer.status_code == 200, answer.text

    def ask(self, body: dict):
        return self.user.request("PATCH", self.path, body)

    def wants(self, wishes: dict) -> dict:
        answer = self.ask({"slots": wishes})
        assert answer.status_code == 200, answer.text
        assert set(answer.json()) == {"slots"}
        return answer.json()["slots"]


@pytest.fixture
def people(server):
    return server.users(3)


@pytest.fixture
def viewer(people):
    anna, ben, _ = people
    return Viewer(anna, call(anna, ben))


def test_slots_are_told_apart_and_keep_what_is_wanted_in_them(people, viewer):
    _, ben, _ = people
    made = viewer.path.split("/")[3]
    ben.post(f"/v1/calls/{made}/accept", {"clientID": str(uuid.uuid4())})
    other = Viewer(ben, made, slots=1)
    assert viewer.wants({}) == {"2": "high", "3": "high"}
    assert viewer.wants({"3": "off"}) == {"2": "high", "3": "off"}
    assert viewer.wants({"2": "low"}) == {"2": "low", "3": "off"}
    assert viewer.wants({"2": "medium", "3": "high"}) == {"2": "medium", "3": "high"}
    assert other.wants({}) == {"2": "high"}, "another leg of the call"
    # The same PeerConnection offers again, with another slot; then there is a new one.
    viewer.offers(3)
    assert viewer.wants({}) == {"2": "medium", "3": "high", "4": "high"}
    viewer.offers(2, "second")
    assert viewer.wants({}) == {"2": "high", "3": "high"}


def test_what_is_wrong_with_a_wish_is_named(viewer):
    for body in ({}, {"slots": None}, {"slots": []}, {"slots": "low"}):
        refused(viewer.ask(body), 400, "invalid_request", "slots")
    problem = refused(viewer.ask({"slots": {"2": "best"}}), 400, "invalid_request", "slots.2")
    assert "off, low, medium, high" in problem["detail"]
    refused(viewer.ask({"slots": {"2": 720}}), 400, "invalid_request", "slots.2")
    refused(viewer.ask({"slots": {"2": None}}), 400, "invalid_request", "slots.2")
    for mid in ("0", "1", "4", "", "x" * 256, 'a"b'):
        problem = refused(viewer.ask({"slots": {"2": "off", mid: "low"}}), 400, "invalid_request", f"slots.{mid}")
        assert problem["detail"] == f"slots.{mid}: no such video slot; the leg has 2, 3."
    many = {str(mid): "low" for mid in range(65)}
    refused(viewer.ask({"slots": many}), 400, "invalid_request", "slots")
    refused(viewer.ask({"slots": {"x" * 257: "low"}}), 400, "invalid_request", "slots")
    assert viewer.wants({}) == {"2": "high", "3": "high"}, "nothing changes with what is refused"


def test_a_leg_without_slots_for_pictures(people):
    anna, ben, _ = people
    viewer = Viewer(anna, call(anna, ben), slots=0)
    assert viewer.wants({}) == {}
    problem = refused(viewer.ask({"slots": {"1": "low"}}), 400, "invalid_request", "slots.1")
    assert problem["detail"].endswith("the leg has no video slots.")


def test_only_who_has_a_leg_can_wish(people, viewer):
    anna, ben, eve = people
    body = {"slots": {"2": "low"}}
    ask = lambda user: user.request("PATCH", viewer.path, body)  # noqa: E731
    refused(ask(eve), 404, "not_found")
    refused(ask(ben), 409, "conflict")
    refused(ask(anna.another_endpoint()), 409, "answered_elsewhere")
    made = viewer.path.split("/")[3]
    ben.post(f"/v1/calls/{made}/accept", {"clientID": str(uuid.uuid4())})
    problem = refused(ask(ben), 409, "conflict")
    assert "no leg" in problem["detail"]
    anna.post(f"/v1/calls/{made}/end")
    refused(ask(anna), 409, "call_ended")
    direct = call_of(anna, [ben], "direct")
    problem = refused(anna.request("PATCH", f"/v1/calls/{direct}/leg", body), 409, "conflict")
    assert "send signals" in problem["detail"]
    anna.post(f"/v1/calls/{direct}/end")


def test_the_same_over_the_realtime_connection(server):
    async def run():
        async with group(server, 2) as (ann, ben):
            with pytest.raises(Refused) as refusal:
                await ann.endpoint.ask("calls.slots", call=ann.call, slots={})
            assert (refusal.value.type, "no leg" in refusal.value.problem["detail"]) == ("conflict", True)
            await ann.join()
            await ben.join()
            await ann.sees(ben)
            (mid,) = [slot["mid"] for slot in ann.shown() if slot["kind"] == "video"]
            (sound,) = [slot["mid"] for slot in ann.shown() if slot["kind"] == "audio"]
            assert await ann.endpoint.ask("calls.slots", call=ann.call, slots={mid: "low"}) == {"slots": {mid: "low"}}
            for wishes, field in [({sound: "low"}, f"slots.{sound}"), ({mid: "tiny"}, f"slots.{mid}"), ([], "slots")]:
                with pytest.raises(Refused) as refusal:
                    await ann.endpoint.ask("calls.slots", call=ann.call, slots=wishes)
                assert (refusal.value.type, refusal.value.problem["field"]) == ("invalid_request", field)
            # Another offer of the same connection, which goes on as it was.
            await ann.offer()
            assert await ann.endpoint.ask("calls.slots", call=ann.call, slots={}) == {"slots": {mid: "low"}}
            # The leg ends with its connection.
            await ann.connection.close()
            await ann.until(
                "the end of the leg", lambda: any(one["kind"] == "legEnded" for one in ann.endpoint.signals(ann.call))
            )
            with pytest.raises(Refused) as refusal:
                await ann.endpoint.ask("calls.slots", call=ann.call, slots={mid: "off"})
            assert refusal.value.type == "conflict"

    asyncio.run(run())


def test_it_is_in_the_document(server):
    import httpx

    document = httpx.get(server.url + "/openapi.json").json()
    operation = document["paths"]["/v1/calls/{call}/leg"]["patch"]
    assert operation["operationId"] == "calls.slots"
    assert {"200", "400", "404", "409", "429"} <= set(operation["responses"])
    slots = operation["requestBody"]["content"]["application/json"]["schema"]["properties"]["slots"]
    assert slots["additionalProperties"]["enum"] == ["off", "low", "medium", "high"]
