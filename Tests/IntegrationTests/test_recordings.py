"""Recordings of calls over the media gateway: aiortc sends, and the files are read with FFmpeg and opusinfo."""

from __future__ import annotations

import asyncio
import subprocess
import time
import uuid

import httpx
from switchboard_tests.disks import needs_mount, small_disk
from switchboard_tests.endpoint import client_id
from switchboard_tests.gateway import group
from switchboard_tests.rawsocket import RawSocket
from switchboard_tests.recordings import ended, fetch, is_recorded, manifests, meet, person, pitch, samples, signed_up
from switchboard_tests.server import HTTP
from switchboard_tests.waiting import wait_until


def test_each_participant_has_a_file(server, tmp_path):
    async def run():
        async with group(server, 3, "audio") as everybody:
            ann, ben, cal = everybody
            await meet(everybody)
            begun = time.monotonic()
            response = await ben.endpoint.ask("calls.record", call=ben.call)
            assert response["call"]["recording"]["by"] == ben.endpoint.user
            for one in everybody:
                await is_recorded(one, ben)
            again = await ann.endpoint.ask("calls.record", call=ann.call)
            assert again["duplicate"] and again["call"]["recording"]["by"] == ben.endpoint.user
            await asyncio.sleep(2)
            # One leaves in the middle and comes back.
            left = time.monotonic()
            await cal.hang_up_media()
            await cal.endpoint.ask("calls.leave", call=cal.call)
            await asyncio.sleep(1)
            await cal.accept(ann.call)
            await cal.join(slots=2, video=False)
            await ann.receives_audio(cal)
            back = time.monotonic()
            await asyncio.sleep(1.5)
            over = time.monotonic()
            # Anybody may stop it.
            await cal.endpoint.ask("calls.stopRecording", call=ann.call)
            for one in everybody:
                await is_recorded(one, None)
            assert "recording" not in (await ann.endpoint.ask("calls.get", call=ann.call))["call"]
            manifest = await ended(server, cal, ann.call)
            assert (await ben.endpoint.ask("recordings.get", recording=manifest["id"]))["recording"]["id"] == manifest[
                "id"
            ]
            return manifest, [one.endpoint.user for one in everybody], over - begun, left - begun, over - back

    manifest, users, length, first, last = asyncio.run(run())
    assert manifest["status"] == "complete" and manifest["by"] == users[1]
    tracks = {user: [track for track in manifest["tracks"] if track["user"] == user] for user in users}
    assert [len(tracks[user]) for user in users] == [1, 1, 2], manifest
    for number, user in enumerate(users):
        for track in tracks[user]:
            assert track["source"] == "microphone"
            file = fetch(server, track)
            decoded = samples(file)
            assert abs(len(decoded) / 48 - track["durationMs"]) < 1
            middle = decoded[len(decoded) // 4 : len(decoded) // 4 + 24_000]
            assert abs(pitch(middle) - (300 + 200 * number)) < 15, "it is who it says"
            path = tmp_path / "track.ogg"
            path.write_bytes(file)
            result = subprocess.run(["opusinfo", str(path)], capture_output=True, text=True)
            output = result.stdout + result.stderr
            assert result.returncode == 0 and "WARNING" not in output, output
    # A participant who was there all the time has the full length; the file starts with the first packet.
    for user in users[:2]:
        [track] = tracks[user]
        assert track["offsetMs"] < 500
        assert abs(track["offsetMs"] + track["durationMs"] - length * 1000) < 500, (track, length)
    before, after = tracks[users[2]]
    assert abs(before["durationMs"] - first * 1000) < 1_500
    assert after["offsetMs"] > first * 1000 + 900 and after["durationMs"] > last * 1000 - 300


def test_who_may_start_stop_play_read_and_delete(make_server):
    server = make_server(
        {"transcription": {"provider": "command", "command": ["/bin/sh", "-c", "cat > /dev/null; echo hello"]}}
    )
    people = [signed_up(server, name) for name in ("ann", "ben", "cal")]

    async def run():
        async with group(server, 3, "audio", people) as everybody:
            ann, ben, cal = everybody
            await meet(everybody[:2])
            outsider = server.user()
            path = f"/v1/calls/{ann.call}/recording"
            assert outsider.post(path).status_code == 404
            assert person(server, ann).post(path).status_code == 409, "another endpoint of hers is in the call"
            assert HTTP.post(server.url + path, json={}).status_code == 401
            await ann.endpoint.ask("calls.record", call=ann.call)
            assert outsider.request("DELETE", path).status_code == 404
            # Two more are invited: one has blocked Ann, and the other never answers.
            invited, blocker = server.users(2)
            assert blocker.request("PUT", f"/v1/blocks/{ann.endpoint.user}").status_code == 204
            await ann.endpoint.ask("calls.invite", call=ann.call, clientID=client_id(), users=[invited.id, blocker.id])
            await ann.until("tracks of both", lambda: len(manifests(server, ann, ann.call)[0]["tracks"]) == 2)
            recording = (await ann.endpoint.ask("calls.get", call=ann.call))["call"]["recording"]["id"]
            assert person(server, ann).request("DELETE", f"/v1/recordings/{recording}").status_code == 409, "it goes on"
            for method in ("GET", "POST"):
                words = f"/v1/recordings/{recording}/transcript"
                assert person(server, ben).request(method, words, {}).status_code == 409, "it goes on"
                assert outsider.request(method, words, {}).status_code == 404
            # The recording ends with the call.
            await ann.endpoint.ask("calls.end", call=ann.call)
            manifest = await ended(server, cal, ann.call)
            assert manifest["id"] == recording
            return manifest, [person(server, one) for one in everybody], invited, [blocker, outsider]

    manifest, (ann, ben, cal), invited, non_participants = asyncio.run(run())
    outsider = non_participants[-1]
    path = f"/v1/recordings/{manifest['id']}"
    words = path + "/transcript"
    for one in non_participants:
        assert one.post(words).status_code == 404
    assert ann.get(words).status_code == 404, "nobody who may has asked for it"
    assert cal.post(words).json()["transcript"]["status"] in ("pending", "complete")
    wait_until(lambda: ann.get(words).json()["transcript"]["status"] != "pending", "the transcript", 20)
    for one in (ann, ben, cal):
        assert one.get(path).status_code == one.get(f"/v1/calls/{manifest['call']}/recordings").status_code == 200
        assert one.get(words).json()["transcript"]["status"] == "complete"
        assert (
            one.post(words).status_code
            == one.get(words + "/text").status_code
            == one.get(words + "/vtt").status_code
            == 200
        )
    # A user who was invited and never joined can see the call, but not its recordings.
    listed = invited.get(f"/v1/calls/{manifest['call']}/recordings")
    assert listed.status_code == 200 and listed.json()["recordings"] == []
    for one in non_participants:
        assert one.get(f"/v1/calls/{manifest['call']}/recordings").status_code == 404
    for one in (*non_participants, invited):
        for asked in (path, words, words + "/text", words + "/srt", words + "/vtt"):
            assert one.get(asked).status_code == 404, asked
        assert one.post(words).status_code == 404
    for asked in (path, words, words + "/text"):
        assert HTTP.get(server.url + asked).status_code == 401
    assert HTTP.post(server.url + words, json={}).status_code == 401
    assert ann.get(f"/v1/recordings/{uuid.uuid4()}").status_code == 404

    url = httpx.URL(server.url + ben.get(path).json()["recording"]["tracks"][0]["audio"]["url"])
    assert HTTP.get(url).status_code == 200
    part = HTTP.get(url, headers={"Range": "bytes=0-3"})
    assert part.status_code == 206 and part.content == b"OggS"
    for change in ({"user": outsider.id}, {"user": ann.id}, {"expires": "99999999999"}, {"signature": "A" * 43}):
        assert HTTP.get(url.copy_merge_params(change)).status_code in (403, 404), change
    for one, status in ((outsider, 404), (cal, 403), (ben, 403)):
        assert one.request("DELETE", path).status_code == status
    # A deleted account has no access any more, even with an earlier URL.
    server.command("account", "disable", "--email", "ben@example.org")
    assert HTTP.get(url).status_code in (403, 404)
    for asked in (words, words + "/text"):
        assert ben.get(asked).status_code in (401, 403)
    # Another participant's client is notified.
    with RawSocket(server.port) as client:
        client.hello(cal)
        client.send({"id": 2, "listen": {"stream": f"user:{cal.id}"}})
        client.response(2)
        assert ann.request("DELETE", path).status_code == 204
        [change] = client.message()["changes"]
        assert change["type"] == "recording.removed"
        assert change["data"] == {"recording": manifest["id"], "call": manifest["call"]}
    assert ann.get(path).status_code == ann.get(words).status_code == ann.get(words + "/text").status_code == 404
    assert ann.post(words).status_code == 404
    assert not list((server.data / "media").iterdir()), "its files are gone"
    server.stop()


def test_a_call_from_peer_to_peer_is_not_recorded(server):
    caller, callee = server.users(2)
    body = {"clientID": str(uuid.uuid4()), "callees": [callee.id], "kind": "audio", "mode": "direct"}
    call = caller.post("/v1/calls", body).json()["call"]["id"]
    response = caller.post(f"/v1/calls/{call}/recording")
    assert response.status_code == 409 and "peer to peer" in response.json()["detail"]


def test_a_server_that_is_killed_loses_a_second_at_most(make_server):
    server = make_server()

    async def run():
        async with group(server, 2, "audio") as everybody:
            ann, ben = everybody
            await meet(everybody)
            await ann.endpoint.ask("calls.record", call=ann.call)
            await is_recorded(ben, ann)
            begun = time.monotonic()
            await asyncio.sleep(4)
            length = time.monotonic() - begun
            server.kill()
            await asyncio.to_thread(server.start)
            manifest = await ended(server, ann, ann.call)
            call = (await asyncio.to_thread(person(server, ann).get, f"/v1/calls/{ann.call}")).json()["call"]
            return manifest, call, length

    manifest, call, length = asyncio.run(run())
    assert manifest["status"] == "interrupted" and "recording" not in call
    assert len(manifest["tracks"]) == 2
    for track in manifest["tracks"]:
        decoded = samples(fetch(server, track))
        assert abs(len(decoded) / 48 - track["durationMs"]) < 1
        assert track["offsetMs"] + track["durationMs"] > length * 1000 - 1_000, (track, length)
    server.stop()


@needs_mount
def test_a_full_disk_ends_the_recording_and_not_the_call(make_server):
    server = make_server({"media": {"minFreeBytes": 0}}, started=False)
    with small_disk(server, "16k") as media:
        server.start()

        async def run():
            async with group(server, 2, "audio") as everybody:
                ann, ben = everybody
                await meet(everybody)
                await ann.endpoint.ask("calls.record", call=ann.call)
                await is_recorded(ben, ann)
                # It ends by itself, and everybody sees that.
                await is_recorded(ben, None)
                manifest = await ended(server, ben, ann.call)
                await ann.receives_more(ann.slot_of(ben, "audio"))
                await ben.receives_audio(ann)
                return manifest

        manifest = asyncio.run(run())
        assert manifest["status"] == "failed" and "room" in manifest["failure"], manifest
        assert str(server.data) not in manifest["failure"], "paths are nobody's business"
        assert str(media) in server.log_tail(20_000), "but the operator's"
        recorded_tracks = [track for track in manifest["tracks"] if "audio" in track]
        assert recorded_tracks, manifest
        for track in recorded_tracks:
            assert abs(len(samples(fetch(server, track))) / 48 - track["durationMs"]) < 10
        server.stop()
