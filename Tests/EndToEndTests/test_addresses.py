"""What is shown at an address: of a page, a conversation, a message, a thread, a person, a link or a setting, also
where there is none, or none that one may see; before signing in and after it."""

import uuid

import pytest
from switchboard_tests.browsers.chats import API, accessible, open_chat, shows
from switchboard_tests.browsers.pages import PASSWORD, Person

NOTHING = "There is nothing at this address"


def go_to(person, address):
    person.driver.execute_script("location.hash = arguments[0]", address)


def leads_nowhere(person, address):
    go_to(person, "#/history")
    person.find("main[data-page=history]")
    go_to(person, address)
    person.says(".nothing-here", NOTHING)
    person.find(".nothing-here a[href='#/chats']")
    person.find(".nothing-here a[href='#/people']")


def focuses(person, id):
    script = "return document.activeElement.id"
    person.browser.wait(f"{id} to have the focus", lambda: person.driver.execute_script(script) == id)


@pytest.fixture
def strange(url):
    """A conversation and a person whom nobody else sees."""
    cem = API.of_new_user(url, "Cem Can")
    return cem, cem.create("self")


def test_addresses_of_nothing(chatters, strange):
    ann, _ = chatters
    cem, notes = strange
    cem.say(notes, "mine")
    invisible = [f"#/c/{notes}", f"#/c/{notes}/1", f"#/c/{uuid.uuid4()}/1/thread", f"#/people/{uuid.uuid4()}"]
    invalid = ["#/nowhere", "#/constructor", "#/settings/nowhere", "#/chats/1", "#/c", "#/c/12", "#/people/ben"]
    for address in [*invisible, *invalid]:
        leads_nowhere(ann, address)
    accessible(ann, "nothing")
    ann.click(".nothing-here a[href='#/chats']")
    ann.find("main[data-page=chats]")
    go_to(ann, "#/l/nothing")
    ann.says(".link-card", "This link does not work")
    ann.find(".link-card a[href='#/people']")


def test_addresses_of_something(chatters, apis):
    ann, ben = chatters
    own, other = apis
    group = own.create("group", [other], name="Addresses")
    root = own.say(group, "the root")
    other.say(group, "the reply", thread=root)
    open_chat(ann, group, root)
    focuses(ann, f"message-{root}")
    # In a conversation that is open, and in one that is not.
    for start in (f"#/c/{group}", "#/history"):
        go_to(ann, start)
        go_to(ann, f"#/c/{group}/{root}/thread")
        ann.says("#replies", "the reply")
        ann.click("#replies [data-action=close]")
        go_to(ann, start)
        go_to(ann, f"#/c/{group}/{root + 1000}")
        ann.says("#toasts", "That message is not there any more.")
        ann.find("#write")
        ann.driver.execute_script("document.getElementById('toasts').replaceChildren()")
    go_to(ann, f"#/people/{other.user}")
    ann.says("#person h2", ben.name)
    go_to(ann, "#/settings/privacy")
    focuses(ann, "section-privacy")
    # Going to the content is no address.
    ann.driver.execute_script("document.querySelector('.skip').click()")
    focuses(ann, "main")
    assert ann.driver.current_url.endswith("#/settings/privacy")


def test_paths_without_a_page(chatters, apis, pictures):
    """A path is taken for the address that it may mean, with the number sign left out."""
    ann, _ = chatters
    own, _ = apis
    notes = own.create("self")
    number = own.say(notes, "one", "two")
    ann.driver.get(f"{ann.url}/c/{notes}/{number}")
    shows(ann, "one", "two")
    focuses(ann, f"message-{number}")
    assert ann.driver.current_url == f"{ann.url}/#/c/{notes}/{number}"
    ann.driver.get(f"{ann.url}/settings")
    ann.find("main[data-page=settings]")
    nothing = ["nonsense", "c/unknown-id", f"c/{notes}/nonsense", "u/unknown", "admin", "c/%3Cb%3E"]
    for path in [*nothing, f"people/{uuid.uuid4()}"]:
        ann.driver.get(f"{ann.url}/{path}")
        ann.says(".nothing-here", NOTHING)
        ann.click(".nothing-here a[href='#/chats']")
        ann.find("main[data-page=chats]")
    ann.driver.get(f"{ann.url}/nonsense")
    ann.find(".nothing-here")
    pictures(ann.browser, "nothing")
    # One step back leads to where one was before.
    ann.driver.back()
    ann.find("main[data-page=chats]")


