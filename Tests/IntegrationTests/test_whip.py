"""WHIP (RFC 9725) and WHEP: media in and out of a call for programs that know nothing of calls, with aiortc as both."""

from __future__ import annotations

import asyncio
import uuid

import httpx
import pytest
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.rtcconfiguration import RTCBundlePolicy
from gateway import Gray, Heard, Tone
from test_legs import refused
from test_metrics import value

SDP = "application/sdp"
FRAGMENT = "application/trickle-ice-sdpfrag"


class Door:
    """A client of WHIP or WHEP: a token, an address, and a PeerConnection."""

    def __init__(self, person, call: str, kind: str):
        self.person, self.kind = person, kind
        self.address = f"{person.server.url}/v1/calls/{call}/{kind}"
        self.http = httpx.AsyncClient(headers={"Authorization": f"Bearer {person.token}"}, timeout=20)
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[], bundlePolicy=RTCBundlePolicy.MAX_BUNDLE))
        self.heard: dict[str, Heard] = {}
        self.listeners: list[asyncio.Task] = []
        self.connection.on("track", self.track_came)
        self.session = self.tag = ""

    def track_came(self, track) -> None:
        heard = self.heard[track.kind] = Heard()

        async def listen():
            while True:
                heard.latest = await track.recv()
                heard.frames += 1

        self.listeners.append(asyncio.ensure_future(listen()))

    async def offer(self) -> str:
        if self.kind == "whip":
            self.connection.addTransceiver(Tone(700), "sendonly")
            self.connection.addTransceiver(Gray(140), "sendonly")
        else:
            self.connection.addTransceiver("audio", "recvonly")
            self.connection.addTransceiver("video", "recvonly")
        await self.connection.setLocalDescription(await self.connection.createOffer())
        return self.connection.localDescription.sdp

    async def open(self) -> httpx.Response:
        answer = await self.http.post(self.address, content=await self.offer(), headers={"Content-Type": SDP})
        assert answer.status_code == 201, answer.text
        assert answer.headers["Content-Type"] == SDP
        assert answer.headers["Accept-Patch"] == FRAGMENT
        self.session = str(httpx.URL(self.address).join(answer.headers["Location"]))
        self.tag = answer.headers["ETag"]
        await self.connection.setRemoteDescription(RTCSessionDescription(answer.text, "answer"))
        return answer

    async def patch(self, match: str | None, fragment: str = "a=ice-ufrag:abcd\r\na=ice-pwd:" + "p" * 24 + "\r\n"):
        headers = {"Content-Type": FRAGMENT} | ({"If-Match": match} if match else {})
        return await self.http.patch(self.session, content=fragment, headers=headers)

    async def end(self) -> httpx.Response:
        return await self.http.delete(self.session)

    async def __aenter__(self) -> Door:
        return self

    async def __aexit__(self, *_) -> None:
        for listener in self.listeners:
            listener.cancel()
        await self.connection.close()
        await self.http.aclose()


def group(caller, others, mode: str = "gateway") -> str:
    body = {"clientID": str(uuid.uuid4()), "callees": [other.id for other in others], "kind": "video", "mode": mode}
    answer = caller.post("/v1/calls", body)
    assert answer.status_code == 201, answer.text
    return answer.json()["call"]["id"]


def part(call: str, viewer, person) -> dict:
    document = viewer.get(f"/v1/calls/{call}").json()["call"]
    return next(participant for participant in document["participants"] if participant["user"] == person.id)


async def until(what: str, condition) -> None:
    for _ in range(600):
        if condition():
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"waited in vain for {what}")


@pytest.fixture
def people(server):
    return server.users(4)


def test_publish_by_whip_and_play_by_whep(people):
    anna, ben, cleo, _ = people
    call = group(anna, [ben, cleo])

    async def run():
        async with Door(ben, call, "whip") as publisher, Door(cleo, call, "whep") as player:
            made = await publisher.open()
            links = made.headers.get_list("Link")
            assert any('rel="ice-server"' in link and "<stun:" in link for link in links), links
            assert any("credential-type" in link and "<turn:" in link for link in links), links
            assert all(f":call={call}@" in link for link in links if "<turn:" in link), links
            await player.open()
            assert part(call, anna, ben)["state"] == part(call, anna, cleo)["state"] == "joined"

            def plays() -> bool:
                audio, video = player.heard.get("audio"), player.heard.get("video")
                return bool(
                    audio and video and audio.frames > 5 and video.frames > 2 and abs(audio.pitch - 700) < 15
                    and abs(video.brightness - 140) < 12
                )

            await until("Ben's tone and picture", plays)
            await until("reports of both", lambda: part(call, anna, ben)["connected"] and part(call, anna, cleo)["connected"])
            assert "detachedAt" not in part(call, anna, ben)
            assert (await publisher.end()).status_code == 200
            assert part(call, anna, ben)["state"] == "left"
            assert part(call, anna, cleo)["state"] == "joined"
            assert (await publisher.end()).status_code == 404
            # The player only goes away; its leg ends with it.
            await player.connection.close()
            await until("Cleo's leaving", lambda: part(call, anna, cleo)["state"] == "left")

    asyncio.run(run())


