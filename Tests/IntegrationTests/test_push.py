"""Devices that sleep are told of messages and calls: by Web Push, decrypted by another implementation."""

from __future__ import annotations

import asyncio
import datetime
import json
import time
import uuid
from typing import Any

import pytest
from switchboard_tests import deletions, push_registrations, webhook_receivers
from switchboard_tests.calls import GENEROUS, call
from switchboard_tests.conversations import befriend, direct, group, pair, sent
from switchboard_tests.endpoint import RequestError, client_id, listening
from switchboard_tests.push_registrations import PATH, registrations
from switchboard_tests.push_service import (
    ALLOWED,
    FAILED,
    GONE,
    HANG,
    PushService,
    Response,
    Subscription,
    serving,
    too_many,
)
from switchboard_tests.server import HTTP, Server, User, refused
from switchboard_tests.waiting import SILENCE, until, wait_until

LIMITS = GENEROUS["limits"] | {"friendRequestsPerHour": 10_000, "conversationsPerHour": 10_000}
CONTACT = {"push": ALLOWED["push"] | {"web": {"contact": "mailto:ops@example.org"}}}


@pytest.fixture(scope="module")
def server(make_server) -> Server:
    return make_server(CONTACT | {"limits": LIMITS})


@pytest.fixture
def service():
    with serving() as service:
        yield service


def register(user: User, service: PushService, **members: Any) -> Subscription:
    """A browser of the user subscribes, and says so."""
    key = HTTP.get(f"{user.server.url}/v1/server").json()["push"]["web"]["publicKey"]
    subscription = service.subscribe(key)
    push_registrations.register(user, subscription, **members)
    return subscription


def on_devices(server: Server, count: int) -> list[User]:
    """One user, signed in on so many devices."""
    prefix = "p" + uuid.uuid4().hex[:12]
    lines = [server.command("token", "--count", "1", "--prefix", prefix) for _ in range(count)]
    people = [json.loads(line) for line in lines]
    return [User(server, one["user"], one["token"]) for one in people]


# Messages.


def test_a_message_reaches_a_device_that_sleeps(server, service):
    ann, ben, here = pair(server)
    phone = register(ben, service)
    number = sent(ann, here, "See **you** at 8")
    [push] = service.wait(1, phone)
    profile = ann.get("/v1/me").json()
    assert push.payload == {
        "kind": "message", "user": ben.id, "conversation": here, "number": number, "title": profile["displayName"],
        "body": "See you at 8", "badge": 1,
    }
    assert (push.urgency, push.claims["sub"]) == ("normal", "mailto:ops@example.org")
    assert push.seconds_to_live == 28 * 86_400
    # The author's devices are not told.
    own = register(ann, service)
    second = sent(ann, here, "And bring the map")
    assert service.wait(2, phone)[1].payload["number"] == second
    assert service.wait(2, phone)[1].topic == push.topic
    assert not own.pushes


def test_what_is_shown_is_what_the_reader_wants(server, service):
    ann, ben, here = pair(server)
    phone = register(ben, service)
    name = ann.get("/v1/me").json()["displayName"]
    shown = []
    for level in ("full", "name", "none"):
        assert ben.request("PATCH", "/v1/me", {"notifications": level}).json()["notifications"] == level
        sent(ann, here, f"secret {level}")
        push = service.wait(len(shown) + 1, phone)[-1]
        shown.append((push.payload["title"], push.payload["body"]))
    assert shown == [(name, "secret full"), (name, "New message"), ("New message", "")]
    assert refused(ben.request("PATCH", "/v1/me", {"notifications": "loud"}), 400, "invalid_request", "notifications")
    ben.request("PATCH", "/v1/me", {"notifications": "name", "languages": ["pt-BR", "en"]})
    sent(ann, here, "outra")
    assert service.wait(4, phone)[-1].payload["body"] == "Nova mensagem"


