"""What a sign-in opened ends with it: sessions of WHIP and WHEP, legs of endpoints and voice messages that are recorded.
What the same user opened with another sign-in goes on."""

from __future__ import annotations

import json
import uuid

import httpx
import legs
import pytest
from conftest import User
from endpoint import client_id
from test_legs import refused
from test_metrics import value
from test_operation import wait_until

SDP = "application/sdp"


class Person:
    """One user with two sign-ins. Both have one endpoint, as a page that signed in anew."""

    def __init__(self, server):
        prefix = "s" + uuid.uuid4().hex[:12]
        self.email = f"{prefix}-1@{prefix}.invalid"
        self.lost, self.kept = (self.sign_in(server, prefix) for _ in range(2))
        self.lost.endpoint, self.lost.secret = self.kept.endpoint, self.kept.secret

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
    return httpx.post(
        f"{user.server.url}/v1/calls/{call}/{kind}", timeout=20,
        content=offer(identity, "sendonly" if kind == "whip" else "recvonly"),
        headers={"Authorization": f"Bearer {user.token}", "Content-Type": SDP},
    )


def ends(user: User, answer: httpx.Response) -> int:
    return user.request("DELETE", answer.headers["Location"]).status_code


def part(call: str, viewer: User, user: User) -> dict:
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
    call = answered(anna, person.kept)
    lost = open_session(person.lost, call, "whip", identity)
    kept = open_session(person.kept, call, "whep", identity)
    assert lost.status_code == kept.status_code == 201, (lost.text, kept.text)
    legs_left(server, 2)
    sign_out(person.lost)
    legs_left(server, 1)
    refused(open_session(person.lost, call, "whip", identity), 401, "unauthenticated")
    assert part(call, anna, person.kept)["state"] == "joined"
    assert ends(person.kept, lost) == 404
    assert ends(person.kept, kept) == 200
    anna.post(f"/v1/calls/{call}/end")
    legs_left(server, 0)


def test_a_leg_ends_with_the_sign_in_that_made_it(server, person, identity):
    anna = server.user()
    call = answered(anna, person.kept)
    leg = legs.Leg(person.lost, call, identity, ssrc=11)
    leg.check()
    legs_left(server, 1)
    sign_out(person.lost)
    legs_left(server, 0)
    assert part(call, anna, person.kept)["state"] == "joined"
    # The same endpoint makes another one with the sign-in that it has now.
    again = legs.Leg(person.kept, call, identity, ssrc=12)
    again.check()
    legs_left(server, 1)
    anna.post(f"/v1/calls/{call}/end")
    legs_left(server, 0)
    for one in (leg, again):
        one.socket.close()


@pytest.mark.parametrize("way", ["signed out", "disabled"])
def test_what_is_recorded_is_thrown_away(server, person, identity, way):
    to = server.user()
    answer = httpx.post(
        f"{server.url}/v1/voice-messages", params={"to": to.id}, content=offer(identity, "sendonly"), timeout=20,
        headers={"Authorization": f"Bearer {person.lost.token}", "Content-Type": SDP},
    )
    assert answer.status_code == 201, answer.text
    legs_left(server, 1)
    assert value(server, "voice_recordings", state="open") == 1
    if way == "disabled":
        server.command("account", "disable", "--email", person.email)
    else:
        sign_out(person.lost)
    legs_left(server, 0)
    wait_until(lambda: value(server, "voice_recordings", state="open") == 0, "nothing is recorded")
    assert value(server, "voice_recordings", state="kept") == 0
    if way == "signed out":
        assert ends(person.kept, answer) == 404


def test_a_disabled_user_has_no_media_left(server, person, identity):
    anna = server.user()
    call = answered(anna, person.kept)
    for answer in (open_session(person.lost, call, "whip", identity), open_session(person.kept, call, "whep", identity)):
        assert answer.status_code == 201, answer.text
    leg = legs.Leg(person.kept, call, identity, ssrc=11)
    legs_left(server, 3)
    server.command("account", "disable", "--email", person.email)
    legs_left(server, 0)
    assert part(call, anna, person.kept)["state"] == "left"
    leg.socket.close()
