"""Transcripts of voice messages, by a scripted recogniser; a real one has test_pocketsphinx.py."""

from __future__ import annotations

import asyncio
import base64
import http.server
import stat
import threading
from typing import Any

import numpy
import pytest
from switchboard_tests.audio_files import RATE, encode, tone
from switchboard_tests.endpoint import Endpoint
from switchboard_tests.scripted_recogniser import utterance
from switchboard_tests.transcription import WORDS, Liar, Picky, Webhook, endpoint_of, serving, transcript
from switchboard_tests.voice_messages import conversation, sent
from switchboard_tests.waiting import eventually


@pytest.fixture(scope="module")
def speech() -> numpy.ndarray:
    """The words with a pause before and behind them."""
    pause = numpy.zeros(RATE, numpy.int16)
    return numpy.concatenate([pause, utterance(WORDS), pause])


@pytest.mark.parametrize(("type", "format"), [("audio/ogg", "ogg"), ("audio/webm", "webm")])
def test_voice_messages_are_transcribed(listener, speech, type, format):
    alice, bob, eve = listener.users(3)

    async def run():
        """The message changes for who listens."""
        id = await asyncio.to_thread(conversation, alice, bob)
        endpoint = Endpoint(listener.realtime_url, bob.id, bob.token)
        await endpoint.open()
        message = await asyncio.to_thread(sent, alice, bob, encode(speech, format=format), type)
        found = await asyncio.to_thread(transcript, bob, message, "complete", "failed")
        [seen] = (await endpoint.ask("messages.list", conversation=id))["messages"]
        await endpoint.close()
        return message, found, seen

    message, transcribed, seen = asyncio.run(run())
    assert message["transcript"] == {"status": "pending"}
    assert transcribed["status"] == "complete" and transcribed["text"] == WORDS
    assert seen["voice"]["transcript"] == {name: transcribed[name] for name in seen["voice"]["transcript"]}
    assert "segments" not in seen["voice"]["transcript"] and seen["version"] == seen["textVersion"]
    assert seen["version"] > message["message"]["version"]
    # Its words are found.
    query = f"/v1/search?query={WORDS.split()[0]}&conversation={seen['conversation']}"
    assert [one["message"]["number"] for one in bob.get(query).json()["results"]] == [seen["number"]]
    path = message["path"] + "/transcript"
    for user in (alice, bob):
        assert user.get(path).json()["transcript"] == transcribed
    first, last = transcribed["segments"][0], transcribed["segments"][-1]
    assert 700 < first["start"] < 1_600 and first["end"] <= message["durationMs"] and last["end"] > 2_000
    text = bob.get(path + "/text")
    assert text.headers["content-type"].startswith("text/plain") and text.text.split() == WORDS.split()
    assert bob.get(path + "/vtt").text.startswith("WEBVTT\n\n00:00:0") and "-->" in bob.get(path + "/srt").text
    assert bob.get(path + "/pdf").status_code == 400
    # It is not transcribed again.
    assert alice.post(path).json()["transcript"] == transcribed
    for asked in (eve.get(path), eve.post(path), eve.get(path + "/vtt")):
        assert asked.status_code == 404
    assert alice.request("DELETE", message["path"] + "?for=all").status_code == 200
    assert bob.get(path).status_code == 409
    assert bob.get(query).json()["results"] == []


def test_without_a_provider_nothing_is_made_up(server):
    alice, bob = server.users(2)
    message = sent(alice, bob, encode(tone(1)))
    assert "transcript" not in message
    path = message["path"] + "/transcript"
    assert alice.get(path).status_code == 404
    refused = alice.post(path)
    assert refused.status_code == 503 and refused.json()["type"] == "provider_not_configured"


@pytest.fixture
def liar():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Liar)
    server.release = threading.Event()
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.release.set()
    server.shutdown()


