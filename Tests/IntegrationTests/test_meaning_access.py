"""Search by meaning shows each reader what they see, and nothing else; and so do summaries and what comes first. The
program that understands texts is scripted: every text that may be embedded has a vector, so that a search finds all of
them that its reader may be shown.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from typing import Any

import pytest
from switchboard_tests.conversations import befriend, create, direct, group, messages, send, sent, summary
from switchboard_tests.meaning import found, scripted, until_embedded, vectors
from switchboard_tests.server import Server, User, refused
from switchboard_tests.waiting import eventually

LIMITS = {
    "friendRequestsPerHour": 10_000, "conversationsPerHour": 10_000, "searchesPerMinute": 100_000,
    "requestsPerMinute": 100_000, "messagesPerMinute": 100_000,
}  # fmt: skip


@pytest.fixture(scope="module")
def server(make_server, tmp_path_factory) -> Server:
    embedder = scripted(tmp_path_factory.mktemp("embedder") / "seen")
    return make_server({"limits": LIMITS, "languages": {"apertium": False, "embeddings": embedder}})


def group_of(server: Server, count: int) -> tuple[str, list[User]]:
    """A group with its owner, members and as many friends of the owner who are not in it."""
    owner, *others = server.users(2 * count - 1)
    for one in others:
        befriend(owner, one)
    return group(owner, others[: count - 1]), [owner, *others]


def by_meaning(user: User, **where: Any) -> list[str]:
    """The texts that a search by meaning shows; with words it shows the same, since none has those of the query."""
    texts = sorted(found(user, "camping", limit=50, **where))
    assert sorted(found(user, "camping", "both", limit=50, **where)) == texts
    return texts


def by_words(user: User) -> list[str]:
    return sorted(found(user, "plum", "words", limit=50))


def leave(user: User, here: str) -> None:
    assert user.request("DELETE", f"/v1/conversations/{here}/members/me").status_code == 204


def add(user: User, here: str, *others: User) -> None:
    added = user.post(f"/v1/conversations/{here}/members", {"members": [one.id for one in others]})
    assert added.status_code == 200, added.text


def change(user: User, here: str, number: int, text: str) -> None:
    """Edits one's own message."""
    version = user.get(f"/v1/conversations/{here}/messages/{number}").json()["message"]["textVersion"]
    body = {"text": text, "textVersion": version}
    edited = user.request("PATCH", f"/v1/conversations/{here}/messages/{number}", body)
    assert edited.status_code == 200, edited.text


def set_level(user: User, level: str) -> None:
    assert user.request("PATCH", "/v1/me", {"intelligence": level}).status_code == 200


def test_the_times_of_membership(server):
    here, (ann, ben, leaver, returner, removed, joiner, _, _, _) = group_of(server, 5)
    invited, outsider = server.users(2)
    sent(ann, here, "plum one")
    leave(returner, here)
    sent(ben, here, "plum two")
    assert ann.request("DELETE", f"/v1/conversations/{here}/members/{removed.id}").status_code == 204
    add(ann, here, joiner, returner, invited)
    sent(ann, here, "plum three")
    leave(leaver, here)
    sent(ben, here, "plum four")
    until_embedded(ann)
    everything = ["plum four", "plum one", "plum three", "plum two"]
    for reader, expected in (
        (ann, everything), (ben, everything), (leaver, ["plum one", "plum three", "plum two"]),
        (returner, ["plum four", "plum one", "plum three"]), (removed, ["plum one", "plum two"]),
        (joiner, ["plum four", "plum three"]), (invited, []), (outsider, []),
    ):  # fmt: skip
        assert by_meaning(reader) == by_words(reader) == expected
        if reader is not outsider:
            assert by_meaning(reader, conversation=here) == expected
    for mode in ("meaning", "both"):
        parameters = {"query": "camping", "mode": mode, "conversation": here}
        refused(outsider.get("/v1/search", params=parameters), 404, "not_found", "conversation")
    # Who has accepted sees what comes; who has cleared sees nothing of before.
    assert invited.post(f"/v1/conversations/{here}/members/me/accept", {}).status_code == 200
    assert ben.post(f"/v1/conversations/{here}/clear").status_code == 204
    sent(ann, here, "plum five")
    until_embedded(ann)
    assert by_meaning(ben) == by_words(ben) == ["plum five"]
    assert "plum one" not in by_meaning(invited) and by_meaning(invited) == by_words(invited)
    assert "plum five" in by_meaning(invited)
    assert by_meaning(removed) == ["plum one", "plum two"]


