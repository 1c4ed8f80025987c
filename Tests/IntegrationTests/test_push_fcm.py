"""Android devices that sleep are told of messages and calls, by a Firebase Cloud Messaging of the tests."""

from __future__ import annotations

import json
import time

import pytest
import yaml
from switchboard_tests.calls import GENEROUS, call
from switchboard_tests.conversations import pair, sent
from switchboard_tests.fcm_service import (
    INTERNAL,
    NO_TOKEN,
    NO_TOKEN_FIELD,
    NOT_FOUND,
    OTHER_SENDER,
    UNAUTHENTICATED,
    UNAVAILABLE,
    UNREGISTERED,
    Device,
    FCMService,
    document,
    failure,
    quota,
    serving,
)
from switchboard_tests.http2_server import GO_AWAY, LOST, Response
from switchboard_tests.metrics import metric
from switchboard_tests.push_registrations import PATH, kinds, register
from switchboard_tests.server import HTTP, NO_APERTIUM, Server, User, merged, refused, tool
from switchboard_tests.waiting import wait_until

LIMITS = GENEROUS["limits"] | {"friendRequestsPerHour": 10_000, "conversationsPerHour": 10_000}


@pytest.fixture(scope="module")
def fcm(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("fcm")) as service:
        yield service


@pytest.fixture(scope="module")
def server(make_server, fcm) -> Server:
    return make_server(merged(fcm.settings, {"limits": LIMITS}))


def phone_of(user: User, fcm: FCMService) -> Device:
    device = fcm.device()
    register(user, device)
    return device


def test_a_message_reaches_a_phone_that_sleeps(server, fcm):
    assert HTTP.get(f"{server.url}/v1/server").json()["push"]["fcm"] is True
    ann, ben, here = pair(server)
    phone = phone_of(ben, fcm)
    number = sent(ann, here, "See you at 8")
    [push] = fcm.wait(1, phone)
    name = ann.get("/v1/me").json()["displayName"]
    # Google can read it: without the user's word it has no text.
    assert push.payload == {
        "kind": "message", "user": ben.id, "conversation": here, "number": str(number), "title": name,
        "body": "New message", "badge": "1",
    }  # fmt: skip
    assert push.android == {"priority": "HIGH", "ttl": f"{28 * 86_400}s"}
    assert ben.request("PATCH", "/v1/me", {"notifications": "full"}).status_code == 200
    # Nor without the author's, and that of both for the conversation.
    sent(ann, here, "For you alone")
    assert fcm.wait(2, phone)[1].payload["body"] == "New message"
    for user in (ann, ben):
        assert user.request("PATCH", "/v1/me", {"intelligence": "full"}).status_code == 200
    sent(ann, here, "\U0001f469\u200d\U0001f680" * 500)
    body = fcm.wait(3, phone)[2].payload["body"]
    assert body.endswith("…") and body.rstrip("…").replace("\U0001f469\u200d\U0001f680", "") == ""


def test_a_call_rings_and_stops(server, fcm):
    ann, ben = server.users(2)
    phone = phone_of(ben, fcm)
    made = call(ann, [ben])
    [ring] = fcm.wait(1, phone)
    assert (ring.payload["kind"], ring.payload["call"], ring.payload["video"]) == ("ring", made, "false")
    assert 0 < int(ring.payload["expiresAt"]) - time.time() * 1000 <= 120_000
    assert 1 <= ring.seconds_to_live <= 120
    assert ring.collapse_key
    assert ann.post(f"/v1/calls/{made}/cancel", {}).status_code == 200
    missed = fcm.wait(2, phone)[1]
    assert (missed.payload["kind"], missed.payload["call"]) == ("missedCall", made)
    assert missed.collapse_key is None, "a phone that was off for a day is told of each"
    assert ring.android["priority"] == missed.android["priority"] == "HIGH"