def test_pushes_are_padded_and_cut(server, service):
    ann, ben, here = pair(server)
    phone = register(ben, service)
    sizes = set()
    for count, text in enumerate(("a", "bb" * 20, "\U0001f469\u200d\U0001f680" * 300), 1):
        sent(ann, here, text)
        push = service.wait(count, phone)[-1]
        sizes.add(len(push.body))
        assert len(push.body) <= 4_096
    assert push.payload["body"].startswith("\U0001f469\u200d\U0001f680") and push.payload["body"].endswith("…")
    assert push.payload["body"].rstrip("…").replace("\U0001f469\u200d\U0001f680", "") == ""
    assert len(sizes) == 2, "short texts have one size"


def test_what_nobody_waits_for_is_not_pushed(server, service):
    ann, ben, here = pair(server)
    cleo = server.user()
    befriend(ann, cleo)
    phone = register(ben, service)
    everybody = group(ann, [ben, cleo], "Crew")
    member = f"/v1/conversations/{everybody}/members/me"
    # Muted, but for mentions.
    assert ben.request("PATCH", member, {"muted": {"until": None, "mentions": True}}).status_code == 200
    sent(ann, everybody, "chatter")
    mention = sent(ann, everybody, f"<@{ben.id}> come")
    push = service.wait(1, phone)[0]
    assert (push.payload["number"], push.payload["title"]) == (mention, "Crew")
    name = {one.id: one.get("/v1/me").json()["displayName"] for one in (ann, ben)}
    assert push.payload["body"] == f"{name[ann.id]}: @{name[ben.id]} come"
    # A unknown's request; what somebody blocked writes; a notice.
    unknown = server.user()
    sent(unknown, direct(unknown, ben), "hello, unknown")
    assert ben.request("PUT", f"/v1/blocks/{cleo.id}").status_code == 204
    sent(cleo, everybody, f"<@{ben.id}> blocked")
    assert ann.request("PATCH", f"/v1/conversations/{everybody}", {"name": "Crew 2"}).status_code == 200
    # Only then something that is.
    last = sent(ann, here, "the end")
    assert [one.payload["number"] for one in service.wait(2, phone)] == [mention, last]
    time.sleep(SILENCE)
    assert len(phone.pushes) == 2


def test_what_was_read_or_deleted_meanwhile_is_not_repeated(server, service):
    ann, ben, here = pair(server)
    phone = register(ben, service)
    phone.script = [FAILED]
    number = sent(ann, here, "read elsewhere")
    service.wait(1, phone)
    assert ben.post(f"/v1/conversations/{here}/marks", {"read": number}).status_code == 200
    phone.script = [FAILED]
    deleted = sent(ann, here, "a mistake")
    wait_until(lambda: len(phone.pushes) >= 2, "the second attempt")
    assert ann.request("DELETE", f"/v1/conversations/{here}/messages/{deleted}?for=all").status_code == 200
    last = sent(ann, here, "still true")
    wait_until(lambda: phone.payloads, "what is still true")
    assert [one["number"] for one in phone.payloads] == [last]


def test_a_device_that_is_there_confirms_and_one_that_is_not_is_notified(server, service):
    ann, ben, here = pair(server)
    phone = register(ben, service)

    async def run() -> None:
        async with listening(ben, f"inbox:{ben.id}") as end:
            first = sent(ann, here, "you are there")
            # The app marks what it has received, as apps do.
            await end.ask("conversations.mark", conversation=here, delivered=first)
            sent_at = time.monotonic()
            second = sent(ann, here, "are you?")
            # It says nothing now: its connection may be dead.
            await until("the push", lambda: bool(phone.pushes))
            assert time.monotonic() - sent_at >= 2.5
            assert phone.pushes[0].payload["number"] == second
            assert len(phone.pushes) == 1

    asyncio.run(run())


# Calls.


