"""The pages of the assistant: what it writes, what that rests on, and what becomes of it. The model is a scripted
server, which says nothing about what a real one would write."""

import json

import pytest
from selenium.webdriver.common.keys import Keys
from switchboard_tests.assistants import Call, answering, looking_up, modelling
from switchboard_tests.browsers.chats import API, fits_both, open_chat, row_menu
from switchboard_tests.browsers.pages import Person
from switchboard_tests.browsers.server import Server

QUESTION = "When does the trip begin, and who brings the boat?"
TRIP = [
    "The trip begins on Friday at nine",
    "For the trip my brother lends us his boat",
    "I pay the deposit for the trip",
]
# Keeps what is copied.
COPIED = "navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }"


def serve(request, folder, model, **languages):
    server = Server(request.config.getoption("--binary"), folder)
    settings = {"model": {"provider": "openai", "url": model.url, "name": "scripted-1"}} | languages
    server.config.write_text(f"{server.config.read_text()}languages: {json.dumps(settings)}\n")
    return server.start()


def ask(person, question):
    field = person.find("#question")
    field.clear()
    field.send_keys(question, Keys.ENTER)


def answers(person):
    """Without what is said of them."""
    return [one.text.partition("\n")[0].strip() for one in person.all(".run[data-status=done] .answer-text")]


@pytest.fixture(scope="module")
def provider():
    with modelling() as model:
        yield model


@pytest.fixture(scope="module")
def stage(request, browsers, tmp_path_factory, provider):
    """Ann and Ben in a group whose members allow everything: `(ann, api of ann, api of ben, group)`."""
    server = serve(request, tmp_path_factory.mktemp("assistant"), provider)
    browsers[0].keep_one_tab()
    ann = Person(browsers[0], server.url, "Ann Abel").sign_up()
    own, ben = API(ann), API.of_new_user(server.url, "Ben Brook")
    for one in (own, ben):
        one.ask("PATCH", "/v1/me", {"intelligence": "full"})
    group = ben.create("group", [own], name="Holidays")
    ben.ask("PATCH", f"/v1/conversations/{group}", {"settings": {"intelligence": "full"}})
    ben.say(group, *TRIP)
    yield ann, own, ben, group
    browsers[0].keep_one_tab()
    browsers[0].driver.get("about:blank")
    server.stop()


@pytest.fixture
def model(provider):
    provider.status = None
    provider.goes_on.set()
    yield provider
    provider.status = None
    provider.goes_on.set()


def test_an_answer_is_written_and_has_sources(stage, model, pictures):
    ann, _, ben, group = stage

    def script(turn):
        if not turn.results:
            return [Call("search", {"query": "trip"})]
        # It stops after the second piece.
        model.goes_on.clear()
        friday, boat, deposit = (turn.handle(word) for word in ("Friday", "boat", "deposit"))
        return [
            f"The trip begins on Friday at nine [{friday}]. Ben’s brother ", "lends the boat ",
            f"[{boat}, {deposit}]. Have a nice trip!\n- Ben pays the deposit [{deposit}].",
        ]  # fmt: skip

    model.script = script
    ann.go("people")
    ann.click("[data-nav=assistant]")
    ann.find("#question")
    ann.says("#question-form", "scripted-1 is a service elsewhere")
    fits_both(ann, pictures, "assistant")
    ask(ann, QUESTION)
    ann.says(".run-question", QUESTION)
    ann.says(".run[data-status=running] .answer-text", "The trip begins on Friday at nine.")
    ann.says(".run-tools", "Used: search")
    pictures(ann.browser, "assistant-writing")
    # It goes on while one looks elsewhere, and after a reload.
    ann.go("people")
    ann.driver.back()
    ann.says(".run[data-status=running] .answer-text", "The trip begins on Friday at nine.")
    ann.driver.refresh()
    ann.says(".run[data-status=running] .answer-text", "The trip begins on Friday at nine.")
    model.goes_on.set()
    ann.find(".run[data-status=done]")
    assert [one.text for one in ann.all(".run .answer-text .citation")] == ["1", "2", "3", "3"]
    ann.says(".run .uncited", "Have a nice trip!")
    assert len(ann.all(".run .answer-text")) == 2
    ann.click(".sources summary")
    ann.says(".sources", TRIP[1])
    fits_both(ann, pictures, "assistant-answer")
    ann.driver.execute_script(COPIED)
    ann.click("[data-action=copy-answer]")
    copied = ann.browser.wait("the copy", lambda: ann.driver.execute_script("return globalThis.copied"))
    first = "The trip begins on Friday at nine. Ben’s brother lends the boat. Have a nice trip!"
    assert copied == f"{first}\n- Ben pays the deposit."
    # A source leads to its message, and back.
    ann.click(".run .answer-text [data-source='2']")
    ann.says(".message:focus", TRIP[1])
    ann.driver.back()
    ann.says(".run[data-status=done]", "The trip begins on Friday at nine.")
    # What a message does not say any more, it has not said.
    path = f"/v1/conversations/{group}/messages"
    message = next(one for one in ben.ask("GET", path)["messages"] if one.get("text") == TRIP[2])
    change = {"text": "Nobody pays for the trip", "textVersion": message["textVersion"]}
    ben.ask("PATCH", f"{path}/{message['number']}", change)
    # Whoever comes back to the page sees it at once, and who stays within a minute.
    ann.driver.execute_script("document.dispatchEvent(new Event('visibilitychange'))")
    ann.says(".run .withdrawn", "No longer available: a message that it rested on has changed or gone.")
    assert len(ann.all(".run .withdrawn")) == 1
    assert "pays the deposit" not in ann.text(".run-answer")
    pictures(ann.browser, "assistant-withdrawn")


