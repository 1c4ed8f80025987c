"""Calls that are not answered, and people with more than one tab."""

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

# The client uses the server's default ring time. Here every new call requests the minimum.
RING_SHORTLY = """
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (text) {
    const frame = JSON.parse(text);
    if (frame.request === "calls.create") frame.params.ringSeconds = 10;
    send.call(this, JSON.stringify(frame));
};
"""


def test_decline(people):
    ann, ben = people
    ann.call(ben)
    ben.rings()
    ben.click("#incoming [data-action=decline]")
    ben.gone("#incoming")
    ann.phase("ended")
    ann.says("#call-status", "Ben declined")
    ann.leave_call_screen()
    ann.history_says("declined", outgoing=True)
    ben.history_says("declined", outgoing=False)


def test_back_neither_declines_nor_changes_the_page_under_a_ring(people):
    ann, ben = people
    ben.go("history")
    ben.go("settings")
    ann.call(ben, "audio")
    ben.rings()
    for _ in range(3):
        ben.driver.back()
    ben.rings()
    ben.find("main[data-page=settings]")
    ann.phase("ringing")
    ann.hang_up()
    ben.gone("#incoming")
    ann.leave_call_screen()
    # What is left of it is no step of its own.
    ben.driver.back()
    ben.find("main[data-page=history]")

    # Nor does it close a dialog under it.
    ben.press("?")
    ben.find("dialog[open]")
    ann.call(ben, "audio")
    ben.rings()
    ben.driver.back()
    ben.rings()
    assert ben.all("dialog.dialog[open]")
    # A key declines, once it is clear that nobody was typing.
    def is_declined():
        ben.press(Keys.ESCAPE)
        return not ben.is_shown("#incoming")

    ben.browser.wait("the call to be declined", is_declined)
    ann.says("#call-status", "Ben declined")
    assert ben.all("dialog.dialog[open]")
    ben.driver.back()
    ben.gone("dialog")
    ben.find("main[data-page=history]")


def test_cancel_stops_the_ringing_at_once(people):
    ann, ben = people
    ann.call(ben, "audio")
    ben.rings()
    ann.hang_up()
    ben.gone("#incoming", limit=2)
    ben.says(".toast", "Missed call from Ann Abel")
    ann.leave_call_screen()
    ann.history_says("cancelled", outgoing=True)
    ben.history_says("missed", outgoing=False)


def test_nobody_answers(people):
    ann, ben = people
    ann.driver.execute_script(RING_SHORTLY)
    ann.call(ben)
    ben.rings()
    ben.gone("#incoming", limit=14)
    ann.phase("ended")
    ann.says("#call-status", "No answer")
    ann.leave_call_screen()
    ann.history_says("unanswered", outgoing=True)
    ben.history_says("missed", outgoing=False)


def test_one_tab_answers_and_the_other_says_so(people):
    ann, ben = people
    second, first = ben.browser.new_tab(ben.url)
    ben.is_in()
    ann.call(ben, "audio")
    ben.rings()
    ben.browser.switch(first)
    ben.rings()
    ben.answer("accept-audio")
    ben.is_connected()
    ben.browser.switch(second)
    ben.gone("#incoming")
    ben.says(".toast", "Answered on another device")
    assert not ben.all("#call")
    ben.browser.switch(first)
    ben.receives_audio()


def test_one_tab_declines_and_the_other_says_so(people):
    ann, ben = people
    second, first = ben.browser.new_tab(ben.url)
    ben.is_in()
    ann.call(ben, "audio")
    ben.rings()
    ben.browser.switch(first)
    ben.rings()
    ben.click("#incoming [data-action=decline]")
    ben.browser.switch(second)
    ben.gone("#incoming")
    ben.says(".toast", "Declined on another device")


def test_a_killed_tab_can_call_again(people):
    ann, ben = people
    ann.call(ben)
    old = ben.rings().get_attribute("data-call")
    second, first = ann.browser.new_tab("about:blank")
    ann.browser.switch(first)
    ann.driver.close()
    ann.browser.switch(second)
    ann.driver.get(ann.url)
    ann.is_in()
    ann.call(ben)
    ben.browser.wait(
        "only the new call to ring",
        lambda: len(rings := ben.all("#incoming")) == 1 and rings[0].get_attribute("data-call") != old,
    )
    ben.answer()
    for person in people:
        person.is_connected()
        person.has_video()


def test_a_blocked_person_can_search_and_call_without_ringing(people):
    ann, ben = people
    ben.search_for(ann)
    ben.click("#people [data-action=person]")
    ben.click("#person [data-action=block]")
    ben.click("#ask [data-choice=block]")
    ben.says(".toast", "Ann Abel is blocked")
    # For her nothing has changed, but he does not ring.
    ann.call(ben, kind="audio")
    ann.phase("calling")
    ann.hang_up()
    ann.leave_call_screen()
    assert not ben.all("#incoming")
    ben.go("settings")
    ben.click("#blocked [data-action=unblock]")
    ben.browser.wait("the list to be empty", lambda: not ben.driver.find_elements(By.CSS_SELECTOR, "#blocked .row"))
    ann.search_for(ben)


def test_a_duplicated_tab_is_an_endpoint_of_its_own(people):
    ann, ben = people
    endpoint = "return JSON.parse(sessionStorage.getItem('switchboard.endpoint')).id"
    first = ben.driver.current_window_handle
    original = ben.driver.execute_script(endpoint)
    # Like a browser's "duplicate tab", this copies the session storage.
    ben.driver.execute_script("window.open(location.href)")
    ben.browser.wait("the second tab", lambda: len(ben.driver.window_handles) == 2)
    ben.browser.switch(next(one for one in ben.driver.window_handles if one != first))
    ben.is_in()
    assert ben.driver.execute_script(endpoint) != original
    ann.call(ben, "audio")
    ben.rings()
    ben.browser.switch(first)
    ben.is_online()
    ben.rings()
    assert ben.driver.execute_script(endpoint) == original
