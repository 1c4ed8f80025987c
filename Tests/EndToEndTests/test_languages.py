"""The client in the longer pseudo-language, on a phone: every text comes from the catalogue, and its layout holds. The
screens in the one that is written from right to left are those of test_looks.

Names and texts of people are Greek here: a Latin letter is then a text that is not in the catalogue.
"""

import uuid

import pytest
from switchboard_tests.browsers.audit import CLIPPED, KNOWN, UNTRANSLATED
from switchboard_tests.browsers.browser import DESK, PHONE
from switchboard_tests.browsers.chats import API, open_chat
from switchboard_tests.browsers.pages import Person, together

TAG = "en-XA"
ANN, BEN, GROUP = "Άννα Αβελ", "Βεν Μπρουκ", "Το ταξίδι"
# What can be chosen: as the browser says, and every language.
TRANSLATED = ["", "en", "es", "pt", "ru", "hi", "ar"]
LEFT = "return document.querySelector(arguments[0]).getBoundingClientRect().left"


@pytest.fixture
def phones(browsers):
    for one in browsers:
        one.keep_one_tab()
        one.resize(PHONE)
    yield browsers
    for one in browsers:
        one.resize(DESK)


@pytest.fixture
def check(pictures):
    """Looks at what a person sees."""

    def look(person, name, *known):
        root = "return [document.documentElement.lang, document.documentElement.dir]"
        assert person.driver.execute_script(root) == [TAG, "ltr"]
        pictures(person.browser, f"{TAG}-{name}")
        assert person.driver.execute_script(UNTRANSLATED, [*known, *KNOWN]) == [], name
        found = person.driver.execute_script(UNTRANSLATED, [*known, *KNOWN]), person.driver.execute_script(CLIPPED)
        assert found == ([], []), name

    return look


def choose(person):
    person.driver.execute_script("switchboard.preferences.set('language', arguments[0])", TAG)
    person.driver.refresh()
    script = "return document.documentElement.lang"
    person.browser.wait("the language", lambda: person.driver.execute_script(script) == TAG)


@pytest.fixture
def pair(phones, url):
    """Ann's page is in the pseudo-language."""
    made = [Person(one, url, name) for one, name in zip(phones, (ANN, BEN))]
    for one, name in zip(made, ("ann", "ben")):
        one.email = f"{name}-{uuid.uuid4().hex[:10]}@example.org"
    together(made, Person.sign_up)
    choose(made[0])
    made[0].is_in()
    yield made
    together(phones, lambda one: one.driver.get("about:blank"))


def test_signing_up(phones, url, check):
    """The language of the address is the one of this page alone."""
    ann = Person(phones[0], url, ANN)
    phones[0].open(url)
    ann.driver.get(f"{url}/?language={TAG}")
    ann.find("#sign-in-form")
    check(ann, "sign-in")
    ann.click("#to-sign-up")
    ann.click("#sign-up-form [type=submit]")
    check(ann, "sign-up")
    ann.driver.get(url)
    ann.find("#sign-in-form")
    assert ann.text("#sign-in-form [type=submit]") == "Sign in"


