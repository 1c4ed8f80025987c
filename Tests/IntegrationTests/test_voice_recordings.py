"""Voice messages recorded by the server over a leg: aiortc sends, FFmpeg decodes the message."""

from __future__ import annotations

import asyncio
import contextlib
import fractions
import time

import av
import httpx
import numpy
import pytest
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack
from aiortc.rtcconfiguration import RTCBundlePolicy
from switchboard_tests.audio_files import decode, encode, opusinfo, tone
from switchboard_tests.disks import needs_mount, small_disk
from switchboard_tests.endpoint import Endpoint, RequestError
from switchboard_tests.gateway import Tone, group
from switchboard_tests.metrics import value
from switchboard_tests.recordings import pitch
from switchboard_tests.scripted_recogniser import COMMAND, utterance
from switchboard_tests.server import HTTP, refused
from switchboard_tests.transcription import WORDS, transcript
from switchboard_tests.voice_messages import conversation, fetch, listed, send_file, shown, upload
from switchboard_tests.waiting import TIMEOUT, until, wait_until

SDP = "application/sdp"
FRAGMENT = "application/trickle-ice-sdpfrag"
RATE = 48_000


class Hum(Tone):
    """A tone that starts with the first request for a frame, like a microphone."""

    async def recv(self) -> av.AudioFrame:
        if self.sample == 0:
            self.start = time.monotonic()
        return await super().recv()


class Speech(AudioStreamTrack):
    """Samples at 48 kHz in real time, followed by silence."""

    def __init__(self, samples: numpy.ndarray):
        super().__init__()
        self.samples, self.sample, self.start = samples, 0, 0.0

    async def recv(self) -> av.AudioFrame:
        if self.sample == 0:
            self.start = time.monotonic()
        count = RATE // 50
        await asyncio.sleep(max(0.0, self.start + self.sample / RATE - time.monotonic()))
        part = self.samples[self.sample : self.sample + count]
        part = numpy.pad(part, (0, count - len(part)))
        frame = av.AudioFrame.from_ndarray(part.reshape(1, -1), format="s16", layout="mono")
        frame.pts, frame.sample_rate, frame.time_base = self.sample, RATE, fractions.Fraction(1, RATE)
        self.sample += count
        return frame


class Speaker:
    """A client that records a message: over realtime or, like encoders, over HTTP only."""

    def __init__(self, person, audio=None, silent: bool = False):
        self.person = person
        self.endpoint = Endpoint(person.server.realtime_url, person.id, person.token)
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[], bundlePolicy=RTCBundlePolicy.MAX_BUNDLE))
        self.audio = None if silent else audio or Hum(700)
        self.recording = self.tag = ""

    async def sdp(self) -> str:
        if self.audio:
            self.connection.addTransceiver(self.audio, "sendonly")
        else:
            self.connection.addTransceiver("audio", "sendonly")
        await self.connection.setLocalDescription(await self.connection.createOffer())
        return self.connection.localDescription.sdp

    async def record(self, to) -> None:
        self.to = to
        made = await self.endpoint.ask("voice.record", offer={"sdp": await self.sdp()})
        self.recording = made["recording"]
        await self.connection.setRemoteDescription(RTCSessionDescription(made["answer"]["sdp"], "answer"))
        await self.connected()

    async def record_by_http(self, to) -> httpx.Response:
        self.to = to
        response = await asyncio.to_thread(post, self.person, await self.sdp())
        assert response.status_code == 201, response.text
        self.recording = response.headers["Location"].rpartition("/")[2]
        self.tag = response.headers["ETag"]
        await self.connection.setRemoteDescription(RTCSessionDescription(response.text, "answer"))
        await self.connected()
        return response

    async def connected(self) -> None:
        async def wait():
            while self.connection.connectionState != "connected":
                await asyncio.sleep(0.02)

        await asyncio.wait_for(wait(), TIMEOUT)

    async def speaks(self, seconds: float) -> None:
        """Waits until so much of its audio was sent."""
        sender = self.connection.getSenders()[0]

        async def wait():
            while True:
                for report in (await sender.getStats()).values():
                    if report.type == "outbound-rtp" and report.packetsSent * 0.02 >= seconds:
                        return
                await asyncio.sleep(0.02)

        await asyncio.wait_for(wait(), TIMEOUT)

    async def send(self) -> dict:
        """Finishes the recording, and sends its file."""
        file = (await self.endpoint.ask("voice.finishRecording", recording=self.recording))["file"]

        def deliver() -> dict:
            sent = send_file(self.person, conversation(self.person, self.to), file["id"])
            assert sent.status_code == 201, sent.text
            return shown(self.person, sent.json()["message"])

        return await asyncio.to_thread(deliver)

    async def discard(self) -> None:
        await self.endpoint.ask("voice.discardRecording", recording=self.recording)


