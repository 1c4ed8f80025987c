"""Who may have a leg with the media gateway, and how an offer is rejected."""

from __future__ import annotations

import uuid

import pytest
from switchboard_tests.calls import call
from switchboard_tests.server import HTTP, refused

OFFER = {"offer": {"sdp": "v=0\r\n"}}


@pytest.fixture
def people(server):
    return server.users(3)


def test_a_direct_call_has_no_legs(people):
    anna, ben, _ = people
    made = call(anna, [ben], "direct")
    problem = refused(anna.post(f"/v1/calls/{made}/leg", OFFER), 409, "conflict")
    assert "send signals" in problem["detail"]
    anna.post(f"/v1/calls/{made}/end")
    refused(anna.post(f"/v1/calls/{made}/leg", OFFER), 409, "call_ended")


def test_outsiders_get_not_found(people):
    anna, ben, eve = people
    made = call(anna, [ben])
    refused(eve.post(f"/v1/calls/{made}/leg", OFFER), 404, "not_found")
    refused(ben.post(f"/v1/calls/{made}/leg", OFFER), 409, "conflict")
    refused(anna.another_endpoint().post(f"/v1/calls/{made}/leg", OFFER), 409, "answered_elsewhere")


def test_errors_name_the_field(people):
    anna, ben, _ = people
    path = f"/v1/calls/{call(anna, [ben])}/leg"
    refused(anna.post(path, {}), 400, "invalid_request", "offer")
    refused(anna.post(path, {"offer": {}}), 400, "invalid_request", "offer.sdp")
    refused(anna.post(path, {"offer": {"sdp": ""}}), 400, "invalid_request", "offer.sdp")
    refused(anna.post(path, {"offer": {"sdp": "v" * 262_145}}), 413, "payload_too_large", "offer.sdp")
    refused(anna.post(path, OFFER | {"sources": {"0": "keyboard"}}), 400, "invalid_request", "sources.0")
    refused(anna.post(path, OFFER | {"sources": {"0": 1}}), 400, "invalid_request", "sources.0")
    many = {str(mid): "camera" for mid in range(65)}
    refused(anna.post(path, OFFER | {"sources": many}), 400, "invalid_request", "sources")
    refused(anna.request("GET", path), 405, "method_not_allowed")


def test_without_a_gateway_a_call_is_between_two(make_server):
    server = make_server(role="api,relay")
    anna, ben, cleo = server.users(3)
    made = call(anna, [ben])
    ben.post(f"/v1/calls/{made}/accept", {"clientID": str(uuid.uuid4())})
    body = {"clientID": str(uuid.uuid4()), "users": [cleo.id]}
    problem = refused(anna.post(f"/v1/calls/{made}/invite", body), 409, "conflict")
    assert "no media gateway" in problem["detail"]
    document = anna.get(f"/v1/calls/{made}").json()["call"]
    assert [one["state"] for one in document["participants"]] == ["joined", "joined"], "They go on as they were."
    body = {"clientID": str(uuid.uuid4()), "callees": [ben.id, cleo.id], "kind": "audio"}
    problem = refused(anna.post("/v1/calls", body), 400, "invalid_request", "callees")
    assert "no media gateway" in problem["detail"]
    call(anna, [ben, cleo], "direct")
    server.stop()


def test_it_is_in_the_document(server):

    document = HTTP.get(server.url + "/openapi.json").json()
    operation = document["paths"]["/v1/calls/{call}/leg"]["post"]
    assert operation["operationId"] == "calls.leg"
    assert {"200", "400", "404", "409", "413", "429"} <= set(operation["responses"])
    assert "track" in document["components"]["schemas"]["Slot"]["properties"]