def test_a_phone_that_sleeps_rings_until_somebody_answers(server, service):
    ann = server.user()
    ben, other = on_devices(server, 2)
    phone, tablet = register(ben, service), register(other, service)
    name = ann.get("/v1/me").json()["displayName"]
    made = call(ann, [ben])
    for device in (phone, tablet):
        [ring] = service.wait(1, device)
        payload = dict(ring.payload)
        until_ms = payload.pop("expiresAt")
        assert payload == {
            "kind": "ring", "user": ben.id, "call": made, "video": False, "title": name, "body": "Incoming call",
        }
        assert 0 < until_ms - time.time() * 1000 <= 120_000
        assert ring.urgency == "high"
        assert 1 <= ring.seconds_to_live <= 120
    # Answered on the tablet: the phone stops, and the tablet knows it.
    response = other.post(f"/v1/calls/{made}/accept", {"clientID": client_id()})
    assert response.status_code == 200, response.text
    end = service.wait(2, phone)[1]
    assert (end.payload["kind"], end.payload["reason"], end.payload["call"]) == ("ringEnded", "answered", made)
    assert end.topic == service.wait(1, phone)[0].topic
    time.sleep(SILENCE)
    assert len(tablet.pushes) == 1


def test_a_call_that_nobody_answered_is_a_missed_one(server, service):
    ann, ben = server.users(2)
    phone = register(ben, service)
    made = call(ann, [ben])
    service.wait(1, phone)
    assert ann.post(f"/v1/calls/{made}/cancel", {}).status_code == 200
    missed = service.wait(2, phone)[1]
    assert (missed.payload["kind"], missed.payload["body"]) == ("missedCall", "Missed call")
    assert missed.urgency == "high", "it ends the ringing"
    # Who has blocked the caller is not rung, and the caller cannot tell.
    assert ben.request("PUT", f"/v1/blocks/{ann.id}").status_code == 204
    made = call(ann, [ben])
    ann.post(f"/v1/calls/{made}/cancel", {})
    time.sleep(SILENCE)
    assert len(phone.pushes) == 2


def participant(caller: User, made: str, user: User) -> dict[str, Any]:
    people = caller.get(f"/v1/calls/{made}").json()["call"]["participants"]
    [found] = [one for one in people if one["user"] == user.id]
    return found


def sign_out(user: User) -> None:
    for session in user.get("/v1/sessions").json()["sessions"]:
        assert user.request("DELETE", f"/v1/sessions/{session['id']}").status_code == 204


def test_whose_devices_sleep_has_a_time_of_the_push(server, service):
    ann, ben, cleo = server.users(3)
    register(ben, service)
    made = call(ann, [ben, cleo], mode="gateway")
    pushed = participant(ann, made, ben)
    assert pushed["state"] == "invited" and pushed["pushedAt"] < pushed["ringDeadline"]
    set_quiet_hours(ben, quiet_hours())
    assert "pushedAt" not in participant(ann, made, cleo)
    ann.post(f"/v1/calls/{made}/leave", {})
    # Who has blocked the caller, or has quiet hours, looks the same.
    assert ben.request("PUT", f"/v1/blocks/{ann.id}").status_code == 204
    made = call(ann, [ben])
    assert participant(ann, made, ben).keys() == pushed.keys()
    ann.post(f"/v1/calls/{made}/cancel", {})


def test_where_nothing_could_ring_the_call_ends_at_once(server, service):
    ann, ben, blocking = server.users(3)
    assert blocking.request("PUT", f"/v1/blocks/{ann.id}").status_code == 204
    for gone in (ben, blocking):
        sign_out(gone)
        made = call(ann, [gone])
        ended = ann.get(f"/v1/calls/{made}").json()["call"]
        assert (ended["status"], ended["endReason"]) == ("ended", "unreachable")
        assert participant(ann, made, gone)["state"] == "unreachable"
    # A back end that is told of rings may wake whom it knows, and one that is told of missed calls tells of them.
    hook = server.command("webhook", "add", "--event", "call.ringing,call.missed").split()[0]
    made = call(ann, [ben])
    assert participant(ann, made, ben)["state"] == "invited"
    ann.post(f"/v1/calls/{made}/cancel", {})
    server.command("webhook", "remove", hook)


