"""Mixes of recordings, recordings that end by themselves, and full disks: aiortc sends, FFmpeg decodes."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess

import httpx
import numpy
import pytest
from switchboard_tests.audio_files import encode, tone
from switchboard_tests.disks import needs_mount, small_disk
from switchboard_tests.endpoint import RequestError
from switchboard_tests.gateway import group
from switchboard_tests.metrics import text, value
from switchboard_tests.recordings import ended, fetch, is_recorded, meet, person, samples
from switchboard_tests.server import HTTP, User
from switchboard_tests.voice_messages import send
from switchboard_tests.waiting import wait_until


def strength(audio: numpy.ndarray, pitch: float) -> float:
    """The amplitude of the sine of that pitch."""
    turns = numpy.exp(-2j * numpy.pi * pitch * numpy.arange(len(audio)) / 48_000)
    return float(2 * abs(numpy.dot(audio.astype(float), turns)) / max(len(audio), 1))


def mixed(server, user, recording: str, seconds: float = 20) -> dict:
    """Requests the mix, and waits until it is complete."""
    response = user.post(f"/v1/recordings/{recording}/mix")
    assert response.status_code == 200 and response.json()["recording"]["mix"]["status"] in ("pending", "complete"), (
        response.text
    )
    path = f"/v1/recordings/{recording}"
    wait_until(lambda: user.get(path).json()["recording"]["mix"]["status"] != "pending", "the mix", seconds)
    return user.get(path).json()["recording"]["mix"]


def news(one, type: str) -> list[dict]:
    entries = one.endpoint.streams[f"user:{one.endpoint.user}"].entries
    return [data for _, (kind, data) in sorted(entries.items()) if kind == type]


async def recorded(server) -> tuple[dict, list[User]]:
    """The manifest of a call of two, of which a second was recorded, and the two."""
    async with group(server, 2, "audio") as everybody:
        ann, ben = everybody
        await meet(everybody)
        await ann.endpoint.ask("calls.record", call=ann.call)
        await is_recorded(ben, ann)
        await ann.receives_more(ann.slot_of(ben, "audio"), 50)
        await ann.endpoint.ask("calls.end", call=ann.call)
        return await ended(server, ann, ann.call), [person(server, one) for one in everybody]


def test_a_mix_has_all_tracks_at_their_times(make_server, tmp_path):
    server = make_server()

    async def run():
        async with group(server, 2, "audio") as everybody:
            ann, ben = everybody
            await meet(everybody)
            await ann.endpoint.ask("calls.record", call=ann.call)
            await is_recorded(ben, ann)
            await asyncio.sleep(2)
            # One leaves in the middle and comes back.
            await ben.hang_up_media()
            await asyncio.sleep(2)
            await ben.join(slots=1, video=False)
            await ann.receives_audio(ben)
            await asyncio.sleep(1.5)
            recording = (await ann.endpoint.ask("calls.get", call=ann.call))["call"]["recording"]
            assert recording["until"] > recording["since"]
            path = f"/v1/recordings/{recording['id']}/mix"
            assert (await asyncio.to_thread(person(server, ann).post, path)).status_code == 409, "it goes on"
            await ann.endpoint.ask("calls.stopRecording", call=ann.call)
            manifest = await ended(server, ben, ann.call)
            assert "mix" not in manifest
            asked = await ben.endpoint.ask("recordings.mix", recording=manifest["id"])
            assert asked["recording"]["mix"] == {"status": "pending"}
            for one in everybody:
                await one.endpoint.until(
                    "news of the mix",
                    lambda: [data["status"] for data in news(one, "recording.mixed")] == ["pending", "complete"],
                )
                assert all(
                    data["recording"] == manifest["id"] and data["call"] == ann.call
                    for data in news(one, "recording.mixed")
                )
            people = [person(server, one) for one in everybody]
            return manifest, people, [one.pitch for one in everybody], server.user()

    manifest, (ann, ben), (high, low), outsider = asyncio.run(run())
    path = f"/v1/recordings/{manifest['id']}"
    mix = mixed(server, ann, manifest["id"])
    assert mix["status"] == "complete"
    assert {**mix, "audio": 0} == {**mixed(server, ben, manifest["id"]), "audio": 0}, "it is made once"
    wait_until(lambda: 'recording_mixes_total{outcome="complete"} 1' in text(server), "it is counted")
    wait_until(lambda: value(server, "recording_mixes_waiting") == 0, "none waits")

    file = fetch(server, mix)
    file_path = tmp_path / "mix.ogg"
    file_path.write_bytes(file)
    info = subprocess.run(["opusinfo", str(file_path)], capture_output=True, text=True)
    assert info.returncode == 0 and "WARNING" not in info.stdout + info.stderr, info.stdout + info.stderr
    audio = samples(file)
    ends = [track["offsetMs"] + track["durationMs"] for track in manifest["tracks"]]
    assert abs(len(audio) / 48 - max(ends)) <= 2 and abs(mix["durationMs"] - max(ends)) <= 2

    # It is the sum of the tracks, each at its time: to the millisecond.
    length = len(audio)
    total = numpy.zeros(length)
    for track in manifest["tracks"]:
        part = samples(fetch(server, track)).astype(float)
        start = track["offsetMs"] * 48
        part = part[: length - start]
        total[start : start + len(part)] += part
    spectrum = numpy.fft.rfft(total, 2 * length) * numpy.conj(numpy.fft.rfft(audio.astype(float), 2 * length))
    lag = int(numpy.argmax(numpy.fft.irfft(spectrum)))
    lag = lag - 2 * length if lag > length else lag
    assert abs(lag) <= 48, lag
    before, after = [track for track in manifest["tracks"] if track["user"] == ben.id]
    assert after["offsetMs"] - before["offsetMs"] - before["durationMs"] > 1_000
    pitches = {ann.id: high, ben.id: low}
    for track in manifest["tracks"]:
        first, last = (track["offsetMs"] + 200) * 48, (track["offsetMs"] + track["durationMs"] - 200) * 48
        pitch = pitches[track["user"]]
        assert abs(strength(audio[first:last], pitch) / strength(total[first:last], pitch) - 1) < 0.1
    gap = audio[(before["offsetMs"] + before["durationMs"] + 100) * 48 : (after["offsetMs"] - 100) * 48]
    assert strength(gap, low) < strength(gap, high) / 50

    # Who may: those who were in the call.
    for one, status in ((ann, 200), (ben, 200), (outsider, 404)):
        assert one.post(path + "/mix").status_code == status
    assert HTTP.post(server.url + path + "/mix", json={}).status_code == 401
    url = httpx.URL(server.url + ben.get(path).json()["recording"]["mix"]["audio"]["url"])
    part = HTTP.get(url, headers={"Range": "bytes=100-199"})
    assert part.status_code == 206 and part.content == file[100:200]
    assert HTTP.get(url, headers={"Range": f"bytes={len(file)}-"}).status_code == 416
    for change in ({"user": outsider.id}, {"user": ann.id}, {"signature": "A" * 43}):
        assert HTTP.get(url.copy_merge_params(change)).status_code in (403, 404), change
    assert ann.request("DELETE", path).status_code == 204
    assert HTTP.get(url).status_code == 404
    assert ben.post(path + "/mix").status_code == 404
    assert not list((server.data / "media").iterdir()), "its files are gone"
    server.stop()


def test_a_failed_mix_is_reported_and_retried(make_server):
    server = make_server()
    manifest, (_, ben) = asyncio.run(recorded(server))
    # Simulates a failing disk.
    file = server.data / "media" / manifest["tracks"][0]["audio"]["url"].split("/")[-1].split("?")[0]
    whole = file.read_bytes()
    file.write_bytes(b"\0" * len(whole))
    mix = mixed(server, ben, manifest["id"])
    assert mix["status"] == "failed" and "damaged" in mix["failure"] and str(server.data) not in mix["failure"]
    file.write_bytes(whole)
    mix = mixed(server, ben, manifest["id"])
    assert mix["status"] == "complete" and "failure" not in mix
    # A complete mix survives a crash.
    server.kill()
    server.start()
    again = ben.get(f"/v1/recordings/{manifest['id']}").json()["recording"]["mix"]
    assert again["byteCount"] == mix["byteCount"] and len(fetch(server, again)) == mix["byteCount"]
    server.stop()


def test_a_mix_goes_on_after_a_crash_and_not_without_its_recording(make_server):
    server = make_server()
    manifest, (ann, _) = asyncio.run(recorded(server))
    # The first of the mix is written after eleven seconds of sound; a debug build may take a tenth of a second for
    # each.
    media = server.data / "media"
    for track in manifest["tracks"]:
        file = media / track["audio"]["url"].split("/")[-1].split("?")[0]
        file.write_bytes(encode(tone(100)))
    files = set(media.iterdir())
    path = f"/v1/recordings/{manifest['id']}"

    def begin() -> None:
        assert ann.post(path + "/mix").json()["recording"]["mix"] == {"status": "pending"}
        wait_until(lambda: any(one.stat().st_size for one in set(media.iterdir()) - files), "the first of the mix")

    begin()
    server.kill()
    assert len(set(media.iterdir()) - files) == 1, "what it had written"
    server.start()
    mix = mixed(server, ann, manifest["id"])
    assert mix["status"] == "complete" and abs(mix["durationMs"] - 100_000 - manifest["tracks"][1]["offsetMs"]) < 500
    assert len(set(media.iterdir()) - files) == 1, "the first attempt's file is deleted"
    assert len(fetch(server, mix)) == mix["byteCount"]

    # It is cancelled when the recording is deleted.
    with sqlite3.connect(server.data / "switchboard.sqlite") as database:
        database.execute("DELETE FROM recording_mixes")
    (set(media.iterdir()) - files).pop().unlink()
    begin()
    assert ann.request("DELETE", path).status_code == 204
    wait_until(lambda: not list(media.iterdir()), "all files to be gone")
    assert ann.post(path + "/mix").status_code == 404
    server.stop()


def test_a_recording_ends_when_it_is_as_long_as_it_may_be(make_server):
    server = make_server({"recordings": {"maxSeconds": 3}})

    async def run():
        async with group(server, 2, "audio") as everybody:
            ann, ben = everybody
            await meet(everybody)
            await ann.endpoint.ask("calls.record", call=ann.call)
            await is_recorded(ben, ann)
            await is_recorded(ben, None)
            manifest = await ended(server, ben, ann.call)
            call = (await ben.endpoint.ask("calls.get", call=ann.call))["call"]
            # The call continues, and may be recorded again.
            await ann.receives_more(ann.slot_of(ben, "audio"))
            again = await ben.endpoint.ask("calls.record", call=ann.call)
            return manifest, call, again["call"]

    manifest, call, again = asyncio.run(run())
    assert call["status"] == "active" and call["recordingEnded"] == "longest" and "recording" not in call
    assert "recordingEnded" not in again and again["recording"]
    assert manifest["status"] == "complete" and manifest["reason"] == "longest" and "failure" not in manifest
    for track in manifest["tracks"]:
        assert abs(track["offsetMs"] + track["durationMs"] - 3_000) < 500, track
        assert abs(len(samples(fetch(server, track))) / 48 - track["durationMs"]) < 1
    server.stop()


def test_nothing_is_kept_that_the_disk_has_no_room_for(make_server):
    server = make_server({"media": {"minFreeBytes": 1_000_000_000_000}})

    async def run():
        async with group(server, 2, "audio") as everybody:
            ann, ben = everybody
            await meet(everybody)
            with pytest.raises(RequestError) as refused:
                await ann.endpoint.ask("calls.record", call=ann.call)
            call = (await ben.endpoint.ask("calls.get", call=ann.call))["call"]
            return refused.value.problem, call

    problem, call = asyncio.run(run())
    assert "recording" not in call and "recorded" not in call
    assert problem["status"] == 503 and "room" in problem["detail"], problem
    sender, other = server.users(2)
    refused = send(sender, other, encode(tone(1)))
    assert refused.status_code == 503 and "room" in refused.json()["detail"]
    server.stop()


@needs_mount
def test_a_disk_that_gets_too_full_ends_the_recording(make_server):
    server = make_server({"media": {"minFreeBytes": 180 * 1024}}, started=False)
    with small_disk(server, "200k"):
        server.start()

        async def run():
            async with group(server, 2, "audio") as everybody:
                ann, ben = everybody
                await meet(everybody)
                await ann.endpoint.ask("calls.record", call=ann.call)
                await is_recorded(ben, ann)
                await is_recorded(ben, None)
                manifest = await ended(server, ben, ann.call)
                call = (await ben.endpoint.ask("calls.get", call=ann.call))["call"]
                await ann.receives_more(ann.slot_of(ben, "audio"))
                return manifest, call

        manifest, call = asyncio.run(run())
        assert manifest["status"] == "failed" and manifest["reason"] == "failed" and "room" in manifest["failure"]
        assert call["status"] == "active" and call["recordingEnded"] == "failed"
        assert "media.minFreeBytes" in server.log_tail(20_000), "the log names the setting"
        recorded_tracks = [track for track in manifest["tracks"] if "audio" in track]
        assert recorded_tracks, manifest
        for track in recorded_tracks:
            assert abs(len(samples(fetch(server, track))) / 48 - track["durationMs"]) < 10
        server.stop()
