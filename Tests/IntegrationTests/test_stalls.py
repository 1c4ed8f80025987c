"""A server that is suspended for a while: nothing could be received, so the silence must not count as a timeout. Calls,
legs, handshakes and sessions continue; rings, whose time is real time, end."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest
from switchboard_tests import legs
from switchboard_tests.endpoint import Endpoint, client_id
from switchboard_tests.metrics import value
from switchboard_tests.waiting import until

# More than a lease (30 s), consent and a handshake (30 s) and a silent session (45 s) last, and than media may take to
# flow between two (20 s).
STOPPED_SECONDS = 48


@pytest.fixture
def identity(tmp_path_factory) -> legs.Identity:
    return legs.Identity(tmp_path_factory.mktemp("identity"))


def call(caller, callee, mode: str, **more) -> str:
    body = {"clientID": client_id(), "callees": [callee.id], "kind": "audio", "mode": mode} | more
    response = caller.post("/v1/calls", body)
    assert response.status_code == 201, response.text
    return response.json()["call"]["id"]


def answered(caller, callee, mode: str) -> str:
    made = call(caller, callee, mode)
    assert callee.post(f"/v1/calls/{made}/accept", {"clientID": client_id()}).status_code == 200
    return made


def document(viewer, call: str) -> dict:
    return viewer.get(f"/v1/calls/{call}").json()["call"]


def ends_of_legs(server) -> float:
    total = 0.0
    for reason in ("connection_lost", "handshake_failed", "never_connected"):
        try:
            total += value(server, "gateway_legs_ended_total", reason=reason)
        except AssertionError:
            continue  # None has ended so.
    return total


async def shake_hands(leg: legs.Leg, identity: legs.Identity) -> None:
    def run() -> None:
        proxy = legs.DatagramProxy(leg)
        with legs.openssl(identity, proxy.port):
            proxy.close()

    await asyncio.to_thread(run)


def test_calls_go_on_after_a_stall(make_server, identity):
    server = make_server()
    people = server.users(8)
    anna, ben, cleo, dora, eve, finn, gus, hana = people

    async def run():
        sessions = [Endpoint(server.realtime_url, person.id, person.token) for person in (anna, ben, cleo, dora)]
        for session, person in zip(sessions, people):
            session.id, session.secret = person.endpoint, person.secret
            await session.open()
        # Anna's leg has its media, Ben's is in the middle of its handshake.
        gateway = answered(anna, ben, "gateway")
        made = [legs.Leg(person, gateway, identity, ssrc) for person, ssrc in ((anna, 11), (ben, 22))]
        for leg in made:
            leg.check()
        await shake_hands(made[0], identity)
        await until("Anna's leg", lambda: value(server, "gateway_connected_legs") == 1)
        direct = answered(cleo, dora, "direct")
        for person in (cleo, dora):
            assert person.post(f"/v1/calls/{direct}/connected").status_code == 200
        # Nobody has a session in these two: media does not flow in one, and one rings.
        silent = answered(eve, finn, "direct")
        ringing = call(gus, hana, "direct", ringSeconds=30)

        os.kill(server.pid, signal.SIGSTOP)
        await asyncio.sleep(STOPPED_SECONDS)
        os.kill(server.pid, signal.SIGCONT)

        await until("the end of the ring", lambda: document(gus, ringing)["status"] == "ended")
        assert document(gus, ringing)["endReason"] == "missed"
        assert document(eve, silent)["status"] == "active", "Media may still begin to flow."
        for leg in made:
            leg.check()
        await shake_hands(made[1], identity)
        await until("Ben's leg", lambda: value(server, "gateway_connected_legs") == 2)
        # Timeouts apply again to silent clients.
        await until("the end of the call without media", lambda: document(eve, silent)["status"] == "ended")
        assert document(eve, silent)["endReason"] == "setup_timeout"
        for viewer, going in ((anna, gateway), (cleo, direct)):
            found = document(viewer, going)
            assert found["status"] == "active", found
            assert [one["state"] for one in found["participants"]] == ["joined", "joined"]
            assert not any("detachedAt" in one for one in found["participants"]), found
        assert ends_of_legs(server) == 0 and value(server, "gateway_connected_legs") == 2
        for session in sessions:
            assert session.bye is None and session.connected.is_set()
            assert "calls" in await session.ask("calls.list")
            await session.close()
        for leg in made:
            leg.socket.close()

    asyncio.run(run())
    server.stop()
