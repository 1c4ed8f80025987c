"""The metrics for Prometheus and Grafana: valid, with bounded labels, and with every limit."""

from __future__ import annotations

import json
import re
import socket
import subprocess

import pytest
from switchboard_tests import stun
from switchboard_tests.audio_files import encode, voice
from switchboard_tests.conversations import befriend, direct, send
from switchboard_tests.metrics import families, text, value
from switchboard_tests.server import HTTP, LOAD, OPEN_RELAY, ROOT, Server, User, tool
from switchboard_tests.voice_messages import sent
from switchboard_tests.waiting import wait_until

ASK = stun.attribute(stun.TRANSPORT, b"\x11\0\0\0")


@pytest.fixture(scope="module")
def busy(make_server) -> Server:
    """A server that has relayed, rejected, and received invalid packets."""
    server = make_server({
        "relay": {**OPEN_RELAY, "limits": {"allocationsPerUser": 2, "allocations": 1000}},
        "transcription": {"provider": "command", "command": ["/bin/echo", "hello"], "recordings": True},
    })
    # As from another machine: the relay is tried, and no engine.
    checked = tool(server, "check", "--address", "127.0.0.1")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    for _ in range(3):
        stun.Client("127.0.0.1", server.relay_port, "alice", "wonderland").request(stun.ALLOCATE, ASK)
    stun.Client("127.0.0.1", server.relay_port, "alice", "wrong").request(stun.ALLOCATE, ASK)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as noise:
        noise.sendto(b"noise", ("127.0.0.1", server.relay_port))
    server.user().get("/v1/me")
    wait_until(lambda: value(server, "relay_rejected_total", reason="malformed") >= 1, "noise is counted")
    return server


