"""Transcripts of recordings with their speakers: speech is sent with aiortc, a scripted recogniser transcribes it."""

from __future__ import annotations

import asyncio
import copy
import itertools
import time
from typing import Any

import jsonschema_rs
import numpy
import pytest
from switchboard_tests.audio_files import encode
from switchboard_tests.gateway import RATE, Participant, speaking_call
from switchboard_tests.recordings import is_recorded, person
from switchboard_tests.scripted_recogniser import COMMAND, PITCHES, utterance
from switchboard_tests.server import HTTP, Server, User
from switchboard_tests.transcription import SPEECH, Listener, Picky, endpoint_of, provider_calls, serving
from switchboard_tests.translators import ScriptedProvider, honest
from switchboard_tests.translators import serving as translating
from switchboard_tests.translators import settings as translation_settings
from switchboard_tests.voice_messages import sent
from switchboard_tests.waiting import TIMEOUT

# Two that differ: equal audio is transcribed only once.
LOUD = [
    (numpy.sin(numpy.arange(RATE * 2) * 2 * numpy.pi * pitch / RATE) * 12_000).astype(numpy.int16)
    for pitch in (200, 300)
]


def silence(seconds: float) -> numpy.ndarray:
    return numpy.zeros(int(seconds * RATE), numpy.int16)


async def recorded(server, everybody: list[Participant], say) -> dict:
    """The manifest of a recording made while `say` runs."""
    ann = everybody[0]
    known = {one["id"] for one in (await ann.endpoint.ask("calls.recordings", call=ann.call))["recordings"]}
    begun = await ann.endpoint.ask("calls.record", call=ann.call)
    await is_recorded(everybody[-1], ann)
    path = f"/v1/recordings/{begun['call']['recording']['id']}/transcript"
    assert (await asyncio.to_thread(person(server, ann).get, path)).status_code == 409, "it goes on"
    await say()
    await ann.endpoint.ask("calls.stopRecording", call=ann.call)
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        found = (await ann.endpoint.ask("calls.recordings", call=ann.call))["recordings"]
        [manifest] = [one for one in found if one["id"] not in known]
        if manifest["status"] != "ongoing":
            return manifest
        await asyncio.sleep(0.05)
    raise AssertionError(f"it never ended: {manifest}")


def transcript(user: User, recording: str, *statuses: str, limit: float = TIMEOUT) -> dict:
    """A recording's transcript, once it has one of these statuses."""
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        found = user.get(f"/v1/recordings/{recording}/transcript").json().get("transcript", {})
        if found.get("status") in statuses:
            return found
        time.sleep(0.05)
    raise AssertionError(f"it is never {statuses}: {found}")


def spoken_by(segments: list[dict]) -> list[dict]:
    """The segments; those are one that follow each other with the same text, by a speaker who was starved of processor
    time."""
    found: list[dict] = []
    for one in segments:
        if found and (found[-1]["user"], found[-1]["text"]) == (one["user"], one["text"]):
            found[-1] = found[-1] | {"end": one["end"]}
        else:
            found.append(one)
    return found


def is_as_documented(server, document: dict, schema: str = "RecordingTranscript") -> None:
    """Validates against /openapi.json, since schemathesis has no recorded call and gets errors only."""
    components = HTTP.get(f"{server.url}/openapi.json").json()["components"]
    whole = {"$ref": f"#/components/schemas/{schema}", "components": components}
    jsonschema_rs.Draft202012Validator(whole).validate(document)


