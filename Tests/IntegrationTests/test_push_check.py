"""`switchboard check` subscribes at a push service of browsers, and has a push sent to itself."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from switchboard_tests import autopush
from switchboard_tests.autopush import Autopush, FirefoxSubscription
from switchboard_tests.push_service import ALLOWED, GONE, Response
from switchboard_tests.server import NO_APERTIUM, Server, merged, tool


@pytest.fixture(scope="module")
def service():
    with autopush.serving() as service:
        yield service


@pytest.fixture(scope="module")
def server(make_server, service) -> Server:
    return make_server(merged(merged(ALLOWED, NO_APERTIUM), checking(f"ws://127.0.0.1:{service.socket_port}/")))


def checking(url: str) -> dict[str, Any]:
    return {"push": {"web": {"checkURL": url, "contact": "mailto:ops@example.org"}}}


def check(server: Server) -> tuple[str, str]:
    """The status of the check of pushes, and all that it says."""
    done = tool(server, "check", "--json", timeout=110)
    [entry] = [one for one in json.loads(done.stdout)["checks"] if one["subject"] == "push"]
    return entry["status"], json.dumps(entry)


def subscriptions_respond(service: Autopush, monkeypatch: pytest.MonkeyPatch, response: Response) -> None:
    register = service._register

    def refuse(*arguments: Any) -> dict[str, Any]:
        answer = register(*arguments)
        service.channels[-1].response = response
        return answer

    monkeypatch.setattr(service, "_register", refuse)


def test_a_push_comes_back(server, service):
    status, text = check(server)
    assert status == "ok" and "a push to a browser came back" in text
    [push] = service.channels[-1].delivered
    assert (push.claims["sub"], push.urgency, push.seconds_to_live) == ("mailto:ops@example.org", "high", 60)


@pytest.mark.parametrize("response", [Response(403), GONE, Response(503)], ids=["forbidden", "gone", "unavailable"])
def test_a_service_that_takes_no_push_is_a_failure(server, service, monkeypatch, response):
    subscriptions_respond(service, monkeypatch, response)
    status, text = check(server)
    assert status == "failed" and str(response.status) in text and "push.web.contact" in text


def test_what_comes_back_changed_is_a_failure(server, service, monkeypatch):
    monkeypatch.setattr("switchboard_tests.autopush.encode", lambda body: "A" * len(body))
    status, text = check(server)
    assert status == "failed" and "cannot be decrypted" in text


def test_what_does_not_come_back_is_a_failure(server, service, monkeypatch):
    monkeypatch.setattr(FirefoxSubscription, "deliver", lambda subscription: None)
    status, text = check(server)
    assert status == "failed" and "does not come back" in text


def test_without_a_service_it_fails_and_says_so(make_server, service):
    server = make_server(merged(merged(ALLOWED, NO_APERTIUM), checking(f"ws://127.0.0.1:{service.port}/")))
    status, text = check(server)
    assert status == "failed" and "no push service of browsers" in text and "push.web.checkURL" in text
    assert [service.faults.pop()] == ["GET / is no request to a subscription"]
    server.config.write_text(yaml.safe_dump(merged(server.settings, checking("ws://127.0.0.1:1/"))))
    status, text = check(server)
    assert status == "failed" and "push.web.checkURL" in text


def test_addresses_of_others_are_not_pushed_to(make_server, service):
    """The push service names the endpoint: it is as little trusted as that of a client."""
    settings = merged(NO_APERTIUM, checking(f"ws://127.0.0.1:{service.socket_port}/"))
    status, text = check(make_server(settings))
    assert status == "failed" and "push.allow" not in text and "not allowed" in text


def test_a_wrong_address_stops_the_start(make_server):
    server = make_server(checking("https://push.services.mozilla.com/"), started=False)
    server.config.write_text(yaml.safe_dump(server.settings))
    done = tool(server, "serve", timeout=60)
    assert done.returncode != 0 and "push.web.checkURL" in done.stdout + done.stderr
