"""GStreamer's webrtcbin offers audio and video and asks for a slot of each. In: answers or null. Out: its offers,
JSON.
"""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "PythonSupport"))

from switchboard_tests.gstreamer_peer import Peer

from gi.repository import GLib  # isort: skip

TIMEOUT_SECONDS = 30


def main() -> None:
    answers = json.load(sys.stdin)
    loop = GLib.MainLoop()
    said: dict[str, Any] = {"offers": [], "state": "", "directions": []}

    def offered(sdp: str) -> None:
        said["offers"].append(sdp)
        if answers:
            peer.answer(answers[0], answered)
        else:
            loop.quit()

    def answered(promise) -> None:
        reply = promise.get_reply()
        said["error"] = reply.to_string() if reply is not None and reply.n_fields() else ""
        said["state"] = peer.element.get_property("signaling-state").value_nick
        loop.quit()

    peer = Peer(offered)
    peer.start()
    GLib.timeout_add_seconds(TIMEOUT_SECONDS, loop.quit)
    loop.run()
    print(json.dumps(said), flush=True)
    peer.stop()


main()
