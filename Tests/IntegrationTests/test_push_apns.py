"""Apple's devices that sleep are told of messages and calls, by a push service of the tests."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
import yaml
from switchboard_tests.apns_service import (
    BAD_TOKEN,
    EXPIRED_PROVIDER,
    EXPIRED_TOKEN,
    INTERNAL,
    INVALID_PROVIDER,
    OTHER_TOPIC,
    TOO_MANY,
    UNAVAILABLE,
    UNREGISTERED,
    APNsService,
    Device,
    serving,
)
from switchboard_tests.calls import GENEROUS, call
from switchboard_tests.conversations import pair, sent
from switchboard_tests.http2_server import GO_AWAY, LOST, Response
from switchboard_tests.push_registrations import PATH, kinds, register
from switchboard_tests.server import HTTP, NO_APERTIUM, Server, User, merged, refused, tool
from switchboard_tests.waiting import wait_until

LIMITS = GENEROUS["limits"] | {"friendRequestsPerHour": 10_000, "conversationsPerHour": 10_000}


@pytest.fixture(scope="module")
def apns(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("apns")) as service:
        yield service


@pytest.fixture(scope="module")
def server(make_server, apns) -> Server:
    return make_server(merged(apns.settings, {"limits": LIMITS}))


def phone_of(user: User, apns: APNsService, kind: str = "apns", **members: Any) -> Device:
    device = apns.device(kind)
    register(user, device, **members)
    return device


def test_a_message_reaches_a_phone_that_sleeps(server, apns):
    assert HTTP.get(f"{server.url}/v1/server").json()["push"]["apns"] is True
    ann, ben, here = pair(server)
    phone, voip = phone_of(ben, apns, environment="sandbox"), phone_of(ben, apns, "apnsVoIP")
    number = sent(ann, here, "See you at 8")
    [push] = apns.wait(1, phone)
    name = ann.get("/v1/me").json()["displayName"]
    # Apple can read it: without the user's word it has no text.
    assert push.payload == {
        "aps": {
            "alert": {"title": name, "body": "New message"}, "badge": 1, "sound": "default", "thread-id": here,
            "mutable-content": 1,
        },
        "kind": "message", "user": ben.id, "conversation": here, "number": number,
    }  # fmt: skip
    assert push.is_sandbox
    assert ben.request("PATCH", "/v1/me", {"notifications": "full"}).status_code == 200
    # Nor without the author's, and that of both for the conversation.
    sent(ann, here, "For you alone")
    assert apns.wait(2, phone)[1].aps["alert"]["body"] == "New message"
    for user in (ann, ben):
        assert user.request("PATCH", "/v1/me", {"intelligence": "full"}).status_code == 200
    sent(ann, here, "\U0001f469\u200d\U0001f680" * 500)
    body = apns.wait(3, phone)[2].aps["alert"]["body"]
    assert body.endswith("…") and body.rstrip("…").replace("\U0001f469\u200d\U0001f680", "") == ""
    assert not voip.pushes


def test_a_call_rings_by_pushkit_alone_and_a_missed_one_is_a_notification(server, apns):
    ann, ben = server.users(2)
    phone, voip = phone_of(ben, apns), phone_of(ben, apns, "apnsVoIP")
    made = call(ann, [ben])
    [ring] = apns.wait(1, voip)
    assert (ring.payload["kind"], ring.payload["call"], ring.aps, ring.is_sandbox) == ("ring", made, {}, False)
    assert 0 <= int(ring.headers["apns-expiration"]) - time.time() + 2 <= 122
    assert ann.post(f"/v1/calls/{made}/cancel", {}).status_code == 200
    [missed] = apns.wait(1, phone)
    # It is the first notification, and the next push of PushKit rings again.
    assert (missed.payload["kind"], missed.payload["call"]) == ("missedCall", made)
    made = call(ann, [ben])
    ring = apns.wait(2, voip)[1]
    assert (ring.payload["kind"], ring.payload["call"]) == ("ring", made)


def test_without_pushkit_a_call_is_a_notification_that_is_replaced(server, apns):
    ann, ben = server.users(2)
    phone = phone_of(ben, apns)
    made = call(ann, [ben])
    [ring] = apns.wait(1, phone)
    assert ring.aps["interruption-level"] == "time-sensitive"
    assert ann.post(f"/v1/calls/{made}/cancel", {}).status_code == 200
    missed = apns.wait(2, phone)[1]
    assert ring.headers["apns-collapse-id"] == missed.headers["apns-collapse-id"]


def test_one_connection_and_one_token_serve_all(server, apns):
    ann, ben, here = pair(server)
    phone = phone_of(ben, apns)
    sent(ann, here, "first")
    apns.wait(1, phone)
    before = (apns.server.connections, set(apns.tokens))
    for count in range(2, 5):
        sent(ann, here, f"message {count}")
        apns.wait(count, phone)
    assert (apns.server.connections, apns.tokens) == before
    assert len({push.connection for push in phone.pushes}) == len(apns.tokens) == 1


@pytest.mark.parametrize(
    "response",
    [
        pytest.param(UNREGISTERED, id="unregistered"),
        pytest.param(EXPIRED_TOKEN, id="expired"),
        pytest.param(BAD_TOKEN, id="bad"),
    ],
)
def test_a_phone_that_is_gone_is_forgotten(server, apns, response):
    ann, ben, here = pair(server)
    phone = phone_of(ben, apns)
    sent(ann, here, "so that the environment is known to be the right one")
    apns.wait(1, phone)
    phone.response = response
    sent(ann, here, "hello?")
    wait_until(lambda: not kinds(ben), "the registration goes")
    assert len(phone.pushes) == 2


def test_what_fails_is_tried_again(server, apns):
    soon = {"retry-after": "1"}
    rejections = (TOO_MANY, EXPIRED_PROVIDER, INVALID_PROVIDER, OTHER_TOPIC)
    failed = [Response(one.status, one.body, soon) for one in rejections]
    phones = []
    pages = [Response(status, b"<html></html>", soon) for status in (200, 302, 400, 401, 404, 407, 410)]
    for response in (*failed, *pages, INTERNAL, UNAVAILABLE, LOST, GO_AWAY):
        ann, ben, here = pair(server)
        phones.append((ben, phone_of(ben, apns)))
        phones[-1][1].script = [response]
        sent(ann, here, "eventually")
    for user, phone in phones:
        wait_until(lambda phone=phone: phone.delivered, "the push arrives")
        assert len(phone.pushes) == 2
        assert kinds(user) == ["apns"]


@pytest.mark.parametrize("response", [UNREGISTERED, OTHER_TOPIC], ids=["unregistered", "topic"])
def test_where_pushkit_does_not_ring_the_notification_does(server, apns, response):
    ann, ben = server.users(2)
    phone, voip = phone_of(ben, apns), phone_of(ben, apns, "apnsVoIP")
    voip.response = response
    made = call(ann, [ben])
    [ring] = apns.wait(1, phone)
    assert (ring.payload["kind"], ring.payload["call"]) == ("ring", made)
    assert voip.pushes


def test_a_ring_is_tried_again_while_it_rings(server, apns):
    ann, ben = server.users(2)
    voip = phone_of(ben, apns, "apnsVoIP")
    voip.script = [EXPIRED_PROVIDER, UNAVAILABLE, LOST]
    call(ann, [ben])
    wait_until(lambda: voip.delivered, "the ring arrives")
    assert len(voip.pushes) == 4


def test_two_accounts_on_one_phone_replace_nothing_of_each_other(server, apns):
    ann, ben, cleo = server.users(3)
    phone = phone_of(ben, apns, shared=True)
    assert cleo.request("PUT", PATH, phone.registration(shared=True)).status_code == 200
    for user in (ben, cleo):
        made = call(ann, [user])
        wait_until(lambda made=made: any(push.payload["call"] == made for push in phone.pushes), "the ring")
        assert ann.post(f"/v1/calls/{made}/cancel", {}).status_code == 200
    pushes = apns.wait(4, phone)
    by_user = {user.id: {push.headers["apns-collapse-id"] for push in pushes if push.payload["user"] == user.id}
               for user in (ben, cleo)}  # fmt: skip
    assert [len(ids) for ids in by_user.values()] == [1, 1] and by_user[ben.id].isdisjoint(by_user[cleo.id])


def test_tokens_are_checked(server, apns):
    user = server.user()
    for token in (None, "", "0", "0g", "00 ", "../00", "é0", "00" * 101):
        body = {"kind": "apns"} | ({} if token is None else {"token": token})
        refused(user.request("PUT", PATH, body), 400, "invalid_request", "token")
    body = {"kind": "apns", "token": "00", "environment": "space"}
    assert user.request("PUT", PATH, body).status_code == 400
    for body, field in [
        ({"kind": "apns", "token": "00", "endpoint": "https://push.example"}, "endpoint"),
        ({"kind": "apns", "token": "00", "keys": {"p256dh": "A", "auth": "A"}}, "keys"),
    ]:
        refused(user.request("PUT", PATH, body), 400, "invalid_request", field)
    assert not kinds(user)
    for kind in ("apns", "apnsVoIP"):
        assert user.request("PUT", PATH, {"kind": kind, "token": "00AB"}).status_code == 200
    assert kinds(user) == ["apns", "apnsVoIP"]


def test_check_tries_it(make_server, tmp_path):
    with serving(tmp_path) as apns:
        server = make_server(merged(apns.settings, NO_APERTIUM))

        def outcome() -> tuple[str, str]:
            done = tool(server, "check", "--json", timeout=110)
            [entry] = [one for one in json.loads(done.stdout)["checks"] if one["subject"] == "push"]
            return entry["status"], json.dumps(entry)

        assert outcome()[0] == "ok"
        assert apns.dry_runs == 1
        apns.script = [INVALID_PROVIDER]
        status, text = outcome()
        assert status == "failed" and "InvalidProviderToken" in text and "push.apns.keyID" in text
        apns.server.stop()
        assert outcome()[0] == "failed"


def test_wrong_settings_stop_the_start(make_server, tmp_path):
    with serving(tmp_path) as apns:
        for changes, name in [
            ({"key": "/nowhere.p8"}, "push.apns.key"), ({"key": apns.authorities}, "push.apns.key"),
            ({"keyID": "short"}, "push.apns.keyID"), ({"team": ""}, "push.apns.team"),
            ({"topic": "org.example.app.voip"}, "push.apns.topic"), ({"url": "http://127.0.0.1"}, "push.apns.url"),
            ({"url": "https://api.sandbox.push.apple.com"}, "push.apns.sandboxURL"), ({"key": ""}, "push.apns.key"),
        ]:  # fmt: skip
            server = make_server(merged(apns.settings, {"push": {"apns": changes}}), started=False)
            server.config.write_text(yaml.safe_dump(server.settings))
            done = tool(server, "serve", timeout=60)
            assert done.returncode != 0
            assert f"{name}" in done.stdout + done.stderr
