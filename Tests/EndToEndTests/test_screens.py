"""Screenshots of every screen: desktop, phone and dark mode."""

import pytest
from switchboard_tests.browsers.browser import DESK, PHONE
from switchboard_tests.browsers.pages import Person, connect


@pytest.fixture(params=["desk", "phone", "dark"])
def look(request, browsers):
    for one in browsers:
        one.resize(PHONE if request.param == "phone" else DESK)
        one.set_dark(request.param == "dark")
    yield request.param
    for one in browsers:
        one.resize(DESK)
        one.set_dark(False)


def test_screens(look, browsers, url, pictures):
    left, right = browsers
    ann, ben = Person(left, url, "Ann Abel"), Person(right, url, "Ben Brook")
    left.open(url)
    ann.find("#sign-in-form")
    pictures(left, f"{look}-sign-in")
    ann.click("#to-sign-up")
    pictures(left, f"{look}-sign-up")
    ann.click("#sign-up-form [type=submit]")
    pictures(left, f"{look}-sign-up-error")
    ann.sign_up_by_form()
    pictures(left, f"{look}-people-empty")
    ben.sign_up()
    ann.search_for(ben)
    pictures(left, f"{look}-people")
    ann.click("#people [data-action=person]")
    pictures(left, f"{look}-person")
    ann.press("\ue00c")

    ann.call(ben)
    ben.rings()
    ann.phase("ringing")
    pictures(left, f"{look}-calling")
    pictures(right, f"{look}-incoming")
    ben.click("#incoming [data-action=decline]")
    ann.phase("ended")
    pictures(left, f"{look}-declined")
    ann.leave_call_screen()

    connect(ann, ben)
    pictures(left, f"{look}-call")
    ann.control("details")
    ann.browser.wait("some seconds of chart", lambda: ann.text("#call-clock") >= "0:04", 20)
    pictures(left, f"{look}-call-details")
    ann.click("[data-action=close-panel]")
    ann.control("devices")
    ann.find("#choose-camera")
    pictures(left, f"{look}-call-devices")
    ann.click("[data-action=close-panel]")
    ben.control("hold")
    ann.says("#call-status", "put you on hold")
    pictures(left, f"{look}-held")
    ben.hang_up()
    ann.phase("ended")
    ann.leave_call_screen()

    ann.history_says("answered", outgoing=True)
    pictures(left, f"{look}-history")
    ann.go("settings")
    ann.find("#devices .row")
    pictures(left, f"{look}-settings")
    ann.click("[data-action=sign-out]")
    ann.find("#sign-in-form")
    for one in browsers:
        one.driver.get("about:blank")
