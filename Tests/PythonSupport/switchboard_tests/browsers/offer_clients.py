"""The real clients whose offers the tests keep: Chromium, Firefox, aiortc and GStreamer's webrtcbin."""

from __future__ import annotations

import asyncio
import contextlib
import http.server
import json
import pathlib
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Any

from switchboard_tests.browsers.marionette import Marionette

FIXTURES = pathlib.Path(__file__).resolve().parents[3] / "SDPTests" / "Fixtures"
SCRIPT = (FIXTURES / "offers.js").read_text()
CALL = "const [recipe, answers, done] = [arguments[0], arguments[1] ?? undefined, arguments[arguments.length - 1]];"
RUN = SCRIPT + CALL + "makeOffers(recipe, answers).then(done, (error) => done({ error: String(error) }));"

RECIPES = {
    # A person with camera and microphone in a group, and what happens to the connection in its life.
    "life": {"name": "life", "audioSlots": 2, "videoSlots": 3},
    # As many slots as a leg may have, sent before any candidate is known.
    "slots": {"name": "slots", "audioSlots": 5, "videoSlots": 25, "bare": True},
    # What a page does that knows nothing of gateways, with a data channel and Chromium's default bundling.
    "plain": {"name": "plain", "data": True, "bundlePolicy": "balanced"},
}


class Page(http.server.BaseHTTPRequestHandler):
    """An empty page on loopback, which is a secure context: only there browsers give microphones away."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>offers</title>")

    def log_message(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def page() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@contextlib.contextmanager
def chromium() -> Iterator[Callable[..., Any]]:
    """Answers a function that runs a recipe in Chromium."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--use-fake-device-for-media-stream",
        "--use-fake-ui-for-media-stream",
        "--allow-loopback-in-peer-connection",
        "--disable-features=WebRtcHideLocalIpsWithMdns",
        "--disable-dev-shm-usage",
    ):
        options.add_argument(flag)
    driver = webdriver.Chrome(options, webdriver.ChromeService("/usr/bin/chromedriver"))
    driver.set_script_timeout(60)
    try:
        with page() as url:
            driver.get(url)
            yield lambda recipe, answers=None: driver.execute_async_script(RUN, recipe, answers)
    finally:
        driver.quit()


@contextlib.contextmanager
def firefox() -> Iterator[Callable[..., Any]]:
    """Answers a function that runs a recipe in Firefox."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    preferences = {
        "marionette.port": port, "media.navigator.streams.fake": True, "media.navigator.permission.disabled": True,
        "media.peerconnection.ice.obfuscate_host_addresses": False, "media.peerconnection.ice.loopback": True,
        "datareporting.policy.dataSubmissionEnabled": False, "app.update.enabled": False,
        "media.gmp-manager.updateEnabled": False,
    }
    with tempfile.TemporaryDirectory() as profile, page() as url:
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in preferences.items()]
        (pathlib.Path(profile) / "user.js").write_text("\n".join(lines))
        browser = subprocess.Popen(
            ["firefox-esr", "--headless", "--no-remote", "--marionette", "--profile", profile],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        try:
            control = Marionette(port)
            control.say("WebDriver:NewSession", capabilities={"alwaysMatch": {"timeouts": {"script": 60000}}})
            control.say("WebDriver:Navigate", url=url)
            yield lambda recipe, answers=None: control.say(
                "WebDriver:ExecuteAsyncScript", script=RUN, args=[recipe, answers], newSandbox=False, sandbox=None
            )["value"]
        finally:
            browser.terminate()
            browser.wait()


async def aiortc_offers(answers: list[str] | None = None) -> dict[str, Any]:
    """A peer in Python: it sends and receives in the same sections, and asks for two slots more."""
    from aiortc import RTCPeerConnection, RTCSessionDescription
    from aiortc.mediastreams import AudioStreamTrack, VideoStreamTrack

    peer = RTCPeerConnection()
    peer.addTrack(AudioStreamTrack())
    peer.addTrack(VideoStreamTrack())
    peer.addTransceiver("audio", direction="recvonly")
    peer.addTransceiver("video", direction="recvonly")
    await peer.setLocalDescription(await peer.createOffer())
    offers = [peer.localDescription.sdp]
    if answers:
        await peer.setRemoteDescription(RTCSessionDescription(answers[0], "answer"))
    state = peer.signalingState
    directions = [f"{one.mid} {one.currentDirection}" for one in peer.getTransceivers()]
    await peer.close()
    return {"offers": offers, "state": state, "directions": directions}


def aiortc(answers: list[str] | None = None) -> dict[str, Any]:
    return asyncio.run(aiortc_offers(answers))


def gstreamer(answers: list[str] | None = None) -> dict[str, Any]:
    """GStreamer's bindings belong to the system's Python."""
    run = subprocess.run(
        ["/usr/bin/python3", FIXTURES / "webrtcbin.py"],
        input=json.dumps(answers),
        capture_output=True,
        text=True,
        timeout=60,
    )
    if run.returncode:
        raise RuntimeError(run.stderr)
    return json.loads(run.stdout)
