"""A participant of a gateway's call that is GStreamer's webrtcbin; run by the system's Python, which has GStreamer.

Speaks JSON, a line each, on its standard streams. Out: its offer {"sdp"}; in: the answer {"sdp"}; out: {"came": {kind: packets}}
when enough of both kinds was decoded. It sends a tone of 440 Hz and a test picture, and hangs up when its input ends. With
the argument `publish` it receives nothing.
"""

from __future__ import annotations

import json
import sys
import threading

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstWebRTC", "1.0")
gi.require_version("GstSdp", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

ENOUGH = {"audio": 50, "video": 10}
AUDIO = "application/x-rtp,media=audio,encoding-name=OPUS,payload=96,clock-rate=48000,encoding-params=(string)2"
VIDEO = "application/x-rtp,media=video,encoding-name=VP8,payload=97,clock-rate=90000"
DECODERS = {
    "audio": "rtpopusdepay ! opusdec ! fakesink name=sink async=false",
    "video": "rtpvp8depay ! vp8dec ! fakesink name=sink async=false",
}


def say(message: dict) -> None:
    print(json.dumps(message), flush=True)


def main() -> None:
    Gst.init(None)
    loop = GLib.MainLoop()
    came = {"audio": 0, "video": 0}
    pipeline = Gst.parse_launch(
        "webrtcbin name=peer bundle-policy=max-bundle "
        f"audiotestsrc is-live=true freq=440 ! opusenc ! rtpopuspay pt=96 ! {AUDIO} ! peer. "
        "videotestsrc is-live=true pattern=white ! video/x-raw,width=320,height=180,framerate=10/1 "
        f"! vp8enc deadline=1 keyframe-max-dist=30 ! rtpvp8pay pt=97 ! {VIDEO} ! peer."
    )
    peer = pipeline.get_by_name("peer")

    def describe(_) -> None:
        for caps in (AUDIO, VIDEO) if sys.argv[1:] != ["publish"] else ():
            peer.emit("add-transceiver", GstWebRTC.WebRTCRTPTransceiverDirection.RECVONLY, Gst.Caps.from_string(caps))
        peer.emit("create-offer", None, Gst.Promise.new_with_change_func(made))

    def made(promise) -> None:
        # The reply must outlive the description, which points into it.
        reply = promise.get_reply()
        description = reply.get_value("offer")
        peer.emit("set-local-description", description, Gst.Promise.new())
        say({"sdp": description.sdp.as_text()})

    def listen() -> None:
        for line in sys.stdin:
            _, message = GstSdp.SDPMessage.new_from_text(json.loads(line)["sdp"])
            answer = GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, message)
            peer.emit("set-remote-description", answer, Gst.Promise.new())
        loop.quit()

    def shown(_, pad) -> None:
        if pad.get_direction() != Gst.PadDirection.SRC:
            return
        kind = pad.get_current_caps().get_structure(0).get_string("media")
        decoder = Gst.parse_bin_from_description(DECODERS[kind], True)
        pipeline.add(decoder)
        decoder.sync_state_with_parent()
        decoder.get_by_name("sink").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, lambda *_: counted(kind))
        pad.link(decoder.get_static_pad("sink"))

    def counted(kind: str) -> Gst.PadProbeReturn:
        before = all(came[one] >= ENOUGH[one] for one in came)
        came[kind] += 1
        if not before and all(came[one] >= ENOUGH[one] for one in came):
            say({"came": came})
        return Gst.PadProbeReturn.OK

    peer.connect("on-negotiation-needed", describe)
    peer.connect("pad-added", shown)
    pipeline.set_state(Gst.State.PLAYING)
    threading.Thread(target=listen, daemon=True).start()
    loop.run()
    pipeline.set_state(Gst.State.NULL)


main()
