"""Friends, links, groups with their roles and rights, blocks and reports, and what an operator has disabled."""

import uuid

import numpy as np
import pytest
import zxingcpp
from switchboard_tests.browsers.chats import API, menu, open_chat, row, shows
from switchboard_tests.browsers.pages import PASSWORD, SIGN_UP, Person
from switchboard_tests.browsers.server import Server


def follow(person, address):
    person.driver.execute_script("location.hash = arguments[0]", address[address.index("#"):])


def test_becoming_friends(chatters):
    ann, ben = chatters
    ann.search_for(ben)
    ann.click("#people [data-action=person]")
    ann.click("#person [data-action=ask-friend]")
    ann.find("#field-answer").send_keys("We met in Rome")
    ann.click("#ask [data-choice=save]")
    ann.find("#person [data-action=cancel-friend]")
    ann.driver.execute_script("document.getElementById('person').close()")
    ben.go("people")
    ben.says(".friend-requests .row", "We met in Rome")
    ben.click("[data-action=accept-friend]")
    ben.says(".friends .row", "Ann Abel")
    field = ann.find("#search")
    field.clear()
    field.send_keys(" ")
    ann.says(".friends .row", "Ben Brook")
    ann.click(".friends [data-action=person]")
    ann.click("#person [data-action=end-friend]")
    ben.gone(".friends .row")
    ann.find("#person [data-action=ask-friend]")
    # A dialog does not stay over another page.
    ann.go("chats")
    ann.gone("#person")


def test_a_contact_link_leads_to_its_owner(chatters):
    ann, ben = chatters
    ann.go("people")
    ann.click("[data-action=make-contact-link]")
    address = ann.find("#link-address").get_attribute("value")
    ann.click("#made-link [data-action=close]")
    follow(ben, address)
    ben.says(".link-card h1", "Ann Abel")
    ben.click(".link-card [data-action=write]")
    ben.says(".thread-head h1", "Ann Abel")
    ann.click("[data-action=remove-contact-link]")
    ann.click("#ask [data-choice]")
    ann.says(".toast", "does not work any more")
    follow(ben, address)
    ben.says(".link-card", "This link does not work")


def test_a_group_with_links_roles_and_rights(chatters, apis):
    ann, ben = chatters
    group = apis[0].create("group", name="Choir")
    open_chat(ann, group)
    ann.click("[data-action=members]")
    ann.click("#members [data-action=make-link]")
    ann.find("#link-ends").send_keys("1 day")
    ann.find("#link-uses").send_keys("1 person")
    ann.click("#new-link [data-choice=make]")
    address = ann.find("#link-address").get_attribute("value")
    ann.click("#made-link [data-action=close]")
    ann.says("#members [data-link]", "0 of 1 joined")
    follow(ben, address)
    ben.says(".link-card", "Choir")
    ben.click("[data-action=join-group]")
    ben.find("#write")
    ann.says("#members .row", "Ben Brook")

    # Who may write.
    ann.find("#right-write").send_keys("Administrators")
    path = f"/v1/conversations/{group}"
    ann.browser.wait("the right", lambda: apis[0].ask("GET", path)["conversation"]["settings"]["write"] == "admins")
    # An administrator, then the owner.
    ann.click(f"#members [data-user='{apis[1].user}'] [data-action=member-menu]")
    ann.click("#member-menu [data-action=make-admin]")
    ann.find(f"#members [data-user='{apis[1].user}'][data-role=admin]")
    ann.click(f"#members [data-user='{apis[1].user}'] [data-action=member-menu]")
    ann.click("#member-menu [data-action=hand-over]")
    ann.click("#ask [data-choice]")
    ann.find(f"#members [data-user='{apis[1].user}'][data-role=owner]")
    ben.says("#messages", "You own the group now.")
    # The new owner removes her.
    ben.click("[data-action=members]")
    ben.click(f"#members [data-user='{apis[0].user}'] [data-action=member-menu]")
    ben.click("#member-menu [data-action=remove-member]")
    ben.click("#ask [data-choice]")
    ann.says(".thread-notice", "You are not in this conversation any more.")
    ben.click("#members [data-action=close]")
    ben.says("#messages", "removed")


def test_a_request_is_blocked_and_somebody_reported(chatters, apis):
    """Ben writes, who has found Ann by her link."""
    ann, _ = chatters
    body = {"clientID": str(uuid.uuid4()), "kind": "direct", "members": [apis[0].user]}
    conversation = apis[1].ask("POST", "/v1/conversations", body)["conversation"]["id"]
    number = apis[1].say(conversation, "buy this")
    ann.go("chats")
    row(ann, "buy this")
    open_chat(ann, conversation, number)
    shows(ann, "buy this")
    ann.click(f"#message-{number} [data-action=message-menu]")
    ann.click("#message-menu [data-action=report]")
    ann.find("#report-text").send_keys("They sell things")
    ann.click("#report [data-choice=report]")
    ann.says(".toast", "Reported.")
    ann.click(".thread-notice [data-action=block-request]")
    ann.click("#ask [data-choice=block]")
    ann.says(".toast", "Ben Brook is blocked.")
    ann.go("settings")
    ann.says("#blocked .row", "Ben Brook")
    ann.click("#blocked [data-action=unblock]")
    ann.gone("#blocked .row")


