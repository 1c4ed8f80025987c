"""Webhooks on the operator's port: every operation, once and again, and what it refuses."""

from __future__ import annotations

import concurrent.futures
import datetime
import uuid
from typing import Any

import pytest
from switchboard_tests.operators import Operator
from switchboard_tests.server import refused
from switchboard_tests.server_keys import audit, create
from switchboard_tests.waiting import wait_until
from switchboard_tests.webhook_receivers import ALLOWED, Receiver

PATH = "/admin/v1/webhooks"


@pytest.fixture(scope="module")
def server(make_server):
    server = make_server(ALLOWED)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def operator(server) -> Operator:
    return Operator(server)


@pytest.fixture
def receiver():
    one = Receiver().start()
    yield one
    one.stop()


def body(**members: Any) -> dict[str, Any]:
    return {"clientID": str(uuid.uuid4())} | members


def shown(operator: Operator, id: str) -> dict[str, Any]:
    [found] = [one for one in operator.read(PATH)["webhooks"] if one["id"] == id]
    return found


def test_one_is_added_once_tried_and_removed(server, operator, receiver):
    request = body(url=receiver.url, name="Shop", events=["user.created"])
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: operator.post(PATH, request), range(4)))
    assert sorted(one.status_code for one in made) == [200, 200, 200, 201]
    assert len({(one.json()["webhook"]["id"], one.json()["secret"]) for one in made}) == 1
    [first] = [one.json() for one in made if one.status_code == 201]
    id, secret = first["webhook"]["id"], first["secret"]
    webhook = shown(operator, id)
    assert webhook == first["webhook"] and (webhook["name"], webhook["url"]) == ("Shop", receiver.url)
    assert webhook["events"] == ["user.created"] and "disabledAt" not in webhook
    refused(operator.post(PATH, request | {"name": "Other"}), 409, "client_id_reused", "clientID")

    create(server, "users").put_user(uuid.uuid4().hex)
    tried = operator.post(f"{PATH}/{id}/test")
    assert tried.status_code == 200, tried.text
    delivery = tried.json()["delivery"]
    assert (delivery["outcome"], delivery["status"], delivery["type"]) == ("delivered", 204, "webhook.test")
    wait_until(lambda: {one.type for one in receiver.received} == {"user.created", "webhook.test"}, "both events")
    for one in receiver.received:
        one.verify(secret)
    wait_until(
        lambda: [one["outcome"] for one in operator.read(f"{PATH}/{id}/deliveries")["deliveries"]] == ["delivered"] * 2,
        "both outcomes",
    )
    latest = operator.read(f"{PATH}/{id}/deliveries?limit=1")["deliveries"]
    assert [one["event"] for one in latest] == [one.id for one in receiver.of("webhook.test")]

    assert operator.request("DELETE", f"{PATH}/{id}").status_code == 204
    refused(operator.request("DELETE", f"{PATH}/{id}"), 404, "not_found", "webhook")
    assert id not in operator.get(PATH).text
    refused(operator.post(PATH, request), 409, "client_id_reused", "clientID")


def test_a_secret_is_rotated_once(operator, receiver):
    made = operator.post(PATH, body(url=receiver.url)).json()
    id, old = made["webhook"]["id"], made["secret"]
    request = body()
    rotated = [operator.post(f"{PATH}/{id}/rotate", request) for _ in range(3)]
    assert [one.status_code for one in rotated] == [200] * 3
    assert [one.json().get("duplicate", False) for one in rotated] == [False, True, True]
    assert len({one.json()["secret"] for one in rotated}) == 1
    new = rotated[0].json()["secret"]
    assert new != old and rotated[0].json()["webhook"]["previousUntil"]
    operator.post(f"{PATH}/{id}/test")
    [message] = receiver.of("webhook.test")
    message.verify(old)
    message.verify(new)
    assert operator.post(f"{PATH}/{id}/rotate", body()).json()["secret"] not in (old, new)
    refused(operator.post(f"{PATH}/{id}/rotate", request), 409, "client_id_reused", "clientID")
    assert operator.request("DELETE", f"{PATH}/{id}").status_code == 204