def test_one_connection_and_one_access_token_serve_all(server, fcm):
    ann, ben, here = pair(server)
    phones = [phone_of(ben, fcm)] + [phone_of(other, fcm) for other in server.users(1)]
    sent(ann, here, "first")
    fcm.wait(1, phones[0])
    before = (fcm.server.connections, fcm.token_requests)
    for count in range(2, 6):
        sent(ann, here, f"message {count}")
        fcm.wait(count, phones[0])
    assert (fcm.server.connections, fcm.token_requests) == before
    assert len({push.connection for push in phones[0].pushes}) == 1
    assert not phones[1].pushes


@pytest.mark.parametrize(
    "response",
    [
        pytest.param(UNREGISTERED, id="unregistered"),
        pytest.param(NO_TOKEN, id="no-token"),
        pytest.param(NO_TOKEN_FIELD, id="no-token-by-field"),
    ],
)
def test_a_phone_that_is_gone_is_forgotten(server, fcm, response):
    ann, ben, here = pair(server)
    phone = phone_of(ben, fcm)
    phone.response = response
    sent(ann, here, "hello?")
    wait_until(lambda: not kinds(ben), "the registration goes")
    assert len(phone.pushes) == 1


def test_a_key_of_another_project_drops_no_registration(server, fcm):
    ann, ben, here = pair(server)
    phone = phone_of(ben, fcm)
    phone.script = [Response(OTHER_SENDER.status, OTHER_SENDER.body, {"retry-after": "1"})]
    sent(ann, here, "once the operator has seen it")
    wait_until(lambda: phone.payloads, "the push arrives")
    assert kinds(ben) == ["fcm"]


def rejected(server: Server) -> float:
    """How many pushes were refused for good."""
    return metric(server, "pushes_total", kind="fcm", outcome="rejected")


def fail(server: Server, fcm: FCMService, response: Response) -> tuple[User, Device]:
    """A message to a phone, of which the first attempt has this response."""
    ann, ben, here = pair(server)
    phone = phone_of(ben, fcm)
    phone.script = [response]
    sent(ann, here, "eventually")
    return ben, phone


def test_what_fails_is_tried_again(server, fcm):
    soon = {"retry-after": "1"}
    failed = [Response(one.status, one.body, soon) for one in (quota(), INTERNAL, UNAVAILABLE, NOT_FOUND)]
    users = [fail(server, fcm, response) for response in (*failed, Response(502, b"", soon), LOST, GO_AWAY)]
    for user, phone in users:
        wait_until(lambda phone=phone: phone.payloads, "the push arrives")
        assert len(phone.pushes) == 2
        assert phone.pushes[1].at - phone.pushes[0].at >= 0.8
        assert kinds(user) == ["fcm"]


def test_without_a_time_a_failure_waits_for_ten_seconds_and_a_quota_for_a_minute(server, fcm):
    phones = [fail(server, fcm, response)[1] for response in (INTERNAL, UNAVAILABLE, quota())]
    for phone in phones[:2]:
        wait_until(lambda phone=phone: phone.payloads, "the push arrives")
        assert phone.pushes[1].at - phone.pushes[0].at >= 9.5
    assert len(phones[2].pushes) == 1


def test_a_message_that_is_wrong_is_not_repeated(server, fcm):
    ann, ben, here = pair(server)
    phone = phone_of(ben, fcm)
    phone.script = [failure(400, "INVALID_ARGUMENT", "Message too big", retry_after="1")]
    before = rejected(server)
    sent(ann, here, "lost")
    wait_until(lambda: rejected(server) > before, "it is given up")
    last = sent(ann, here, "taken")
    assert fcm.wait(2, phone)[1].payload["number"] == str(last)
    assert kinds(ben) == ["fcm"]


def test_an_access_token_that_is_new_is_not_replaced_for_each_push(server, fcm):
    ann, ben, here = pair(server)
    phone = phone_of(ben, fcm)
    before = fcm.token_requests
    fcm.script = [Response(401, UNAUTHENTICATED.body, {"retry-after": "1"}) for _ in range(2)]
    sent(ann, here, "in a moment")
    wait_until(lambda: phone.payloads, "the push arrives")
    assert fcm.token_requests - before <= 1
    fcm.script.clear()