def test_what_nothing_could_ring_is_missed_by_who_may_come_back(make_server):
    server = make_server({"limits": LIMITS} | webhook_receivers.ALLOWED)
    ann, ben = server.users(2)
    disabled = deletions.user(server, deletions.sign_up(server, "Disabled"))
    here = {user.id: direct(*befriend(ann, user)) for user in (ben, disabled)}
    sign_out(ben)
    server.command("account", "disable", "--email", deletions.credentials("Disabled")["email"])
    with webhook_receivers.receiving() as receiver:
        hook, _ = webhook_receivers.add(server, receiver.url, "call.missed")
        for user in (disabled, ben):
            body = {"clientID": client_id(), "conversation": here[user.id], "kind": "audio"}
            made = ann.post("/v1/calls", body).json()["call"]
            assert (made["status"], made["endReason"]) == ("ended", "unreachable")
        wait_until(lambda: receiver.received, "the event")
        assert [one.data["user"] for one in receiver.of("call.missed")] == [ben.id]
        server.command("webhook", "remove", hook)
    assert deletions.rows(server, "SELECT user_id FROM missed_calls") == [(ben.id,)]


def test_a_declined_call_ends_its_ring_elsewhere(server, service):
    ann = server.user()
    ben, other = on_devices(server, 2)
    phone = register(ben, service)
    made = call(ann, [ben])
    service.wait(1, phone)
    assert other.post(f"/v1/calls/{made}/decline", {}).status_code == 200
    end = service.wait(2, phone)[1]
    assert (end.payload["kind"], end.payload["reason"]) == ("ringEnded", "declined")


# Quiet hours.

KOLKATA = datetime.timezone(datetime.timedelta(hours=5, minutes=30))


def quiet_hours(**change: Any) -> dict[str, Any]:
    """From six hours before now to six hours after it."""
    now = datetime.datetime.now(KOLKATA)
    span = datetime.timedelta(hours=6)
    return {"from": f"{now - span:%H:%M}", "to": f"{now + span:%H:%M}", "zone": "Asia/Kolkata"} | change


def set_quiet_hours(user: User, hours: dict[str, Any] | None) -> None:
    response = user.request("PATCH", "/v1/me", {"quietHours": hours})
    assert response.status_code == 200, response.text
    assert response.json().get("quietHours") == user.get("/v1/me").json().get("quietHours") == hours


def test_messages_wait_for_the_end_of_quiet_hours(server, service):
    ann, ben, here = pair(server)
    cleo = befriend(server.user(), ann)[0]
    everybody = group(ann, [ben, cleo], "Crew")
    phone, other = register(ben, service), register(cleo, service)
    set_quiet_hours(ben, quiet_hours())
    read = sent(ann, here, "read meanwhile")
    sent(ann, everybody, "first")
    service.wait(1, other)
    last = sent(ann, everybody, "second")
    service.wait(2, other)
    assert ben.post(f"/v1/conversations/{here}/marks", {"read": read}).status_code == 200
    # Other hours, in which it is quiet, too.
    set_quiet_hours(ben, quiet_hours(to=quiet_hours()["from"]) | {"from": quiet_hours()["to"], "zone": "Etc/GMT+6"})
    set_quiet_hours(ben, quiet_hours())
    time.sleep(SILENCE)
    assert not phone.pushes
    set_quiet_hours(ben, None)
    [push] = service.wait(1, phone)
    assert (push.payload["number"], push.payload["body"], push.payload["badge"]) == (
        last, f"{ann.get('/v1/me').json()['displayName']}: second", 1,
    )
    later = sent(ann, here, "and now")
    assert service.wait(2, phone)[1].payload["number"] == later
    time.sleep(SILENCE)
    assert len(phone.pushes) == 2