def test_one_that_is_gone_is_disabled_enabled_and_replayed(server, operator, receiver):
    begin = datetime.datetime.now(datetime.UTC).isoformat()[:23] + "Z"
    receiver.respond = lambda handler, received: 410
    id = operator.post(PATH, body(url=receiver.url, events=["user.created"])).json()["webhook"]["id"]
    key = create(server, "users")
    key.put_user(uuid.uuid4().hex)
    wait_until(lambda: "disabledAt" in shown(operator, id), "the webhook to be disabled")
    assert shown(operator, id)["disabledReason"]
    [delivery] = operator.read(f"{PATH}/{id}/deliveries")["deliveries"]
    assert (delivery["outcome"], delivery["status"], delivery["attempts"]) == ("failed", 410, 1)
    refused(operator.post(f"{PATH}/{id}/test"), 409, "conflict", "webhook")
    refused(operator.post(f"{PATH}/{id}/replay", {"since": begin}), 409, "conflict", "webhook")

    receiver.respond = lambda handler, received: 204
    enabled = [operator.post(f"{PATH}/{id}/enable") for _ in range(2)]
    assert [one.status_code for one in enabled] == [200, 200] and enabled[0].json() == enabled[1].json()
    assert "disabledAt" not in enabled[0].json()["webhook"]
    replayed = operator.post(f"{PATH}/{id}/replay", {"since": begin})
    assert replayed.status_code == 200 and replayed.json()["deliveries"] >= 1
    wait_until(lambda: len(receiver.ids) >= 1 + replayed.json()["deliveries"], "the replay")
    assert receiver.ids[0] in receiver.ids[1:]
    assert operator.request("DELETE", f"{PATH}/{id}").status_code == 204


def test_a_puller_has_no_secret(operator):
    made = operator.post(PATH, body(name="Puller"))
    assert made.status_code == 201 and "secret" not in made.json()
    id = made.json()["webhook"]["id"]
    assert operator.post(f"{PATH}/{id}/test").json() == {}
    refused(operator.post(f"{PATH}/{id}/rotate", body()), 409, "conflict", "webhook")
    refused(operator.post(f"{PATH}/{id}/replay", {"since": "2026-01-01T00:00:00Z"}), 409, "conflict", "webhook")
    assert operator.request("DELETE", f"{PATH}/{id}").status_code == 204


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"url": "ftp://example.org"}, "url"), ({"url": "http://example.org@10.0.0.1/"}, "url"),
        ({"url": "https://10.0.0.1/"}, "url"), ({"url": "https://[::ffff:169.254.169.254]/"}, "url"),
        ({"url": "https://x/" + "a" * 2_048}, "url"), ({"url": 1}, "url"), ({"events": ["call.rings"]}, "events"),
        ({"events": ["webhook.test"]}, "events"), ({"events": "call.ended"}, "events"),
        ({"events": ["call.ended"] * 65}, "events"), ({"name": ""}, "name"), ({"name": "a" * 81}, "name"),
        ({"clientID": "1"}, "clientID"),
    ],
)
def test_wrong_webhooks_are_refused(operator, members, field):
    refused(operator.post(PATH, body(url="https://example.org/hook") | members), 400, "invalid_request", field)
    assert operator.read(PATH)["webhooks"] == []


def test_wrong_ids_and_times_are_refused(operator):
    nobody = str(uuid.uuid4())
    whole = {"since": "2026-01-01T00:00:00Z"}
    for verb, request in (("rotate", body()), ("enable", None), ("test", None), ("replay", whole)):
        refused(operator.post(f"{PATH}/{nobody}/{verb}", request), 404, "not_found", "webhook")
        refused(operator.post(f"{PATH}/1/{verb}", request), 400, "invalid_request", "webhook")
    refused(operator.get(f"{PATH}/{nobody}/deliveries"), 404, "not_found", "webhook")
    refused(operator.get(f"{PATH}/1/deliveries"), 400, "invalid_request", "webhook")
    refused(operator.get(f"{PATH}/{nobody}/deliveries?limit=101"), 400, "invalid_request", "limit")
    refused(operator.post(f"{PATH}/{nobody}/replay", {"since": "yesterday"}), 400, "invalid_request", "since")
    refused(operator.post(f"{PATH}/{nobody}/replay", {}), 400, "invalid_request", "since")
    refused(operator.post(f"{PATH}/{nobody}/rotate", {}), 400, "invalid_request", "clientID")


def test_every_write_is_in_the_audit_log(server):
    one = Operator(server)
    receiver = Receiver().start()
    request = body(url=receiver.url)
    [id] = {one.post(PATH, request).json()["webhook"]["id"] for _ in range(2)}
    one.post(f"{PATH}/{id}/rotate", body())
    one.post(f"{PATH}/{id}/enable")
    one.post(f"{PATH}/{id}/test")
    one.post(f"{PATH}/{id}/replay", {"since": "2026-01-01T00:00:00Z"})
    one.request("DELETE", f"{PATH}/{id}")
    receiver.stop()
    own = [entry["action"] for entry in audit(server)
           if entry["actor"] == f"key:{one.key.id}" and entry.get("subject") == id]
    assert own == [f"admin.webhooks.{verb}" for verb in ("add", "rotate", "enable", "test", "replay", "remove")]