def test_what_is_hidden_deleted_or_changed(server):
    here, (ann, ben, former, *_) = group_of(server, 3)
    hidden, deleted, changed = (sent(ann, here, text) for text in ("plum hidden", "plum deleted", "plum before"))
    sent(ann, here, "plum as it was")
    until_embedded(ann)
    leave(former, here)
    assert ben.request("DELETE", f"/v1/conversations/{here}/messages/{hidden}?for=me").status_code == 200
    # Its vector is there for all others.
    assert hidden in vectors(server, here)
    assert by_meaning(ben) == by_words(ben) == ["plum as it was", "plum before", "plum deleted"]
    assert "plum hidden" in by_meaning(ann)
    assert ann.request("DELETE", f"/v1/conversations/{here}/messages/{deleted}?for=all").status_code == 200
    assert deleted not in vectors(server, here)
    change(ann, here, changed, "plum after")
    # Never as it was, whether it is embedded again or not; and then as it is.
    assert set(by_meaning(ann)) <= {"plum after", "plum as it was", "plum hidden"}
    eventually(lambda: changed in vectors(server, here))
    assert by_meaning(ann) == by_words(ann) == ["plum after", "plum as it was", "plum hidden"]
    assert by_meaning(ben) == by_words(ben) == ["plum after", "plum as it was"]
    # Who has left sees what it was, by words alone: its meaning is another one now.
    assert by_words(former) == ["plum as it was", "plum before", "plum hidden"]
    assert by_meaning(former) == ["plum as it was", "plum hidden"]


def test_who_is_blocked(server):
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    first = sent(ann, here, "plum before")
    until_embedded(ben)
    assert ben.request("PUT", f"/v1/blocks/{ann.id}").status_code == 204
    sent(ann, here, "plum of the blocked")
    until_embedded(ben)
    assert by_meaning(ben) == by_words(ben) == ["plum before"]
    # What nobody else sees is not embedded, and not found by its author's search by meaning either.
    assert by_words(ann) == ["plum before", "plum of the blocked"] and by_meaning(ann) == ["plum before"]
    change(ann, here, first, "plum changed by the blocked")
    last = sent(ben, here, "plum of ben")
    until_embedded(ben)
    # Also when the block has ended, one finds what was before, by what it means to them.
    for method in ("PUT", "DELETE"):
        assert ben.request(method, f"/v1/blocks/{ann.id}").status_code == 204
        assert set(vectors(server, here)) == {first, last}
        assert by_meaning(ben) == by_words(ben) == ["plum before", "plum of ben"]
        assert by_meaning(ann) == ["plum of ben"]
        assert by_words(ann) == ["plum changed by the blocked", "plum of ben", "plum of the blocked"]
    # A group goes on with both.
    together, (cem, dora, *_) = group_of(server, 2)
    assert dora.request("PUT", f"/v1/blocks/{cem.id}").status_code == 204
    sent(cem, together, "plum for all")
    until_embedded(dora)
    assert by_meaning(dora) == by_words(dora) == ["plum for all"]


