"""WHIP (RFC 9725) and WHEP: publishing to and playing from a call with standard clients; aiortc is both."""

from __future__ import annotations

import asyncio
import uuid

import httpx
import pytest
from switchboard_tests.calls import create_group_call, participant
from switchboard_tests.metrics import value
from switchboard_tests.server import HTTP, refused
from switchboard_tests.waiting import TIMEOUT, until
from switchboard_tests.whip import FRAGMENT, SDP, WHIPSession, ffmpeg


@pytest.fixture
def people(server):
    return server.users(4)


def test_publish_by_whip_and_play_by_whep(people):
    anna, ben, cleo, _ = people
    call = create_group_call(anna, [ben, cleo])

    async def run():
        async with WHIPSession(ben, call, "whip") as publisher, WHIPSession(cleo, call, "whep") as player:
            made = await publisher.open()
            links = made.headers.get_list("Link")
            assert any('rel="ice-server"' in link and "<stun:" in link for link in links), links
            assert any("credential-type" in link and "<turn:" in link for link in links), links
            assert all(f":call={call}@" in link for link in links if "<turn:" in link), links
            await player.open()
            assert participant(call, anna, ben)["state"] == participant(call, anna, cleo)["state"] == "joined"

            await until("Ben's tone and picture", player.plays)
            await until(
                "reports of both",
                lambda: participant(call, anna, ben)["connected"] and participant(call, anna, cleo)["connected"],
            )
            assert "detachedAt" not in participant(call, anna, ben)
            assert (await publisher.end()).status_code == 200
            assert participant(call, anna, ben)["state"] == "left"
            assert participant(call, anna, cleo)["state"] == "joined"
            assert (await publisher.end()).status_code == 404
            # The player closes its connection without a DELETE; its leg ends.
            await player.connection.close()
            await until("Cleo's leaving", lambda: participant(call, anna, cleo)["state"] == "left")

    asyncio.run(run())


def test_ffmpeg_publishes(people, tmp_path):
    anna, ben, cleo, _ = people
    call = create_group_call(anna, [ben, cleo])

    async def run():
        with ffmpeg(ben, call, tmp_path, profile="baseline", bf="0") as goes_on:
            async with WHIPSession(cleo, call, "whep") as player:
                await until("FFmpeg's media", lambda: goes_on() and participant(call, anna, ben).get("connected"))
                await player.open()
                await until("FFmpeg's tone and picture", lambda: goes_on() and player.plays())

    asyncio.run(run())


def test_both_sessions_of_a_user_are_one_participant(people):
    anna, ben, cleo, _ = people
    call = create_group_call(anna, [ben, cleo])

    async def run():
        async with (
            WHIPSession(ben, call, "whip") as publisher,
            WHIPSession(ben, call, "whep") as player,
            WHIPSession(ben, call, "whip") as again,
        ):
            await publisher.open()
            first = participant(call, anna, ben)["endpoint"]
            await player.open()
            assert participant(call, anna, ben)["endpoint"] == first
            # An encoder that lost its connection starts a new session.
            await again.open()
            assert (await publisher.end()).status_code == 404
            assert participant(call, anna, ben)["endpoint"] == again.session_url.rsplit("/", 1)[1]
            assert (await again.end()).status_code == 200
            assert participant(call, anna, ben)["state"] == "joined", "The player goes on."
            assert (await player.end()).status_code == 200
            assert participant(call, anna, ben)["state"] == "left"

    asyncio.run(run())


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_a_restart_drops_sessions_and_keeps_their_participants_for_a_while(make_server, end):
    server = make_server({"calls": {"leaseSeconds": 6}})
    anna, ben, cleo = server.users(3)
    call = create_group_call(anna, [ben, cleo])

    async def run():
        async with (
            WHIPSession(ben, call, "whip") as publisher,
            WHIPSession(cleo, call, "whep") as gone,
            WHIPSession(ben, call, "whip") as again,
        ):
            await publisher.open()
            await gone.open()
            for person in (ben, cleo):
                await until("media", lambda: participant(call, anna, person)["connected"])
            getattr(server, end)()
            server.start()
            for session in (publisher, gone):
                refused(await session.end(), 404, "not_found")
                refused(await session.patch(session.tag), 404, "not_found")
                refused(await session.patch("*"), 404, "not_found")
                assert participant(call, anna, session.person)["state"] == "joined", "It may come back."
            await again.open()
            assert participant(call, anna, ben)["endpoint"] == again.session_url.rsplit("/", 1)[1]
            await until("Cleo's lapsing", lambda: participant(call, anna, cleo)["state"] == "left")
            assert participant(call, anna, cleo)["reason"] == "connection_lost"
            # By now Ben's old participation would have expired too.
            await until("Ben's media", lambda: participant(call, anna, ben)["connected"])
            assert participant(call, anna, ben)["state"] == "joined"
            assert "detachedAt" not in participant(call, anna, ben)
            assert (await again.end()).status_code == 200
            assert participant(call, anna, ben)["state"] == "left"

    asyncio.run(run())


