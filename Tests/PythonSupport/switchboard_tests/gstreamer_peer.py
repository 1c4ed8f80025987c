"""A webrtcbin that offers audio, video and a slot of each; for the system's Python, which has GStreamer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstWebRTC", "1.0")
gi.require_version("GstSdp", "1.0")
from gi.repository import Gst, GstSdp, GstWebRTC  # noqa: E402

AUDIO = "application/x-rtp,media=audio,encoding-name=OPUS,payload=96,clock-rate=48000,encoding-params=(string)2"
VIDEO = "application/x-rtp,media=video,encoding-name=VP8,payload=97,clock-rate=90000"


class Peer:
    """Passes each of its offers to `offered`, on a thread of GStreamer's."""

    def __init__(
        self,
        offered: Callable[[str], None],
        tone: str = "",
        picture: str = "",
        encoder: str = "",
        receives: bool = True,
    ) -> None:
        """`tone`, `picture` and `encoder` are extra properties of the GStreamer elements for these."""
        self.slots = (AUDIO, VIDEO) if receives else ()
        Gst.init(None)
        self.offered = offered
        self.pipeline = Gst.parse_launch(
            "webrtcbin name=peer bundle-policy=max-bundle "
            f"audiotestsrc is-live=true {tone} ! opusenc ! rtpopuspay pt=96 ! {AUDIO} ! peer. "
            f"videotestsrc is-live=true {picture} ! vp8enc deadline=1 {encoder} ! rtpvp8pay pt=97 ! {VIDEO} ! peer."
        )
        self.element = self.pipeline.get_by_name("peer")
        self.element.connect("on-negotiation-needed", self.describe)

    def start(self) -> None:
        self.pipeline.set_state(Gst.State.PLAYING)

    def stop(self) -> None:
        self.pipeline.set_state(Gst.State.NULL)

    def describe(self, _: Any) -> None:
        for caps in self.slots:
            self.element.emit(
                "add-transceiver", GstWebRTC.WebRTCRTPTransceiverDirection.RECVONLY, Gst.Caps.from_string(caps)
            )
        self.element.emit("create-offer", None, Gst.Promise.new_with_change_func(self.made))

    def made(self, promise: Any) -> None:
        # The reply must outlive the description, which points into it.
        reply = promise.get_reply()
        description = reply.get_value("offer")
        self.element.emit("set-local-description", description, Gst.Promise.new())
        self.offered(description.sdp.as_text())

    def answer(self, sdp: str, then: Callable[[Any], None] | None = None) -> None:
        """Sets the other side's answer; `then` gets its promise."""
        _, message = GstSdp.SDPMessage.new_from_text(sdp)
        answer = GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, message)
        promise = Gst.Promise.new_with_change_func(then) if then else Gst.Promise.new()
        self.element.emit("set-remote-description", answer, promise)
