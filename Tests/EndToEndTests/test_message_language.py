"""The language of a message: what the server has found out, and its author's correction of it."""

from selenium.webdriver.common.keys import Keys
from switchboard_tests.browsers.chats import open_chat

SPANISH = "¿Dónde está la biblioteca? Te espero allí mañana por la tarde."
LANGUAGE = "[data-action=language]"


def message_language(person, number):
    """As the page marks the text, for those who have it read aloud."""
    return person.attribute(f"#message-{number} .text", "lang")


def test_its_author_corrects_it(chatters, apis, group):
    ann, _ = chatters
    number = apis[0].say(group, SPANISH)
    for one in chatters:
        open_chat(one, group)
        one.browser.wait("the language", lambda one=one: message_language(one, number) == "es")
    ann.click(f"#message-{number} [data-action=message-menu]")
    assert ann.text(LANGUAGE) == "Language: Spanish"
    ann.click(LANGUAGE)
    # The one that it has comes first.
    first = ann.find("#language-list button")
    assert first.text == "Spanish" and first.get_attribute("aria-current") == "true"
    ann.find("#language-search").send_keys("qqq")
    ann.says("#message-language [role=status]", "No language is called “qqq”.")
    ann.find("#language-search").clear()
    ann.find("#language-search").send_keys("galic", Keys.ENTER)
    ann.gone("#message-language")
    for one in chatters:
        one.browser.wait("the correction", lambda one=one: message_language(one, number) == "gl")
    ann.gone(f"#message-{number} [aria-label='Not sent yet']")
    path = f"/v1/conversations/{group}/messages/{number}"
    stored = apis[1].ask("GET", path)["message"]
    assert stored["language"] == {"code": "gl", "confidence": "high"}
    # It holds until the text is another one.
    text = "Where is the library? I will wait for you there tomorrow."
    apis[0].ask("PATCH", path, {"text": text, "textVersion": stored["textVersion"]})
    for one in chatters:
        one.browser.wait("the language of the new text", lambda one=one: message_language(one, number) == "en")


def test_only_its_author_may(chatters, apis, group):
    _, ben = chatters
    number = apis[0].say(group, SPANISH)
    open_chat(ben, group)
    ben.click(f"#message-{number} [data-action=message-menu]")
    ben.find("#message-menu")
    assert not ben.all(LANGUAGE)
    ben.press(Keys.ESCAPE)


def test_one_that_nobody_knows(chatters, apis, group):
    """A text without letters has none, and may be given one."""
    ann, _ = chatters
    number = apis[0].say(group, "12:30")
    open_chat(ann, group)
    assert message_language(ann, number) in ("", None)
    ann.click(f"#message-{number} [data-action=message-menu]")
    assert ann.text(LANGUAGE) == "Language: not known"
    ann.click(LANGUAGE)
    ann.click("#language-list [data-language=hi]")
    ann.browser.wait("the language", lambda: message_language(ann, number) == "hi")


def test_without_a_connection_it_waits(pair, proxy):
    ann, ben, _ = pair
    ann.find("#write").send_keys(SPANISH, Keys.ENTER)
    ben.browser.wait("the message", lambda: ben.all(".message .text[lang=es]"))
    number = int(ben.all(".message:has(.text[lang=es])")[-1].get_attribute("id").removeprefix("message-"))
    ann.browser.wait("the language", lambda: message_language(ann, number) == "es")
    proxy.cut()
    ann.click(f"#message-{number} [data-action=message-menu]")
    ann.click(LANGUAGE)
    ann.click("#language-list [data-language=pt]")
    ann.browser.wait("the correction", lambda: message_language(ann, number) == "pt")
    ann.find(f"#message-{number} [aria-label='Not sent yet']")
    assert message_language(ben, number) == "es"
    proxy.restore()
    ben.browser.wait("the correction", lambda: message_language(ben, number) == "pt")