def test_a_call_in_quiet_hours_rings_no_phone_that_sleeps(server, service):
    ann, ben = server.users(2)
    phone = register(ben, service)
    set_quiet_hours(ben, quiet_hours())

    async def run() -> str:
        # A device that is connected rings as ever, and so it does for the caller.
        async with listening(ben, f"user:{ben.id}") as end:
            made = call(ann, [ben])
            await end.until("the ring", lambda: made in end.ringing_calls())
            assert not phone.pushes
        return made

    made = asyncio.run(run())
    assert ann.post(f"/v1/calls/{made}/cancel", {}).status_code == 200
    time.sleep(SILENCE)
    assert not phone.pushes
    set_quiet_hours(ben, None)
    [missed] = service.wait(1, phone)
    assert (missed.payload["kind"], missed.payload["call"]) == ("missedCall", made)


def test_quiet_hours_outlive_the_process(make_server, service):
    server = make_server(CONTACT | {"limits": LIMITS})
    ann, ben, here = pair(server)
    phone, own = register(ben, service), register(ann, service)
    set_quiet_hours(ben, quiet_hours())
    number = sent(ann, here, "later")
    reply = sent(ben, here, "not asleep")
    assert service.wait(1, own)[0].payload["number"] == reply
    server.kill()
    server.start()
    second = sent(ann, here, "and more")
    reply = sent(ben, here, "still awake")
    wait_until(lambda: [one["number"] for one in own.payloads][-1:] == [reply], "the other's message")
    assert second > number and not phone.pushes
    set_quiet_hours(ben, None)
    wait_until(lambda: phone.pushes, "the last message")
    assert [one["number"] for one in phone.payloads] == [second]
    server.stop()


def test_quiet_hours_are_checked(server):
    user = server.user()
    good = {"from": "22:00", "to": "07:00", "zone": "Europe/Berlin"}
    set_quiet_hours(user, good)
    bad: list[tuple[Any, str]] = [
        (good | {"from": "24:00"}, "quietHours.from"), (good | {"from": "9:00"}, "quietHours.from"),
        (good | {"from": 1320}, "quietHours.from"), (good | {"to": "07:60"}, "quietHours.to"),
        (good | {"to": None}, "quietHours.to"), (good | {"to": "22:00"}, "quietHours.to"),
        (good | {"zone": "Mars/Olympus"}, "quietHours.zone"), (good | {"zone": "../etc/localtime"}, "quietHours.zone"),
        (good | {"zone": "GMT+5"}, "quietHours.zone"), (good | {"zone": "PST"}, "quietHours.zone"),
        (good | {"zone": "A" * 65}, "quietHours.zone"), (good | {"zone": ""}, "quietHours.zone"),
        ({"from": "22:00", "to": "07:00"}, "quietHours.zone"), ({}, "quietHours.from"), ("22:00-07:00", "quietHours"),
    ]
    for hours, field in bad:
        refused(user.request("PATCH", "/v1/me", {"quietHours": hours}), 400, "invalid_request", field)
    assert user.get("/v1/me").json()["quietHours"] == good
    # What is absent stays.
    assert user.request("PATCH", "/v1/me", {"notifications": "none"}).json()["quietHours"] == good
    both = {"notifications": None, "quietHours": None}
    assert not both.keys() & user.request("PATCH", "/v1/me", both).json().keys()
    assert not both.keys() & user.get("/v1/me").json().keys()


def test_other_devices_learn_of_quiet_hours(server):
    user = server.user()

    async def run() -> None:
        async with listening(user, stream := f"user:{user.id}") as end:
            def notified() -> list[Any]:
                changes = end.streams[stream].entries.values()
                return [data.get("quietHours") for kind, data in changes if kind == "profile"]

            hours = quiet_hours()
            set_quiet_hours(user, hours)
            set_quiet_hours(user, None)
            await end.until("the hours", lambda: notified() == [hours, None])

    asyncio.run(run())


# Registrations.


def test_a_web_site_gets_few_requests_for_a_message(server, service):
    ann = server.user()
    devices = on_devices(server, 10)
    ben = befriend(devices[0], ann)[0]
    phones = [register(device, service) for device in devices]
    assert len(registrations(ben)) == 8
    sent(ann, direct(ann, ben), "hello")
    for phone in phones[2:]:
        service.wait(1, phone)
    assert not phones[0].pushes and not phones[1].pushes


