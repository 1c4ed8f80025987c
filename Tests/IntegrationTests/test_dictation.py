"""Dictation: what somebody says comes back as text, and nothing of it is kept."""

from __future__ import annotations

import pathlib
from typing import Any

import httpx
import numpy
import pytest
from switchboard_tests.audio_files import RATE, encode, tone
from switchboard_tests.scripted_recogniser import utterance
from switchboard_tests.server import HTTP, User
from switchboard_tests.transcription import WORDS, Liar, Picky, endpoint_of, serving
from switchboard_tests.voice_messages import conversation, send_file, uploaded


@pytest.fixture(scope="module")
def speech() -> numpy.ndarray:
    """The words with a pause before and behind them."""
    pause = numpy.zeros(RATE, numpy.int16)
    return numpy.concatenate([pause, utterance(WORDS), pause])


def dictate(user: User, file: bytes, type: str = "audio/ogg", **parameters: str) -> httpx.Response:
    headers = {"Authorization": f"Bearer {user.token}", "Content-Type": type}
    return HTTP.post(f"{user.server.url}/v1/dictation", params=parameters, content=file, headers=headers)


def refused(response: httpx.Response, status: int, type: str, field: str | None = None) -> None:
    assert response.status_code == status, response.text
    assert (response.json()["type"], response.json().get("field")) == (type, field), response.text


@pytest.mark.parametrize(("type", "format"), [("audio/ogg", "ogg"), ("audio/webm", "webm")])
def test_what_is_said_comes_back_and_is_not_kept(listener, speech, type, format):
    [alice] = listener.users(1)
    kept = {path: path.stat().st_size for path in pathlib.Path(listener.directory).rglob("*") if path.suffix == ".ogg"}
    found = dictate(alice, encode(speech, format=format), type)
    assert found.status_code == 200 and found.json()["text"] == WORDS, found.text
    after = {path: path.stat().st_size for path in pathlib.Path(listener.directory).rglob("*") if path.suffix == ".ogg"}
    assert after == kept
    for file in pathlib.Path(listener.directory).rglob("switchboard.sqlite*"):
        assert WORDS.encode() not in file.read_bytes(), file
    assert WORDS not in listener.log_tail()


def test_where_nobody_speaks_there_is_no_text(listener):
    [alice] = listener.users(1)
    assert dictate(alice, encode(tone(1))).json()["text"] == ""


def test_what_is_wrong_is_named(listener, speech):
    [alice] = listener.users(1)
    file = encode(speech)
    refused(dictate(alice, file, language="not a tag"), 400, "invalid_request", "language")
    refused(dictate(alice, b"no sound"), 400, "invalid_request", "body")
    refused(dictate(alice, file, "audio/mpeg"), 415, "unsupported_media_type", "Content-Type")
    refused(dictate(alice, bytes(3 << 20)), 413, "payload_too_large", "body")
    long = encode(numpy.zeros(RATE * 123, numpy.int16))
    refused(dictate(alice, long), 400, "invalid_request", "body")
    alice.token = "wrong"
    refused(dictate(alice, file), 401, "unauthenticated")


def test_without_a_provider_nothing_is_made_up(server, speech):
    refused(dictate(server.users(1)[0], encode(speech)), 503, "provider_not_configured")


def test_a_hosted_service_gets_what_its_author_allows(make_server, speech):
    with serving(Picky) as hosted:
        hosted.successes_left = 1_000
        settings: dict[str, Any] = endpoint_of(hosted)
        settings["transcription"]["hosted"] = "true"
        server = make_server(settings)
        [alice] = server.users(1)
        refused(dictate(alice, encode(speech)), 403, "consent_required")
        assert hosted.requests == 0
        alice.request("PATCH", "/v1/me", {"intelligence": "translate"})
        for count in (1, 2):
            # It is asked each time: what was said is not kept in memory either.
            assert dictate(alice, encode(speech)).json()["text"] == "well"
            assert hosted.requests == count
        server.stop()


def test_a_provider_that_fails_is_said(make_server, speech):
    with serving(Liar) as liar:
        server = make_server(endpoint_of(liar))
        [alice] = server.users(1)
        for mode in ("json", "huge", "refuse"):
            liar.mode = mode
            refused(dictate(alice, encode(speech)), 502, "provider_failed")
        liar.mode = "well"
        found = dictate(alice, encode(speech), language="en").json()
        assert found == {"text": "hello there", "language": "en"}
        server.stop()


def test_a_file_that_is_not_sent_can_be_written_down(listener, speech):
    alice, bob = listener.users(2)
    file = uploaded(alice, encode(speech))["id"]
    path = f"/v1/voice-files/{file}/dictation"
    assert alice.post(path, {}).json()["text"] == WORDS
    assert alice.post(f"{path}?language=en", {}).json()["text"] == WORDS
    refused(alice.post(f"{path}?language=1", {}), 400, "invalid_request", "language")
    refused(bob.post(path, {}), 404, "not_found", "file")
    assert send_file(alice, conversation(alice, bob), file).status_code == 201
    refused(alice.post(path, {}), 404, "not_found", "file")