def is_read_in_another_language(
    server: Server, translator: ScriptedProvider, transcript: dict, recording: str, user: User, users: list[str]
) -> None:
    path = f"/v1/recordings/{recording}/transcript/translations"

    def translations(**body: Any) -> dict:
        response = user.post(path, body)
        assert response.status_code == 200, response.text
        is_as_documented(server, response.json(), "TranscriptTranslations")
        return response.json()

    segments = transcript["segments"]
    whole = translations(language="es")
    assert whole["language"] == "es" and "next" not in whole
    rows = whole["translations"]
    assert [(row["segment"], row["track"], row["start"]) for row in rows] == [
        (index, segment["track"], segment["start"]) for index, segment in enumerate(segments)
    ]
    assert [row["text"] for row in rows] == [f"[es] {segment['text']}" for segment in segments]
    assert {(row["status"], row["from"], row["engine"], row["kind"]) for row in rows} == {
        ("done", "en", "scripted", "model")
    }
    # A request has the words of one person.
    of_speakers = [{segment["text"] for segment in segments if segment["user"] == one} for one in users[:2]]
    for prompt in translator.prompts:
        texts = set(prompt["texts"].values())
        assert any(texts <= words for words in of_speakers), texts
    asked = len(translator.received)
    assert translations(language="es", **{"from": len(segments) - 1})["translations"] == rows[-1:]
    assert len(translator.received) == asked + 1
    # What is there already need not be asked for, nor paid for.
    translator.received.clear()
    some = translations(language="es", **{"from": 1, "before": 2})
    assert some["translations"] == rows[1:2] and "next" not in some
    given = [text for prompt in translator.prompts for text in prompt["texts"].values()]
    assert given == [segments[1]["text"]]
    assert translations(language="es", before=1_000)["translations"] == rows
    asked = len(translator.received) - 1
    assert translations(language="es", **{"from": len(segments)})["translations"] == []
    # What is in that language is given to nobody.
    reasons = {row["reason"] for row in translations(language="en-GB")["translations"]}
    assert reasons == {"same_language"} and len(translator.received) == asked + 1
    for body, field in (
        ({"language": "no tag"}, "language"), ({}, "language"), ({"language": "es", "from": -1}, "from"),
        ({"language": "es", "from": len(segments) + 1}, "from"), ({"language": "es", "before": 0}, "before"),
        ({"language": "es", "from": 1, "before": 1}, "before"),
    ):  # fmt: skip
        refused = user.post(path, body)
        assert (refused.status_code, refused.json()["field"]) == (400, field), refused.text
    # What fails may be tried again, and what a speaker does not allow is not given away.
    translator.script = lambda texts: (500, {}, b"")
    assert {row["status"] for row in translations(language="es")["translations"]} == {"failed"}
    translator.script = honest
    own = user.request("PATCH", "/v1/me", {"intelligence": "off"})
    assert own.status_code == 200, own.text
    before = len(translator.received)

    def kinds() -> set[tuple[bool, str | None]]:
        rows = translations(language="es")["translations"]
        return {(segments[row["segment"]]["user"] == user.id, row.get("reason")) for row in rows}

    assert kinds() == {(True, "consent_required"), (False, None)}
    for prompt in translator.prompts[before:]:
        assert set(prompt["texts"].values()) <= of_speakers[1]