def test_levels(server):
    """They are of the author, of the group, and of both who write to each other: lowering them hides at once."""
    here, (ann, ben, cem, *_) = group_of(server, 3)
    two = direct(ann, ben)
    sent(ann, here, "plum of ann")
    sent(ben, here, "plum of ben")
    sent(ann, two, "plum for ben")
    until_embedded(cem)
    until_embedded(ann)
    everything = ["plum for ben", "plum of ann", "plum of ben"]
    assert by_meaning(ann) == by_meaning(ben) == everything and by_meaning(cem) == everything[1:]

    def is_hidden(text: str, *readers: User) -> bool:
        return not any(text in found(reader, "camping", mode) for reader in readers for mode in ("meaning", "both"))

    def sees(reader: User, *expected: str) -> bool:
        return sorted(found(reader, "camping")) == sorted(found(reader, "camping", "both")) == sorted(expected)

    # Of the author, who does not find their own either; others are found by them, but not where the lower one counts.
    set_level(ben, "off")
    assert is_hidden("plum of ben", ann, ben, cem) and is_hidden("plum for ben", ann, ben)
    eventually(lambda: vectors(server, two) == {} and len(vectors(server, here)) == 1)
    eventually(lambda: all(sees(reader, "plum of ann") for reader in (ann, ben, cem)))
    assert by_words(ann) == everything
    set_level(ben, "local")
    eventually(lambda: sees(ann, *everything) and sees(ben, *everything) and sees(cem, *everything[1:]))
    # Of the group.
    off = ann.request("PATCH", f"/v1/conversations/{here}", {"settings": {"intelligence": "off"}})
    assert off.status_code == 200, off.text
    assert all(is_hidden(text, ann, ben, cem) for text in everything[1:])
    eventually(lambda: vectors(server, here) == {})
    eventually(lambda: sees(ann, "plum for ben") and sees(ben, "plum for ben") and sees(cem))
    assert by_words(cem) == everything[1:]
    on = ann.request("PATCH", f"/v1/conversations/{here}", {"settings": {"intelligence": "local"}})
    assert on.status_code == 200, on.text
    eventually(lambda: sees(cem, *everything[1:]))


def test_filters(server):
    ann, ben = befriend(*server.users(2))
    here, there = direct(ann, ben), create(ann, "self").json()["conversation"]["id"]
    plain = sent(ann, here, "plum one")
    sent(ben, here, "plum https://example.org/")
    sent(ben, here, f"plum <@{ann.id}>")
    sent(ann, there, "plum of ann alone")
    assert ann.request("PUT", f"/v1/conversations/{here}/messages/{plain}/star").status_code in (200, 204)
    until_embedded(ann)
    mention, link = f"plum <@{ann.id}>", "plum https://example.org/"
    for where, expected in (
        ({"author": ben.id}, [mention, link]), ({"link": "true"}, [link]), ({"mentions": "true"}, [mention]),
        ({"starred": "true"}, ["plum one"]), ({"conversation": there}, ["plum of ann alone"]),
        ({"conversation": here, "author": ann.id}, ["plum one"]), ({"kind": "voice"}, []),
        ({"from": "2120-01-01T00:00:00Z"}, []), ({"to": "2020-01-01T00:00:00Z"}, []),
        ({"from": "2020-01-01T00:00:00Z", "conversation": here}, [mention, link, "plum one"]),
    ):  # fmt: skip
        assert by_meaning(ann, **where) == sorted(expected), where
    # What one has starred is one's own business.
    assert by_meaning(ben, starred="true") == by_meaning(ben, mentions="true") == []


