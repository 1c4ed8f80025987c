"""Translations of messages, by real Apertium between Russian and Ukrainian, and Spanish and Portuguese."""

from __future__ import annotations

import asyncio
import pathlib
from typing import Any

import pytest
from switchboard_tests.conversations import befriend, direct, group, send
from switchboard_tests.endpoint import Endpoint
from switchboard_tests.server import Server, User
from switchboard_tests.waiting import TIMEOUT, eventually

# Scripts/setup --tests builds it.
LIBRARY = pathlib.Path(__file__).parents[2] / ".build-engines/libeldc.so"
LIMITS = {
    "friendRequestsPerHour": 1000,
    "conversationsPerHour": 10_000,
    "requestsPerMinute": 100_000,
    "translationsPerMinute": 100_000,
}
# Of words that Apertium knows: of some others its pipeline ends.
RUSSIAN = "Позвони мне, когда придёшь"
SPANISH = "La casa de mi hermano es muy grande"


@pytest.fixture(scope="module")
def server(make_server) -> Server:
    languages = {"identification": "eldc", "eldcLibrary": str(LIBRARY)}
    return make_server({"limits": LIMITS, "languages": languages})


@pytest.fixture
def pair(server) -> tuple[User, User, str]:
    ann, ben = befriend(*server.users(2))
    assert ann.request("PATCH", "/v1/me", {"languages": ["ru", "es"]}).status_code == 200
    assert ben.request("PATCH", "/v1/me", {"languages": ["uk", "pt"]}).status_code == 200
    return ann, ben, direct(ann, ben)


def request(user: User, here: str, numbers: list[int], language: str | None = None) -> Any:
    body = {"numbers": numbers} | ({"language": language} if language else {})
    return user.request("POST", f"/v1/conversations/{here}/translations", body)


def translated(
    user: User, here: str, number: int, language: str | None = None, seconds: float = TIMEOUT
) -> dict[str, Any]:
    def made() -> Any:
        response = request(user, here, [number], language)
        assert response.status_code == 200, response.text
        [row] = response.json()["translations"]
        return row if row["status"] != "queued" else None

    row = eventually(made, seconds)
    assert isinstance(row, dict)
    return row


def test_the_server_says_that_it_translates(server):
    assert server.users(1)[0].get("/v1/server").json()["translates"] is True


def test_a_message_is_translated_beside_itself(pair):
    ann, ben, here = pair
    sent = send(ann, here, f"{RUSSIAN}: https://example.org/дом <@{ben.id}> `let дом = 1`").json()["message"]
    row = translated(ben, here, sent["number"])
    assert (row["status"], row["language"], row["of"]) == ("done", "uk", sent["textVersion"])
    assert row["kind"] == "rules" and row["engine"]
    # What is the same in every language stands in it as it was.
    for kept in ("https://example.org/дом", f"<@{ben.id}>", "`let дом = 1`"):
        assert row["text"].count(kept) == 1, row["text"]
    assert "Зателефонуй" in row["text"] or "Подзвони" in row["text"], row["text"]
    # The message has not changed.
    assert ben.get(f"/v1/conversations/{here}/messages/1").json()["message"] == sent


def test_it_follows_on_the_stream(server, pair):
    ann, ben, here = pair

    async def listen() -> tuple[dict[str, Any], list[Any]]:
        end = Endpoint(server.realtime_url, ben.id, ben.token)
        await end.open()
        name = f"translations:{here}"
        await end.listen(name)
        first = end.streams[name].snapshot
        assert (await asyncio.to_thread(send, ann, here, RUSSIAN)).status_code == 201
        assert (await asyncio.to_thread(request, ben, here, [1])).status_code == 200
        # Of another language nothing comes.
        assert (await asyncio.to_thread(request, ben, here, [1], "be")).status_code == 200

        def rows() -> list[Any]:
            return [row["translation"] for row in end.streams[name].rows]

        await end.until("the translation", lambda: any(row["status"] == "done" for row in rows()))
        await end.close()
        return first, rows()

    first, rows = asyncio.run(listen())
    assert first == {
        "language": "uk", "mode": "onRequest", "translations": [], "hintMode": "onRequest", "hints": []
    }
    assert {row["language"] for row in rows} == {"uk"} and rows[-1]["touched"] > rows[0]["touched"]


def test_who_reads_automatically_has_them_unasked(server, pair):
    ann, ben, here = pair
    assert send(ann, here, RUSSIAN).status_code == 201
    settings = {"translation": {"mode": "automatic"}}
    changed = ben.request("PATCH", f"/v1/conversations/{here}/members/me", settings)
    assert changed.status_code == 200 and changed.json()["membership"]["translation"] == {"mode": "automatic"}

    async def listen() -> Any:
        end = Endpoint(server.realtime_url, ben.id, ben.token)
        await end.open()
        name = f"translations:{here}"
        await end.listen(name)

        def done() -> set[int]:
            stream = end.streams[name]
            rows = [row["translation"] for row in stream.rows] + stream.snapshot["translations"]
            return {row["number"] for row in rows if row["status"] == "done"}

        await end.until("the older one", lambda: 1 in done())
        assert (await asyncio.to_thread(send, ann, here, SPANISH)).status_code == 201
        # One that ben knows is left, and so is what ben writes.
        assert (await asyncio.to_thread(send, ann, here, "Я вже вдома, приходь до мене завтра")).status_code == 201
        assert (await asyncio.to_thread(send, ben, here, "Добре, я прийду завтра ввечері")).status_code == 201
        assert (await asyncio.to_thread(send, ann, here, "Мой брат живёт в большом доме")).status_code == 201
        await end.until("the newer one", lambda: 5 in done())
        seen = done()
        # Another language begins it anew.
        changed = {"translation": {"mode": "automatic", "into": "pt"}}
        path = f"/v1/conversations/{here}/members/me"
        assert (await asyncio.to_thread(ben.request, "PATCH", path, changed)).status_code == 200
        await end.until("the other language", lambda: end.streams[name].snapshot.get("language") == "pt")
        await end.until("the Spanish one", lambda: 2 in done())
        await end.close()
        return seen

    assert asyncio.run(listen()) == {1, 5}


