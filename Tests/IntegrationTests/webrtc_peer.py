"""One side of a call, as a process: aiortc, with audio and a data channel. Exchanges JSON lines on its standard
streams.

In: the settings {offers, iceServers, relayOnly}, then the other side's description. Out: its own description, then a
report when the call has succeeded or failed. It hangs up when its input ends.
"""

from __future__ import annotations

import asyncio
import json
import sys

from aiortc import RTCConfiguration, RTCIceServer, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack
from aiortc.rtcconfiguration import RTCIceTransportPolicy

MESSAGES = 50
FRAMES = 25
TIMEOUT_SECONDS = 40


def write(message: dict) -> None:
    print(json.dumps(message), flush=True)


async def read() -> dict | None:
    line = await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    return json.loads(line) if line.strip() else None


class Peer:
    def __init__(self, settings: dict):
        servers = [RTCIceServer(**server) for server in settings["iceServers"]]
        policy = RTCIceTransportPolicy.RELAY if settings["relayOnly"] else RTCIceTransportPolicy.ALL
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=servers, iceTransportPolicy=policy))
        self.echoed = self.frames = 0
        self.ended = asyncio.Event()
        self.through = {"messages": asyncio.Event(), "frames": asyncio.Event()}
        self.connection.on("track", lambda track: asyncio.ensure_future(self.count(track)))
        self.connection.on("connectionstatechange", self.state_changed)
        self.connection.addTrack(AudioStreamTrack())
        if settings["offers"]:
            channel = self.connection.createDataChannel("check")
            channel.on("open", lambda: self.ask(channel))
            channel.on("message", self.message_received)
        else:
            self.connection.on(
                "datachannel", lambda channel: channel.on("message", lambda text: self.answer(channel, text))
            )

    def ask(self, channel) -> None:
        for number in range(MESSAGES):
            channel.send(f"message {number}")

    def message_received(self, text: str) -> None:
        assert text == f"message {self.echoed}", text
        self.echoed += 1
        if self.echoed == MESSAGES:
            self.through["messages"].set()

    def answer(self, channel, text: str) -> None:
        channel.send(text)
        self.message_received(text)

    async def count(self, track) -> None:
        while True:
            await track.recv()
            self.frames += 1
            if self.frames == FRAMES:
                self.through["frames"].set()

    def state_changed(self) -> None:
        if self.connection.connectionState in ("failed", "closed"):
            self.ended.set()

    async def describe(self, description) -> None:
        await self.connection.setLocalDescription(description)
        local = self.connection.localDescription
        write({"type": local.type, "sdp": local.sdp})

    async def report(self) -> None:
        everything: asyncio.Future = asyncio.gather(*(event.wait() for event in self.through.values()))
        ended: asyncio.Future = asyncio.ensure_future(self.ended.wait())
        await asyncio.wait([everything, ended], timeout=TIMEOUT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        # aiortc's public API does not have the nominated pair.
        pair = self.connection.sctp.transport.transport._connection._nominated.get(1)
        write(
            {
                "through": everything.done(),
                "echoed": self.echoed,
                "frames": self.frames,
                "local": pair.local_candidate.type if pair else None,
                "remote": pair.remote_candidate.type if pair else None,
            }
        )


async def main() -> None:
    settings = await read()
    peer = Peer(settings)
    if settings["offers"]:
        await peer.describe(await peer.connection.createOffer())
        await peer.connection.setRemoteDescription(RTCSessionDescription(**await read()))
    else:
        await peer.connection.setRemoteDescription(RTCSessionDescription(**await read()))
        await peer.describe(await peer.connection.createAnswer())
    reporting = asyncio.ensure_future(peer.report())
    while await read() is not None:
        pass
    reporting.cancel()
    await peer.connection.close()


asyncio.run(main())
