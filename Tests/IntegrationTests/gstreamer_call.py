"""A call between two webrtcbin elements through relays only; run by the system's Python, which has GStreamer.

Arguments: the TURN URLs of both sides. Prints, as JSON, how many audio packets each side received, when both have
enough.
"""

from __future__ import annotations

import json
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstWebRTC", "1.0")
gi.require_version("GstSdp", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

REQUIRED = 50
TIMEOUT_SECONDS = 30


class Side:
    def __init__(self, number: int, turn: str, finished):
        self.packets = 0
        self.kinds: set[str] = set()
        self.other: Side
        self.finished = finished
        self.pipeline = Gst.parse_launch(
            "webrtcbin name=peer bundle-policy=max-bundle ice-transport-policy=relay "
            "audiotestsrc is-live=true ! opusenc ! rtpopuspay pt=96 ! "
            "application/x-rtp,media=audio,encoding-name=OPUS,payload=96 ! peer."
        )
        self.peer = self.pipeline.get_by_name("peer")
        self.peer.set_property("turn-server", turn)
        self.peer.connect("on-ice-candidate", self.on_candidate)
        self.peer.connect("pad-added", self.on_pad_added)

    def on_candidate(self, _, line: int, candidate: str) -> None:
        self.kinds.add(candidate.split(" typ ")[1].split(maxsplit=1)[0])
        self.other.peer.emit("add-ice-candidate", line, candidate)

    def on_pad_added(self, _, pad) -> None:
        if pad.get_direction() != Gst.PadDirection.SRC:
            return
        sink = Gst.ElementFactory.make("fakesink")
        sink.set_property("async", False)
        self.pipeline.add(sink)
        sink.sync_state_with_parent()
        pad.add_probe(Gst.PadProbeType.BUFFER, self.counted)
        pad.link(sink.get_static_pad("sink"))

    def counted(self, *_) -> Gst.PadProbeReturn:
        self.packets += 1
        if self.packets == REQUIRED:
            GLib.idle_add(self.finished)
        return Gst.PadProbeReturn.OK

    def describe(self, action: str, then) -> None:
        def made(promise) -> None:
            # The reply must outlive the description, which points into it.
            reply = promise.get_reply()
            description = reply.get_value("answer" if action == "create-answer" else "offer")
            self.peer.emit("set-local-description", description, Gst.Promise.new())
            # The other side gets a copy of its own, read from text as over the wire.
            _, message = GstSdp.SDPMessage.new_from_text(description.sdp.as_text())
            copy = GstWebRTC.WebRTCSessionDescription.new(description.type, message)
            self.other.peer.emit("set-remote-description", copy, Gst.Promise.new_with_change_func(lambda _: then()))

        self.peer.emit(action, None, Gst.Promise.new_with_change_func(made))


def main() -> None:
    Gst.init(None)
    loop = GLib.MainLoop()

    def finished() -> None:
        if all(side.packets >= REQUIRED for side in sides):
            loop.quit()

    sides = [Side(number, turn, finished) for number, turn in enumerate(sys.argv[1:3])]
    left, right = sides
    left.other, right.other = right, left
    left.peer.connect("on-negotiation-needed", lambda _: left.describe("create-offer", answer))

    def answer() -> None:
        right.describe("create-answer", lambda: None)

    for side in (right, left):
        side.pipeline.set_state(Gst.State.PLAYING)
    GLib.timeout_add_seconds(TIMEOUT_SECONDS, loop.quit)
    loop.run()
    print(json.dumps([{"packets": side.packets, "kinds": sorted(side.kinds)} for side in sides]), flush=True)
    for side in sides:
        side.pipeline.set_state(Gst.State.NULL)


main()