@pytest.mark.parametrize("provider", ["command", "openai"])
def test_transcripts_have_their_speakers(make_server, provider):
    spoken = {text: utterance(text) for text in PITCHES}

    async def run(server):
        async with speaking_call(server, 3) as (everybody, tracks):
            ann = everybody[0]

            async def say():
                await tracks[0].say(silence(0.5))
                for who, words in SPEECH:
                    await tracks[who].say(spoken[words])
                    # Long enough to be split into several segments.
                    await tracks[who].say(silence(0.8))

            manifest = await recorded(server, everybody, say)
            silent = await recorded(server, everybody, lambda: tracks[0].say(silence(1)))
            user = person(server, ann)
            path = f"/v1/recordings/{manifest['id']}/transcript"
            # It was not requested.
            assert (await asyncio.to_thread(user.get, path)).status_code == 404
            asked = (await ann.endpoint.ask("recordings.transcribe", recording=manifest["id"]))["transcript"]
            assert asked["status"] == "pending" and [one["status"] for one in asked["tracks"]] == ["pending"] * 3
            for one in everybody:
                await one.endpoint.until(
                    "the news",
                    lambda one=one: [
                        data for kind, data in one.endpoint.streams[f"user:{one.endpoint.user}"].entries.values()
                        if kind == "recording.transcribed" and data["status"] == "complete"
                        and (data["recording"], data["call"]) == (manifest["id"], ann.call)
                    ],
                )
            again = (await ann.endpoint.ask("recordings.transcribe", recording=manifest["id"]))["transcript"]
            call = (await ann.endpoint.ask("calls.get", call=ann.call))["call"]
            names = {one["user"]: one["displayName"] for one in call["participants"]}
            files = {}
            for kind in ("text", "srt", "vtt"):
                files[kind] = await asyncio.to_thread(user.get, f"{path}/{kind}")
            users = [one.endpoint.user for one in everybody]
            return manifest, silent, again, files, names, users, user

    with serving(Listener) as listener, translating() as translator:
        settings = copy.deepcopy(COMMAND) if provider == "command" else endpoint_of(listener)
        # The timeout is for a busy machine.
        settings["transcription"]["timeoutSeconds"] = 60
        if provider != "command":
            settings["transcription"]["hosted"] = "true"
            # Nobody has agreed upon hosted services in a call without a conversation.
            settings |= {
                "languages": translation_settings(translator, hosted="false"),
                "limits": {"translationsPerMinute": 1_000},
            }
        server = make_server(settings)
        manifest, silent, again, files, names, users, user = asyncio.run(run(server))
        # The other recording has no speech.
        user.post(f"/v1/recordings/{silent['id']}/transcript")
        nothing = transcript(user, silent["id"], "complete", "failed")
        is_as_documented(server, again)
        is_as_documented(server, nothing)
        assert nothing["status"] == "complete" and nothing["segments"] == [] and len(nothing["tracks"]) == 3
        assert user.get(f"/v1/recordings/{silent['id']}/transcript/text").text == ""
        if provider != "command":
            is_read_in_another_language(server, translator, again, manifest["id"], user, users)
        # Whoever speaks pays a hosted service, and nobody for silence.
        speakers = set() if provider == "command" else {users[who] for who, _ in SPEECH}
        assert {row[:2] for row in provider_calls(server)} == {(speaker, "recording") for speaker in speakers}

    assert again["status"] == "complete"
    utterances = spoken_by(again["segments"])
    assert [(users.index(one["user"]), one["text"]) for one in utterances] == SPEECH, again["segments"]
    before = 0
    for segment in again["segments"]:
        track = manifest["tracks"][segment["track"]]
        assert track["user"] == segment["user"] and segment["source"] == "microphone"
        assert before <= segment["start"] < segment["end"] <= track["offsetMs"] + track["durationMs"]
        before = segment["start"]
    # Each starts about where the previous one ended, on the recording's timeline: not at the same time, nor far from
    # it, however much a busy machine stretches it.
    for (one, next), (_, words) in zip(itertools.pairwise(utterances), SPEECH):
        length = (len(spoken[words]) / RATE + 0.8) * 1000
        assert length / 2 < next["start"] - one["start"] < length * 2, again["segments"]
    ann, ben = names[users[0]], names[users[1]]
    text = [line for line, _ in itertools.groupby(files["text"].text.splitlines())]
    assert text == [f"{(ann, ben)[who]}: {words}" for who, words in SPEECH]
    assert files["text"].headers["content-type"].startswith("text/plain")
    assert f"\n{ben}: {SPEECH[1][1]}"[:40] in files["srt"].text and files["srt"].text.startswith("1\n00:00:0")
    assert files["vtt"].text.startswith("WEBVTT\n\n00:00:0") and f"\n<v {ben}>six seven" in files["vtt"].text
    assert user.get(f"/v1/recordings/{manifest['id']}/transcript/pdf").status_code == 400
    # They are deleted with the recording.
    assert user.request("DELETE", f"/v1/recordings/{manifest['id']}").status_code == 204
    for rest in ("", "/vtt"):
        assert user.get(f"/v1/recordings/{manifest['id']}/transcript{rest}").status_code == 404
    assert user.post(f"/v1/recordings/{manifest['id']}/transcript").status_code == 404
    server.stop()


