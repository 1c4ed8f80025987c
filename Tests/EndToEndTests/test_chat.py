"""Two people who write to each other: the list of conversations, and the thread of one."""

import pytest
from selenium.webdriver.common.keys import Keys
from switchboard_tests.browsers.chats import (
    menu,
    open_first,
    react,
    row,
    shows,
    start,
    texts,
    write,
)
from switchboard_tests.browsers.pages import Person, together

MARKUP = "<img src=x onerror=\"document.title='no'\"> **bold** `code` https://x.example/a \u202edleif\u202c"


@pytest.fixture
def chat(people):
    """Ann has written to Ben, who has accepted; both see the thread."""
    ann, ben = people
    start(ann, ben)
    write(ann, "Hello Ben")
    shows(ann, "Hello Ben")
    ben.go("chats")
    row(ben, "Hello Ben")
    ben.click("#inbox [data-action=accept]")
    ben.gone("#inbox [data-action=accept]")
    open_first(ben)
    shows(ben, "Hello Ben")
    return people


def test_writing_editing_reacting_and_deleting(chat):
    ann, ben = chat
    write(ben, "Hello Ann")
    shows(ann, "Hello Ben", "Hello Ann")
    menu(ann, 2, "reply")
    ann.says("#composer .about", "Hello Ann")
    write(ann, "How are you")
    shows(ben, "Hello Ben", "Hello Ann", "How are you")
    ben.says("#message-3 .quote", "Hello Ann")

    # Up to what it was, the field has the text; Escape ends an edit without a change.
    menu(ann, 3, "edit")
    ann.find("#write").send_keys(Keys.ESCAPE)
    assert ann.draft() == ""
    menu(ann, 3, "edit")
    write(ann, "?")
    shows(ben, "Hello Ben", "Hello Ann", "How are you?")
    ben.says("#message-3 .edited", "edited")

    react(ben, 3, "👍")
    ann.says("#message-3 .reaction", "1")
    ann.click("#message-3 .reaction")
    ben.says("#message-3 .reaction", "2")
    ben.click("#message-3 .reaction[aria-pressed=true]")
    ann.says("#message-3 .reaction", "1")

    menu(ann, 1, "delete-all")
    ann.click("#ask [data-choice=delete]")
    shows(ben, "Message deleted", "Hello Ann", "How are you?")
    menu(ben, 3, "delete-me")
    shows(ben, "Message deleted", "Hello Ann")
    shows(ann, "Message deleted", "Hello Ann", "How are you?")
    ben.driver.refresh()
    shows(ben, "Message deleted", "Hello Ann")


def test_both_write_at_once(chat):
    """Everybody has the same messages in the same order, and each one's in the order in which they were written."""
    def write_some(person):
        for number in range(12):
            write(person, f"{person.name} {number}")

    together(chat, write_some)
    for person in chat:
        person.browser.wait(
            "all messages",
            lambda person=person: len(texts(person)) == 25 and not person.all("#messages [data-outgoing]"),
        )
    ann, ben = chat
    assert texts(ann) == texts(ben)
    for person in chat:
        own = [text for text in texts(ann) if text.startswith(person.name)]
        assert own == [f"{person.name} {number}" for number in range(12)]


def test_typing_unread_and_read(chat):
    ann, ben = chat
    ben.find("#write").send_keys("I am")
    ann.says("#typing", "Ben Brook is typing…")
    ben.find("#write").send_keys(Keys.BACKSPACE * 4)
    ann.browser.wait("nobody to type", lambda: ann.text("#typing") == "")
    ben.go("chats")
    write(ann, "one")
    write(ann, "two")
    row(ben, "two")
    ben.says("#inbox [data-count=unread]", "2")
    ben.says("[data-nav=chats] [data-count=chats]", "1")
    open_first(ben)
    ann.find("#message-3 [data-receipt=read]")
    ben.go("chats")
    ben.gone("#inbox [data-count=unread]")
    ben.gone("[data-count=chats]")