def test_provider_failures_are_reported_and_retried(make_server, speech, liar):
    liar.mode = "json"
    url = f"http://127.0.0.1:{liar.server_port}/v1"
    server = make_server(
        {
            "transcription": {
                "provider": "openai",
                "url": url,
                "model": "tiny",
                "apiKey": "sk-secret",
                "timeoutSeconds": 2,
                "hosted": "false",
            }
        }
    )
    alice, bob = server.users(2)
    for mode, type in (("json", "bad_answer"), ("huge", "answer_too_large"), ("refuse", "refused")):
        liar.mode = mode
        message = sent(alice, bob, encode(speech))
        failure = transcript(bob, message, "failed")["failure"]
        assert failure["type"] == type and failure["mayRetry"] and "sk-secret" not in failure["detail"], failure
    conflict = bob.get(message["path"] + "/transcript/vtt")
    assert conflict.status_code == 409 and conflict.json()["detail"] == failure["detail"]

    # While it hangs, messages can be sent and deleted; and pending work survives a restart.
    liar.mode = "hang"
    path = message["path"] + "/transcript"
    assert bob.post(path).json()["transcript"]["status"] == "pending"
    assert sent(alice, bob, encode(tone(0.5)))["path"]
    server.kill()
    liar.mode = "well"
    server.start()
    written = transcript(bob, message, "complete")
    assert written["text"] == "hello there" and written["language"] == "en"
    server.stop()


def test_a_webhook_is_signed_and_repeated_with_its_id(make_server, speech):
    with serving(Webhook) as receiver:
        receiver.secret = "whsec_" + base64.b64encode(bytes(range(32))).decode()
        receiver.ids, receiver.ports = [], []
        server = make_server(
            {
                "transcription": {
                    "provider": "webhook", "url": f"http://127.0.0.1:{receiver.server_port}/hook",
                    "webhookSecret": receiver.secret, "allowPrivateAddresses": True, "hosted": "false",
                }
            }
        )
        alice, bob = server.users(2)
        first = sent(alice, bob, encode(speech))
        assert transcript(bob, first, "complete", "failed")["text"] == "hello there"
        second = sent(alice, bob, encode(tone(1)))
        assert transcript(bob, second, "complete", "failed")["status"] == "complete"
        server.stop()
    # The request that met a busy webhook came again as itself, and all came over one connection.
    assert receiver.ids[0] == receiver.ids[1]
    assert len(set(receiver.ports)) == 1


def test_a_hosted_service_gets_what_the_conversation_and_the_author_allow(make_server, speech):
    with serving(Picky) as hosted:
        hosted.successes_left = 1_000
        settings = endpoint_of(hosted)
        del settings["transcription"]["hosted"]
        settings["transcription"]["timeoutSeconds"] = 60
        server = make_server(settings)
        alice, bob = server.users(2)
        id = conversation(alice, bob)

        def refused(message: dict[str, Any]) -> None:
            assert "transcript" not in message
            problem = bob.post(message["path"] + "/transcript")
            assert problem.status_code == 403, problem.text
            assert problem.json()["type"] == "consent_required" and problem.json()["field"] == "number"

        first = sent(alice, bob, encode(speech))
        refused(first)
        # Of two people the lower level holds.
        alice.request("PATCH", "/v1/me", {"intelligence": "translate"})
        refused(sent(alice, bob, encode(speech)))
        assert hosted.requests == 0
        allowed = bob.request("PATCH", f"/v1/conversations/{id}/members/me", {"intelligence": "translate"})
        assert allowed.status_code == 200, allowed.text
        assert transcript(bob, sent(alice, bob, encode(speech)), "complete", "failed")["text"] == "well"
        # What was sent before is transcribed if somebody asks for it now.
        bob.post(first["path"] + "/transcript")
        assert transcript(bob, first, "complete", "failed")["text"] == "well"

        # What waits is not given away when it is allowed no more.
        before = hosted.requests
        (hosted.successes_left, hosted.mode) = (0, "hang")
        # Of the same sound a transcript is known.
        waiting = [sent(alice, bob, encode((speech * (1 - count / 20)).astype(speech.dtype))) for count in range(1, 8)]
        eventually(lambda: hosted.requests > before)
        alice.request("PATCH", "/v1/me", {"intelligence": "local"})
        hosted.mode, hosted.successes_left = "well", 1_000
        hosted.release.set()
        # Four are decoded at a time.
        for message in waiting[4:]:
            found = transcript(bob, message, "complete", "failed")
            assert found["failure"]["type"] == "consent_required" and found["failure"]["mayRetry"], found
        server.stop()


def test_a_program_that_is_not_there_is_a_clear_failure(make_server, speech, tmp_path):
    program = tmp_path / "listen"
    server = make_server({"transcription": {"provider": "command", "command": [str(program), "{file}"]}})
    assert str(program) in server.log_tail()
    alice, bob = server.users(2)
    message = sent(alice, bob, encode(speech))
    assert transcript(alice, message, "failed")["failure"]["type"] == "program_missing"
    program.write_text("#!/bin/sh\necho hello\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    alice.post(message["path"] + "/transcript")
    assert transcript(alice, message, "complete")["text"] == "hello"
    server.stop()
