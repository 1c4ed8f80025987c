"""Pages that publish and play by WHIP and WHEP, as those of other projects do: a request and a peer connection."""

from __future__ import annotations

import asyncio

import pytest
from switchboard_tests.browsers.browser import Browser
from switchboard_tests.calls import create_group_call, participant
from switchboard_tests.server import Server
from switchboard_tests.waiting import until, wait_until
from switchboard_tests.whip import WHIPSession, ffmpeg

# Makes a peer connection with the tracks of `add`, and a session of it.
SESSION = """
const [address, token, done] = [arguments[0], arguments[1], arguments[arguments.length - 1]];
(async () => {
    const peer = new RTCPeerConnection({ bundlePolicy: "max-bundle" });
    await add(peer);
    await peer.setLocalDescription();
    const response = await fetch(address, {
        method: "POST", body: peer.localDescription.sdp,
        headers: { "Content-Type": "application/sdp", Authorization: `Bearer ${token}` },
    });
    if (response.status !== 201) throw new Error(await response.text());
    await peer.setRemoteDescription({ type: "answer", sdp: await response.text() });
    return response.headers.get("Location");
})().then(done, (error) => done(`error: ${error}`));
"""

PLAY = """
async function add(peer) {
    const video = document.createElement("video");
    Object.assign(video, { autoplay: true, srcObject: new MediaStream() });
    document.body.replaceChildren(video);
    peer.addEventListener("track", ({ track }) => video.srcObject.addTrack(track));
    for (const kind of ["audio", "video"]) peer.addTransceiver(kind, { direction: "recvonly" });
}
""" + SESSION

PUBLISH = """
async function add(peer) {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [1280, 720];
    document.body.replaceChildren(canvas);
    const pen = canvas.getContext("2d");
    // It moves, so that each picture is a new one.
    window.painting = setInterval(() => {
        const level = 132 + performance.now() / 100 % 16;
        pen.fillStyle = `rgb(${level} ${level} ${level})`;
        pen.fillRect(0, 0, canvas.width, canvas.height);
    }, 40);
    const layers = [["q", 4], ["h", 2], ["f", 1]].map(([rid, scale]) => ({ rid, scaleResolutionDownBy: scale }));
    peer.addTransceiver(canvas.captureStream(25).getVideoTracks()[0], {
        direction: "sendonly", sendEncodings: layers,
    });
    const context = new AudioContext();
    const [tone, target] = [context.createOscillator(), context.createMediaStreamDestination()];
    tone.frequency.value = 700;
    tone.connect(target);
    tone.start();
    peer.addTransceiver(target.stream.getAudioTracks()[0], { direction: "sendonly" });
}
""" + SESSION

LEVEL = """
const video = document.querySelector("video");
if (!video?.videoWidth) return null;
const canvas = document.createElement("canvas");
[canvas.width, canvas.height] = [8, 8];
const pen = canvas.getContext("2d");
pen.drawImage(video, 0, 0, 8, 8);
return pen.getImageData(4, 4, 1, 1).data[0];
"""

STATISTICS = """
const done = arguments[arguments.length - 1];
window.peers.at(-1).getStats().then((stats) => {
    const reports = [...stats.values()];
    const sent = reports.filter((one) => one.type === "outbound-rtp" && one.kind === "video" && one.packetsSent > 10);
    const received = reports.find((one) => one.type === "inbound-rtp" && one.kind === "audio");
    done({
        layers: sent.map((one) => one.rid).sort(),
        loudness: received?.audioLevel ?? 0,
    });
});
"""


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    browser = Browser("whip", tmp_path_factory.mktemp("whip"))
    yield browser
    browser.quit()


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    one = Server(tmp_path_factory.mktemp("api"))
    one.start()
    yield one
    one.kill()


def session(browser: Browser, server: Server, script: str, person, call: str, kind: str) -> None:
    browser.driver.get(server.url + "/docs/")
    address = f"/v1/calls/{call}/{kind}"
    located = browser.driver.execute_async_script(script, address, person.token)
    assert located.startswith(address + "/"), located


def statistics(browser: Browser) -> dict:
    return browser.driver.execute_async_script(STATISTICS)


def test_chromium_plays_ffmpeg(chromium, api, tmp_path):
    anna, ben, cleo = api.users(3)
    call = create_group_call(anna, [ben, cleo])
    with ffmpeg(ben, call, tmp_path, profile="baseline", bf="0") as goes_on:
        wait_until(lambda: goes_on() and participant(call, anna, ben).get("connected"), "FFmpeg's media")
        session(chromium, api, PLAY, cleo, call, "whep")
        wait_until(lambda: goes_on() and abs((chromium.driver.execute_script(LEVEL) or 0) - 144) < 16, "its picture")
        wait_until(lambda: goes_on() and statistics(chromium)["loudness"] > 0.01, "its tone")


def test_chromium_publishes_three_layers(chromium, api):
    anna, ben, cleo = api.users(3)
    call = create_group_call(anna, [ben, cleo])
    session(chromium, api, PUBLISH, ben, call, "whip")
    wait_until(lambda: statistics(chromium)["layers"] == ["f", "h", "q"], "three layers")

    async def run() -> None:
        async with WHIPSession(cleo, call, "whep") as player:
            await player.open()
            await until("Chromium's tone and picture", lambda: player.plays(tolerance=20))

    asyncio.run(run())