def test_summaries_and_what_comes_first(server):
    """Both are of what their reader sees: each text asks for something, so that all of them are in both."""
    here, (ann, ben, cem, dora, leaver, joiner, *_) = group_of(server, 5)
    outsider = server.user()
    assert dora.request("PUT", f"/v1/blocks/{ann.id}").status_code == 204
    set_level(cem, "off")
    hidden = sent(ann, here, "one, please")
    leave(leaver, here)
    sent(ann, here, "two, please")
    add(ann, here, joiner)
    deleted, changed = sent(ann, here, "deleted, please"), sent(ann, here, "before, please")
    sent(cem, here, "forbidden, please")
    until_embedded(ann)
    assert ben.request("DELETE", f"/v1/conversations/{here}/messages/{hidden}?for=me").status_code == 200
    assert ann.request("DELETE", f"/v1/conversations/{here}/messages/{deleted}?for=all").status_code == 200
    change(ann, here, changed, "after, please")
    eventually(lambda: changed in vectors(server, here))
    everything = ["one, please", "two, please", "after, please"]
    for reader, summarised, first in (
        # One's own do not wait to be read; a blocked author's do, but do not come first.
        (ann, everything, []), (dora, everything, []), (ben, everything[1:], everything[1:]),
        (cem, everything, everything), (joiner, everything[2:], everything[2:]), (leaver, everything[:1], []),
    ):  # fmt: skip
        assert [(one["kind"], one["text"]) for one in summary(reader, here)["items"]] == [
            ("action", text) for text in summarised]  # fmt: skip
        page = reader.get("/v1/priority").json()
        assert [(one["message"]["text"], one["reasons"]) for one in page["messages"]] == [
            (text, ["request"]) for text in reversed(first)]  # fmt: skip
    refused(outsider.post(f"/v1/conversations/{here}/summaries", {}), 404, "not_found", "conversation")
    assert outsider.get("/v1/priority").json()["messages"] == []


def test_requests_to_write(server):
    """Who is asked whether somebody may write sees the request; who has declined it sees it no more."""
    asker, asked, other = server.users(3)
    here = create(asker, "direct", [asked]).json()["conversation"]["id"]
    assert send(asker, here, "plum, may I?").status_code == 201
    until_embedded(asker)
    assert by_meaning(asker) == by_words(asker) == ["plum, may I?"]
    assert by_meaning(asked) == by_words(asked) == ["plum, may I?"]
    assert by_meaning(other) == by_words(other) == []
    assert asked.post(f"/v1/conversations/{here}/members/me/decline").status_code == 204
    assert by_meaning(asked) == by_words(asked) == []


def make_due(server: Server) -> None:
    """Lets everything that disappears be due, in the database of a stopped server."""
    with contextlib.closing(sqlite3.connect(server.data / "switchboard.sqlite")) as database, database:
        database.execute("UPDATE messages SET expires_at = ? WHERE expires_at IS NOT NULL", (int(time.time() * 1000),))


def test_what_has_expired(server):
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    kept = sent(ann, here, "plum that stays")
    changed = ann.request("PATCH", f"/v1/conversations/{here}", {"disappearAfter": 3600})
    assert changed.status_code == 200, changed.text
    sent(ann, here, "plum that goes")
    until_embedded(ben)
    assert by_meaning(ben) == by_words(ben) == ["plum that goes", "plum that stays"]
    server.kill()
    make_due(server)
    server.start()
    # From the first request on.
    for reader in (ann, ben):
        assert by_meaning(reader) == by_words(reader) == ["plum that stays"]
    eventually(lambda: list(vectors(server, here)) == [kept])
    assert [one.get("text") for one in messages(ben, here)] == ["plum that stays", None]


def test_others_messages_are_found_while_vectors_are_removed(server):
    """A level that is lowered takes the vectors of its author out of memory, while searches go on."""
    here, (ann, ben, *readers) = group_of(server, 5)
    readers = readers[:3]
    sent(ann, here, "plum of ann")
    sent(ben, here, "plum of ben")
    until_embedded(ann)
    has_ended = threading.Event()
    seen: list[tuple[str, ...]] = []

    def search_until_the_end(reader: User) -> None:
        while not has_ended.is_set():
            seen.append(tuple(sorted(found(reader, "camping"))))

    threads = [threading.Thread(target=search_until_the_end, args=[one]) for one in readers]
    for thread in threads:
        thread.start()
    try:
        for _ in range(60):
            for level, count in (("off", 1), ("local", 2)):
                set_level(ben, level)
                eventually(lambda count=count: len(vectors(server, here)) == count)
    finally:
        has_ended.set()
        for thread in threads:
            thread.join()
    assert set(seen) == {("plum of ann",), ("plum of ann", "plum of ben")}
