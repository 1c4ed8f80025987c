"""The client in each language that it is translated to: the page is in it, nothing in English is left on the main
screens, and nothing is cut off, on a desk and on a phone.

Names and texts of people are Greek here, so that Latin letters are found in languages that are written with others.
"""

import json
import pathlib
import re
import subprocess
import uuid

import pytest
from switchboard_tests.browsers.audit import CLIPPED, KNOWN, TEXTS, UNTRANSLATED
from switchboard_tests.browsers.browser import DESK, PHONE
from switchboard_tests.browsers.chats import API, open_chat
from switchboard_tests.browsers.pages import Person, together

ROOT = pathlib.Path(__file__).parents[2]
CATALOGUES = {
    one.stem: json.loads(one.read_text()) for one in sorted((ROOT / "Sources/WebAPI/Web/catalogues").glob("*.json"))
}
DIRECTIONS = {"ar": "rtl", "es": "ltr", "hi": "ltr", "pt": "ltr", "ru": "ltr"}
# By the tag: the chats, the settings, and what the field for a message says.
WORDS = {
    "ar": ("الدردشات", "الإعدادات", "رسالة"), "es": ("Chats", "Ajustes", "Mensaje"), "hi": ("चैट", "सेटिंग", "मैसेज"),
    "pt": ("Conversas", "Ajustes", "Mensagem"), "ru": ("Чаты", "Настройки", "Сообщение"),
}  # fmt: skip
ROOT_IS = "return [document.documentElement.lang, document.documentElement.dir]"
# Labels that end with an ellipsis or break within a word, and names that do not stand where the row's direction begins.
CUT = """
const isShown = (one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest(".unseen, .skip");
const isCut = ({ scrollWidth, clientWidth }) => clientWidth > 0 && scrollWidth > clientWidth + 1;
const labels = [...document.querySelectorAll(".nav-link span, button > span:not(.name, .line), h1, h2, .filter")];
const pen = document.createElement("canvas").getContext("2d");
const isBroken = (one) => {
    pen.font = getComputedStyle(one).font;
    const widths = one.textContent.split(/[\\s-]+/).map((word) => pen.measureText(word).width);
    return Math.max(...widths) > one.parentElement.clientWidth + 1;
};
const isAside = (one) => {
    const [own, outer] = [one, one.parentElement].map((each) => each.getBoundingClientRect());
    return Math.abs(document.dir === "rtl" ? own.right - outer.right : own.left - outer.left) > 1;
};
const names = [...document.querySelectorAll(".row .name > bdi, .title-line .title")];
const answers = [...document.querySelectorAll(".answer > span")];
const found = [...labels.filter(isShown).filter(isCut), ...names.filter(isShown).filter(isAside),
    ...answers.filter(isShown).filter(isBroken)];
return found.map((one) => `cut, broken or aside: ${one.textContent}`);
"""
ANN, BEN, GROUP = "Άννα Αβελ", "Βεν Μπρουκ", "Το ταξίδι"
# Names that are the same everywhere: of languages in themselves, keys, codes and protocols.
NAMES = [
    "Español", "Português", "en, es, ar", "en, es, ar।", "pt-BR", "Ctrl", "Shift", "Enter", "Esc", "Home End", "Space",
    "am", "pm", "HTTPS", "WebSocket", "STUN", "TURN", "DTLS", "DNS", "QR", "Mbit/s", "kbit/s", "MB", "Switchboard-Web",
]  # fmt: skip


