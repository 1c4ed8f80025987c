"""GStreamer's webrtcbin in a call over the media gateway: it supports AES128-CM-SHA1-80 only."""

from __future__ import annotations

import asyncio
import json
import pathlib
import subprocess

import pytest
from switchboard_tests.calls import create_group_call, participant
from switchboard_tests.gateway import group
from switchboard_tests.waiting import until
from switchboard_tests.whip import SDP, WHIPSession

LEG = pathlib.Path(__file__).with_name("gstreamer_leg.py")
PYTHON = "/usr/bin/python3"


@pytest.fixture(scope="module")
def webrtcbin():
    check = "import gi; gi.require_version('GstWebRTC', '1.0'); from gi.repository import GstWebRTC"
    if subprocess.run([PYTHON, "-c", check], capture_output=True).returncode != 0:
        pytest.skip("webrtcbin is not installed (Scripts/setup --tests)")


async def start(*arguments) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        PYTHON, str(LEG), *arguments, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 20
    )


def test_webrtcbin_publishes_by_whip_and_aiortc_plays_by_whep(server, webrtcbin):
    """Debian's own WHIP client of GStreamer does not start (it loads libsoup 2 and 3), so the test makes the HTTP
    requests."""
    anna, ben, cleo = server.users(3)
    call = create_group_call(anna, [ben, cleo])

    async def run():
        async with WHIPSession(ben, call, "whip") as publisher, WHIPSession(cleo, call, "whep") as player:
            process = await start("publish")
            try:
                await player.open()
                offer = json.loads(await asyncio.wait_for(process.stdout.readline(), 40))
                response = await publisher.http.post(
                    publisher.address, content=offer["sdp"], headers={"Content-Type": SDP}
                )
                assert response.status_code == 201, response.text
                publisher.session_url = str(response.url.join(response.headers["Location"]))
                process.stdin.write(json.dumps({"sdp": response.text}).encode() + b"\n")

                def plays() -> bool:
                    audio, video = player.received.get("audio"), player.received.get("video")
                    return bool(
                        audio and video and audio.frames > 5 and video.frames > 2 and abs(audio.pitch - 440) < 15
                        and video.brightness > 220
                    )

                await until("GStreamer's tone and picture", plays)
                assert participant(call, anna, ben)["state"] == "joined"
                assert (await publisher.end()).status_code == 200
                assert participant(call, anna, ben)["state"] == "left"
            finally:
                process.stdin.close()
                await asyncio.wait_for(process.wait(), 20)

    asyncio.run(run())


def test_webrtcbin_and_aiortc(server, webrtcbin):
    async def run():
        async with group(server, 2) as (ann, gus):
            await ann.join(slots=1)
            gus.pitch, gus.brightness = 440, 255
            process = await start()
            try:
                offer = json.loads(await asyncio.wait_for(process.stdout.readline(), 40))
                made = await gus.endpoint.ask("calls.leg", call=gus.call, offer=offer)
                process.stdin.write(json.dumps(made["answer"]).encode() + b"\n")
                await gus.endpoint.ask("calls.connected", call=gus.call)
                await ann.receives_audio(gus)
                await ann.receives_video(gus)
                report = json.loads(await asyncio.wait_for(process.stdout.readline(), 40))
                assert report["received"]["audio"] >= 50 and report["received"]["video"] >= 10
            finally:
                process.stdin.close()
                await asyncio.wait_for(process.wait(), 20)
            # webrtcbin sends no close_notify: after 30 s it counts as lost.
            await gus.endpoint.listen(f"signals:{gus.call}:{gus.endpoint.id}")
            await gus.endpoint.until(
                "the end of the leg", lambda: [s for s in gus.endpoint.signals(gus.call) if s["kind"] == "legEnded"]
            )
            await ann.until("an empty slot", lambda: ann.slot_of(gus, "audio") is None)

    asyncio.run(run())
