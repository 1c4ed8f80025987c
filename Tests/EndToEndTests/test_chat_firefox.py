"""A conversation of a Firefox and two Chromiums; emoji and other languages in Firefox."""

import pathlib

import pytest
from selenium.webdriver.common.keys import Keys
from switchboard_tests.browsers.chats import API, menu, open_chat, react, shows, write
from switchboard_tests.browsers.firefox import firefox
from switchboard_tests.browsers.offline import back, waiting
from switchboard_tests.browsers.pages import Person

FIREFOX = pathlib.Path("/usr/bin/firefox-esr")


def test_writing_replying_reacting_and_being_away(people, proxy, tmp_path):
    if not FIREFOX.exists():
        pytest.skip("firefox-esr is not installed")
    ann, ben = people
    with firefox(tmp_path) as browser:
        fay = Person(browser, proxy.url, "Fay Fox").sign_up()
        everybody = (ann, ben, fay)
        own, *others = [API(one) for one in everybody]
        group = own.create("group", others, name="Three of us")
        first = own.say(group, "Hello")
        for person in everybody:
            open_chat(person, group)
            shows(person, "Hello")
        fay.find("#write").send_keys("Good mor")
        ann.says("#typing", "Fay Fox")
        write(fay, "ning")
        for person in everybody:
            shows(person, "Hello", "Good morning")
        fay.find(f"#message-{first + 1} [data-receipt=read]")
        menu(ann, first + 1, "reply")
        write(ann, "To you as well")
        fay.says(f"#message-{first + 2} .quote", "Good morning")
        react(fay, first + 2, "👍")
        ann.says(f"#message-{first + 2} .reaction", "👍")
        react(ben, first + 2, "👍")
        fay.says(f"#message-{first + 2} .reaction", "2")
        ann.find(f"#message-{first + 2} [data-receipt=read]")
        proxy.cut()
        write(fay, "written on the train")
        waiting(fay, "written on the train")
        write(ben, "meanwhile")
        shows(ann, "Hello", "Good morning", "To you as well", "meanwhile")
        back(fay, proxy)
        for person in everybody:
            shows(person, "Hello", "Good morning", "To you as well", "meanwhile", "written on the train")


def press(person, key):
    """Where the focus is: this driver has no actions."""
    person.find(":focus").send_keys(key)


def test_emoji_and_another_language(url, tmp_path):
    if not FIREFOX.exists():
        pytest.skip("firefox-esr is not installed")
    with firefox(tmp_path) as browser:
        fay = Person(browser, url, "Fay Fox").sign_up()
        own = API(fay)
        notes = own.create("self")
        number = own.say(notes, "Snow")
        open_chat(fay, notes)
        field = fay.find("#write")
        field.send_keys("so :rocke")
        fay.says(".completions [aria-selected=true]", "rocket")
        press(fay, Keys.ENTER)
        field.send_keys(" :tada:")
        browser.wait("the emoji", lambda: fay.draft() == "so 🚀 🎉")
        # The picker: the keys that lead through it, from what was used last, and its search.
        fay.click("#composer [data-action=emoji]")
        fay.find("#emoji-grid .emoji")
        press(fay, Keys.ARROW_DOWN)
        press(fay, Keys.ARROW_RIGHT)
        press(fay, Keys.ENTER)
        browser.wait("the emoji", lambda: fay.draft() == "so 🚀 🎉🚀")
        menu(fay, number, "other-emoji")
        fay.find("#emoji-grid .emoji")
        press(fay, "snowman")
        fay.says("#emoji-picker [role=status]", "emoji")
        press(fay, Keys.ENTER)
        fay.find(f"#message-{number} .reaction[data-emoji='☃️']")
        for tag, direction, query, name in (("es", "ltr", ":cohe", "cohete"), ("ar", "rtl", ":صارو", "صاروخ")):
            fay.go("settings")
            fay.click(f"#setting-language option[value={tag}]")
            fay.find(f"html[lang={tag}][dir={direction}]")
            open_chat(fay, notes)
            field = fay.find("#write")
            field.clear()
            field.send_keys(query)
            fay.says(".completions [aria-selected=true]", name)
            field.send_keys(Keys.ESCAPE)
            field.clear()
            field.send_keys(":rocke")
            fay.says(".completions [aria-selected=true]", name)
