"""`switchboard-load media` against the real server: whole calls in gateway mode, with what it counts and what it says."""

from __future__ import annotations

import json
import pathlib
import subprocess

import pytest
from conftest import User
from audio_files import encode, tone, voice
from test_load import LOAD

USERS = 12
PROFILES = ["AEAD-AES-128-GCM", "AEAD-AES-256-GCM", "AES128-CM-SHA1-80"]


@pytest.fixture(scope="module")
def users(server, tmp_path_factory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("load") / "users"
    path.write_text(server.command("token", "--count", str(USERS), "--prefix", "load"))
    return path


def load(*options: str) -> subprocess.CompletedProcess:
    return subprocess.run([str(LOAD), "media", *options], capture_output=True, text=True, timeout=120)


@pytest.fixture
def figures(server, users, tmp_path):
    """Runs a load that has to succeed, and gives what it writes as JSON."""

    def run(*options: str) -> dict:
        path = tmp_path / "figures.json"
        done = load(
            "--server", server.url, "--tokens", str(users), "--seconds", "1", "--warm-up", "0.3", *options, "--json",
            str(path),
        )
        assert done.returncode == 0, done.stderr + done.stdout + server.log_tail()
        return json.loads(path.read_text()) | {"table": done.stdout}

    return run


@pytest.mark.parametrize("profile", PROFILES)
def test_two_calls_of_two_lose_nothing(server, figures, profile):
    found = figures("--calls", "2", "--participants", "2", "--profile", profile, "--pid", str(server.pid))
    assert found["errors"] == {}
    assert found["legs"] == found["joined"] == 4
    assert found["profiles"] == {profile: 4}
    audio = found["audioStreams"]
    assert (audio["streams"], audio["silent"], audio["lost"]) == (4, 0, 0)
    assert found["videoStreams"]["streams"] == 0
    # Each publisher has one listener, and what is under way when measuring begins or ends is on one side alone.
    assert 150 <= found["sent"] <= 250
    assert abs(found["forwarded"] - found["sent"]) <= 20
    assert 0 < audio["oneWayMicroseconds"]["p50"] <= audio["oneWayMicroseconds"]["p99"]
    for times in (found["connectedMicroseconds"], found["firstPacketMicroseconds"]):
        assert 0 < times["p50"] <= times["max"]
    assert 0 <= found["serverUserMicrosecondsPerPacket"] <= found["serverMicrosecondsPerPacket"]
    assert found["serverMemory"] > 0
    assert "no errors" in found["table"]


def test_a_group_with_video(figures):
    found = figures("--calls", "2", "--participants", "4", "--publishers", "2", "--video", "--bitrate", "300")
    # Of each call two see the one other publisher, and two see both.
    for streams in (found["audioStreams"], found["videoStreams"]):
        assert (streams["streams"], streams["silent"], streams["lost"]) == (12, 0, 0)
    assert found["feedback"] > 0


def test_legs_come_and_go_among_junk(figures):
    # Enough for everybody to load their page again, and then to leave the call and join it again.
    found = figures("--calls", "1", "--participants", "3", "--join-leave", "4", "--junk", "200", "--seconds", "3")
    assert found["left"] >= 4
    assert found["joined"] == 3 + found["left"]
    assert found["junk"] > 0
    assert found["audioStreams"]["lost"] == 0


def test_calls_are_recorded_and_what_was_kept_is_looked_at(figures, tmp_path):
    speech = tmp_path / "speech.ogg"
    speech.write_bytes(encode(tone(1.3)))
    found = figures(
        "--calls", "2", "--participants", "3", "--publishers", "2", "--seconds", "4", "--record",
        "--speech", str(speech), "--pause", "0.5",
    )
    assert found["errors"] == {}
    assert found["audioStreams"]["lost"] == 0
    recordings = found["recordings"]
    assert {name: recordings[name] for name in ("begun", "refused", "failed", "tracks", "fetched")} == {
        "begun": 2, "refused": 0, "failed": 0, "tracks": 4, "fetched": 4,
    }
    assert 4 * 4.3 < recordings["seconds"] < 4 * 12
    # The mark alone is 20 bytes of each packet.
    assert recordings["byteCount"] > 4 * 4 * 50 * 20
    assert "2 recordings with 4 tracks" in found["table"]


def test_recordings_that_are_refused_are_told(make_server, tmp_path):
    # A call for each, and none for its recording.
    server = make_server({"limits": {"callsPerMinute": 1}})
    path, found = tmp_path / "users", tmp_path / "figures.json"
    path.write_text(server.command("token", "--count", "2", "--prefix", "load"))
    done = load(
        "--server", server.url, "--tokens", str(path), "--calls", "1", "--seconds", "1", "--record", "--json", str(found))
    assert done.returncode == 0, done.stdout
    recordings = json.loads(found.read_text())["recordings"]
    assert (recordings["begun"], recordings["refused"], recordings["tracks"]) == (0, 1, 0)
    server.stop()


def test_a_recording_ends_when_who_began_it_has_no_room_left(make_server, tmp_path):
    # Two tracks, of which each takes 64 KiB at a time.
    server = make_server({"media": {"userBytes": 100_000}})
    users, found = tmp_path / "users", tmp_path / "figures.json"
    users.write_text(server.command("token", "--count", "2", "--prefix", "load"))
    done = load(
        "--server", server.url, "--tokens", str(users), "--calls", "1", "--publishers", "2", "--seconds", "3", "--record",
        "--json", str(found))
    assert "a track ends" in done.stdout, "the load misses the end of it"
    person = json.loads(users.read_text().splitlines()[0])
    ann = User(server, person["user"], person["token"])
    [call] = ann.get("/v1/calls").json()["calls"]
    assert call["recordingEnded"] == "quota_exceeded" and "recording" not in call
    [manifest] = ann.get(f"/v1/calls/{call['id']}/recordings").json()["recordings"]
    assert (manifest["status"], manifest["reason"]) == ("complete", "quota_exceeded")
    assert 0 < sum(track["byteCount"] for track in manifest["tracks"]) <= 100_000
    server.stop()


def test_what_is_said_is_captioned(make_server, tmp_path):
    server = make_server({"transcription": {"provider": "command", "command": ["/bin/echo", "hello"]}})
    users, path, figures = tmp_path / "users", tmp_path / "speech.ogg", tmp_path / "figures.json"
    users.write_text(server.command("token", "--count", "2", "--prefix", "load"))
    path.write_bytes(encode(voice(1.5)))
    done = load(
        "--server", server.url, "--tokens", str(users), "--calls", "1", "--publishers", "1", "--seconds", "6", "--transcribe",
        "--speech", str(path), "--pause", "1.5", "--json", str(figures),
    )
    assert done.returncode == 0, done.stdout
    found = json.loads(figures.read_text())["captions"]
    assert (found["calls"], found["refused"], found["failures"]) == (1, {}, {})
    # What was begun before there were captions, and what is not yet over, may have one or none.
    assert found["said"] >= 2 and abs(found["captions"] - found["said"]) <= 1
    assert found["example"] == "hello"
    # It is over when nothing has been said for half a second.
    assert 200_000 < found["speechToCaptionMicroseconds"]["p50"] < 5_000_000
    server.stop()


def test_a_file_that_cannot_be_said_is_told(users, tmp_path):
    path = tmp_path / "speech.ogg"
    path.write_bytes(b"OggS")
    done = load("--tokens", str(users), "--calls", "1", "--speech", str(path))
    assert done.returncode == 1 and "cannot be said" in done.stderr


def test_too_few_users_are_told(server, users):
    done = load("--server", server.url, "--tokens", str(users), "--calls", "7", "--participants", "2")
    assert done.returncode != 0
    assert f"has {USERS} users" in done.stderr


def test_a_server_that_is_not_there_is_told(users):
    done = load("--server", "http://127.0.0.1:9", "--tokens", str(users), "--calls", "1")
    assert done.returncode == 1
    assert "POST /v1/calls" in done.stdout


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--participants", "51"], "--participants"),
        (["--publishers", "3"], "--publishers"),
        (["--profile", "AES"], "--profile"),
        (["--bitrate", "0"], "--bitrate"),
        (["--join-leave", "-1"], "--join-leave"),
        (["--door", "asterisk"], "--door"),
        (["--door", "janus", "--record"], "--record"),
        (["--pause", "-1"], "--pause"),
        (["--transcribe"], "--speech"),
    ],
)
def test_wrong_options_are_told(users, options, word):
    done = load("--tokens", str(users), *options)
    assert done.returncode == 64
    assert word in done.stderr