def test_markup_is_shown_as_text_and_emphasis_without_its_markers(chat):
    ann, ben = chat
    write(ann, MARKUP)
    shown = MARKUP.replace("\u202e", "U+202E").replace("\u202c", "U+202C").replace("**", "").replace("`", "")
    shows(ben, "Hello Ben", shown)
    assert ben.driver.title == "Switchboard"
    assert not ben.all("#messages img")
    assert ben.text("#messages code") == "code" and ben.text("#messages b") == "bold"
    assert ben.find("#messages .text a").get_attribute("href") == "https://x.example/a"
    ben.go("chats")
    row(ben, shown)
    assert not ben.all("#inbox .preview img")


def test_a_page_that_reloads_has_everything(chat):
    ann, ben = chat
    for number in range(4):
        write(ann, f"message {number}")
    want = ["Hello Ben", *[f"message {number}" for number in range(4)]]
    shows(ann, *want)
    ann.driver.refresh()
    shows(ann, *want)
    shows(ben, *want)


def test_a_page_that_loses_its_socket_has_everything(browsers, url, proxy):
    ann, ben = [Person(one, where, name) for one, where, name in
                zip(browsers, (proxy.url, url), ("Ann Abel", "Ben Brook"))]
    together([ann, ben], Person.sign_up)
    start(ann, ben)
    write(ann, "Hello Ben")
    ben.go("chats")
    ben.click("#inbox [data-action=accept]")
    ben.gone("#inbox [data-action=accept]")
    open_first(ben)
    shows(ann, "Hello Ben")

    proxy.cut()
    write(ann, "written without the server")
    ann.find("#messages [data-outgoing]")
    write(ben, "one")
    write(ben, "two")
    menu(ben, 2, "edit")
    write(ben, "!")
    shows(ben, "Hello Ben", "one!", "two")
    # It waits, and is sent when the server can be reached again.
    ann.says("#offline", "1 is waiting", 40)
    ann.find("#messages [data-outgoing=waiting]")
    proxy.restore()
    ann.is_online()
    want = ["Hello Ben", "one!", "two", "written without the server"]
    shows(ann, *want)
    shows(ben, *want)


def test_a_group(crowd, pictures):
    ann, ben, cem = crowd(3)
    ann.go("chats")
    ann.click("[data-action=new-chat]")
    ann.pick([ben, cem])
    ann.click("#picker [data-choice=start]")
    ann.find("#field-answer").send_keys("Trip", Keys.ENTER)
    ann.says(".thread-head h1", "Trip")
    write(ann, "Before you came")
    ben.go("chats")
    row(ben, "Trip")
    cem.go("chats")
    row(cem, "Trip")
    cem.click("#inbox [data-action=decline]")
    cem.gone("#inbox .row")
    ben.click("#inbox .row a")
    ben.click(".thread-notice [data-action=accept]")
    ben.find("#write")
    # Their part begins when they accept.
    shows(ben)
    write(ann, "Welcome")
    shows(ben, "Welcome")
    # What happened stands between.
    ann.says("#message-2", "Ben Brook joined by invitation.")
    ben.says("#message-2", "You joined by invitation.")
    ann.click("[data-action=members]")
    ann.says("#members .row", "Ben Brook")
    ann.click("#members [data-action=rename]")
    field = ann.find("#field-answer")
    field.clear()
    field.send_keys("Long trip", Keys.ENTER)
    ben.says(".thread-head h1", "Long trip")
    ben.says("#message-4", "Ann Abel named the group Long trip.")
    pictures(ben.browser, "notices")
    ben.click("[data-action=members]")
    ben.click("#members [data-action=leave]")
    ben.click("#ask [data-choice=leave]")
    ben.find("main[data-page=chats]")
    ann.says("#message-5", "Ben Brook left.")
    open_first(ben)
    ben.says(".thread-notice", "You are not in this conversation any more.")
    shows(ben, "Welcome")


def test_the_call_button_calls_the_other_one(chat):
    ann, ben = chat
    ann.click(".thread-head [data-action=call-audio]")
    ben.rings()
    ben.answer("decline")
    ann.phase("ended")
    ann.leave_call_screen()