def test_provider_errors_are_reported_and_retried(make_server):
    with serving(Picky) as provider:
        provider.mode = "json"
        server = make_server(endpoint_of(provider))

        async def run():
            async with speaking_call(server) as (everybody, tracks):
                async def say():
                    await tracks[0].say(silence(0.5))
                    await asyncio.gather(*(speech_track.say(audio) for speech_track, audio in zip(tracks, LOUD)))

                return await recorded(server, everybody, say), person(server, everybody[1])

        manifest, ben = asyncio.run(run())
        recording = f"/v1/recordings/{manifest['id']}"
        path = recording + "/transcript"
        for mode, type in (("json", "bad_answer"), ("huge", "answer_too_large"), ("refuse", "refused")):
            provider.mode = mode
            assert ben.post(path).json()["transcript"]["status"] == "pending"
            found = transcript(ben, manifest["id"], "failed")
            assert found["failure"]["type"] == type and found["failure"]["mayRetry"] and found["segments"] == [], found
            conflict = ben.get(path + "/text")
            assert conflict.status_code == 409 and conflict.json()["detail"] == found["failure"]["detail"]
        # The recording still exists.
        for track in ben.get(recording).json()["recording"]["tracks"]:
            assert HTTP.get(server.url + track["audio"]["url"]).content.startswith(b"OggS")

        # One track is transcribed, the other failed: that is reported, and only the other is retried.
        provider.successes_left = 1
        ben.post(path)
        half = transcript(ben, manifest["id"], "failed")
        assert sorted(track["status"] for track in half["tracks"]) == ["complete", "failed"]
        assert [one["text"] for one in half["segments"]] == ["well"]
        is_as_documented(server, half)
        [missing] = [track["track"] for track in half["tracks"] if track["status"] == "failed"]

        # While it hangs, nothing else waits; and pending work survives a restart.
        provider.mode = "hang"
        asked = ben.post(path).json()["transcript"]
        assert asked["status"] == "pending" and [one["text"] for one in asked["segments"]] == ["well"]
        assert {track["track"] for track in asked["tracks"] if track["status"] == "pending"} == {missing}
        assert sent(ben, server.user(), encode(numpy.zeros(RATE, numpy.int16)))["path"]
        server.kill()
        provider.requests, provider.successes_left = 0, 9
        server.start()
        whole = transcript(ben, manifest["id"], "complete")
        assert {one["user"] for one in whole["segments"]} == {track["user"] for track in manifest["tracks"]}
        assert provider.requests == 1, "what was known was not asked for"
        server.stop()


def test_automatic_transcription(make_server):
    hello = ["/bin/sh", "-c", "cat > /dev/null; echo hello"]
    server = make_server({"transcription": {"provider": "command", "command": hello, "recordings": True}})

    async def run():
        async with speaking_call(server) as (everybody, tracks):
            ann, user = everybody[0], person(server, everybody[0])

            async def say():
                await tracks[0].say(silence(0.5))
                await tracks[0].say(LOUD[0])

            manifest = await recorded(server, everybody, say)
            written = await asyncio.to_thread(transcript, user, manifest["id"], "complete")
            # Also recordings that were ended by the server's shutdown.
            begun = await ann.endpoint.ask("calls.record", call=ann.call)
            await is_recorded(everybody[1], ann)
            await say()
            # The audio is on the disk by then.
            await tracks[0].say(silence(1.5))
            server.kill()
            await asyncio.to_thread(server.start)
            last = await asyncio.to_thread(transcript, user, begun["call"]["recording"]["id"], "complete")
            return written, last, ann.endpoint.user

    written, last, ann = asyncio.run(run())
    for found in (written, last):
        assert [(one["text"], one["user"]) for one in found["segments"]] == [("hello", ann)], found
    server.stop()


def test_without_a_provider_nothing_is_made_up(server):
    async def run():
        async with speaking_call(server) as (everybody, tracks):
            return await recorded(server, everybody, lambda: tracks[0].say(silence(0.5))), person(server, everybody[0])

    manifest, ann = asyncio.run(run())
    path = f"/v1/recordings/{manifest['id']}/transcript"
    assert ann.get(path).status_code == 404
    refused = ann.post(path)
    assert refused.status_code == 503 and refused.json()["type"] == "provider_not_configured"
    assert server.user().post(path).status_code == 404
    assert HTTP.get(f"{server.url}/v1/server").json()["transcribes"] is False
