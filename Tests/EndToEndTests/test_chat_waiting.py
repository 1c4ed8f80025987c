"""Messages that wait for the server: they are written anew, and discarded."""

from selenium.webdriver.common.keys import Keys
from switchboard_tests.browsers.chats import API, open_chat, shows, texts, write
from switchboard_tests.browsers.offline import back, is_saved, outgoing_menu, waiting


def test_what_waits_is_written_anew_and_discarded(pair, proxy):
    """In its place in the queue, in another tab too, and over a reload; what was sent meanwhile is edited."""
    ann, ben, conversation = pair
    is_saved(ann, conversation)
    proxy.cut()
    for one in ("first", "secnd", "third"):
        write(ann, one)
    waiting(ann, "first", "secnd", "third")
    ann.find("#write").send_keys("a draft")
    outgoing_menu(ann, "secnd", "edit")
    assert ann.find("#write").get_attribute("value") == "secnd"
    write(ann, Keys.BACKSPACE * 2 + "ond")
    waiting(ann, "first", "second", "third")
    assert ann.find("#write").get_attribute("value") == "a draft"
    outgoing_menu(ann, "third", "discard")
    # The arrow up leads to the last that waits.
    ann.find("#write").send_keys(Keys.BACKSPACE * 7, Keys.ARROW_UP)
    ann.browser.wait("the text", lambda: ann.find("#write").get_attribute("value") == "second")
    ann.find("#write").send_keys(Keys.ESCAPE)
    _, first = ann.browser.new_tab(f"{ann.url}/#/c/{conversation}")
    waiting(ann, "first", "second")
    outgoing_menu(ann, "first", "edit")
    write(ann, "!")
    waiting(ann, "first!", "second")
    second = ann.driver.current_window_handle
    ann.browser.switch(first)
    waiting(ann, "first!", "second")
    # While it is edited here it is sent.
    outgoing_menu(ann, "second", "edit")
    back(ann, proxy)
    shows(ann, "Hello", "first!", "second")
    write(ann, "!")
    shows(ben, "Hello", "first!", "second!")
    shows(ann, "Hello", "first!", "second!")
    ann.browser.switch(second)
    shows(ann, "Hello", "first!", "second!")


def test_what_may_have_been_sent_is_not_written_anew(pair, proxy):
    """The server has it, and the page has not learnt of that."""
    ann, ben, _ = pair
    proxy.swallow()
    write(ann, "once")
    shows(ben, "Hello", "once")
    proxy.cut()
    ann.driver.refresh()
    waiting(ann, "once")
    outgoing_menu(ann, "once", "edit")
    ann.says(".toast.error", "It may have been sent already")
    back(ann, proxy)
    shows(ann, "Hello", "once")


def test_a_message_that_was_refused_is_written_anew(pair):
    ann, ben, _ = pair
    ben_api, ann_api = API(ben), API(ann)
    group = ann_api.create("group", [ben_api], name="Garden")
    ben_api.say(group, "hi")
    open_chat(ben, group)
    shows(ben, "hi")
    ann_api.ask("PATCH", f"/v1/conversations/{group}", {"settings": {"write": "admins"}})
    write(ben, "to all")
    ben.find("#messages [data-outgoing=failed]")
    ann_api.ask("PATCH", f"/v1/conversations/{group}", {"settings": {"write": "members"}})
    outgoing_menu(ben, "to all", "edit")
    write(ben, " of you")
    ben.browser.wait("the message", lambda: "to all of you" in texts(ben) and not ben.all("#messages [data-outgoing]"))
