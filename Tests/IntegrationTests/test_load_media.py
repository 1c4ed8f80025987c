"""`switchboard-load media` against the real server: whole calls in gateway mode, its counters and its messages."""

from __future__ import annotations

import json
import pathlib
import subprocess

import pytest
from switchboard_tests.audio_files import encode, tone, voice
from switchboard_tests.server import LOAD, User

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
def run_load(server, users, tmp_path):
    """Runs a load that has to succeed, and returns its JSON report."""

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
def test_two_calls_of_two_lose_nothing(server, run_load, profile):
    found = run_load("--calls", "2", "--participants", "2", "--profile", profile, "--pid", str(server.pid))
    assert found["errors"] == {}
    assert found["legs"] == found["joined"] == 4
    assert found["profiles"] == {profile: 4}
    audio = found["audioStreams"]
    assert (audio["streams"], audio["silent"], audio["lost"]) == (4, 0, 0)
    assert found["videoStreams"]["streams"] == 0
    # Each publisher has one listener, and packets in transit when measuring starts or ends are counted on one side
    # only.
    assert 150 <= found["sent"] <= 250
    assert abs(found["forwarded"] - found["sent"]) <= 20
    assert 0 < audio["oneWayMicroseconds"]["p50"] <= audio["oneWayMicroseconds"]["p99"]
    for times in (found["connectedMicroseconds"], found["firstPacketMicroseconds"]):
        assert 0 < times["p50"] <= times["max"]
    assert 0 <= found["serverUserMicrosecondsPerPacket"] <= found["serverMicrosecondsPerPacket"]
    assert found["serverMemory"] > 0
    assert "no errors" in found["table"]


def test_a_group_with_video(run_load):
    found = run_load("--calls", "2", "--participants", "4", "--publishers", "2", "--video", "--bitrate", "300")
    # Of each call two see the one other publisher, and two see both.
    for streams in (found["audioStreams"], found["videoStreams"]):
        assert (streams["streams"], streams["silent"], streams["lost"]) == (12, 0, 0)
    assert found["feedback"] > 0


def test_legs_come_and_go_among_junk(run_load):
    # Enough time for everybody to reload their page, and then to leave the call and join it again.
    found = run_load("--calls", "1", "--participants", "3", "--join-leave", "4", "--junk", "200", "--seconds", "3")
    assert found["left"] >= 4
    assert found["joined"] == 3 + found["left"]
    assert found["junk"] > 0
    assert found["audioStreams"]["lost"] == 0


def test_calls_are_recorded_and_the_recordings_are_checked(run_load, tmp_path):
    speech = tmp_path / "speech.ogg"
    speech.write_bytes(encode(tone(1.3)))
    found = run_load(
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
    # The marker alone is 20 bytes of each packet.
    assert recordings["byteCount"] > 4 * 4 * 50 * 20
    assert "2 recordings with 4 tracks" in found["table"]


def test_rejected_recordings_are_reported(make_server, tmp_path):
    # The limit allows one call each, and no recording.
    server = make_server({"limits": {"callsPerMinute": 1}})
    path, found = tmp_path / "users", tmp_path / "figures.json"
    path.write_text(server.command("token", "--count", "2", "--prefix", "load"))
    done = load(
        "--server",
        server.url,
        "--tokens",
        str(path),
        "--calls",
        "1",
        "--seconds",
        "1",
        "--record",
        "--json",
        str(found),
    )
    assert done.returncode == 0, done.stdout
    recordings = json.loads(found.read_text())["recordings"]
    assert (recordings["begun"], recordings["refused"], recordings["tracks"]) == (0, 1, 0)
    server.stop()


def test_a_recording_ends_when_its_owner_exceeds_the_quota(make_server, tmp_path):
    # Two tracks, of which each takes 64 KiB at a time.
    server = make_server({"media": {"userBytes": 100_000}})
    users, found = tmp_path / "users", tmp_path / "figures.json"
    users.write_text(server.command("token", "--count", "2", "--prefix", "load"))
    done = load(
        "--server",
        server.url,
        "--tokens",
        str(users),
        "--calls",
        "1",
        "--publishers",
        "2",
        "--seconds",
        "3",
        "--record",
        "--json",
        str(found),
    )
    assert "a track ends" in done.stdout, "the load misses the end of it"
    person = json.loads(users.read_text().splitlines()[0])
    ann = User(server, person["user"], person["token"])
    [call] = ann.get("/v1/calls").json()["calls"]
    assert call["recordingEnded"] == "quota_exceeded" and "recording" not in call
    [manifest] = ann.get(f"/v1/calls/{call['id']}/recordings").json()["recordings"]
    assert (manifest["status"], manifest["reason"]) == ("complete", "quota_exceeded")
    assert 0 < sum(track["byteCount"] for track in manifest["tracks"]) <= 100_000
    server.stop()


def test_speech_is_captioned(make_server, tmp_path):
    server = make_server({"transcription": {"provider": "command", "command": ["/bin/echo", "hello"]}})
    users, path, run_load = tmp_path / "users", tmp_path / "speech.ogg", tmp_path / "figures.json"
    users.write_text(server.command("token", "--count", "2", "--prefix", "load"))
    path.write_bytes(encode(voice(1.5)))
    done = load(
        "--server",
        server.url,
        "--tokens",
        str(users),
        "--calls",
        "1",
        "--publishers",
        "1",
        "--seconds",
        "6",
        "--transcribe",
        "--speech",
        str(path),
        "--pause",
        "1.5",
        "--json",
        str(run_load),
    )
    assert done.returncode == 0, done.stdout
    found = json.loads(run_load.read_text())["captions"]
    assert (found["calls"], found["refused"], found["failures"]) == (1, {}, {})
    # Speech that started before captions, or has not ended yet, may have a caption or not.
    assert found["said"] >= 2 and abs(found["captions"] - found["said"]) <= 1
    assert found["example"] == "hello"
    # An utterance ends after half a second of silence.
    assert 200_000 < found["speechToCaptionMicroseconds"]["p50"] < 5_000_000
    server.stop()


def test_an_unusable_speech_file_is_reported(users, tmp_path):
    path = tmp_path / "speech.ogg"
    path.write_bytes(b"OggS")
    done = load("--tokens", str(users), "--calls", "1", "--speech", str(path))
    assert done.returncode == 1 and "cannot be used as speech" in done.stderr


def test_too_few_users_are_reported(server, users):
    done = load("--server", server.url, "--tokens", str(users), "--calls", "7", "--participants", "2")
    assert done.returncode != 0
    assert f"has {USERS} users" in done.stderr


def test_an_unreachable_server_is_reported(users):
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
def test_wrong_options_are_reported(users, options, word):
    done = load("--tokens", str(users), *options)
    assert done.returncode == 64
    assert word in done.stderr