def test_threads_are_continued_stopped_and_erased(stage, model, pictures):
    ann, *_ = stage
    model.script = answering("Nobody knows.")
    ann.go("assistant")
    ask(ann, "Who knows the way?")
    ann.browser.wait("the answer", lambda: answers(ann) == ["Nobody knows."])
    ann.says(".run .uncited", "Nobody knows.")
    model.script = answering("Let ", "me ", "think about that for a while.")
    model.goes_on.clear()
    ask(ann, "And how much is it?")
    ann.click("[data-action=stop-run]")
    ann.says(".run[data-status=cancelled]", "You have stopped it.")
    model.goes_on.set()
    model.status = (500, b"{}")
    ann.click(".run[data-status=cancelled] [data-action=retry-run]")
    ann.says(".run[data-status=failed]", "AI is not available now.")
    assert len(ann.all(".run")) == 2
    pictures(ann.browser, "assistant-failed")
    model.status = None
    model.script = answering("It is nine hundred euros.")
    ann.click(".run[data-status=failed] [data-action=retry-run]")
    ann.browser.wait("the answer", lambda: answers(ann) == ["Nobody knows.", "It is nine hundred euros."])
    # What was asked before is known.
    assert model.observed("Who knows the way?") and len(ann.all(".run")) == 2
    ann.click(".run:last-child [data-action=erase-run]")
    ann.click("#ask [data-choice=erase]")
    ann.browser.wait("it to be gone", lambda: answers(ann) == ["Nobody knows."])
    ann.click(".assistant .back")
    ann.says("#assistant-threads .row", "Who knows the way?")
    fits_both(ann, pictures, "assistant-threads")
    count = len(ann.all("#assistant-threads .row"))
    ann.click("#assistant-threads .row [data-action=erase-thread]")
    ann.click("#ask [data-choice=erase]")
    ann.browser.wait("it to be gone", lambda: len(ann.all("#assistant-threads .row")) == count - 1)
    # A thread goes with its last question.
    ask(ann, "Is anybody there?")
    ann.click(".run[data-status=done] [data-action=erase-run]")
    ann.click("#ask [data-choice=erase]")
    ann.find("#question-form")
    ann.browser.wait("the list", lambda: len(ann.all("#assistant-threads .row")) == count - 1)


def test_about_a_chat_and_sent_to_it(stage, model, pictures):
    ann, own, _, group = stage
    model.script = looking_up("trip", lambda turn: f"It begins on Friday [{turn.handle('Friday')}].\nHi <@all>")
    ann.go("chats")
    row_menu(ann, group, "ask-assistant")
    ann.says(".question-scope", "About Holidays")
    ann.click(".question-audience input[value=conversation]")
    fits_both(ann, pictures, "assistant-about")
    ask(ann, QUESTION)
    ann.says(".run[data-status=done]", "It begins on Friday")
    ann.says(".question-scope", "The answers are for everybody in the chat")
    pictures(ann.browser, "assistant-to-send")
    path = f"/v1/conversations/{group}"
    before = own.ask("GET", path)["conversation"]["lastNumber"]
    ann.click("[data-action=send-answer]")
    # What looks like a mention mentions nobody, and nothing was sent.
    ann.browser.wait("the draft", lambda: ann.draft() == "It begins on Friday.\nHi < @all>")
    assert own.ask("GET", path)["conversation"]["lastNumber"] == before
    ann.find("#write").clear()
    open_chat(ann, group)
    ann.click("[data-action=members]")
    ann.click("#members [data-action=ask-assistant]")
    ann.says(".question-scope", "About Holidays")
    ann.click("[data-action=ask-of-all]")
    ann.says(".question-scope", "It looks in all chats that you see.")


def test_a_hosted_model_needs_consent(stage, model, pictures):
    ann, own, *_ = stage
    own.ask("PATCH", "/v1/me", {"intelligence": "local"})
    model.script = answering("No idea.")
    before = len(model.received)
    ann.go("assistant")
    ask(ann, QUESTION)
    ann.says("#question-form [role=alert]", "scripted-1 is a service elsewhere. It may be given your questions")
    fits_both(ann, pictures, "assistant-consent")
    assert ann.find("#question").get_attribute("value") == QUESTION and len(model.received) == before
    ann.click("[data-action=allow-model]")
    ann.browser.wait("the answer", lambda: answers(ann) == ["No idea."])
    assert own.ask("GET", "/v1/me")["intelligence"] == "full"
    # A thread that is not there.
    ann.driver.execute_script("location.hash = '#/assistant/0198c0de-0000-7000-8000-00000000000a'")
    ann.says(".nothing-here", "There is nothing at this address")
    ann.go("assistant")
    ann.find("#question")


@pytest.fixture
def poor(request, tmp_path, model):
    """A server that may give the model next to nothing."""
    server = serve(request, tmp_path, model, defaultLevel="full", budget={"dailyCharacters": 10})
    yield server
    server.stop()


def test_what_may_be_given_is_used_up(poor, browsers):
    browsers[1].keep_one_tab()
    cem = Person(browsers[1], poor.url, "Cem Can").sign_up()
    cem.go("assistant")
    ask(cem, QUESTION)
    cem.says("#question-form [role=alert]", "What AI may be given is used up. It is available again")
    assert not cem.all("[data-action=retry-machine]")
    browsers[1].driver.get("about:blank")


def test_without_a_model_there_is_none(chatters):
    ann, _ = chatters
    ann.go("chats")
    assert not ann.find("nav").find_elements("css selector", "[data-nav=assistant]:not([hidden])")
    ann.driver.execute_script("location.hash = '#/assistant'")
    ann.says("#no-assistant", "This server has no assistant.")
