"""Live captions of calls: flite speaks through aiortc, and what it said comes in everybody's stream while the call goes on."""

from __future__ import annotations

import asyncio
import datetime
import time
import uuid

import numpy
import pytest
from endpoint import Refused
from gateway import RATE, Participant, Tone
from test_metrics import families, value
from test_recording_transcripts import Listener, Picky, endpoint_of, serving, spoken, talking  # noqa: F401 - fixtures
from test_recordings import ended, fetch, is_recorded, person, samples, signed_up

COMMAND = {"transcription": {"provider": "command"}}
FIRST, SECOND = "one two three four five", "six seven eight nine ten"


def told(one: Participant) -> list[dict]:
    """The captions that came."""
    return one.endpoint.events.get(f"captions:{one.call}", [])


def document(one: Participant) -> dict:
    """What the call's stream has last told of itself."""
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
    """How often the provider was asked for something."""
    name = "transcription_attempt_seconds"
    return value(server, name + "_count") if "switchboard_" + name in families(server) else 0


def stamp(text: str) -> float:
    return datetime.datetime.fromisoformat(text).timestamp()


@pytest.fixture(scope="module")
def listener(make_server):
    server = make_server(COMMAND)
    yield server
    server.stop()


def test_what_is_said_comes_to_everybody_while_it_is_said(listener, spoken):  # noqa: F811
    async def run():
        async with talking(listener, 3) as (everybody, talks):
            ann, ben, cal = everybody
            answer = await ben.endpoint.ask("calls.caption", call=ben.call)
            assert answer["call"]["captions"]["by"] == ben.endpoint.user
            for one in everybody:
                await has_captions(one, ben)
            again = await cal.endpoint.ask("calls.caption", call=cal.call)
            assert again["duplicate"] and again["call"]["captions"]["by"] == ben.endpoint.user

            begun = time.time()
            await talks[0].say(spoken[FIRST])
            over = time.time()
            for one in everybody:
                await one.endpoint.until("Ann's words", lambda one=one: told(one))
            [caption] = told(cal)
            assert caption["text"] == FIRST and caption["user"] == ann.endpoint.user, caption
            assert caption["source"] == "microphone"
            start = stamp(caption["startedAt"])
            assert begun - 0.5 < start < begun + 1 and start + caption["durationMs"] / 1000 < over + 1

            # Two at once are two captions.
            await asyncio.gather(talks[1].say(spoken[SECOND]), talks[2].say(spoken[FIRST]))
            await ann.endpoint.until("both", lambda: len(told(ann)) == 3)
            said = {caption["user"]: caption["text"] for caption in told(ann)[1:]}
            assert said == {ben.endpoint.user: SECOND, cal.endpoint.user: FIRST}

            # A recording goes its own way beside them, and on when they end.
            await ann.endpoint.ask("calls.record", call=ann.call)
            await is_recorded(cal, ann)
            assert document(cal)["captions"]["by"] == ben.endpoint.user
            await talks[0].say(spoken[SECOND])
            await ben.endpoint.until("the words", lambda: len(told(ben)) == 4)
            await cal.endpoint.ask("calls.stopCaptions", call=cal.call)
            for one in everybody:
                await has_captions(one, None)
            await talks[1].say(spoken[SECOND])
            await cal.endpoint.ask("calls.stopRecording", call=cal.call)
            manifest = await ended(listener, ann, ann.call)
            loud = {}
            for track in manifest["tracks"]:
                sound = samples(fetch(listener, track))
                loud[track["user"]] = float(numpy.abs(sound).max())
            assert len(loud) == 3 and min(loud[ann.endpoint.user], loud[ben.endpoint.user]) > 0.1, loud

            # They can be wanted again, and end with the call.
            await cal.endpoint.ask("calls.caption", call=cal.call)
            await has_captions(ann, cal)
            await talks[2].say(spoken[SECOND])
            await ann.endpoint.until("Cal's words", lambda: len(told(ann)) == 5)
            # Nobody wanted Ben's last ones.
            assert told(ann)[-1]["user"] == cal.endpoint.user, told(ann)
            call = (await ann.endpoint.ask("calls.end", call=ann.call))["call"]
            assert call["status"] == "ended" and "captions" not in call

    asyncio.run(run())
    assert value(listener, "captions_total", outcome="given") >= 5
    assert value(listener, "caption_delay_seconds_count") >= 5
    assert value(listener, "captions_packets_dropped_total") == 0


def test_an_endpoint_like_openais_makes_them_too(make_server, spoken):  # noqa: F811
    with serving(Listener) as provider:
        server = make_server(endpoint_of(provider))

        async def run():
            async with talking(server) as ((ann, ben), talks):
                await ann.endpoint.ask("calls.caption", call=ann.call)
                await talks[1].say(spoken[FIRST])
                await ann.endpoint.until("the words", lambda: told(ann))
                [caption] = told(ann)
                assert caption["text"] == FIRST and caption["language"] == "en"
                assert caption["user"] == ben.endpoint.user

        asyncio.run(run())
        server.stop()


