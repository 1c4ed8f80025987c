"""The sounds of voice messages in exports and imports."""

from __future__ import annotations

import json
import stat

import numpy
from switchboard_tests.audio_files import decode, encode, voice
from switchboard_tests.transfers import direct, imported, inbox, pages, run, signed_in, user, write
from switchboard_tests.voice_messages import fetch, path_of, send, shown
from switchboard_tests.waiting import wait_until

TRANSCRIPTION = {"transcription": {"provider": "command", "command": ["/bin/sh", "-c", "cat > /dev/null; echo hello"]}}


def lines_of(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def exported(server, path) -> list[dict]:
    done = run(server, "export", path)
    assert done.returncode == 0, done.stderr
    return lines_of(path)


def stored(server) -> int:
    """The number of files in the media directory."""
    return len(list((server.directory / "data" / "media").iterdir()))


def own(user, conversation: str) -> list[dict]:
    page = user.get(f"/v1/conversations/{conversation}/messages?limit=100").json()
    return page["own"]


def test_the_sounds_of_voice_messages_come_along(make_server, tmp_path):
    first, second, third = make_server(TRANSCRIPTION), make_server(), make_server()
    imported(first, write(tmp_path / "old.jsonl", [user("ann"), user("ben"), direct("c", "ann", "ben")]))
    ann, ben = signed_in(first, "ann"), signed_in(first, "ben")
    sounds = [encode(voice(2)), encode(voice(3), format="webm")]
    made = []
    for sound, type in zip(sounds, ("audio/ogg", "audio/webm"), strict=True):
        response = send(ann, ben, sound, type)
        assert response.status_code == 201, response.text
        made.append(response.json()["message"])
    for message in made:
        path = path_of(message)
        wait_until(
            lambda path=path: ben.get(path + "/transcript").json()["transcript"]["status"] == "complete",
            "its transcript")
    corrected = ann.request("PUT", path_of(made[1]) + "/language", {"language": "de"})
    assert corrected.status_code == 200, corrected.text
    listened = ben.request("PUT", path_of(made[0]) + "/listened")
    assert listened.status_code == 200, listened.text
    assert ben.request("PUT", path_of(made[1]) + "/star").status_code == 200

    lines = exported(first, tmp_path / "all.jsonl")
    described = [line["voice"] for line in lines if line.get("kind") == "voice"]
    assert [one["transcript"] for one in described] == ["hello", "hello"] and described[1]["language"] == "de"
    assert all(one["segments"] and len(one["waveform"]) == 100 and one["level"] < 0 for one in described)
    folder = tmp_path / "all.files"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert sorted(one["file"] for one in described) == sorted(file.name for file in folder.iterdir())
    for message, one in zip(made, described, strict=True):
        file = folder / one["file"]
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert file.read_bytes() == fetch(ann, shown(ann, message)["audio"]["url"]).content
    notes = [line for line in lines if line["type"] == "own"]
    assert ["listenedAt" in note for note in notes] == [True, False]

    done = run(second, "import", tmp_path / "all.jsonl")
    assert done.returncode == 0 and not done.stderr, done.stdout + done.stderr
    ann, ben = signed_in(second, "ann"), signed_in(second, "ben")
    [row] = inbox(ben)
    seen = list(pages(ben, row["id"]))
    assert [one["voice"]["transcript"]["text"] for one in seen] == ["hello", "hello"]
    for message, one in zip(seen, described, strict=True):
        sound = shown(ben, message)
        assert (sound["durationMs"], sound["waveform"], sound["level"]) == (
            one["durationMs"], one["waveform"], one["level"])
        here, there = decode(fetch(ben, sound["audio"]["url"]).content), decode((folder / one["file"]).read_bytes())
        assert numpy.array_equal(here, there)
        transcript = ben.get(path_of(message) + "/transcript").json()["transcript"]
        assert transcript["segments"] == one["segments"]
    assert [(note.get("listened"), note["starred"]) for note in own(ben, row["id"])] == [(True, False), (None, True)]

    # And once more, it is the same but for the ids; nothing is stored twice.
    again = exported(second, tmp_path / "again.jsonl")
    for name in ("message", "own"):
        changed = [
            {key: line[key] for key in line if key not in ("id", "conversation", "author", "user", "message")}
            for lines in (lines, again) for line in lines if line["type"] == name
        ]
        for line in changed:
            line.get("voice", {}).pop("file", None)
        assert changed[: len(changed) // 2] == changed[len(changed) // 2 :]
    count = stored(second)
    done = run(second, "import", tmp_path / "all.jsonl")
    assert (done.returncode, stored(second)) == (0, count)
    assert " 0 refused" in done.stdout
    # A server that does not run has the same done by the tool.
    third.stop()
    done = run(third, "import", tmp_path / "all.jsonl")
    assert done.returncode == 0 and "sound" not in done.stderr, done.stdout + done.stderr
    assert stored(third) == 2
    assert run(third, "export", tmp_path / "third.jsonl").returncode == 0
    assert len(list((tmp_path / "third.files").iterdir())) == 2


def test_without_its_sound_a_voice_message_has_what_its_line_says(make_server, tmp_path):
    server = make_server()
    line = {
        "type": "message", "conversation": "c", "author": "ann", "kind": "voice", "sentAt": "2020-01-01T00:00:00Z"}
    described = {"durationMs": 1500, "waveform": [1, 2, 3], "level": -30}
    (tmp_path / "old.files").mkdir()
    (tmp_path / "old.files" / "broken.ogg").write_bytes(b"no sound")
    (tmp_path / "secret.ogg").write_bytes(encode(voice(1)))
    path = write(tmp_path / "old.jsonl", [
        user("ann"), user("ben"), direct("c", "ann", "ben"),
        line | {"id": "m1", "voice": described | {"file": "missing.ogg"}},
        line | {"id": "m2", "voice": described | {"file": "broken.ogg"}},
    ])
    done = run(server, "import", path, "--source", "old")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "without its sound, missing.ogg" in done.stderr
    assert "its sound cannot be imported" in done.stderr
    ben = signed_in(server, "ben")
    [row] = inbox(ben)
    for message in pages(ben, row["id"]):
        assert message["voice"]["waveform"] == [1, 2, 3] and "file" not in message["voice"]
        assert ben.get(path_of(message) + "/audio").status_code == 409
    assert stored(server) == 0
    # A name leads nowhere else.
    for name in ("../secret.ogg", "/etc/passwd", ".hidden", "a/b"):
        write(path, [line | {"id": "m3", "voice": described | {"file": name}}])
        done = run(server, "import", path, "--source", "old")
        assert (done.returncode, "voice.file is a name" in done.stderr) == (1, True), name


def test_a_member_has_their_sounds_by_links(make_server, tmp_path):
    server = make_server()
    imported(server, write(tmp_path / "old.jsonl", [user("ann"), user("ben"), direct("c", "ann", "ben")]))
    ann, ben = signed_in(server, "ann"), signed_in(server, "ben")
    assert send(ann, ben, encode(voice(1))).status_code == 201
    [row] = inbox(ben)
    lines = [json.loads(line) for line in ben.get(f"/v1/conversations/{row['id']}/export").text.splitlines()]
    [message] = [line for line in lines if line.get("kind") == "voice"]
    conversation, number = message["id"].split("/")
    link = ben.get(f"/v1/conversations/{conversation}/messages/{number}/audio").json()["audio"]["url"]
    assert decode(fetch(ben, link).content).size > 0
    assert message["voice"]["file"].endswith(".ogg")
    done = run(server, "export", tmp_path / "ben.jsonl", "--user", "ben@old.example")
    assert done.returncode == 0
    assert [file.name for file in (tmp_path / "ben.files").iterdir()] == [message["voice"]["file"]]
