"""What waits for the server: messages are written anew, and discarded; conversations are cleared, deleted and left, and
friends made, once it is there again."""

import uuid

from selenium.webdriver.common.keys import Keys
from switchboard_tests.browsers.chats import API, open_chat, row_menu, shows, texts, write
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
    assert ann.draft() == "secnd"
    write(ann, Keys.BACKSPACE * 2 + "ond")
    waiting(ann, "first", "second", "third")
    ann.browser.wait("the draft of before", lambda: ann.draft() == "a draft")
    outgoing_menu(ann, "third", "discard")
    # The arrow up leads to the last that waits.
    ann.find("#write").send_keys(Keys.BACKSPACE * 7, Keys.ARROW_UP)
    ann.browser.wait("the text", lambda: ann.draft() == "second")
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
    ann, ben, conversation = pair
    is_saved(ann, conversation)
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


def test_what_is_typed_while_a_message_is_scheduled_stays(pair, proxy):
    ann, *_ = pair
    ann.find("#write").send_keys("good morning")
    ann.click("[data-action=send-later]")
    ann.find("#send-time [data-later]")
    # The server takes it, and the page does not learn of that at once.
    proxy.pause()
    ann.click("#send-time [data-later]")
    ann.gone("#send-time")
    ann.find("#write").send_keys(", all")
    proxy.resume()
    ann.says("#toasts", "It is sent")
    assert ann.draft() == "good morning, all"
    ann.says("[data-action=scheduled]", "1 message is sent later")


def test_a_message_that_was_refused_is_written_anew(pair):
    ann, ben, _ = pair
    ben_api, ann_api = API(ben), API(ann)
    group = ann_api.create("group", [ben_api], name="Garden")
    ben_api.say(group, "hi")
    open_chat(ben, group)
    shows(ben, "hi")
    ann_api.ask("PATCH", f"/v1/conversations/{group}", {"settings": {"write": "admins"}})
    write(ben, "to all")
    write(ben, "to nobody else")
    ben.browser.wait("both to fail", lambda: len(ben.all("#messages [data-outgoing=failed]")) == 2)
    ann_api.ask("PATCH", f"/v1/conversations/{group}", {"settings": {"write": "members"}})
    outgoing_menu(ben, "to all", "edit")
    write(ben, " of you")
    ben.browser.wait("it to be sent", lambda: "to all of you" in texts(ben) and len(ben.all("[data-outgoing]")) == 1)
    # The other one is sent as it is.
    ben.click("#messages [data-outgoing=failed] [data-action=retry]")
    ben.browser.wait("the message", lambda: "to nobody else" in texts(ben) and not ben.all("#messages [data-outgoing]"))
    shows(ben, "hi", "to all of you", "to nobody else")


def test_conversations_are_cleared_deleted_and_left_later(pair, proxy):
    """What came meanwhile is not removed, and what was written in a group is sent before it is left."""
    ann, ben, conversation = pair
    own, other = API(ann), API(ben)
    group = own.create("group", [other], name="Garden")
    other.say(group, "Who has the spade?")
    notes = own.create("self")
    own.say(notes, "to be deleted")
    open_chat(ben, group)
    shows(ben, "Who has the spade?")
    for one, text in ((notes, "to be deleted"), (group, "Who has the spade?")):
        open_chat(ann, one)
        shows(ann, text)
        is_saved(ann, one)
    proxy.cut()
    write(ann, "It is in the shed.")
    waiting(ann, "It is in the shed.")
    row_menu(ann, group, "leave")
    ann.click("#ask [data-choice=leave]")
    # One may think better of it.
    ann.click(".thread-notice [data-action=stay]")
    ann.find("#composer:not([hidden])")
    row_menu(ann, group, "leave")
    ann.click("#ask [data-choice=leave]")
    row_menu(ann, notes, "delete")
    ann.click("#ask [data-choice=delete]")
    row_menu(ann, conversation, "clear")
    ann.click("#ask [data-choice=clear]")
    other.say(conversation, "later")

    def changed():
        ann.says(".thread-notice", "You leave this group as soon as the server can be reached")
        waiting(ann, "It is in the shed.")
        ann.gone(f"#row-{notes}")
        ann.says(f"#row-{conversation}", "No messages yet")

    changed()
    ann.driver.refresh()
    changed()
    back(ann, proxy)
    shows(ben, "Who has the spade?", "It is in the shed.")
    ben.says("#messages", "Ann Abel left.")
    ann.says(".thread-notice", "You are not in this conversation any more.")
    shows(ann, "Who has the spade?", "It is in the shed.")
    open_chat(ann, conversation)
    shows(ann, "later")
    ann.gone(f"#row-{notes}")
    assert notes not in {one["id"] for one in own.ask("GET", "/v1/inbox")["conversations"]}


def test_friends_are_made_and_people_blocked_later(pair, proxy):
    ann, ben, conversation = pair
    own, other, third = API(ann), API(ben), API.of_new_user(ben.url, "Cem Can")
    third.ask("POST", "/v1/friends", {"clientID": str(uuid.uuid4()), "user": own.user})
    ann.go("people")
    ann.says(".friend-requests .row", "Cem Can")
    ann.search_for(ben)
    proxy.cut()
    ann.click("[data-action=accept-friend]")
    ann.says(".friends .row", "Cem Can")
    ann.click("#people [data-action=person]")
    ann.click("#person [data-action=ask-friend]")
    ann.find("#field-answer").send_keys("We met in Rome")
    ann.click("#ask [data-choice=save]")
    ann.find("#person [data-action=cancel-friend]")
    ann.driver.execute_script("document.getElementById('person').close()")
    back(ann, proxy)
    states = {third.user: "friend", other.user: "requested"}
    ann.browser.wait("both friends", lambda: states == {
        one["user"]["id"]: one["state"] for one in own.ask("GET", "/v1/friends")["friends"]})
    ben.go("people")
    ben.says(".friend-requests .row", "Ann Abel")
    open_chat(ann, conversation)
    proxy.cut()
    ann.click("[data-action=members]")
    ann.click("#members [data-action=block]")
    ann.click("#ask [data-choice=block]")
    ann.says(".thread-notice", "You have blocked this person.")
    ann.driver.refresh()
    ann.says(".thread-notice", "You have blocked this person.")
    back(ann, proxy)
    ann.browser.wait("the block", lambda: [one["id"] for one in own.ask("GET", "/v1/blocks")["users"]] == [other.user])
    ann.click(".thread-notice [data-action=unblock]")
    ann.gone(".thread-notice [data-action=unblock]")
    ann.browser.wait("its end", lambda: own.ask("GET", "/v1/blocks")["users"] == [])