@contextlib.asynccontextmanager
async def speaker(person, audio=None, silent: bool = False):
    one = Speaker(person, audio, silent)
    await one.endpoint.open()
    try:
        yield one
    finally:
        await one.connection.close()
        await one.endpoint.close()


def post(person, sdp: str, **headers: str) -> httpx.Response:
    return HTTP.post(
        f"{person.server.url}/v1/voice-files", content=sdp,
        headers={"Authorization": f"Bearer {person.token}", "Content-Type": SDP} | headers, timeout=TIMEOUT,
    )


def counted(server, outcome: str) -> float:
    """Counters exist after their first increment."""
    try:
        return value(server, "voice_recordings_ended_total", outcome=outcome)
    except AssertionError:
        return 0


def files(server) -> set[str]:
    return {path.name for path in (server.data / "media").iterdir()}


async def entries(endpoint: Endpoint, user) -> list[str]:
    return [kind for kind, _ in endpoint.streams[f"user:{user.id}"].entries.values()]


@pytest.fixture
def recorder(make_server):
    """A server of its own, whose files and metrics no other test changes."""
    server = make_server()
    yield server
    server.stop()


def test_a_recording_is_sent(recorder):
    alice, bob = recorder.users(2)

    def nobody_knows() -> None:
        assert value(recorder, "voice_recordings", state="open") == 1
        assert value(recorder, "gateway_calls") == 0 and value(recorder, "gateway_connected_legs") == 1
        assert listed(bob, alice) == listed(alice, bob) == []
        assert alice.get("/v1/calls").json()["calls"] == []

    async def run():
        listener = Endpoint(recorder.realtime_url, bob.id, bob.token)
        await listener.open()
        await listener.listen(f"user:{bob.id}")
        async with speaker(alice) as one:
            await one.record(bob)
            await one.speaks(2.5)
            # Nobody else knows of it, and it is no call. What is asked beside it must not make the speaker halt.
            await asyncio.to_thread(nobody_knows)
            assert not await entries(listener, bob)
            before = time.monotonic()
            message = await one.send()
            took = time.monotonic() - before
            # Finishing it again makes no second file.
            again = await one.endpoint.ask("voice.finishRecording", recording=one.recording)
            assert again["duplicate"] and again["file"]["id"] == message["file"]
        await listener.close()
        return message, took

    message, took = asyncio.run(run())
    # It is longer by what the machine makes one wait.
    assert message["durationMs"] >= 2_300 and message["contentType"] == "audio/ogg"
    assert message["message"]["author"] == alice.id
    # A sine of 12,000 of 32,768.
    assert -13 <= message["level"] <= -10 and len(message["waveform"]) == 100 and min(message["waveform"][3:-3]) > 25
    [found] = listed(bob, alice)
    file = fetch(bob, found["audio"]["url"]).content
    opusinfo(file)
    audio = decode(file)
    assert abs(len(audio) - message["durationMs"] * 48) < 960
    assert abs(pitch(audio[RATE : RATE + RATE // 2]) - 700) < 15
    assert took < 2
    # The recording has become the message, and no other file is left.
    assert len(files(recorder)) == 1
    for state in ("open", "kept"):
        wait_until(lambda state=state: value(recorder, "voice_recordings", state=state) == 0, f"none is {state}")
    wait_until(lambda: counted(recorder, "finished") == 1, "it is counted")
    wait_until(lambda: value(recorder, "gateway_legs") == 0, "the leg to go")


def test_of_parallel_recordings_one_stays(make_server):
    """A user without an endpoint has one recording, however many are started at the same moment."""
    recorder = make_server({"limits": {"voiceMessagesPerMinute": 10_000}})
    alice = recorder.user()

    async def run():
        async with speaker(alice) as one:
            sdp = await one.sdp()
            answers = await asyncio.gather(*(asyncio.to_thread(post, alice, sdp) for _ in range(20)))
        assert {response.status_code for response in answers} <= {201, 404}, [response.text for response in answers]
        await until("one leg", lambda: value(recorder, "gateway_legs") == 1)
        await until("one recording", lambda: value(recorder, "voice_recordings", state="open") == 1)
        made = [response.headers["Location"] for response in answers if response.status_code == 201]
        ends = [alice.request("DELETE", address).status_code for address in made]
        assert sorted(ends) == [204] + [404] * (len(made) - 1), ends
        await until("no leg", lambda: value(recorder, "gateway_legs") == 0)
        await until("no recording", lambda: value(recorder, "voice_recordings", state="open") == 0)
        await until("no file", lambda: not files(recorder))

    asyncio.run(run())
    recorder.stop()


def test_by_http_alone_as_by_whip(recorder):
    alice, bob, eve = recorder.users(3)

    def others_learn_nothing(one: Speaker) -> None:
        path = f"/v1/voice-recordings/{one.recording}"

        def patch(person, match, fragment="a=ice-ufrag:abcd\r\na=ice-pwd:" + "p" * 24 + "\r\n"):
            headers = {"Authorization": f"Bearer {person.token}", "Content-Type": FRAGMENT}
            return httpx.patch(
                recorder.url + path, content=fragment, headers=headers | ({"If-Match": match} if match else {})
            )

        assert patch(alice, one.tag, "a=end-of-candidates\r\n").status_code == 204
        refused(patch(alice, None), 428, "precondition_required", "If-Match")
        refused(patch(alice, '"another"'), 412, "precondition_failed", "If-Match")
        refused(patch(alice, "*", "words"), 400, "invalid_request", "body")
        # Only its owner can see it.
        refused(patch(eve, one.tag), 404, "not_found", "recording")
        refused(patch(bob, "*"), 404, "not_found", "recording")
        for other in (bob, eve):
            refused(other.post(f"{path}/finish"), 404, "not_found", "recording")
            refused(other.request("DELETE", path), 404, "not_found", "recording")
        assert HTTP.post(f"{recorder.url}{path}/finish").status_code == 401

    async def run():
        async with speaker(alice) as one:
            response = await one.record_by_http(bob)
            assert response.headers["Content-Type"] == SDP and response.headers["Accept-Patch"] == FRAGMENT
            assert any('rel="ice-server"' in link for link in response.headers.get_list("Link"))
            await one.speaks(0.5)
            await asyncio.to_thread(others_learn_nothing, one)
            path = f"/v1/voice-recordings/{one.recording}"
            sent = await asyncio.to_thread(alice.post, f"{path}/finish")
            assert sent.status_code == 201, sent.text
            again = alice.post(f"{path}/finish")
            assert again.status_code == 200 and again.json()["duplicate"] is True
            assert again.json()["file"]["id"] == sent.json()["file"]["id"]
            refused(alice.request("DELETE", path), 404, "not_found", "recording")
            for other in (bob, eve):
                refused(other.post(f"{path}/finish"), 404, "not_found", "recording")
            return sent.json()["file"]

    message = asyncio.run(run())
    assert listed(bob, alice) == []
    assert message["durationMs"] > 400 and message["level"] >= -14


def test_ice_is_restarted_in_the_middle(recorder):
    """New ICE credentials of the client get new ones in response, and the audio continues in the same file."""
    alice, bob = recorder.users(2)

    async def run():
        async with speaker(alice) as one:
            await one.record_by_http(bob)
            await one.speaks(0.4)
            response = await asyncio.to_thread(
                httpx.patch, f"{recorder.url}/v1/voice-recordings/{one.recording}",
                content="a=ice-ufrag:abcd\r\na=ice-pwd:" + "p" * 24 + "\r\n",
                headers={"Authorization": f"Bearer {alice.token}", "Content-Type": FRAGMENT, "If-Match": "*"},
            )
            assert response.status_code == 200, response.text
            assert "a=ice-ufrag:" in response.text and response.headers["ETag"] != one.tag
            # aiortc does not restart ICE: it keeps sending from the same address.
            await one.speaks(1.2)
            return await one.send()

    assert asyncio.run(run())["durationMs"] > 1_000


def test_one_may_think_better_of_it(recorder):
    alice, bob = recorder.users(2)

    async def run():
        async with speaker(alice) as one:
            await one.record(bob)
            await one.speaks(1.5)
            await until("a file", lambda: len(files(recorder)) == 1)
            await one.discard()
            assert files(recorder) == set()
            with pytest.raises(RequestError) as gone:
                await one.send()
            assert gone.value.type == "not_found"
        # A new recording replaces the client's earlier one, but not that of another client.
        async with speaker(alice) as one, speaker(alice.another_endpoint()) as other:
            await one.record(bob)
            await other.record(bob)
            await one.speaks(1.2)
            first = one.recording
            await one.connection.close()
            one.connection = RTCPeerConnection()
            one.audio = Hum(500)
            await one.record(bob)
            with pytest.raises(RequestError) as gone:
                await one.endpoint.ask("voice.finishRecording", recording=first)
            assert gone.value.type == "not_found"
            await one.speaks(0.6)
            assert (await one.send())["durationMs"] > 400
            assert (await other.send())["durationMs"] > 1_000

    asyncio.run(run())
    assert len(files(recorder)) == len(listed(bob, alice)) == 2
    assert counted(recorder, "discarded") == 1
    assert counted(recorder, "replaced") == 1


def test_it_is_as_long_as_it_may_be(make_server):
    server = make_server({"voice": {"maxSeconds": 2, "maxBytes": 60_000}})
    alice, bob = server.users(2)

    async def run():
        async with speaker(alice) as one:
            await one.record(bob)
            await until("its end", lambda: value(server, "voice_recordings", state="kept") == 1)
            await until("none to go on", lambda: value(server, "voice_recordings", state="open") == 0)
            await until("the leg to go", lambda: value(server, "gateway_legs") == 0)
            # It is kept until it is sent, by this client or by another one of the same person.
            response = await asyncio.to_thread(alice.post, f"/v1/voice-recordings/{one.recording}/finish")
            assert response.status_code == 201, response.text
            file = response.json()["file"]
            assert (await asyncio.to_thread(send_file, alice, conversation(alice, bob), file["id"])).status_code == 201
            return file

    message = asyncio.run(run())
    assert message["durationMs"] == 2_000
    audio = decode(fetch(bob, listed(bob, alice)[0]["audio"]["url"]).content)
    assert abs(len(audio) - 2 * RATE) < 10 and abs(pitch(audio[-RATE // 4 :]) - 700) < 15
    server.stop()


def test_it_is_as_large_as_it_may_be(make_server):
    server = make_server({"voice": {"maxBytes": 6_000}})
    alice, bob = server.users(2)

    async def run():
        async with speaker(
            alice, Speech((numpy.random.default_rng(7).standard_normal(RATE * 30) * 4_000).astype(numpy.int16))
        ) as one:
            await one.record(bob)
            await until("its end", lambda: value(server, "voice_recordings", state="kept") == 1)
            return await one.send()

    message = asyncio.run(run())
    assert message["byteCount"] <= 6_500 and 200 < message["durationMs"] < 5_000
    server.stop()


def test_a_lost_connection_loses_no_audio(recorder):
    alice, bob = recorder.users(2)

    async def run():
        async with speaker(alice) as one:
            await one.record(bob)
            await one.speaks(1.6)
            # The page closes its side; both its connections are gone.
            await one.connection.close()
            await one.endpoint.close()
            await until("the end", lambda: value(recorder, "voice_recordings", state="kept") == 1)
            return (await asyncio.to_thread(alice.post, f"/v1/voice-recordings/{one.recording}/finish")).json()["file"]

    message = asyncio.run(run())
    assert 1_300 < message["durationMs"] < 2_600, message
    assert len(files(recorder)) == 1


def test_a_network_that_is_gone_is_no_silence_at_the_end(recorder):
    """The client vanishes without close_notify: the gateway notices half a minute later, which is not in the
    message."""
    alice, bob = recorder.users(2)

    async def run():
        async with speaker(alice) as one:
            await one.record(bob)
            await one.speaks(1.5)
            transport = one.connection.getSenders()[0].transport.transport
            # No close_notify: nothing is sent any more, no checks either.
            await transport._connection.close()
            await until("the end", lambda: value(recorder, "voice_recordings", state="kept") == 1)
            return await one.send()

    assert 1_300 < asyncio.run(run())["durationMs"] < 4_000


def test_an_empty_recording_is_rejected(recorder):
    alice, bob = recorder.users(2)

    async def run():
        async with speaker(alice, silent=True) as one:
            await one.record(bob)
            with pytest.raises(RequestError) as nothing:
                await one.send()
            assert (nothing.value.type, nothing.value.problem["field"]) == ("invalid_request", "recording")
            assert "muted" in nothing.value.problem["detail"]
            await one.discard()

    asyncio.run(run())
    assert listed(bob, alice) == [] and files(recorder) == set()


def offer(*sections: str) -> str:
    head = "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\na=group:BUNDLE " + " ".join(
        str(n) for n in range(len(sections))
    )
    return head + "\r\n" + "".join(sections)


def section(mid: int, kind: str = "audio", direction: str = "sendonly", codec: str = "opus/48000/2") -> str:
    number = 111 if kind == "audio" else 96
    return "\r\n".join([
        f"m={kind} 9 UDP/TLS/RTP/SAVPF {number}", "c=IN IP4 0.0.0.0", f"a=mid:{mid}", f"a={direction}", "a=rtcp-mux",
        f"a=rtpmap:{number} {codec}", "a=ice-ufrag:peer", "a=ice-pwd:abcdabcdabcdabcdabcdabcd", "a=setup:actpass",
        "a=fingerprint:sha-256 " + ":".join(["AB"] * 32), "",
    ])


VIDEO = ("video", "sendonly", "VP8/90000")


@pytest.mark.parametrize(
    ("sdp", "words"),
    [
        ("words", ""), ("", ""), (offer(section(0, direction="recvonly")), "no Opus audio"),
        (offer(section(0, direction="inactive")), "no Opus audio"), (offer(section(0, codec="PCMU/8000")), "codec"),
        (offer(section(0, *VIDEO)), "no Opus audio"), (offer(section(0)).replace("a=ice-pwd", "a=x"), "ice-pwd"),
        ("v=0\r\n" * 60_000, "262144"),
    ],
    ids=["words", "nothing", "recvonly", "inactive", "another codec", "video", "no password", "large"],
)
def test_invalid_offers_are_rejected(server, sdp, words):
    alice = server.user()
    problem = refused(post(alice, sdp), 400, "invalid_request", "body")
    assert words in problem["detail"], problem
    problem = refused(
        alice.post("/v1/voice-recordings", {"offer": {"sdp": sdp}}), 400, "invalid_request", "offer.sdp")
    assert words in problem["detail"], problem
    # Its file is deleted.
    for _ in range(8):
        assert post(alice, sdp).status_code == 400


def test_other_sections_are_rejected_in_the_answer(server):
    alice = server.user()
    response = post(
        alice, offer(section(0, direction="sendrecv"), section(1, *VIDEO), section(2, direction="recvonly"))
    )
    assert response.status_code == 201, response.text
    found = [part.split("\r\n") for part in response.text.split("m=")[1:]]
    assert [
        next(line for line in lines if line[2:] in ("recvonly", "sendonly", "inactive", "sendrecv")) for lines in found
    ] == ["a=recvonly", "a=inactive", "a=inactive"], response.text
    assert "usedtx=1" not in response.text
    recording = response.headers["Location"]
    assert alice.request("DELETE", recording).status_code == 204


def test_permission_is_checked_before_a_leg_is_made(recorder):
    alice = recorder.user()
    sdp = offer(section(0))
    anonymous = HTTP.post(f"{recorder.url}/v1/voice-files", content=sdp, headers={"Content-Type": SDP})
    assert anonymous.status_code == 401
    # Twenty files of a user may wait to be sent.
    assert {upload(alice, encode(tone(0.1))).status_code for _ in range(20)} == {201}
    for response in (
        upload(alice, encode(tone(0.1))), post(alice, sdp),
        alice.post("/v1/voice-recordings", {"offer": {"sdp": sdp}}),
    ):
        assert "20 voice files" in refused(response, 409, "conflict")["detail"]
    assert value(recorder, "gateway_legs") == value(recorder, "voice_recordings", state="open") == 0


def test_bounds(make_server):
    server = make_server({"limits": {"voiceMessagesPerMinute": 9}})
    alice = server.user()
    sdp = offer(section(0))
    # One per client of a user, and for at most four clients.
    clients = [alice.another_endpoint() for _ in range(5)]
    answers = [client.post("/v1/voice-recordings", {"offer": {"sdp": sdp}}) for client in clients]
    assert [response.status_code for response in answers] == [201] * 4 + [409], [response.text for response in answers]
    refused(answers[4], 409, "conflict")
    # A client's own is replaced.
    again = clients[0].post("/v1/voice-recordings", {"offer": {"sdp": sdp}})
    assert again.status_code == 201
    refused(
        alice.request("DELETE", f"/v1/voice-recordings/{answers[0].json()['recording']}"), 404, "not_found", "recording"
    )
    wait_until(lambda: value(server, "voice_recordings", state="open") == 4, "four recordings")
    for recording in (again, *answers[1:4]):
        assert alice.request("DELETE", f"/v1/voice-recordings/{recording.json()['recording']}").status_code == 204
    wait_until(lambda: value(server, "voice_recordings", state="open") == 0, "no recording")
    codes = [post(alice, sdp).status_code for _ in range(6)]
    assert codes[0] == 201 and codes[-1] == 429, codes
    server.stop()


def test_a_restart_in_the_middle_leaves_nothing_half(make_server):
    server = make_server()
    alice, bob = server.users(2)

    async def run(end):
        async with speaker(alice) as one:
            await one.record(bob)
            await one.speaks(1.6)
            await until("a file", lambda: len(files(server)) == 1)
            await asyncio.to_thread(end)
            await asyncio.to_thread(server.start)
            await one.endpoint.open()
            with pytest.raises(RequestError) as gone:
                await one.send()
            assert gone.value.type == "not_found"

    for end in (server.kill, server.stop):
        asyncio.run(run(end))
        assert files(server) == set() and listed(bob, alice) == []
    server.stop()


def test_without_a_gateway_recordings_are_rejected(make_server):
    server = make_server(role="api,relay")
    alice = server.user()
    problem = refused(post(alice, offer(section(0))), 409, "conflict")
    assert "no media gateway" in problem["detail"]
    assert alice.get("/v1/server").json()["voice"]["recording"] is False
    refused(alice.post("/v1/voice-recordings", {"offer": {"sdp": offer(section(0))}}), 409, "conflict")
    server.stop()


@needs_mount
def test_a_full_disk_is_reported(make_server):
    server = make_server({"media": {"minFreeBytes": 0}})
    alice, bob = server.users(2)
    with small_disk(server, "8k"):

        async def run():
            noise = (numpy.random.default_rng(7).standard_normal(RATE * 30) * 4_000).astype(numpy.int16)
            async with speaker(alice, Speech(noise)) as one:
                await one.record(bob)
                await until("its failure", lambda: counted(server, "failed") == 1)
                with pytest.raises(RequestError) as full:
                    await one.send()
                assert full.value.type == "conflict" and "no room" in full.value.problem["detail"]
                await until("the room", lambda: files(server) == set())
                await one.discard()

        asyncio.run(run())
        assert "Make room" in server.log_tail()
        assert listed(bob, alice) == []
        # With less free space than the minimum, no recording starts.
        server.settings["media"]["minFreeBytes"] = 100_000
        server.restart()
        problem = refused(post(alice, offer(section(0))), 503, "storage_full")
        assert "no room" in problem["detail"] and "media.minFreeBytes" in server.log_tail()
    server.stop()


def test_a_call_beside_it_goes_on(recorder):
    """A recording leg neither sends to nor receives from others."""

    async def run():
        async with group(recorder, 2, "audio") as everybody:
            ann, ben = everybody
            for one in everybody:
                await one.join(slots=1, video=False)
            await ann.receives_audio(ben)
            cleo, dan = recorder.users(2)
            async with speaker(cleo, Hum(900)) as one:
                await one.record(dan)
                await one.speaks(0.8)
                assert value(recorder, "gateway_calls") == 1
                await ann.receives_audio(ben)
                await ben.receives_audio(ann)
                assert (await one.send())["durationMs"] > 500
            await ben.receives_more(ben.slot_of(ann, "audio"))
            # Nothing was recorded of the call.
            assert len(files(recorder)) == 1

    asyncio.run(run())


def test_recordings_are_transcribed(make_server):
    speech = utterance(WORDS)
    server = make_server(COMMAND)
    alice, bob = server.users(2)

    async def run():
        async with speaker(alice, Speech(speech)) as one:
            await one.record(bob)
            await one.speaks(len(speech) / RATE)
            return await one.send()

    message = asyncio.run(run())
    assert message["transcript"]["status"] == "pending"
    assert transcript(bob, message, "complete", "failed")["text"] == WORDS
    server.stop()