def test_the_text_is_valid(busy):
    response = HTTP.get(busy.admin_url + "/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    kinds = re.findall(r"^# TYPE (\S+) (\S+)$", response.text, re.M)
    names = [name for name, _ in kinds]
    assert len(names) == len(set(names)) and len(names) > 20
    seen = set()
    for line in response.text.splitlines():
        if line.startswith("#"):
            continue
        series = line.rsplit(" ", 1)[0]
        assert re.fullmatch(r"switchboard_[a-z0-9_]+(\{[a-z]+=\"[^\"\\]*\"(,[a-z]+=\"[^\"\\]*\")*\})?", series), line
        assert series not in seen, f"{series} is there twice"
        seen.add(series)
    for name, kind in kinds:
        assert (kind == "counter") == name.endswith("_total"), f"{name} is a {kind}"
        assert kind in ("counter", "gauge", "histogram")
    # Every sample has a TYPE line, and a type that the parser knows.
    parsed = families(busy)
    assert {family.type for family in parsed.values()} <= {"counter", "gauge", "histogram"}


def test_histograms_add_up(busy):
    parsed = families(busy)
    for name in ("switchboard_relay_receive_batch_size", "switchboard_relay_send_batch_size"):
        samples = parsed[name].samples
        buckets = [(float(sample.labels["le"]), sample.value) for sample in samples if sample.name.endswith("_bucket")]
        assert buckets == sorted(buckets) and buckets[-1][0] == float("inf")
        counts = [count for _, count in buckets]
        assert counts == sorted(counts)
        total = next(sample.value for sample in samples if sample.name.endswith("_count"))
        datagrams = next(sample.value for sample in samples if sample.name.endswith("_sum"))
        assert counts[-1] == total > 0 and datagrams >= total
    for family in parsed.values():
        if family.type == "histogram":
            assert any(sample.name.endswith("_sum") for sample in family.samples), family.name


def test_every_label_is_bounded(busy):
    """Labels never have a user, an address or a call: an attacker could create any number of them."""
    allowed = {
        "direction",
        "reason",
        "limit",
        "transport",
        "worker",
        "outcome",
        "le",
        "type",
        "kind",
        "method",
        "engine",
        "program",
        "result",
        "status",
        "name",
        "state",
        "client",
    }
    before = text(busy)
    for family in families(busy).values():
        for sample in family.samples:
            assert set(sample.labels) <= allowed, sample
            for label in sample.labels.values():
                assert not re.search(r"\d+\.\d+\.\d+\.\d+|@|[0-9a-f]{8}-", label), sample
    for index in range(20):
        stun.Client(
            "127.0.0.1", busy.relay_port, *stun.ephemeral("a secret of the tests, long enough", f"user{index}")
        ).allocate()
    count = lambda body: sum(not line.startswith("#") for line in body.splitlines())
    assert count(text(busy)) == count(before)


def test_limits_and_rejections_are_counted(busy):
    wait_until(lambda: value(busy, "relay_allocations_refused_total", limit="user") == 1, "486 is counted")
    assert value(busy, "relay_limit", limit="allocations_per_user") == 2
    assert value(busy, "relay_limit", limit="allocations") == 1000
    assert value(busy, "relay_unauthenticated_responses_total") > 0
    assert value(busy, "relay_draining") == 0
    tool(busy, "drain")
    stun.Client("127.0.0.1", busy.relay_port, "bob", "x")
    refused = stun.Client("127.0.0.1", busy.relay_port, *stun.ephemeral("a secret of the tests, long enough", "late"))
    assert refused.request(stun.ALLOCATE, ASK)[0] == 508
    assert value(busy, "relay_draining") == 1
    wait_until(lambda: value(busy, "relay_allocations_refused_total", limit="draining") == 1, "508 is counted")
    tool(busy, "drain", "--off")


def test_allocations_are_counted_by_transport_and_worker(busy):
    live = lambda: value(busy, "relay_allocations")
    wait_until(
        lambda: live() > 0 and value(busy, "relay_allocations_by_transport", transport="udp") == live(), "all are UDP"
    )
    for transport in ("tcp", "tls", "dtls"):
        assert value(busy, "relay_allocations_by_transport", transport=transport) == 0
    parsed = families(busy)
    by_worker = sum(sample.value for sample in parsed["switchboard_relay_worker_allocations"].samples)
    assert by_worker == live()
    packets = sum(
        sample.value
        for sample in parsed["switchboard_relay_worker_packets"].samples
        if sample.labels["direction"] == "from_clients"
    )
    assert packets == next(
        sample.value
        for sample in parsed["switchboard_relay_packets"].samples
        if sample.labels["direction"] == "from_clients"
    )


def transcribe_all(server: Server, directory) -> None:
    """Sends a voice message, records a call, mixes the recording, and transcribes both."""
    file = encode(voice(2))
    ann, ben = server.users(2)
    sent(ann, ben, file)
    users, path = directory / "users", directory / "speech.ogg"
    users.write_text(server.command("token", "--count", "2", "--prefix", "load"))
    path.write_bytes(file)
    done = subprocess.run(
        [str(LOAD), "media", "--server", server.url, "--tokens", str(users), "--calls", "1", "--seconds", "4",
         "--record",
         "--transcribe", "--speech", str(path), "--pause", "1"], capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    somebody = json.loads(users.read_text().splitlines()[0])
    somebody = User(server, somebody["user"], somebody["token"])
    [call] = somebody.get("/v1/calls").json()["calls"]
    [recording] = somebody.get(f"/v1/calls/{call['id']}/recordings").json()["recordings"]
    assert somebody.post(f"/v1/recordings/{recording['id']}/mix").status_code < 300
    for name in ("transcription_jobs_total", "recording_tracks_transcribed_total", "recording_mixes_total"):
        wait_until(lambda: f"switchboard_{name}{{" in text(server), f"{name} is counted")


def translate(server: Server) -> None:
    """Has Apertium translate a message."""
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    assert send(ann, here, "Позвони мне, когда придёшь").status_code == 201
    body = {"numbers": [1], "language": "uk"}
    assert ann.post(f"/v1/conversations/{here}/translations", body).status_code == 200
    wait_until(lambda: "switchboard_translation_texts_total{" in text(server), "it is made")
    assert value(server, "translation_texts_total", engine="apertium", outcome="done") == 1
    assert value(server, "translation_calls_total", engine="apertium") == 1
    assert value(server, "translation_requests_total", result="queued") == 1
    assert value(server, "translation_waiting") == 0
    assert value(server, "translation_program_running", program="apertium-rus-ukr") == 1
    assert value(server, "provider_calls_total", feature="translation", engine="apertium", outcome="done") == 1
    assert value(server, "provider_micro_dollars_total", feature="translation", engine="apertium") == 0
    assert ann.post(f"/v1/conversations/{here}/messages/1/hints", {}).status_code == 200


def test_the_dashboard_uses_existing_metrics(busy, tmp_path):
    transcribe_all(busy, tmp_path)
    translate(busy)
    dashboard = json.loads((ROOT / "Config/grafana/switchboard.json").read_text())
    # Counters that exist only after their first increment are created by use.
    names = {sample.name for family in families(busy).values() for sample in family.samples}
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    asked += [variable["definition"] for variable in dashboard["templating"]["list"] if "definition" in variable]
    assert len(asked) > 30
    for expression in asked:
        wanted = re.findall(r"switchboard_\w+", expression)
        assert wanted, expression
        assert set(wanted) <= names, f"{set(wanted) - names} in {expression}"
        for name, label in re.findall(r"by \((\w+)\) \((?:rate\()?(?:switchboard_)(\w+)", expression):
            assert name == "le" or any(
                name in sample.labels for family in families(busy).values() for sample in family.samples
                if sample.name == "switchboard_" + label
            ), expression
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids))
