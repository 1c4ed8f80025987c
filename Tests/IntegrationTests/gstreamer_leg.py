"""A participant with GStreamer's webrtcbin in a gateway call; run by the system's Python, which has GStreamer.

Exchanges JSON lines on its standard streams. Out: its offer {"sdp"}; in: the answer {"sdp"}; out: {"received": {kind:
packets}} when enough of both kinds was decoded. It sends a tone of 440 Hz and test video, and ends with its input. With
the argument `publish` it receives nothing.
"""

from __future__ import annotations

import json
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "PythonSupport"))

# It sets the versions of GStreamer's bindings, so it must be imported first.
from switchboard_tests.gstreamer_peer import Peer

from gi.repository import GLib, Gst  # isort: skip

REQUIRED = {"audio": 50, "video": 10}
DECODERS = {
    "audio": "rtpopusdepay ! opusdec ! fakesink name=sink async=false",
    "video": "rtpvp8depay ! vp8dec ! fakesink name=sink async=false",
}


def write(message: dict) -> None:
    print(json.dumps(message), flush=True)


def main() -> None:
    loop = GLib.MainLoop()
    received = {"audio": 0, "video": 0}
    peer = Peer(
        lambda sdp: write({"sdp": sdp}), tone="freq=440",
        picture="pattern=white ! video/x-raw,width=320,height=180,framerate=10/1", encoder="keyframe-max-dist=30",
        receives=sys.argv[1:] != ["publish"],
    )

    def listen() -> None:
        for line in sys.stdin:
            peer.answer(json.loads(line)["sdp"])
        loop.quit()

    def on_pad_added(_, pad) -> None:
        if pad.get_direction() != Gst.PadDirection.SRC:
            return
        kind = pad.get_current_caps().get_structure(0).get_string("media")
        decoder = Gst.parse_bin_from_description(DECODERS[kind], True)
        peer.pipeline.add(decoder)
        decoder.sync_state_with_parent()
        decoder.get_by_name("sink").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, lambda *_: counted(kind))
        pad.link(decoder.get_static_pad("sink"))

    def counted(kind: str) -> Gst.PadProbeReturn:
        before = all(received[one] >= REQUIRED[one] for one in received)
        received[kind] += 1
        if not before and all(received[one] >= REQUIRED[one] for one in received):
            write({"received": received})
        return Gst.PadProbeReturn.OK

    peer.element.connect("pad-added", on_pad_added)
    peer.start()
    threading.Thread(target=listen, daemon=True).start()
    loop.run()
    peer.stop()


main()
