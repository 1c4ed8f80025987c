"""What hosted services are given and charge, as operators see it; the service is a scripted server here."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from switchboard_tests.audio_files import encode
from switchboard_tests.conversations import befriend, direct, send
from switchboard_tests.metrics import value
from switchboard_tests.scripted_recogniser import utterance
from switchboard_tests.server import HTTP, Server, User
from switchboard_tests.transcription import WORDS, Picky, endpoint_of, transcript
from switchboard_tests.transcription import serving as recognising
from switchboard_tests.translators import ScriptedProvider, completion, outcomes, serving
from switchboard_tests.voice_messages import sent

USAGE = {"prompt_tokens": 1_000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 600}}
COLUMNS = "purpose, outcome, input_tokens, cached_tokens, output_tokens, micro_dollars, estimated"
SPEECH_COLUMNS = "payer, purpose, engine, outcome, milliseconds, micro_dollars, texts, characters, estimated"


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with serving() as provider:
        yield provider


def calls(server: Server, columns: str = COLUMNS) -> list[tuple[Any, ...]]:
    with contextlib.closing(sqlite3.connect(f"file:{server.data}/switchboard.sqlite?mode=ro", uri=True)) as database:
        return list(database.execute(f"SELECT {columns} FROM provider_calls ORDER BY id"))


def test_tokens_and_money_are_counted(make_server, provider):
    service = {"provider": "openai", "url": provider.url, "apiKey": "sk-test"}
    server = make_server(
        {
            "limits": {"writingPerMinute": 1_000, "friendRequestsPerHour": 1_000},
            "languages": {
                "apertium": False, "defaultLevel": "full",
                "model": service | {
                    "name": "scripted", "price": {"input": 2.5, "cachedInput": 0.25, "output": 10},
                },
                "translation": service | {"model": "translating", "price": {"input": 1, "output": 4}},
            },
        }
    )  # fmt: skip
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    path = f"/v1/conversations/{here}/drafts/rewrite"

    def rewrite(usage: dict[str, Any] | None, status: int = 200) -> tuple[Any, ...]:
        provider.script = lambda data: (status, {}, completion(json.dumps({"text": data["draft"]}), usage=usage))
        response = ann.post(path, {"text": "please come to the office", "style": "formal"})
        assert response.status_code == (200 if status == 200 else 502), response.text
        return calls(server)[-1]

    # 400 at 2.5, 600 at 0.25, 100 at 10.
    assert rewrite(USAGE) == ("rewrite", "done", 400, 600, 100, 2_150, 0)
    # Anthropic's words for the same, which some gateways use.
    read = {"input_tokens": 300, "cache_read_input_tokens": 600, "cache_creation_input_tokens": 100}
    other = read | {"output_tokens": 100}
    assert rewrite(other) == ("rewrite", "done", 400, 600, 100, 2_150, 0)
    # Where it does not say, or says nonsense, the estimate stays and is marked.
    estimates = [
        rewrite(usage)
        for usage in (None, {"prompt_tokens": -5}, {"prompt_tokens": 10**15}, {"prompt_tokens": 1.5}, {"total": 5})
    ]
    assert {one[-1] for one in estimates} == {1}
    assert len(set(estimates)) == 1 and estimates[0][2] > 100 and estimates[0][4] > 256 and estimates[0][3] == 0
    # Nobody pays for what was refused.
    assert rewrite(USAGE, status=503) == ("rewrite", "refused", 0, 0, 0, 0, 0)
    # Translations have another price.
    assert send(ann, here, "Shall we meet in the office tomorrow?").status_code == 201
    assert ben.request("PATCH", "/v1/me", {"languages": ["es"]}).status_code == 200
    provider.script = lambda texts: (
        200, {}, completion(json.dumps({key: f"[es] {text}" for key, text in texts.items()}), usage=USAGE)
    )  # fmt: skip
    assert outcomes(ben, here, [1])[1]["status"] == "done"
    translated = calls(server)[-1]
    assert translated[1:] == ("done", 400, 600, 100, 1_400, 0)
    # Operators see it.
    labels = {"feature": "rewrite", "engine": "scripted"}
    assert value(server, "provider_tokens_total", kind="cached", **labels) == 1_200
    assert value(server, "provider_calls_total", outcome="done", **labels) == 7
    assert value(server, "provider_micro_dollars_total", feature=translated[0], engine="translating") == 1_400
    lines = [line.split("\t") for line in server.command("languages", "statistics").splitlines()]
    shown = {(line[1], line[3]): line for line in lines if line[0] == "calls"}
    assert shown["rewrite", "refused"][4:] == ["1", "0", "0", "0", "0", "0.000000", "0", "0"]
    done = shown["rewrite", "done"]
    assert (done[2], done[4], done[7], *done[-2:]) == ("scripted", "7", "1200", "5", "0")
    money = 2 * 2_150 + 5 * estimates[0][5]
    assert done[-3] == f"{money // 1_000_000}.{money % 1_000_000:06}"
    engines = [line[1:] for line in lines if line[0] == "engine"]
    assert engines == [["translation", "translating", "hosted"], ["model", "scripted", "hosted"]]


def test_speech_has_a_budget_of_its_own_and_whoever_speaks_pays(make_server):
    speech = utterance(WORDS)
    with recognising(Picky) as hosted:
        settings = endpoint_of(hosted)
        # The timeout is for a busy machine.
        settings["transcription"] |= {"hosted": "true", "price": {"minute": 0.006}, "timeoutSeconds": 60}
        settings["languages"] = {"defaultLevel": "translate", "budget": {"dailyCharacters": 0, "dailySpeechSeconds": 6}}
        server = make_server(settings)
        ann, ben = server.users(2)

        def dictate(user: User) -> httpx.Response:
            headers = {"Authorization": f"Bearer {user.token}", "Content-Type": "audio/ogg"}
            return HTTP.post(f"{server.url}/v1/dictation", content=encode(speech), headers=headers)

        # Nobody pays for what is refused.
        hosted.mode = "refuse"
        assert dictate(ann).status_code == 502
        assert calls(server, SPEECH_COLUMNS) == [(ann.id, "dictation", "tiny", "refused", 0, 0, 0, 0, 0)]
        hosted.successes_left = 1_000
        first = dictate(ann)
        assert first.status_code == 200 and first.json()["text"] == "well", first.text
        row = calls(server, SPEECH_COLUMNS)[-1]
        milliseconds = row[4]
        cost = -(-milliseconds * 6 // 60)
        assert 1_000 < milliseconds < 3_000
        assert row == (ann.id, "dictation", "tiny", "done", milliseconds, cost, 0, 0, 0)
        while (refused := dictate(ann)).status_code == 200:
            pass
        assert (refused.status_code, refused.json()["type"]) == (429, "budget_exhausted"), refused.text
        assert 0 < int(refused.headers["Retry-After"]) <= 86_400
        done = 6_000 // milliseconds
        assert hosted.requests == 1 + done and len(calls(server)) == 1 + done
        # A voice message is on the budget of who speaks, whoever asks for it.
        message = sent(ann, ben, encode(speech))
        failure = transcript(ben, message, "failed", "complete")["failure"]
        assert failure["type"] == "budget_exhausted" and failure["mayRetry"], failure
        assert hosted.requests == 1 + done
        answer = sent(ben, ann, encode(speech))
        assert transcript(ann, answer, "failed", "complete")["text"] == "well"
        assert calls(server, SPEECH_COLUMNS)[-1][:4] == (ben.id, "voice_message", "tiny", "done")
        # From the cache it is free.
        before = len(calls(server))
        assert transcript(ann, sent(ben, ann, encode(speech)), "failed", "complete")["text"] == "well"
        assert len(calls(server)) == before
        # Operators see it.
        spent = value(server, "provider_micro_dollars_total", feature="dictation", engine="tiny")
        assert spent == done * cost
        lines = [line.split("\t") for line in server.command("languages", "statistics").splitlines()]
        shown = {(line[1], line[3]): line[-1] for line in lines if line[0] == "calls"}
        assert shown["dictation", "refused"] == "0"
        assert shown["dictation", "done"] == str(round(done * milliseconds / 1_000))
        server.stop()


def test_prices_are_numbers(make_server, provider):
    model = {"provider": "openai", "url": provider.url, "name": "scripted", "price": {"input": "cheap"}}
    with pytest.raises(AssertionError, match=r"languages\.model\.price\.input must be a number from 0 to 10000"):
        make_server({"languages": {"model": model}})
    with pytest.raises(AssertionError, match=r"transcription\.price\.minute must be a number from 0 to 10000"):
        make_server({"transcription": {"price": {"minute": -1}}})


def engines_of(server: Server) -> dict[str, Any]:
    about = HTTP.get(f"{server.url}/v1/server").json()
    return {name: about.get(name) for name in ("translators", "transcriber", "embedder", "languageModel")}


def named(name: str, hosted: bool) -> dict[str, Any]:
    return {"name": name, "hosted": hosted}


@pytest.mark.parametrize(
    ("provider", "is_hosted", "transcriber"),
    [("openai", True, "speech"), ("webhook", True, "webhook"), ("openai", False, "speech")],
)
def test_the_server_names_what_is_hosted(make_server, provider, is_hosted, transcriber):
    """To who has not signed in, too: clients ask for consent by these names."""
    service = {"url": "https://localhost:9/v1", "hosted": "auto" if is_hosted else "false"}
    secret = {"webhookSecret": "a long and secret key"}
    server = make_server(
        {
            "transcription": service | secret | {"provider": provider, "model": "speech"},
            "languages": {
                "translation": service | secret | {"provider": provider, "model": "mt"},
                "embeddings": service | {"provider": "openai", "model": "e5"},
                "model": service | {"provider": "openai", "name": "writer"},
            },
        }
    )  # fmt: skip
    translator = "mt" if provider == "openai" else "webhook"
    # Apertium is asked after what the operator has chosen.
    assert engines_of(server) == {
        "translators": [named(translator, is_hosted), named("apertium", False)],
        "transcriber": named(transcriber, is_hosted),
        "embedder": named("e5", is_hosted),
        "languageModel": named("writer", is_hosted),
    }


def test_programs_are_named_and_not_hosted(make_server):
    program = {"provider": "command", "command": ["/bin/cat", "-"]}
    server = make_server(
        {
            "transcription": program,
            "languages": {
                "apertium": False,
                "translation": program | {"pairs": ["en:ru"]},
                "embeddings": program | {"model": "e5"},
            },
        }
    )  # fmt: skip
    assert engines_of(server) == {
        "translators": [named("cat", False)],
        "transcriber": named("cat", False),
        "embedder": named("e5", False),
        "languageModel": None,
    }


def test_where_there_is_nothing_nothing_is_named(make_server):
    server = make_server({"languages": {"apertium": False}})
    assert engines_of(server) == {"translators": [], "transcriber": None, "embedder": None, "languageModel": None}