def test_both_doors_of_one_user_are_one_part_in_the_call(people):
    anna, ben, cleo, _ = people
    call = group(anna, [ben, cleo])

    async def run():
        async with (
            Door(ben, call, "whip") as publisher, Door(ben, call, "whep") as player, Door(ben, call, "whip") as again
        ):
            await publisher.open()
            first = part(call, anna, ben)["endpoint"]
            await player.open()
            assert part(call, anna, ben)["endpoint"] == first
            # An encoder that lost its way begins again.
            await again.open()
            assert (await publisher.end()).status_code == 404
            assert part(call, anna, ben)["endpoint"] == again.session.rsplit("/", 1)[1]
            assert (await again.end()).status_code == 200
            assert part(call, anna, ben)["state"] == "joined", "The player goes on."
            assert (await player.end()).status_code == 200
            assert part(call, anna, ben)["state"] == "left"

    asyncio.run(run())


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_a_restart_forgets_sessions_and_keeps_their_parts_for_a_while(make_server, end):
    server = make_server({"calls": {"leaseSeconds": 6}})
    anna, ben, cleo = server.users(3)
    call = group(anna, [ben, cleo])

    async def run():
        async with (
            Door(ben, call, "whip") as publisher, Door(cleo, call, "whep") as gone, Door(ben, call, "whip") as again
        ):
            await publisher.open()
            await gone.open()
            for person in (ben, cleo):
                await until("media", lambda: part(call, anna, person)["connected"])
            getattr(server, end)()
            server.start()
            for door in (publisher, gone):
                refused(await door.end(), 404, "not_found")
                refused(await door.patch(door.tag), 404, "not_found")
                refused(await door.patch("*"), 404, "not_found")
                assert part(call, anna, door.person)["state"] == "joined", "It may come back."
            await again.open()
            assert part(call, anna, ben)["endpoint"] == again.session.rsplit("/", 1)[1]
            await until("Cleo's lapsing", lambda: part(call, anna, cleo)["state"] == "left")
            assert part(call, anna, cleo)["reason"] == "connection_lost"
            # By now Ben's old part would have lapsed too.
            await until("Ben's media", lambda: part(call, anna, ben)["connected"])
            assert part(call, anna, ben)["state"] == "joined"
            assert "detachedAt" not in part(call, anna, ben)
            assert (await again.end()).status_code == 200
            assert part(call, anna, ben)["state"] == "left"

    asyncio.run(run())


def test_a_door_beside_a_client(people):
    anna, ben, cleo, _ = people
    call = group(anna, [ben, cleo])

    async def run():
        async with Door(anna, call, "whip") as publisher:
            await publisher.open()
            assert part(call, anna, anna)["endpoint"] == anna.endpoint, "She is in it with her client."
            assert (await publisher.end()).status_code == 200
            assert part(call, anna, anna)["state"] == "joined"
        async with Door(anna, call, "whip") as publisher:
            await publisher.open()
            anna.post(f"/v1/calls/{call}/end")
            assert (await publisher.patch(publisher.tag)).status_code == 404, "It ended with her part."

    asyncio.run(run())


