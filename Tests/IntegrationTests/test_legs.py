"""Who may have a leg with the media gateway, and how an offer is rejected."""

from __future__ import annotations

import uuid

import pytest
from switchboard_tests.calls import call
from switchboard_tests.legs import description, section
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


def test_what_is_not_forwarded_is_in_the_answer_with_the_reason(people):
    anna, ben, _ = people
    path = "/v1/calls/" + call(anna, [ben], "gateway")
    fingerprint = ":".join(["0A"] * 32)
    audio = section("0", "sendonly", fingerprint)
    camera = section("1", "sendonly", fingerprint, kind="video")
    high = [line.replace("VP8", "H264") for line in camera] + ["a=fmtp:96 profile-level-id=640028;packetization-mode=1"]
    data = ["m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "c=IN IP4 0.0.0.0", "a=mid:2", "a=sctp-port:5000"]
    answered = anna.post(path + "/leg", {"offer": {"sdp": description([audio, camera])}})
    assert answered.status_code == 200 and "rejected" not in answered.json(), answered.text
    assert anna.post(path + "/end").status_code == 200
    path = "/v1/calls/" + call(anna, [ben], "gateway")
    answered = anna.post(path + "/leg", {"offer": {"sdp": description([audio, high, data])}})
    assert answered.status_code == 200, answered.text
    first, second = answered.json()["rejected"]
    assert first["mid"] == "1" and "profile-level-id=640028" in first["reason"] and "VP8" in first["reason"]
    assert second == {"mid": "2", "reason": "application is not forwarded"}
    # What the client itself rejects needs no reason.
    stopped = ["m=video 0 " + high[0].split(" ", 2)[2], *high[1:]]
    answered = anna.post(path + "/leg", {"offer": {"sdp": description([audio, stopped, data], "a=group:BUNDLE 0 2")}})
    assert [one["mid"] for one in answered.json()["rejected"]] == ["2"], answered.text


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
