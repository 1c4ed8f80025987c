"""What operators see of the services that wake devices, trying them, and removing registrations."""

from __future__ import annotations

import concurrent.futures
import json
import uuid
from typing import Any

import pytest
from switchboard_tests import issuers
from switchboard_tests.calls import GENEROUS
from switchboard_tests.conversations import befriend, direct, sent
from switchboard_tests.fcm_service import UNAVAILABLE, failure
from switchboard_tests.fcm_service import serving as serving_fcm
from switchboard_tests.http2_server import HANG
from switchboard_tests.metrics import value
from switchboard_tests.operators import Operator
from switchboard_tests.push_service import ALLOWED, PushService, Subscription, serving
from switchboard_tests.server import HTTP, User, merged, refused, tool
from switchboard_tests.server_keys import audit
from switchboard_tests.waiting import wait_until

LIMITS = GENEROUS["limits"] | {"friendRequestsPerHour": 10_000, "conversationsPerHour": 10_000}
PATH = "/v1/me/device/push"
KINDS = ["web", "fcm", "apns", "apnsVoIP"]


@pytest.fixture
def fcm(tmp_path):
    with serving_fcm(tmp_path) as service:
        yield service


@pytest.fixture
def browsers():
    with serving() as service:
        yield service


@pytest.fixture
def server(make_server, fcm):
    one = make_server(merged(merged(fcm.settings, ALLOWED), {"limits": LIMITS}))
    yield one
    one.stop()


@pytest.fixture
def operator(server) -> Operator:
    return Operator(server)


def register(user: User, body: dict[str, Any], headers: dict[str, str] | None = None) -> None:
    url = user.server.url + PATH
    response = HTTP.request("PUT", url, json=body, headers=user.headers | (headers or {}))
    assert response.status_code == 200, response.text


def subscribe(user: User, browsers: PushService) -> Subscription:
    key = HTTP.get(f"{user.server.url}/v1/server").json()["push"]["web"]["publicKey"]
    subscription = browsers.subscribe(key)
    register(user, subscription.registration())
    return subscription


def health(operator: Operator) -> dict[str, dict[str, Any]]:
    kinds = operator.read("/admin/v1/push")["kinds"]
    assert [one["kind"] for one in kinds] == KINDS
    return {one["kind"]: one for one in kinds}


def test_the_health_of_each_service(server, operator, fcm, browsers):
    nothing = {"registrations": 0, "waiting": 0, "oldestSeconds": 0}
    assert health(operator) == {
        kind: {"kind": kind, "configured": kind in ("web", "fcm")} | nothing for kind in KINDS
    }
    ann, ben = befriend(*server.users(2))
    here, phone = direct(ann, ben), fcm.device()
    register(ben, phone.registration())
    browser, _ = subscribe(ben, browsers), subscribe(ann, browsers)
    phone.script = [UNAVAILABLE]
    sent(ann, here, "hello?")
    browsers.wait(1, browser)
    wait_until(lambda: "failure" in health(operator)["fcm"], "the failure")
    found = health(operator)
    assert "failure" not in found["web"] and found["web"]["registrations"] == 2 and found["web"]["waiting"] == 0
    assert (found["fcm"]["registrations"], found["fcm"]["waiting"]) == (1, 1)
    assert "503" in found["fcm"]["failure"]["reason"]
    # Metrics have the same, and kinds that nobody is registered for are 0.
    for kind, count, waiting in (("web", 2, 0), ("fcm", 1, 1), ("apns", 0, 0), ("apnsVoIP", 0, 0)):
        assert value(server, "push_registrations", kind=kind) == count
        assert value(server, "push_waiting", kind=kind) == waiting
    assert value(server, "push_oldest_seconds", kind="fcm") >= value(server, "push_oldest_seconds", kind="web") == 0
    # It is tried again after ten seconds, and works.
    fcm.wait(2, phone)
    wait_until(lambda: "failure" not in health(operator)["fcm"], "the service to work again")
    wait_until(lambda: health(operator)["fcm"]["waiting"] == 0, "nothing to wait")
    text = json.dumps(health(operator))
    assert phone.token not in text and browser.endpoint not in text


def test_since_when_a_service_fails(server, operator, fcm):
    ann, ben = befriend(*server.users(2))
    phone = fcm.device()
    register(ben, phone.registration())
    phone.response = failure(403, "PERMISSION_DENIED", "Permission denied")
    sent(ann, direct(ann, ben), "hello?")
    wait_until(lambda: "failure" in health(operator)["fcm"], "the failure")
    first = health(operator)["fcm"]["failure"]
    phone.response = UNAVAILABLE
    sent(ann, direct(ann, ben), "and again")
    wait_until(lambda: health(operator)["fcm"]["failure"]["reason"] != first["reason"], "another reason")
    assert health(operator)["fcm"]["failure"]["since"] == first["since"]


