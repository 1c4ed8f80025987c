"""A conversation of a Firefox and two Chromiums."""

import pathlib

import pytest
from switchboard_tests.browsers.chats import API, menu, open_chat, react, shows, write
from switchboard_tests.browsers.firefox import firefox
from switchboard_tests.browsers.offline import back, waiting
from switchboard_tests.browsers.pages import Person


def test_writing_replying_reacting_and_being_away(people, proxy, tmp_path):
    if not pathlib.Path("/usr/bin/firefox-esr").exists():
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
