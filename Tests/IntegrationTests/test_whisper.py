"""Voice messages in several languages, which a real multilingual model tells apart; and what becomes of them for who
reads another language. espeak-ng speaks."""

from __future__ import annotations

import os
import pathlib
import subprocess
from collections.abc import Iterator

import numpy
import pytest
from switchboard_tests import engines
from switchboard_tests.audio_files import RATE, encode
from switchboard_tests.server import Server
from switchboard_tests.transcription import transcript
from switchboard_tests.translators import outcomes
from switchboard_tests.voice_messages import conversation, sent

pytestmark = pytest.mark.long

PYTHON = pathlib.Path(__file__).resolve().parents[2] / ".build-engines/whisper/bin/python"
PROGRAM = pathlib.Path(engines.__file__).parent / "whisper_server.py"
# What is said, and words that have to be in its transcript.
SAID = {
    "en": ("The train to London leaves tomorrow at nine in the morning.", ["train", "london", "tomorrow", "morning"]),
    "es": ("Buenos días. Mi hermana trabaja en un hospital muy grande.", ["hermana", "trabaja", "hospital"]),
    "de": ("Morgen fahren wir mit dem Zug nach Berlin und besuchen unsere Freunde.", ["morgen", "zug", "berlin"]),
}


def spoken(text: str, language: str) -> numpy.ndarray:
    """By espeak-ng, which writes a WAV file of 22,050 Hz; half a second of silence around it."""
    command = ["espeak-ng", "-v", language, "-s", "140", "--stdout", text]
    wav = subprocess.run(command, capture_output=True, check=True).stdout
    samples = numpy.frombuffer(wav[44:], "<i2")
    times = numpy.arange(len(samples) * RATE // 22_050) * 22_050 / RATE
    resampled = numpy.interp(times, numpy.arange(len(samples)), samples)
    return numpy.pad(resampled, RATE // 2).astype(numpy.int16)


@pytest.fixture(scope="module")
def whisper() -> Iterator[str]:
    program = subprocess.Popen(
        [PYTHON, PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": str(PROGRAM.parents[2])},
    )  # fmt: skip
    assert program.stdin is not None and program.stdout is not None
    url = program.stdout.readline().strip()
    assert url, program.wait()
    yield url
    program.stdin.close()
    program.wait()


@pytest.fixture(scope="module")
def server(make_server, whisper) -> Server:
    return make_server(
        {"transcription": {"provider": "openai", "url": whisper, "model": "base", "hosted": "false"}}
    )


@pytest.mark.parametrize("language", SAID)
def test_the_language_of_a_voice_message_is_found_out(server, language):
    ann, ben = server.users(2)
    text, words = SAID[language]
    message = sent(ann, ben, encode(spoken(text, language)), "audio/ogg")
    found = transcript(ben, message, "complete", "failed")
    assert (found["status"], found["language"]) == ("complete", language), found
    assert all(word in found["text"].lower() for word in words), found["text"]
    assert found["segments"][0]["end"] > 1_000


def test_what_was_said_is_read_in_another_language(server):
    ann, ben = server.users(2)
    assert ben.request("PATCH", "/v1/me", {"languages": ["pt"]}).status_code == 200
    here = conversation(ann, ben)
    message = sent(ann, ben, encode(spoken(SAID["es"][0], "es")), "audio/ogg")
    assert transcript(ben, message, "complete", "failed")["status"] == "complete"
    number = message["message"]["number"]
    row = outcomes(ben, here, [number])[number]
    assert (row["status"], row["engine"], row["language"]) == ("done", "apertium", "pt")
    assert "irmã trabalha num hospital" in row["text"].replace("em um", "num"), row["text"]