def test_a_service_is_checked_within_bounds(server, operator, fcm):
    checked = lambda service: operator.post(f"/admin/v1/push/{service}/check")
    assert checked("fcm").json() == {} and fcm.dry_runs == 1
    fcm.script = [failure(403, "PERMISSION_DENIED", "Permission denied")]
    assert "403" in checked("fcm").json()["problem"]
    for unknown in ("web", "apnsVoIP", "smoke"):
        refused(checked(unknown), 400, "invalid_request", "service")
    refused(checked("apns"), 409, "conflict", "service")
    # One at a time.
    before = fcm.requests
    fcm.script = [HANG] * 3
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        slow = pool.submit(checked, "fcm")
        wait_until(lambda: fcm.requests > before, "the check to reach the service")
        refused(checked("fcm"), 503, "unavailable")
        fcm.server.stop()
        assert slow.result().json()["problem"]
    fcm.script.clear()
    fcm.server.start()
    # And ten times a minute, whichever operator asks.
    statuses = [checked("fcm").status_code for _ in range(12)]
    assert set(statuses) == {200, 429} and statuses[0] == 200 and fcm.dry_runs <= 12
    limited = Operator(server).post("/admin/v1/push/fcm/check")
    refused(limited, 429, "rate_limited")
    assert 1 <= int(limited.headers["Retry-After"]) <= 60
    # Who has the machine is not bounded by that.
    count = fcm.dry_runs
    assert '"push"' in tool(server, "check", "--json", timeout=110).stdout and fcm.dry_runs == count + 1


def test_registrations_are_shown_and_removed(server, operator, fcm, browsers):
    [user, other] = server.users(2)
    phone, own = fcm.device(), fcm.device()
    register(user, phone.registration())
    browser = subscribe(user, browsers)
    register(other, own.registration())
    path = f"/admin/v1/users/{user.id}"
    shown = operator.read(path)
    [device] = shown["devices"]
    assert [(one["kind"], one["device"]) for one in shown["pushes"]] == [("web", device["id"]), ("fcm", device["id"])]
    text = operator.get(path).text
    for secret in (phone.token, browser.endpoint, *browser.registration()["keys"].values()):
        assert secret not in text
    # A push that waits goes with it.
    befriend(user, other)
    phone.response = UNAVAILABLE
    sent(other, direct(other, user), "hello?")
    wait_until(lambda: health(operator)["fcm"]["waiting"] == 1, "a push to wait")
    remove = lambda kind, who=user.id, at=device["id"]: operator.request(
        "DELETE", f"/admin/v1/users/{who}/devices/{at}/push/{kind}")
    assert [remove("fcm").status_code for _ in range(2)] == [204, 204]
    assert remove("web", at=uuid.uuid4()).status_code == 204, "of a device that there is not"
    assert [one["kind"] for one in operator.read(path)["pushes"]] == ["web"]
    assert [one["kind"] for one in other.get("/v1/me/push").json()["registrations"]] == ["fcm"]
    wait_until(lambda: health(operator)["fcm"]["waiting"] == 0, "nothing to wait")
    refused(remove("smoke"), 400, "invalid_request", "kind")
    refused(remove("web", at="42"), 400, "invalid_request", "device")
    refused(remove("web", who="42"), 400, "invalid_request", "user")
    refused(remove("web", who=uuid.uuid4()), 404, "not_found", "user")
    # The app registers it anew.
    register(user, fcm.device().registration())
    assert [one["kind"] for one in operator.read(path)["pushes"]] == ["fcm", "web"]
    # What changed something is in the audit log, once.
    entries = [one for one in audit(server) if one["action"] == "admin.users.push.remove"]
    assert [(one["actor"], one["subject"], one["outcome"]) for one in entries] == [
        (f"key:{operator.key.id}", user.id, "done")
    ]
    # Who is disabled has none.
    assert operator.post(f"{path}/disable").status_code == 200
    assert operator.read(path)["pushes"] == []


def test_registrations_without_a_session_are_removed(make_server, fcm):
    with issuers.issuing() as issuer:
        server = make_server(merged(fcm.settings, issuer.settings))
        operator, ann = Operator(server), User(server, "", issuer.token("ann", name="Ann"))
        ann.id = ann.get("/v1/me").json()["id"]
        device, endpoint = str(uuid.uuid4()), f"{uuid.uuid4()} {uuid.uuid4().hex}"
        register(ann, fcm.device().registration(device=device), {"Switchboard-Endpoint": endpoint})
        shown = operator.read(f"/admin/v1/users/{ann.id}")
        assert shown["devices"] == [] and [one["device"] for one in shown["pushes"]] == [device]
        gone = operator.request("DELETE", f"/admin/v1/users/{ann.id}/devices/{device}/push/fcm")
        assert gone.status_code == 204 and operator.read(f"/admin/v1/users/{ann.id}")["pushes"] == []
        server.stop()


def test_without_the_api_there_are_none(make_server):
    server = make_server(role="relay", started=False)
    server.url = server.admin_url
    server.start()
    assert Operator(server).get("/admin/v1/push").status_code == 404
    server.stop()
