"""Access to what engines make: questions to the assistant, dictation, search by meaning and what should be seen first.
One table of roles and operations, tested over REST, WebSocket and server-sent events. All engines are scripted.

Questions, answers and files are their user's own. Whatever is made of messages is made of those that its reader sees.
Every operation of the assistant, of priority and of voices has to be in a table: `test_the_tables_are_complete` reads
`/openapi.json`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from switchboard_tests.assistants import ScriptedModel, answering, modelling
from switchboard_tests.audio_files import encode, tone
from switchboard_tests.conversation_roles import (
    INSIDE,
    ONE,
    ROLES,
    SEES,
    SIGNED_OUT,
    THREE,
    Harness,
    group_of_roles,
    statuses,
)
from switchboard_tests.conversations import sent
from switchboard_tests.endpoint import client_id
from switchboard_tests.meaning import scripted, until_embedded
from switchboard_tests.server import HTTP, User
from switchboard_tests.transports import event_stream, web_socket
from switchboard_tests.voice_messages import uploaded
from switchboard_tests.waiting import wait_until

# Whose the thread, the run and the voice file are.
ASKER = "member"
LIMITS = {
    "friendRequestsPerHour": 10_000, "questionsPerMinute": 100_000, "requestsPerMinute": 100_000,
    "searchesPerMinute": 100_000, "voiceMessagesPerMinute": 100_000, "writingPerMinute": 100_000,
}  # fmt: skip
DICTATED = "written down"
SOUND = encode(tone(0.3))
# The last message of the group, which asks for something.
REQUEST = "Could you bring the tent, please?"

# Operation, parameters and body, and the status that the asker gets and that everybody else gets. They are requested in
# this order, while the answer is still being written.
OWN: list[tuple[str, dict[str, Any], int, int]] = [
    ("assistant.ask", {"clientID": "{new}", "question": "x", "thread": "{thread}", "conversation": None}, 202, 404),
    (
        "assistant.batch", {"clientID": "{new}", "questions": ["x"], "thread": "{thread}", "conversation": None},
        202, 404,
    ),
    ("assistant.thread", {"thread": "{thread}"}, 200, 404),
    ("assistant.run", {"run": "{run}"}, 200, 404),
    ("assistant.cancel", {"run": "{run}"}, 200, 404),
    ("assistant.eraseRun", {"run": "{run}"}, 204, 404),
    ("assistant.eraseThread", {"thread": "{thread}"}, 204, 404),
    ("voice.dictateFile", {"file": "{file}"}, 200, 404),
    # To others it says nothing, and it does nothing.
    ("voice.discard", {"file": "{file}"}, 204, 204),
]
# The same with the status that each role gets, of the conversation.
OF_CONVERSATION: list[tuple[str, dict[str, Any], dict[str, int]]] = [
    ("assistant.ask", {"clientID": "{new}", "question": "x"}, statuses(202, invited=409)),
    (
        "assistant.ask", {"clientID": "{new}", "question": "x", "for": "conversation"},
        statuses(202, former=409, invited=409),
    ),
    ("assistant.batch", {"clientID": "{new}", "questions": ["x"]}, statuses(202, invited=409)),
    ("messages.search", {"query": "camping", "mode": "meaning"}, statuses(200)),
    ("messages.search", {"query": "camping", "mode": "both"}, statuses(200)),
    ("summaries.create", {}, statuses(200)),
    ("drafts.rewrite", {"text": "hello", "style": "formal"}, statuses(200, former=403, invited=403)),
    ("replies.suggest", {"number": ONE}, statuses(200, joined_later=404, former=403, invited=403)),
]
# For everybody who is signed in, of what is theirs.
UNBOUND: list[tuple[str, dict[str, Any]]] = [
    ("assistant.ask", {"clientID": "{new}", "question": "x", "conversation": None}),
    ("assistant.batch", {"clientID": "{new}", "questions": ["x"], "conversation": None}),
    ("assistant.threads", {}), ("priority.list", {}),
]  # fmt: skip
# Over HTTP alone, with a file as the body.
FILES = {"voice.dictate"}
# Of what has not become a file yet: see `test_voice.py` and `test_voice_recordings.py`.
RECORDINGS = {
    "voice.upload", "voice.record", "voice.finishRecording", "voice.discardRecording", "voice.patchRecording",
}  # fmt: skip
TYPES = {403: "forbidden", 404: "not_found", 409: "conflict"}


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    with modelling() as model:
        model.script = answering("Half ", "of ", "an ", "answer")
        yield model


@pytest.fixture(scope="module")
def harness(make_server, model, tmp_path_factory) -> Harness:
    server = make_server({
        "limits": LIMITS, "transcription": {
            "provider": "command", "command": ["/bin/sh", "-c", f"cat > /dev/null; echo {DICTATED}"]},
        "languages": {
            "apertium": False, "embeddings": scripted(tmp_path_factory.mktemp("embedder") / "seen"),
            "model": {
                "provider": "openai", "url": model.url, "name": "scripted", "apiKey": "sk-test", "hosted": False},
        },
    })  # fmt: skip
    harness = group_of_roles(server)
    owner = person(harness, "owner")
    sent(owner, harness.here, REQUEST)
    until_embedded(owner)
    return harness


def person(harness: Harness, role: str) -> User:
    who = harness.people[role]
    assert who is not None
    return who


def run_of(user: User, run: str) -> dict[str, Any]:
    response = user.get(f"/v1/assistant/runs/{run}")
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()["run"]
    return found


@pytest.fixture
def own(harness, model) -> Iterator[dict[str, str]]:
    """A run of the asker, which is being written, its thread, and a voice file of theirs that is not sent."""
    asker = person(harness, ASKER)
    file = uploaded(asker, SOUND)["id"]
    model.goes_on.clear()
    try:
        asked = asker.post("/v1/assistant", {"clientID": client_id(), "question": "Who brings the tent?"})
        assert asked.status_code == 202, asked.text
        run = asked.json()["run"]
        yield {"{run}": run["id"], "{thread}": run["thread"], "{file}": file}
    finally:
        model.goes_on.set()
    assert asker.request("DELETE", f"/v1/voice-files/{file}").status_code == 204


def goes_on(harness: Harness, model: ScriptedModel, own: dict[str, str]) -> None:
    """Nobody else has changed anything."""
    asker = person(harness, ASKER)
    assert run_of(asker, own["{run}"])["status"] == "running"
    model.goes_on.set()
    wait_until(lambda: run_of(asker, own["{run}"])["status"] != "running", "the answer")
    run = run_of(asker, own["{run}"])
    assert (run["status"], [one["text"] for one in run["sentences"]]) == ("done", ["Half of an answer"])
    thread = asker.get(f"/v1/assistant/threads/{own['{thread}']}").json()
    assert [one["id"] for one in thread["runs"]] == [run["id"]]
    assert asker.post(f"/v1/voice-files/{own['{file}']}/dictation", {}).json()["text"] == DICTATED


def requests(role: str, own: dict[str, str]) -> list[tuple[str, dict[str, Any], int]]:
    """All that a role requests, with the status that it gets."""
    found = [
        (name, {key: own.get(str(value), value) for key, value in values.items()}, mine if role == ASKER else others)
        for name, values, mine, others in OWN
    ]
    if role not in SIGNED_OUT:
        found += [(name, values, expected[role]) for name, values, expected in OF_CONVERSATION]
    return found + [(name, values, 200) for name, values in UNBOUND]


def test_the_tables_are_complete(harness):
    tested = {name for name, *_ in OWN} | {name for name, *_ in OF_CONVERSATION} | {name for name, _ in UNBOUND} | FILES
    prefixes = ("assistant.", "priority.", "voice.")
    found = {name for name in harness.routes if name.startswith(prefixes)}
    assert found == {name for name in tested if name.startswith(prefixes)} | RECORDINGS


@pytest.mark.parametrize("role", ROLES)
def test_over_rest(harness, model, own, role: str):
    for operation, values, expected in requests(role, own):
        wanted = {401, 403} if role in SIGNED_OUT else {expected, 202} if expected == 200 else {expected}
        response = harness.ask(role, operation, values)
        assert response.status_code in wanted, (operation, values, ROLES[role], response.text)
        if operation == "assistant.threads" and response.status_code == 200:
            listed = {one["id"] for one in response.json()["threads"]}
            assert own["{thread}"] not in listed, "it is somebody else's, or erased"
    if role != ASKER:
        goes_on(harness, model, own)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("transport", [web_socket, event_stream])
def test_by_requests_and_listening(harness, model, own, transport, role: str):
    with transport(harness.server, harness.people[role]) as exchange:
        assert (exchange is None) == (role in SIGNED_OUT)
        if exchange is not None:
            listening = exchange(100, {"listen": {"stream": f"run:{own['{run}']}"}})
            assert ("result" in listening) == (role == ASKER), (ROLES[role], listening)
            for id, (operation, values, expected) in enumerate(requests(role, own), 2):
                response = exchange(id, {"request": operation, "params": harness.filled(values)})
                found = "result" if "result" in response else response["error"]["type"]
                assert found == TYPES.get(expected, "result"), (operation, values, ROLES[role], response)
            for id, operation in enumerate(sorted(FILES), 101):
                response = exchange(id, {"request": operation, "params": {}})
                assert response["error"]["type"] == "invalid_request", response
    if role != ASKER:
        goes_on(harness, model, own)


@pytest.mark.parametrize("role", ROLES)
def test_dictation(harness, role: str):
    who = harness.people[role]
    headers = {"Content-Type": "audio/ogg"} | (who.headers if who else {})
    response = HTTP.post(f"{harness.server.url}/v1/dictation", content=SOUND, headers=headers)
    if role in SIGNED_OUT:
        assert response.status_code in (401, 403), (ROLES[role], response.text)
    else:
        assert (response.status_code, response.json()["text"]) == (200, DICTATED), response.text


def texts(harness: Harness, response: httpx.Response, name: str) -> list[str]:
    """Of the messages of the conversation in a response."""
    assert response.status_code == 200, response.text
    found = [one["message"] for one in response.json()[name]]
    return [one["text"] for one in found if one["conversation"] == harness.here]


@pytest.mark.parametrize("role", SEES)
def test_what_is_found_and_seen_first(harness, role: str):
    who = person(harness, role)
    seen = {ONE: "one", THREE: "three"}
    expected = [seen[number] for number in SEES[role] or [] if number in seen] + [REQUEST] * (role in INSIDE)
    for mode in ("meaning", "both"):
        response = who.get("/v1/search", params={"query": "camping", "mode": mode, "limit": 50})
        found = texts(harness, response, "results")
        assert sorted(found) == sorted(expected), (mode, ROLES[role])
        # It is what means the same that is found first, of which nobody has written the word.
        assert found[:1] == [REQUEST] or role not in INSIDE
    # Of others, in conversations that one is in, and not of whom one has blocked.
    first = texts(harness, who.get("/v1/priority"), "messages")
    if role in INSIDE - {"owner", "blocked"}:
        assert first[0] == REQUEST and set(first) <= set(expected), (ROLES[role], first)
    else:
        assert first == [], ROLES[role]
