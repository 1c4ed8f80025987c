"""GStreamer's webrtcbin in a call over the media gateway: it knows AES128-CM-SHA1-80 alone."""

from __future__ import annotations

import asyncio
import json
import pathlib
import subprocess

import pytest
from gateway import group

LEG = pathlib.Path(__file__).with_name("gstreamer_leg.py")
PYTHON = "/usr/bin/python3"


@pytest.fixture(scope="module")
def webrtcbin():
    check = "import gi; gi.require_version('GstWebRTC', '1.0'); from gi.repository import GstWebRTC"
    if subprocess.run([PYTHON, "-c", check], capture_output=True).returncode != 0:
        pytest.skip("webrtcbin is not installed (Scripts/setup --tests)")


def test_webrtcbin_and_aiortc(server, webrtcbin):
    async def run():
        async with group(server, 2) as (ann, gus):
            await ann.join(slots=1)
            gus.pitch, gus.brightness = 440, 255
            process = await asyncio.create_subprocess_exec(
                PYTHON, str(LEG), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 20
            )
            try:
                offer = json.loads(await asyncio.wait_for(process.stdout.readline(), 40))
                made = await gus.endpoint.ask("calls.leg", call=gus.call, offer=offer)
                process.stdin.write(json.dumps(made["answer"]).encode() + b"\n")
                await gus.endpoint.ask("calls.connected", call=gus.call)
                await ann.hears(gus)
                await ann.sees(gus)
                report = json.loads(await asyncio.wait_for(process.stdout.readline(), 40))
                assert report["came"]["audio"] >= 50 and report["came"]["video"] >= 10
            finally:
                process.stdin.close()
                await asyncio.wait_for(process.wait(), 20)
            # webrtcbin goes without a goodbye: 30 s later it counts as lost.
            await gus.endpoint.listen(f"signals:{gus.call}:{gus.endpoint.id}")
            await gus.endpoint.until(
                "the end of the leg", lambda: [s for s in gus.endpoint.signals(gus.call) if s["kind"] == "legEnded"]
            )
            await ann.until("an empty slot", lambda: ann.slot_of(gus, "audio") is None)

    asyncio.run(run())