def test_an_address_from_before_signing_in_is_shown_after_it(people):
    ann, ben = people
    own, other = API(ann), API(ben)
    conversation = own.create("direct", [other])
    number = own.say(conversation, "one", "two")
    ann.go("settings")
    ann.click("[data-action=sign-out]")
    ann.find("#sign-in-form")
    ann.driver.get("about:blank")
    ann.driver.get(f"{ann.url}/#/c/{conversation}/{number}")
    ann.sign_in()
    shows(ann, "Hello", "one", "two")
    focuses(ann, f"message-{number}")


def test_a_sign_in_that_expires_without_being_kept_keeps_the_address_for_the_same_user(people):
    ann, ben = people
    own, other = API(ann), API(ben)
    conversation = own.create("direct", [other])
    number = own.say(conversation, "one", "two")
    ann.go("settings")
    ann.click("[data-action=sign-out]")
    ann.find("#sign-in-form")
    ann.click("#keep")
    ann.sign_in()
    ann.is_online()

    def expire():
        ann.driver.execute_script("globalThis.switchboard.credentials.end({ isExpired: true })")
        ann.find("#sign-in-form")
        ann.click("#keep")

    open_chat(ann, conversation, number)
    shows(ann, "Hello", "one", "two")
    expire()
    ann.sign_in()
    shows(ann, "Hello", "one", "two")
    focuses(ann, f"message-{number}")
    # It is not for somebody else.
    expire()
    after_ann = Person(ann.browser, ann.url, ben.name)
    after_ann.email = ben.email
    after_ann.sign_in()
    after_ann.is_in()
    assert after_ann.driver.execute_script("return location.hash") == ""


@pytest.mark.parametrize("kind", ["link", "conversation"])
def test_an_address_that_is_followed_before_there_is_an_account(browsers, url, strange, kind):
    """Through signing up one is there: a link leads into its group, and a conversation of others is nothing."""
    cem, _ = strange
    group = cem.create("group", [API.of_new_user(url, "Eve East")], name="By a link")
    token = cem.ask("POST", f"/v1/conversations/{group}/links", {})["token"]
    address = f"#/l/{token}" if kind == "link" else f"#/c/{group}"
    browser = browsers[0]
    browser.keep_one_tab()
    browser.open(url)
    browser.driver.get("about:blank")
    browser.driver.get(f"{url}/{address}")
    dan = Person(browser, url, "Dan Dorn")
    dan.click("#to-sign-up")
    dan.fill(displayName=dan.name, email=dan.email, password=PASSWORD)
    dan.click("#sign-up-form [type=submit]")
    if kind == "link":
        dan.says(".link-card h1", "By a link")
        assert dan.driver.execute_script("return location.hash") == address
        dan.click(".link-card [data-action=join-group]")
        dan.find("#write")
        dan.says(".thread-head h1", "By a link")
    else:
        dan.says(".nothing-here", NOTHING)
        assert dan.driver.execute_script("return location.hash") == address


def test_paths_without_a_page_before_signing_in(browsers, url, pictures):
    browser = browsers[0]
    browser.keep_one_tab()
    browser.open(url)
    browser.driver.get(f"{url}/nonsense")
    dan = Person(browser, url, "Dan Dorn")
    dan.says(".nowhere", "There is nothing at the address")
    accessible(dan, "nowhere")
    pictures(browser, "nowhere")
    dan.click("#to-sign-up")
    dan.says(".nowhere", "There is nothing at the address")
    # Who comes in is not greeted with it once more.
    dan.fill(displayName=dan.name, email=dan.email, password=PASSWORD)
    dan.click("#sign-up-form [type=submit]")
    dan.find("main[data-page=people]")
    assert dan.driver.current_url.split("#")[0] == f"{url}/"
    browser.driver.get(f"{url}/nonsense")
    dan.says(".nothing-here", NOTHING)
