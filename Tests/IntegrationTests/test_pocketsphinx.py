"""A real recogniser: flite speaks, and pocketsphinx transcribes a call and voice messages.

It is sometimes wrong about a word ("times" for "five"), and the more so on a busy machine, on which the speech of a
call arrives with gaps. Everything that does not depend on its errors is tested with a scripted recogniser.
"""

from __future__ import annotations

import asyncio
import difflib

import numpy
import pytest
from switchboard_tests.audio_files import RATE, encode
from switchboard_tests.gateway import speaking_call
from switchboard_tests.transcription import COMMAND, WORDS, transcript
from switchboard_tests.voice_messages import sent

MAX_WRONG = 1


@pytest.fixture(scope="module")
def listener(make_server):
    server = make_server(COMMAND)
    yield server
    server.stop()


def wrong(text: str) -> int:
    """How many of the words are missing, or others instead."""
    spoken, found = WORDS.split(), text.split()
    blocks = difflib.SequenceMatcher(None, spoken, found, autojunk=False).get_matching_blocks()
    return max(len(spoken), len(found)) - sum(block.size for block in blocks)


def test_captions_of_a_call(listener, spoken):
    async def run():
        async with speaking_call(listener) as ((ann, ben), tracks):
            await ann.endpoint.ask("calls.caption", call=ann.call)
            await tracks[0].say(spoken[WORDS])

            def text() -> str:
                return " ".join(caption["text"] for caption in ben.endpoint.events.get(f"captions:{ben.call}", []))

            await ben.endpoint.until("the words", lambda: wrong(text()) <= MAX_WRONG)

    asyncio.run(run())


@pytest.mark.parametrize(("type", "format"), [("audio/ogg", "ogg"), ("audio/webm", "webm")])
def test_transcripts_of_voice_messages(listener, speech, type, format):
    alice, bob = listener.users(2)
    message = sent(alice, bob, encode(speech, format=format), type)
    found = transcript(bob, message, "complete", "failed")
    assert found["status"] == "complete" and wrong(found["text"]) <= MAX_WRONG, found
    first, last = found["segments"][0], found["segments"][-1]
    assert 700 < first["start"] < 1_600 and first["end"] <= message["durationMs"] and last["end"] > 2_000


@pytest.mark.parametrize("phase", [0.07, 0.22, 0.35, 0.6])
def test_times_are_right_for_speech_from_the_start(listener, speech, phase):
    alice, bob = listener.users(2)
    words = speech[RATE:-RATE]
    looped = numpy.tile(words, 5)[int(phase * RATE) :][: int(6.4 * RATE)]
    message = sent(alice, bob, encode(looped))
    found = transcript(bob, message, "complete", "failed")
    assert found["status"] == "complete", found
    # The five words have a plausible length.
    for segment in found["segments"]:
        seconds = (segment["end"] - segment["start"]) / 1000
        assert seconds > 0.2 * len(segment["text"].split()) - 0.3, found["segments"]
    assert found["segments"][0]["start"] < 800 and found["segments"][-1]["end"] <= message["durationMs"], found[
        "segments"
    ]
