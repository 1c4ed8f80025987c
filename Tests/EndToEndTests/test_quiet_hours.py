"""Quiet hours in the settings: of the account, in the time zone of the browser."""

import pytest
from selenium.webdriver.common.keys import Keys
from switchboard_tests.browsers.browser import DESK, PHONE
from switchboard_tests.browsers.chats import API
from switchboard_tests.browsers.pages import Person

SWITCH, FROM, TO, ZONE = "#setting-quietHours", "#field-quiet-from", "#field-quiet-to", "#quiet-hours-zone"
CHANGE = """
const [input, value] = arguments;
input.value = value;
input.dispatchEvent(new Event("change", { bubbles: true }));
"""
UNKNOWN_ZONE = "Intl.DateTimeFormat.prototype.resolvedOptions = () => ({ timeZone: 'Mars/Olympus_Mons' })"
FITS = """
const { right, left } = document.querySelector("#quiet-hours .times").getBoundingClientRect();
const inputs = [...document.querySelectorAll("#quiet-hours input[type=time]")]
    .map((one) => one.getBoundingClientRect());
return document.documentElement.scrollWidth <= innerWidth
    && inputs.every((one) => left - 1 <= one.left && one.right <= right + 1 && one.height >= 44);
"""


@pytest.fixture
def ann(browsers, url):
    browsers[0].keep_one_tab()
    person = Person(browsers[0], url, "Ann Abel").sign_up()
    be_in(person, "America/New_York")
    person.go("settings")
    person.find(SWITCH)
    yield person
    be_in(person, "")
    browsers[0].resize(DESK)
    browsers[0].keep_one_tab()
    browsers[0].driver.get("about:blank")


def be_in(person, zone):
    person.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": zone})


def has(person, want):
    """The server has these hours."""
    one = API(person)
    person.browser.wait(f"{want}", lambda: one.ask("GET", "/v1/me").get("quietHours") == want)


def change(person, selector, value):
    person.driver.execute_script(CHANGE, person.find(selector), value)


def hours(start, end, zone="America/New_York"):
    return {"from": start, "to": end, "zone": zone}


def test_they_are_set_with_the_keyboard(ann):
    assert not ann.is_shown(FROM)
    ann.driver.execute_script("arguments[0].focus()", ann.find(SWITCH))
    ann.press(Keys.SPACE)
    has(ann, hours("22:00", "07:00"))
    ann.says(ZONE, "Time zone: America/New York.")
    ann.press(Keys.TAB)
    ann.press(Keys.ARROW_UP)
    has(ann, hours("23:00", "07:00"))
    # What is written in is not replaced, and nothing loses the focus.
    assert ann.driver.execute_script("return document.activeElement.id") == "field-quiet-from"
    ann.find(TO).send_keys(Keys.ARROW_DOWN)
    has(ann, hours("23:00", "06:00"))
    ann.driver.refresh()
    ann.is_online()
    assert ann.read(FROM, lambda one: one.get_attribute("value")) == "23:00"
    assert ann.read(TO, lambda one: one.get_attribute("value")) == "06:00"
    ann.driver.execute_script("arguments[0].focus()", ann.find(SWITCH))
    ann.press(Keys.SPACE)
    has(ann, None)
    ann.gone(FROM)


def test_what_is_wrong_is_said_and_not_kept(ann):
    ann.click(SWITCH)
    has(ann, hours("22:00", "07:00"))
    for value, problem in (("07:00", "Choose two different times."), ("", "Enter a whole time, such as 22:00.")):
        change(ann, FROM, value)
        ann.says("#quiet-hours-problem", problem)
        assert ann.attribute(FROM, "aria-invalid") == "true"
    assert API(ann).ask("GET", "/v1/me")["quietHours"] == hours("22:00", "07:00")
    change(ann, FROM, "21:30")
    has(ann, hours("21:30", "07:00"))
    assert not ann.is_shown("#quiet-hours-problem") and ann.attribute(FROM, "aria-invalid") is None
    # What the server refuses is shown, and taken back.
    ann.driver.execute_script(UNKNOWN_ZONE)
    change(ann, FROM, "21:00")
    ann.says("#toasts .error", "time zone")
    ann.browser.wait("the former time", lambda: ann.read(FROM, lambda one: one.get_attribute("value")) == "21:30")
    assert API(ann).ask("GET", "/v1/me")["quietHours"] == hours("21:30", "07:00")


def test_who_travels_sees_of_which_zone_they_are(ann):
    API(ann).ask("PATCH", "/v1/me", {"quietHours": hours("22:00", "07:00", "Asia/Kolkata")})
    ann.driver.refresh()
    ann.is_online()
    ann.go("settings")
    text = "The times are in the zone Asia/Kolkata. A change here puts them into that of this device, America/New York."
    ann.says(ZONE, text)
    change(ann, TO, "08:00")
    has(ann, hours("22:00", "08:00"))
    ann.says(ZONE, "Time zone: America/New York.")


def test_what_another_device_changes_is_shown(ann):
    other = API(ann)
    other.ask("PATCH", "/v1/me", {"quietHours": hours("20:15", "07:00"), "notifications": "none"})
    for selector, value in ((FROM, "20:15"), ("#setting-notificationLevel", "none")):
        ann.browser.wait(
            value,
            lambda selector=selector, value=value: ann.read(selector, lambda one: one.get_attribute("value")) == value,
        )
    # What somebody is writing stays.
    ann.driver.execute_script("arguments[0].focus()", ann.find(TO))
    other.ask("PATCH", "/v1/me", {"quietHours": hours("20:15", "09:00", "Asia/Kolkata")})
    ann.says(ZONE, "The times are in the zone Asia/Kolkata.")
    assert ann.read(TO, lambda one: one.get_attribute("value")) == "07:00"
    other.ask("PATCH", "/v1/me", {"quietHours": None})
    ann.gone(FROM)
    assert not ann.find(SWITCH).is_selected()


def test_they_fit_on_a_phone(ann):
    ann.click(SWITCH)
    has(ann, hours("22:00", "07:00"))
    for size in (PHONE, DESK):
        ann.browser.resize(size)
        ann.browser.wait(f"room in {size}", lambda: ann.driver.execute_script(FITS))