def test_an_edit_and_a_deletion_end_it(pair):
    ann, ben, here = pair
    sent = send(ann, here, RUSSIAN).json()["message"]
    first = translated(ben, here, 1)
    path = f"/v1/conversations/{here}/messages/1"
    edited = ann.request("PATCH", path, {"text": "Позвони мне завтра", "textVersion": sent["textVersion"]}).json()
    second = translated(ben, here, 1)
    assert second["of"] == edited["message"]["textVersion"] > first["of"] and second["text"] != first["text"]
    assert ann.request("DELETE", f"{path}?for=all").status_code == 200
    [gone] = request(ben, here, [1]).json()["translations"]
    assert (gone["status"], gone["reason"]) == ("unavailable", "no_text") and "text" not in gone


def test_what_cannot_be_translated_says_why(pair):
    ann, ben, here = pair
    for text in (RUSSIAN, "https://example.org/a", "Може, завтра зустрінемося біля станції?"):
        assert send(ann, here, text).status_code == 201
    reasons = {row["number"]: row["reason"] for row in request(ben, here, [2, 3]).json()["translations"]}
    assert reasons == {2: "no_text", 3: "same_language"}
    refused = request(ben, here, [1], "ja")
    assert refused.status_code == 422 and refused.json()["type"].endswith("pair_not_supported")
    # Beside others it is a row.
    rows = request(ben, here, [1, 2], "ja").json()["translations"]
    assert [row["reason"] for row in rows] == ["pair_not_supported", "no_text"]
    for numbers in ([], [0], [1] * 51, ["1"], None, [9]):
        bad = request(ben, here, numbers)
        assert bad.status_code == (404 if numbers in ([0], [9]) else 400) and bad.json()["field"].startswith(
            "numbers"
        ), bad.text
    for language in ("xx", "english", "e", "zz-ZZ", 5):
        bad = request(ben, here, [1], language)
        assert bad.status_code == 400 and bad.json()["field"] == "language", (language, bad.text)


def test_what_is_not_allowed_is_not_made_and_not_shown(pair):
    ann, ben, here = pair
    assert send(ann, here, RUSSIAN).status_code == 201
    assert translated(ben, here, 1)["status"] == "done"
    # Its author, in this conversation.
    mine = f"/v1/conversations/{here}/members/me"
    assert ann.request("PATCH", mine, {"intelligence": "off"}).status_code == 200
    refused = request(ben, here, [1])
    assert refused.status_code == 403 and refused.json()["type"].endswith("consent_required")
    assert refused.json()["detail"] == "Who wrote this does not allow that machines translate this."
    assert ann.request("PATCH", mine, {"intelligence": None}).status_code == 200
    assert translated(ben, here, 1)["status"] == "done"
    # The other one of two, for everything.
    assert ben.request("PATCH", "/v1/me", {"intelligence": "off"}).status_code == 200
    refused = request(ben, here, [1])
    assert refused.status_code == 403
    assert refused.json()["detail"] == "You do not allow that machines translate this."
    for bad in ("everything", 1, ""):
        assert ben.request("PATCH", "/v1/me", {"intelligence": bad}).json()["field"] == "intelligence"
    for settings in ({"mode": "sometimes"}, {"mode": "off", "into": "xx"}, {"into": "en"}, "off"):
        refused = ben.request("PATCH", "/v1/me", {"translation": settings})
        assert refused.status_code == 400 and refused.json()["field"].startswith("translation"), refused.text


def test_administrators_say_it_for_a_group(server):
    ann, ben = befriend(*server.users(2))
    here = group(ann, [ben])
    assert send(ann, here, RUSSIAN).status_code == 201
    assert translated(ben, here, 1, "uk")["status"] == "done"
    path = f"/v1/conversations/{here}"
    assert ben.request("PATCH", path, {"settings": {"intelligence": "off"}}).status_code == 403
    changed = ann.request("PATCH", path, {"settings": {"intelligence": "off"}})
    assert changed.json()["conversation"]["settings"]["intelligence"] == "off"
    assert request(ben, here, [1], "uk").status_code == 403
    notices = [one["notice"] for one in ben.get(f"{path}/messages").json()["messages"] if one["kind"] == "notice"]
    assert notices[-1]["settings"]["intelligence"] == "off"


def test_who_has_left_and_who_was_never_there_asks_for_nothing(server):
    ann, ben, cem = server.users(3)
    befriend(ann, ben)
    here = group(ann, [ben])
    assert send(ann, here, RUSSIAN).status_code == 201
    assert request(cem, here, [1], "uk").status_code == 404
    assert ben.request("DELETE", f"/v1/conversations/{here}/members/me").status_code == 204
    assert request(ben, here, [1], "uk").status_code == 403


def test_what_was_made_survives_the_server(make_server):
    server = make_server({"limits": LIMITS, "languages": {"identification": "eldc", "eldcLibrary": str(LIBRARY)}})
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    for _ in range(30):
        assert send(ann, here, RUSSIAN).status_code == 201
    assert request(ben, here, list(range(1, 31)), "uk").status_code == 200
    server.kill()
    server.start()
    for number in range(1, 31):
        # What a server had begun when it was killed is taken up by the next at once.
        assert translated(ben, here, number, "uk", seconds=30)["status"] == "done"