# Which of these selectors have something that is shown.
CODE = """
const path = document.querySelector(".qr-code path").getAttribute("d");
return [...path.matchAll(/M(\\d+) (\\d+)/g)].map(([, x, y]) => [Number(x), Number(y)]);
"""


def test_who_has_deleted_their_account_is_written_to_no_more(chatters, apis):
    """While the chat is open, and when it is opened later."""
    ann, _ = chatters
    cem = API.of_new_user(ann.url, "Cem Can")
    conversation = apis[0].create("direct", [cem])
    cem.say(conversation, "my last words")
    open_chat(ann, conversation)
    ann.find("#composer")
    cem.ask("POST", "/v1/me/delete", {"password": PASSWORD})
    ann.says(".thread-notice", "This account was deleted")
    ann.gone("#composer")
    ann.driver.refresh()
    ann.says(".thread-notice", "This account was deleted")
    ann.find(".thread[data-state=loaded]")
    ann.gone("#composer")


def test_a_camera_reads_the_code_of_a_contact_link(chatters):
    ann, _ = chatters
    ann.go("people")
    ann.click("[data-action=make-contact-link]")
    address = ann.find("#link-address").get_attribute("value")
    dark = ann.driver.execute_script(CODE)
    size = max(max(one) for one in dark) + 5
    picture = np.full((size, size), 255, dtype=np.uint8)
    for x, y in dark:
        picture[y, x] = 0
    found = zxingcpp.read_barcodes(np.kron(picture, np.ones((4, 4), dtype=np.uint8)))
    assert [one.text for one in found] == [address]
    ann.click("#made-link [data-action=close]")


def test_starred_messages_of_all_conversations_are_listed(chatters, apis):
    ann, _ = chatters
    first = apis[0].create("group", [apis[1]], name="First")
    notes = apis[0].create("self")
    plan = apis[1].say(first, "the plan")
    note = apis[0].say(notes, "remember this")
    for conversation, number in ((first, plan), (notes, note)):
        apis[0].ask("PUT", f"/v1/conversations/{conversation}/messages/{number}/star")
    ann.go("chats")
    ann.click("[data-action=starred]")
    ann.says("#starred", "remember this")
    texts = [one.text for one in ann.all("#starred .row")]
    assert "remember this" in texts[0] and "the plan" in texts[1] and "First" in texts[1]
    ann.click("#starred .row:first-child [data-action=unstar]")
    ann.browser.wait("one", lambda: len(ann.all("#starred .row")) == 1)
    ann.click("#starred .row a")
    ann.says(f"#message-{plan}", "the plan")
    menu(ann, plan, "star")
    ann.go("starred")
    ann.says(".empty", "You have not starred")


SHOWN = """
const shown = (selector) => [...document.querySelectorAll(selector)].some((one) => one.checkVisibility());
return arguments[0].filter(shown);
"""
DISABLED = """features:
  friends: false
  userSearch: false
  messageSearch: false
  groups: false
  inviteLinks: false
"""


@pytest.fixture
def bare(request, tmp_path):
    """A server whose operator has disabled what can be disabled."""
    one = Server(request.config.getoption("--binary"), tmp_path)
    one.config.write_text(one.config.read_text() + DISABLED)
    one.start()
    yield one
    one.stop()


def test_controls_of_disabled_features_are_hidden(chatters, browsers, bare):
    ann = Person(browsers[0], bare.url, "Ann Abel")
    controls = ["[data-action=make-contact-link]", "form.search", "[data-action=group-call]"]
    chatters[0].go("people")
    assert chatters[0].driver.execute_script(SHOWN, controls) == controls
    ann.browser.open(bare.url)
    ann.find("#sign-in-form")
    form = {"displayName": ann.name, "email": ann.email, "password": PASSWORD}
    assert ann.driver.execute_async_script(SIGN_UP, form, False) is None
    ann.is_online()
    disabled = "return document.documentElement.dataset.disabled"
    ann.browser.wait("the features", lambda: ann.driver.execute_script(disabled))
    assert ann.driver.execute_script(SHOWN, controls) == controls[2:]
    # Chats are found by their names all the same, and nothing is asked that the server refuses.
    ann.go("chats")
    ann.click("[data-action=notes]")
    ann.find("#write")
    ann.find("#chat-search").send_keys("note")
    ann.says("#search-results [data-found=chat]", "Notes")
    ann.find("#chat-search").send_keys("zz")
    ann.says("#search-results", "Nothing found for “notezz”.")
    # Without groups a chat is with one person.
    ann.click("[data-action=new-chat]")
    ann.gone("#pick-search")
