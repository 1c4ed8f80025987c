"""The search of one chat by meaning. What understands texts is a scripted program here: texts that have nearly the same
letters mean nearly the same to it."""

import json
import sys

import pytest
from selenium.webdriver.common.keys import Keys
from switchboard_tests.browsers.chats import API, accessible, fits_both, open_chat
from switchboard_tests.browsers.offline import KEPT
from switchboard_tests.browsers.pages import Person
from switchboard_tests.browsers.server import ROOT, Server
from switchboard_tests.tcp_proxy import Proxy

KETTLE = "The kettle is on the stove"
# It has the same meaning, and a word that no message has.
QUERY = "The kettle is on the stovf"
BUTTON = "#thread-search [data-action=by-meaning]"
STATUS = "#thread-search [role=status]"
BY_WORDS = "Found by words alone: what they mean could not be compared."
FOUND = """
return [...document.querySelectorAll("#thread-search [data-found=message]")].map((one) => Number(one.dataset.number));
"""
FOCUS = "return document.activeElement.dataset.action ?? document.activeElement.id"


@pytest.fixture(scope="module")
def stage(request, browsers, tmp_path_factory):
    """Ann behind a proxy, and Ben, in whose group one message is far up: `(ann, ben, proxy, group, number)`."""
    folder = tmp_path_factory.mktemp("meaning")
    server = Server(request.config.getoption("--binary"), folder)
    program = ROOT / "Tests/PythonSupport/switchboard_tests/engines/scripted_embedder.py"
    command = [sys.executable, str(program), str(folder / "seen")]
    embeddings = {"provider": "command", "command": command, "model": "scripted"}
    settings = {"limits": {"searchesPerMinute": 6_000}, "languages": {"embeddings": embeddings}}
    server.config.write_text(
        server.config.read_text() + "".join(f"{name}: {json.dumps(values)}\n" for name, values in settings.items())
    )
    server.start()
    proxy = Proxy(server.port)
    browsers[0].keep_one_tab()
    ann = Person(browsers[0], proxy.url, "Ann Abel").sign_up()
    ben = API.of_new_user(server.url, "Ben Brook")
    group = ben.create("group", [API(ann)], name="Kitchen")
    number = ben.say(group, KETTLE)
    ben.say(group, *[f"hay of number {number}" for number in range(60)])
    # Another chat has nearly the same.
    ben.say(ben.create("group", [API(ann)], name="Another"), KETTLE)

    def is_understood():
        return API(ann).ask("GET", "/v1/search?query=kettle&mode=meaning")["coverage"] == 1

    ann.browser.wait("the meaning of all messages", is_understood)
    yield ann, ben, proxy, group, number
    proxy.restore()
    proxy.close()
    browsers[0].keep_one_tab()
    browsers[0].driver.get("about:blank")
    server.stop()


def found(person):
    return person.driver.execute_script(FOUND)


def search(person, query):
    field = person.find("#thread-search-words")
    field.clear()
    field.send_keys(query)


def close(person):
    """The first press empties the field."""
    person.find("#thread-search-words").send_keys(Keys.ESCAPE, Keys.ESCAPE)
    person.gone("#thread-search")


def test_what_means_the_same_is_found_in_one_chat(stage, pictures):
    ann, _, _, group, number = stage
    open_chat(ann, group)
    ann.press(Keys.CONTROL + "f")
    search(ann, QUERY)
    ann.says(STATUS, f"Nothing found for “{QUERY}”.")
    assert ann.find(f"{BUTTON}[aria-pressed=false]").text == "By meaning"
    # By keys: the button follows the field, and keeps the focus.
    ann.press(Keys.TAB)
    assert ann.driver.execute_script(FOCUS) == "by-meaning"
    ann.press(Keys.SPACE)
    ann.find(f"{BUTTON}[aria-pressed=true]")
    ann.browser.wait("what means the same", lambda: found(ann)[:1] == [number])
    assert ann.driver.execute_script(FOCUS) == "by-meaning"
    # The best are one page, of this chat alone.
    numbers = found(ann)
    assert len(numbers) == len(set(numbers)) > 1
    assert len([one for one in ann.texts("#thread-search [data-found=message] .found") if one == KETTLE]) == 1
    assert not ann.is_shown(STATUS) and not ann.is_shown("#thread-search [data-action=more-found]")
    accessible(ann, "a search by meaning")
    fits_both(ann, pictures, "thread-found-by-meaning")
    ann.click(f"#thread-search [data-number='{number}'] a")
    ann.gone("#thread-search")
    ann.find(f"#message-{number}")
    # Whoever searches again searches by words.
    ann.click("[data-action=search-thread]")
    ann.find(f"{BUTTON}[aria-pressed=false]")
    search(ann, "kettle")
    ann.browser.wait("the word", lambda: found(ann) == [number])
    close(ann)


def test_where_meanings_cannot_be_compared_words_are(stage):
    ann, ben, proxy, group, _ = stage
    number = ben.say(group, "Say nothing please")
    open_chat(ann, group, number)
    ann.find(f"#message-{number}")
    ann.press(Keys.CONTROL + "f")
    ann.click(BUTTON)
    search(ann, "nothing please")
    ann.browser.wait("the words", lambda: found(ann) == [number])
    ann.says(STATUS, BY_WORDS)
    # Without the server it is searched by words, and said.
    ann.browser.wait("the worker", lambda: ann.driver.execute_script(KEPT))
    proxy.cut()
    ann.find("#offline")
    search(ann, "hay of number 59")
    ann.browser.wait("what is on this device", lambda: len(found(ann)) == 1)
    ann.says(STATUS, BY_WORDS)
    ann.click(BUTTON)
    ann.gone(STATUS)
    assert len(found(ann)) == 1
    close(ann)
    proxy.restore()
    ann.is_online()


def test_a_server_that_compares_no_meanings_has_no_such_search(chatters, apis, group):
    ann, _ = chatters
    number = apis[1].say(group, KETTLE)
    open_chat(ann, group)
    ann.find(f"#message-{number}")
    ann.press(Keys.CONTROL + "f")
    search(ann, "kettle")
    ann.browser.wait("the word", lambda: found(ann) == [number])
    assert ann.all(BUTTON) and not ann.is_shown(BUTTON)
    close(ann)
