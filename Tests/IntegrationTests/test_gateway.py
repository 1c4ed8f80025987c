"""Calls over the media gateway, with aiortc's own ICE, DTLS, SRTP and codecs on the other side."""

from __future__ import annotations

import asyncio

import pytest
from switchboard_tests.gateway import Participant, group


@pytest.fixture(scope="module", params=["AEAD-AES-128-GCM", "AEAD-AES-256-GCM", "AES128-CM-SHA1-80"])
def profile_server(make_server, request):
    server = make_server({"gateway": {"srtpProfiles": [request.param]}})
    yield server
    server.stop()


async def meet(everybody: list[Participant], video: bool = True) -> None:
    """Everybody makes a leg and receives audio and video of everybody else."""
    for one in everybody:
        await one.join(slots=len(everybody) - 1, video=video)
    for one in everybody:
        for other in everybody:
            if one is not other:
                await one.receives_audio(other)
                if video:
                    await one.receives_video(other)


def test_two_receive_each_other(profile_server):
    async def run():
        async with group(profile_server, 2) as everybody:
            await meet(everybody)

    asyncio.run(run())


def test_three_and_one_leaves_and_comes_back(server):
    async def run():
        async with group(server, 3, "audio") as everybody:
            ann, ben, cal = everybody
            await meet(everybody, video=False)
            await cal.hang_up_media()
            await cal.endpoint.ask("calls.leave", call=cal.call)
            await ann.until("the slot of who left to be empty", lambda: ann.slot_of(cal, "audio") is None)
            await ann.receives_audio(ben)
            await cal.accept(ann.call)
            await cal.join(slots=2, video=False)
            for one, other in [(ann, cal), (ben, cal), (cal, ann), (cal, ben)]:
                await one.receives_audio(other)

    asyncio.run(run())


def test_a_client_that_closes_its_connection_is_notified_that_its_leg_ended(server):
    async def run():
        async with group(server, 2, "audio") as everybody:
            ann, ben = everybody
            await meet(everybody, video=False)
            await ben.connection.close()
            await ben.endpoint.until(
                "the end of the leg",
                lambda: [
                    s for s in ben.endpoint.signals(ben.call) if s["kind"] == "legEnded" and s["reason"] == "closed"
                ],
            )
            await ann.until("an empty slot", lambda: ann.slot_of(ben, "audio") is None)
            # A new leg of the same endpoint replaces it.
            await ben.hang_up_media()
            await ben.join(slots=1, video=False)
            await ann.receives_audio(ben)
            await ben.receives_audio(ann)

    asyncio.run(run())


def test_a_publisher_gets_a_bandwidth_estimate(server):
    """aiortc has no transport-wide feedback: it uses REMB, and starts with 500 kbit/s without it."""

    async def run():
        async with group(server, 2) as (ann, ben):
            await ann.join()
            await ben.join()
            await ben.receives_video(ann)
            (sender,) = [
                one.sender for one in ann.connection.getTransceivers() if one.kind == "video" and one.sender.track
            ]
            # aiortc's public API does not have an encoder's target bit rate.
            rate = lambda: sender._RTCRtpSender__encoder.target_bitrate
            await ann.until("a bitrate of the gateway's", lambda: rate() >= 600_000)

    asyncio.run(run())
