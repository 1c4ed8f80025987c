"""The language of each message, as the server finds it and as its author corrects it."""

from __future__ import annotations

import asyncio
import pathlib
from typing import Any

import pytest
from switchboard_tests.conversations import befriend, direct, group, send
from switchboard_tests.endpoint import Endpoint
from switchboard_tests.server import Server, User

# Scripts/setup --tests builds it.
LIBRARY = pathlib.Path(__file__).parents[2] / ".build-engines/libeldc.so"
LIMITS = {"friendRequestsPerHour": 1000, "conversationsPerHour": 10_000, "requestsPerMinute": 100_000}


@pytest.fixture(scope="module")
def server(make_server) -> Server:
    languages = {"identification": "eldc", "eldcLibrary": str(LIBRARY)}
    return make_server({"limits": LIMITS, "languages": languages})


def language(user: User, conversation: str, text: str) -> Any:
    response = send(user, conversation, text)
    assert response.status_code == 201, response.text
    return response.json()["message"].get("language")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Позвони мне, когда придёшь домой, хорошо?", "ru"),
        ("Зателефонуй мені, коли прийдеш додому, гаразд?", "uk"),
        ("क्या तुम घर पहुँचकर मुझे फ़ोन कर सकते हो?", "hi"),
        ("你到家以后可以给我打电话吗？", "zh-Hans"),
        ("你到家以後可以給我打電話嗎？", "zh-Hant"),
        ("https://example.org/where/are/you `x = y` ¿Puedes llamarme cuando llegues a casa?", "es"),
    ],
)
def test_a_text_has_its_language(server, text, code):
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    found = language(ann, here, text)
    # Hindi is a guess, which Marathi and Nepali are close to.
    assert (found["code"], found["confidence"]) == (code, "low" if code == "hi" else "high")
    assert ben.get(f"/v1/conversations/{here}/messages/1").json()["message"]["language"]["code"] == code


@pytest.mark.parametrize(
    "text", ["ok", "😀", "https://example.org/only/a/link", "`let x = 1`", "+1 @ 12:30", "\u200b\u200b?"]
)
def test_what_is_in_no_language_has_none(server, text):
    ann, ben = befriend(*server.users(2))
    assert language(ann, direct(ann, ben), text) is None


def test_what_one_knows_is_expected(server):
    """Malay and Indonesian are told apart by what the author says to know."""
    ann, ben = befriend(*server.users(2))
    assert ann.request("PATCH", "/v1/me", {"languages": ["id", "en"]}).status_code == 200
    here = direct(ann, ben)
    text = "Tolong hubungi saya kalau kamu sudah sampai di rumah, ya"
    assert language(ann, here, text)["code"] == "id"
    assert language(ben, here, text)["code"] == "ms"


def test_the_author_corrects_it_and_others_receive_that(server):
    ann, ben = befriend(*server.users(2))
    here = group(ann, [ben])
    sent = send(ann, here, "Can you call me when you get home tonight?").json()["message"]
    path = f"/v1/conversations/{here}/messages/{sent['number']}/language"

    async def correct() -> dict[str, Any]:
        end = Endpoint(server.realtime_url, ben.id, ben.token)
        await end.open()
        stream = await end.listen(f"conversation:{here}")
        assert stream
        answered = await asyncio.to_thread(ann.request, "PUT", path, {"language": "EN-gb"})
        assert answered.status_code == 200, answered.text
        changed = answered.json()["message"]
        await end.until("the language", lambda: any(row.get("message") == changed for row in stream.rows))
        await end.close()
        return changed

    message = asyncio.run(correct())
    assert message["language"] == {"code": "en-GB", "confidence": "high"}
    assert message["version"] > sent["version"] and message["textVersion"] == sent["textVersion"]
    assert "editedAt" not in message
    # Twice is once.
    assert ann.request("PUT", path, {"language": "en-GB"}).json()["message"] == message
    assert ben.request("PUT", path, {"language": "fr"}).status_code == 403
    for bad in ("", "e", "english_uk", "x" * 40, "en-", 5, None):
        refused = ann.request("PUT", path, {"language": bad})
        assert refused.status_code == 400 and refused.json()["field"] == "language", (bad, refused.text)
    edited = ann.request(
        "PATCH", path.removesuffix("/language"),
        {"text": "Kannst du mich anrufen, wenn du zu Hause bist?", "textVersion": sent["textVersion"]},
    ).json()["message"]
    assert edited["language"] == {"code": "de", "confidence": "high"}
    former = ben.get(path.removesuffix("/language") + "/edits").json()["edits"]
    assert [one["language"]["code"] for one in former] == ["en-GB"]
    assert ann.request("DELETE", path.removesuffix("/language") + "?for=all").status_code == 200
    gone = ben.get(path.removesuffix("/language")).json()["message"]
    assert "language" not in gone
    assert ann.request("PUT", path, {"language": "en"}).status_code == 409


def test_where_languages_are_not_identified_messages_have_none(make_server):
    server = make_server({"limits": LIMITS, "languages": {"identification": "none"}})
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    assert language(ann, here, "Can you call me when you get home tonight?") is None
    corrected = ann.request("PUT", f"/v1/conversations/{here}/messages/1/language", {"language": "en"})
    assert corrected.json()["message"]["language"] == {"code": "en", "confidence": "high"}