def test_a_session_beside_a_client(people):
    anna, ben, cleo, _ = people
    call = create_group_call(anna, [ben, cleo])

    async def run():
        async with WHIPSession(anna, call, "whip") as publisher:
            await publisher.open()
            assert participant(call, anna, anna)["endpoint"] == anna.endpoint, "She is in it with her client."
            assert (await publisher.end()).status_code == 200
            assert participant(call, anna, anna)["state"] == "joined"
        async with WHIPSession(anna, call, "whip") as publisher:
            await publisher.open()
            anna.post(f"/v1/calls/{call}/end")
            assert (await publisher.patch(publisher.tag)).status_code == 404, "It ended with her part."

    asyncio.run(run())


def test_of_parallel_sessions_one_of_each_kind_remains(make_server):
    """A user has one session of WHIP and one of WHEP in a call, however many are asked for at the same moment."""
    server = make_server({"limits": {"signalsPerMinute": 10_000}})
    anna, ben = server.users(2)
    call = create_group_call(anna, [ben])

    async def run():
        async with WHIPSession(ben, call, "whip") as publisher, WHIPSession(ben, call, "whep") as player:
            offers = {session.kind: await session.offer() for session in (publisher, player)}

            async def open_one(kind: str) -> httpx.Response:
                async with httpx.AsyncClient(headers={"Authorization": f"Bearer {ben.token}"}, timeout=TIMEOUT) as http:
                    address = f"{server.url}/v1/calls/{call}/{kind}"
                    return await http.post(address, content=offers[kind], headers={"Content-Type": SDP})

            responses = await asyncio.gather(*(open_one(kind) for kind in ("whip", "whep") * 20))
            assert {response.status_code for response in responses} <= {201, 404, 409}, [
                response.text for response in responses
            ]
            made = [
                httpx.URL(server.url).join(response.headers["Location"])
                for response in responses
                if response.status_code == 201
            ]
            await until("one leg of each", lambda: value(server, "gateway_legs") == 2)
            assert participant(call, anna, ben)["state"] == "joined"
            assert participant(call, anna, ben)["endpoint"] in {str(address).rpartition("/")[2] for address in made}
            ends = [HTTP.delete(address, headers={"Authorization": f"Bearer {ben.token}"}) for address in made]
            assert sorted(end.status_code for end in ends) == [200, 200] + [404] * (len(made) - 2)
            assert participant(call, anna, ben)["state"] == "left"
            await until("no leg", lambda: value(server, "gateway_legs") == 0)

    asyncio.run(run())
    server.stop()


def test_ice_restarts_and_candidates(people):
    anna, ben, cleo, eve = people
    call = create_group_call(anna, [ben, cleo])

    async def run():
        async with WHIPSession(ben, call, "whip") as session:
            await session.open()
            refused(await session.patch(None), 428, "precondition_required", "If-Match")
            refused(await session.patch('"another"'), 412, "precondition_failed", "If-Match")
            for match in (session.tag, "*"):
                trickled = await session.patch(match, session.own_fragment)
                assert trickled.status_code == 204 and "ETag" not in trickled.headers
            assert (await session.patch(session.tag, "a=end-of-candidates\r\n")).status_code == 204
            assert participant(call, anna, ben)["state"] == "joined"
            refused(await session.patch(session.tag, "no fragment"), 400, "invalid_request", "body")
            refused(await session.patch("*", "a=end-of-candidates\r\n"), 400, "invalid_request", "body")
            restarted = await session.patch("*")
            assert restarted.status_code == 200, restarted.text
            assert restarted.headers["Content-Type"] == FRAGMENT
            assert restarted.headers["ETag"] != session.tag
            assert (
                "a=ice-ufrag:" in restarted.text and "a=ice-pwd:" in restarted.text and "a=candidate:" in restarted.text
            )
            refused(await session.patch(session.tag), 412, "precondition_failed", "If-Match")
            # The credentials are those of the restart now; others begin another one, whatever the header.
            assert (await session.patch(restarted.headers["ETag"])).status_code == 204
            again = await session.patch(restarted.headers["ETag"], session.own_fragment)
            assert again.status_code == 200 and again.headers["ETag"] != restarted.headers["ETag"]
            for person in (anna, eve):
                headers = {"Authorization": f"Bearer {person.token}"}
                refused(HTTP.delete(session.session_url, headers=headers), 404, "not_found")

    asyncio.run(run())


