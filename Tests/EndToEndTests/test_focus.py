"""What a keyboard user has the focus on keeps it while the page draws anew what stands around it, or in its turn."""

import uuid

import pytest
from selenium.webdriver.common.keys import Keys
from switchboard_tests.browsers.chats import API, open_chat, row

# What has the focus: its own id or action, and what it belongs to.
FOCUSED = """
const { id, dataset } = document.activeElement;
const item = document.activeElement.closest("[data-user], [data-conversation], [data-friend], [data-link]")?.dataset;
return [id || dataset.action || "", item?.user ?? item?.conversation ?? item?.friend ?? item?.link ?? ""];
"""


@pytest.fixture
def people_and_group(people):
    ann, ben = people
    one, other = API(ann), API(ben)
    return ann, one, other, one.create("group", [other], name="Choir")


def focus(person, selector):
    """As the key Tab does, which may have a long way to there."""
    # What shows itself only under the pointer or with the focus is there before.
    person.browser.wait(selector, lambda: person.all(selector))
    person.driver.execute_script("window.was = document.querySelector(arguments[0]); window.was.focus()", selector)


def has_focus(person, *want):
    found = []

    def same():
        found[:] = person.driver.execute_script(FOCUSED)
        return found == list(want)

    try:
        person.browser.wait(f"the focus on {want}", same)
    except AssertionError as error:
        raise AssertionError(f"the focus is on {found}, not on {want}") from error


def is_the_same(person):
    assert person.driver.execute_script("return document.activeElement === window.was"), "it was drawn anew"


def test_details_of_a_group(people_and_group):
    ann, one, other, group = people_and_group
    open_chat(ann, group)
    ann.click("[data-action=members]")
    focus(ann, "#disappearing")
    cem = API.of_new_user(ann.url, "Cem Can")
    one.ask("POST", f"/v1/conversations/{group}/members", {"members": [cem.user]})
    ann.find(f"#members [data-user='{cem.user}']")
    cem.ask("POST", f"/v1/conversations/{group}/members/me/accept")
    ann.browser.wait("him to join", lambda: "Invited" not in ann.text(f"#members [data-user='{cem.user}']"))
    # Somebody may be choosing in its list.
    has_focus(ann, "disappearing", "")
    is_the_same(ann)
    # Choosing by the keyboard saves at once.
    focus(ann, "#right-write")
    ann.press(Keys.ARROW_DOWN)
    path = f"/v1/conversations/{group}"
    ann.browser.wait("the right", lambda: one.ask("GET", path)["conversation"]["settings"]["write"] == "admins")
    has_focus(ann, "right-write", "")
    # The row of who has the focus is drawn anew, and then goes.
    focus(ann, f"#members [data-user='{other.user}'] [data-action=member-menu]")
    one.ask("PATCH", f"{path}/members/{other.user}", {"role": "admin"})
    ann.find(f"#members [data-user='{other.user}'][data-role=admin]")
    has_focus(ann, "member-menu", other.user)
    one.ask("DELETE", f"{path}/members/{other.user}")
    ann.gone(f"#members [data-user='{other.user}']")
    has_focus(ann, "member-menu", cem.user)
    # So are links.
    for _ in range(2):
        one.ask("POST", f"{path}/links", {})
    ann.click("#members [data-action=close]")
    ann.click("[data-action=members]")
    ann.find("#members [data-link]:nth-child(2)")
    first, second = [each.get_attribute("data-link") for each in ann.all("#members [data-link]")]
    focus(ann, f"[data-link='{first}'] [data-action=remove-link]")
    ann.press(Keys.ENTER)
    ann.gone(f"[data-link='{first}']")
    has_focus(ann, "remove-link", second)


def test_the_list_and_the_head_of_a_thread(people_and_group):
    ann, one, other, group = people_and_group
    open_chat(ann, group)
    second = one.create("group", [other], name="Second")
    row(ann, "Second")
    focus(ann, f"#row-{group} [data-action=row-menu]")
    other.say(group, "first again")
    row(ann, "first again")
    has_focus(ann, "row-menu", group)
    other.say(second, "and now this one")
    row(ann, "and now this one")
    has_focus(ann, "row-menu", group)
    focus(ann, ".thread-head [data-action=members]")
    one.ask("PATCH", f"/v1/conversations/{group}", {"name": "Long trip"})
    ann.says(".thread-head h1", "Long trip")
    has_focus(ann, "members", "")


def test_people(people_and_group):
    ann, one, other, _ = people_and_group
    cem = API.of_new_user(ann.url, "Cem Can")
    for each in (other, cem):
        one.ask("POST", "/v1/friends", {"clientID": str(uuid.uuid4()), "user": each.user})
    ann.go("people")
    focus(ann, f"[data-friend='{other.user}'] [data-action=cancel-friend]")
    cem.ask("POST", f"/v1/friends/{one.user}/accept")
    ann.find(f".friends [data-user='{cem.user}']")
    has_focus(ann, "cancel-friend", other.user)
    # What has the focus goes: what comes in its turn has it.
    ann.press(Keys.ENTER)
    ann.gone(f"[data-friend='{other.user}']")
    has_focus(ann, "call-video", cem.user)
    # The card of a person, in which each choice changes what can be chosen.
    ann.driver.execute_script("document.querySelector(arguments[0]).click()", f".friends [data-user='{cem.user}'] .who")
    focus(ann, "#person [data-action=end-friend]")
    ann.press(Keys.ENTER)
    ann.find("#person [data-action=ask-friend]")
    has_focus(ann, "ask-friend", "")


def test_settings(people_and_group):
    ann, one, other, _ = people_and_group
    cem = API.of_new_user(ann.url, "Cem Can")
    for each in (other, cem):
        one.ask("PUT", f"/v1/blocks/{each.user}")
    ann.go("settings")
    ann.find("#blocked .row:nth-child(2)")
    first, second = [each.get_attribute("data-user") for each in ann.all("#blocked .row")]
    focus(ann, f"#blocked [data-user='{first}'] [data-action=unblock]")
    ann.press(Keys.ENTER)
    ann.gone(f"#blocked [data-user='{first}']")
    has_focus(ann, "unblock", second)