def english():
    output = subprocess.run([ROOT / "Scripts/catalogues"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(output)


def forms(catalogue):
    entries = [entry for texts in catalogue.values() for entry in texts.values()]
    return {form for entry in entries for form in (entry.values() if isinstance(entry, dict) else [entry])}


def untranslated(texts, tag):
    """Those of the texts that the English catalogue has, and the one of the language has not."""
    own = forms(CATALOGUES[tag])
    left = [one for one in forms(english()) - own if re.search("[A-Za-z]{3}", re.sub(r"\{\w+\}", "", one))]
    parts = [[re.escape(part) for part in re.split(r"\{\w+\}", one)] for one in left]
    pattern = re.compile("|".join(f"(?:{'.+'.join(one)})" for one in parts))
    return [text for text in texts if pattern.fullmatch(text)]


@pytest.fixture(scope="module")
def pair(browsers, url):
    """Ann and Ben, who have talked, and are in a group."""
    for one in browsers:
        one.keep_one_tab()
    made = [Person(one, url, name) for one, name in zip(browsers, (ANN, BEN))]
    for one, name in zip(made, ("ann", "ben")):
        one.email = f"{name}-{uuid.uuid4().hex[:10]}@example.org"
    together(made, Person.sign_up)
    yield made
    for one in browsers:
        one.resize(DESK)
    together(browsers, lambda one: one.driver.get("about:blank"))


@pytest.fixture(scope="module")
def apis(pair):
    return [API(one) for one in pair]


@pytest.fixture(scope="module")
def talk(apis):
    """`(direct, group, reply)`: their conversations, and the number of a message with everything."""
    ann, ben = apis
    direct = ann.create("direct", [ben])
    group = ann.create("group", [ben], name=GROUP)
    ben.say(group, "Καλημέρα", "Τι κάνεις;")
    reply = ben.say(direct, "Καλά, εσύ;", replyTo=ann.say(direct, "Τι κάνεις σήμερα;"))
    ann.ask("PUT", f"/v1/conversations/{direct}/messages/{reply}/pin")
    ann.ask("PUT", f"/v1/conversations/{direct}/messages/{reply}/reactions/%F0%9F%91%8D")
    ann.ask("PATCH", f"/v1/conversations/{group}", {"disappearAfter": 86_400})
    ben.ask("POST", "/v1/friends", {"clientID": str(uuid.uuid4()), "user": ann.user})
    return direct, group, reply


@pytest.fixture
def look(pictures):
    """Looks at a screen on a desk and on a phone."""
    faults = []

    def at(person, tag, name, *known):
        for size, window in (("desk", DESK), ("phone", PHONE)):
            person.browser.resize(window)
            pictures(person.browser, f"{tag}-{name}-{size}")
            texts = person.driver.execute_script(TEXTS)
            found = untranslated(texts, tag)
            if tag not in ("es", "pt"):
                found += person.driver.execute_script(UNTRANSLATED, [*known, *NAMES, *KNOWN])
            found += person.driver.execute_script(CLIPPED) + person.driver.execute_script(CUT)
            faults.extend(f"{name}, {size}: {one}" for one in found)
        person.browser.resize(DESK)

    yield at
    assert faults == []


def choose(person, tag):
    """As a person does."""
    person.go("settings")
    person.click(f"#setting-language option[value={tag}]")
    root = [tag, DIRECTIONS[tag]]
    person.browser.wait("the language", lambda: person.driver.execute_script(ROOT_IS) == root)


@pytest.mark.parametrize("tag", CATALOGUES)
def test_pages(pair, talk, look, tag):
    ann, _ = pair
    direct, group, reply = talk
    chats, settings, message = WORDS[tag]
    choose(ann, tag)
    ann.says("h1", settings)
    ann.find("#devices .row")
    look(ann, tag, "settings", ann.email)
    ann.go("chats")
    ann.find("#inbox .row")
    ann.says(".bar .nav-link[href='#/chats']", chats)
    look(ann, tag, "chats")
    open_chat(ann, direct)
    ann.find(f"#message-{reply}")
    assert ann.attribute("#write", "placeholder") == message
    look(ann, tag, "thread")
    ann.click(f"#message-{reply} [data-action=message-menu]")
    ann.find("#message-menu")
    look(ann, tag, "menu")
    ann.press("\ue00c")
    ann.click("#composer [data-action=emoji]")
    ann.find("#emoji-grid .emoji")
    look(ann, tag, "emoji")
    ann.press("\ue00c")
    open_chat(ann, group)
    ann.find("#messages [data-notice]")
    look(ann, tag, "group")
    ann.click("[data-action=members]")
    ann.find("#members .row")
    look(ann, tag, "details")
    ann.press("\ue00c")
    ann.go("people")
    ann.find(".friend-requests .row")
    look(ann, tag, "people")
    ann.click(".friend-requests .who")
    look(ann, tag, "person")
    ann.press("\ue00c")
    # It is kept.
    ann.driver.refresh()
    ann.find(".friend-requests .row")
    assert ann.driver.execute_script(ROOT_IS) == [tag, DIRECTIONS[tag]]


@pytest.mark.parametrize("tag", CATALOGUES)
def test_calls(pair, talk, look, tag):
    ann, ben = pair
    direct = talk[0]
    choose(ann, tag)
    open_chat(ben, direct)
    ben.click(".thread-head [data-action=call-video]")
    ann.rings()
    look(ann, tag, "incoming", ann.email)
    ann.answer()
    ann.is_connected()
    ann.has_video()
    look(ann, tag, "call", ann.email)
    ann.control("details")
    ann.find("#details .stats")
    look(ann, tag, "call-details", ann.email)
    ann.click("[data-action=close-panel]")
    ben.hang_up()
    ann.phase("ended")
    look(ann, tag, "call-ended", ann.email)
    ann.leave_call_screen()
    ben.leave_call_screen()
    ann.go("history")
    ann.find("#history .row")
    look(ann, tag, "history", ann.email)


@pytest.mark.parametrize(("accepted", "tag"), [
    ("pt-PT,en", "pt"), ("de,ru-RU,en", "ru"), ("ar-EG", "ar"), ("es-419,es", "es"), ("hi-IN", "hi"), ("de", "en"),
])  # fmt: skip
def test_the_language_of_the_browser(browsers, url, look, accepted, tag):
    """Before anybody has chosen one: the first that the client has."""
    ann = Person(browsers[0], url, ANN)
    browsers[0].open(url)
    agent, before = ann.driver.execute_script("return [navigator.userAgent, navigator.languages.join()]")
    override = {"userAgent": agent, "acceptLanguage": accepted}
    ann.driver.execute_cdp_cmd("Emulation.setUserAgentOverride", override)
    try:
        ann.driver.execute_script("localStorage.clear(); sessionStorage.clear()")
        ann.driver.refresh()
        ann.find("#sign-in-form")
        assert ann.driver.execute_script(ROOT_IS)[0] == tag
        if tag in CATALOGUES:
            look(ann, tag, "sign-in")
            ann.click("#to-sign-up")
            ann.click("#sign-up-form [type=submit]")
            look(ann, tag, "sign-up")
    finally:
        ann.driver.execute_cdp_cmd("Emulation.setUserAgentOverride", {"userAgent": agent, "acceptLanguage": before})
        ann.driver.execute_script("localStorage.clear(); sessionStorage.clear()")
