"""Several messages of a thread are chosen, and something is done with all of them."""

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from switchboard_tests.browsers.chats import API, accessible, menu, open_chat, shows, texts
from switchboard_tests.browsers.offline import back, is_saved


def press(person, number, *, shift=False):
    chain = ActionChains(person.driver)
    node = person.find(f"#message-{number} .bubble")
    (chain.key_down(Keys.SHIFT).click(node).key_up(Keys.SHIFT) if shift else chain.click(node)).perform()


def counts(person, count):
    person.browser.wait(f"{count} to be selected", lambda: person.text(".selection-count") == f"{count} selected")
    assert len(person.all("#messages [role=checkbox][aria-checked=true]")) == count


def ended(person):
    person.gone(".selection-bar")
    person.find("#write")
    assert not person.all("#messages [role=checkbox]")


@pytest.fixture
def group(group, apis):
    """With ten texts: numbers 2 to 11."""
    ann, ben = apis
    for index in range(5):
        ann.say(group, f"ann {index}")
        ben.say(group, f"ben {index}")
    return group


def test_choosing_with_mouse_and_keys_and_ending(chatters, apis, group):
    ann, _ = chatters
    first, last = 2, 11
    open_chat(ann, group)
    ann.find(f"#message-{last}")
    menu(ann, first, "select")
    counts(ann, 1)
    assert ann.driver.switch_to.active_element.get_attribute("role") == "checkbox"
    press(ann, 5)
    press(ann, 8, shift=True)
    counts(ann, 5)
    press(ann, 6)
    counts(ann, 4)
    accessible(ann, "a thread with messages that are chosen")
    # From the box that has the focus: down, and with the space bar.
    ann.press(Keys.ARROW_DOWN)
    ann.press(Keys.SPACE)
    counts(ann, 3)
    ann.press(Keys.ESCAPE)
    ended(ann)
    assert ann.driver.switch_to.active_element.get_attribute("id") == "message-7"
    # A call that rings over it leaves it as it is.
    menu(ann, first, "select")
    with apis[1].calling(apis[0]):
        ann.rings()
    ann.gone("#incoming")
    counts(ann, 1)
    ann.press(Keys.ESCAPE)
    ended(ann)
    # Back ends it, and the page stays; the next Back leaves the page.
    menu(ann, first, "select")
    counts(ann, 1)
    ann.driver.back()
    ended(ann)
    assert f"#/c/{group}" in ann.driver.current_url
    menu(ann, first, "select")
    ann.click("[data-action=stop-selecting]")
    ended(ann)
    # Going elsewhere ends it too, and the entry of the history is skipped.
    menu(ann, first, "select")
    counts(ann, 1)
    ann.driver.execute_script("location.hash = '#/settings'")
    ann.find("main[data-page=settings]")
    ann.driver.back()
    ann.find("#write")
    assert not ann.all("#messages [role=checkbox]")


def test_copying_starring_and_what_leaves_meanwhile(chatters, apis, group):
    ann, _ = chatters
    _, ben = apis
    open_chat(ann, group)
    ann.find("#message-11")
    menu(ann, 2, "select")
    press(ann, 7, shift=True)
    counts(ann, 6)
    # Two of Ben's are not what they were any more.
    path = f"/v1/conversations/{group}/messages"
    ben.ask("DELETE", f"{path}/3?for=all")
    counts(ann, 5)
    version = ben.ask("GET", f"{path}/5")["message"]["textVersion"]
    ben.ask("PATCH", f"{path}/5", {"text": "another", "textVersion": version})
    counts(ann, 4)
    allowed = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    ann.driver.execute_cdp_cmd("Browser.grantPermissions", allowed)
    ann.click("[data-action=copy-selected]")
    ended(ann)
    copied = ann.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])").split("\n")
    ann.driver.execute_cdp_cmd("Browser.resetPermissions", {})
    assert [line.rsplit(": ", 1)[1] for line in copied] == ["ann 0", "ann 1", "ann 2", "ben 2"]
    assert [line.split(",")[0] for line in copied] == ["Ann Abel"] * 3 + ["Ben Brook"]
    menu(ann, 2, "select")
    press(ann, 4)
    ann.click("[data-action=star-selected]")
    ended(ann)
    ann.find("#message-4 .starred")
    menu(ann, 2, "select")
    press(ann, 4)
    ann.click("[data-action=unstar-selected]")
    ended(ann)
    ann.gone("#messages .starred")


def test_deleting_asks_once(chatters, apis, group):
    """Ann owns the group and may delete everything for all; Ben may delete his own."""
    ann, ben = chatters
    for one in (ann, ben):
        open_chat(one, group)
        one.find("#message-11")
    menu(ben, 3, "select")
    press(ben, 4)
    ben.click("[data-action=delete-selected]")
    ben.says("#ask", "Delete 2 messages?")
    assert not ben.all("#ask [data-choice=all]")
    ben.click("#ask [data-choice=me]")
    ended(ben)
    ben.gone("#message-3")
    ben.gone("#message-4")
    menu(ann, 3, "select")
    press(ann, 4)
    press(ann, 5)
    ann.click("[data-action=delete-selected]")
    # One leaves while she is asked.
    ann.find("#ask [data-choice=all]")
    apis[1].ask("DELETE", f"/v1/conversations/{group}/messages/5?for=all")
    counts(ann, 2)
    ann.click("#ask [data-choice=all]")
    ended(ann)
    ben.says("#message-5", "Message deleted")
    want = ["Message deleted" if number in (3, 4, 5) else None for number in range(2, 12)]
    ann.browser.wait("three to be deleted", lambda: [
        one if one == "Message deleted" else None for one in texts(ann)] == want)  # fmt: skip


def test_forwarding_in_order_without_a_server(pair, proxy):
    """Exactly once, in the order of the conversation and not of the choice, also over a reload."""
    ann, ben, conversation = pair
    first, other = API(ann), API(ben)
    group = first.create("group", [other], name="Forwarded")
    first.say(conversation, *(f"message {number}" for number in range(12)))
    shows(ann, "Hello", *(f"message {number}" for number in range(12)))
    ann.browser.wait("the group", lambda: ann.all(f"#row-{group}"))
    is_saved(ann, conversation)
    proxy.cut()
    menu(ann, 12, "select")
    press(ann, 3, shift=True)
    counts(ann, 10)
    ann.click("[data-action=forward-selected]")
    ann.click(f"#conversation-picker [data-conversation='{group}'] input")
    ann.click("#conversation-picker [data-choice=done]")
    ended(ann)
    # They are on the disk then.
    ann.says("#offline", "10 are waiting.")
    ann.driver.refresh()
    ann.says("#offline", "10 are waiting.")
    back(ann, proxy)
    ann.gone("#offline")
    open_chat(ann, group)
    shows(ann, *(f"message {number}" for number in range(1, 11)))
    open_chat(ben, group)
    shows(ben, *(f"message {number}" for number in range(1, 11)))
