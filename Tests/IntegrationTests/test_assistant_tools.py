"""What each tool of the assistant returns to the model: messages in order, under handles that become citations, and
errors that say what is wrong, after which the run goes on. The model, the program that understands texts and that which
translates are scripted.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from switchboard_tests.assistants import Call, Reply, ScriptedModel, Turn, modelling
from switchboard_tests.conversations import befriend, create, direct, group, sent
from switchboard_tests.meaning import PROGRAMS, scripted, until_embedded
from switchboard_tests.server import Server, User
from switchboard_tests.waiting import eventually

LIMITS = {"friendRequestsPerHour": 1000, "questionsPerMinute": 100_000, "requestsPerMinute": 100_000}
# Of the garden. What they ask for is said by the words that the scripted embedder knows.
ROSES = "The roses look lovely in the morning sun"
DECISION = "We decided to meet on the first Friday"
REQUEST = "Could you bring the lamp, please"
PROMISE = "I am going to paint the fence"
URGENT = "Urgent, the gate is open"
QUESTION = "Is it great?"
GARDEN = [ROSES, DECISION, REQUEST, PROMISE, URGENT, QUESTION]
# Between two people.
TENT = "I am going to bring the tent, write to ben@example.org"
# Of the user alone.
NOTES = [f"Note number {number}, so lovely" for number in range(1, 15)]
DAY_OF_THE_PAST, DAY_OF_THE_FUTURE = "2020-01-01", "2120-01-01"


@dataclasses.dataclass
class Harness:
    """A user with conversations, in which others have written too."""

    server: Server
    model: ScriptedModel
    ann: User
    # The ids of conversations by their names.
    conversations: dict[str, str]
    # Where each text stands.
    positions: dict[str, tuple[str, int]]


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    with modelling() as model:
        yield model


@pytest.fixture(scope="module")
def harness(make_server, model, tmp_path_factory) -> Harness:
    folder = tmp_path_factory.mktemp("engines")
    server = make_server({
        "limits": LIMITS, "languages": {
            "apertium": False, "embeddings": scripted(folder / "seen"),
            "translation": {
                "provider": "command", "pairs": ["en:es"],
                "command": [sys.executable, str(PROGRAMS / "scripted_program.py"), str(folder)]},
            "model": {
                "provider": "openai", "url": model.url, "name": "scripted", "apiKey": "sk-test", "hosted": False},
        },
    })  # fmt: skip
    ann, ben, cem = server.users(3)
    for user, name in ((ann, "Ann Abel"), (ben, "Ben Brook"), (cem, "Cem Cole")):
        assert user.request("PATCH", "/v1/me", {"displayName": name}).status_code == 200
    for other in (ben, cem):
        befriend(ann, other)
    notes = create(ann, "self").json()["conversation"]["id"]
    here = {"Notes to oneself": notes, "Garden": group(ann, [ben, cem], name="Garden"), "Ben Brook": direct(ann, ben)}
    positions = {text: (notes, sent(ann, notes, text)) for text in NOTES}
    for author, text in ((ben, ROSES), (cem, DECISION), (cem, REQUEST), (ben, PROMISE), (cem, URGENT), (cem, QUESTION)):
        positions[text] = here["Garden"], sent(author, here["Garden"], text)
    # What the text does not say is said by its author.
    path = f"/v1/conversations/{here['Garden']}/messages/{positions[DECISION][1]}/language"
    assert cem.request("PUT", path, {"language": "en"}).status_code == 200
    positions[TENT] = here["Ben Brook"], sent(ben, here["Ben Brook"], TENT)
    path = f"/v1/conversations/{here['Ben Brook']}/messages/{positions[TENT][1]}/language"
    assert ben.request("PUT", path, {"language": "en"}).status_code == 200
    until_embedded(ann)
    return Harness(server, model, ann, here, positions)


def conversation(turn: Turn, name: str) -> str:
    """The handle of a conversation, which is given with the question."""
    handle: str = next(one["id"] for one in turn.question["conversations"] if one["name"] == name)
    return handle


def person(turn: Turn, name: str) -> str:
    """The handle of a person whom `people` has found."""
    handle: str = next(one["id"] for result in turn.results for one in result.get("people", []) if one["name"] == name)
    return handle


Calls = Callable[[Turn], list[Call]]


def run(harness: Harness, *steps: Calls, **scope: Any) -> tuple[dict[str, Any], list[Turn]]:
    """A run in which the model asks for these tools in turn, and then answers with all messages that it has seen."""
    turns: list[Turn] = []

    def script(turn: Turn) -> Reply:
        turns.append(turn)
        if len(turns) <= len(steps):
            return [*steps[len(turns) - 1](turn)]
        handles = dict.fromkeys(one["id"] for one in turn.messages_seen)
        return ["I have seen this " + "".join(f"[{handle}]" for handle in handles) + "."]

    harness.model.script = script
    body = {"clientID": str(uuid.uuid4()), "question": "What about it?"} | scope
    asked = harness.ann.post("/v1/assistant", body)
    assert asked.status_code == 202, asked.text
    path = f"/v1/assistant/runs/{asked.json()['run']['id']}"

    def ended() -> dict[str, Any] | None:
        found = harness.ann.get(path).json()["run"]
        return found if found["status"] != "running" else None

    found = eventually(ended)
    assert found is not None and found["status"] == "done", found
    return found, turns


def written(result: dict[str, Any]) -> list[str]:
    return [one["text"] for one in result["messages"]]


def shown(text: str, handle: str) -> str:
    """What the model is shown of the text with an address, which it is not given."""
    return text.replace("ben@example.org", f"⟦{handle}.1⟧")


def in_garden(tool: str, **more: Any) -> Calls:
    return lambda turn: [Call(tool, {"in": conversation(turn, "Garden")} | more)]


def search(query: str, **more: Any) -> Calls:
    return lambda turn: [Call("search", {"query": query} | more)]


def about(tool: str, text: str, **more: Any) -> Calls:
    return lambda turn: [Call(tool, {"message": turn.handle(text)} | more)]


def items(result: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """The kind of each item, with the texts of its messages."""
    texts = {one["id"]: one["text"] for one in result["messages"]}
    return [(item["kind"], [texts[handle] for handle in item["messages"]]) for item in result["items"]]


def test_the_tools_are_these(harness):
    """Each has a test here of what it returns, and of what it refuses."""
    _, [turn] = run(harness)
    assert turn.tools == list(REFUSED)
    assert {one["name"]: one["kind"] for one in turn.question["conversations"]} == {
        "Ben Brook": "direct", "Garden": "group", "Notes to oneself": "group"}  # fmt: skip


def test_search(harness):
    found, turns = run(
        harness, lambda turn: [Call("people")],
        lambda turn: [
            Call("search", {"query": "camping"}), Call("search", {"query": "gate", "in": conversation(turn, "Garden")}),
            Call("search", {"query": "gate", "from": person(turn, "Ben Brook"), "in": None}),
            Call("search", {"query": "gate", "after": DAY_OF_THE_FUTURE}),
            Call("search", {"query": "gate", "before": DAY_OF_THE_PAST}),
            Call("search", {"query": "camping", "after": DAY_OF_THE_PAST, "before": DAY_OF_THE_FUTURE}),
        ],
    )  # fmt: skip
    _, by_meaning, here, of_ben, later, earlier, between = turns[-1].results
    # Ten at most, the best first: the one that means the query, and the one that has its words.
    first = by_meaning["messages"][0]
    assert first["text"] == shown(TENT, first["id"]) and len(by_meaning["messages"]) == 10
    conversation_id, number = harness.positions[TENT]
    at = harness.ann.get(f"/v1/conversations/{conversation_id}/messages/{number}").json()["message"]["sentAt"]
    assert first == {
        "id": "m1", "in": conversation(turns[0], "Ben Brook"), "conversation": "Ben Brook",
        "from": person(turns[-1], "Ben Brook"), "name": "Ben Brook", "at": at, "text": first["text"],
    }  # fmt: skip
    assert written(here)[0] == URGENT and sorted(written(here)) == sorted(GARDEN)
    assert {one["in"] for one in here["messages"]} == {conversation(turns[0], "Garden")}
    assert sorted(written(of_ben)) == sorted([ROSES, PROMISE, shown(TENT, first["id"])])
    assert later == earlier == {"messages": []} and between == by_meaning
    # Each message has one handle in all of the run, by which it is cited.
    seen = {one["id"]: one["text"] for one in turns[-1].messages_seen}
    texts = [TENT if text == shown(TENT, "m1") else text for text in seen.values()]
    [sentence] = found["sentences"]
    assert [(one["conversation"], one["number"]) for one in sentence["citations"]] == [
        harness.positions[text] for text in texts]  # fmt: skip
    assert [one["name"] for one in found["tools"]] == ["people"] + ["search"] * 6


def test_around(harness):
    """Five before and five after, in the order in which they were written."""
    middle, first = NOTES[6], NOTES[0]
    found, turns = run(
        harness, search("number 7"), about("around", middle), about("around", NOTES[1]), about("around", first))
    _, of_middle, of_second, of_first = turns[-1].results
    assert written(of_middle) == NOTES[1:12]
    assert written(of_second) == NOTES[:7] and written(of_first) == NOTES[:6]
    assert {one["name"] for one in of_middle["messages"]} == {"the user"}
    assert {one["conversation"] for one in of_middle["messages"]} == {"Notes to oneself"}
    citations = {(one["conversation"], one["number"]) for one in found["sentences"][0]["citations"]}
    assert {harness.positions[text] for text in NOTES[:12]} <= citations


def test_summarise(harness):
    _, turns = run(harness, in_garden("summarise", unread=False))
    [result] = turns[-1].results
    expected = [
        ("point", [ROSES]), ("decision", [DECISION]), ("action", [REQUEST]), ("action", [PROMISE]),
        ("action", [URGENT]), ("question", [QUESTION]),
    ]  # fmt: skip
    assert items(result) == expected
    assert written(result) == [text for _, [text] in expected]
    names = {one["text"]: one["name"] for one in result["messages"]}
    assert (names[ROSES], names[DECISION], names[PROMISE]) == ("Ben Brook", "Cem Cole", "Ben Brook")
    # Of what is unread alone.
    dora, eve = befriend(*harness.server.users(2))
    here = group(dora, [eve], name="Garden")
    read = sent(eve, here, DECISION)
    assert dora.post(f"/v1/conversations/{here}/marks", {"read": read}).status_code == 200
    sent(eve, here, URGENT)
    until_embedded(dora)
    other = dataclasses.replace(harness, ann=dora)
    _, turns = run(other, in_garden("summarise", unread=True), in_garden("summarise"))
    unread, everything = turns[-1].results
    assert items(unread) == [("action", [URGENT])]
    assert items(everything) == [("decision", [DECISION]), ("action", [URGENT])]


def test_actions_and_decisions(harness):
    _, turns = run(
        harness, in_garden("actions"), in_garden("decisions"),
        lambda _: [Call("actions"), Call("decisions", {"in": None})],
    )  # fmt: skip
    actions, decisions, all_actions, all_decisions = turns[-1].results
    assert items(actions) == [("action", [text]) for text in (REQUEST, PROMISE, URGENT)]
    assert written(actions) == [REQUEST, PROMISE, URGENT]
    assert items(decisions) == [("decision", [DECISION])]
    # Of all conversations, the one that was active last first.
    tent = all_actions["messages"][0]
    assert tent["conversation"] == "Ben Brook"
    assert items(all_actions) == [
        ("action", [text]) for text in (shown(TENT, tent["id"]), REQUEST, PROMISE, URGENT)]  # fmt: skip
    assert items(all_decisions) == items(decisions)


def test_priority(harness):
    found, turns = run(harness, lambda _: [
        Call("priority"), Call("priority", {"limit": 2}), Call("priority", {"limit": -7}),
        Call("priority", {"limit": "x"}),
    ])  # fmt: skip
    result, two, one, default = turns[-1].results
    # What nobody has to do anything about is not there.
    assert written(result) == [URGENT, REQUEST, QUESTION]
    handles = {message["text"]: message["id"] for message in result["messages"]}
    assert result["reasons"] == [
        {"message": handles[URGENT], "because": ["urgent"]}, {"message": handles[REQUEST], "because": ["request"]},
        {"message": handles[QUESTION], "because": ["question"]},
    ]  # fmt: skip
    assert written(two) == [URGENT, REQUEST] and written(one) == [URGENT] and default == result
    assert [(each["conversation"], each["number"]) for each in found["sentences"][0]["citations"]] == [
        harness.positions[text] for text in (URGENT, REQUEST, QUESTION)]  # fmt: skip


def test_translate(harness):
    """As the program writes it, without the address, which the answer has by the marker of the message alone."""
    _, turns = run(
        harness, search("camping"), about("translate", "tent", language="es"), in_garden("decisions"),
        about("translate", DECISION, language="ES-mx"),
    )  # fmt: skip
    _, tent, _, decision = turns[-1].results
    assert tent == {
        "message": turns[-1].handle("tent"), "language": "es", "text": "⟪I am going to bring the tent, write to …⟫"}
    assert decision["message"] == turns[-1].handle(DECISION) and decision["text"] == f"⟪{DECISION}⟫"
    assert decision["language"] == "es-MX"
    assert not harness.model.observed("ben@example.org")


def test_people(harness):
    """Who shares a conversation with the user, and which."""
    _, turns = run(harness, lambda _: [
        Call("people", {"name": None}), Call("people", {"name": "BROOK"}), Call("people", {"name": "Abel"}),
    ])  # fmt: skip
    everybody, ben, nobody = turns[-1].results
    two, garden = (conversation(turns[0], name) for name in ("Ben Brook", "Garden"))
    expected = [{"name": "Ben Brook", "in": [two, garden]}, {"name": "Cem Cole", "in": [garden]}]
    assert [{"name": one["name"], "in": one["in"]} for one in everybody["people"]] == expected
    assert ben == {"people": everybody["people"][:1]} and nobody == {"people": []}
    assert len({one["id"] for one in everybody["people"]}) == 2


def test_of_one_conversation(harness):
    """All tools look at the one that was asked about, and its handle is the only one."""
    _, turns = run(
        harness, search("camping"), lambda _: [
            Call("summarise"), Call("actions"), Call("priority"), Call("people"),
            Call("search", {"query": "x", "in": "c2"}),
        ], conversation=harness.conversations["Garden"],
    )  # fmt: skip
    assert [one["name"] for one in turns[0].question["conversations"]] == ["Garden"]
    found, summary, actions, priority, people, elsewhere = turns[-1].results
    assert sorted(written(found)) == sorted(GARDEN)
    assert [text for _, [text] in items(summary)] == GARDEN
    assert written(actions) == [REQUEST, PROMISE, URGENT] and written(priority) == [URGENT, REQUEST, QUESTION]
    assert [one["in"] for one in people["people"]] == [["c1"], ["c1"]] and elsewhere == {"error": ELSEWHERE}


UNSEEN = "message is not the id of a message that you have seen."
ELSEWHERE = "in is not the id of a conversation that you have seen."
NO_OBJECT = "The arguments are no JSON object."
FOREIGN = "00000000-0000-7000-8000-000000000000"
# What is refused, of each tool, and what the model is told. Message m1 and the conversations c1 to c3 are known.
REFUSED: dict[str, list[tuple[dict[str, Any] | str, str]]] = {
    "search": [
        ({}, "query is missing."), ({"query": " "}, "query is missing."), ({"query": 7}, "query is missing."),
        ({"query": "x", "in": "c9"}, ELSEWHERE), ({"query": "x", "in": FOREIGN}, ELSEWHERE),
        ({"query": "x", "from": "p9"}, "from is not the id of a person that you have seen: use people first."),
        ({"query": "x", "after": "soon"}, "after is a day such as 2026-11-27."),
        ({"query": "x", "before": "2026-13-01"}, "before is a day such as 2026-11-27."), ("{", NO_OBJECT),
    ],
    "around": [
        ({}, "message is missing."), ({"message": "m99"}, UNSEEN), ({"message": "m0"}, UNSEEN),
        ({"message": "c1"}, UNSEEN), ({"message": f"{FOREIGN}.1"}, UNSEEN), ("[]", NO_OBJECT),
    ],
    "summarise": [({"in": "c9"}, ELSEWHERE), ({"in": "m1"}, ELSEWHERE), ({"in": FOREIGN}, ELSEWHERE), ("x", NO_OBJECT)],
    "actions": [({"in": "c9"}, ELSEWHERE), ({"in": "Garden"}, ELSEWHERE), ("null", NO_OBJECT)],
    "decisions": [({"in": "c0"}, ELSEWHERE), ({"in": FOREIGN}, ELSEWHERE), ("{} {}", NO_OBJECT)],
    "priority": [("[7]", NO_OBJECT), ("{\"limit\": 7", NO_OBJECT)],
    "translate": [
        ({}, "message is missing."), ({"message": "m1"}, "language is missing."),
        ({"message": "m99", "language": "es"}, UNSEEN),
        ({"message": "m1", "language": "?"}, "language is a BCP 47 tag, such as pt."),
        ({"message": "m1", "language": "fr"}, "Nothing translates this: translate it yourself."),
    ],
    "people": [("{\"name\": }", NO_OBJECT)],
}  # fmt: skip


@pytest.mark.parametrize("tool", REFUSED)
def test_what_is_refused(harness, tool: str):
    """Every error is a result like others; the run goes on, and what is asked for rightly then is found."""
    rows = REFUSED[tool]
    found, turns = run(
        harness, search("camping"), lambda _: [Call(tool, arguments) for arguments, _ in rows],
        lambda _: [Call("nonsense", {"in": "c1"}), Call("search", {"query": "camping"})],
    )  # fmt: skip
    first, *errors, unknown, again = turns[-1].results
    assert [one["messages"][0]["id"] for one in (first, again)] == ["m1", "m1"]
    assert errors == [{"error": text} for _, text in rows]
    assert unknown == {"error": "There is no tool of this name."} and again == first
    assert len(turns) == 4 and len(found["sentences"]) == 1
    assert json.dumps(found["tools"]).count(f'"{tool}"') == len(rows) + 2 * (tool == "search")


def test_people_of_a_group_that_one_has_left(harness):
    """Who came later is nobody's business who was gone by then: such a reader has no list of its members either."""
    ann, left, friend, later = harness.server.users(4)
    for user, name in ((ann, "Ann"), (friend, "Friend"), (later, "Later")):
        assert user.request("PATCH", "/v1/me", {"displayName": name}).status_code == 200
    for other in (left, friend, later):
        befriend(ann, other)
    here = group(ann, [left, friend], name="Cellar")
    sent(ann, here, "tulip of then")
    assert left.request("DELETE", f"/v1/conversations/{here}/members/me").status_code == 204
    added = ann.post(f"/v1/conversations/{here}/members", {"members": [later.id]})
    assert added.status_code == 200, added.text
    assert left.get(f"/v1/conversations/{here}/members").status_code == 403
    reader = dataclasses.replace(harness, ann=left)
    _, turns = run(reader, lambda _: [Call("people"), Call("people", {"name": "later"})], conversation=here)
    people, named = turns[-1].results
    assert {one["name"] for one in people["people"]} <= {"Ann", "Friend"}
    assert named == {"people": []}
