"""What is chosen for this browser: it holds in all of its tabs at once."""

import pytest
from selenium.webdriver.common.keys import Keys
from switchboard_tests.browsers.chats import API, open_chat, shows
from switchboard_tests.browsers.pages import Person

# What is seen of a choice: the colour of the page, the size of its text, whether anything moves, and the language.
LOOK = """
const style = getComputedStyle(document.documentElement);
const button = getComputedStyle(document.querySelector("button") ?? document.body);
const { lang } = document.documentElement;
return [style.backgroundColor, style.colorScheme, style.fontSize, button.transitionProperty === "none", lang];
"""
LIGHT, DARK = "rgb(246, 245, 241)", "rgb(16, 20, 22)"


@pytest.fixture
def ann(browsers, url):
    browsers[0].keep_one_tab()
    yield Person(browsers[0], url, "Ann Abel").sign_up()
    browsers[0].keep_one_tab()
    browsers[0].driver.get("about:blank")


def looks(person, want):
    person.browser.wait(f"{want}", lambda: person.driver.execute_script(LOOK) == want)


def choose(person, name, value):
    person.click(f"#setting-{name} option[value='{value}']")


def test_what_is_chosen_in_one_tab_holds_in_the_others(ann):
    notes = API(ann).create("self")
    ann.driver.get(f"{ann.url}/?language=en-XA#/settings")
    ann.find("#setting-language")
    settings = ann.driver.current_window_handle
    chat, _ = ann.browser.new_tab(f"{ann.url}/#/c/{notes}")
    ann.find("#write").send_keys("half a thought")
    looks(ann, [LIGHT, "light dark", "16px", False, "en"])
    ann.browser.switch(settings)
    for name, value in (("theme", "dark"), ("textSize", "large"), ("motion", "reduced")):
        choose(ann, name, value)
    choose(ann, "language", "ar-XB")
    want = [DARK, "dark", "18px", True, "ar-XB"]
    looks(ann, want)
    ann.click("label[for=enter-sends]")
    ann.browser.switch(chat)
    looks(ann, want)
    # What was being written is there, and Enter begins a line in it.
    field = ann.find("#write")
    ann.browser.wait("the draft", lambda: ann.draft() == "half a thought")
    field.send_keys(Keys.END, Keys.ENTER, "the other half")
    assert field.get_attribute("value") == "half a thought\nthe other half"
    field.send_keys(Keys.CONTROL, Keys.ENTER)
    shows(ann, "half a thought\nthe other half")
    # It is kept, and taken back.
    ann.driver.refresh()
    looks(ann, want)
    ann.browser.switch(settings)
    for name in ("theme", "textSize", "motion"):
        choose(ann, name, "")
    choose(ann, "language", "en")
    ann.browser.switch(chat)
    looks(ann, [LIGHT, "light dark", "16px", False, "en"])
    open_chat(ann, notes)
    ann.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
        {"name": "prefers-color-scheme", "value": "dark"}, {"name": "prefers-reduced-motion", "value": "reduce"}]})
    looks(ann, [DARK, "light dark", "16px", True, "en"])
    ann.browser.switch(settings)
    choose(ann, "theme", "light")
    choose(ann, "motion", "full")
    ann.browser.switch(chat)
    looks(ann, [LIGHT, "light", "16px", False, "en"])
    ann.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