def test_tokens_are_checked(server, fcm):
    user = server.user()
    for token in (None, "", "a" * 7, "a" * 8 + " b", "a" * 8 + "\n", "é" * 8, "a" * 4_097):
        body = {"kind": "fcm"} | ({} if token is None else {"token": token})
        refused(user.request("PUT", PATH, body), 400, "invalid_request", "token")
    assert not kinds(user)
    device = fcm.device()
    for _ in range(2):
        assert user.request("PUT", PATH, device.registration()).status_code == 200
    assert kinds(user) == ["fcm"]
    # An app that another account uses now.
    other = server.user()
    assert other.request("PUT", PATH, device.registration()).status_code == 200
    assert (kinds(user), kinds(other)) == ([], ["fcm"])
    assert other.request("DELETE", f"{PATH}?kind=fcm").status_code == 204
    assert not kinds(other)


def test_tokens_are_in_no_file_and_no_line_of_the_log(server, fcm):
    ann, ben, here = pair(server)
    phone = phone_of(ben, fcm)
    phone.response = failure(400, "INVALID_ARGUMENT", f"No {phone.token}")
    before = rejected(server)
    sent(ann, here, "hello?")
    wait_until(lambda: rejected(server) > before, "the device is refused")
    secrets = [phone.token.encode(), *(token.encode() for token in fcm.tokens)]
    for file in server.directory.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert not any(secret in content for secret in secrets), file


def test_check_tries_it(make_server, tmp_path):
    with serving(tmp_path) as fcm:
        server = make_server(merged(fcm.settings, NO_APERTIUM))

        def outcome() -> tuple[str, str]:
            done = tool(server, "check", "--json", timeout=110)
            [entry] = [one for one in json.loads(done.stdout)["checks"] if one["subject"] == "push"]
            return entry["status"], json.dumps(entry)

        assert outcome()[0] == "ok"
        assert fcm.dry_runs == 1
        page = Response(200, b"<html>Welcome</html>", {"content-type": "text/html"})
        for response in (failure(403, "PERMISSION_DENIED", "Permission denied"), UNAUTHENTICATED, NOT_FOUND, page):
            fcm.script = [response] * 2
            found, text = outcome()
            assert found == "failed" and str(response.status) in text and "push.fcm.credentials" in text
            fcm.script.clear()
        fcm.server.stop()
        assert outcome()[0] == "failed"
        fcm.server.start()
        assert outcome()[0] == "ok"
        server.stop()
    # The account is gone: nothing works, and Google is not asked for each push.
    with serving(tmp_path) as fcm:
        fcm.token_script = [document(400, {"error": "invalid_grant", "error_description": "No account"})] * 100
        server = make_server(merged(fcm.settings, NO_APERTIUM))
        found, text = outcome()
        assert found == "failed" and "access token" in text
        assert fcm.token_requests <= 2


def test_wrong_credentials_stop_the_start(make_server, tmp_path):
    with serving(tmp_path) as fcm:
        for changes, reason in [
            ({"type": "authorized_user"}, "service account"), ({"private_key": "none"}, "private_key"),
            ({"token_uri": "http://127.0.0.1/token"}, "token_uri"),
        ]:  # fmt: skip
            fcm.write_credentials(**changes)
            text = start_of(make_server(fcm.settings, started=False))
            assert "push.fcm.credentials" in text and reason in text
            assert "PRIVATE KEY" not in text
        fcm.write_credentials()
        for changes, name in [
            ({"push": {"fcm": {"url": "http://fcm.example.org"}}}, "push.fcm.url"),
            ({"push": {"authorities": "/nowhere.pem"}}, "push.authorities"),
            ({"push": {"authorities": str(fcm.credentials)}}, "push.authorities"),
            ({"push": {"fcm": {"credentials": "/nowhere.json"}}}, "push.fcm.credentials"),
        ]:
            assert name in start_of(make_server(merged(fcm.settings, changes), started=False))


def start_of(server: Server) -> str:
    """What a server says that does not start."""
    server.config.write_text(yaml.safe_dump(server.settings))
    done = tool(server, "serve", timeout=60)
    assert done.returncode != 0
    return done.stdout + done.stderr