def test_registrations_are_checked(server, service):
    user = server.user()
    good = service.subscribe().registration()
    bad = [
        ({"kind": "carrier-pigeon"}, "kind"), ({"endpoint": None}, "endpoint"), ({"keys": None}, "keys"),
        ({"endpoint": "http://10.1.2.3/push"}, "endpoint"), ({"endpoint": "https://192.168.1.1/push"}, "endpoint"),
        ({"endpoint": "ftp://push.example.org/"}, "endpoint"), ({"endpoint": "https://u:p@example.org/"}, "endpoint"),
        ({"keys": good["keys"] | {"p256dh": "AAAA"}}, "keys.p256dh"),
        ({"keys": good["keys"] | {"p256dh": "B" + "A" * 86}}, "keys.p256dh"),
        ({"keys": good["keys"] | {"auth": "AAAA"}}, "keys.auth"),
        ({"device": str(uuid.uuid4())}, "device"),
    ]
    for change, field in bad:
        body = {name: value for name, value in (good | change).items() if value is not None}
        refused(user.request("PUT", PATH, body), 400, "invalid_request", field)
    for kind in ("fcm", "apns", "apnsVoIP"):
        problem = refused(user.request("PUT", PATH, {"kind": kind}), 403, "feature_disabled", "kind")
        assert problem["feature"] == f"push.{kind}"
    assert not registrations(user)
    assert user.request("PUT", PATH, good).status_code == 200
    assert user.request("PUT", PATH, good).status_code == 200
    [one] = registrations(user)
    assert set(one) == {"kind", "device", "createdAt", "updatedAt"}
    assert user.request("DELETE", "/v1/me/device/push?kind=web").status_code == 204
    assert user.request("DELETE", "/v1/me/device/push?kind=web").status_code == 204
    refused(user.request("DELETE", "/v1/me/device/push?kind=fax"), 400, "invalid_request", "kind")
    assert not registrations(user)


def test_a_registration_goes_with_the_session(server, service):
    ben, other = on_devices(server, 2)
    ann = befriend(server.user(), ben)[0]
    here = direct(ann, ben)
    phone, tablet = register(ben, service), register(other, service)
    assert len(registrations(ben)) == 2
    devices = [one["device"] for one in ben.get("/v1/sessions").json()["sessions"]]
    assert [one.get("push") for one in devices] == [["web"], ["web"]]
    assert other.request("DELETE", "/v1/sessions/current").status_code == 204
    assert len(registrations(ben)) == 1
    sent(ann, here, "who is told?")
    service.wait(1, phone)
    time.sleep(SILENCE)
    assert not tablet.pushes


def test_a_registration_is_its_users_alone(server, service):
    """Over REST and realtime: nobody else lists it, renews it or ends it."""
    ben, other, revoked = server.user(), server.user(), server.user()
    register(ben, service)
    own = registrations(ben)
    assert revoked.request("DELETE", "/v1/sessions/current").status_code == 204
    anonymous = User(server, ben.id, "nobody")
    for nobody in (anonymous, revoked):
        body = service.subscribe().registration()
        for method, path in (("PUT", PATH), ("DELETE", f"{PATH}?kind=web"), ("GET", "/v1/me/push")):
            assert nobody.request(method, path, body if method == "PUT" else None).status_code == 401, (method, path)
    assert other.request("DELETE", f"{PATH}?kind=web").status_code == 204
    [device] = [one["device"] for one in own]
    refused(other.request("DELETE", f"{PATH}?kind=web&device={device}"), 400, "invalid_request", "device")

    async def run() -> None:
        async with listening(other, f"inbox:{other.id}") as end:
            assert (await end.ask("push.list"))["registrations"] == []
            await end.ask("push.unregister", kind="web")
            with pytest.raises(RequestError):
                await end.ask("push.register", **service.subscribe().registration(device=device))

    asyncio.run(run())
    assert registrations(ben) == own


