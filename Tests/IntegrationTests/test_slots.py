"""The preferred qualities of a leg's video slots: setting them, and invalid requests."""

from __future__ import annotations

import asyncio
import hashlib
import uuid

import pytest
from switchboard_tests.calls import call as call_of
from switchboard_tests.endpoint import RequestError
from switchboard_tests.gateway import group
from switchboard_tests.legs import call, description, section
from switchboard_tests.server import HTTP, refused


def fingerprint(name: str) -> str:
    """The fingerprint of a certificate that is never used, since these legs are not connected."""
    digest = hashlib.sha256(name.encode()).hexdigest().upper()
    return ":".join(digest[index : index + 2] for index in range(0, 64, 2))


def offer(slots: int, connection: str = "first") -> dict:
    """A leg with a microphone in section 0, an audio slot in 1, and so many video slots from 2 on."""
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
        response = self.user.post(self.path, offer(slots, connection))
        assert response.status_code == 200, response.text

    def ask(self, body: dict):
        return self.user.request("PATCH", self.path, body)

    def set_qualities(self, qualities: dict) -> dict:
        response = self.ask({"slots": qualities})
        assert response.status_code == 200, response.text
        assert set(response.json()) == {"slots"}
        return response.json()["slots"]


@pytest.fixture
def people(server):
    return server.users(3)


@pytest.fixture
def viewer(people):
    anna, ben, _ = people
    return Viewer(anna, call(anna, ben))


def test_slots_keep_their_preferred_qualities(people, viewer):
    _, ben, _ = people
    made = viewer.path.split("/")[3]
    ben.post(f"/v1/calls/{made}/accept", {"clientID": str(uuid.uuid4())})
    other = Viewer(ben, made, slots=1)
    assert viewer.set_qualities({}) == {"2": "high", "3": "high"}
    assert viewer.set_qualities({"3": "off"}) == {"2": "high", "3": "off"}
    assert viewer.set_qualities({"2": "low"}) == {"2": "low", "3": "off"}
    assert viewer.set_qualities({"2": "medium", "3": "high"}) == {"2": "medium", "3": "high"}
    assert other.set_qualities({}) == {"2": "high"}, "another leg of the call"
    # The same PeerConnection offers again, with another slot; then there is a new one.
    viewer.offers(3)
    assert viewer.set_qualities({}) == {"2": "medium", "3": "high", "4": "high"}
    viewer.offers(2, "second")
    assert viewer.set_qualities({}) == {"2": "high", "3": "high"}


def test_invalid_preferences_are_rejected_with_the_field(viewer):
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
    assert viewer.set_qualities({}) == {"2": "high", "3": "high"}, "nothing changes with what is refused"


def test_a_leg_without_slots_for_pictures(people):
    anna, ben, _ = people
    viewer = Viewer(anna, call(anna, ben), slots=0)
    assert viewer.set_qualities({}) == {}
    problem = refused(viewer.ask({"slots": {"1": "low"}}), 400, "invalid_request", "slots.1")
    assert problem["detail"].endswith("the leg has no video slots.")


def test_preferences_need_a_leg(people, viewer):
    anna, ben, eve = people
    body = {"slots": {"2": "low"}}
    ask = lambda user: user.request("PATCH", viewer.path, body)
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
            with pytest.raises(RequestError) as error:
                await ann.endpoint.ask("calls.slots", call=ann.call, slots={})
            assert (error.value.type, "no leg" in error.value.problem["detail"]) == ("conflict", True)
            await ann.join()
            await ben.join()
            await ann.receives_video(ben)
            (mid,) = [slot["mid"] for slot in ann.current_slots() if slot["kind"] == "video"]
            (audio,) = [slot["mid"] for slot in ann.current_slots() if slot["kind"] == "audio"]
            assert await ann.endpoint.ask("calls.slots", call=ann.call, slots={mid: "low"}) == {"slots": {mid: "low"}}
            for qualities, field in [
                ({audio: "low"}, f"slots.{audio}"),
                ({mid: "tiny"}, f"slots.{mid}"),
                ([], "slots"),
            ]:
                with pytest.raises(RequestError) as error:
                    await ann.endpoint.ask("calls.slots", call=ann.call, slots=qualities)
                assert (error.value.type, error.value.problem["field"]) == ("invalid_request", field)
            # Another offer of the same connection, which keeps its preferences.
            await ann.offer()
            assert await ann.endpoint.ask("calls.slots", call=ann.call, slots={}) == {"slots": {mid: "low"}}
            # The leg ends with its connection.
            await ann.connection.close()
            await ann.until(
                "the end of the leg", lambda: any(one["kind"] == "legEnded" for one in ann.endpoint.signals(ann.call))
            )
            with pytest.raises(RequestError) as error:
                await ann.endpoint.ask("calls.slots", call=ann.call, slots={mid: "off"})
            assert error.value.type == "conflict"

    asyncio.run(run())


def test_it_is_in_the_document(server):

    document = HTTP.get(server.url + "/openapi.json").json()
    operation = document["paths"]["/v1/calls/{call}/leg"]["patch"]
    assert operation["operationId"] == "calls.slots"
    assert {"200", "400", "404", "409", "429"} <= set(operation["responses"])
    slots = operation["requestBody"]["content"]["application/json"]["schema"]["properties"]["slots"]
    assert slots["$ref"] == "#/components/schemas/SlotPreferences"
    preferences = document["components"]["schemas"]["SlotPreferences"]
    assert preferences["additionalProperties"]["enum"] == ["off", "low", "medium", "high"]
