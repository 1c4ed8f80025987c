"""Signing out ends what was opened with that session: WHIP and WHEP sessions, legs, and voice recordings. What the same
user opened with another session continues."""

from __future__ import annotations

import json
import uuid

import httpx
import pytest
from switchboard_tests import legs
from switchboard_tests.endpoint import client_id
from switchboard_tests.metrics import value
from switchboard_tests.server import HTTP, User, refused
from switchboard_tests.waiting import wait_until

SDP = "application/sdp"


class Person:
    """One user with two sessions that share an endpoint, like a page that signed in again."""

    def __init__(self, server):
        prefix = "s" + uuid.uuid4().hex[:12]
        self.email = f"{prefix}-1@{prefix}.invalid"
        self.signed_out, self.active = (self.sign_in(server, prefix) for _ in range(2))
        self.signed_out.endpoint, self.signed_out.secret = self.active.endpoint, self.active.secret

    @staticmethod
    def sign_in(server, prefix: str) -> User:
        made = json.loads(server.command("token", "--count", "1", "--prefix", prefix))
        return User(server, made["user"], made["token"])


@pytest.fixture(scope="module")
def identity(tmp_path_factory) -> legs.Identity:
    return legs.Identity(tmp_path_factory.mktemp("identity"))


@pytest.fixture
def person(server) -> Person:
    return Person(server)


def sign_out(user: User) -> None:
    assert user.request("DELETE", "/v1/sessions/current").status_code == 204


def offer(identity, direction: str) -> str:
    return legs.description([legs.section("0", direction, identity.fingerprint, "a=ssrc:5 cname:c")])


def open_session(user: User, call: str, kind: str, identity) -> httpx.Response:
    return HTTP.post(
        f"{user.server.url}/v1/calls/{call}/{kind}",
        content=offer(identity, "sendonly" if kind == "whip" else "recvonly"),
        headers={"Authorization": f"Bearer {user.token}", "Content-Type": SDP},
    )


def ends(user: User, response: httpx.Response) -> int:
    return user.request("DELETE", response.headers["Location"]).status_code


def participant(call: str, viewer: User, user: User) -> dict:
    found = viewer.get(f"/v1/calls/{call}").json()["call"]
    return next(one for one in found["participants"] if one["user"] == user.id)


def answered(anna: User, ben: User) -> str:
    made = legs.call(anna, ben)
    assert ben.post(f"/v1/calls/{made}/accept", {"clientID": client_id()}).status_code == 200
    return made


def legs_left(server, count: int) -> None:
    wait_until(lambda: value(server, "gateway_legs") == count, f"{count} legs are left")


def test_sessions_end_with_the_sign_in_that_opened_them(server, person, identity):
    anna = server.user()
    call = answered(anna, person.active)
    signed_out = open_session(person.signed_out, call, "whip", identity)
    active = open_session(person.active, call, "whep", identity)
    assert signed_out.status_code == active.status_code == 201, (signed_out.text, active.text)
    legs_left(server, 2)
    sign_out(person.signed_out)
    legs_left(server, 1)
    refused(open_session(person.signed_out, call, "whip", identity), 401, "unauthenticated")
    assert participant(call, anna, person.active)["state"] == "joined"
    assert ends(person.active, signed_out) == 404
    assert ends(person.active, active) == 200
    anna.post(f"/v1/calls/{call}/end")
    legs_left(server, 0)


def test_a_leg_ends_with_the_sign_in_that_made_it(server, person, identity):
    anna = server.user()
    call = answered(anna, person.active)
    leg = legs.Leg(person.signed_out, call, identity, ssrc=11)
    leg.check()
    legs_left(server, 1)
    sign_out(person.signed_out)
    legs_left(server, 0)
    assert participant(call, anna, person.active)["state"] == "joined"
    # The same endpoint makes another leg with its current session.
    again = legs.Leg(person.active, call, identity, ssrc=12)
    again.check()
    legs_left(server, 1)
    anna.post(f"/v1/calls/{call}/end")
    legs_left(server, 0)
    for one in (leg, again):
        one.socket.close()


@pytest.mark.parametrize("cause", ["signed out", "disabled"])
def test_voice_recordings_are_discarded(server, person, identity, cause):
    response = HTTP.post(
        f"{server.url}/v1/voice-files", content=offer(identity, "sendonly"),
        headers={"Authorization": f"Bearer {person.signed_out.token}", "Content-Type": SDP},
    )
    assert response.status_code == 201, response.text
    legs_left(server, 1)
    assert value(server, "voice_recordings", state="open") == 1
    if cause == "disabled":
        server.command("account", "disable", "--email", person.email)
    else:
        sign_out(person.signed_out)
    legs_left(server, 0)
    wait_until(lambda: value(server, "voice_recordings", state="open") == 0, "nothing is recorded")
    assert value(server, "voice_recordings", state="kept") == 0
    if cause == "signed out":
        assert ends(person.active, response) == 404


def test_a_disabled_user_has_no_media_left(server, person, identity):
    anna = server.user()
    call = answered(anna, person.active)
    for response in (
        open_session(person.signed_out, call, "whip", identity),
        open_session(person.active, call, "whep", identity),
    ):
        assert response.status_code == 201, response.text
    leg = legs.Leg(person.active, call, identity, ssrc=11)
    legs_left(server, 3)
    server.command("account", "disable", "--email", person.email)
    legs_left(server, 0)
    assert participant(call, anna, person.active)["state"] == "left"
    leg.socket.close()