def test_two_accounts_of_one_browser(server, service):
    ann, ben, here = pair(server)
    cleo = befriend(server.user(), ann)[0]
    there = direct(ann, cleo)
    key = HTTP.get(f"{server.url}/v1/server").json()["push"]["web"]["publicKey"]
    browser = service.subscribe(key)
    for shared, count in ((False, 1), (True, 1), (True, 2)):
        for user in (ben, cleo):
            body = browser.registration(shared=shared and (user is cleo or count == 2))
            assert user.request("PUT", PATH, body).status_code == 200
        assert len(registrations(ben)) + len(registrations(cleo)) == count
    sent(ann, here, "for Ben")
    sent(ann, there, "for Cleo")
    assert {push.payload["user"] for push in service.wait(2, browser)} == {ben.id, cleo.id}


def test_a_subscription_that_is_gone_is_forgotten(server, service):
    ann, ben, here = pair(server)
    phone = register(ben, service)
    phone.response = GONE
    sent(ann, here, "hello?")
    wait_until(lambda: not registrations(ben), "the registration goes")
    assert len(phone.pushes) == 1


def test_what_fails_is_tried_again(server, service):
    ann, ben, here = pair(server)
    phone = register(ben, service)
    phone.script = [FAILED, too_many("1"), Response(503)]
    number = sent(ann, here, "eventually")
    wait_until(lambda: phone.payloads, "the push arrives")
    assert [one["number"] for one in phone.payloads] == [number]
    assert len(phone.pushes) == 4


def test_who_hangs_keeps_nobody_waiting(server, service):
    ann, ben, here = pair(server)
    phone = register(ben, service)
    with serving() as dead:
        for _ in range(30):
            other = befriend(server.user(), ann)[0]
            register(other, dead).response = HANG
            sent(ann, direct(ann, other), "anybody?")
        number = sent(ann, here, "you")
        assert service.wait(1, phone)[0].payload["number"] == number


# The outbox.


def test_nothing_is_lost_with_the_process(make_server, service):
    server = make_server(CONTACT | {"limits": LIMITS})
    ann, ben, here = pair(server)
    phone = register(ben, service)
    service.stop()
    numbers = [sent(ann, here, f"message {index}") for index in range(3)]
    server.kill()
    service.start()
    server.start()
    wait_until(lambda: any(one["number"] == numbers[-1] for one in phone.payloads), "the last message arrives", 180)
    server.stop()


def test_a_push_whose_outcome_nobody_saw_is_repeated(make_server, service):
    """The process dies after the push has arrived, and before that is stored."""
    server = make_server(CONTACT | {"limits": LIMITS})
    ann, ben, here = pair(server)
    phone, caller = register(ben, service), server.user()
    phone.script = [HANG]
    number = sent(ann, here, "once or twice")
    service.wait(1, phone)
    server.kill()
    server.start()
    first, second = service.wait(2, phone)
    assert first.payload == second.payload and second.payload["number"] == number
    # A ring, which was answered meanwhile: what may ring on the phone is ended.
    phone.script = [HANG]
    made = call(caller, [ben])
    service.wait(3, phone)
    server.kill()
    server.start()
    assert caller.post(f"/v1/calls/{made}/cancel", {}).status_code == 200
    wait_until(lambda: "missedCall" in [one["kind"] for one in phone.payloads], "the missed call")
    server.stop()


def test_secrets_are_in_no_log_and_no_list(make_server, service):
    server = make_server(CONTACT | {"limits": LIMITS, "log": {"level": "debug"}})
    ann, ben, here = pair(server)
    phone = register(ben, service)
    phone.script = [FAILED]
    sent(ann, here, "hush")
    wait_until(lambda: phone.payloads, "the push arrives")
    token = phone.endpoint.rsplit("/", 1)[1]
    texts = [
        server.log.read_text(), ben.get("/v1/me/push").text, ben.get("/v1/sessions").text,
        HTTP.get(f"{server.admin_url}/metrics").text,
    ]
    for secret in (token, phone.keys["auth"], phone.keys["p256dh"]):
        assert not any(secret in text for text in texts)
    assert token.encode() not in (server.data / "switchboard.sqlite").read_bytes()
    server.stop()
