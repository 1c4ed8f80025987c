"""Recordings in one file, that end by themselves, and that a disk has no room for: aiortc speaks, FFmpeg listens."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess

import httpx
import numpy
import pytest
from conftest import User
from disks import needs_mount, small_disk
from endpoint import Refused
from gateway import group
from audio_files import encode, tone
from test_metrics import value
from test_operation import wait_until
from test_recordings import ended, fetch, is_recorded, meet, person, samples
from voice_messages import send


def strength(sound: numpy.ndarray, pitch: float) -> float:
    """The peak of the sine of that pitch."""
    turns = numpy.exp(-2j * numpy.pi * pitch * numpy.arange(len(sound)) / 48_000)
    return float(2 * abs(numpy.dot(sound.astype(float), turns)) / max(len(sound), 1))


def mixed(server, user, recording: str, seconds: float = 20) -> dict:
    """Asks for it, and waits until it is made."""
    answer = user.post(f"/v1/recordings/{recording}/mix")
    assert answer.status_code == 200 and answer.json()["recording"]["mix"]["status"] in ("pending", "complete"), answer.text
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
        await ann.more_from(ann.slot_of(ben, "audio"), 50)
        await ann.endpoint.ask("calls.end", call=ann.call)
        return await ended(server, ann, ann.call), [person(server, one) for one in everybody]


def test_one_file_of_all_who_spoke_when_they_did(make_server, tmp_path):
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
            await ann.hears(ben)
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
                    "news of the mix", lambda: [data["status"] for data in news(one, "recording.mixed")] == ["pending", "complete"])
                assert all(data["recording"] == manifest["id"] and data["call"] == ann.call for data in news(one, "recording.mixed"))
            people = [person(server, one) for one in everybody]
            return manifest, people, [one.pitch for one in everybody], server.user()

    manifest, (ann, ben), (high, low), stranger = asyncio.run(run())
    path = f"/v1/recordings/{manifest['id']}"
    mix = mixed(server, ann, manifest["id"])
    assert mix["status"] == "complete"
    assert {**mix, "audio": 0} == {**mixed(server, ben, manifest["id"]), "audio": 0}, "it is made once"
    assert value(server, "recording_mixes_total", outcome="complete") == 1
    assert value(server, "recording_mixes_waiting") == 0

    file = fetch(server, mix)
    told = tmp_path / "mix.ogg"
    told.write_bytes(file)
    info = subprocess.run(["opusinfo", str(told)], capture_output=True, text=True)
    assert info.returncode == 0 and "WARNING" not in info.stdout + info.stderr, info.stdout + info.stderr
    sound = samples(file)
    ends = [track["offsetMs"] + track["durationMs"] for track in manifest["tracks"]]
    assert abs(len(sound) / 48 - max(ends)) <= 2 and abs(mix["durationMs"] - max(ends)) <= 2

    # It is the sum of the tracks, each at its time: to the millisecond.
    length = len(sound)
    total = numpy.zeros(length)
    for track in manifest["tracks"]:
        part = samples(fetch(server, track)).astype(float)
        start = track["offsetMs"] * 48
        part = part[: length - start]
        total[start : start + len(part)] += part
    spectrum = numpy.fft.rfft(total, 2 * length) * numpy.conj(numpy.fft.rfft(sound.astype(float), 2 * length))
    lag = int(numpy.argmax(numpy.fft.irfft(spectrum)))
    lag = lag - 2 * length if lag > length else lag
    assert abs(lag) <= 48, lag
    before, after = [track for track in manifest["tracks"] if track["user"] == ben.id]
    assert after["offsetMs"] - before["offsetMs"] - before["durationMs"] > 1_000
    pitches = {ann.id: high, ben.id: low}
    for track in manifest["tracks"]:
        first, last = (track["offsetMs"] + 200) * 48, (track["offsetMs"] + track["durationMs"] - 200) * 48
        pitch = pitches[track["user"]]
        assert abs(strength(sound[first:last], pitch) / strength(total[first:last], pitch) - 1) < 0.1
    gap = sound[(before["offsetMs"] + before["durationMs"] + 100) * 48 : (after["offsetMs"] - 100) * 48]
    assert strength(gap, low) < strength(gap, high) / 50

    # Who may: those who were in the call.
    for one, status in ((ann, 200), (ben, 200), (stranger, 404)):
        assert one.post(path + "/mix").status_code == status
    assert httpx.post(server.url + path + "/mix", json={}).status_code == 401
    url = httpx.URL(server.url + ben.get(path).json()["recording"]["mix"]["audio"]["url"])
    part = httpx.get(url, headers={"Range": "bytes=100-199"})
    assert part.status_code == 206 and part.content == file[100:200]
    assert httpx.get(url, headers={"Range": f"bytes={len(file)}-"}).status_code == 416
    for change in ({"user": stranger.id}, {"user": ann.id}, {"signature": "A" * 43}):
        assert httpx.get(url.copy_merge_params(change)).status_code in (403, 404), change
    assert ann.request("DELETE", path).status_code == 204
    assert httpx.get(url).status_code == 404
    assert ben.post(path + "/mix").status_code == 404
    assert not list((server.data / "media").iterdir()), "its files are gone"
    server.stop()


def test_a_mix_that_failed_is_told_and_tried_again(make_server):
    server = make_server()
    manifest, (_, ben) = asyncio.run(recorded(server))
    # What a failing disk does to a file.
    file = server.data / "media" / manifest["tracks"][0]["audio"]["url"].split("/")[-1].split("?")[0]
    whole = file.read_bytes()
    file.write_bytes(b"\0" * len(whole))
    mix = mixed(server, ben, manifest["id"])
    assert mix["status"] == "failed" and "damaged" in mix["failure"] and str(server.data) not in mix["failure"]
    file.write_bytes(whole)
    mix = mixed(server, ben, manifest["id"])
    assert mix["status"] == "complete" and "failure" not in mix
    # What was made is there after a crash.
    server.kill()
    server.start()
    again = ben.get(f"/v1/recordings/{manifest['id']}").json()["recording"]["mix"]
    assert again["byteCount"] == mix["byteCount"] and len(fetch(server, again)) == mix["byteCount"]
    server.stop()


def test_a_mix_goes_on_after_a_crash_and_not_without_its_recording(make_server):
    server = make_server()
    manifest, (ann, _) = asyncio.run(recorded(server))
    # The first of the mix is written after eleven seconds of sound; a debug build may take a tenth of a second for each.
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
    mix = mixed(server, ann, manifest["id"], seconds=60)
    assert mix["status"] == "complete" and abs(mix["durationMs"] - 100_000 - manifest["tracks"][1]["offsetMs"]) < 500
    assert len(set(media.iterdir()) - files) == 1, "nothing is left of the first try"
    assert len(fetch(server, mix)) == mix["byteCount"]

    # It is given up when it is not wanted any more.
    with sqlite3.connect(server.data / "switchboard.sqlite") as database:
        database.execute("DELETE FROM recording_mixes")
    (set(media.iterdir()) - files).pop().unlink()
    begin()
    assert ann.request("DELETE", path).status_code == 204
    wait_until(lambda: not list(media.iterdir()), "all files to be gone", seconds=5)
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
            # The call goes on, and may be recorded again.
            await ann.more_from(ann.slot_of(ben, "audio"))
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
            with pytest.raises(Refused) as refused:
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
                await ann.more_from(ann.slot_of(ben, "audio"))
                return manifest, call

        manifest, call = asyncio.run(run())
        assert manifest["status"] == "failed" and manifest["reason"] == "failed" and "room" in manifest["failure"]
        assert call["status"] == "active" and call["recordingEnded"] == "failed"
        assert "media.minFreeBytes" in server.log_tail(20_000), "the operator is told which setting it is"
        heard = [track for track in manifest["tracks"] if "audio" in track]
        assert heard, manifest
        for track in heard:
            assert abs(len(samples(fetch(server, track))) / 48 - track["durationMs"]) < 10
        server.stop()