def test_of_parallel_sessions_one_of_each_kind_stays(make_server):
    """A user has one session of WHIP and one of WHEP in a call, however many are asked for at the same moment."""
    server = make_server({"limits": {"signalsPerMinute": 10_000}})
    anna, ben = server.users(2)
    call = group(anna, [ben])

    async def run():
        async with Door(ben, call, "whip") as publisher, Door(ben, call, "whep") as player:
            offers = {door.kind: await door.offer() for door in (publisher, player)}

            async def open_one(kind: str) -> httpx.Response:
                async with httpx.AsyncClient(headers={"Authorization": f"Bearer {ben.token}"}, timeout=60) as http:
                    address = f"{server.url}/v1/calls/{call}/{kind}"
                    return await http.post(address, content=offers[kind], headers={"Content-Type": SDP})

            answers = await asyncio.gather(*(open_one(kind) for kind in ("whip", "whep") * 20))
            assert {answer.status_code for answer in answers} <= {201, 404, 409}, [answer.text for answer in answers]
            made = [httpx.URL(server.url).join(answer.headers["Location"]) for answer in answers if answer.status_code == 201]
            await until("one leg of each", lambda: value(server, "gateway_legs") == 2)
            assert part(call, anna, ben)["state"] == "joined"
            assert part(call, anna, ben)["endpoint"] in {str(address).rpartition("/")[2] for address in made}
            ends = [httpx.delete(address, headers={"Authorization": f"Bearer {ben.token}"}) for address in made]
            assert sorted(end.status_code for end in ends) == [200, 200] + [404] * (len(made) - 2)
            assert part(call, anna, ben)["state"] == "left"
            await until("no leg", lambda: value(server, "gateway_legs") == 0)

    asyncio.run(run())
    server.stop()


def test_ice_restarts_and_candidates(people):
    anna, ben, cleo, eve = people
    call = group(anna, [ben, cleo])

    async def run():
        async with Door(ben, call, "whip") as door:
            await door.open()
            refused(await door.patch(None), 428, "precondition_required", "If-Match")
            refused(await door.patch('"another"'), 412, "precondition_failed", "If-Match")
            assert (await door.patch(door.tag)).status_code == 204
            refused(await door.patch(door.tag, "no fragment"), 400, "invalid_request", "body")
            refused(await door.patch("*", "a=end-of-candidates\r\n"), 400, "invalid_request", "body")
            restarted = await door.patch("*")
            assert restarted.status_code == 200, restarted.text
            assert restarted.headers["Content-Type"] == FRAGMENT
            assert restarted.headers["ETag"] != door.tag
            assert "a=ice-ufrag:" in restarted.text and "a=ice-pwd:" in restarted.text and "a=candidate:" in restarted.text
            refused(await door.patch(door.tag), 412, "precondition_failed", "If-Match")
            assert (await door.patch(restarted.headers["ETag"])).status_code == 204
            for person in (anna, eve):
                headers = {"Authorization": f"Bearer {person.token}"}
                refused(httpx.delete(door.session, headers=headers), 404, "not_found")

    asyncio.run(run())


def test_what_doors_refuse(server, people):
    anna, ben, cleo, eve = people
    call = group(anna, [ben, cleo])
    direct = group(eve, [anna], "direct")

    def post(person, call=call, door="whip", body="v=0\r\n", type=SDP):
        headers = {"Authorization": f"Bearer {person.token}"} | ({"Content-Type": type} if type else {})
        return httpx.post(f"{server.url}/v1/calls/{call}/{door}", content=body, headers=headers)

    refused(httpx.post(f"{server.url}/v1/calls/{call}/whip", content="v=0"), 401, "unauthenticated", "Authorization")
    for door in ("whip", "whep"):
        refused(post(eve, door=door), 404, "not_found")
        refused(post(ben, door=door, type="application/json"), 415, "unsupported_media_type", "Content-Type")
        refused(post(ben, door=door, type=None), 415, "unsupported_media_type", "Content-Type")
        refused(post(ben, door=door), 400, "invalid_request", "body")
        refused(post(eve, direct, door), 409, "conflict")
        address = f"{server.url}/v1/calls/{call}/{door}"
        for method in ("GET", "HEAD", "PUT"):
            assert httpx.request(method, address, headers={"Authorization": f"Bearer {ben.token}"}).status_code == 405
        assert httpx.options(address).headers["Accept-Post"] == SDP
        gone = f"{address}/{uuid.uuid4()}"
        refused(httpx.delete(gone, headers={"Authorization": f"Bearer {ben.token}"}), 404, "not_found")
    assert part(call, anna, ben)["state"] in ("invited", "ringing"), "Nobody joins with an offer that was refused."
    document = httpx.get(server.url + "/openapi.json").json()
    assert document["paths"]["/v1/calls/{call}/whip"]["post"]["operationId"] == "whip.open"
    assert set(document["paths"]["/v1/calls/{call}/whep/{leg}"]) == {"patch", "delete"}
