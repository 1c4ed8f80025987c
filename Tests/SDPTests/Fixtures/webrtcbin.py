"""GStreamer's webrtcbin offers audio and video and asks for a slot of each. In: answers or null. Out: its offers, JSON."""

from __future__ import annotations

import json
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstWebRTC", "1.0")
gi.require_version("GstSdp", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

PATIENCE_SECONDS = 30
AUDIO = "application/x-rtp,media=audio,encoding-name=OPUS,payload=96,clock-rate=48000,encoding-params=(string)2"
VIDEO = "application/x-rtp,media=video,encoding-name=VP8,payload=97,clock-rate=90000"


def main() -> None:
    Gst.init(None)
    answers = json.load(sys.stdin)
    loop = GLib.MainLoop()
    said = {"offers": [], "state": "", "directions": []}
    pipeline = Gst.parse_launch(
        "webrtcbin name=peer bundle-policy=max-bundle "
        f"audiotestsrc is-live=true ! opusenc ! rtpopuspay pt=96 ! {AUDIO} ! peer. "
        f"videotestsrc is-live=true ! vp8enc deadline=1 ! rtpvp8pay pt=97 ! {VIDEO} ! peer."
    )
    peer = pipeline.get_by_name("peer")

    def describe(_) -> None:
        for caps in (AUDIO, VIDEO):
            peer.emit("add-transceiver", GstWebRTC.WebRTCRTPTransceiverDirection.RECVONLY, Gst.Caps.from_string(caps))
        peer.emit("create-offer", None, Gst.Promise.new_with_change_func(made))

    def made(promise) -> None:
        # The reply must outlive the description, which points into it.
        reply = promise.get_reply()
        description = reply.get_value("offer")
        peer.emit("set-local-description", description, Gst.Promise.new())
        said["offers"].append(description.sdp.as_text())
        if not answers:
            loop.quit()
            return
        _, message = GstSdp.SDPMessage.new_from_text(answers[0])
        answer = GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, message)
        peer.emit("set-remote-description", answer, Gst.Promise.new_with_change_func(answered))

    def answered(promise) -> None:
        reply = promise.get_reply()
        said["error"] = reply.to_string() if reply is not None and reply.n_fields() else ""
        said["state"] = peer.get_property("signaling-state").value_nick
        loop.quit()

    peer.connect("on-negotiation-needed", describe)
    pipeline.set_state(Gst.State.PLAYING)
    GLib.timeout_add_seconds(PATIENCE_SECONDS, loop.quit)
    loop.run()
    print(json.dumps(said), flush=True)
    pipeline.set_state(Gst.State.NULL)


main()
