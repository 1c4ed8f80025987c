"""/docs in a browser: readable by everybody, on a desk and a phone, and searchable."""

import json
import pathlib

import pytest
from switchboard_tests.browsers import axe
from switchboard_tests.browsers.browser import DESK, PHONE
from switchboard_tests.browsers.pages import Person

EXAMPLES = pathlib.Path(__file__).parents[2] / "Sources/WebAPI/Web/docs/examples"
PAGES = ["", "/api/calls", "/realtime", "/errors"]


@pytest.fixture
def browser(browsers):
    one = browsers[0]
    one.keep_one_tab()
    yield one
    one.set_dark(False)
    one.resize(DESK)
    one.driver.get("about:blank")


@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_pages_are_accessible(browser, url, size, is_dark, pictures):
    browser.resize(size)
    browser.set_dark(is_dark)
    for page in PAGES:
        browser.driver.get(f"{url}/docs{page}")
        axe.check(browser.driver, page)
    if not is_dark:
        browser.driver.get(f"{url}/docs")
        pictures(browser, f"docs-{'phone' if size == PHONE else 'desk'}")


LINKS = """
const paths = [...document.querySelectorAll("a[href^='/docs']")].map((one) => one.pathname);
return paths.filter((path) => !/\\.[a-z]+$/.test(path));
"""


def test_every_page_is_accessible(browser, url):
    """Those that links lead to; the ones above in two sizes, light and dark."""
    seen: set[str] = set()
    found = ["/docs"]
    while found:
        path = found.pop()
        if path in seen:
            continue
        seen.add(path)
        browser.driver.get(url + path)
        axe.check(browser.driver, path)
        found += browser.driver.execute_script(LINKS)
    assert len(seen) > 40, sorted(seen)


def test_the_search(browser, url):
    browser.driver.get(f"{url}/docs")
    words = browser.driver.find_element("id", "words")
    words.send_keys("call_ended")
    browser.wait("results", lambda: browser.driver.find_elements("css selector", "#found a"))
    words.send_keys("\n")
    browser.wait("the page", lambda: browser.driver.current_url.endswith("/docs/errors#call_ended"))
    words = browser.driver.find_element("id", "words")
    words.send_keys("call create")
    found = lambda: [one.text.split("\n")[0] for one in browser.driver.find_elements("css selector", "#found a")]
    browser.wait("the operation", lambda: "calls.create" in found())
    words.clear()
    words.send_keys("xyzzy")
    browser.wait("an empty list", lambda: browser.driver.find_element("id", "count").text == "0 results")


def run(browser, url, name, token=""):
    """Runs an example in a page of the same origin; returns the function that has the lines that it has logged."""
    browser.driver.get(f"{url}/docs")
    example = (EXAMPLES / name).read_text().split("docs:begin")[1]
    settings = f"const SERVER = {json.dumps(url)}; const TOKEN = {json.dumps(token)};"
    # What a script declares would be gone after it; the lines are kept.
    browser.driver.execute_script(
        "window.lines = []; const console = { log: (...words) => window.lines.push(words.join(' ')) };"
        f"(async () => {{ {settings} {example} }})();"
    )
    return lambda: browser.driver.execute_script("return window.lines")


def test_the_first_call(browser, url):
    lines = run(browser, url, "first-call.js")
    browser.wait("the call", lambda: lines() == ["active", "hung_up"])


def test_a_client_listens_and_sees_changes(browser, url):
    """The example of the guide, in a page of the same origin."""
    ann = Person(browser, url, "Ann Abel").sign_up()
    token = browser.driver.execute_script("return globalThis.switchboard.credentials.accessToken")
    assert ann and token
    lines = run(browser, url, "resume.js", token)
    browser.wait("a snapshot", lambda: lines() == ["snapshot user"])
    status = browser.driver.execute_async_script(
        """
        const [token, done] = arguments;
        const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
        const options = { method: "PATCH", headers, body: '{"displayName": "Ann Avery"}' };
        fetch("/v1/me", options).then(({ status }) => done(status));
        """,
        token,
    )
    assert status == 200
    browser.wait("the change", lambda: lines()[1:2] and lines()[1].startswith("change "))