def encoder_offer(profile: str) -> str:
    """An offer of Opus and H.264 with this profile-level-id, as an encoder makes it."""
    fingerprint = ":".join(["01"] * 32)
    lines = ["v=0", "o=- 1 1 IN IP4 0.0.0.0", "s=-", "t=0 0", "a=group:BUNDLE 0 1"]
    for mid, (kind, number, codec) in enumerate((("audio", 111, "opus/48000/2"), ("video", 106, "H264/90000"))):
        lines += [
            f"m={kind} 9 UDP/TLS/RTP/SAVPF {number}", "c=IN IP4 0.0.0.0", f"a=mid:{mid}", "a=sendonly", "a=rtcp-mux",
            "a=ice-ufrag:abcd", "a=ice-pwd:" + "p" * 24, "a=setup:actpass", f"a=fingerprint:sha-256 {fingerprint}",
            f"a=rtpmap:{number} {codec}",
        ]
    lines.append(f"a=fmtp:106 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id={profile}")
    lines[15:15] = ["a=fmtp:111 stereo=1;sprop-stereo=1"]
    return "\r\n".join(lines) + "\r\n"


def test_codecs_of_encoders(server, people):
    anna, ben, _, _ = people
    call = create_group_call(anna, [ben])
    headers = {"Authorization": f"Bearer {ben.token}", "Content-Type": SDP}

    def post(profile):
        return HTTP.post(f"{server.url}/v1/calls/{call}/whip", content=encoder_offer(profile), headers=headers)

    for profile in ("4d000d", "64000d"):
        problem = refused(post(profile), 422, "codecs_not_supported", "body")
        assert "section 2 (mid 1)" in problem["detail"] and profile in problem["detail"], problem
        assert "H264 (profile=baseline)" in problem["detail"], problem
    assert participant(call, anna, ben)["state"] in ("invited", "ringing"), "Nobody joins without a picture."
    # What FFmpeg writes for its profile baseline.
    made = post("42000d")
    assert made.status_code == 201, made.text
    assert "m=video 0" not in made.text and "profile-level-id=42000d" in made.text
    opus = next(line for line in made.text.splitlines() if line.startswith("a=fmtp:111 "))
    assert "stereo=1" in opus and "usedtx" not in opus
    end = str(httpx.URL(server.url).join(made.headers["Location"]))
    assert HTTP.delete(end, headers={"Authorization": f"Bearer {ben.token}"}).status_code == 200


def test_rejected_requests(server, people):
    anna, ben, cleo, eve = people
    call = create_group_call(anna, [ben, cleo])
    direct = create_group_call(eve, [anna], "direct")

    def post(person, call=call, kind="whip", body="v=0\r\n", type=SDP):
        headers = {"Authorization": f"Bearer {person.token}"} | ({"Content-Type": type} if type else {})
        return HTTP.post(f"{server.url}/v1/calls/{call}/{kind}", content=body, headers=headers)

    refused(HTTP.post(f"{server.url}/v1/calls/{call}/whip", content="v=0"), 401, "unauthenticated", "Authorization")
    for kind in ("whip", "whep"):
        refused(post(eve, kind=kind), 404, "not_found")
        refused(post(ben, kind=kind, type="application/json"), 415, "unsupported_media_type", "Content-Type")
        refused(post(ben, kind=kind, type=None), 415, "unsupported_media_type", "Content-Type")
        refused(post(ben, kind=kind), 400, "invalid_request", "body")
        refused(post(eve, direct, kind), 409, "conflict")
        address = f"{server.url}/v1/calls/{call}/{kind}"
        for method in ("GET", "HEAD", "PUT"):
            assert HTTP.request(method, address, headers={"Authorization": f"Bearer {ben.token}"}).status_code == 405
        assert httpx.options(address).headers["Accept-Post"] == SDP
        gone = f"{address}/{uuid.uuid4()}"
        refused(HTTP.delete(gone, headers={"Authorization": f"Bearer {ben.token}"}), 404, "not_found")
    assert participant(call, anna, ben)["state"] in ("invited", "ringing"), (
        "Nobody joins with an offer that was refused."
    )
    document = HTTP.get(server.url + "/openapi.json").json()
    assert document["paths"]["/v1/calls/{call}/whip"]["post"]["operationId"] == "whip.open"
    assert set(document["paths"]["/v1/calls/{call}/whep/{leg}"]) == {"patch", "delete"}