def test_who_may_begin_and_end_them(make_server):
    server = make_server(COMMAND)
    stranger = signed_up(server, "stranger")

    async def run():
        async with talking(server) as ((ann, ben), _):
            path = f"/v1/calls/{ann.call}/captions"
            invited = signed_up(server, "invited")
            for one in (stranger, invited):
                for method in ("POST", "DELETE"):
                    refused = await asyncio.to_thread(one.request, method, path, {} if method == "POST" else None)
                    assert refused.status_code == 404, refused.text
            # Another device of somebody in the call is not in it.
            other = await asyncio.to_thread(person(server, ben).post, path)
            assert other.status_code == 409 and other.json()["type"] == "answered_elsewhere", other.text
            await ben.endpoint.ask("calls.caption", call=ben.call)
            await has_captions(ann, ben)
            # Who leaves hears no more of it, and it goes on.
            await ann.endpoint.ask("calls.stopCaptions", call=ann.call)
            await has_captions(ben, None)

    asyncio.run(run())
    server.stop()


def test_where_nothing_can_be_heard_or_written_down_there_are_none(server, listener):
    async def run():
        async with talking(server) as ((ann, _), _):
            with pytest.raises(Refused) as refused:
                await ann.endpoint.ask("calls.caption", call=ann.call)
            assert refused.value.type == "provider_not_configured"

    asyncio.run(run())
    assert server.users(1)[0].get("/v1/server").json()["transcribes"] is False

    caller, callee = listener.users(2)
    body = {"clientID": str(uuid.uuid4()), "callees": [callee.id], "kind": "audio", "mode": "direct"}
    call = caller.post("/v1/calls", body).json()["call"]["id"]
    answer = caller.post(f"/v1/calls/{call}/captions")
    assert answer.status_code == 409 and "peer to peer" in answer.json()["detail"]


@pytest.mark.parametrize("mode", ["json", "refuse", "hang"])
def test_everybody_is_told_when_the_provider_fails_and_the_call_goes_on(make_server, spoken, mode):  # noqa: F811
    with serving(Picky) as provider:
        provider.mode = mode
        server = make_server(endpoint_of(provider))

        async def run():
            async with talking(server) as ((ann, ben), talks):
                await ann.endpoint.ask("calls.caption", call=ann.call)
                await talks[0].say(spoken[FIRST])
                await ben.endpoint.until("why there are none", lambda: failure(ben))
                assert not told(ben)
                # The call does not mind.
                mid = ben.slot_of(ann, "audio")
                await ben.more_from(mid)
                # Once it works again nothing is said of it any more.
                provider.patience = 1_000
                await talks[0].say(spoken[SECOND])
                await ben.endpoint.until("a caption", lambda: told(ben))
                await ben.endpoint.until("the failure to be over", lambda: failure(ben) is None)
                assert told(ben)[0]["text"] == "well"

        asyncio.run(run())
        server.stop()


def test_they_go_on_when_the_server_was_killed(make_server, spoken):  # noqa: F811
    server = make_server(COMMAND)

    async def run():
        async with talking(server) as (everybody, talks):
            ann, ben = everybody
            await ann.endpoint.ask("calls.caption", call=ann.call)
            await has_captions(ben, ann)
            server.kill()
            await asyncio.to_thread(server.start)
            for one, talk in zip(everybody, talks):
                await one.hang_up_media()
                await one.endpoint.open()
                await one.join(slots=1, video=False, sound=type(talk)())
            assert document(ben)["captions"]["by"] == ann.endpoint.user
            sound = ann.connection.getSenders()[0].track
            await sound.say(spoken[FIRST])
            await ben.endpoint.until("the words", lambda: told(ben))
            assert told(ben)[-1]["text"] == FIRST

    asyncio.run(run())
    server.stop()


def test_nobody_is_understood_who_only_hums(listener):
    """A steady tone is no speech, and costs no provider anything."""

    async def run():
        async with talking(listener) as ((ann, ben), _):
            before = attempts(listener)
            await ann.endpoint.ask("calls.caption", call=ann.call)
            await ben.hang_up_media()
            await ben.join(slots=1, video=False, sound=Quiet())
            await ann.until("Ben", lambda: ann.slot_of(ben, "audio"))
            # Three seconds of it.
            await ann.more_from(ann.slot_of(ben, "audio"), 150)
            assert not told(ann) and failure(ann) is None
            assert attempts(listener) == before

    asyncio.run(run())


class Quiet(Tone):
    """A hum that is hardly there."""

    def __init__(self):
        super().__init__(50)

    async def recv(self):
        frame = await super().recv()
        samples = (frame.to_ndarray() // 2_000).astype(numpy.int16)
        quiet = type(frame).from_ndarray(samples, format="s16", layout="mono")
        quiet.pts, quiet.sample_rate, quiet.time_base = frame.pts, RATE, frame.time_base
        return quiet
