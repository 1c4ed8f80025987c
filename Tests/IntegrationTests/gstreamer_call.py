"""A call between two webrtcbin elements through relays only; run by the system's Python, which has GStreamer.

Arguments: the TURN URLs of both sides. Prints, as JSON, how many audio packets each side received and the state of its
parts, when both have enough, or after half a minute.
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
        self.number = number
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
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message::error", lambda _, message: self.failed("pipeline", message.parse_error()[0]))

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

    def failed(self, what: str, error: object) -> None:
        print(f"side {self.number}: {what}: {error}", file=sys.stderr, flush=True)

    def promise(self, what: str, then=lambda: None) -> Gst.Promise:
        """Goes on when it is kept; what breaks it is told."""

        def ended(promise) -> None:
            result, reply = promise.wait(), promise.get_reply()
            if result != Gst.PromiseResult.REPLIED or (reply is not None and reply.has_field("error")):
                self.failed(what, reply.to_string() if reply is not None else result)
            then()

        return Gst.Promise.new_with_change_func(ended)

    def state(self) -> dict:
        names = ("ice-gathering-state", "ice-connection-state", "connection-state", "signaling-state")
        return {"packets": self.packets, "kinds": sorted(self.kinds)} | {
            name: self.peer.get_property(name).value_nick for name in names
        }

    def describe(self, action: str, then) -> None:
        def made(promise) -> None:
            # The reply must outlive the description, which points into it.
            reply = promise.get_reply()
            description = reply.get_value("answer" if action == "create-answer" else "offer")
            self.peer.emit("set-local-description", description, self.promise("set-local-description"))
            # The other side gets a copy of its own, read from text as over the wire.
            _, message = GstSdp.SDPMessage.new_from_text(description.sdp.as_text())
            copy = GstWebRTC.WebRTCSessionDescription.new(description.type, message)
            self.other.peer.emit("set-remote-description", copy, self.other.promise("set-remote-description", then))

        self.peer.emit(action, None, Gst.Promise.new_with_change_func(made))


def main() -> None:
    # What libnice logs is not part of the result.
    GLib.log_writer_default_set_use_stderr(True)
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
    print(json.dumps([side.state() for side in sides]), flush=True)
    for side in sides:
        side.pipeline.set_state(Gst.State.NULL)


main()
