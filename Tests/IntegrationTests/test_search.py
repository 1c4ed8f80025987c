"""Searching messages over REST and realtime: who finds what, and where it matches."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import Any

import pytest
from switchboard_tests import metrics
from switchboard_tests.conversations import befriend, create, direct, group, send
from switchboard_tests.endpoint import Endpoint, RequestError
from switchboard_tests.server import Server, User, refused
from switchboard_tests.waiting import eventually


@pytest.fixture(scope="module")
def server(make_server) -> Server:
    return make_server(
        {"limits": {"friendRequestsPerHour": 1000, "conversationsPerHour": 10_000, "searchesPerMinute": 100_000}}
    )


def search(user: User, query: str | None = None, **parameters: Any) -> dict[str, Any]:
    page = user.get("/v1/search", params=parameters if query is None else parameters | {"query": query})
    assert page.status_code == 200, page.text
    return page.json()


def found(user: User, query: str | None = None, **parameters: Any) -> list[str]:
    return [one["message"]["text"] for one in search(user, query, **parameters)["results"]]


def matched(result: dict[str, Any]) -> list[str]:
    """The parts of the text that matched."""
    text = result["message"]["text"].encode("utf-16-le")
    spans = [(2 * one["start"], 2 * (one["start"] + one["length"])) for one in result["matches"]]
    return [text[start:end].decode("utf-16-le") for start, end in spans]


def notes(user: User) -> str:
    return create(user, "self").json()["conversation"]["id"]


@pytest.mark.parametrize(
    ("text", "query", "parts"),
    [
        ("\U0001f600 Meet José at the café", "cafe JOSE", ["José", "café"]),
        ("Meet at the café", "ca", ["café"]), ("Die Straße", "strass", ["Straße"]),
        ("say hello world, hello", '"hello world"', ["hello world"]),
        ("Привет, Ёлка", "елка", ["Ёлка"]), ("السَّلام عليكم", "السلام", ["السَّلام"]),
        ("明日は東京都へ行きます", "京都", ["京都"]), ("我们在北京见面", "北京", ["北京"]),
        ("ฉันไปตลาด", "ตลาด", ["ตลาด"]), ("see https://example.org/path", "example.org", ["example.org"]),
    ],
)  # fmt: skip
def test_what_matches(server, text: str, query: str, parts: list[str]):
    ann = server.user()
    here = notes(ann)
    send(ann, here, text)
    send(ann, here, "nothing of it")
    page = search(ann, query)
    assert [one["message"]["text"] for one in page["results"]] == [text] and not page["isPartial"]
    assert matched(page["results"][0]) == parts
    assert page["results"][0]["message"]["conversation"] == here and [one["id"] for one in page["people"]] == [ann.id]


def test_who_finds_what(server):
    ann, ben = befriend(*server.users(2))
    cleo, _ = befriend(server.user(), ann)
    dora = server.user()
    here = group(ann, [ben, dora])
    send(ann, here, "plum one")
    send(ben, here, "plum two")
    assert found(ben, "plum") == ["plum two", "plum one"]
    assert found(cleo, "plum") == found(dora, "plum") == []
    assert ann.post(f"/v1/conversations/{here}/members", {"members": [cleo.id]}).status_code == 200
    assert ben.request("DELETE", f"/v1/conversations/{here}/members/me").status_code == 204
    send(ann, here, "plum three")
    edit = {"text": "pear", "textVersion": version(ann, here)}
    assert ann.request("PATCH", f"/v1/conversations/{here}/messages/1", edit).status_code == 200
    # Who has left finds what they saw, by what it was.
    assert found(ben, "plum") == ["plum two", "plum one"] and found(ben, "pear") == []
    assert found(ann, "plum") == ["plum three", "plum two"] and found(ann, "pear") == ["pear"]
    assert found(cleo, "plum") == ["plum three"] and found(cleo, "pear") == []
    # One's own deletion is one's own.
    hidden = ann.request("DELETE", f"/v1/conversations/{here}/messages/5?for=me")
    assert hidden.status_code in (200, 204), hidden.text
    assert found(ann, "plum") == ["plum two"] and found(cleo, "plum") == ["plum three"]
    # Deletions reach everybody.
    ann.request("DELETE", f"/v1/conversations/{here}/messages/2?for=all")
    ann.request("DELETE", f"/v1/conversations/{here}/messages/1?for=all")
    assert found(ben, "plum") == [] and found(ann, "pear") == [] and found(ann, "plum") == []
    assert refused(dora.get(f"/v1/search?query=x&conversation={direct(ann, ben)}"), 404, "not_found", "conversation")


def version(user: User, conversation: str, number: int = 1) -> int:
    return user.get(f"/v1/conversations/{conversation}/messages/{number}").json()["message"]["textVersion"]


def test_what_is_withheld_is_its_authors_alone(server):
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    send(ann, here, "cherry before")
    assert ben.request("PUT", f"/v1/blocks/{ann.id}").status_code == 204
    send(ann, here, "cherry blocked")
    edit = {"text": "cherry changed", "textVersion": version(ann, here)}
    assert ann.request("PATCH", f"/v1/conversations/{here}/messages/1", edit).status_code == 200
    assert found(ben, "cherry") == ["cherry before"] and found(ben, "changed") == found(ben, "blocked") == []
    assert found(ann, "cherry") == ["cherry blocked", "cherry changed"]


def test_filters_orders_and_pages(server):
    ann, ben = befriend(*server.users(2))
    here, there = direct(ann, ben), notes(ann)
    for number in range(30):
        send(ann if number % 2 else ben, here, f"apple {number}" + (" apple" if number == 3 else ""))
    send(ann, there, "apple https://example.org/")
    send(ben, here, f"apple <@{ann.id}>")
    everything = found(ann, "apple", limit=50)
    assert len(everything) == 32 and everything[0] == f"apple <@{ann.id}>"
    for order in ("date", "relevance"):
        pages, cursor = [], None
        while True:
            page = search(ann, "apple", limit=7, order=order, **({"cursor": cursor} if cursor else {}))
            pages += [one["message"]["text"] for one in page["results"]]
            cursor = page.get("nextCursor")
            if cursor is None:
                break
        assert sorted(pages) == sorted(everything)
        assert pages == everything if order == "date" else pages[0] == "apple 3 apple"
    assert len(found(ann, "apple", author=ben.id, limit=50)) == 16
    assert found(ann, "apple", link="true") == found(ann, link="true") == ["apple https://example.org/"]
    assert found(ann, mentions="true") == found(ann, "apple", mentions="true", conversation=here) == everything[:1]
    assert found(ben, mentions="true") == [] and found(ann, "apple", link="true", conversation=here) == []
    star = ann.request("PUT", f"/v1/conversations/{here}/messages/2/star")
    assert star.status_code in (200, 204), star.text
    assert found(ann, starred="true") == found(ann, "app", starred="true") == ["apple 1"]
    assert found(ben, starred="true") == [] and found(ann, "pear", starred="true") == []
    assert len(found(ann, kind="text", conversation=here, limit=50)) == 31
    tenth = search(ann, "apple", limit=50)["results"][10]["message"]
    assert found(ann, "apple", **{"from": tenth["sentAt"], "limit": 50})[-1] in everything[10:]
    assert tenth["text"] not in found(ann, "apple", to=tenth["sentAt"], limit=50)


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({}, "query"), ({"query": ""}, "query"), ({"query": "?!"}, "query"), ({"query": "x" * 257}, "query"),
        ({"query": "a " * 33}, "query"), ({"conversation": "x", "query": "a"}, "conversation"),
        ({"author": "x"}, "author"), ({"kind": "song"}, "kind"), ({"from": "today", "query": "a"}, "from"),
        ({"to": "1", "query": "a"}, "to"), ({"link": "yes"}, "link"), ({"link": "false"}, "query"),
        ({"query": "a", "order": "size"}, "order"), ({"query": "a", "mode": "sense"}, "mode"),
        ({"query": "a", "limit": "51"}, "limit"), ({"query": "a", "limit": "0"}, "limit"),
        ({"query": "a", "cursor": "x"}, "cursor"), ({"query": "a", "cursor": "x" * 5000}, "cursor"),
    ],
)  # fmt: skip
def test_what_cannot_be_searched_is_named(server, parameters: dict[str, str], field: str):
    assert refused(server.user().get("/v1/search", params=parameters), 400, "invalid_request", field)["detail"]


def test_over_realtime(server):
    ann = server.user()
    send(ann, notes(ann), "grape https://example.org/")

    async def run() -> None:
        endpoint = Endpoint(server.realtime_url, ann.id, ann.token)
        await endpoint.open()
        page = await endpoint.ask("messages.search", query="gra", link=True, limit=5)
        assert [matched(one) for one in page["results"]] == [["grape"]]
        with pytest.raises(RequestError) as error:
            await endpoint.ask("messages.search", query="!")
        assert error.value.problem["field"] == "query"
        await endpoint.close()

    asyncio.run(run())


def rows(server: Server, query: str, *arguments: str) -> list[Any]:
    with sqlite3.connect(server.data / "switchboard.sqlite") as database:
        return database.execute(query, arguments).fetchall()


def indexed_to(server: Server, conversation: str) -> int:
    known = rows(server, "SELECT indexed_to FROM search_indexes WHERE conversation_id = ?", conversation)
    return known[0][0] if known else 0


def test_the_index_goes_on_after_a_crash(make_server):
    server = make_server()
    ann = server.user()
    here = notes(ann)
    for number in range(20):
        send(ann, here, f"melon {number}")
    # What is not indexed yet is found too.
    assert len(found(ann, "melon", limit=50)) == 20
    server.kill()
    # As after an upgrade.
    with sqlite3.connect(server.data / "switchboard.sqlite") as database:
        database.execute("DELETE FROM postings")
        database.execute("DELETE FROM search_indexes")
    server.start()
    eventually(lambda: indexed_to(server, here) == 20)
    assert len(found(ann, "melon", limit=50)) == 20
    send(ann, here, "melon 20")
    eventually(lambda: indexed_to(server, here) == 21)
    eventually(lambda: metrics.value(server, "search_oldest_seconds") == 0)
    assert metrics.value(server, "search_waiting") == 0
    # Of a deleted account nothing is left in the index.
    assert rows(server, "SELECT count(*) FROM postings WHERE term = 'melon'") == [(21,)]
    server.command("account", "delete", ann.id, "--yes")
    eventually(lambda: "a deleted account was erased" in server.log_tail())
    for table in ("postings", "message_terms", "changed_texts"):
        assert rows(server, f"SELECT count(*) FROM {table}") == [(0,)], table
    assert b"melon" not in (server.data / "switchboard.sqlite").read_bytes()
    server.stop()


def test_searches_are_limited(make_server):
    server = make_server({"limits": {"searchesPerMinute": 3}})
    ann = server.user()
    notes(ann)
    answers = [ann.get("/v1/search?query=x") for _ in range(6)]
    assert [one.status_code for one in answers].count(200) in (3, 4)
    assert answers[-1].json()["type"] == "rate_limited"
    server.stop()
