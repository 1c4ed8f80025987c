"""A call that goes on while one reads and writes: in a corner, beside its chat, as a bar on a phone; joining it from
its conversation, and what is left of it there."""

import pytest
from switchboard_tests.browsers.browser import DESK, PHONE
from switchboard_tests.browsers.chats import API, open_chat, texts, write
from switchboard_tests.browsers.pages import connect, together

WIDE = (1400, 860)
BOX = """
const { x, y, width, height } = document.querySelector(arguments[0]).getBoundingClientRect();
return [x, y, width, height];
"""


@pytest.fixture(autouse=True)
def on_a_desk(browsers):
    for one in browsers:
        one.resize(WIDE)
    yield
    for one in browsers:
        one.resize(DESK)


@pytest.fixture
def chat(people):
    """The conversation of both."""
    ann, ben = [API(one) for one in people]
    return ann.create("direct", [ben])


def layout(person, wanted):
    person.browser.wait(
        f"the call to be {wanted}", lambda: person.attribute("#call", "data-layout") == wanted
    )


def box(person, selector):
    return person.driver.execute_script(BOX, selector)


def says_last(person, text):
    """The record of the call stands among the messages."""
    person.browser.wait(
        f"the message “{text}”", lambda: texts(person)[-1:] == [text] and not person.all("#messages [data-outgoing]")
    )


def address(person):
    return person.driver.execute_script("return location.hash")


def test_a_call_goes_on_in_a_corner_while_one_writes(people, chat):
    ann, ben = people
    connect(ann, ben)
    ann.click("[data-action=shrink-call]")
    layout(ann, "corner")
    open_chat(ann, chat)
    write(ann, "from the call")
    says_last(ann, "from the call")
    ann.has_video()

    # It is moved by keys, and stays within the window.
    before = box(ann, "#call")
    ann.driver.execute_script("document.querySelector('[data-action=move-call]').focus()")
    ann.press("\ue013")
    ann.press("\ue012")
    after = box(ann, "#call")
    assert [round(after[0] - before[0]), round(after[1] - before[1])] == [-40, -40]
    for _ in range(40):
        ann.press("\ue012")
    assert box(ann, "#call")[0] >= 0
    # Letters are for the page that has the focus, and for the call once that has it all.
    ann.driver.execute_script("document.activeElement.blur()")
    ann.press("m")
    assert ann.all("#call [data-action=mute][data-icon=microphone]")
    ann.click("[data-action=expand-call]")
    layout(ann, "full")
    ann.press("m")
    ann.find("#call [data-action=mute][data-icon=microphoneOff]")

    # Back leaves the call first, and then the page.
    where = address(ann)
    ann.driver.back()
    layout(ann, "corner")
    assert address(ann) == where
    ann.driver.back()
    ann.browser.wait("the page before", lambda: address(ann) != where)
    layout(ann, "corner")
    ann.click("#call [data-action=hang-up]")
    ben.phase("ended")
    ann.gone("#call")


def test_back_closes_a_panel_before_it_leaves_the_call(people):
    ann, ben = people
    ann.go("history")
    connect(ann, ben)
    where = address(ann)
    for action, panel in (("details", "#details"), ("devices", "#devices-panel")):
        ann.control(action)
        ann.find(panel)
        ann.driver.back()
        ann.gone(panel)
        layout(ann, "full")
    # One that was closed in another way is no step of its own.
    ann.control("details")
    ann.find("#details")
    ann.press("\ue00c")
    ann.gone("#details")
    ann.driver.back()
    layout(ann, "corner")
    assert address(ann) == where
    ann.driver.back()
    ann.browser.wait("the page before", lambda: address(ann) == "#/history")
    layout(ann, "corner")


def test_the_chat_of_a_call_is_beside_it(people, chat):
    ann, ben = people
    connect(ann, ben)
    ann.click("[data-action=call-chat]")
    layout(ann, "beside")
    assert address(ann) == f"#/c/{chat}"
    write(ann, "beside the call")
    says_last(ann, "beside the call")
    ann.has_video()
    call, thread = box(ann, "#call"), box(ann, ".thread")
    assert call[0] + call[2] <= thread[0] + 1 and call[2] > 500 and thread[2] > 500
    # Elsewhere it goes on in the corner, and its chat leads back.
    ann.go("settings")
    layout(ann, "corner")
    open_chat(ann, chat)
    ann.click("[data-action=back-to-call]")
    layout(ann, "full")
    ann.hang_up()
    ann.leave_call_screen()
    ben.leave_call_screen()
    # Nothing of the call is left in the history of the browser.
    where = address(ann)
    ann.driver.back()
    ann.browser.wait("the page before", lambda: address(ann) != where)


def test_on_a_phone_a_bar_leads_back_to_the_call(people, chat):
    ann, ben = people
    connect(ann, ben)
    ann.browser.resize(PHONE)
    ann.click("[data-action=call-chat]")
    layout(ann, "corner")
    write(ann, "from the phone")
    says_last(ann, "from the phone")
    call, thread = box(ann, "#call"), box(ann, ".thread")
    assert call[1] == 0 and call[2] == PHONE[0] and call[3] < 80
    assert thread[1] >= call[3] and thread[1] + thread[3] <= PHONE[1]
    ann.click("#call .call-title")
    layout(ann, "full")
    ann.driver.back()
    layout(ann, "corner")
    ann.click("#call [data-action=hang-up]")
    ann.gone("#call")
    ben.leave_call_screen()


def test_members_join_a_call_from_its_conversation_and_find_its_recordings_there(people):
    ann, ben = people
    # A call of two would end when one of them declines.
    cleo = API.of_new_user(ann.url, "Cleo Cole")
    group = API(ann).create("group", [API(ben), cleo], name="Team")
    open_chat(ann, group)
    ann.click("[data-action=call-group]")
    ann.find("#call")
    ben.rings()
    ben.answer("decline")
    ben.go("chats")
    ben.says(f"#row-{group}", "Call in progress")
    open_chat(ben, group)
    ben.find(".thread-head [data-action=join-call]")
    ben.find("#messages [data-action=join-record]")
    ben.click(f"#row-{group} [data-action=join-call]")
    for person in (ann, ben):
        person.is_connected(limit=60)
    ben.gone(f"#row-{group} [data-action=join-call]")
    ann.control("record")
    ann.find("#call-recording")
    ann.browser.wait("recorded audio", lambda: ann.text("#call-clock") >= "0:03")
    ann.control("record")
    ann.gone("#call-recording")
    together([ann, ben], lambda person: person.hang_up())
    together([ann, ben], lambda person: person.leave_call_screen())
    open_chat(ben, group)
    ben.click("#messages [data-action=call-recordings]")
    ben.find("#recordings .recording")
