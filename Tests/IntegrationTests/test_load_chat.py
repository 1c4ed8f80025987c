"""`switchboard-load chat` against the real server: what it counts, checks and reports, also of lost connections."""

from __future__ import annotations

import json
import pathlib
import subprocess

import pytest
from switchboard_tests.server import LOAD, Server

# Scripts/setup --tests builds it.
ELDC = pathlib.Path(__file__).parents[2] / ".build-engines/libeldc.so"
UNLIMITED = {
    "friendRequestsPerHour": 100_000, "conversationsPerHour": 100_000, "messagesPerMinute": 10_000_000,
    "requestsPerMinute": 10_000_000, "translationsPerMinute": 1_000_000,
}  # fmt: skip


@pytest.fixture(scope="module")
def server(make_server) -> Server:
    return make_server({"limits": UNLIMITED})


def load(server: Server, tokens: pathlib.Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(LOAD), "chat", "--server", server.url, "--tokens", str(tokens), "--warm-up", "0.2", *options],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def tokens(server: Server, directory: pathlib.Path, count: int) -> pathlib.Path:
    path = directory / "users"
    people = [{"user": user.id, "token": user.token} for user in server.users(count)]
    path.write_text("\n".join(json.dumps(one) for one in people))
    return path


def run_load(server: Server, directory: pathlib.Path, users: int, *options: str) -> dict:
    """Runs a load that has to succeed, and returns its report."""
    report = directory / "report.json"
    done = load(
        server, tokens(server, directory, users), "--users", str(users), "--json", str(report), "--pid",
        str(server.pid), *options,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(report.read_text()) | {"table": done.stdout}
    assert (found["violations"], found["errors"]) == (0, {})
    assert "no violations" in found["table"]
    return found


def test_pairs_and_groups(server, tmp_path):
    found = run_load(
        server, tmp_path, 8, "--pairs", "6", "--groups", "2", "--group-size", "4", "--rate", "60", "--duration", "2",
        "--edits", "0.1", "--deletions", "0.1", "--inbox-listeners", "3",
    )  # fmt: skip
    times, checked = found["milliseconds"], found["checked"]
    # 60 writes a second; what was due in the warm-up may end in the measurement.
    writes = sum(times[step]["count"] for step in ("send to result", "edit", "deletion"))
    assert 100 <= writes <= 130
    assert times["edit"]["count"] > 0 and times["deletion"]["count"] > 0
    assert 0 < times["send to received"]["p50"] <= times["send to received"]["p99"] <= times["send to received"]["max"]
    assert times["send to inbox"]["count"] > 0
    # Every message was read by two or four members, all of whom listen.
    assert checked["acknowledged"] >= times["send to result"]["count"]
    assert 2 * checked["acknowledged"] <= checked["paged"] <= 4 * checked["acknowledged"]
    assert checked["held"] == checked["paged"]
    assert checked["unreadCounts"] == 6 * 2 + 2 * 4
    assert found["conversations"] == 8 and found["serverMicrosecondsPerWrite"] > 0


def test_what_is_marked_as_read(server, tmp_path):
    found = run_load(
        server, tmp_path, 8, "--pairs", "6", "--groups", "2", "--group-size", "4", "--rate", "100", "--duration", "3",
        "--receipts", "--inbox-listeners", "8", "--reconnects", "5",
    )  # fmt: skip
    # Of each user about one a second and conversation with new messages; the rest goes with what is sent.
    assert found["milliseconds"]["mark"]["count"] > 20
    assert found["checked"]["unreadCounts"] == 6 * 2 + 2 * 4


def test_lost_connections(server, tmp_path):
    """What was not answered is repeated, and listeners resume."""
    found = run_load(
        server, tmp_path, 6, "--pairs", "3", "--groups", "1", "--group-size", "6", "--max", "--in-flight", "4",
        "--duration", "3", "--edits", "0.1", "--reconnects", "20", "--inbox-listeners", "6",
    )  # fmt: skip
    assert found["milliseconds"]["resume"]["count"] >= 20
    assert found["checked"]["acknowledged"] > 100


def test_all_sockets_close_at_once(server, tmp_path):
    found = run_load(
        server, tmp_path, 100, "--pairs", "50", "--listeners", "1", "--rate", "50", "--duration", "3", "--storm", "1"
    )
    assert found["milliseconds"]["resume"]["count"] == 100
    assert found["checked"]["held"] == found["checked"]["acknowledged"]


@pytest.fixture(scope="module")
def reading_server(make_server) -> Server:
    """With real Apertium, and what the release identifies languages by."""
    languages = {"identification": "eldc", "eldcLibrary": str(ELDC)}
    return make_server({"limits": UNLIMITED, "languages": languages})


def test_users_read_in_their_own_language(reading_server, tmp_path):
    """Spanish and Portuguese, in pairs and groups, with edits and deletions."""
    found = run_load(
        reading_server, tmp_path, 6, "--translate", "--pairs", "3", "--groups", "2", "--group-size", "3", "--rate",
        "12", "--duration", "4", "--edits", "0.15", "--deletions", "0.1",
    )  # fmt: skip
    translated, times = found["translated"], found["milliseconds"]["send to translated"]
    # Former texts, and deleted ones, were translated too.
    assert translated["expected"] == translated["seen"] > 10 and translated["made"] > 10
    assert (translated["misidentified"], translated["askedFor"], translated["failures"]) == (0, 0, {})
    assert 0 < times["p50"] <= times["p99"] and times["count"] > 10
    assert f"translated: {translated['seen']} of {translated['expected']}" in found["table"]


def test_translations_go_on_after_lost_connections(reading_server, tmp_path):
    found = run_load(
        reading_server, tmp_path, 4, "--translate", "--pairs", "2", "--rate", "8", "--duration", "4", "--reconnects",
        "3",
    )  # fmt: skip
    assert found["milliseconds"]["resume"]["count"] >= 5
    assert found["translated"]["seen"] == found["translated"]["expected"] > 10


def test_what_comes_at_once_is_asked_for(reading_server, tmp_path):
    """More than fifty messages at once: the newest are translated unasked."""
    found = run_load(
        reading_server, tmp_path, 2, "--translate", "--pairs", "1", "--max", "--in-flight", "20", "--duration", "0.4"
    )
    translated = found["translated"]
    assert translated["seen"] == translated["expected"] > 50, translated
    assert translated["askedFor"] > 0, translated


def test_a_server_that_does_not_translate_is_reported(make_server, tmp_path):
    server = make_server({"limits": UNLIMITED, "languages": {"apertium": False}})
    done = load(server, tokens(server, tmp_path, 2), "--users", "2", "--pairs", "1", "--max", "--translate")
    assert done.returncode == 1
    assert "translations.request: provider_not_configured" in done.stdout + done.stderr
    server.stop()


def test_refusals_are_counted_by_type(make_server, tmp_path):
    """With the limits of an ordinary user; what was refused is not there."""
    limited = make_server({"limits": UNLIMITED | {"messagesPerMinute": 20}})
    done = load(
        limited, tokens(limited, tmp_path, 2), "--users", "2", "--pairs", "1", "--senders", "1", "--max", "--duration",
        "1", "--json", str(tmp_path / "report.json"),
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    found = json.loads((tmp_path / "report.json").read_text())
    assert list(found["errors"]) == ["messages.send: rate_limited"]
    assert found["violations"] == 0 and found["checked"]["acknowledged"] >= 20
    limited.stop()


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--pairs", "1"], "--rate or --max"),
        (["--max"], "--pairs or --groups"),
        (["--max", "--pairs", "7"], "--pairs must be at most 6"),
        (["--max", "--groups", "1", "--group-size", "5"], "--group-size"),
        (["--max", "--groups", "300", "--group-size", "4"], "300 streams"),
        (["--max", "--translate", "--groups", "130", "--group-size", "4"], "260 streams"),
        (["--max", "--pairs", "1", "--edits", "0.6", "--deletions", "0.5"], "--edits"),
        (["--max", "--pairs", "1", "--text-size", "0"], "--text-size"),
        (["--max", "--pairs", "1", "--in-flight", "61"], "--in-flight"),
        (["--max", "--pairs", "1", "--storm", "11"], "--storm"),
    ],
)
def test_wrong_options_are_reported(server, tmp_path, options, word):
    done = load(server, tmp_path / "none", "--users", "4", *options)
    assert done.returncode == 64
    assert word in done.stderr