def test_pages(pair, check):
    ann, ben = pair
    one, other = API(ann), API(ben)
    direct = one.create("direct", [other])
    group = one.create("group", [other], name=GROUP)
    other.say(group, "Καλημέρα", "Τι κάνεις;")
    reply = other.say(direct, "Καλά, εσύ;", replyTo=one.say(direct, "Τι κάνεις σήμερα;"))
    one.ask("PUT", f"/v1/conversations/{direct}/messages/{reply}/pin")
    one.ask("PUT", f"/v1/conversations/{direct}/messages/{reply}/reactions/%F0%9F%91%8D")
    one.ask("PATCH", f"/v1/conversations/{group}", {"disappearAfter": 86_400})
    other.ask("POST", "/v1/friends", {"clientID": str(uuid.uuid4()), "user": one.user})
    ann.go("chats")
    ann.find("#inbox .row")
    check(ann, "chats")
    open_chat(ann, direct)
    ann.find(f"#message-{reply}")
    check(ann, "thread")
    ann.click(f"#message-{reply} [data-action=message-menu]")
    check(ann, "message-menu")
    ann.press("\ue00c")
    open_chat(ann, group)
    ann.find("#messages [data-notice]")
    check(ann, "group")
    ann.click("[data-action=members]")
    ann.find("#members .row")
    check(ann, "details")
    ann.press("\ue00c")
    ann.go("people")
    ann.find(".friend-requests .row")
    check(ann, "people")
    ann.click(".friend-requests .who")
    check(ann, "person")
    ann.press("\ue00c")
    ann.go("settings")
    ann.find("#devices .row")
    check(ann, "settings", ann.email)
    # The help for the keyboard opens wherever nobody writes.
    ann.find("#setting-lastSeen").send_keys("?")
    assert not ann.all("#shortcuts")
    ann.driver.execute_script("document.activeElement.blur()")
    ann.press("?")
    ann.find("#shortcuts")
    check(ann, "shortcuts", ann.email)
    ann.press("\ue00c")
    ann.gone("#shortcuts")
    ann.go("diagnostics")
    ann.find("#verdict[aria-busy=false]", 60)
    check(ann, "connection-test")


def test_calls(pair, check):
    ann, ben = pair
    direct = API(ann).create("direct", [API(ben)])
    open_chat(ben, direct)
    ben.click(".thread-head [data-action=call-audio]")
    ann.rings()
    check(ann, "incoming")
    ann.answer("decline")
    ben.phase("ended")
    ben.leave_call_screen()
    open_chat(ann, direct)
    ann.click(".thread-head [data-action=call-video]")
    ann.find("#call")
    ben.rings()
    ann.phase("ringing")
    check(ann, "calling")
    ben.answer()
    ann.is_connected()
    ann.has_video()
    check(ann, "call")
    ann.control("details")
    ann.find("#details .stats")
    check(ann, "call-details")
    ann.click("[data-action=close-panel]")
    ben.hang_up()
    ann.phase("ended")
    check(ann, "call-ended")
    ann.leave_call_screen()
    ann.go("history")
    ann.find("#history .row")
    check(ann, "history")


def test_choosing_a_language(browsers, url):
    """It is kept, and what is being written stays. Pseudo-languages are offered to whoever has asked for one."""
    browsers[0].keep_one_tab()
    ann = Person(browsers[0], url, "Ann Abel").sign_up()
    notes = API(ann).create("self")
    offered = "return [...document.querySelectorAll('#setting-language option')].map((one) => one.value)"
    ann.go("settings")
    ann.find("#setting-language")
    assert ann.driver.execute_script(offered) == TRANSLATED
    ann.driver.get(f"{url}/?language=en")
    ann.driver.get(f"{url}/?language=en-XA#/c/{notes}")
    ann.find("#write").send_keys("half a thought")
    ann.go("settings")
    ann.find("#setting-language")
    assert ann.driver.execute_script(offered) == [*TRANSLATED, "en-XA", "ar-XB"]
    ann.click("#setting-language option[value=ar-XB]")
    language = "return [document.documentElement.lang, document.documentElement.dir, document.activeElement.id]"
    drawn = ["ar-XB", "rtl", "setting-language"]
    ann.browser.wait("the language", lambda: ann.driver.execute_script(language) == drawn)
    ann.driver.get(f"{url}/#/c/{notes}")
    ann.browser.wait("the draft", lambda: ann.draft() == "half a thought")
    assert ann.driver.execute_script(language)[:2] == ["ar-XB", "rtl"]
    parts = (".bar", ".chat-list", ".chat-main")
    bar, side, main = (ann.driver.execute_script(LEFT, one) for one in parts)
    assert bar > side > main
    ann.go("settings")
    ann.click("#setting-language option[value=en]")
    ann.says("h1", "Settings")
    assert ann.driver.execute_script(language)[:2] == ["en", "ltr"]
    ann.driver.refresh()
    ann.says("h1", "Settings")
    browsers[0].driver.get("about:blank")
